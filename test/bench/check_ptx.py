"""Assembles the PTX of many schedules drawn at random, for several architectures.

Reports per application how many schedules there were, what the assembler refused, which limits of
the launch were violated, and how registers, spills and shared memory compare with the features that
speak of them. Ends with an error if anything was refused or violated. Seeds that the folder given by
--out has results of already are not compiled again.

usage: check_ptx.py [APP ...] [--schedules N] [--minutes M] [--architectures sm_70,sm_80] ...
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Optional

import app_report
import device_code
from device_code import Compiled, Compiler

from applications import APPS  # noqa: E402
from ptx import REGISTERS_PER_BLOCK, SHARED_BYTES_PER_BLOCK, THREADS_PER_BLOCK  # noqa: E402
from toolchain import DEFAULT_PLUGIN, App, Toolchain  # noqa: E402

# Difference, in bytes, between shared memory of a launch and of the features that rounding explains.
SHARED_SLACK = 256


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("apps", nargs="*", help="default: all")
    parser.add_argument("--schedules", type=int, default=1040, help="in all")
    parser.add_argument("--usual", action="store_true",
                        help="at the estimated sizes (long pipelines shortened), not at small ones")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--round", type=int, default=8, help="schedules of an app in a row")
    parser.add_argument("--minutes", type=float, default=600, help="no further round after this")
    parser.add_argument("--architectures", default="sm_70,sm_80,sm_90")
    parser.add_argument("--plugin", type=lambda p: Path(p).resolve(), default=DEFAULT_PLUGIN)
    parser.add_argument("--docs", action="store_true", help="write the section of the document")
    parser.add_argument("--out", type=Path, default=device_code.ROOT / "build" / "check-ptx")
    return parser.parse_args()


def seed_options(seed: int) -> list[str]:
    """A greedy search that drops candidates by chance; three sorts of it in turn."""
    words = ["autoscheduler=Anderson2021", "autoscheduler.parallelism=80",
             "autoscheduler.threads=1", "autoscheduler.beam_size=1",
             f"autoscheduler.random_dropout={(1, 1, 30)[seed % 3]}",
             f"autoscheduler.random_dropout_seed={seed}",
             # What is compiled afterwards need not be tried before.
             "autoscheduler.verify_lowering=0"]
    if seed % 2 == 0:
        words.append("autoscheduler.randomize_tilings=1")
    return words


def violations(result: Compiled) -> list[str]:
    """Limits of compute capability 7.0 that a kernel exceeds, and blocks of unknown size."""
    found = [f"per-thread array in global memory: {name}" for name in result.slices]
    for kernel in result.kernels:
        # Registers are handed out to whole warps, eight per thread at a time.
        warps, per_thread = -(-kernel.threads // 32), 8 * -(-kernel.registers // 8)
        if kernel.threads == 0:
            found.append(f"threads are no constant: {kernel}")
        if kernel.threads > THREADS_PER_BLOCK:
            found.append(f"too many threads: {kernel}")
        if warps * 32 * per_thread > REGISTERS_PER_BLOCK:
            found.append(f"too many registers: {kernel}")
        if kernel.shared_bytes > SHARED_BYTES_PER_BLOCK:
            found.append(f"too much shared memory: {kernel}")
    return found


def variable_shared(result: Compiled) -> list[dict]:
    """Launches with an amount of shared memory that depends on sizes or parameters at run time."""
    return [{n: launch[n] for n in ("kernel", "shared", "shared_at_estimates", "shared_at_doubled")}
            for launch in result.launches if not launch["shared"].isdigit()]


def figures(result: Compiled) -> dict:
    """What is kept of one schedule."""
    shared = max((k.shared_bytes for k in result.kernels), default=0)
    predicted = device_code.predicted_shared_bytes(result.stages)
    return {
        "seed": int(result.job), "seconds": result.seconds, "error": result.error,
        "refusals": result.refusals, "violations": violations(result),
        "kernels": [asdict(kernel) for kernel in result.kernels],
        "spills": {a: sum(k.spill_bytes for k in kernels)
                   for a, kernels in result.other_kernels.items()},
        "shared_bytes": shared, "predicted_shared_bytes": predicted,
        "registers_predicted": max(result.registers.values(), default=0),
        "spill_predicted": bool(result.spills_predicted),
        "variable_shared": variable_shared(result),
        "other_slices": result.other_slices,
    }


BEGIN, END = ("<!-- random schedules: written by make check-ptx -->\n",
              "<!-- end of random schedules -->\n")
TEXT = """\
Random schedules (greedy searches that drop candidates by chance) of all applications, compiled to
PTX of capability 7.0 and assembled by ptxas for sm_70, sm_80 and sm_90, at most 64 registers.
Nothing was run. *errors* are pipelines for which there was no schedule or no code; *refused* is
PTX that ptxas does not accept; *violations* are kernels that could not be launched on compute
capability 7.0: more than 1024 threads, 48 KiB of shared memory or 65536 registers per block; or that
have an array in a thread whose size is no constant, so that the compiler puts it into global memory.
The last column counts schedules in which that happens only in a branch that does not run at the
estimates, the one for outputs smaller than a tile: right, but slow there.
*predicted* are the schedules of which the plugin says beforehand, at log level 1, that a kernel may
spill: an estimate of the registers that a thread needs from the code that is unrolled. Shared
memory is compared with what the features say (`shared_mem_occupancy`); counted as off are
differences of more than 256 bytes: tiles that are rounded up enlarge an allocation, and the
features speak of a block in the middle while the allocation is that of the largest one. Both are
taken into account by the search, so that no kernel goes beyond the limit.
"""
COLUMNS = ("app", "schedules", "errors", "refused", "violations", "kernels",
           "registers (median, most)",
           "schedules with spills", "of these predicted", "of the others predicted",
           "most spilled bytes", "shared bytes: most", "off from the features",
           "shared memory depends on run-time sizes", "and is beyond the limit at twice the size",
           "thread arrays in global memory at other sizes")


def _median(values: list) -> float:
    return sorted(values)[len(values) // 2] if values else 0


def too_much_when_doubled(run: dict) -> bool:
    return any(int(launch["shared_at_doubled"] or 0) > SHARED_BYTES_PER_BLOCK
               for launch in run["variable_shared"])


def row(app: str, runs: list[dict]) -> str:
    """One line of the table."""
    kernels = [k for run in runs for k in run["kernels"]]
    spilling = [r for r in runs if any(k["spill_bytes"] for k in r["kernels"])]
    others = [r for r in runs if r["kernels"] and r not in spilling]
    registers = [k["registers"] for k in kernels]
    # Where the amount is known only at run time, the comparison would say nothing.
    off = [r for r in runs if r["kernels"]
           and all(launch["shared_at_estimates"] for launch in r["variable_shared"])
           and abs(r["shared_bytes"] - r["predicted_shared_bytes"]) > SHARED_SLACK]
    cells = [app, len(runs), sum(r["error"] is not None for r in runs),
             sum(bool(r["refusals"]) for r in runs), sum(bool(r["violations"]) for r in runs),
             len(kernels), f"{_median(registers)}, {max(registers, default=0)}", len(spilling),
             sum(r["spill_predicted"] for r in spilling), sum(r["spill_predicted"] for r in others),
             max((k["spill_bytes"] for k in kernels), default=0),
             max((r["shared_bytes"] for r in runs), default=0), len(off),
             sum(bool(r["variable_shared"]) for r in runs), sum(map(too_much_when_doubled, runs)),
             sum(bool(r["other_slices"]) for r in runs)]
    return "| " + " | ".join(map(str, cells)) + " |"


def prediction(runs: list[dict]) -> str:
    """How well the plugin tells beforehand which schedules spill, each schedule counted once."""
    once = {json.dumps([r["kernels"], r["registers_predicted"]]): r for r in runs if r["kernels"]}
    spilling = [r for r in once.values() if any(k["spill_bytes"] for k in r["kernels"])]
    found = sum(r["spill_predicted"] for r in spilling)
    predicted = sum(r["spill_predicted"] for r in once.values())
    return (f"Of {len(spilling)} different schedules with spills {found} were predicted to spill; "
            f"of {predicted} predicted ones {found} do.")


def distinct(results: dict[str, list[dict]]) -> int:
    """Schedules that differ in a figure of a kernel; different seeds may find the same schedule."""
    return len({json.dumps([name, run["kernels"], run["predicted_shared_bytes"]])
                for name, runs in results.items() for run in runs})


def report(results: dict[str, list[dict]]) -> str:
    """The table, totals, and a line for everything that is wrong."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += [row(app, runs) for app, runs in results.items() if runs]
    total = [run for runs in results.values() for run in runs]
    apps = {name.split(",")[0] for name in results}
    lines += ["", f"{len(total)} schedules (at least {distinct(results)} different ones) of "
              f"{len(apps)} applications, "
              f"{sum(r['error'] is not None for r in total)} errors, "
              f"{sum(bool(r['refusals']) for r in total)} refused, "
              f"{sum(bool(r['violations']) for r in total)} with violated limits."]
    lines += ["", prediction(total), ""]
    for app, runs in results.items():
        for run in runs:
            for text in [run["error"]] * (run["error"] is not None) + run["violations"] + [
                    f"{a}: {t}" for a, t in run["refusals"].items()]:
                lines.append(f"* {app}, seed {run['seed']}: {text}")
    return "\n".join(lines)


def write(results: dict[str, list[dict]], folder: Path) -> str:
    """Writes results.json and report.md; returns the latter."""
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = report(results)
    (folder / "report.md").write_text(text + "\n")
    return text


def write_docs(results: dict[str, list[dict]], path: Path) -> None:
    """Writes the section of the document."""
    text = report(results)
    app_report.replace_section(path, BEGIN, END, f"## Random schedules\n\n{TEXT}\n{text}\n")


def failed(results: dict[str, list[dict]]) -> bool:
    return any(run["error"] or run["refusals"] or run["violations"]
               for runs in results.values() for run in runs)


def key(app: App, usual: bool) -> str:
    """Name of the results of an app."""
    return f"{app.name}, usual size" if usual else app.name


def read_results(folder: Path) -> dict[str, list[dict]]:
    """What earlier sweeps, that may have been cut short, left there."""
    path = folder / "results.json"
    return json.loads(path.read_text()) if path.exists() else {}


def main() -> int:
    args = arguments()
    deadline = time.monotonic() + 60 * args.minutes
    apps = [app for app in APPS if not args.apps or app.name in args.apps]
    each = -(-args.schedules // len(apps))
    args.out.mkdir(parents=True, exist_ok=True)
    tools = Toolchain(work=args.out.resolve(), plugin=args.plugin)
    results = read_results(args.out)
    # In rounds, so that a sweep that is cut short has something of every application.
    for first in range(args.first_seed, args.first_seed + each, args.round):
        seeds = range(first, min(first + args.round, args.first_seed + each))
        for app in apps:
            if time.monotonic() > deadline:
                break
            runs = results.setdefault(key(app, args.usual), [])
            done = {run["seed"] for run in runs}
            jobs = [(str(seed), seed_options(seed)) for seed in seeds if seed not in done]
            if not jobs:
                continue
            compiler = Compiler(tools, app, args.out.resolve() / "jobs" / app.name)
            parameters = app.usual if args.usual else app.small
            for result in compiler.compile(jobs, plugin=args.plugin, parameters=parameters,
                                           architectures=args.architectures.split(","),
                                           log_level=1):
                runs.append(figures(result))
            write(results, args.out)
            print(f"{key(app, args.usual)}: {len(runs)} schedules, last took "
                  f"{runs[-1]['seconds']:.1f} s", flush=True)
    print(write(results, args.out))
    if args.docs:
        write_docs(results, device_code.ROOT / "docs" / "benchmarks.md")
    return 1 if failed(results) else 0


if __name__ == "__main__":
    sys.exit(main())
