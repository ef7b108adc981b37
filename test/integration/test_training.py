"""Samples, training, and what can go wrong with both."""

import json
import resource
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from toolchain import ROOT, run
from training_programs import generate, train_command

STAGE_BYTES = 1440


# ----- samples


def test_samples_depend_on_seeds_alone(programs, weights, folder):
    for name, threads in (("one", 1), ("three", 3)):
        generate(programs, folder / name, "--random=3", "--count=10", f"--threads={threads}",
                 f"--teachers={weights[0]}").require_success()
    for file in sorted((folder / "one").glob("*.samples")):
        assert file.read_bytes() == (folder / "three" / file.name).read_bytes()
    other = generate(programs, folder / "seed", "--random=1", "--count=10", "--seed=50",
                     f"--teachers={weights[0]}").require_success()
    assert json.loads(other.output.splitlines()[-1])["samples"] > 0
    assert (folder / "seed" / "random_1.samples").read_bytes() != \
        (folder / "one" / "random_1.samples").read_bytes()


def test_samples_that_exist_are_kept(programs, samples):
    before = {file: file.stat().st_mtime_ns for file in samples.glob("*.samples")}
    output = generate(programs, samples, "--random=6", "--first_random=1",
                      "--count=12").require_success().output
    assert output.count('"skipped": true') == 6
    assert before == {file: file.stat().st_mtime_ns for file in samples.glob("*.samples")}


def test_random_pipelines_differ_and_are_not_too_long(samples):
    stages = set()
    for file in samples.glob("*/*.sample"):
        size = file.stat().st_size
        assert (size - 12) % STAGE_BYTES == 0
        stages.add((size - 12) // STAGE_BYTES)
    assert len(stages) > 1
    assert max(stages) <= 24


@pytest.mark.parametrize("arguments, message", [
    (["--count=3"], "nothing to do"),
    (["--count=0", "--random=1"], "--count has to be positive"),
    (["--count=3", "--generators=nothing"], "there is no generator nothing"),
    (["--count=3", "--random=1", "--teachers=/no/such.weights"], "/no/such.weights"),
    (["--count=3", "--random=1", "--load=/no/such.so"], "cannot load"),
    (["--count=3", "--random=1", "autoscheduler.beam=3"], "no option autoscheduler.beam"),
    (["--count=x", "--random=1"], "has to be an integer"),
    (["--random=1"], "--count is missing"),
])
def test_generate_samples_says_what_is_wrong(programs, folder, arguments, message):
    outcome = generate(programs, folder / "out", *arguments)
    assert outcome.returncode == 1
    assert message in outcome.output


def test_generator_from_a_library(tools, programs, weights, folder):
    source = folder / "generator.cpp"
    source.write_text('''
#include "Halide.h"
class Blur : public Halide::Generator<Blur> {
public:
    GeneratorParam<int> size{"size", 256};
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};
    void generate() {
        Halide::Var x, y;
        Halide::Func f("f");
        f(x, y) = input(x, y) + input(x + 1, y);
        output(x, y) = f(x, y) + f(x, y + 1);
        input.dim(0).set_estimate(0, size + 1);
        input.dim(1).set_estimate(0, size + 1);
        output.dim(0).set_estimate(0, size);
        output.dim(1).set_estimate(0, size);
    }
};
HALIDE_REGISTER_GENERATOR(Blur, tiny_blur)
''')
    library = tools.compile(folder / "generator.so", [source],
                            ["-shared", "-fPIC", "-O0", source])
    outcome = generate(programs, folder / "out", f"--load={library}", "--generators=tiny_blur",
                       "--count=9", f"--teachers={weights[0]},{weights[1]}", "size=512")
    outcome.require_success()
    assert json.loads(outcome.output.splitlines()[-1])["samples"] == 9
    content = (folder / "out" / "tiny_blur.samples").read_bytes()
    assert b'"size": "512"' in content
    assert b'"label_source": "predicted"' in content
    assert b"seed11.weights:" in content and b"seed12.weights:" in content


# ----- training


def test_packed_and_classic_samples_train_alike(programs, samples, folder):
    classic = sorted(samples.glob("*/*.sample"))
    names = "\n".join(map(str, classic))
    run(train_command(programs, folder / "packed.weights", "--num_cores=80",
                      *sorted(samples.glob("*.samples")))).require_success()
    subprocess.run(list(map(str, train_command(programs, folder / "classic.weights",
                                               "--num_cores=80"))),
                   input=names, text=True, check=True, stdout=subprocess.DEVNULL)
    assert (folder / "packed.weights").read_bytes() == (folder / "classic.weights").read_bytes()


def test_epochs_are_logged_as_json(programs, samples, folder):
    outcome = run(train_command(programs, folder / "out.weights", f"--log={folder / 'log'}",
                                f"--report={folder / 'report'}", samples)).require_success()
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert all(line["loss"] > 0 for line in lines)
    assert outcome.output.count("Loss: ") == 3
    rows = [json.loads(line) for line in (folder / "report").read_text().splitlines()]
    assert {"spearman", "ordered_pairs", "r_squared", "top1_regret", "top8_regret"} <= set(rows[0])


def test_logs_can_be_drawn(programs, samples, folder):
    run(train_command(programs, folder / "out.weights", f"--log={folder / 'run.jsonl'}",
                      samples)).require_success()
    plot = ROOT / "scripts" / "plot_training.py"
    run([plot, folder / "run.jsonl", folder / "run.svg"]).require_success()
    picture = ElementTree.parse(folder / "run.svg").getroot()
    lines = [e for e in picture.iter() if e.tag.endswith("polyline")]
    assert len(lines) == 4
    assert all(len(line.get("points").split()) == 3 for line in lines)
    (folder / "bad.jsonl").write_text("rubbish\n")
    assert run([plot, folder / "bad.jsonl", folder / "bad.svg"]).returncode == 1
    assert run([plot, folder / "run.jsonl"]).returncode == 1


def test_predictions_are_those_of_the_search(programs, samples, weights, folder):
    run(train_command(programs, folder / "unused.weights", f"--initial_weights={weights[0]}",
                      f"--predictions_file={folder / 'predictions'}",
                      *sorted(samples.glob("*.samples")))).require_success()
    lines = (folder / "predictions").read_text().splitlines()
    lines += (folder / "predictions_validation_set").read_text().splitlines()
    assert len(lines) > 40
    for line in lines:
        _, prediction, runtime = line.rsplit(", ", 2)
        # The samples' labels are what the same weights predicted when they were made.
        assert float(prediction) == pytest.approx(float(runtime), rel=2e-5)
    assert not (folder / "unused.weights").exists()


def test_a_killed_run_goes_on_as_if_nothing_had_happened(programs, samples, folder):
    arguments = ["--loss=log", "--standardize=1", "--cosine=1", "--threads=1", samples]
    run(train_command(programs, folder / "whole.weights", *arguments,
                      epochs=1500)).require_success()
    command = list(map(str, train_command(programs, folder / "killed.weights", "--resume=1",
                                          *arguments, epochs=1500)))
    state = folder / "killed.weights.state"
    kills = 0
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            before = state.stat().st_mtime_ns if state.exists() else 0
            while process.poll() is None and \
                    (not state.exists() or state.stat().st_mtime_ns == before):
                time.sleep(0.02)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
    outcome = run(command).require_success()
    assert (folder / "killed.weights").read_bytes() == (folder / "whole.weights").read_bytes()
    assert kills == 0 or "Resumed after epoch" in outcome.output


def test_a_state_of_another_run_is_refused(programs, samples, folder):
    out = folder / "out.weights"
    run(train_command(programs, out, samples)).require_success()
    outcome = run(train_command(programs, out, "--resume=1", "--seed=5", samples))
    assert outcome.returncode == 1
    assert "belongs to a run with other samples, options or initial weights" in outcome.output
    (folder / "out.weights.state").write_bytes(b"rubbish")
    outcome = run(train_command(programs, out, "--resume=1", samples))
    assert outcome.returncode == 1
    assert "out.weights.state" in outcome.output


def distill_command(programs, teachers, out, *arguments, steps=40):
    """The command line for learning from other weights, without samples."""
    return [programs / "distill_weights", f"--teachers={','.join(map(str, teachers))}",
            f"--weights_out={out}", f"--steps={steps}", "--units_per_step=8", "--threads=1",
            *arguments]


def test_weights_learn_from_others(programs, samples, weights, folder):
    out, log = folder / "out.weights", folder / "log.jsonl"
    run(distill_command(programs, weights[:1], out, f"--log={log}", "--report_every=50", samples,
                        steps=400)).require_success()
    run([programs / "check_weights", out]).require_success()
    reports = [json.loads(line) for line in log.read_text().splitlines()]
    assert [report["step"] for report in reports] == [*range(50, 401, 50)]
    assert reports[-1]["loss"] < reports[0]["loss"] / 5
    assert reports[-1]["validation_loss"] < reports[0]["validation_loss"]


def test_learning_from_others_can_be_killed(programs, samples, weights, folder):
    steps = 4000
    run(distill_command(programs, weights, folder / "whole.weights", samples,
                        steps=steps)).require_success()
    command = list(map(str, distill_command(programs, weights, folder / "killed.weights",
                                            "--resume=1", samples, steps=steps)))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not (folder / "killed.weights.state").exists():
            time.sleep(0.02)
        was_killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
    outcome = run(command).require_success()
    assert (folder / "killed.weights").read_bytes() == (folder / "whole.weights").read_bytes()
    assert not was_killed or "Resumed after step" in outcome.output


def test_learning_from_others_says_what_is_wrong(programs, samples, weights, folder):
    out = folder / "out.weights"
    run(distill_command(programs, weights, out, samples)).require_success()
    for arguments, message in (
            (["--resume=1", "--seed=5", samples], "other samples, teachers or options"),
            (["--rows=0", samples], "--rows has to be positive"),
            (["--rate=-1", samples], "--rate has to be positive"),
            (["--unmixed=2", samples], "--unmixed has to be between 0 and 1"),
            (["--cost_weight=-1", samples], "--cost_weight must not be negative"),
            (["--initial_weights=missing.weights", samples], "missing.weights"),
            ([folder / "missing"], "missing"), ([], "no samples")):
        outcome = run(distill_command(programs, weights, out, *arguments))
        assert outcome.returncode == 1 and message in outcome.output, outcome.output
    outcome = run(distill_command(programs, [folder / "none.weights"], out, samples))
    assert outcome.returncode == 1 and "none.weights" in outcome.output


def test_a_full_disk_leaves_the_old_weights(programs, samples, weights, folder):
    out = folder / "out.weights"
    shutil.copy(weights[0], out)
    before = out.read_bytes()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(list(map(str, train_command(programs, out, samples))),
                          preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert out.read_bytes() == before
    assert [file.name for file in folder.iterdir()] == ["out.weights"]
    done = subprocess.run(list(map(str, [programs / "generate_samples", f"--out={folder / 'new'}",
                                         "--random=1", "--count=9"])),
                          preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write" in done.stdout + done.stderr
    assert not list((folder / "new").iterdir())


def test_full_disks_behind_log_and_output(programs, samples, folder):
    outcome = run(train_command(programs, folder / "a.weights", "--log=/dev/full", samples))
    assert outcome.returncode == 1
    assert "cannot write /dev/full" in outcome.output
    with open("/dev/full", "w") as full:
        done = subprocess.run(list(map(str, train_command(programs, folder / "b.weights",
                                                          samples))),
                              stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr


def test_useless_samples_are_skipped(programs, samples, folder):
    files = [Path(shutil.copy(f, folder)) for f in sorted(samples.glob("random_1/*.sample"))[:9]]
    for file, runtime in zip(files, (0.0, -1.0, float("nan"), float("inf"))):
        content = bytearray(file.read_bytes())
        content[-12:-8] = struct.pack("<f", runtime)
        file.write_bytes(content)
    files[4].write_bytes(files[4].read_bytes()[:-1])
    files[5].write_bytes(b"")
    outcome = run(train_command(programs, folder / "out.weights", *files,
                                folder / "missing.sample")).require_success()
    assert "skipped 3 of 10 files and 4 of 7 samples" in outcome.output
    assert "Samples loaded: 7 (3 unique)" in outcome.output


def test_samples_of_other_features_are_refused(programs, samples, folder):
    generate(programs, folder / "ref", "--random=1", "--count=5", "--classic=1",
             "autoscheduler.reference_features=1").require_success()
    for path in (folder / "ref" / "random_1.samples", folder / "ref" / "random_1"):
        outcome = run(train_command(programs, folder / "out.weights", samples, path))
        assert outcome.returncode == 1
        assert "reference_features=1" in outcome.output
    mixed = folder / "mixed"
    shutil.copytree(samples / "random_1", mixed)
    (mixed / "samples.info").write_text("schedule_features_version 2\n")
    outcome = run(train_command(programs, folder / "out.weights", samples, mixed))
    assert outcome.returncode == 1
    assert "schedule_features_version is 2 instead of 3" in outcome.output
    assert not (folder / "out.weights").exists()


@pytest.mark.parametrize("damage, message", [
    (lambda b: b[:-5], "is cut off"), (lambda b: b[:3], "no file of packed samples"),
    (lambda b: b"", "is empty"), (lambda b: b[:2000] + b"\x55" + b[2001:], "is damaged"),
    (lambda b: b[:4] + b"\x09" + b[5:], "version 9 of the format"),
    (lambda b: b[:12] + b"\x02" + b[13:], "versions 3 and 2 instead of 3 and 3")])
def test_damaged_packed_files_are_refused(programs, samples, folder, damage, message):
    file = folder / "x.samples"
    file.write_bytes(damage((samples / "random_1.samples").read_bytes()))
    outcome = run(train_command(programs, folder / "out.weights", file))
    assert outcome.returncode == 1
    assert message in outcome.output and str(file) in outcome.output


def test_the_trainer_says_what_is_wrong(programs, samples, weights, folder):
    out = folder / "out.weights"
    cases = [
        (["--initial_weights=/no/such.weights"], "/no/such.weights"),
        (["--num_cores=-1"], "must not be negative"),
        (["--loss=terms"], "give --teachers"),
        (["--loss=other"], "has to be throughput, log or terms"),
        (["--verbose=2"], "has to be 0 or 1"),
        (["--colour=red"], "there is no option --colour"),
        ([f"--initial_weights={weights[0]}", "--randomize_weights=1"], "give either"),
        (["--rates=fast"], "has to be a number"),
        (["--epochs=0"], "have to be positive"),
    ]
    for arguments, message in cases:
        outcome = run(train_command(programs, out, *arguments, samples))
        assert outcome.returncode == 1, arguments
        assert message in outcome.output
    outcome = run([programs / "retrain_cost_model", "--epochs=1"])
    assert outcome.returncode == 1 and "is missing" in outcome.output
    outcome = run([programs / "retrain_cost_model"])
    assert outcome.returncode == 0 and "--weights_out" in outcome.output
    assert not out.exists()


def test_cores_count(programs, samples, weights, folder):
    texts = []
    for cores in (8, 80):
        file = folder / f"predictions{cores}"
        run(train_command(programs, folder / "unused.weights", f"--num_cores={cores}",
                          f"--initial_weights={weights[0]}", f"--predictions_file={file}",
                          samples)).require_success()
        texts.append(file.read_text())
    assert texts[0] != texts[1]


def test_reset_weights(programs, folder):
    run(train_command(programs, folder / "a.weights", "--reset_weights=1",
                      "--seed=77")).require_success()
    run([programs / "make_random_weights", 77, folder / "b.weights"]).require_success()
    assert (folder / "a.weights").read_bytes() == (folder / "b.weights").read_bytes()


def test_best_sample_is_kept(programs, samples, folder):
    copies = folder / "samples"
    shutil.copytree(samples / "random_1", copies)
    for file in copies.glob("*.sample"):
        file.with_suffix(".schedule.h").write_text(f"// of {file.stem}\n")
    run([*train_command(programs, folder / "out.weights", copies),
         f"--best_benchmark={folder / 'best.txt'}",
         f"--best_schedule={folder / 'best.h'}"]).require_success()
    words = (folder / "best.txt").read_text().split(" ")
    file = Path(words[11].strip())
    times = {f: struct.unpack("<f", f.read_bytes()[-12:-8])[0] for f in copies.glob("*.sample")}
    assert times[file] == min(times.values())
    assert (folder / "best.h").read_text() == f"// of {file.stem}\n"

    # There is none beside packed samples, which is no mistake.
    done = run([*train_command(programs, folder / "out.weights", samples / "random_1.samples"),
                f"--best_benchmark={folder / 'packed.txt'}",
                f"--best_schedule={folder / 'packed.h'}"]).require_success()
    assert "random_1.samples#" in (folder / "packed.txt").read_text()
    assert not (folder / "packed.h").exists() and "schedule.h" not in done.output
