"""Puts the outcome of run_pipelines.py --report into docs/reliability.md.

usage: figures.py REPORT
"""

import collections
import json
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures begin -->\n", "<!-- figures end -->\n"
GOOD = ("right", "message")


def outcome(entry: dict) -> str:
    """Of one pipeline: right, message, or the first of its steps that is neither."""
    found = [facts["status"] for facts in entry["steps"].values()]
    bad = [status for status in found if status not in GOOD]
    return bad[0] if bad else "message" if found == ["message"] else "right"


def tables(report: dict) -> str:
    """Pipelines by class, and steps by kind."""
    by_class = collections.defaultdict(collections.Counter)
    by_step = collections.defaultdict(collections.Counter)
    serial = 0
    for entry in report.values():
        kind = outcome(entry)
        by_class[entry["class"]][kind if kind in GOOD else "bad"] += 1
        for step, facts in entry["steps"].items():
            by_step[step][facts["status"] if facts["status"] in GOOD else "bad"] += 1
        serial += entry["steps"].get("launch", {}).get("single_threads", 0) > 0
    lines = []
    for title, counted in (("Class", by_class), ("Step", by_step)):
        lines += [f"| {title} | right | refused with the expected message | other |",
                  "|---|---|---|---|"]
        rows = [(name, counts) for name, counts in counted.items()]
        if title == "Class":
            rows.append(("all", sum(counted.values(), collections.Counter())))
        lines += [f"| {name} | {c['right']} | {c['message']} | {c['bad']} |" for name, c in rows]
        lines.append("")
    lines.append(f"{serial} pipelines launch at least one kernel of a single thread at the "
                 "estimated size.")
    return "\n".join(lines) + "\n"


def main() -> int:
    report = json.loads(Path(sys.argv[1]).read_text())
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(before + BEGIN + tables(report) + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
