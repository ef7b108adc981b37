"""The command line: `python -m autotune <command> ...`; the shell scripts are shorter."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import sys
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from . import datasets
from .display import make_display
from .errors import TuneError
from .outcome import Outcome
from .programs import with_signals
from .run_log import read_log
from .settings import CANDIDATES, LABELS, LOSSES, RETRAIN, Settings, Tolerance
from .tuner import Tuner

LOOP_USAGE = """autotune_loop.sh generator pipeline_name halide_target weights_file
                        halide_build_dir parallelism train_only [generator_args_sets] [options]"""
LOOP_DESCRIPTION = """\
Tries schedules of a pipeline in batches, times them, retrains the cost model after each batch and
keeps the best one. A set of generator arguments is separated from the next one by a blank, the
arguments of a set by `;`. weights_file may be empty (those built into the plugin).

SAMPLES_DIR (or --samples_dir) is where everything goes: log.jsonl, updated.weights,
best.<pipeline>.schedule.h, report.html, and the samples. """
LOOP_ENVIRONMENT = """\
Environment: NUM_BATCHES (1), LEARNING_RATE (0.001), SEARCH_SPACE_OPTIONS (1111),
RANDOMIZE_TILINGS (1), USE_FREEZE (1), ENABLE_BEAM_SEARCH (1), RETRAIN_AFTER_EACH_BATCH (1),
COMPILE_ONLY (0), CXX (g++).
"""


def flag_of(environment: str, default: str) -> bool:
    """A flag that is 0 or 1 in the environment."""
    value = os.environ.get(environment, default)
    if value not in ("0", "1"):
        raise TuneError(f"{environment} is {value!r}, but has to be 0 or 1")
    return value == "1"


def number_of(environment: str, default: int) -> int:
    """A whole number in the environment."""
    value = os.environ.get(environment, "") or str(default)
    try:
        return int(value)
    except ValueError as error:
        raise TuneError(f"{environment} is {value!r}, but has to be a number") from error


def parse_options(words: Sequence[str]) -> Dict[str, str]:
    """name=value of the plugin."""
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise TuneError(f"{word} is not of the form name=value")
        options[name.replace("autoscheduler.", "", 1)] = value
    return options


def add_tuning_options(parser: argparse.ArgumentParser) -> None:
    """Options with the names and defaults of Settings."""
    defaults = {f.name: f.default for f in dataclasses.fields(Settings)}

    def add(name: str, kind: type, text: str) -> None:
        parser.add_argument(f"--{name}", type=kind, default=defaults[name],
                            help=f"{text} (default: {defaults[name]})")

    parser.add_argument("--resume", action="store_true", help="go on with what is in the folder")
    parser.add_argument("--retry", action="store_true", help="try failed samples again")
    parser.add_argument("--label", choices=LABELS, default="measured",
                        help="measure on the device, or go by predictions")
    parser.add_argument("--candidates", choices=CANDIDATES, default="random",
                        help="random descents, the best of one search, or half of each")
    parser.add_argument("--retrain", choices=RETRAIN, default=None,
                        help="after each batch, at the end, never")
    add("batch_size", int, "samples of a batch")
    add("trials", int, "samples of the run; 0: whole batches")
    add("minutes", float, "time for this run; 0: no limit")
    add("seed", int, "of all random choices")
    parser.add_argument("--jobs", type=int, default=defaults["jobs"],
                        help="samples that are compiled at a time (default: one per processor)")
    add("compile_timeout", float, "seconds to schedule, to link")
    add("run_timeout", float, "seconds to time a sample")
    add("min_time", float, "seconds of timing at least")
    add("epochs", int, "passes of the trainer")
    add("patience", int, "passes without progress that end training; 0: none")
    parser.add_argument("--loss", choices=LOSSES, default="log",
                        help="what the trainer makes small (default: log)")
    parser.add_argument("--run", action="append", metavar="ARGUMENT",
                        help="argument of the program that is timed, e.g. input=photo.npy "
                             "(default: --estimate_all)")
    parser.add_argument("--tolerance", nargs=2, type=float, metavar=("ABSOLUTE", "RELATIVE"),
                        default=(1e-5, 1e-3), help="how far results may be from the CPU's")
    parser.add_argument("--outliers", type=float, default=0.0,
                        help="share of values that may be further off (default: 0)")
    parser.add_argument("--link", default="", metavar="COMMAND",
                        help="command that links a program which checks its results and prints "
                             "`auto: median_ms=...`, instead of RunGen; @LIBRARY@ stands for "
                             "the schedule")
    add("runs", int, "repetitions that such a program is asked for")
    parser.add_argument("--no_check", action="store_true", help="do not compare with the CPU")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="option of the plugin")
    parser.add_argument("--ray", default="", metavar="ADDRESS",
                        help="build and measure on the machines of this Ray cluster; auto: the one "
                             "that this machine belongs to, local: a new one here")
    parser.add_argument("--ray_resource", default=defaults["ray_resource"], metavar="NAME",
                        help="resource of Ray of which a measurement takes one (default: GPU)")
    parser.add_argument("--keep_programs", action="store_true", help="keep libraries and programs")
    parser.add_argument("--plain", action="store_true", help="lines instead of a live table")


def tuning_values(arguments: argparse.Namespace) -> Dict[str, object]:
    """Those options as arguments of Settings."""
    names = ("resume", "retry", "label", "candidates", "batch_size", "trials", "minutes", "seed",
             "jobs", "compile_timeout", "run_timeout", "min_time", "epochs", "patience", "loss",
             "keep_programs", "link", "runs", "ray", "ray_resource")
    values: Dict[str, object] = {name: getattr(arguments, name) for name in names}
    values["tolerance"] = Tolerance(*arguments.tolerance, arguments.outliers)
    values["check"] = not arguments.no_check
    values["run_arguments"] = tuple(arguments.run or ("--estimate_all",))
    values["retrain"] = arguments.retrain or "each"
    return values


def parse_loop(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments of the loop."""
    parser = argparse.ArgumentParser(prog="autotune_loop.sh", usage=LOOP_USAGE,
                                     description=LOOP_DESCRIPTION + LOOP_ENVIRONMENT,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("generator", "pipeline", "target", "weights", "build", "parallelism",
                 "train_only"):
        parser.add_argument(name)
    parser.add_argument("argument_sets", nargs="?", default="")
    parser.add_argument("--samples_dir", default=os.environ.get("SAMPLES_DIR"))
    add_tuning_options(parser)
    return parser.parse_intermixed_args(argv)


def loop_settings(arguments: argparse.Namespace) -> Settings:
    """Settings of the loop, from arguments and environment."""
    if not arguments.samples_dir:
        raise TuneError("SAMPLES_DIR (or --samples_dir) has to name the folder for the results")
    if arguments.train_only not in ("0", "1"):
        raise TuneError(f"train_only is {arguments.train_only!r}, but has to be 0 or 1")
    try:
        parallelism = int(arguments.parallelism)
    except ValueError as error:
        raise TuneError(f"parallelism is {arguments.parallelism!r}, but has to be a number"
                        ) from error
    weights = Path(arguments.weights).resolve() if arguments.weights else None
    if weights is not None and not weights.exists():
        raise TuneError(f"there are no weights {weights}")
    values = tuning_values(arguments)
    if arguments.retrain is None:
        values["retrain"] = "each" if flag_of("RETRAIN_AFTER_EACH_BATCH", "1") else "end"
    sets = tuple(tuple(word for word in group.split(";") if word)
                 for group in arguments.argument_sets.split())
    options = {"search_space_options": os.environ.get("SEARCH_SPACE_OPTIONS", "1111"),
               "freeze_inline_compute_root": "1" if flag_of("USE_FREEZE", "1") else "0",
               **parse_options(arguments.option)}
    tilings = "1" if flag_of("RANDOMIZE_TILINGS", "1") else "0"
    return Settings(
        generator=Path(arguments.generator), pipeline=arguments.pipeline, target=arguments.target,
        build=Path(arguments.build), folder=Path(arguments.samples_dir).resolve(),
        weights=weights, parallelism=parallelism, argument_sets=sets or ((),), options=options,
        random_options={"randomize_tilings": tilings}, batches=number_of("NUM_BATCHES", 1),
        beam=flag_of("ENABLE_BEAM_SEARCH", "1"), rates=os.environ.get("LEARNING_RATE", "0.001"),
        compile_only=flag_of("COMPILE_ONLY", "0"), **values)


def tune(settings: Settings, plain: bool = False) -> int:
    """Runs the loop; the exit status."""
    display = make_display(plain)
    try:
        kind = Tuner
        if settings.ray:
            from .cluster import ClusterTuner  # pylint: disable=import-outside-toplevel
            kind = ClusterTuner
        return asyncio.run(with_signals(kind(settings, display).run()))
    except asyncio.CancelledError:
        print(f"stopped; {settings.log} has all finished samples: go on with --resume",
              file=sys.stderr)
        return 130
    finally:
        display.stop()


def loop_command(argv: Sequence[str]) -> int:
    """autotune_loop.sh"""
    arguments = parse_loop(argv)
    settings = loop_settings(arguments)
    if arguments.train_only == "1":
        return asyncio.run(with_signals(datasets.train_only(settings)))
    return tune(settings, arguments.plain)


def show_command(argv: Sequence[str]) -> int:
    """Best schedules, samples and report of a log."""
    parser = argparse.ArgumentParser(prog="autotune show", description=show_command.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--out", type=Path, default=None,
                        help="folder for the best schedules (default: inside)")
    arguments = parser.parse_args(argv)
    entries, messages = read_log(arguments.folder / "log.jsonl")
    for message in messages:
        print(message, file=sys.stderr)
    if not entries:
        raise TuneError(f"{arguments.folder / 'log.jsonl'} is missing or empty")
    outcome = Outcome(arguments.folder, entries)
    outcome.write_samples()
    for file in outcome.write_best(arguments.top, arguments.out):
        print(file)
    print(outcome.write_report())
    return 0


COMMANDS = {
    "loop": loop_command,
    "show": show_command,
    "data": datasets.data_command,
    "predict": datasets.predict_command,
    "average": datasets.average_command,
}


def main(argv: Optional[List[str]] = None) -> int:
    """Exit status 0, or 1 with a message."""
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] not in COMMANDS:
        print(f"usage: python -m autotune {'|'.join(COMMANDS)} ...", file=sys.stderr)
        return 1
    try:
        return COMMANDS[words[0]](words[1:])
    except TuneError as error:
        print(f"autotune: {error}", file=sys.stderr)
    except OSError as error:
        print(f"autotune: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
    except asyncio.CancelledError:
        print("autotune: stopped", file=sys.stderr)
        return 130
    except SystemExit as end:
        # A wrong command line is a failure; only --help is none.
        return 0 if end.code in (0, None) else 1
    return 1
