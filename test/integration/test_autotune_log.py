"""The parts of the autotuner that need no device: log, times, comparison, candidates, report."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import numpy
import pytest

from toolchain import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

# pylint: disable=wrong-import-position
from autotune import candidates, cli, harness, outcome, report, run_log, samples  # noqa: E402
from autotune.errors import SampleFailure, TuneError  # noqa: E402
from autotune.settings import Settings, Tolerance  # noqa: E402

IDENTITY = {"label": "measured", "weights": "", "device": "GPU 1", "driver": "1.0",
            "halide": "21.0.0", "features": [3, 3], "pipeline": "blur", "target": "host-opencl",
            "parallelism": 80, "argument_sets": [[]], "inputs": "--estimate_all"}


def entry(sample, milliseconds=None, **changes):
    """A line of a log."""
    identity = {**IDENTITY, **{k: v for k, v in changes.items() if k in IDENTITY}}
    features = numpy.full(360, sample + 1, dtype="<f4").tobytes()
    result = {"event": "sample", "identity": identity, "batch": 0, "argument_set": 0,
              "sample": sample, "name": f"blur_batch_0000_sample_{sample:04d}",
              "folder": f"batch_0000_0_0_0/{sample}", "kind": "random", "seed": 5 + sample,
              "schedule_id": sample, "parameters": {}, "predicted_ms": 2.5, "stage": "",
              "measured_ms": milliseconds, "status": "ok", "reason": "",
              "featurization": samples.packed(features),
              "schedule": samples.packed(f"// schedule {sample} <&>".encode())}
    if milliseconds is None:
        result.update(status="failed", stage="run", reason="no end after <1> s")
    result.update({k: v for k, v in changes.items() if k not in IDENTITY})
    return result


@pytest.fixture
def path(folder):
    """A log with three samples."""
    log = run_log.RunLog(folder / "log.jsonl")
    for line in (entry(0, 4.0), entry(1), entry(2, 3.0)):
        log.append(line)
    log.close()
    return log.path


# ----- the log


def test_what_was_written_is_read(path):
    entries, messages = run_log.read_log(path)
    assert messages == []
    assert [e["sample"] for e in entries] == [0, 1, 2]
    assert [e["sample"] for e in outcome.ranked(entries)] == [2, 0]


@pytest.mark.parametrize("missing", [1, 2, 40, 300])
def test_a_line_that_was_cut_off_is_lost_alone(path, missing):
    content = path.read_bytes()
    path.write_bytes(content[:-missing])
    entries, messages = run_log.read_log(path)
    assert [e["sample"] for e in entries] == ([0, 1, 2] if missing == 1 else [0, 1])
    log = run_log.RunLog(path)
    log.append(entry(3, 1.0))
    log.close()
    entries, again = run_log.read_log(path)
    assert [e["sample"] for e in entries] == [0, 1, 3]
    assert again == [] and (len(messages) == 1 or missing == 1)


@pytest.mark.parametrize("old, new, number", [
    (b'"measured_ms": 4.0', b'"measured_ms": 9.0', 1), (b"{", b"(", 1),
    (b'"crc"', b'"crk"', 1), (b'"failed"', b'"\xff\x00led"', 2),
])
def test_a_damaged_line_is_left_out(path, old, new, number):
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    entries, messages = run_log.read_log(path)
    assert [e["sample"] + 1 for e in entries] == [n for n in (1, 2, 3) if n != number]
    assert len(messages) == 1
    assert f"log.jsonl:{number}: is damaged" in messages[0]


def test_empty_and_missing_logs_are_a_fresh_start(folder):
    (folder / "log.jsonl").touch()
    assert run_log.read_log(folder / "log.jsonl") == ([], [])
    assert run_log.read_log(folder / "none.jsonl") == ([], [])


@pytest.mark.parametrize("key, other, words", [
    ("device", "GPU 2", "device of its samples is 'GPU 1', but other lines have 'GPU 2'"),
    ("driver", "1.1", "driver"), ("features", [3, 4], "feature versions of its samples is [3, 3]"),
    ("halide", "22.0.0", "Halide version"), ("label", "predicted", "source of the times"),
    ("pipeline", "sobel", "pipeline"), ("argument_sets", [["x=1"]], "generator arguments"),
])
def test_what_cannot_be_compared_is_not_mixed(path, key, other, words):
    with path.open("ab") as log:
        log.write(run_log.encode({"format": run_log.FORMAT, **entry(3, 1.0, **{key: other})}))
    with pytest.raises(TuneError) as error:
        run_log.read_log(path)
    assert words in str(error.value)


def test_another_format_is_refused(path):
    with path.open("ab") as log:
        log.write(run_log.encode({**entry(3, 1.0), "format": 7}))
    with pytest.raises(TuneError, match="format 7"):
        run_log.read_log(path)


def test_two_runs_cannot_write_one_log(path):
    log = run_log.RunLog(path)
    with pytest.raises(TuneError, match="another run"):
        run_log.RunLog(path)
    log.close()
    run_log.RunLog(path).close()


def test_a_full_disk_leaves_the_log_whole(path):
    before = path.read_bytes()
    program = f"""
import resource, signal, sys
sys.path[:0] = [{str(ROOT / "scripts")!r}, {str(ROOT / "test" / "integration")!r}]
from test_autotune_log import entry, run_log
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = run_log.RunLog(run_log.Path({str(path)!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100}, {len(before) + 100}))
try:
    log.append(entry(3, 1.0))
except run_log.TuneError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False)
    assert done.stderr == ""
    assert "cannot write" in done.stdout and "--resume" in done.stdout
    assert path.read_bytes() == before
    log = run_log.RunLog(path)
    log.append(entry(3, 1.0))
    assert len(run_log.read_log(path)[0]) == 4


def test_a_full_device_is_reported():
    log = run_log.RunLog(run_log.Path("/dev/full"))
    with pytest.raises(TuneError, match="No space left"):
        log.append(entry(0, 1.0))


def test_numbers_that_are_none_are_not_written(folder):
    log = run_log.RunLog(folder / "log.jsonl")
    with pytest.raises(ValueError):
        log.append(entry(0, float("nan")))
    assert (folder / "log.jsonl").read_bytes() == b""


# ----- what follows from it


def test_everything_is_made_from_the_log(path):
    entries, _ = run_log.read_log(path)
    made = outcome.Outcome(path.parent, entries)
    files = made.write_samples()
    assert [f.name for f in files] == ["blur_batch_0000_sample_0000.sample",
                                       "blur_batch_0000_sample_0002.sample"]
    content = files[0].read_bytes()
    assert len(content) == 1440 + 12
    assert numpy.frombuffer(content[-12:-8], "<f4")[0] == 4.0
    made.write_best(top=2)
    assert (path.parent / "best.blur.schedule.h").read_text() == "// schedule 2 <&>"
    line = (path.parent / "best.blur.benchmark.txt").read_text()
    assert line.split()[3] == "3" and line.split()[11] == str(files[1])
    assert (path.parent / "top" / "blur.0.1.schedule.h").read_text() == "// schedule 0 <&>"
    files[0].write_bytes(b"cut off")
    made.write_samples()
    assert files[0].read_bytes() == content


def test_the_report_is_one_file_with_drawings(path):
    entries, _ = run_log.read_log(path)
    page = report.html_report(entries)
    drawings = [ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")
                for part in page.split("<svg")[1:]]
    assert len(drawings) == 2
    for drawing in drawings:
        assert len([e for e in drawing.iter() if e.tag.endswith("circle")]) == 2
    assert "no end after &lt;1&gt; s" in page and "GPU 1" in page
    assert "src=" not in page and "href=" not in page
    assert "No sample" in report.html_report([])
    # One point only, and none.
    report.html_report([entry(0, 1.0)])
    assert "<svg" not in report.html_report([entry(0)])


def test_show_says_what_is_wrong(folder, path, capsys):
    assert cli.main(["show", str(folder / "nothing")]) == 1
    assert "missing or empty" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:-10])
    assert cli.main(["show", str(folder), "--top", "2"]) == 0
    assert "is cut off" in capsys.readouterr().err
    assert (folder / "report.html").exists()


def test_hashes_are_those_of_the_trainer():
    # By hand: one value with bits b and state 0 gives (b + 0x9e3779b9) mod 2^32.
    one = numpy.zeros(360, dtype="<f4")
    state = 0
    for _ in range(73):
        state ^= 0x9E3779B9 + ((state << 6) & (2**64 - 1)) + (state >> 2) & (2**64 - 1)
    assert samples.schedule_hash(one.tobytes()) == f"{state:016x}"
    # The kind of feature counts fastest: swapping kinds within a type changes the hash, the types
    # in use do not matter.
    a, b, c = one.copy(), one.copy(), one.copy()
    a[80], b[87], c[73] = 1, 1, 1
    hashes = {samples.pipeline_hash(x.tobytes()) for x in (one, a, b)}
    assert len(hashes) == 3
    assert samples.pipeline_hash(c.tobytes()) == samples.pipeline_hash(one.tobytes())


@pytest.mark.parametrize("content", [b"", b"\0" * 1439, b"\0" * 1444, b"\xff" * 1440])
def test_features_that_are_none(content):
    with pytest.raises(ValueError):
        samples.schedule_hash(content)


# ----- times and results


@pytest.mark.parametrize("printed", ["0", "-1", "nan", "inf", "-inf", "x", "1e400"])
def test_times_that_are_none(printed):
    with pytest.raises(SampleFailure):
        harness.parse_time(harness.TIME_LINE, f"blur  BEST_TIME_MSEC_PER_ITER  {printed}\n")


def test_times():
    text = "blur  BEST_TIME_MSEC_PER_ITER  0.25\nblur  SAMPLES   3\n"
    assert harness.parse_time(harness.TIME_LINE, text) == 0.25
    # The filter programs time the CPU as well.
    text = "hist: auto: median_ms=0.5 min_ms=0.4\nhist: cpu: median_ms=9 min_ms=8\n"
    assert harness.parse_time(harness.CUSTOM_TIME, text) == 0.5
    with pytest.raises(SampleFailure, match="did not print a time"):
        harness.parse_time(harness.TIME_LINE, "")


def test_results_are_compared():
    exact, loose = Tolerance(0, 0), Tolerance(0.1, 0.01)
    expected = numpy.array([1.0, 100.0, numpy.nan, numpy.inf], dtype=numpy.float32)
    assert harness.compare(expected.copy(), expected, exact) == 0
    near = expected + numpy.array([0.05, 1.0, 0, 0], dtype=numpy.float32)
    assert harness.compare(near, expected, loose) == pytest.approx(1.0)
    for index, value in ((0, 1.2), (1, 102), (2, 0), (3, 5), (0, numpy.nan)):
        wrong = expected.copy()
        wrong[index] = value
        with pytest.raises(SampleFailure, match="1 of 4 values"):
            harness.compare(wrong, expected, loose)
        harness.compare(wrong, expected, Tolerance(0.1, 0.01, 0.25))
    numbers = numpy.array([0, 255], dtype=numpy.uint8)
    with pytest.raises(SampleFailure, match="by up to 255"):
        harness.compare(numbers[::-1].copy(), numbers, exact)
    with pytest.raises(SampleFailure, match="instead of"):
        harness.compare(numbers[:1], numbers, exact)


# ----- candidates and settings


def settings_with(folder, **changes):
    """Settings of a run that is never started."""
    values = {"generator": folder / "g", "pipeline": "blur", "target": "host-opencl",
              "build": folder, "folder": folder, "batch_size": 4}
    return Settings(**{**values, **changes})


def test_candidates_of_a_batch(folder):
    trees = [folder / f"rank.{i}.tree" for i in range(3)]

    def plan(**changes):
        return candidates.plan_batch(settings_with(folder, **changes), 2, 0, trees)

    assert [c.kind for c in plan()] == ["beam", "random", "random", "random"]
    assert [c.kind for c in plan(beam=False)] == ["random"] * 4
    assert [c.kind for c in plan(candidates="mixed")] == ["top_k", "top_k", "random", "random"]
    # Where the search has found fewer.
    assert [c.kind for c in plan(candidates="top_k")] == ["top_k"] * 3 + ["random"]
    first, second = plan(options={"beam_size": "2"})[:2]
    assert first.parameters["beam_size"] == "2" and second.parameters["beam_size"] == "1"
    assert second.parameters["random_dropout_seed"] == str(second.seed)


def test_seeds_and_ids_do_not_repeat(folder):
    planned = [c for batch in range(50)
               for c in candidates.plan_batch(settings_with(folder, batch_size=80), batch, 0, [])]
    assert len({c.seed for c in planned}) == len({c.schedule_id for c in planned}) == 4000
    assert all(0 <= c.seed < 2**31 and c.schedule_id < 2**31 for c in planned)


@pytest.mark.parametrize("changes, words", [
    ({"batches": 0}, "batches is 0"), ({"jobs": -1}, "jobs is -1"),
    ({"run_timeout": 0}, "run_timeout"), ({"minutes": -1}, "minutes"),
    ({"candidates": "all"}, "candidates is all"), ({"label": "guessed"}, "label is guessed"),
    ({"options": {"reference_features": "1"}}, "reference_features"),
    ({"run_timeout": float("nan")}, "run_timeout"),
])
def test_bad_settings(folder, changes, words):
    with pytest.raises(TuneError, match=words):
        settings_with(folder, **changes)


def test_a_log_of_one_line_per_sample_is_json(path):
    lines = path.read_text().splitlines()
    assert [json.loads(line)["sample"] for line in lines] == [0, 1, 2]
