"""Checks the default features against recorded schedules of the program that trained the weights.

usage: check_as_trained.py --plugin P [--weights FILE] [--cores N] FOLDER

FOLDER holds pipelines.py, one function per pipeline that returns the outputs with estimates, and
vectors.jsonl, one schedule a line: {"pipeline", "options" (list of name=value), "tree" (lines),
"stages", "schedule_features" (stages x 73), cost}. Each tree is forced on the plugin; the number of
records and all features must agree exactly, and the cost, the value whose name starts with cost_ms,
to 1e-5 of the sum of the absolute terms if --weights names the file it was predicted with. --cores
is the number of multiprocessors that the recorded prediction assumed, if not that of the options.
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import tempfile

import numpy

import feature_names
import network
from program import Worker


def replayed(worker, vector, folder):
    """The plugin's result for the recorded tree."""
    file = pathlib.Path(folder) / "tree.txt"
    file.write_text("\n".join(vector["tree"]) + "\n")
    options = dict(option.split("=", 1) for option in vector["options"])
    options = {"parallelism": options.get("parallelism", 16), "beam_size": 1, "threads": 1,
               "partial_schedule_path": file}
    return worker.run(vector["pipeline"], options), int(options["parallelism"])


def feature_faults(result, vector):
    """Texts about records and features that differ, and the names of those features."""
    schedule, _ = network.records(result.blob)
    expected = numpy.array(vector["schedule_features"], "<f4")
    if schedule.shape != expected.shape or vector["stages"] != len(expected):
        return [f"{schedule.shape} instead of {expected.shape} features"], ["records"]
    names = feature_names.schedule_names()
    wrong = list(zip(*numpy.nonzero(schedule != expected)))
    texts = [f"record {stage} {names[i]}: {schedule[stage, i]!r} instead of {expected[stage, i]!r}"
             for stage, i in wrong]
    return texts, [names[i] for _, i in wrong]


def cost_faults(result, vector, weights, cores):
    """A text if the recorded cost is not that of our features."""
    recorded = next((v for k, v in vector.items() if k.startswith("cost_ms")), None)
    if recorded is None or weights is None:
        return []
    prediction = network.Prediction(weights, result.blob, cores)
    slack = 1e-5 * prediction.terms.sum() + 4 * 2.0 ** -24 * prediction.sums.sum()
    if abs(prediction.costs.sum() - recorded) <= slack:
        return []
    return [f"cost {prediction.costs.sum()!r} instead of {recorded!r}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--plugin", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--weights")
    parser.add_argument("--cores", type=int)
    args = parser.parse_args()
    os.environ["ANDERSON_MORE_PIPELINES"] = str(args.folder / "pipelines.py")
    weights = network.read_weights(args.weights) if args.weights else None
    lines = (args.folder / "vectors.jsonl").read_text().splitlines()
    vectors = [json.loads(line) for line in lines if line.strip()]
    counts, unequal = collections.Counter(), collections.Counter()
    worker = Worker(args.plugin, 120, 0)
    with tempfile.TemporaryDirectory() as folder:
        for number, vector in enumerate(vectors, 1):
            result, cores = replayed(worker, vector, folder)
            if result.error:
                counts["failed"] += 1
                print(f"line {number} {vector['pipeline']}: {result.error[:1000]}")
                continue
            texts, names = feature_faults(result, vector)
            texts += cost_faults(result, vector, weights, args.cores or cores)
            unequal.update(names)
            counts["different" if texts else "equal"] += 1
            counts["records"] += vector["stages"]
            if texts:
                print(f"line {number} {vector['pipeline']}:", *texts[:10], sep="\n    ")
    worker.close()
    names = sorted({vector["pipeline"] for vector in vectors})
    print(f"{len(vectors)} schedules of {len(names)} pipelines, {counts['records']} records: "
          f"{counts['equal']} equal, {counts['different']} different, {counts['failed']} failed; "
          f"costs {'compared' if weights else 'not compared'}")
    for name, count in unequal.most_common():
        print(f"    {name}: {count} unequal")
    return 0 if counts["equal"] == len(vectors) and vectors else 1


if __name__ == "__main__":
    sys.exit(main())
