"""Compares ways to schedule the applications: by hand, this plugin, and those of the Halide wheel.

On a GPU every variant is timed. Everywhere the PTX of every variant is assembled and judged by what
can be known without running it. docs/benchmarks.md says which kind of figure is which.

  bench_apps.py                  build, measure if there is a GPU, compute the other figures
  bench_apps.py --build-only     only build the programs to measure (this takes long)
  bench_apps.py --measure-only   only measure programs built before (all apps within --minutes)

Writes results.json, applications.md and applications.svg to the folder given by --out, and with
--docs the section "Applications" of docs/benchmarks.md.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import app_report
import app_times
import device_code

from applications import APPS, IDS  # noqa: E402
from toolchain import DEFAULT_PLUGIN, App, Toolchain  # noqa: E402

ROOT = device_code.ROOT


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("apps", nargs="*", metavar="APP", help=f"default: all ({', '.join(IDS)})")
    parser.add_argument("--plugin", type=lambda p: Path(p).resolve(), default=DEFAULT_PLUGIN)
    parser.add_argument("--weights", type=lambda p: Path(p).resolve(), default=ROOT / "weights",
                        help="folder with <app>.weights")
    parser.add_argument("--beam", type=int, default=32)
    parser.add_argument("--parallelism", type=int, help="default: that of the GPU, else 80")
    parser.add_argument("--top-k", type=int, default=5, help="schedules of ours to measure")
    parser.add_argument("--sizes", choices=("estimated", "usual", "small"), default="estimated",
                        help="usual: long pipelines shortened; small: those of the tests")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--measure-only", action="store_true")
    parser.add_argument("--target", help="build for this target; default: that of the GPU")
    parser.add_argument("--on-cpu", action="store_true",
                        help="measure with OpenCL on the CPU, to try the programs out")
    parser.add_argument("--runs", type=int, default=20, help="repetitions in one process")
    parser.add_argument("--rounds", type=int, default=5, help="processes per variant")
    parser.add_argument("--minutes", type=float, default=8, help="for all measurements together")
    parser.add_argument("--seconds", type=int, default=900, help="limit of one compilation")
    parser.add_argument("--docs", action="store_true", help="write the section of the document")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench-apps")
    args = parser.parse_args()
    unknown = set(args.apps) - set(IDS)
    if unknown:
        parser.error(f"no such app: {', '.join(sorted(unknown))}")
    return args


def parameters_of(app: App, sizes: str) -> tuple[str, ...]:
    return {"estimated": (), "usual": tuple(app.usual), "small": tuple(app.small)}[sizes]


def build_all(args, tools: Toolchain, apps: list[App], settings, target: str) -> None:
    """Builds the programs of all apps."""
    from app_variants import variants

    for app in apps:
        began = time.monotonic()
        build = app_times.Build(tools, app, args.out / "programs-of" / app.name, target,
                                parameters_of(app, args.sizes), args.seconds)
        found = app_times.build_app(build, variants(app, settings), args.top_k)
        errors = [f"{name}: {entry['error']}" for name, entry in found.items() if "error" in entry]
        print(f"{app.name}: built {len(found) - len(errors)} programs in "
              f"{time.monotonic() - began:.0f} s", *errors, sep="\n  ", flush=True)


def measure_all(args, apps: list[App], device: app_times.Device) -> dict:
    """Times the programs of all apps within the given minutes."""
    end = time.monotonic() + 60 * args.minutes
    result = {"device": {"name": device.name, "kind": device.kind}, "apps": {}}
    for i, app in enumerate(apps):
        folder = args.out / "programs-of" / app.name
        if not (folder / "programs.json").exists():
            print(f"{app.name}: not built", flush=True)
            continue
        share = max(end - time.monotonic(), 1) / (len(apps) - i)
        found = app_times.measure_app(app_times.read_programs(folder), device, args.runs,
                                      args.rounds, share)
        result["apps"][app.name] = found
        for entry in found["variants"].values():
            print(" | ".join(app_report.time_row(app.name, entry)), flush=True)
        (args.out / "times.json").write_text(json.dumps(result, indent=1) + "\n")
    return result


def static_all(args, tools: Toolchain, apps: list[App], settings) -> dict:
    """What is known without running. Results of earlier calls with the same options are kept."""
    from app_variants import known_without_gpu, variants

    path = args.out / "static.json"
    key = {"beam": args.beam, "sizes": args.sizes, "plugin": args.plugin.stat().st_mtime_ns}
    kept = json.loads(path.read_text()) if path.exists() else {}
    found = kept["apps"] if kept.get("key") == key else {}
    for app in apps:
        entries = found.setdefault(app.name, {})
        for variant in variants(app, settings):
            if variant.name in entries:
                continue
            entry = known_without_gpu(tools, app, variant, settings, args.out / "static" / app.name,
                                      parameters_of(app, args.sizes), args.seconds)
            entries[variant.name] = {"label": variant.label, **entry}
            print(" | ".join(app_report.static_row(app.name, variant.label, entry)), flush=True)
            path.write_text(json.dumps({"key": key, "apps": found}, indent=1) + "\n")
    return {name: found[name] for name in IDS if name in found}


def notes_of(args, apps: list[App]) -> list[str]:
    """What the sizes were."""
    if args.sizes == "estimated":
        return ["those of the estimates (apps/README.md)."]
    changed = {app.name: " ".join(parameters_of(app, args.sizes)) for app in apps}
    listed = "; ".join(f"{name} {text}" for name, text in changed.items() if text)
    return [f"those of the estimates, except: {listed}."]


def main() -> int:
    args = arguments()
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    apps = [app for app in APPS if not args.apps or app.name in args.apps]
    device = app_times.cpu_as_device() if args.on_cpu else app_times.find_device()
    target = args.target or (device.target if device else None)
    if not args.measure_only:
        # Needs the Halide package, which a machine that only measures may lack.
        from app_variants import Settings

        tools = Toolchain(work=args.out / "work", plugin=args.plugin)
        # What the other figures are about is fixed, so that they can be compared between machines.
        fixed = Settings(args.plugin, args.weights, 80, args.beam)
        if target:
            sms = args.parallelism or (device.parallelism if device else 80)
            build_all(args, tools, apps, Settings(args.plugin, args.weights, sms, args.beam),
                      target)
    if args.build_only:
        if not target:
            print("there is no GPU: name one with --target", file=sys.stderr)
        return 0 if target else 1
    results: dict = {"notes": notes_of(args, apps)}
    if device:
        results["times"] = measure_all(args, apps, device)
    elif args.measure_only:
        print("there is no GPU to measure on", file=sys.stderr)
        return 1
    if not args.measure_only:
        results["static"] = static_all(args, tools, apps, fixed)
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    app_report.write(results, args.out)
    if args.docs:
        app_report.write_docs(results, ROOT / "docs" / "benchmarks.md")
    print(f"written: {args.out}/results.json, applications.md, applications.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
