"""The version: of the installed package, or of the sources that this is a part of."""

import re
from importlib import metadata
from pathlib import Path

PACKAGE = "halide-anderson2021"
# Where it is written down: project() of this file.
_SOURCES = Path(__file__).resolve().parents[2] / "CMakeLists.txt"


def version() -> str:
    """E.g. 0.1.0."""
    if __name__.startswith("halide_anderson2021."):
        return metadata.version(PACKAGE)
    found = re.search(r"project\(anderson2021 VERSION (\S+)", _SOURCES.read_text(encoding="utf-8"))
    assert found, f"{_SOURCES} names no version"
    return found[1]
