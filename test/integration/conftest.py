"""Fixtures of the integration tests.

Environment:
  ANDERSON_PLUGIN     the plugin under test (default: build/release/libautoschedule_anderson2021.so)
  ANDERSON_TEST_WORK  folder for all that is built (default: build/integration)
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from toolchain import DEFAULT_PLUGIN, ROOT, Toolchain
from training_programs import programs, samples, weights  # noqa: F401 (fixtures)


@pytest.fixture(scope="session")
def tools() -> Toolchain:
    return Toolchain(
        work=Path(os.environ.get("ANDERSON_TEST_WORK", ROOT / "build" / "integration")).resolve(),
        plugin=Path(os.environ.get("ANDERSON_PLUGIN", DEFAULT_PLUGIN)).resolve(),
    )


@pytest.fixture
def folder(tools: Toolchain, request: pytest.FixtureRequest) -> Path:
    """An empty folder for this test alone; it stays for inspection."""
    name = re.sub(r"\W+", "-", f"{request.node.path.stem}-{request.node.name}").strip("-")
    path = tools.work / "tests" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
