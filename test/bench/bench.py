"""Compares the search of this plugin with the one of the Halide wheel's: time, memory, cost.

For every case both plugins run in turn, each run in a process of its own, with the same options and
weights. Measured is the call of apply_autoscheduler alone: no lowering, no start of a process; ours
runs without what the reference does not have, see runs.SEARCH_ONLY. Both schedules are judged by
this plugin's evaluator: the other's tree is replayed here.

usage: bench.py [CASE ...] [--weights FOLDER] [--threads 1,2] [--repeat N] [--scaling] ...

Cases: names of applications and of pipelines, `apps`, `pipelines`; by default both of these.
Writes results.json, benchmarks.md and benchmarks.svg to the folder given by --out.
"""

import argparse
import json
import sys
from pathlib import Path

import report
import runs

sys.path.append(str(runs.ROOT / "test" / "differential"))
import small_pipelines  # noqa: E402
import synthetic  # noqa: E402

SCALING_SIZES = (5, 10, 20, 40, 80, 160)
# Longest pipeline of a family. Ladders have as many paths from end to end as there are ways to
# climb them.
LONGEST = {"ladder": 40}
SCALING_BEAMS = (1, 4, 16, 32, 64, 128)
# The reference's time grows with the square and more, so it runs on the short ones only.
REFERENCE_SCALING_SIZE = 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", default=["apps", "pipelines"])
    parser.add_argument("--plugin", type=lambda p: Path(p).resolve(),
                        default=runs.ROOT / "build/release/libautoschedule_anderson2021.so")
    parser.add_argument("--weights", type=lambda p: Path(p).resolve(), default=runs.ROOT / "weights",
                        help="folder with <app>.weights; others use baseline.weights")
    parser.add_argument("--threads", default="1,2", help="numbers of threads to measure ours with")
    parser.add_argument("--beam", type=int, default=32)
    parser.add_argument("--parallelism", type=int, default=80)
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the median is taken")
    parser.add_argument("--time-limit", type=float, default=900, help="seconds for one run")
    parser.add_argument("--memory-limit-gb", type=float, default=10)
    parser.add_argument("--scaling", action="store_true", help="also measure how the time grows")
    parser.add_argument("--out", type=Path, default=runs.ROOT / "build" / "bench")
    return parser.parse_args()


def make_cases(args, builder):
    apps = sorted(p.parent.name for p in (runs.ROOT / "apps").glob("*/*_generator.cpp"))
    names = []
    for name in args.cases:
        names += {"apps": apps, "pipelines": list(small_pipelines.PIPELINES)}.get(name, [name])
    default = runs.ROOT / "baseline.weights"
    for name in names:
        if name in apps:
            own = args.weights / f"{name}.weights"
            yield runs.app_case(name, builder, own if own.exists() else default)
        else:
            yield runs.pipeline_case(name, builder, default)


def median(results):
    """The run with the median wall time, or the first one that failed."""
    failed = [r for r in results if r.error]
    return failed[0] if failed else sorted(results, key=lambda r: r.wall_s)[(len(results) - 1) // 2]


def measure(case, args, limits):
    """All figures of one case, as a dictionary for JSON."""
    options = {"parallelism": args.parallelism, "beam_size": args.beam}
    threads = [int(t) for t in args.threads.split(",")]
    times = {"reference": []} | {t: [] for t in threads}
    for _ in range(args.repeat):
        for who, list_ in times.items():
            # What takes long is measured once: its noise is small.
            if list_ and (list_[0].error or list_[0].wall_s > 20):
                continue
            plugin = runs.REFERENCE if who == "reference" else args.plugin
            extra = {} if who == "reference" else {"threads": who}
            list_.append(runs.run(case, plugin, options | extra, limits))
    logged = runs.run(case, args.plugin, options, limits, log=True)
    result = {"case": case.name, "kind": case.kind, "weights": case.weights.name,
              "ours": {str(t): median(times[t]).figures() for t in threads},
              "cost_ms": logged.cost_ms, "states": logged.states, "error": logged.error}
    reference = median(times["reference"])
    result["reference"] = reference.figures()
    if reference.error is None:
        found = runs.run(case, runs.REFERENCE, options, limits, log=True)
        result["reference"] |= {"own_cost_ms": found.cost_ms, "states": found.states}
        if found.tree:
            judged = runs.cost_of(case, args.plugin, found.tree, options, limits)
            result["reference"]["cost_ms"] = judged.cost_ms
            result["reference"]["cost_error"] = judged.error
    return result


def measure_scaling(args, builder, limits):
    """Wall seconds of ours against length, beam and threads; of the reference against length."""
    weights = runs.ROOT / "baseline.weights"
    options = {"parallelism": args.parallelism, "beam_size": args.beam}

    def seconds(name, plugin, extra):
        case = runs.pipeline_case(name, builder, weights)
        result = median([runs.run(case, plugin, options | extra, limits)
                         for _ in range(args.repeat)])
        return {"error": result.error} if result.error else {
            "wall_s": result.wall_s, "peak_mb": result.peak_mb}

    rows = []
    for family in synthetic.FAMILIES:
        for size in (s for s in SCALING_SIZES if s <= LONGEST.get(family, s)):
            name = f"{family}_{size}"
            rows.append({"by": "funcs", "family": family, "value": size, "plugin": "ours",
                         **seconds(name, args.plugin, {"threads": 1})})
            if size <= REFERENCE_SCALING_SIZE:
                rows.append({"by": "funcs", "family": family, "value": size, "plugin": "reference",
                             **seconds(name, runs.REFERENCE, {})})
        for beam in SCALING_BEAMS:
            rows.append({"by": "beam", "family": family, "value": beam, "plugin": "ours",
                         **seconds(f"{family}_20", args.plugin, {"threads": 1, "beam_size": beam})})
        for threads in (1, 2, 4):
            rows.append({"by": "threads", "family": family, "value": threads, "plugin": "ours",
                         **seconds(f"{family}_20", args.plugin, {"threads": threads})})
    return rows


def main():
    args = arguments()
    limits = runs.Limits(args.time_limit, args.memory_limit_gb)
    args.out.mkdir(parents=True, exist_ok=True)
    builder = runs.Builder(args.out / "programs")
    results = {"options": {"beam_size": args.beam, "parallelism": args.parallelism,
                           "repeat": args.repeat, "target": runs.TARGET},
               "cases": [], "scaling": []}
    print(report.header())
    for case in make_cases(args, builder):
        results["cases"].append(measure(case, args, limits))
        print(report.row(results["cases"][-1]), flush=True)
        (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(report.summary(results["cases"]))
    if args.scaling:
        results["scaling"] = measure_scaling(args, builder, limits)
        (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    report.write(results, args.out)
    print(f"written: {args.out}/results.json, benchmarks.md, benchmarks.svg")
    return 1 if any(case["error"] for case in results["cases"]) else 0


if __name__ == "__main__":
    sys.exit(main())
