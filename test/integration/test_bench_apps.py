"""Comparison of applications without a GPU, the PTX sweep, and the drawings of schedules."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from applications import APPS
from toolchain import ROOT

sys.path += [str(ROOT / "test" / "bench"), str(ROOT / "scripts")]
import app_images  # noqa: E402
import app_report  # noqa: E402
import app_times  # noqa: E402
import check_ptx  # noqa: E402
import device_code  # noqa: E402
import draw_schedule  # noqa: E402
from occupancy import occupancy  # noqa: E402
from ptx import Kernel  # noqa: E402

HARRIS = next(app for app in APPS if app.name == "harris")


# Expected: blocks per multiprocessor by NVIDIA's published rules, worked out by hand.
@pytest.mark.parametrize(
    ("capability", "threads", "registers", "shared", "blocks", "percent", "limiter"),
    [
        (70, 256, 32, 0, 8, 100, "threads"),
        # 40 registers once rounded: 12 warps for each scheduler, 48 in all.
        (70, 256, 33, 0, 6, 75, "registers"),
        (70, 1024, 64, 0, 1, 50, "registers"),
        (70, 1024, 65, 0, 0, 0, "registers"),
        # 8192 registers for a warp: two for each scheduler.
        (70, 128, 255, 0, 2, 12.5, "registers"),
        (70, 32, 16, 0, 32, 50, "blocks"),
        (70, 128, 32, 48 * 1024, 2, 12.5, "shared memory"),
        (70, 128, 32, 32 * 1024 + 1, 2, 12.5, "shared memory"),
        (70, 128, 32, 32 * 1024, 3, 18.75, "shared memory"),
        # 96 threads are 3 warps: 21 blocks are 63 of 64 warps.
        (70, 96, 32, 0, 21, 100 * 63 / 64, "threads"),
        (80, 1024, 32, 0, 2, 100, "threads"),
        # One KiB of every block is the system's: 164 / 49.
        (80, 128, 32, 48 * 1024, 3, 18.75, "shared memory"),
        (86, 1024, 32, 0, 1, 100 * 32 / 48, "threads"),
        (86, 768, 32, 0, 2, 100, "threads"),
        (86, 64, 16, 0, 16, 100 * 32 / 48, "blocks"),
        (86, 256, 32, 24 * 1024, 4, 100 * 32 / 48, "shared memory"),
        (90, 128, 64, 48 * 1024, 4, 25, "shared memory"),
    ],
)
def test_occupancy_by_the_rules(capability, threads, registers, shared, blocks, percent, limiter):
    found = occupancy(capability, threads, registers, shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert 100 * found.fraction == pytest.approx(percent)


def test_occupancy_of_too_many_threads_is_none():
    assert occupancy(70, 1025, 16, 0).blocks == 0
    with pytest.raises(ValueError):
        occupancy(70, 0, 16, 0)


TREE = """ gpu_none
realize: out [96, 80] with 1 stages
out 3 20 (0, 0) t gpu_block
 realize: blur [34c, 4c] with 1 stages
 blur 34c 1c (0, 0) t gpu_thread
  blur 1c 4c (0, 0) t gpu_serial
   blur 1vc 1c (0, 0) * gpu_simd
    inlined: gray 3
 out 32c 4c (0, 0) t gpu_thread
  out 1c 1c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
"""


def test_a_tree_is_read_with_its_nesting():
    root = draw_schedule.parse(TREE)
    (kernel,) = root.children
    assert root.realized == [("out", [96, 80])]
    assert (kernel.func, kernel.axis, kernel.sizes) == ("out", "block", [3, 20])
    assert kernel.realized == [("blur", [34, 4])]
    assert [child.func for child in kernel.children] == ["blur", "out"]
    assert kernel.children[0].children[0].children[0].inlined == [("gray", 3)]


def test_a_drawing_is_valid_and_boxes_stay_inside_each_other():
    svg = ElementTree.fromstring(draw_schedule.draw(draw_schedule.parse(TREE), "a <title>"))
    name = "{http://www.w3.org/2000/svg}"
    texts = [node.text for node in svg.iter(f"{name}text")]
    assert "a <title>" in texts and "kernel out: 3 × 20 blocks" in texts
    assert "shared memory: blur 34 × 4" in texts and "inlined: gray ×3" in texts
    # The serial loop of `out` has a single iteration, so it is left out.
    assert not any(text.startswith("out: 1 × 1") for text in texts)

    def box(kind):
        return [tuple(float(node.get(k)) for k in ("x", "y", "width", "height"))
                for node in svg.iter(f"{name}rect") if node.get("class") == kind]

    (x, y, width, height), = box("block")
    threads = box("thread")
    assert len(threads) == 2
    for tx, ty, twidth, theight in threads:
        assert x < tx and y < ty and tx + twidth < x + width and ty + theight < y + height
    assert threads[0][1] + threads[0][3] < threads[1][1]
    assert y + height <= float(svg.get("height")) and x + width <= float(svg.get("width"))


def test_text_that_is_no_tree_is_an_error(tmp_path):
    (tmp_path / "tree").write_text("realize: f [1] with 1 stages\nsomething else\n")
    command = [sys.executable, str(ROOT / "scripts/draw_schedule.py"), str(tmp_path / "tree"),
               str(tmp_path / "out.svg")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "line 2" in done.stderr


def test_pictures_get_small(tmp_path):
    noise = app_images.Image.effect_noise((900, 300), 90).convert("RGB")
    app_images.save_small(noise, tmp_path / "noise.jpg")
    assert (tmp_path / "noise.jpg").stat().st_size <= app_images.MOST_BYTES
    sheet = app_images.side_by_side([noise, noise])
    assert sheet.size == (2 * 768 + 24, 256)


def compiled(**fields):
    result = device_code.Compiled("1", 0.5)
    result.kernels = [Kernel("k", 32, 0, 0, 128, 1024)]
    result.launches = [{"kernel": "k", "shared": "1024", "shared_at_estimates": "1024",
                        "shared_at_doubled": "1024", "threads": ["128", "1", "1"],
                        "loops": [], "loops_at_estimates": [], "taken_at_estimates": True}]
    for name, value in fields.items():
        setattr(result, name, value)
    return result


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Kernel("k", 32, 0, 0, 1025, 0), "too many threads"),
        (Kernel("k", 65, 0, 0, 1000, 0), "too many registers"),
        (Kernel("k", 32, 0, 0, 128, 49153), "too much shared memory"),
        (Kernel("k", 32, 0, 0, 0, 0), "no constant"),
    ],
)
def test_a_violated_limit_is_found(kernel, reason):
    assert check_ptx.violations(compiled()) == []
    (found,) = check_ptx.violations(compiled(kernels=[kernel]))
    assert reason in found


def test_the_sweep_fails_on_refusals_and_errors_only():
    good = check_ptx.figures(compiled())
    assert not check_ptx.failed({"a": [good]})
    assert check_ptx.failed({"a": [good, good | {"refusals": {"sm_90": "no"}}]})
    assert check_ptx.failed({"a": [good | {"error": "no schedule"}]})


def test_equal_schedules_are_counted_once():
    good = check_ptx.figures(compiled())
    other = check_ptx.figures(compiled(kernels=[Kernel("k", 33, 0, 0, 128, 1024)]))
    assert check_ptx.distinct({"a": [good, good | {"seed": 2}, other], "b": [good]}) == 3


def test_estimates_of_registers_are_read():
    log = ("Registers per thread of out_s0 (estimate): 120, spill predicted\n"
           "Registers per thread of f_s1 (estimate): 64\nState with cost 1\n")
    assert device_code.read_estimates(log) == ({"out_s0": 120, "f_s1": 64}, ["out_s0"])
    assert device_code.read_estimates("") == ({}, [])


def test_how_well_spills_are_predicted():
    def run(spilled, predicted, seed=1):
        return {"kernels": [{"spill_bytes": spilled}], "spill_predicted": predicted, "seed": seed,
                "registers_predicted": 100 if predicted else 10}

    runs = [run(8, True), run(16, False), run(0, True), run(0, False), run(8, True, seed=2)]
    assert check_ptx.prediction(runs) == (
        "Of 2 different schedules with spills 1 were predicted to spill; of 2 predicted ones 1 do.")


def test_launches_are_counted_at_the_estimates():
    launch = compiled().launches[0]
    launches = [launch, launch | {"loops_at_estimates": ["4", "2"]},
                launch | {"taken_at_estimates": False}]
    assert device_code.count_launches(launches) == (9, False)
    launches.append(launch | {"loops_at_estimates": ["n"]})
    assert device_code.count_launches(launches) == (10, True)


def test_the_reason_of_a_failure_is_one_line():
    log = "progress\nError: too many loops.\nThe loop nest is:\n a\n b\n"
    assert device_code.one_line(log, 256) == "Error: too many loops. The loop nest is:"
    assert device_code.one_line("a\nb\nc\n", 256) == "b c"
    assert device_code.one_line("a\n", 9).startswith("killed: a")
    assert device_code.one_line("", 256) == "nothing printed"


def test_a_kernel_that_does_not_fit_is_told():
    kernel = {"registers": 64, "spill_bytes": 0, "shared_bytes": 0, "threads": 2048,
              "occupancy": 0.0, "limiter": "threads"}
    entry = {"launches": 1, "more_launches": False, "kernels": [kernel]}
    assert "cannot be launched" in app_report.static_row("a", "b", entry)[4]


def test_programs_may_be_moved_before_they_are_measured(tmp_path):
    found = {"ours": {"label": "ours", "program": "ours/measure"}, "check": {"error": "none"}}
    (tmp_path / "programs.json").write_text(json.dumps(found))
    read = app_times.read_programs(tmp_path)
    assert read["ours"]["program"] == str(tmp_path / "ours" / "measure")
    assert read["check"] == {"error": "none"}


def test_times_of_filter_programs_are_read():
    output = ("harris: auto against cpu: largest difference 0: OK\n"
              "harris: auto: median_ms=1.5000 min_ms=1.4 runs=3\n"
              "harris: manual: median_ms=3.0000 min_ms=2.9 runs=3\n")
    assert app_times.parse_times(output) == {"auto": 1.5, "manual": 3.0}


def test_the_best_of_several_schedules_has_to_be_right():
    def entry(ms, agrees):
        return {"label": "x", "error": None, "ms": ms, "speed_up": 1 / ms, "agrees": agrees}

    found = app_times.with_best_of_top(
        {"manual": entry(1, True), "ours": entry(3, True), "top_1": entry(2, True),
         "top_2": entry(1, False)})
    assert set(found) == {"manual", "ours", "ours_best"}
    assert found["ours_best"]["ms"] == 2 and found["ours_best"]["rank"] == "top_1"


STATIC = {"harris": {
    "ours": {"label": "ours", "error": None, "launches": 2, "more_launches": True, "cost_ms": 1.0,
             "loaded_bytes": 2e6, "stored_bytes": 1e6,
             "kernels": [{"registers": 40, "spill_bytes": 0, "shared_bytes": 512, "threads": 128,
                          "occupancy": 0.5, "limiter": "registers"}]},
    "reference": {"label": "reference", "error": None, "launches": 1, "more_launches": False,
                  "kernels": [], "cost_ms": 4.0},
    "li2018": {"label": "Li2018", "error": "bad | thing\nhappened"}}}


def test_the_section_says_that_nothing_was_measured_and_is_replaced(tmp_path):
    path = tmp_path / "benchmarks.md"
    path.write_text("# Benchmarks\n\n## Search\n\ntext\n")
    app_report.write_docs({"static": STATIC, "notes": ["small"]}, path)
    first = path.read_text()
    assert "## Search\n\ntext\n" in first and "None of these figures is a time" in first
    assert "| harris | ours | 1 | 2+ | 50%, 50% | registers | 40 | 0 | 512 | 2 | 1 |" in first
    assert "0.25 (geometric mean of 1" in first and "bad \\| thing happened" in first
    app_report.write_docs({"static": STATIC, "notes": ["small"]}, path)
    assert path.read_text() == first


def test_measured_times_are_told_apart():
    text = app_report.markdown({"times": {
        "device": {"name": "Some GPU", "kind": "cuda"},
        "apps": {"hist": {"variants": {"ours": {
            "label": "ours", "error": None, "ms": 2.0, "speed_up": 1.5, "rounds": 3,
            "agrees": False}}}}}})
    assert "Some GPU" in text and "WRONG RESULT" in text and "None of these" not in text


def test_one_app_is_compared_completely(tools, tmp_path):
    command = [sys.executable, str(ROOT / "test/bench/bench_apps.py"), "harris", "--sizes", "small",
               "--beam", "2", "--plugin", str(tools.plugin), "--out", str(tmp_path)]
    if app_times.find_device() is not None:
        pytest.skip("measures on the GPU")
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "results.json").read_text())["static"]["harris"]
    assert set(found) >= {"manual", "ours", "reference", "li2018", "mullapudi2016"}
    assert found["ours"]["cost_ms"] > 0 and found["reference"]["cost_ms"] > 0
    assert found["ours"]["loaded_bytes"] > 0 and found["ours"]["kernels"]
    assert "<svg" in (tmp_path / "applications.svg").read_text()
    assert draw_schedule.parse((tmp_path / "static/harris/ours.tree").read_text()).children


def test_a_few_random_schedules_are_swept(tools, tmp_path):
    command = [sys.executable, str(ROOT / "test/bench/check_ptx.py"), "harris", "--schedules", "2",
               "--plugin", str(tools.plugin), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads((tmp_path / "results.json").read_text())["harris"]
    assert [run["seed"] for run in runs] == [1, 2] and all(run["kernels"] for run in runs)
    text = (tmp_path / "report.md").read_text()
    assert all(run["registers_predicted"] > 0 for run in runs)
    assert text.count("\n| harris | 2 | 0 | 0 | 0 |") == 1 and "1 applications, 0 errors" in text
