#!/usr/bin/env python3
"""Makes manual pages and completions for bash out of what the programs print for --help.

usage: make_manuals.py OUT VERSION TABLE COMMAND=PROGRAM ...

Writes OUT/man1/COMMAND.1 and OUT/completions/COMMAND for each compiled program and for the
commands of the Python package, and OUT/man7/anderson2021.7 about the plugin, with the options that
the program TABLE (print_options) prints. Needs nothing but Python itself. The build calls it.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import textwrap
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[1]
# Where a line of an option's text may begin.
INDENT = re.compile(r"^ {4,}")
HEAD = re.compile(r"^  (?P<head>\S.*?)(?:  +(?P<text>\S.*))?$")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z?][\w-]*=?")
CHOICES = re.compile(r"\{([^{}]+)\}|=(0\|1)$")

ENVIRONMENT = {
    "HL_WEIGHTS_DIR": "A weights file, or a folder of them, if weights_path is not given.",
    "HL_RANDOMIZE_WEIGHTS": "1: weights of random values.",
    "HL_DEBUG_AUTOSCHEDULE": "Level of the log on standard error: 0 is silent, 1 tells what is "
                             "decided.",
}


@dataclass
class Entry:
    """An option or argument: what it looks like, and what it means."""

    head: str
    text: str

    def names(self) -> List[str]:
        """The option's names; one that ends with = takes its value in the same word."""
        return OPTION.findall(self.head)

    def choices(self) -> List[str]:
        """The values that are allowed, if they are few."""
        found = CHOICES.search(self.head)
        return re.split(r"[,|]", found[1] or found[2]) if found else []


@dataclass
class Help:
    """The text of --help, taken apart."""

    command: str
    usage: str = ""
    description: str = ""
    sections: Dict[str, List[Entry]] = field(default_factory=dict)

    def options(self) -> List[Entry]:
        """All options."""
        return [entry for entries in self.sections.values() for entry in entries
                if entry.head.startswith("-")]


def parse_help(command: str, text: str) -> Help:
    """Takes a text apart; a ValueError says what does not look as it should."""
    if not text.startswith(f"usage: {command} "):
        raise ValueError(f"{command} --help does not begin with `usage: {command}`: {text[:80]!r}")
    usage, *paragraphs = text.removeprefix("usage: ").strip("\n").split("\n\n")
    result = Help(command, usage)
    for paragraph in paragraphs:
        first, *lines = paragraph.split("\n")
        if not (first.endswith(":") and lines and lines[0].startswith("  ")):
            result.description += paragraph + "\n\n"
            continue
        entries = result.sections.setdefault(first[:-1], [])
        for line in lines:
            if INDENT.match(line) and entries:
                entries[-1].text = f"{entries[-1].text} {line.strip()}".strip()
            elif (found := HEAD.match(line)):
                entries.append(Entry(found["head"], found["text"] or ""))
            else:
                raise ValueError(f"{command} --help: neither option nor text: {line!r}")
    if not result.description or not any("--help" in entry.head for entry in result.options()):
        raise ValueError(f"{command} --help has no description or does not name --help")
    return result


# ----- manual pages


def escape(text: str) -> str:
    """Text for troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line
                     for line in text.split("\n"))


def title(name: str, section: int, version: str, summary: str) -> List[str]:
    """The first lines of a page."""
    return [f'.TH {escape(name.upper())} {section} "" "Anderson2021 {version}"',
            ".SH NAME", f"{escape(name)} \\- {escape(summary)}"]


def listed(entries: List[Entry]) -> List[str]:
    """A list of options."""
    lines = []
    for entry in entries:
        lines += [".TP", f"\\fB{escape(entry.head)}\\fR", escape(entry.text) or "\\&"]
    return lines


def first_sentence(text: str) -> str:
    """What a page says in one line."""
    sentence = re.split(r"(?<=[\w)])[.:](?:\s|$)", " ".join(text.split()))[0]
    return sentence[0].lower() + sentence[1:]


def command_page(told: Help, version: str) -> str:
    """The page of a command."""
    lines = title(told.command, 1, version, first_sentence(told.description))
    lines += [".SH SYNOPSIS", ".nf", escape(told.usage), ".fi", ".SH DESCRIPTION"]
    for paragraph in told.description.strip().split("\n\n"):
        lines += [".PP", escape(paragraph)]
    for name, entries in told.sections.items():
        lines += [f".SH {escape(name.upper())}", *listed(entries)]
    lines += [".SH EXIT STATUS", "0, or 1 after a message that says what is wrong.",
              ".SH SEE ALSO", "anderson2021(7)"]
    return "\n".join(lines) + "\n"


def table_rows(table: str) -> List[List[str]]:
    """The cells of a Markdown table, without its head."""
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")]
            for line in table.splitlines() if line.startswith("| `")]
    if not rows:
        raise ValueError("the table of options is empty")
    return rows


def plugin_page(table: str, commands: List[str], version: str) -> str:
    """The page about the plugin."""
    options, environment = [], []
    for name, default, variable, meaning in table_rows(table):
        meaning = meaning.replace("`", "")
        shown = f" (default: {default})" if default else ""
        options.append(Entry(f"{name}=", f"{meaning}{shown}"))
        if variable:
            environment.append(Entry(variable, f"Default of {name}."))
    environment += [Entry(name, text) for name, text in ENVIRONMENT.items()]
    lines = title("anderson2021", 7, version, "a GPU autoscheduler for Halide")
    lines += [".SH SYNOPSIS", ".nf",
              escape("GENERATOR -p libautoschedule_anderson2021.so autoscheduler=Anderson2021\n"
                     "    [autoscheduler.OPTION=VALUE ...] target=host-cuda ..."), ".fi",
              ".SH DESCRIPTION",
              "A plugin that writes a schedule for a Halide pipeline, which has to have estimates "
              "and no schedule of its own.", ".SH OPTIONS", *listed(options),
              ".SH ENVIRONMENT", "Options that are given come before these.",
              *listed(sorted(environment, key=lambda entry: entry.head)), ".SH SEE ALSO",
              ", ".join(f"{escape(command)}(1)" for command in commands)]
    return "\n".join(lines) + "\n"


# ----- completion


def completion(told: Help) -> str:
    """Functions for bash; in zsh after `autoload -U bashcompinit && bashcompinit`."""
    names = [name for entry in told.options() for name in entry.names()]
    function = "_" + told.command.replace("-", "_")
    cases = [f"        {'|'.join(name.rstrip('=') for name in entry.names())}) "
             f'words="{" ".join(entry.choices())}" ;;'
             for entry in told.options() if entry.choices()]
    wrapped = textwrap.fill(" ".join(names), 92, initial_indent=" " * 8,
                            subsequent_indent=" " * 8, break_on_hyphens=False,
                            break_long_words=False)
    return f"""# Completion of {told.command} for bash; made from its --help.
{function}() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    COMPREPLY=()
    # bash takes --name=value apart at the equals sign.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = && $COMP_CWORD -gt 1 ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    case $before in
{chr(10).join(cases) or "        --) ;;"}
    esac
    if [[ $word == -* ]]; then
        words="
{wrapped}"
    fi
    # Otherwise it is the name of a file.
    [[ -n $words ]] || return 0
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    # Fails where there is no such thing, e.g. in zsh.
    [[ ${{COMPREPLY[0]}} != *= ]] || compopt -o nospace 2>/dev/null || true
}}
complete -o default -F {function} {told.command}
"""


# ----- where the texts come from


def text_of_program(command: str, program: str) -> str:
    """--help of a compiled program, called by the name under which it is installed."""
    done = subprocess.run([command, "--help"], executable=program, check=True, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)
    return done.stdout


def python_package(version: str) -> None:
    """Makes the package importable as it will be installed; it needs little for --help alone."""
    package = types.ModuleType("halide_anderson2021")
    package.__path__ = [str(ROOT / "python" / "halide_anderson2021"), str(ROOT / "scripts")]
    package.__version__ = version
    sys.modules[package.__name__] = package
    sys.modules.setdefault("numpy", types.ModuleType("numpy"))
    sys.dont_write_bytecode = True


def text_of_function(command: str, module: str, function: str) -> str:
    """--help of a command of the Python package."""
    __import__(module)
    shown = io.StringIO()
    sys.argv = [command, "--help"]
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        getattr(sys.modules[module], function)()
    return shown.getvalue()


def main() -> int:
    """Writes all files."""
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 1
    out, version, table, *programs = sys.argv[1:]
    os.environ.update(COLUMNS="80", NO_COLOR="1")
    texts = {}
    for command, program in (word.split("=", 1) for word in programs):
        texts[command] = text_of_program(command, program)
    python_package(version)
    for command, module, function in (
        ("anderson2021-autotune", "halide_anderson2021.commands", "autotune"),
        ("anderson2021-explain", "halide_anderson2021.explain.cli", "main"),
    ):
        texts[command] = text_of_function(command, module, function)
    pages = {}
    for command, text in sorted(texts.items()):
        told = parse_help(command, text)
        pages[f"man1/{command}.1"] = command_page(told, version)
        pages[f"completions/{command}"] = completion(told)
    options = subprocess.run([table, "options"], check=True, capture_output=True, text=True).stdout
    pages["man7/anderson2021.7"] = plugin_page(options, sorted(texts), version)
    for name, text in pages.items():
        path = Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
