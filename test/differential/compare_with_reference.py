"""Compares features and costs of schedules between this plugin and the one of the Halide wheel.

For every pipeline and every setting the reference plugin searches in a process of its own; the tree
that it ends with is then forced on this plugin through partial_schedule_path, with
reference_features=1, and the two .featurization blobs and predicted costs must agree. With --back
it is the trees that this plugin's own search finds which are forced on the reference.

usage: compare_with_reference.py --plugin build/release/libautoschedule_anderson2021.so
           [--seeds N] [--pipelines a,b,...] [--random N] [--back]
"""

import argparse
import base64
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import halide

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = pathlib.Path(halide.__file__).parent / "lib64" / "libautoschedule_anderson2021.so"
TARGET = "host-cuda-cuda_capability_70"
SCHEDULE, ALGORITHM = 73, 287
RECORD = SCHEDULE + ALGORITHM


class Run:
    """Result of one process: blob, tree text and cost, or the reason of failure."""

    def __init__(self, plugin, pipeline, options, timeout=300):
        command = [sys.executable, "run_one.py", str(plugin), pipeline, TARGET]
        command += [f"{k}={v}" for k, v in options.items()]
        environment = dict(os.environ, HL_DEBUG_AUTOSCHEDULE="1")
        environment.pop("HL_WEIGHTS_DIR", None)
        try:
            done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True,
                                  timeout=timeout)
        except subprocess.TimeoutExpired:
            self.error = f"no result after {timeout} s"
            return
        log = done.stderr.decode(errors="replace")
        self.error = None
        if done.returncode != 0:
            self.error = f"exit status {done.returncode}: {log[-1500:]}"
            return
        self.blob = base64.b64decode(json.loads(done.stdout)["featurization"])
        match = re.search(r"BEGIN Final generated loop nest and schedule:\n(.*?)\nEND", log, re.S)
        self.tree = tree_lines(match.group(1)) if match else None
        costs = re.findall(r"^Best cost: (\S+)", log, re.M)
        self.cost = float(costs[-1]) if costs else None


def tree_lines(text):
    """The lines of the schedule tree at the start of a log section."""
    lines = []
    for line in text.split("\n"):
        tokens = line.split()
        is_nest = bool(tokens) and tokens[-1].startswith("gpu_")
        is_detail = bool(tokens) and tokens[0] in ("realize:", "inlined:")
        if not (is_nest or is_detail):
            if lines:
                break
            continue
        lines.append(line)
    return "\n".join(lines) + "\n"


def differences(ours, reference):
    """Texts that describe where two blobs differ."""
    if len(ours) != len(reference):
        return [f"{len(ours) // 1440} records instead of {len(reference) // 1440}"]
    a = struct.unpack(f"<{len(ours) // 4}f", ours)
    b = struct.unpack(f"<{len(reference) // 4}f", reference)
    return [f"record {i // RECORD} feature {i % RECORD}: {a[i]!r} instead of {b[i]!r}"
            for i in range(len(a)) if a[i] != b[i]]


def settings_of(seed):
    """Options of the seed-th run: a beam search first, then random draws of several kinds."""
    common = {"parallelism": 80, "num_passes": 1}
    if seed == 0:
        return dict(common, beam_size=8)
    spaces = ["1111", "1111", "1101", "1011", "0111", "1100"]
    return dict(common, beam_size=1, random_dropout=[1, 30][seed % 2],
                randomize_tilings=int(seed % 3 != 0), random_dropout_seed=seed, search_space_options=spaces[seed % len(spaces)])


def forced(plugin, pipeline, options, tree, folder, reference_features):
    path = pathlib.Path(folder) / "tree.txt"
    path.write_text(tree)
    replay = {k: v for k, v in options.items() if k in ("parallelism",)}
    replay.update(partial_schedule_path=path, beam_size=1)
    if reference_features:
        replay["reference_features"] = 1
    return Run(plugin, pipeline, replay)


def compare(args, pipeline, seed, folder):
    """One comparison; returns (kind of outcome, list of texts)."""
    options = settings_of(seed)
    if args.back:
        found = Run(args.plugin, pipeline, dict(options, reference_features=1))
        if found.error:
            return "failed", [found.error]
        other = forced(REFERENCE, pipeline, options, found.tree, folder, False)
        ours, theirs = found, other
    else:
        found = Run(REFERENCE, pipeline, options)
        if found.error:
            return "skipped", [found.error]
        other = forced(args.plugin, pipeline, options, found.tree, folder, True)
        ours, theirs = other, found
    if other.error and args.back and "Partial schedule not found" in other.error:
        # The other program's search space is smaller (it always inlines a pointwise Func with one
        # consumer), and its matching gives up on some trees that it does contain.
        return "unreachable", []
    if other.error:
        return "failed", ["the tree could not be forced: " + other.error, found.tree]
    texts = differences(ours.blob, theirs.blob)
    if not args.back and theirs.cost and ours.cost:
        if abs(ours.cost - theirs.cost) > 2e-5 * abs(theirs.cost) + 2e-6:
            texts.append(f"cost {ours.cost} instead of {theirs.cost}")
    return ("different" if texts else "equal"), texts + ([found.tree] if texts else [])


def main():
    sys.path.insert(0, str(HERE))
    import pipelines
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--plugin", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--pipelines", default=",".join(pipelines.PIPELINES))
    parser.add_argument("--random", type=int, default=0, help="number of random pipelines to add")
    parser.add_argument("--back", action="store_true")
    args = parser.parse_args()
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        names = args.pipelines.split(",") if args.pipelines else []
        for pipeline in names + [f"random_{k}" for k in range(args.random)]:
            for seed in range(args.seeds):
                kind, texts = compare(args, pipeline, seed, folder)
                counts[kind] = counts.get(kind, 0) + 1
                if kind not in ("equal", "unreachable"):
                    print(f"{pipeline} seed {seed}: {kind}")
                    for text in texts[:12]:
                        print("    " + text.replace("\n", "\n    "))
                    sys.stdout.flush()
    print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    if counts.get("equal", 0) < 0.6 * sum(counts.values()):
        print("too few schedules could be compared")
        return 1
    return 1 if counts.get("different") or counts.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
