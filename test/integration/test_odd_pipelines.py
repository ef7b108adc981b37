"""Unusual pipelines through the loaded plugin: see odd_pipelines.py, one process for each."""

import re
import sys
from pathlib import Path

import pytest

from toolchain import OPENCL_ON_CPU, run

SCRIPT = Path(__file__).with_name("odd_pipelines.py")
NAMES = tuple(
    name
    for name in re.findall(r"^def (\w+)\(\) -> Case:", SCRIPT.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("name", NAMES)
def test_equals_cpu(tools, name):
    outcome = run(
        [sys.executable, SCRIPT, tools.plugin, name],
        environment={**OPENCL_ON_CPU, "POCL_CACHE_DIR": str(tools.work / "pocl")},
    ).require_success()
    assert outcome.output.endswith("all right\n")
    assert not re.search("Ignoring assertion|guaranteed to fail", outcome.output)
