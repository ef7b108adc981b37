"""The console commands."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import util
from pathlib import Path
from typing import NoReturn

import halide_anderson2021 as package

_DESCRIPTION = """\
Tries schedules of a pipeline in batches, times them (or goes by predictions), retrains the cost
model after each batch and keeps the best one. `show`, `predict` and `average` work on the results;
each has a --help of its own.

"""
# Commands of the autotuner itself that make sense without the project's applications.
_OTHERS = ("show", "predict", "average")


def program() -> NoReturn:
    """Goes on as the program that the command is named after."""
    name = Path(sys.argv[0]).name.replace("anderson2021-", "", 1).replace("-", "_")
    path = package.tools_dir() / {"retrain": "retrain_cost_model"}.get(name, name)
    spec = util.find_spec("halide")
    if spec is not None and spec.submodule_search_locations:
        # Not necessarily in the same place as this package.
        library = str(Path(list(spec.submodule_search_locations)[0]) / "lib64")
        before = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = f"{library}:{before}" if before else library
    os.execv(path, sys.argv)


def autotune() -> int:
    """anderson2021-autotune"""
    from .autotune import cli  # pylint: disable=import-outside-toplevel

    words = sys.argv[1:]
    if words and words[0] in _OTHERS:
        return cli.main(words)
    parser = argparse.ArgumentParser(
        prog="anderson2021-autotune", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=_DESCRIPTION + cli.LOOP_ENVIRONMENT, add_help=False, allow_abbrev=False,
        usage="%(prog)s --generator FILE --pipeline NAME --target TARGET --folder DIR [options]\n"
              f"       %(prog)s {'|'.join(_OTHERS)} ...",
    )
    parser.add_argument("--help", "-h", action="store_true", help="show this")
    parser.add_argument("--version", action="version", help="show the version",
                        version=f"anderson2021-autotune (Anderson2021) {package.__version__}")
    parser.add_argument("--generator", help="the generator program")
    parser.add_argument("--pipeline", help="name of the generator in it")
    parser.add_argument("--target", default="host-cuda", help="(default: host-cuda)")
    parser.add_argument("--folder", help="where everything goes")
    parser.add_argument("--weights", default="",
                        help="to begin with: a name or a file (default: built into the plugin)")
    parser.add_argument("--parallelism", default="80",
                        help="multiprocessors of the GPU (default: 80)")
    parser.add_argument("--arguments", default="",
                        help="sets of generator arguments, separated by blanks, the arguments of "
                             "a set by `;`")
    given, further = parser.parse_known_args(words)
    if given.help:
        # The rest goes to the loop as it is.
        cli.add_tuning_options(parser)
        print(parser.format_help(), end="")
        return 0
    for name in ("generator", "pipeline", "folder"):
        if not getattr(given, name):
            parser.error(f"--{name} is missing")
    weights = given.weights
    if weights and "/" not in weights and not weights.endswith(".weights"):
        try:
            weights = str(package.weights_path(weights))
        except ValueError as error:
            parser.error(str(error))
    return cli.main(["loop", given.generator, given.pipeline, given.target, weights,
                     str(package.tools_dir()), given.parallelism, "0", given.arguments,
                     "--samples_dir", given.folder, *further])
