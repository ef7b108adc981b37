"""Compares features and costs of schedules between this plugin and the one of the Halide wheel.

Forth: the reference plugin searches; the tree that it ends with is forced on this plugin through
partial_schedule_path, with reference_features=1. Records, all features, and costs must agree. If no
Func is fused, they must also agree without reference_features. Back: the trees that this plugin's
own search finds are forced on the reference. Options vary with the seed, see settings.py.

Exit status 1 if anything differs without an entry in explained.py, or if this plugin fails. Where
the reference dies, or a search takes too long, there is nothing to compare, which is counted.

examples:
  compare_with_reference.py --plugin P --pipelines harris_like --seeds 20
  compare_with_reference.py --plugin P --pipelines random_7 --first-seed 3 --seeds 1 --back
  compare_with_reference.py --plugin P --apps --random 150 --report build/differential
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import generators
import pipeline_names
import settings
from comparison import Oracle
from program import REFERENCE, in_parallel
from summary import Summary
from tester import Slot, Tester

# The weights that the reference has built in are those that this seed makes.
REFERENCE_SEED = 1649136212


def make_cases(args, names):
    """All cases in the order in which they are run; tasks of generators that compile only."""
    weights = weights_files(args)
    built = generators.all_generators()
    cases, faults = [], []
    for name in names:
        is_app, task = name.startswith("app_"), name
        heavy = is_app or name in settings.HEAVY
        if is_app:
            program, fault = built[name].build(pathlib.Path(args.work) / "generators")
            if program is None:
                faults.append(f"{name} {fault}")
                continue
            task = (program, built[name].name)
        for direction in args.directions:
            count = {"forth": args.seeds, "back": args.back_seeds, "tree": 1}[direction]
            count = min(count, args.heavy_seeds) if heavy else count
            for seed in range(args.first_seed, args.first_seed + count):
                options = settings.settings_of(name, seed, weights, heavy)
                options.update(option.split("=", 1) for option in args.option)
                options["beam_size"] = int(options["beam_size"])
                cases.append({"pipeline": name, "direction": direction, "seed": seed,
                              "options": options, "task": task, "tree_file": args.tree})
    # All pipelines early on, in case that there is no time for all seeds.
    cases.sort(key=lambda case: case["seed"])
    return cases, faults


def random_weights(args, seed):
    """A file of random weights, made by the project's tool."""
    folder = pathlib.Path(args.work) / "weights"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"random_{seed}.weights"
    if not file.exists():
        tool = pathlib.Path(args.plugin).parent / "make_random_weights"
        subprocess.run([tool, str(seed), file], check=True, capture_output=True)
    return file


def weights_files(args):
    """Random ones, and those of --weights."""
    files = [random_weights(args, seed) for seed in range(1, 6)]
    if args.weights:
        files += sorted(pathlib.Path(args.weights).glob("*.weights"))
    return files


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--plugin", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--pipelines", help="names, by commas; default: all that are written down")
    parser.add_argument("--random", type=int, default=0, help="number of random pipelines to add")
    parser.add_argument("--index", type=int, default=0, help="number of random accesses to add")
    parser.add_argument("--apps", action="store_true", help="add the generators of apps/")
    parser.add_argument("--seeds", type=int, default=6, help="schedules per pipeline")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--back", action="store_true", help="only our schedules in the reference")
    parser.add_argument("--both", action="store_true", help="both directions")
    parser.add_argument("--tree", help="compare the schedule in this file, without a search")
    parser.add_argument("--back-seeds", type=int, help="as --seeds, for this direction")
    parser.add_argument("--heavy-seeds", type=int, default=6, help="at most, for large pipelines")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="overrides an option of every search")
    parser.add_argument("--weights", help="folder with further weights files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one search")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="start no more searches after this time")
    parser.add_argument("--memory", type=float, default=4, help="GiB for one search")
    parser.add_argument("--work", help="folder for files; default: beside the plugin")
    parser.add_argument("--report", help="folder for report.md and report.json")
    parser.add_argument("--minimum", type=int, default=1, help="schedules that must be compared")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args(arguments)
    args.directions = ["back"] if args.back else ["forth", "back"] if args.both else ["forth"]
    args.directions = ["tree"] if args.tree else args.directions
    args.back_seeds = args.seeds if args.back_seeds is None else args.back_seeds
    args.work = str(pathlib.Path(args.work or args.plugin.parent / "differential").resolve())
    return args


def names_of(args):
    if args.pipelines is not None:
        names = [name for name in args.pipelines.split(",") if name]
    else:
        names = pipeline_names.fixed()
    names += [f"random_{k}" for k in range(args.random)]
    names += [f"index_{k}" for k in range(args.index)]
    return names + (list(generators.all_generators()) if args.apps else [])


def write_report(args, summary, seconds, tester):
    folder = pathlib.Path(args.report)
    folder.mkdir(parents=True, exist_ok=True)
    text = summary.as_markdown(seconds)
    text += (f"\nDefault mode on trees without fused Funcs: {tester.as_trained['equal']} equal, "
             f"{tester.as_trained['different']} different.\n")
    (folder / "report.md").write_text(text)
    (folder / "report.json").write_text(
        summary.as_json(seconds=seconds, as_trained=tester.as_trained))
    print(f"report: {folder / 'report.md'}")


def main(arguments=None, tamper=None):
    """tamper changes our blobs before they are compared, to test this program itself."""
    args = parse(arguments)
    pathlib.Path(args.work).mkdir(parents=True, exist_ok=True)
    args.default_weights = random_weights(args, REFERENCE_SEED)
    start = time.monotonic()
    cases, faults = make_cases(args, names_of(args))
    summary = Summary()
    for fault in faults:
        print("left out: " + fault)
    tester = Tester(Oracle(REFERENCE, args.default_weights), summary, args.verbose, tamper)
    # File names carry the process id: several comparisons may share a folder.
    slots = [Slot(args.plugin, args, f"{os.getpid()}_{i}") for i in range(args.jobs)]
    try:
        if not in_parallel(slots, tester, cases, args.seconds):
            print(f"stopped after {tester.finished} of {len(cases)} searches")
    finally:
        for slot in slots:
            slot.close()
            slot.tree_file.unlink(missing_ok=True)
    seconds = time.monotonic() - start
    print(summary.headline(seconds))
    print(f"default mode without fused Funcs: {tester.as_trained}")
    if args.report:
        write_report(args, summary, seconds, tester)
    if summary.total("equal", "explained", "different") < args.minimum:
        print(f"fewer than {args.minimum} schedules could be compared")
        return 1
    return 1 if summary.failed or tester.as_trained["different"] else 0


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
