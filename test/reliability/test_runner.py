"""The runner of the corpus must notice crashes, hangs, wrong results, illegal launches, and
messages that do not come."""

import argparse
import os
import sys
import time
from pathlib import Path

import halide as hl
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import corpus  # noqa: E402
import partial_schedules  # noqa: E402
import run_pipelines  # noqa: E402
import steps  # noqa: E402

CASE = corpus.Case([], [])


def outcome_of(action, monkeypatch, limit_s=20):
    """What the runner says of a pipeline whose steps are `action(tell)`."""
    monkeypatch.setattr(run_pipelines, "LIMIT_S", limit_s)

    class Fake:
        @staticmethod
        def run_all(name, short, tell):
            action(tell)

    arguments = argparse.Namespace(jobs=1, short=())
    ended = []
    run_pipelines.run_children(Fake, arguments, ["one"], ended.append)
    return ended[0].steps


def test_notices_a_crash(monkeypatch):
    def crash(tell):
        tell(step="run", status="begun", text="")
        os.abort()

    assert outcome_of(crash, monkeypatch)["run"]["status"] == "crash"


def test_notices_a_hang(monkeypatch):
    def hang(tell):
        tell(step="cuda", status="begun", text="")
        time.sleep(100)

    assert outcome_of(hang, monkeypatch, limit_s=1)["cuda"]["status"] == "hang"


def test_notices_broken_promises_in_the_log(monkeypatch):
    def warn(tell):
        tell(step="run", status="right", text="")
        os.write(1, b"Warning: this is guaranteed to fail an assertion at run time")

    assert outcome_of(warn, monkeypatch)["log"]["status"] == "illegal"


def test_notices_a_warning_that_is_missing(monkeypatch):
    def silent(tell):
        tell(step="cuda", status="right", text="", says="defined by")

    assert outcome_of(silent, monkeypatch)["log"]["status"] == "error"


@pytest.mark.parametrize("have, want, same", [
    ([1, 2], [1, 2], True),
    ([1, 2], [1, 3], False),
    ([1.0, 100.0], [1.00001, 100.0], True),
    ([1.0, 100.0], [1.1, 100.0], False),
    ([np.nan, 1.0], [np.nan, 1.0], True),
    ([np.nan, 1.0], [0.0, 1.0], False),
    ([np.inf, 1.0], [np.inf, 1.0], True),
])
def test_compares(have, want, same):
    have, want = np.array(have), np.array(want)
    if same:
        steps.compare(have, want, CASE, "here")
    else:
        with pytest.raises(steps.Wrong):
            steps.compare(have, want, CASE, "here")


@pytest.mark.parametrize("line", [
    "k 2048 1 1 2048 1 1 1",           # threads
    "k 128 1 128 1 1 128 1",           # threads along z
    "k 32 65536 1 32 1 1 1",           # groups along y
    "k 32 1 1 32 1 1 49153",           # shared memory
    "\n".join(["k 32 1 1 32 1 1 1"] * 41),  # launches
])
def test_notices_illegal_launches(line):
    with pytest.raises(steps.Illegal):
        steps.check_launches(CASE, line)


def test_counts_launches_of_one_thread():
    record = "a 1 1 1 1 1 1 1\nb 2 1 1 1 1 1 1\nc 1024 65535 1 1024 1 1 49152\n"
    assert steps.check_launches(CASE, record) == {"launches": 3, "single_threads": 1}


def test_notices_a_refusal_that_does_not_come():
    told = []
    refused = corpus.Case([], [], refused="unbounded")
    steps.Steps(refused, lambda **facts: told.append(facts)).run("cuda", lambda: None)
    assert told[-1]["status"] == "error"
    assert steps.Steps(refused, None).judge("cuda", "this is unbounded")[0] == "message"
    assert steps.Steps(refused, None).judge("cuda", "another")[0] == "error"
    assert steps.Steps(refused, None).judge("run", "this is unbounded")[0] == "error"


TREE = """ gpu_none
realize: out [64, 32] with 1 stages
realize: table [9] with 1 stages
table 1 (0, 0) t gpu_block
 table 9 (0, 0) t gpu_thread
  table 1c (0, 0) t gpu_serial
   table 1vc (0, 0) * gpu_simd
out 2 8c (0, 0) t gpu_block
  realize: blur [34, 4] with 1 stages
 blur 34 1c (0, 0) t gpu_thread
  blur 1c 4c (0, 0) t gpu_serial
   blur 1vc 1c (0, 0) * gpu_simd
    inlined: source 3
 out 32c 1c (0, 0) t gpu_thread
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
""".splitlines()


def test_takes_parts_of_a_schedule():
    assert partial_schedules.decided(TREE) == ["out", "blur", "source", "table"]
    assert partial_schedules.in_the_middle(TREE) == "blur"
    lines = partial_schedules.about(TREE, ["blur"])
    assert len(lines) == 4 and all("blur" in line for line in lines)
    assert partial_schedules.without_counts(["   inlined: f 3", "g 1"]) == ["g 1", "inlined: f"]


def test_damages_schedules():
    texts = partial_schedules.damaged(TREE)
    whole = "\n".join(TREE) + "\n"
    assert all(text != whole for text, _ in texts.values())
    assert {label: word for label, (_, word) in texts.items()} == {
        "unknown": "nobody", "swapped": "table", "dims": "out", "cut": "out",
        "foreign": "of_another_pipeline"}
    assert texts["cut"][0].endswith("   out 1vc 1c\n")
    assert "\n   out 1vc 1c 1 (0, 0) * gpu_simd\n" in texts["dims"][0]


def test_partial_schedules_run_in_processes_of_their_own():
    assert partial_schedules.in_process(lambda: "done").result == "done"

    def refuse():
        raise hl.HalideError("no such Func")

    def differ():
        raise steps.Wrong("1 instead of 2")

    with pytest.raises(hl.HalideError, match="no such Func"):
        partial_schedules.in_process(refuse)
    with pytest.raises(steps.Wrong, match="1 instead of 2"):
        partial_schedules.in_process(differ)
    with pytest.raises(RuntimeError, match="exit status -6"):
        partial_schedules.in_process(os.abort)
