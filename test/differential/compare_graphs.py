"""Compares function graphs between this plugin and the one of the Halide wheel.

Both plugins print the graph of Funcs at log level 1: regions, loops, features, flags, footprints and
access matrices; the texts must agree line by line. Where both searches succeed, the features of the
algorithm in the two .featurization blobs must agree as well: they include what the text leaves out.

usage: compare_graphs.py --plugin build/release/libautoschedule_anderson2021.so
           [--pipelines a,b,...] [--random N]
"""

import argparse
import base64
import difflib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import halide

import graph_pipelines
import pipelines

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = pathlib.Path(halide.__file__).parent / "lib64" / "libautoschedule_anderson2021.so"
TARGET = "host-cuda-cuda_capability_70"
SCHEDULE, ALGORITHM = 73, 287
RECORD_BYTES = 4 * (SCHEDULE + ALGORITHM)


def run(plugin, pipeline, timeout=300):
    """Lines of the graph's text (empty if there is none) and the features of every record (or None)."""
    command = [sys.executable, "run_one.py", str(plugin), pipeline, TARGET, "parallelism=80", "beam_size=1", "num_passes=1"]
    environment = dict(os.environ, HL_DEBUG_AUTOSCHEDULE="1")
    environment.pop("HL_WEIGHTS_DIR", None)
    try:
        done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired as e:
        return graph_lines((e.stderr or b"").decode(errors="replace")), None
    lines = graph_lines(done.stderr.decode(errors="replace"))
    if done.returncode != 0:
        return lines, None
    blob = base64.b64decode(json.loads(done.stdout)["featurization"])
    return lines, [struct.unpack_from(f"<{ALGORITHM}f", blob, start + 4 * SCHEDULE)
                   for start in range(0, len(blob), RECORD_BYTES)]


def graph_lines(log):
    """The part of a log that describes the graph, with let-bound names numbered per line."""
    lines = []
    for line in log.split("\n"):
        if not lines and not line.startswith("Node: "):
            continue
        if line and not line.startswith((" ", "Node: ", "Edge: ")):
            break
        if line.startswith(" gpu_none"):
            break  # the first schedule tree
        names = {}
        lines.append(re.sub(r"\bt\d+(\.s)?\b", lambda m: names.setdefault(m.group(0), f"t#{len(names)}"), line.rstrip()))
    return [line for line in lines if line]


def compare(plugin, pipeline):
    """Texts about what differs, and whether the features could be compared."""
    theirs, their_features = run(REFERENCE, pipeline)
    ours, our_features = run(plugin, pipeline)
    if not theirs or not ours:
        return [f"no graph from {'the reference' if not theirs else 'this plugin'}"], False
    texts = list(difflib.unified_diff(theirs, ours, "reference", "this plugin", lineterm="", n=1))[:30]
    if their_features is None or our_features is None:
        return texts, False
    if len(their_features) != len(our_features):
        return texts + [f"{len(our_features)} records instead of {len(their_features)}"], True
    for record, (a, b) in enumerate(zip(our_features, their_features)):
        texts += [f"record {record} feature {i}: {a[i]:g} instead of {b[i]:g}" for i in range(ALGORITHM) if a[i] != b[i]]
    return texts, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--plugin", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--pipelines", default=",".join([*graph_pipelines.PIPELINES, *pipelines.PIPELINES]))
    parser.add_argument("--random", type=int, default=0, help="number of random pipelines to add")
    args = parser.parse_args()
    names = args.pipelines.split(",") if args.pipelines else []
    names += [f"index_{k}" for k in range(args.random)]
    different = with_features = 0
    for name in names:
        texts, complete = compare(args.plugin, name)
        different += bool(texts)
        with_features += complete
        if texts:
            print(f"{name}:")
            for text in texts[:30]:
                print("    " + text)
            sys.stdout.flush()
    print(f"{len(names)} graphs compared, {with_features} of them with all features; {different} different")
    if with_features < 0.6 * len(names):
        print("too few features could be compared")
        return 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
