"""Differences that are faults of the reference and that no weights depend on.

Each entry needs a reproducer in docs/compatibility.md. Any other difference is a failure.
"""

import re
from typing import NamedTuple


class Explained(NamedTuple):
    """Differences in some features of some pipelines, and why."""

    pipeline: str  # regular expression for the whole name
    quantities: frozenset  # names of features or costs
    reason: str


EXPLAINED = []


def explain(pipeline, quantities, table=None):
    """The reason for differences in just these quantities, or None."""
    for entry in EXPLAINED if table is None else table:
        if re.fullmatch(entry.pipeline, pipeline) and set(quantities) <= entry.quantities:
            return entry.reason
    return None


class Excused(NamedTuple):
    """Schedules of the reference that this plugin's search does not contain, by our message."""

    pipeline: str  # regular expression for the whole name
    message: str  # regular expression for a part of the message
    reason: str


EXCUSED = [
    Excused(".*", "breaks a limit: serial-extents",
            "the reference does not apply its limit on serial loops to all children of a nest"),
    Excused("reordered_by_the_user", "cannot be followed",
            "the reference confuses the dimensions of loops that the user reordered"),
]


def excused(pipeline, message):
    """The reason why a schedule of the reference cannot be replayed here, or None."""
    for entry in EXCUSED:
        if re.fullmatch(entry.pipeline, pipeline) and re.search(entry.message, message):
            return entry.reason
    return None
