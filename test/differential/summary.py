"""Collects the outcomes of many comparisons and writes them as Markdown and JSON."""

import collections
import json

import numpy

import comparison
from feature_names import ALGORITHM, SCHEDULE

KINDS = ["equal", "explained", "different", "failed", "unreachable", "skipped"]


class Summary:
    """Counts by pipeline, by direction, by reason and by feature."""

    def __init__(self):
        size = len(comparison.QUANTITIES)
        self.compared = numpy.zeros(size, int)
        self.nonzero = numpy.zeros(size, int)
        self.unequal = numpy.zeros(size, int)
        self.largest = numpy.zeros(size)
        self.reproducers = {}
        self.kinds = collections.Counter()
        self.pipelines = {}
        self.trees = set()
        self.reasons = collections.Counter()
        self.examples = {}
        self.faults = []
        self.stages = 0

    def add(self, kind, case, outcome=None, reason="", tree=""):
        """One schedule. case is a dictionary with pipeline, direction, seed, options."""
        self.kinds[case["direction"], kind] += 1
        counts = self.pipelines.setdefault(case["pipeline"], collections.Counter())
        counts[kind] += 1
        if reason:
            self.reasons[case["direction"], kind, reason] += 1
            self.examples.setdefault((case["direction"], kind, reason), {**case, "tree": tree})
        if outcome is not None:
            self.stages += outcome.stages
            self.compared += outcome.compared
            self.nonzero += outcome.nonzero
            self.unequal += outcome.unequal
            self.largest = numpy.maximum(self.largest, outcome.largest)
            self.trees.add((case["pipeline"], tree))
            counts["trees"] = sum(1 for name, _ in self.trees if name == case["pipeline"])
            self.keep_smallest(outcome, case, tree)
        if kind in ("different", "failed"):
            texts = outcome.texts if outcome is not None else [reason]
            self.faults.append({**case, "kind": kind, "texts": texts[:20], "tree": tree})

    def keep_smallest(self, outcome, case, tree):
        """Remembers the case for each quantity that differs, if no smaller one is known."""
        for name in outcome.quantities():
            known = self.reproducers.get(name)
            if known is None or outcome.stages < known["stages"]:
                self.reproducers[name] = {**case, "stages": outcome.stages, "tree": tree}

    def total(self, *kinds):
        return sum(n for (_, kind), n in self.kinds.items() if kind in kinds)

    @property
    def failed(self):
        return self.total("different", "failed") > 0

    def features(self):
        """One dictionary per quantity."""
        rows = []
        for i, name in enumerate(comparison.QUANTITIES):
            part = ("schedule" if i < SCHEDULE else
                    "algorithm" if i < SCHEDULE + ALGORITHM else "cost")
            rows.append({"part": part, "name": name, "compared": int(self.compared[i]),
                         "nonzero": int(self.nonzero[i]), "unequal": int(self.unequal[i]),
                         "largest": float(self.largest[i]),
                         "reproducer": self.reproducers.get(name)})
        return rows

    def as_json(self, **extra):
        return json.dumps({
            "schedules": self.total("equal", "explained", "different"),
            "distinct_trees": len(self.trees), "stages": self.stages,
            "outcomes": [{"direction": d, "kind": k, "count": n}
                         for (d, k), n in sorted(self.kinds.items())],
            "reasons": [{"direction": d, "kind": k, "reason": r, "count": n,
                         "example": self.examples[d, k, r]}
                        for (d, k, r), n in self.reasons.most_common()],
            "pipelines": self.pipelines, "features": self.features(), "faults": self.faults,
            **extra}, indent=1)

    def as_markdown(self, seconds):
        """The report for people."""
        lines = ["# Comparison with the plugin of the Halide wheel", "", self.headline(seconds), "",
                 "| Direction | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * len(KINDS)]
        for direction in sorted({d for d, _ in self.kinds}):
            cells = [str(self.kinds[direction, kind]) for kind in KINDS]
            lines.append(f"| {direction} | " + " | ".join(cells) + " |")
        lines += ["", "## Skipped, unreachable and explained schedules", "",
                  "| Direction | Outcome | Reason | Count | For example |",
                  "|---|---|---|---:|---|"]
        for (d, k, r), n in self.reasons.most_common():
            example = self.examples[d, k, r]
            lines.append(f"| {d} | {k} | {' '.join(r.split())} | {n} | "
                         f"{example['pipeline']} seed {example['seed']} |")
        lines += ["", "## Features and costs", "",
                  "Not zero: in the reference. Largest difference: of costs, relative to the sum of "
                  "the absolute cost terms and rounding; unequal if above 1e-5.",
                  "",
                  "| Part | Name | Compared | Not zero | Unequal | Largest difference | "
                  "Smallest reproducer |", "|---|---|---:|---:|---:|---:|---|"]
        lines += [feature_line(row) for row in self.features()]
        columns = [*KINDS, "trees", "seconds"]
        lines += ["", "## Pipelines", "", "| Pipeline | " + " | ".join(columns) + " |",
                  "|---|" + "---:|" * len(columns)]
        for name, counts in self.pipelines.items():
            lines.append(f"| {name} | " + " | ".join(f"{counts[c]:.0f}" for c in columns) + " |")
        if self.faults:
            lines += ["", "## Unexplained", ""]
            for fault in self.faults[:50]:
                lines += [f"* {reproducer_text(fault)}: {fault['kind']}", "", "```",
                          *fault["texts"], "```"]
        return "\n".join(lines) + "\n"

    def headline(self, seconds):
        done = self.total("equal", "explained", "different")
        unequal = int((self.unequal > 0).sum())
        return (f"{done} schedules compared ({len(self.trees)} distinct trees, {self.stages} stage "
                f"records) of {len(self.pipelines)} pipelines in {seconds:.0f} s; {unequal} of "
                f"{len(comparison.QUANTITIES)} quantities differ somewhere; "
                f"{self.total('different')} different, {self.total('failed')} failed, "
                f"{self.total('unreachable')} unreachable, {self.total('skipped')} skipped.")


def reproducer_text(case):
    options = " ".join(f"{k}={v}" for k, v in case["options"].items())
    return f"{case['pipeline']} {case['direction']} seed {case['seed']} ({options})"


def feature_line(row):
    known = row["reproducer"]
    text = f"{reproducer_text(known)}, {known['stages']} stages" if known else ""
    return (f"| {row['part']} | {row['name']} | {row['compared']} | {row['nonzero']} | "
            f"{row['unequal']} | {row['largest']:.3g} | {text} |")
