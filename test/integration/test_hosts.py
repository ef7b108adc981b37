"""C++ and Python programs that load the plugin survive mistakes and get right results."""

import shutil
import sys
from pathlib import Path

from toolchain import OPENCL_ON_CPU, run

HERE = Path(__file__).parent


def test_cpp_host(tools):
    program = tools.host_program(HERE / "cpp_host.cpp")
    outcome = run([program, tools.plugin], environment=OPENCL_ON_CPU).require_success()
    assert outcome.output.count("caught:") == 5
    assert outcome.output.endswith("all right\n")


def test_python_host(tools):
    outcome = run(
        [sys.executable, HERE / "python_host.py", tools.plugin], environment=OPENCL_ON_CPU
    ).require_success()
    assert outcome.output.count("caught:") == 4
    assert outcome.output.endswith("all right\n")


def test_loading_and_threads(tools, folder):
    """Loaded twice, closed, loaded from a copy; then used by eight threads."""
    program = tools.host_program(HERE / "loading_host.cpp")
    copy = folder / "libcopy.so"
    shutil.copy(tools.plugin, copy)
    outcome = run([program, tools.plugin, copy], environment=OPENCL_ON_CPU).require_success()
    assert outcome.output.count("Warning: this plugin for Anderson2021 is not used") == 1
    assert outcome.output.endswith("all right\n")


def test_python_survives_every_mistake(tools, folder):
    outcome = run(
        [sys.executable, HERE / "python_mistakes.py", tools.plugin, folder],
        environment=OPENCL_ON_CPU,
    ).require_success()
    assert outcome.output.endswith("errors caught, all right\n")
