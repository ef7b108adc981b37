"""The table of mutants: reading it, finding its texts in the sources, weaving them in.

All mutants are compiled into one program. Every text of the table becomes a conditional expression
that yields a replacement while the mutant's number is chosen, and the original otherwise.
"""

import dataclasses
import pathlib
import re

NUM_FEATURES = 73
TABLE = pathlib.Path(__file__).parent / "mutants.txt"


class TableError(Exception):
    """The table is malformed or does not fit the sources."""


@dataclasses.dataclass
class Replacement:
    """One mutant: its number, what stands for the original, and why it cannot be killed, if so."""

    number: int
    text: str
    equivalent: str = ""


@dataclasses.dataclass
class Site:
    """An expression of a source file with its mutants."""

    file: str
    line: int
    features: list
    before: str
    original: str
    after: str
    replacements: list = dataclasses.field(default_factory=list)


def parse_features(text, line):
    """[19, 20, 21, 42] of "19-21 42"."""
    features = []
    for word in text.split():
        first, _, last = word.partition("-")
        if not (first.isdigit() and (last or first).isdigit()):
            raise TableError(f"line {line}: {word!r} is no feature number")
        features.extend(range(int(first), int(last or first) + 1))
    if not features or max(features) >= NUM_FEATURES:
        raise TableError(f"line {line}: feature numbers are 0 to {NUM_FEATURES - 1}")
    return features


def make_site(file, line, text):
    """The site of `features: text`, where «» surround the expression."""
    features, colon, pattern = text.partition(":")
    match = re.fullmatch(r"(.*?)«(.+?)»(.*)", pattern, re.DOTALL)
    if not colon or match is None:
        raise TableError(f"line {line}: expected 'features: text with one part in «»'")
    before, original, after = match.groups()
    return Site(file, line, parse_features(features, line), before.strip(), original, after.strip())


def read_table(path=TABLE):
    """All sites of a table; mutants are numbered from 1 in its order."""
    sites = []
    file = ""
    pending = None  # line number and text of a site that may go on
    number = 0
    for line, text in enumerate(path.read_text().splitlines() + [""], start=1):
        stripped = text.strip()
        continues = text.startswith(" ") and not stripped.startswith(("-> ", "= "))
        if pending and continues:
            pending = (pending[0], pending[1] + " " + stripped)
            continue
        if pending:
            sites.append(make_site(file, *pending))
            pending = None
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("[") and stripped.endswith("]"):
            file = stripped[1:-1]
        elif stripped.startswith("-> "):
            number += 1
            sites[-1].replacements.append(Replacement(number, stripped[3:]))
        elif stripped.startswith("= "):
            sites[-1].replacements[-1].equivalent = stripped[2:]
        else:
            pending = (line, stripped)
    for site in sites:
        if not site.replacements:
            raise TableError(f"line {site.line}: no replacement")
    return sites


def any_spaces(text):
    """Regular expression that matches `text` with any white space at the places of white space."""
    return r"\s*".join(re.escape(word) for word in text.split())


def locate(site, source):
    """First and last offset of the site's expression; an error unless it is there exactly once."""
    parts = [any_spaces(p) for p in (site.before, site.original, site.after)]
    pattern = rf"{parts[0]}\s*({parts[1]})\s*{parts[2]}"
    found = sorted({m.span(1) for m in re.finditer(f"(?={pattern})", source)})
    if len(found) != 1:
        raise TableError(
            f"line {site.line}: the text occurs {len(found)} times in {site.file}: "
            f"{site.before}«{site.original}»{site.after}"
        )
    return found[0]


def mutate(source, placed):
    """`source` with all sites woven in; `placed` is a list of (begin, end, site)."""
    # Sites inside other sites come later in this order and are handled by the outer one.
    placed = sorted(placed, key=lambda p: (p[0], -p[1]))
    result = []
    at = 0
    i = 0
    while i < len(placed):
        begin, end, _ = placed[i]
        same = [p for p in placed[i:] if p[:2] == (begin, end)]
        inner = []
        i += len(same)
        while i < len(placed) and placed[i][0] < end:
            if placed[i][1] > end:
                raise TableError(f"line {placed[i][2].line}: overlaps with another text")
            inner.append((placed[i][0] - begin, placed[i][1] - begin, placed[i][2]))
            i += 1
        expression = f"({mutate(source[begin:end], inner)})"
        for _, _, site in same:
            for r in site.replacements:
                expression = f"(anderson_mutant() == {r.number} ? ({r.text}) : {expression})"
        result += [source[at:begin], expression]
        at = end
    return "".join(result + [source[at:]])


def mutated_files(src, sites):
    """Relative path -> mutated text, of all files below `src` that the table names."""
    by_file = {}
    for site in sites:
        by_file.setdefault(site.file, []).append(site)
    files = {}
    for file, of_file in by_file.items():
        path = src / file
        if not path.is_file():
            raise TableError(f"line {of_file[0].line}: no file {file}")
        source = path.read_text()
        files[file] = mutate(source, [(*locate(s, source), s) for s in of_file])
    return files
