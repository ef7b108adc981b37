"""Runs the cases of a comparison: a search in one plugin, its schedule replayed in the other."""

import collections
import itertools
import pathlib
import re
import sys
import threading
import time

import settings
from comparison import Comparison, has_fused_funcs
from explained import excused, explain
from program import REFERENCE, Worker
from summary import reproducer_text

# A pipeline with so many searches that take too long is left alone.
MAX_TIMEOUTS = 2
TARGET_TITLE = "Target partial schedule:\n"


class Slot:
    """A worker per plugin, and a folder for the trees that are passed between them."""

    def __init__(self, plugin, args, number):
        memory = int(args.memory * 2 ** 30)
        self.reference = Worker(REFERENCE, args.timeout, memory)
        # Ours has other weights built in; without a choice both should have the reference's.
        self.ours = Worker(plugin, args.timeout, memory,
                           {"HL_WEIGHTS_DIR": str(args.default_weights)})
        self.tree_file = pathlib.Path(args.work) / f"tree_{number}.txt"

    def force(self, worker, case, tree, reference_features=None, log_level=1):
        """The result of the given schedule instead of a search."""
        self.tree_file.write_text(tree)
        options = settings.kept(case["options"])
        options.update(partial_schedule_path=self.tree_file, beam_size=1)
        if reference_features is not None:
            options.update(reference_features=reference_features, threads=1)
        return worker.run(case["task"], options, log_level)

    def close(self):
        self.reference.close()
        self.ours.close()


def short(text):
    """An error in a few words, without what differs from case to case."""
    failed = re.search(r"Condition failed: [^\n]*", text)
    if failed:
        return "its internal check fails: " + failed.group(0)[18:118]
    if "InternalError" in text:
        return "an internal check of it fails"
    status = re.match(r"exit status (-?\d+)", text)
    if status:
        return f"it crashes ({status.group(0)})"
    if "bad_alloc" in text or "MemoryError" in text:
        return "it needs too much memory"
    lines = [line.strip() for line in text.split("\n") if line.strip()] or ["no message"]
    if re.fullmatch(r"(\w*Error: ?)+", lines[0]) and len(lines) == 1:
        return "an internal check of it fails"
    return lines[0][:120]


class Tester:
    """Runs cases and adds the outcomes to a summary."""

    def __init__(self, oracle, summary, verbose, tamper=None):
        self.oracle, self.summary, self.verbose = oracle, summary, verbose
        self.tamper = tamper or (lambda blob: blob)
        self.as_trained = {"equal": 0, "different": 0}
        self.slow = collections.Counter()
        self.finished = 0
        self.lock = threading.Lock()

    def __call__(self, slot, case):
        direction = getattr(self, case["direction"])
        start = time.monotonic()
        if self.slow[case["pipeline"]] < MAX_TIMEOUTS:
            outcome, kind, reason, tree = direction(slot, case)
        else:
            outcome, kind, reason, tree = None, "skipped", "left out after two time-outs", ""
        seconds = time.monotonic() - start
        if outcome is not None:
            kind, reason = "equal" if outcome.equal else "different", ""
            if kind == "different":
                reason = explain(case["pipeline"], outcome.quantities()) or ""
                kind = "explained" if reason else kind
        shown = {k: v for k, v in case.items() if k != "task"}
        with self.lock:
            self.finished += 1
            if self.finished % 500 == 0:
                print(f"{self.finished} searches", flush=True)
            self.summary.add(kind, shown, outcome, reason, tree)
            self.summary.pipelines[case["pipeline"]]["seconds"] += seconds
            if kind in ("different", "failed") or self.verbose:
                texts = outcome.texts[:12] if outcome is not None else [reason]
                print(f"{reproducer_text(shown)}: {kind}", *texts, sep="\n    ")
                if kind != "equal":
                    print("    " + tree.replace("\n", "\n    "))
                sys.stdout.flush()

    def skipped(self, case, who, result, tree=""):
        """The outcome for a search that gave nothing to compare."""
        if result.timed_out:
            with self.lock:
                self.slow[case["pipeline"]] += 1
            return None, "skipped", f"{who}: takes too long", tree
        return None, "skipped", f"{who}: {short(result.error)}", tree

    def compare(self, case, ours, theirs, logged):
        """Both results for one tree; logged is the total that the reference prints, or None."""
        outcome = Comparison()
        outcome.features(self.tamper(ours.blob), theirs.blob)
        if theirs.labels and ours.labels != theirs.labels:
            outcome.records_differ(f"stages {ours.labels} instead of {theirs.labels}")
        if not outcome.structure_differs:
            self.oracle.compare_costs(outcome, case["options"], ours.stage_costs, theirs.blob,
                                      logged)
        return outcome

    def forth(self, slot, case):
        theirs = slot.reference.run(case["task"], case["options"])
        if theirs.error:
            return self.skipped(case, "reference", theirs)
        ours = slot.force(slot.ours, case, theirs.tree, reference_features=1)
        if ours.timed_out:
            return self.skipped(case, "this plugin", ours, theirs.tree)
        if ours.error:
            reason = excused(case["pipeline"], ours.error)
            return None, "unreachable" if reason else "failed", reason or ours.error[-2000:], \
                theirs.tree
        # Penalties for look-alikes may be part of the printed cost otherwise.
        plain = case["options"]["beam_size"] == 1 or case["options"].get("num_passes") == 1
        outcome = self.compare(case, ours, theirs, theirs.cost if plain else None)
        if ours.tree != theirs.tree:
            outcome.records_differ("another tree: " + ours.tree)
        if not has_fused_funcs(theirs.tree):
            self.check_default_mode(slot, case, theirs.tree, ours, outcome)
        return outcome, None, None, theirs.tree

    def tree(self, slot, case):
        """A given schedule in both plugins."""
        tree = pathlib.Path(case["tree_file"]).read_text()
        theirs = slot.force(slot.reference, case, tree)
        if theirs.error:
            return self.skipped(case, "reference", theirs, tree)
        ours = slot.force(slot.ours, case, tree, reference_features=1)
        if ours.error:
            return None, "failed", ours.error[-2000:], tree
        return self.compare(case, ours, theirs, theirs.cost), None, None, theirs.tree

    def check_default_mode(self, slot, case, tree, ours, outcome):
        """Without fused Funcs the features as trained are those of the reference."""
        trained = slot.force(slot.ours, case, tree, reference_features=0)
        equal = (not trained.error and trained.blob == ours.blob
                 and trained.stage_costs == ours.stage_costs)
        with self.lock:
            self.as_trained["equal" if equal else "different"] += 1
        if not equal:
            outcome.records_differ("default mode differs although no Func is fused "
                                   + (trained.error or ""))

    def back(self, slot, case):
        options = {**case["options"], "reference_features": 1, "threads": 1}
        ours = slot.ours.run(case["task"], options)
        if ours.timed_out:
            return self.skipped(case, "this plugin", ours)
        if ours.error and "no legal" in ours.error:
            return None, "skipped", "nothing legal in this search space", ""
        if ours.error:
            return None, "failed", ours.error[-2000:], ""
        theirs = slot.force(slot.reference, case, ours.tree, log_level=0)
        if theirs.error and not theirs.timed_out:
            told = slot.force(slot.reference, case, ours.tree)
            if "Partial schedule not found" in theirs.error or TARGET_TITLE in told.log:
                return None, "unreachable", unreachable_reason(told.log), ours.tree
        if theirs.error:
            return self.skipped(case, "reference", theirs, ours.tree)
        return self.compare(case, ours, theirs, None), None, None, ours.tree


def stage_set(text, title):
    """The names under a title in the reference's description of a (partial) schedule."""
    _, _, rest = text.partition(title + ":\n")
    return set(itertools.takewhile(str.strip, rest.split("\n")))


def unreachable_reason(log):
    """Why the reference has no such schedule, by the candidates that it lists at the end."""
    candidates, _, target = log.rpartition("Options:\n")[2].partition(TARGET_TITLE)
    options = candidates.split("\nOption ")
    wanted_inline = stage_set(target, "Inlined stages")
    inlined = [stage_set(option, "Inlined stages") for option in options]
    if not target or not candidates.strip():
        return "the reference has no such schedule, and names no candidates in time"
    if set.intersection(*inlined) - wanted_inline:
        return "the reference always inlines a pointwise Func that one other reads"
    if all(wanted_inline & stage_set(option, "All stages") - funcs
           for option, funcs in zip(options, inlined)):
        return "the reference does not inline a Func that is inlined here"
    return "the reference does not generate this placement or tiling"
