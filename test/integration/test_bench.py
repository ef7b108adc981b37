"""The benchmark program: what it measures is complete, and it computes its figures right."""

import json
import subprocess
import sys

import pytest
from toolchain import ROOT

sys.path.append(str(ROOT / "test" / "bench"))
import report  # noqa: E402
import synthetic  # noqa: E402

CASE = {
    "case": "a", "kind": "app", "cost_ms": 1.0, "states": 5, "error": None,
    "ours": {"1": {"wall_s": 0.5, "cpu_s": 0.25, "peak_mb": 60},
             "2": {"wall_s": 0.25, "cpu_s": 0.3, "peak_mb": 70}},
    "reference": {"wall_s": 10.0, "cpu_s": 5.0, "peak_mb": 500, "cost_ms": 4.0, "states": 9},
}


def test_ratios_say_how_often_faster_and_what_share_of_the_cost():
    assert report.ratios(CASE) == {"wall": {"1": 20.0, "2": 40.0}, "cpu": 20.0, "cost": 0.25}


def test_a_reference_that_died_has_no_ratio():
    died = CASE | {"reference": {"error": "exit status -6: out of memory"}}
    assert report.ratios(died) == {"wall": {}, "cpu": None, "cost": None}
    assert "died" in report.row(died)


def test_geometric_mean_leaves_out_what_is_unknown():
    assert report.geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert report.geometric_mean([None]) is None


def test_a_worse_cost_is_counted():
    worse = CASE | {"cost_ms": 5.0}
    assert "worse on 1 of 2" in report.summary([CASE, worse])


@pytest.mark.parametrize("name", ["chain_3", "pyramid_20", "pyramid_40"])
def test_synthetic_pipelines_have_the_asked_number_of_funcs(name):
    (output,) = synthetic.make(name)
    assert output.name().split("$")[0] == f"f{int(name.split('_')[1]) - 1}"


@pytest.mark.parametrize("name, outputs", [("maxpool_10", ["largest4", "index4"]),
                                           ("ladder_7", ["f6"])])
def test_outputs_of_graphs_with_many_paths(name, outputs):
    assert [f.name().split("$")[0] for f in synthetic.make(name)] == outputs


def test_unknown_synthetic_pipelines_are_errors():
    with pytest.raises(KeyError):
        synthetic.make("tree_5")


def test_one_pipeline_is_measured_completely(tools, tmp_path):
    command = [sys.executable, str(ROOT / "test/bench/bench.py"), "matrix_multiply", "--repeat", "1",
               "--threads", "1", "--beam", "4", "--plugin", str(tools.plugin),
               "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (case,) = json.loads((tmp_path / "results.json").read_text())["cases"]
    assert case["reference"]["wall_s"] > 0 and case["ours"]["1"]["wall_s"] > 0
    assert case["reference"]["cost_ms"] > 0 and case["cost_ms"] > 0
    assert "matrix_multiply" in (tmp_path / "benchmarks.md").read_text()
    assert "<svg" in (tmp_path / "benchmarks.svg").read_text()
