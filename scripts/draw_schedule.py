#!/usr/bin/env python3
"""Draws a schedule tree as nested boxes: kernels, blocks, threads, loops, and what lives where.

usage: draw_schedule.py TREE.txt OUT.svg [TITLE]

TREE.txt holds the tree as the plugin prints it (`.tree` of option top_k_path, or cut from the log).
What is computed one after the other stands below each other; columns only save space. Colours:
kernels with their blocks, threads, serial loops. Written in small print: where memory is allocated
and which Funcs are inlined.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

ROW, PAD, GAP, CHARACTER, SMALL_CHARACTER = 15, 6, 5, 6.7, 5.6
# Longest line of small print, in characters.
WRAP = 56

NOUNS = {"block": "blocks", "thread": "threads", "serial": "serial", "simd": "point",
         "none": "loops, not tiled", "parallelized": "parallel tasks"}
LEVEL = re.compile(r"^(?P<func>\S+)(?P<sizes>( \d+v?c?)*) \(-?\d+, -?\d+\) [*t] gpu_(?P<axis>\w+)$")
REALIZE = re.compile(r"^realize: (?P<func>\S+) \[(?P<extents>[^\]]*)\] with (?P<stages>\d+) stages$")
INLINED = re.compile(r"^inlined: (?P<func>\S+) (?P<calls>\d+)$")


@dataclass
class Nest:
    """One level; the root has no Func."""

    func: str = ""
    axis: str = ""
    sizes: list[int] = field(default_factory=list)
    realized: list[tuple[str, list[int]]] = field(default_factory=list)
    inlined: list[tuple[str, int]] = field(default_factory=list)
    children: list["Nest"] = field(default_factory=list)


def parse(text: str) -> Nest:
    """The tree of a text; a ValueError names a line that is none of the known forms."""
    root = Nest()
    # The nests around the current line with their indentation.
    open_nests: list[tuple[int, Nest]] = [(-1, root)]
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith("#") or words == "gpu_none":
            continue
        indent = len(line) - len(line.lstrip(" "))
        level, realize, inlined = (p.match(words) for p in (LEVEL, REALIZE, INLINED))
        if not (level or realize or inlined):
            raise ValueError(f"line {number} is not part of a schedule tree: {words}")
        while open_nests[-1][0] >= indent:
            open_nests.pop()
        parent = open_nests[-1][1]
        if level:
            sizes = [int(re.sub(r"\D", "", word)) for word in level["sizes"].split()]
            nest = Nest(level["func"], level["axis"], sizes)
            parent.children.append(nest)
            open_nests.append((indent, nest))
        elif realize:
            extents = [int(re.sub(r"\D", "", w)) for w in realize["extents"].split(",") if w.strip()]
            parent.realized.append((realize["func"], extents))
        else:
            parent.inlined.append((inlined["func"], int(inlined["calls"])))
    return root


def _product(sizes: list[int]) -> str:
    return " × ".join(map(str, sizes)) if sizes else "1"


def _wrapped(words: str, items: list[str]) -> list[str]:
    """A list as lines of small print."""
    lines, line = [], words
    for item in items:
        if len(line) + len(item) > WRAP and line != words:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return [*lines, line.rstrip(",")] if items else []


@dataclass
class Box:
    """A rectangle with a heading, small print and boxes below it."""

    kind: str
    heading: str
    notes: list[str]
    inner: list["Box"]
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0

    def measure(self) -> None:
        """Sets the sizes, of the inner boxes as well."""
        for box in self.inner:
            box.measure()
        widths = [box.width for box in self.inner]
        widths.append(len(self.heading) * CHARACTER)
        widths += [len(note) * SMALL_CHARACTER for note in self.notes]
        self.width = max(widths) + 2 * PAD
        rows = (1 if self.heading else 0) + len(self.notes)
        self.height = PAD + rows * ROW + sum(box.height + GAP for box in self.inner) + 2

    def place(self, x: float, y: float) -> None:
        """Sets the positions, of the inner boxes as well, which get as wide as they can."""
        self.x, self.y = x, y
        y += PAD + ((1 if self.heading else 0) + len(self.notes)) * ROW
        for box in self.inner:
            box.width = self.width - 2 * PAD
            box.place(x + PAD, y)
            y += box.height + GAP

    def svg(self) -> list[str]:
        lines = [f'<rect class="{self.kind}" x="{self.x:.0f}" y="{self.y:.0f}" '
                 f'width="{self.width:.0f}" height="{self.height:.0f}"/>']
        baseline = self.y + PAD + 6
        if self.heading:
            lines.append(_text(self.x + PAD, baseline, "", self.heading))
            baseline += ROW
        for note in self.notes:
            lines.append(_text(self.x + PAD, baseline, ' class="n"', note))
            baseline += ROW
        for box in self.inner:
            lines += box.svg()
        return lines


def _text(x: float, y: float, attributes: str, text: str) -> str:
    return f'<text{attributes} x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'


def _memory(nest: Nest, depth_axis: str) -> list[str]:
    """Small print about what is allocated in a level."""
    where = {"": "global memory", "block": "shared memory"}.get(depth_axis, "per thread")
    return _wrapped(f"{where}:", [f"{f} {_product(e)}" for f, e in nest.realized])


def _inlined(nest: Nest) -> list[str]:
    return _wrapped("inlined:", [f if n == 1 else f"{f} ×{n}" for f, n in nest.inlined])


def box_of(nest: Nest, parent: Nest) -> Box:
    """The box of a level. A leaf that is one point has no heading beyond the Func's name."""
    notes = _memory(nest, nest.axis) + _inlined(nest)
    if nest.axis == "simd":
        heading = nest.func if nest.func != parent.func else ""
        return Box("simd", heading or nest.func, notes, [])
    inner = []
    for child in nest.children:
        # A level of a single iteration says nothing.
        while (child.axis == "serial" and all(s == 1 for s in child.sizes)
               and len(child.children) == 1 and not child.realized and not child.inlined):
            child = child.children[0]
        inner.append(box_of(child, nest))
    name = "kernel " if nest.axis == "block" else ""
    heading = f"{name}{nest.func}: {_product(nest.sizes)} {NOUNS.get(nest.axis, nest.axis)}"
    return Box(nest.axis, heading, notes, inner)


STYLE = """\
text{font:11px monospace;fill:#222}.n{font-size:9px;fill:#555}.t{font-size:14px;font-weight:bold}
rect{stroke:#555;stroke-width:.7;rx:3}.page{fill:#fff;stroke:none}.block{fill:#cfe0f3}
.thread{fill:#d8efd3}.serial{fill:#fdf2cc}.simd{fill:#fff}.none,.parallelized{fill:#eee}"""


def draw(root: Nest, title: str = "") -> str:
    """The SVG of a tree."""
    boxes = [box_of(child, root) for child in root.children]
    for box in boxes:
        box.measure()
    columns = _columns(boxes)
    y = PAD + (20 if title else 0)
    head = _memory(root, "")
    top = y + len(head) * ROW + GAP
    x, bottom, body = float(PAD), top, []
    for column in columns:
        width, below = max(box.width for box in column), top
        for box in column:
            box.width = width
            box.place(x, below)
            below += box.height + 2 * GAP
            body += box.svg()
        x, bottom = x + width + 3 * GAP, max(bottom, below)
    width = max([x] + [len(line) * SMALL_CHARACTER + 2 * PAD for line in head]
                + [len(title) * 9 + 2 * PAD])
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom:.0f}">',
             f"<style>{STYLE}</style>", '<rect class="page" width="100%" height="100%"/>']
    if title:
        lines.append(_text(PAD, PAD + 12, ' class="t"', title))
    lines += [_text(PAD, y + 10 + i * ROW, ' class="n"', line) for i, line in enumerate(head)]
    return "\n".join([*lines, *body, "</svg>"]) + "\n"


def _columns(boxes: list[Box]) -> list[list[Box]]:
    """The boxes in order, in columns about as high as the whole is wide."""
    total = sum(box.height + 2 * GAP for box in boxes)
    widest = max((box.width for box in boxes), default=1)
    count = max(1, min(len(boxes), round((total / (0.7 * widest)) ** 0.5)))
    columns: list[list[Box]] = [[]]
    used = 0.0
    for box in boxes:
        if used and used + box.height / 2 > total / count and len(columns) < count:
            columns.append([])
            used = 0
        columns[-1].append(box)
        used += box.height + 2 * GAP
    return [column for column in columns if column]


def main(arguments: list[str]) -> int:
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    title = arguments[3] if len(arguments) == 4 else ""
    try:
        Path(arguments[2]).write_text(draw(parse(Path(arguments[1]).read_text()), title))
    except (OSError, ValueError) as error:
        print(f"draw_schedule: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
