"""`make autotune`: tries schedules, remembers them, keeps the best, notices wrong ones."""

import json

import pytest

from toolchain import APPS, OPENCL_ON_CPU, run


@pytest.fixture
def make(tools, folder):
    def call(*words):
        return run(
            ["make", "-s", "-C", APPS / "hist", f"OUT={folder}", f"PLUGIN={tools.plugin}"]
            + ["HL_TARGET=host-opencl", "GENERATOR_PARAMS=width=96 height=80", "BEAM_SIZE=2"]
            + list(words),
            environment=OPENCL_ON_CPU,
        )

    return call


def log_entries(folder):
    return [json.loads(line) for line in (folder / "autotune" / "log.jsonl").open()]


def test_goes_by_predictions_and_resumes(make, folder):
    output = make("autotune", "SAMPLES=2").require_success().output
    assert "from the log" not in output
    entries = log_entries(folder)
    assert [entry["sample"] for entry in entries] == [0, 1]
    assert all(entry["predicted_ms"] > 0 for entry in entries)

    # A line that was cut off does no harm, and what is known is not done again.
    with (folder / "autotune" / "log.jsonl").open("a") as log:
        log.write('{"key": "cut o\n')
    output = make("autotune", "SAMPLES=3").require_success().output
    assert output.count("from the log") == 2
    lines = (folder / "autotune" / "log.jsonl").read_text().splitlines()
    assert len(lines) == 4

    best = min(entry["predicted_ms"] for entry in [*entries, json.loads(lines[-1])])
    assert f"predicted {best} ms; schedule in" in output
    # Other arguments mean other schedules.
    output = make("autotune", "SAMPLES=1", "PARALLELISM=40").require_success().output
    assert "from the log" not in output


def test_measures_and_keeps_a_schedule_that_works(make, folder):
    output = make("autotune", "SAMPLES=2", "MEASURE=1").require_success().output
    assert "best: sample" in output
    assert all(entry["measured_ms"] > 0 for entry in log_entries(folder))
    kept = folder / "autotune" / "best.schedule.h"
    outcome = make("test", "TEST_SIZES=61x47", f"SCHEDULE_HEADER={kept}").require_success()
    assert outcome.output.count("auto against cpu: max_abs_diff=0 (must be equal): OK") == 2


def test_failures_are_no_candidates(make, folder):
    outcome = make("autotune", "SAMPLES=2", "AUTOSCHEDULER_ARGS=autoscheduler.num_passes=-1")
    assert outcome.returncode != 0
    assert "no sample succeeded" in outcome.output
    assert all("num_passes" in entry["error"] for entry in log_entries(folder))
