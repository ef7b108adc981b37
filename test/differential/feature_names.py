"""Names of the features of a record, from the sources of the plugin."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"
SCHEDULE, ALGORITHM = 73, 287


def schedule_names():
    text = (SOURCES / "features" / "schedule_features.def").read_text()
    names = re.findall(r"^ANDERSON_SCHEDULE_FEATURE\((\w+)", text, re.M)
    assert len(names) == SCHEDULE, len(names)
    return names


def algorithm_names():
    """As in <kind of operation or access>.<scalar class>."""
    text = (SOURCES / "algorithm" / "algorithm_features.h").read_text()

    def table(name):
        return re.findall(r'"(\w+)"', re.search(name + r" = \{(.*?)\}", text, re.S).group(1))

    types = table("kScalarClassNames")
    accesses = ["LoadFunc", "LoadSelf", "LoadImage", "Store"]
    kinds = ["TypeInUse", *table("kOpClassNames")]
    kinds += [f"{p}{a}" for p in table("kAccessPatternNames") for a in accesses]
    names = [f"{kind}.{t}" for kind in kinds for t in types]
    assert len(names) == ALGORITHM, len(names)
    return names
