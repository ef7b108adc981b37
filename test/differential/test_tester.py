"""Tests of the comparison itself: what it must notice, and what it must let pass."""

import json
import os
import pathlib

import numpy
import pytest

import compare_with_reference
import comparison
import feature_names
import network
import small_pipelines
import tester
from comparison import NUM_FEATURES, QUANTITIES, Comparison, Oracle, has_fused_funcs
from explained import Excused, Explained, excused, explain
from program import REFERENCE
from summary import Summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = os.environ.get("ANDERSON_PLUGIN",
                        str(ROOT / "build/release/libautoschedule_anderson2021.so"))
WEIGHTS = ROOT / "baseline.weights"
CASE = {"pipeline": "p", "direction": "forth", "seed": 1, "options": {"beam_size": 1}}


def blob(stages=3):
    """Plausible records: positive numbers, efficiencies of 1, no idle lanes."""
    table = numpy.fromfunction(lambda s, i: 1 + (s * 7 + i * 3) % 11, (stages, NUM_FEATURES))
    table[:, [64, 65]] = 1
    table[:, 57] = 0
    return table.astype("<f4")


def compare(tmp_path, *options, tamper=None):
    arguments = ["--plugin", PLUGIN, "--pipelines", "matrix_multiply", "--seeds", "3", "--jobs", "1",
                 "--work", str(tmp_path / "work"), "--report", str(tmp_path), *options]
    status = compare_with_reference.main(arguments, tamper=tamper)
    return status, json.loads((tmp_path / "report.json").read_text())


def test_equal_schedules_pass(tmp_path):
    status, report = compare(tmp_path, "--both", "--minimum", "5")
    assert status == 0
    assert report["schedules"] >= 5
    assert sum(row["unequal"] for row in report["features"]) == 0
    assert all(row["compared"] >= 15 for row in report["features"] if row["part"] != "cost")


@pytest.mark.parametrize("index", [0, 43, 72, 73, 73 + 286])
def test_changed_feature_is_reported(tmp_path, index):
    def tamper(data):
        table = numpy.frombuffer(data, "<f4").copy().reshape(-1, NUM_FEATURES)
        table[1, index] = numpy.nextafter(table[1, index], numpy.float32(1e30))
        return table.tobytes()

    status, report = compare(tmp_path, tamper=tamper)
    assert status == 1
    unequal = [row for row in report["features"] if row["unequal"]]
    assert [row["name"] for row in unequal] == [QUANTITIES[index]]
    assert unequal[0]["reproducer"]["pipeline"] == "matrix_multiply"
    assert QUANTITIES[index] in (tmp_path / "report.md").read_text()
    assert report["faults"][0]["tree"].startswith(" gpu_none")


def test_missing_record_is_reported(tmp_path):
    status, report = compare(tmp_path, tamper=lambda data: data[:-4 * NUM_FEATURES])
    assert status == 1
    assert report["faults"]


def test_given_tree_is_compared(tmp_path):
    _, report = compare(tmp_path, tamper=lambda data: data[:-4 * NUM_FEATURES])
    tree = tmp_path / "tree.txt"
    tree.write_text(report["faults"][0]["tree"])
    status, report = compare(tmp_path, "--tree", str(tree))
    assert (status, report["schedules"]) == (0, 1)


def test_time_limit_stops_early(tmp_path):
    status, report = compare(tmp_path, "--seeds", "1000", "--seconds", "1")
    assert status == 0
    assert 0 < report["schedules"] < 1000


def test_too_few_schedules_fail(tmp_path):
    status, _ = compare(tmp_path, "--minimum", "100")
    assert status == 1


def test_dead_reference_is_skipped_not_passed(tmp_path):
    status, report = compare(tmp_path, "--timeout", "0.001")
    assert status == 1
    assert report["schedules"] == 0


def test_our_failure_fails(tmp_path):
    status, report = compare(tmp_path, "--back", "--option", "parallelism=0")
    assert status == 1
    assert {o["kind"] for o in report["outcomes"]} == {"failed"}


def test_zeros_are_equal_and_order_matters():
    table = blob()
    other = table.copy()
    table[0, 5], other[0, 5] = 0.0, -0.0
    outcome = Comparison()
    outcome.features(table.tobytes(), other.tobytes())
    assert outcome.equal
    outcome = Comparison()
    outcome.features(table[::-1].tobytes(), table.tobytes())
    assert not outcome.equal


def test_nan_on_one_side_differs():
    table = blob()
    other = table.copy()
    other[2, 60] = numpy.nan
    outcome = Comparison()
    outcome.features(table.tobytes(), other.tobytes())
    assert outcome.quantities() == [QUANTITIES[60]]
    assert outcome.largest[60] == numpy.inf


def test_costs_have_a_tolerance():
    oracle = Oracle(REFERENCE, WEIGHTS)
    data = blob().tobytes()
    weights = network.read_weights(WEIGHTS)
    right = network.Prediction(weights, data, 80)
    for change, equal in ((0, True), (1e-7, True), (1e-3, False)):
        outcome = Comparison()
        costs = right.costs.copy()
        costs[1] += change * right.terms[1]
        oracle.compare_costs(outcome, {"parallelism": 80}, costs, data, right.costs.sum())
        assert outcome.equal == equal, outcome.texts
    outcome = Comparison()
    oracle.compare_costs(outcome, {"parallelism": 80}, right.costs, data, right.costs.sum() * 1.01)
    assert outcome.quantities() == ["total cost, logged"]


def test_networks_agree():
    weights = network.read_weights(WEIGHTS)
    for cores in (6, 80):
        exact = network.Prediction(weights, blob(5).tobytes(), cores)
        compiled = network.ReferenceNetwork(REFERENCE).costs(weights, blob(5).tobytes(), cores)
        assert numpy.abs(compiled - exact.costs).max() <= 1e-5 * exact.terms.min()


def test_fused_funcs_are_recognized():
    assert not has_fused_funcs(" gpu_none\nrealize: f [3] with 1 stages\nf 3 (0, 0) t gpu_block\n")
    assert has_fused_funcs(" gpu_none\nf 3 (0, 0) t gpu_block\n realize: g [3c] with 1 stages\n")


def test_only_the_listed_differences_are_explained():
    table = [Explained("pyramid.*", frozenset({"num_blocks"}), "known")]
    assert explain("pyramid_2", ["num_blocks"], table) == "known"
    assert explain("pyramid_2", ["num_blocks", "working_set"], table) is None
    assert explain("other", ["num_blocks"], table) is None
    assert explain("pyramid_2", ["num_blocks"]) is None
    assert excused("any", "The schedule that agrees breaks a limit: serial-extents (1 time)")
    assert excused("any", "cannot be followed") is None
    assert isinstance(Excused("a", "b", "c"), tuple)


def test_summary_keeps_the_smallest_reproducer():
    summary = Summary()
    for seed, stages in ((1, 4), (2, 2), (3, 3)):
        table = blob(stages)
        changed = table.copy()
        changed[0, 7] += seed
        outcome = Comparison()
        outcome.features(changed.tobytes(), table.tobytes())
        summary.add("different", {**CASE, "seed": seed}, outcome, tree=str(seed))
    row = summary.features()[7]
    assert (row["unequal"], row["compared"], row["largest"]) == (3, 9, 3)
    assert (row["reproducer"]["seed"], row["reproducer"]["stages"]) == (2, 2)
    assert summary.failed


def test_reasons_of_unreachable_schedules():
    def log(inlined, target):
        option = f"Option 0:\nAll stages:\ng\nh\n\nInlined stages:\n{inlined}\n\nFull loop nest:\nx"
        return (f"Options:\n{option}\nTarget partial schedule:\nAll stages:\ng\nh\n\n"
                f"Inlined stages:\n{target}\n\nFull loop nest:\n gpu_none\n")

    assert "always inlines" in tester.unreachable_reason(log("g\n", ""))
    assert "does not inline" in tester.unreachable_reason(log("", "g\n"))
    assert "placement or tiling" in tester.unreachable_reason(log("", ""))
    assert "names no candidates" in tester.unreachable_reason("")


def test_all_features_have_names():
    assert len(QUANTITIES) == len(set(QUANTITIES)) == NUM_FEATURES + len(comparison.COSTS)
    assert feature_names.algorithm_names()[7 * 25] == "PointwiseLoadFunc.Bool"
    assert feature_names.schedule_names()[35] == "num_scalars"


def test_all_small_pipelines_exist():
    assert len(small_pipelines.PIPELINES) == 24
