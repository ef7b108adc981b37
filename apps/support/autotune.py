#!/usr/bin/env python3
"""Tries schedules of one application and keeps the best one. Called by `make autotune`.

usage: autotune.py --folder FOLDER --generator PROGRAM --name GENERATOR --samples N [--measure RUNS]
                   [--link "COMPILER ... LIBRARIES"] [options of the loop] -- GENERATOR ARGUMENTS

The loop itself is scripts/autotune; this says what it has to know about an application. Schedules
are timed by the application's filter program if --measure is given, which also compares them with
the CPU, and judged by the predicted time otherwise.

Samples are kept in a folder of FOLDER that belongs to the arguments (or in FOLDER itself with
--in_place), and a second run goes on where the first one stopped. FOLDER/best.schedule.h is the
emitted schedule of the best sample, to be used with SCHEDULE_HEADER.
"""

import argparse
import hashlib
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

# pylint: disable=wrong-import-position
from autotune import cli  # noqa: E402
from autotune.errors import TuneError  # noqa: E402
from autotune.settings import Settings  # noqa: E402


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--generator", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--measure", type=int, default=0)
    parser.add_argument("--in_place", action="store_true")
    parser.add_argument("arguments", nargs="+")
    cli.add_tuning_options(parser)
    parser.set_defaults(batch_size=0)
    return parser.parse_args(argv)


def settings_of(given: argparse.Namespace) -> Settings:
    """The arguments of the generator, taken apart."""
    plugin, target, options, own = None, "", {}, []
    words = iter(given.arguments)
    for word in words:
        name, _, value = word.partition("=")
        if word == "-p":
            plugin = Path(next(words)).resolve()
        elif name == "target":
            target = value.replace("-no_runtime", "")
        elif name.startswith("autoscheduler."):
            options.update(cli.parse_options([word]))
        elif name != "autoscheduler":
            own.append(word)
    weights = os.environ.get("HL_WEIGHTS_DIR", "")
    key = " ".join([*given.arguments, weights, f"measure={given.measure}"])
    digest = hashlib.sha256(key.encode()).hexdigest()[:8]
    values = cli.tuning_values(given)
    size = given.batch_size or given.samples
    values.update(
        label="measured" if given.measure else "predicted", resume=True, batch_size=size,
        batches=-(-given.samples // size) if size else 1, trials=given.samples,
        retrain=given.retrain or "never", runs=given.measure or 1)
    return Settings(
        generator=given.generator, pipeline=given.name, target=target, build=plugin.parent,
        plugin=plugin, folder=(given.folder if given.in_place else given.folder / digest).resolve(),
        weights=Path(weights).resolve() if weights else None,
        parallelism=int(options.pop("parallelism", 16)), argument_sets=(tuple(own),),
        options=options, **values)


def main() -> int:
    """Exit status 0 if there is a best schedule."""
    given = parse(sys.argv[1:])
    try:
        settings = settings_of(given)
        status = cli.tune(settings, given.plain)
        if status == 0 and not given.in_place:
            best = settings.folder / f"best.{given.name}.schedule.h"
            shutil.copyfile(best, given.folder / "best.schedule.h")
            print(f"copied to {given.folder / 'best.schedule.h'}")
        return status
    except TuneError as error:
        print(f"autotune: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
