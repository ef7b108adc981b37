"""The applications' own builds: with make, and with CMake and the helpers of the Halide package."""

import os
import re
import sys

from toolchain import APPS, OPENCL_ON_CPU, run


def make(folder, tools, *words):
    return run(
        ["make", "-C", APPS / "hist", f"OUT={folder}", f"PLUGIN={tools.plugin}", *words],
        environment=OPENCL_ON_CPU,
    )


def test_make_builds_tests_and_shows_the_schedule(tools, folder):
    settings = [
        "HL_TARGET=host-opencl",
        "GENERATOR_PARAMS=width=96 height=80",
        "BEAM_SIZE=1",
        "RANDOM_DROPOUT=1",
        "SEED=3",
        "AUTOSCHEDULER_ARGS=autoscheduler.shared_memory_limit_kb=32",
    ]
    outcome = make(folder, tools, "test", "TEST_SIZES=61x47", *settings).require_success()
    assert outcome.output.count("auto against cpu: max_abs_diff=0 (must be equal): OK") == 2
    assert (folder / "hist.png").read_bytes().startswith(b"\x89PNG")
    shown = make(folder, tools, "-s", "schedule", *settings).require_success().output
    for option in ("beam_size=1", "random_dropout_seed=3", "shared_memory_limit_kb=32"):
        assert f"autoscheduler.{option}" in shown
    assert "gpu_blocks" in shown

    # Nothing is done again without a change, but another option means another schedule.
    schedule = folder / "hist_auto.schedule.h"
    before = schedule.stat().st_mtime_ns
    make(folder, tools, "build", *settings).require_success()
    assert schedule.stat().st_mtime_ns == before
    settings[settings.index("SEED=3")] = "SEED=4"
    make(folder, tools, "build", *settings).require_success()
    assert schedule.stat().st_mtime_ns != before
    assert "random_dropout_seed=4" in schedule.read_text()

    # The emitted schedule does without the plugin.
    kept = folder.parent / f"{folder.name}.schedule.h"
    schedule.rename(kept)
    replay = [*settings, f"SCHEDULE_HEADER={kept}", "PLUGIN=/none"]
    outcome = make(folder, tools, "test", "TEST_SIZES=61x47", *replay).require_success()
    assert outcome.output.count("auto against cpu: max_abs_diff=0 (must be equal): OK") == 2


def test_make_passes_weights_and_stops_at_errors(tools, folder):
    settings = ["build", "HL_TARGET=host-opencl", "BEAM_SIZE=1"]
    outcome = make(folder, tools, *settings, "HL_WEIGHTS_DIR=/no/such.weights")
    assert outcome.returncode != 0
    assert "/no/such.weights" in outcome.output
    outcome = make(folder, tools, *settings, "PLUGIN=/no/such/plugin.so")
    assert outcome.returncode != 0
    assert "/no/such/plugin.so is missing" in outcome.output


def test_cmake_builds_and_runs(tools, folder):
    cmake = os.path.join(os.path.dirname(sys.executable), "cmake")
    packages = tools.halide / "lib64" / "cmake"
    run(
        [cmake, "-S", APPS, "-B", folder, f"-DANDERSON_PLUGIN={tools.plugin}"]
        + [f"-DHalide_DIR={packages / 'Halide'}"]
        + [f"-DHalideHelpers_DIR={packages / 'HalideHelpers'}"]
        + ["-DAPP_TARGET=host-opencl", "-DAPP_PARALLELISM=80"]
        + ["-DAPP_AUTOSCHEDULER_ARGS=autoscheduler.beam_size=4"]
    ).require_success()
    outcome = run(
        [cmake, "--build", folder, "--target", "run_app_cuda_mat_mul"],
        environment=OPENCL_ON_CPU,
    ).require_success()
    assert len(re.findall("auto against cpu: .*: OK", outcome.output)) == 2
    assert "autoscheduler.beam_size=4" in (folder / "mat_mul_auto.schedule.h").read_text()
