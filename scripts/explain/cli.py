"""The command line of explain."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import List, Optional

from .model import RecordError, load
from .version import version

_DESCRIPTION = """Explains a schedule: the loop nest, where each Func is computed and what the
alternatives would cost, the predicted time and its parts, and how the search went. RECORD is the
file that a run with autoscheduler.record_path=RECORD wrote."""


class _Version(argparse.Action):
    """--version, looked up only when it is asked for."""

    def __call__(self, parser, namespace, values, option_string=None):
        print(f"{parser.prog} (Anderson2021) {version()}")
        parser.exit()


def parse_arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="anderson2021-explain", description=_DESCRIPTION)
    parser.add_argument("record", metavar="RECORD", help="record of a run")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained HTML page")
    parser.add_argument("--compare", metavar="OTHER",
                        help="show RECORD and this one side by side, differences first")
    parser.add_argument("--quiet", action="store_true", help="no text on the terminal")
    parser.add_argument("--width", type=int, help="columns of the text (default: the terminal's)")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace) -> None:
    """Does what the command line says."""
    # Here, so that --help needs neither rich nor Jinja2.
    from . import page, text  # pylint: disable=import-outside-toplevel
    from .comparison import Comparison  # pylint: disable=import-outside-toplevel

    record = load(arguments.record)
    pair = Comparison(record, load(arguments.compare)) if arguments.compare else None
    if arguments.html:
        html = page.compare(pair) if pair else page.explain(record)
        Path(arguments.html).write_text(html, encoding="utf-8")
    if not arguments.quiet:
        console = text.console(arguments.width)
        if pair:
            text.compare(pair, console)
        else:
            text.explain(record, console)
        if arguments.html:
            print(f"\nwrote {arguments.html}")


def main(argv: Optional[List[str]] = None) -> int:
    """0, or 1 after one line that says what is wrong."""
    try:
        run(parse_arguments(argv))
        sys.stdout.flush()
    except RecordError as error:
        print(f"anderson2021-explain: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the text has seen enough, e.g. `head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"anderson2021-explain: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
