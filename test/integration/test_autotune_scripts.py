"""The shell scripts around samples, and the functions of utils.sh."""

import os
import shutil

import pytest

from autotuning import HIST, SCRIPTS, SMALL, Loop
from toolchain import OPENCL_ON_CPU, ROOT, run

# pylint: disable=wrong-import-order
from autotune import run_log


@pytest.fixture
def loop(tools, folder):
    """The loop on a small hist, in an empty folder."""
    return Loop(tools, folder / "samples", tools.generator(HIST), "hist", SMALL)


@pytest.fixture(scope="module")
def finished(tools):
    """A run of two batches, with what it printed."""
    folder = tools.work / "tests" / "autotune-scripts-finished"
    shutil.rmtree(folder, ignore_errors=True)
    made = Loop(tools, folder / "samples", tools.generator(HIST), "hist", SMALL)
    made.printed = made.run("--batch_size=3").require_success().output
    return made


def test_predictions_of_all_samples(finished, folder):
    samples = sorted(finished.folder.glob("batch*/*/*.sample"))
    out = folder / "predictions"

    def predict(names, limit="0", directory=finished.folder):
        return run([SCRIPTS / "predict_all.sh", finished.build, directory,
                    ROOT / "baseline.weights", out, names, limit, "80"])

    predict("1").require_success()
    lines = out.read_text().splitlines()
    lines += (folder / "predictions_validation_set").read_text().splitlines()
    assert sorted(line.split(", ")[0] for line in lines) == [str(s) for s in samples]
    by_name = {e["name"]: e for e in finished.samples().values()}
    for line in lines:
        file, predicted, measured = line.split(", ")
        entry = by_name[os.path.basename(file)[: -len(".sample")]]
        assert float(measured) == pytest.approx(entry["measured_ms"], rel=1e-5)
        if entry["batch"] == 0:  # which was predicted with these very weights
            assert float(predicted) == pytest.approx(entry["predicted_ms"], rel=1e-4)
    predict("0").require_success()
    pairs = out.read_text().split() + (folder / "predictions_validation_set").read_text().split()
    assert len(pairs) == 2 * len(lines)
    # Samples that are of no use are named and left out.
    copies = folder / "copies"
    copies.mkdir()
    for sample in samples:
        shutil.copy(sample, copies)
    (copies / "empty.sample").touch()
    (copies / "short.sample").write_bytes(samples[0].read_bytes()[:-3])
    outcome = predict("1", directory=copies).require_success()
    assert "skipped 2 of" in outcome.output
    for directory, words in (("/no/folder", "no folder"), (folder / "none", "no samples")):
        (folder / "none").mkdir(exist_ok=True)
        outcome = predict("1", directory=directory)
        assert outcome.returncode == 1 and words in outcome.output
    assert predict("yes").returncode == 1 and predict("1", "-1").returncode == 1


def test_averages(finished, folder):
    output = run([SCRIPTS / "average_times.sh", finished.folder]).require_success().output
    logs = [f.read_text() for f in finished.folder.glob("batch*/[12]/compile_err.txt")]
    added = [int(text.split("Number of states added: ")[1].split()[0]) for text in logs]
    mean = f"{sum(added) / 4:.6g} over 4 samples"
    assert f"Average Number of states added (greedy): {mean}" in output
    assert "Average Compile time (s) (beam search): " in output
    (folder / "empty").mkdir()
    assert run([SCRIPTS / "average_times.sh", folder / "empty"]).returncode == 1
    assert run([SCRIPTS / "average_times.sh", folder / "nothing"]).returncode == 1


def test_training_alone(finished, loop):
    shutil.copytree(finished.folder, loop.folder)
    output = loop.run(_6="1").require_success().output
    assert "trained on " in output
    # Without a log, on whatever samples there are.
    (loop.folder / "log.jsonl").unlink()
    output = loop.run(_6="1").require_success().output
    assert "trained on " in output
    for sample in loop.folder.rglob("*.sample"):
        sample.unlink()
    outcome = loop.run(_6="1")
    assert outcome.returncode == 1 and "there are no samples" in outcome.output


def test_training_teaches(tools, loop, folder):
    teacher, start = folder / "teacher.weights", folder / "start.weights"
    for seed, file in ((5, teacher), (6, start)):
        run([tools.plugin.parent / "make_random_weights", seed, file]).require_success()
    run([tools.plugin.parent / "generate_samples", f"--out={loop.folder}", "--random=2",
         "--count=60", "--classic=1", f"--teachers={teacher}"]).require_success()
    output = loop.run("--epochs=1000", _3=start, _6="1").require_success().output
    before, after = output.split("pairs in order ")[1].split(", ")[0].split(" -> ")
    assert float(after) > 0.85 > 0.75 > float(before)
    assert "taken over" in output
    run([tools.plugin.parent / "check_weights", loop.folder / "updated.weights"]).require_success()


def generate_data(build, *arguments, **environment):
    """generate_data.sh with a build folder."""
    return run([SCRIPTS / "generate_data.sh", build, *arguments],
               environment={**OPENCL_ON_CPU, **environment})


def test_data_with_predicted_times(finished, folder):
    environment = {"TEACHERS": str(ROOT / "baseline.weights"), "SAMPLES_DIR": str(folder),
                   "COUNT": "9"}
    generate_data(finished.build, "2", "0", "0", "0", "80", "random",
                  **environment).require_success()
    made = folder / "random"
    assert sorted(f.name for f in made.glob("*.samples")) == ["random_1.samples",
                                                              "random_2.samples"]
    lines = (made / "predictions").read_text().splitlines()
    lines += (made / "predictions_validation_set").read_text().splitlines()
    assert len(lines) == 18
    for line in lines:
        predicted, label = map(float, line.split(", "))
        assert predicted == pytest.approx(label, rel=1e-4, abs=2e-6)
    output = generate_data(finished.build, "2", "1", "0", "0", "80", "random",
                           **environment).require_success().output
    assert "18 predictions" in output
    assert (made / "autotune_out.txt").read_text().count('"skipped": true') == 2


def test_data_with_measured_times(finished, folder):
    environment = {"SAMPLES_DIR": str(folder), "COUNT": "4", "RUNS": "1",
                   "HL_TARGET": "host-opencl", "GENERATOR_PARAMS": SMALL.replace(";", " "),
                   "BEAM_SIZE": "2", "OUT": str(folder / "build")}
    generate_data(finished.build, "1", "0", "0", "0", "80", "hist",
                  **environment).require_success()
    made = folder / "hist"
    entries, _ = run_log.read_log(made / "log.jsonl")
    assert [e["event"] for e in entries] == ["sample"] * 4 + ["train"]
    # What a search chooses may come up twice.
    usable = sum(e.get("status") == "ok" for e in entries)
    assert usable >= 2
    text = (made / "autotune_out.txt").read_text()
    assert "Total autotune time (s)" in text and "Average Number of states added" in text
    assert (folder / "best" / "hist.h").exists()
    assert "Run time (ms) = " in (folder / "best" / "hist.txt").read_text()
    output = generate_data(finished.build, "1", "1", "0", "1", "80", "hist",
                           **environment).require_success().output
    assert f"{usable} predictions" in output
    assert run_log.read_log(made / "log.jsonl")[0] == entries


@pytest.mark.parametrize("arguments, words", [
    (["1", "0", "0", "0", "80", "nothing"], "there is no application nothing"),
    (["0", "0", "0", "0", "80", "hist"], "max_iterations is '0'"),
    (["1", "no", "0", "0", "80", "hist"], "resume is 'no'"),
    (["1", "0", "0", "0", "80", "random"], "give TEACHERS"),
    (["1"], "usage"),
])
def test_data_says_what_is_wrong(finished, folder, arguments, words):
    outcome = generate_data(finished.build, *arguments, SAMPLES_DIR=str(folder))
    assert outcome.returncode == 1 and words in outcome.output
    assert "Traceback" not in outcome.output


def shell(text, *arguments):
    """Runs bash with the functions of utils.sh."""
    return run(["bash", "-c", f'set -eu; source "{SCRIPTS}/utils.sh"; {text}', "bash", *arguments])


def test_shell_functions(finished, folder):
    text = 'extract_sample_details a/b_batch_0012_sample_0080.sample b s; echo "$b,$s"'
    assert shell(text).require_success().output == "12,80\n"
    assert shell("extract_sample_details x b s").returncode == 1
    blank = folder / "with blank"
    blank.mkdir()
    text = 'cd "$1"; make_dir_path_absolute . d; make_file_path_absolute x f; echo "$d,$f"'
    assert shell(text, blank).require_success().output == f"{blank},{blank}/x\n"
    assert shell('get_num_cpu_cores n; test "$n" -ge 1').returncode == 0
    target = shell('get_host_target t; echo "$t"').require_success().output
    assert target.startswith("x86-64-linux")
    assert shell("reset_weights $1 $2 7", finished.build, folder / "w.weights").returncode == 0
    run([finished.build / "check_weights", folder / "w.weights"]).require_success()
    outcome = shell("reset_weights /no/build $1", folder / "v.weights")
    assert outcome.returncode == 1 and "there is no retrain_cost_model" in outcome.output
    text = 'save_best_schedule_result "$1" "$2"; print_best_schedule_times "$1"'
    output = shell(text, folder / "best", finished.folder).require_success().output
    best = min(e["measured_ms"] for e in finished.samples().values()
                                     if e["status"] == "ok")
    assert f"hist: {best:g} ms" in output
    assert "still the best" in shell(text, folder / "best", finished.folder).output
    text = 'extract_best_sample_details "$1" hist b s ms; echo "$ms"'
    assert shell(text, finished.folder).require_success().output == f"{best:g}\n"
    text = 'cp "$2" "$3"; retrain_cost_model "$1" "$4" "$3" 80 3 hist'
    output = shell(text, finished.build, ROOT / "baseline.weights", folder / "x.weights",
                   finished.folder).require_success().output
    assert output.count("Loss: ") == 3
