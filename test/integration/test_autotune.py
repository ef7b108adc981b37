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


def log_file(folder):
    """The log of the only set of arguments."""
    (log,) = (folder / "autotune").glob("*/log.jsonl")
    return log


def log_entries(folder):
    return [json.loads(line) for line in log_file(folder).open()]


def test_goes_by_predictions_and_resumes(make, folder):
    output = make("autotune", "SAMPLES=2").require_success().output
    assert "from the log" not in output
    entries = log_entries(folder)
    assert sorted(entry["sample"] for entry in entries) == [0, 1]
    assert all(entry["predicted_ms"] > 0 for entry in entries)

    # What is known is not done again.
    output = make("autotune", "SAMPLES=3").require_success().output
    assert output.count("from the log") == 2
    entries = log_entries(folder)
    assert len(entries) == 3
    best = min(entry["predicted_ms"] for entry in entries)
    assert f"predicted {best:.6g} ms; schedule in" in output
    # Other arguments mean other schedules.
    output = make("autotune", "SAMPLES=1", "PARALLELISM=40").require_success().output
    assert "from the log" not in output


def test_measures_and_keeps_a_schedule_that_works(make, folder):
    output = make("autotune", "SAMPLES=2", "MEASURE=1").require_success().output
    assert "best: hist_batch_0000_sample_" in output
    assert all(entry["measured_ms"] > 0 for entry in log_entries(folder))
    kept = folder / "autotune" / "best.schedule.h"
    outcome = make("test", "TEST_SIZES=61x47", f"SCHEDULE_HEADER={kept}").require_success()
    assert outcome.output.count("auto against cpu: max_abs_diff=0 (must be equal): OK") == 2


def test_failures_are_no_candidates(make, folder):
    outcome = make("autotune", "SAMPLES=2", "AUTOSCHEDULER_ARGS=autoscheduler.num_passes=-1")
    assert outcome.returncode != 0
    assert "no sample succeeded" in outcome.output
    assert all("num_passes" in entry["reason"] for entry in log_entries(folder))
