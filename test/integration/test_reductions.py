"""Reductions of much to few points: see reduction_pipelines.py, one process for each."""

import sys
from pathlib import Path

import pytest

import reduction_pipelines
from toolchain import OPENCL_ON_CPU, run

BEGIN, END = (f"{word} Final generated loop nest and schedule:" for word in ("BEGIN", "END"))


def command(tools, name, *options):
    return [sys.executable, reduction_pipelines.__file__, tools.plugin, name, *options]


@pytest.mark.parametrize("name", tuple(reduction_pipelines.CASES))
def test_uses_many_threads(tools, name):
    outcome = run(
        command(tools, name),
        environment={**OPENCL_ON_CPU, "POCL_CACHE_DIR": str(tools.work / "pocl")},
    ).require_success()
    assert outcome.output.endswith("all right\n")


@pytest.mark.parametrize("name", ("total", "last_maximum", "histogram"))
def test_is_found_again(tools, folder: Path, name):
    """In the cache, and with its own tree as a partial schedule."""

    def log(*options):
        return run(command(tools, name, *options),
                   environment={"HL_DEBUG_AUTOSCHEDULE": "1"}).require_success().output

    def result(text):
        return text.split(BEGIN)[1].split(END)[0].strip()

    cache = f"cache_dir={folder / 'cache'}"
    first, second = log(cache), log(cache)
    assert "Schedule taken from" not in first and "Schedule taken from" in second
    assert "rfactor" in result(first)
    assert result(second) == result(first)
    tree = folder / "tree"
    tree.write_text(result(first).split("\nFunc ")[0])
    assert result(log(f"partial_schedule_path={tree}")) == result(first)
