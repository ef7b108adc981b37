"""The autotuning loop, from end to end with OpenCL on the CPU as the device."""

import asyncio
import shutil
import signal
import subprocess
import sys
import time

import pytest

from autotuning import HIST, SCRIPTS, SMALL, Loop, fake_linker
from toolchain import ROOT, run

# pylint: disable=wrong-import-order
from autotune import run_log, tuner
from autotune.devices import Device
from autotune.display import PlainDisplay
from autotune.settings import Settings


@pytest.fixture
def loop(tools, folder):
    """The loop on a small hist, in an empty folder."""
    return Loop(tools, folder / "samples", tools.generator(HIST), "hist", SMALL)


@pytest.fixture(scope="module")
def finished(tools):
    """A run of two batches, with what it printed."""
    folder = tools.work / "tests" / "autotune-finished"
    shutil.rmtree(folder, ignore_errors=True)
    made = Loop(tools, folder / "samples", tools.generator(HIST), "hist", SMALL)
    made.printed = made.run("--batch_size=3").require_success().output
    return made


# ----- a whole run


def test_it_measures_trains_and_keeps_the_best(finished):
    samples = finished.samples()
    assert sorted(samples) == [(b, s) for b in (0, 1) for s in range(3)]
    good = [e for e in samples.values() if e["status"] == "ok"]
    assert len(good) >= 3
    for entry in good:
        assert entry["measured_ms"] > 0 and entry["predicted_ms"] > 0
        assert entry["identity"]["driver"].startswith("Portable Computing Language")
        assert entry["identity"]["features"] == [3, 3]
        assert entry["kind"] == ("random" if entry["sample"] else "beam")
    best = min(good, key=lambda e: e["measured_ms"])
    kept = (finished.folder / "best.hist.schedule.h").read_text()
    assert kept == (finished.folder / best["folder"] / f"{best['name']}.schedule.h").read_text()
    assert f"best: {best['name']}, measured {best['measured_ms']:.6g} ms" in finished.printed

    trained = [e for e in finished.entries() if e["event"] == "train"]
    assert [e["batch"] for e in trained] == [0, 1]
    run([finished.build / "check_weights", finished.folder / "updated.weights"]).require_success()
    if any(e["accepted"] for e in trained):
        assert (finished.folder / "updated.weights").read_bytes() != \
            (ROOT / "baseline.weights").read_bytes()
    assert "<svg" in (finished.folder / "report.html").read_text()
    # Programs and libraries are gone.
    assert not [f for f in finished.folder.glob("batch*/*/*") if f.suffix in ("", ".a")]


def test_nothing_is_done_twice(finished):
    before = (finished.folder / "log.jsonl").read_bytes()
    outcome = finished.run("--batch_size=3")
    assert outcome.returncode == 1 and "holds a run already" in outcome.output
    output = finished.run("--batch_size=3", "--resume").require_success().output
    assert output.count("from the log") == 6
    assert (finished.folder / "log.jsonl").read_bytes() == before


def test_all_files_come_back_from_the_log(finished, folder):
    copy = folder / "samples"
    copy.mkdir()
    shutil.copy(finished.folder / "log.jsonl", copy)
    environment = {"PYTHONPATH": str(SCRIPTS)}
    run([sys.executable, "-m", "autotune", "show", copy, "--top=2"],
        environment=environment).require_success()
    files = sorted(finished.folder.glob("batch*/*/*.sample"))
    assert len(files) >= 3
    for file in [*files, finished.folder / "best.hist.schedule.h"]:
        assert (copy / file.relative_to(finished.folder)).read_bytes() == file.read_bytes()
    assert (copy / "top" / "hist.0.1.schedule.h").exists()
    assert (copy / "report.html").read_text() == (finished.folder / "report.html").read_text()


@pytest.mark.parametrize("changed, words", [
    ({"device": "V100"}, "device of its samples is 'V100'"), ({"driver": "1"}, "driver"),
    ({"features": [3, 2]}, "feature versions of its samples is [3, 2]"),
    ({"parallelism": 40}, "parallelism"),
])
def test_a_log_of_something_else_is_refused(finished, loop, changed, words):
    loop.folder.mkdir()
    with (loop.folder / "log.jsonl").open("wb") as log:
        for entry in finished.entries():
            if entry["event"] == "sample":
                entry["identity"].update(changed)
            log.write(run_log.encode(entry))
    before = (loop.folder / "log.jsonl").read_bytes()
    outcome = loop.run("--batch_size=3", "--resume")
    assert outcome.returncode == 1
    assert words in outcome.output and "must not be mixed" in outcome.output
    assert (loop.folder / "log.jsonl").read_bytes() == before


# ----- stopped and going on


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_goes_on(loop, folder, number):
    command = loop.command("--batch_size=3", "--jobs=1")
    environment = loop.environment(NUM_BATCHES="1")
    with (folder / "out.txt").open("w") as out, \
            subprocess.Popen(command, env=environment, stdout=out, stderr=out) as process:
        # With one job the first samples are finished well before the last one.
        limit = time.monotonic() + 120
        while time.monotonic() < limit and \
                "[1/3]" not in (folder / "out.txt").read_text() and process.poll() is None:
            time.sleep(0.02)
        assert process.poll() is None, (folder / "out.txt").read_text()
        process.send_signal(number)
        status = process.wait(30)
    if number == signal.SIGINT:
        assert status == 130
        assert "go on with --resume" in (folder / "out.txt").read_text()
    else:
        assert status == -signal.SIGKILL
    before = (loop.folder / "log.jsonl").read_bytes()
    done = sum(1 for entry in loop.entries() if entry["event"] == "sample")
    assert 1 <= done < 3
    # As if it had been writing the next line.
    if number == signal.SIGKILL:
        with (loop.folder / "log.jsonl").open("ab") as log:
            log.write(b'{"crc": "0123')
    output = loop.run("--batch_size=3", "--resume",
                      environment={"NUM_BATCHES": "1"}).require_success().output
    assert output.count("from the log") == done
    assert (loop.folder / "log.jsonl").read_bytes().startswith(before)
    assert sorted(loop.samples()) == [(0, 0), (0, 1), (0, 2)]
    assert [e["batch"] for e in loop.entries() if e["event"] == "train"] == [0]


def test_a_run_killed_while_training_goes_on(finished, loop):
    loop.folder.mkdir()
    samples = [e for e in finished.entries() if e["event"] == "sample"]
    (loop.folder / "log.jsonl").write_bytes(b"".join(map(run_log.encode, samples)))
    command = loop.command("--batch_size=3", "--resume", "--epochs=10000000", "--patience=0")
    state = loop.folder / "batch_0000_0_1_1" / "trained.weights.state"
    with subprocess.Popen(command, env=loop.environment(), stdout=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 120
        while not state.exists() and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.05)
        assert process.poll() is None
        process.kill()
    before = state.stat().st_mtime_ns
    time.sleep(1.5)  # longer than between two saves: the trainer has ended, too
    assert state.stat().st_mtime_ns == before
    assert not (loop.folder / "updated.weights").exists() or \
        (loop.folder / "updated.weights").read_bytes() == (ROOT / "baseline.weights").read_bytes()
    # Also with another number of epochs, for which the state is of no use.
    loop.run("--batch_size=3", "--resume").require_success()
    assert [e["batch"] for e in loop.entries() if e["event"] == "train"] == [0, 1]


# ----- samples that fail

# What the program of each sample does; it stands for all that can go wrong while measuring.
PROGRAMS = {
    0: ("echo 'blur: auto: median_ms=1.5'", "ok", ""),
    1: ("echo 'blur: auto: median_ms=0'", "run", "a time of 0 ms is impossible"),
    2: ("echo 'blur: auto: median_ms=-3'", "run", "a time of -3 ms is impossible"),
    3: ("echo 'blur: auto: median_ms=nan'", "run", "a time of nan ms is impossible"),
    4: ("echo nothing", "run", "did not print a time"),
    5: ("kill -SEGV $$", "run", "ended by SIGSEGV"),
    6: ("sleep 60", "run", "no end after 3 s"),
    7: ("echo 'blur: max_abs_diff=3: FAILED'; exit 1", "check", "FAILED"),
    8: (None, "link", "exit status 3"),
}


def test_failures_are_data(loop, folder):
    link = fake_linker(folder, {n: text for n, (text, _, _) in PROGRAMS.items()})
    loop.run(f"--batch_size={len(PROGRAMS)}", "--link", link, "--run_timeout=3",
             "--retrain=never", environment={"NUM_BATCHES": "1"}).require_success()
    samples = loop.samples()
    for sample, (_, stage, reason) in PROGRAMS.items():
        entry = samples[0, sample]
        if entry["status"] == "duplicate":
            continue
        assert entry["status"] == ("ok" if stage == "ok" else "failed")
        assert reason in entry["reason"]
        assert entry["stage"] == ("" if stage == "ok" else stage)
    assert sum(e["status"] == "failed" for e in samples.values()) >= 5
    # Failures are remembered, and tried again only if that is asked for.
    options = [f"--batch_size={len(PROGRAMS)}", "--run_timeout=3", "--retrain=never", "--resume"]
    works = fake_linker(folder, {n: PROGRAMS[0][0] for n in PROGRAMS})
    again = [*options, "--link", works]
    loop.run(*again, environment={"NUM_BATCHES": "1"}).require_success()
    assert loop.samples() == samples
    loop.run(*again, "--retry", environment={"NUM_BATCHES": "1"}).require_success()
    entries, _ = run_log.read_log(loop.folder / "log.jsonl")
    latest = {e["sample"]: e["status"] for e in entries}
    assert set(latest.values()) <= {"ok", "duplicate"}


def test_a_full_disk_is_no_result(loop, folder):
    text = "echo 'No space left on device'; exit 1"
    outcome = loop.run("--batch_size=2", "--link", fake_linker(folder, {0: text, 1: text}))
    assert outcome.returncode == 1
    assert "is full: make room and go on with --resume" in outcome.output
    assert loop.entries() == []


def test_a_small_disk_that_grows(tools, folder):
    disk = folder / "disk"
    disk.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk]).returncode != 0:
        pytest.skip("mounting is not permitted")
    try:
        loop = Loop(tools, disk / "samples", tools.generator(HIST), "hist", SMALL)
        environment = {"NUM_BATCHES": "1"}
        outcome = loop.run("--batch_size=2", environment=environment)
        assert outcome.returncode == 1
        assert "No space left" in outcome.output or "is full: make room" in outcome.output
        assert "Traceback" not in outcome.output
        assert [e for e in loop.entries() if e["status"] == "failed"] == []
        run(["mount", "-o", "remount,size=200m", disk]).require_success()
        loop.run("--batch_size=2", "--resume", environment=environment).require_success()
        assert sorted(loop.samples()) == [(0, 0), (0, 1)]
    finally:
        run(["umount", "-l", disk])


WRONG = """
#include "Halide.h"
class Wrong : public Halide::Generator<Wrong> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};
    void generate() {
        Halide::Var x, y;
        output(x, y) = input(x, y) * (get_target().has_gpu_feature() ? 2.0f : 1.0f);
        input.set_estimates({{0, 64}, {0, 64}});
        output.set_estimates({{0, 64}, {0, 64}});
    }
};
HALIDE_REGISTER_GENERATOR(Wrong, wrong)
"""


def test_wrong_results_are_noticed(tools, folder):
    (folder / "wrong.cpp").write_text(WRONG)
    generator = tools.compile_generator(folder / "wrong.generator", [folder / "wrong.cpp"])
    loop = Loop(tools, folder / "samples", generator, "wrong", "")
    environment = {"NUM_BATCHES": "1"}
    outcome = loop.run("--batch_size=1", environment=environment)
    assert outcome.returncode == 1 and "no sample succeeded" in outcome.output
    (entry,) = loop.samples().values()
    assert entry["stage"] == "check" and "values differ from the CPU's" in entry["reason"]
    loop.run("--batch_size=1", "--no_check", "--resume", "--retry", "--retrain=never",
             environment=environment).require_success()


# ----- other ways to go


def test_predictions_need_no_device(loop):
    nothing = {"HL_OCL_PLATFORM_NAME": "none of that name", "NUM_BATCHES": "1"}
    outcome = loop.run("--batch_size=2", environment=nothing)
    assert outcome.returncode == 1 and "no OpenCL device found" in outcome.output
    sets = f"{SMALL} width=64;height=48"
    output = loop.run("--batch_size=2", "--trials=3", "--label=predicted", "--candidates=top_k",
                      environment=nothing, _7=sets).require_success().output
    samples = loop.samples()
    # Two of the first set, and one of the second; the best ones of a search, in order.
    assert sorted(samples) == [(0, 0), (0, 1), (1, 0)]
    assert [samples[key]["argument_set"] for key in sorted(samples)] == [0, 0, 1]
    assert samples[0, 0]["predicted_ms"] <= samples[0, 1]["predicted_ms"]
    assert samples[0, 0]["pipeline_hash"] and samples[0, 0]["kind"] == "top_k"
    assert (loop.folder / "best.hist.1.schedule.h").exists() and output.count("best: ") == 2
    outcome = loop.run("--batch_size=2", "--resume", "--label=predicted", _7=SMALL)
    assert outcome.returncode == 1 and "generator arguments" in outcome.output


def test_compiling_alone(loop):
    loop.run("--batch_size=2", environment={"COMPILE_ONLY": "1", "NUM_BATCHES": "1"}
             ).require_success()
    assert len(list(loop.folder.glob("batch*/*/bench"))) == 2
    assert loop.entries() == []


# ----- several devices


def test_devices_work_side_by_side_one_sample_each(tools, folder, monkeypatch):
    # The first one on each device waits until something runs on the other one as well.
    text = 'echo "$SLOT begin $(date +%s%N)" >> "$LOG"; touch "$LOG.$SLOT"; ' \
        'for i in {1..300}; do [ -e "$LOG.0" ] && [ -e "$LOG.1" ] && break; sleep 0.1; done; ' \
        'echo "$SLOT end $(date +%s%N)" >> "$LOG"; echo "x: auto: median_ms=1"'
    log = folder / "times"
    devices = [Device("GPU", "1", False, f"test-{n}", {"SLOT": str(n), "LOG": str(log)})
               for n in range(2)]
    monkeypatch.setattr(tuner, "usable_devices", lambda target: devices)
    count = 8
    settings = Settings(
        generator=tools.generator(HIST), pipeline="hist", target="host-opencl",
        build=tools.plugin.parent, folder=folder / "samples", batch_size=count,
        argument_sets=(tuple(SMALL.split(";")),), options={"beam_size": "2"}, retrain="never",
        link=fake_linker(folder, {n: text for n in range(count)}))
    assert asyncio.run(tuner.Tuner(settings, PlainDisplay()).run()) == 0
    spans, steps = {"0": [], "1": []}, {"0": [], "1": []}
    for line in log.read_text().splitlines():
        slot, step, when = line.split()
        spans[slot].append(int(when))
        steps[slot].append(step)
    for slot in spans:
        # One begins when the one before it has ended.
        assert steps[slot] == ["begin", "end"] * (len(steps[slot]) // 2)
        assert len(steps[slot]) >= 2
    overlaps = [1 for b0, e0 in zip(spans["0"][::2], spans["0"][1::2])
                for b1, e1 in zip(spans["1"][::2], spans["1"][1::2]) if b0 < e1 and b1 < e0]
    assert overlaps


# ----- bad arguments


@pytest.mark.parametrize("changes, words", [
    ({"_0": "/no/generator"}, "there is no generator program /no/generator"),
    ({"_2": "host"}, "cannot be timed"),
    ({"_3": "/no/such.weights"}, "there are no weights /no/such.weights"),
    ({"_4": "/no/build"}, "there is no libautoschedule_anderson2021.so in /no/build"),
    ({"_5": "many"}, "parallelism is 'many'"),
    ({"_6": "2"}, "train_only is '2'"),
])
def test_bad_arguments(loop, changes, words):
    outcome = loop.run(**changes)
    assert outcome.returncode == 1
    assert words in outcome.output
    assert "Traceback" not in outcome.output


def test_bad_environment_and_weights(loop, folder):
    outcome = loop.run(environment={"USE_FREEZE": "maybe"})
    assert outcome.returncode == 1 and "USE_FREEZE is 'maybe'" in outcome.output
    outcome = loop.run(environment={"NUM_BATCHES": "x"})
    assert outcome.returncode == 1 and "NUM_BATCHES is 'x'" in outcome.output
    content = bytearray((ROOT / "baseline.weights").read_bytes())
    content[8] = 2
    (folder / "old.weights").write_bytes(content)
    outcome = loop.run(_3=folder / "old.weights")
    assert outcome.returncode == 1
    assert "is for feature versions [3, 2], but the plugin computes versions [3, 3]" \
        in outcome.output
    command = [SCRIPTS / "autotune_loop.sh", *loop.positional[:5]]
    outcome = run(command, environment={"SAMPLES_DIR": str(folder)})
    assert outcome.returncode == 1 and "usage" in outcome.output
    assert run([SCRIPTS / "autotune_loop.sh", "--help"]).returncode == 0
