"""The explanation as text for a terminal (or a pipe)."""

from __future__ import annotations

from typing import List, Optional

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from . import insight, units
from .comparison import Comparison
from .model import Nest, Record

_AXIS_STYLES = {"block": "bold blue", "thread": "bold green", "serial": "yellow", "point": "dim"}
_STORAGE_STYLES = {"global": "blue", "shared": "magenta", "registers": "green", "none": "dim"}
_GROUP_STYLES = {"compute": "green", "load": "blue", "store": "yellow", "working set": "magenta",
                 "overhead": "dim"}
_BAR = 20
_PIPE_WIDTH = 120


def console(width: Optional[int] = None) -> Console:
    """Of the terminal's width; on a pipe of a fixed one and without colours."""
    out = Console(highlight=False, soft_wrap=False)
    if width is not None or not out.is_terminal:
        out = Console(highlight=False, width=width or _PIPE_WIDTH)
    return out


def _table(title: str, *columns: str) -> Table:
    """Columns whose name starts with > are aligned to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
                  pad_edge=False)
    for name in columns:
        right = name.startswith(">")
        table.add_column(name.lstrip(">"), justify="right" if right else "left")
    return table


def _bar(part: float, width: int = _BAR) -> str:
    """A bar of a share of the width, in eighths of a character."""
    eighths = round(min(max(part, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]


def _loop_nest(record: Record) -> Tree:
    tree = Tree("[bold]Loop nest[/]", guide_style="dim")
    places = {func.name: func.place for func in record.funcs}

    def add(nest: Nest, branch: Tree, around: str) -> None:
        style = _AXIS_STYLES.get(nest.axis, "")
        words = f"[{style}]{escape(insight.stage_label(nest, record))}[/]" if style else \
            escape(insight.stage_label(nest, record))
        loops = insight.loops_text(nest)
        if nest.axis == "point":
            words = f"[dim]compute {escape(insight.stage_label(nest, record))}[/]"
        if loops:
            words += f"  {escape(loops)}"
        if nest.func != around and nest.func in places:
            storage = places[nest.func].storage
            words += f"  [{_STORAGE_STYLES[storage]}]→ {storage}[/]"
        if nest.inlined:
            inlined = ", ".join(f"{name} ×{calls}" if calls != 1 else name
                                for name, calls in nest.inlined)
            words += f"  [dim]inlined: {escape(inlined)}[/]"
        child_branch = branch.add(words)
        for child in nest.children:
            add(child, child_branch, nest.func)

    for child in record.tree.children:
        add(child, tree, "")
    return tree


def _kernels(record: Record) -> Table:
    table = _table("Kernels", "stage", ">threads", ">blocks", ">shared", ">registers",
                   ">blocks/SM", ">occupancy", "limited by")
    for kernel in record.kernels:
        table.add_row(escape(kernel.stage), units.cross(kernel.threads),
                      units.count(kernel.blocks), units.size(kernel.shared_bytes),
                      str(kernel.registers), str(kernel.resident_blocks),
                      units.share(kernel.occupancy), escape(kernel.limiter))
    return table


def _stages(record: Record) -> Table:
    table = _table("Predicted time per stage", "stage", ">time", ">share",
                   *(f">{group}" for group in insight.GROUPS), "mostly")
    total = record.cost_ms or 1.0
    for stage in sorted(record.stages, key=lambda stage: -stage.cost_ms):
        costs = insight.group_costs(stage)
        cells = [f"[{_GROUP_STYLES[group]}]{units.time(cost)}[/]"
                 if cost > insight.NEGLIGIBLE_MS else "[dim]·[/]"
                 for group, cost in costs.items()]
        main = insight.main_terms(stage)
        table.add_row(escape(stage.name), units.time(stage.cost_ms),
                      units.share(max(stage.cost_ms, 0) / total), *cells,
                      escape(main[0].what) if main else "")
    return table


def _funcs(record: Record) -> Table:
    table = _table("Where each Func is computed, and what else it would cost", "Func",
                   "place", ">time", ">", "", "dropped by rules")
    table.columns[1].no_wrap = True
    for func in record.funcs:
        rivals = insight.rivals(func, record)
        scale = max((one.alternative.cost_ms for one in rivals), default=1.0) or 1.0
        dropped = ", ".join(f"{rule} {count}" for rule, count in func.rejected.items())
        for index, one in enumerate(rivals):
            chosen = one.alternative.chosen
            style = "bold" if chosen else ("yellow" if one.is_cheaper else "")
            row = [escape(func.name) if index == 0 else "", escape(one.alternative.place.text),
                   units.time(one.alternative.cost_ms), one.change,
                   _bar(one.alternative.cost_ms / scale), dropped if index == 0 else ""]
            row[1:4] = [f"[{style}]{cell}[/]" if style else cell for cell in row[1:4]]
            table.add_row(*row, end_section=index + 1 == len(rivals))
        if not rivals:
            table.add_row(escape(func.name), escape(func.place.text), "", "", "", dropped,
                          end_section=True)
    return table


def _traffic(record: Record) -> Table:
    table = _table("Memory traffic", "stage", "memory", "", ">transactions", ">bytes used")
    for stage in record.stages:
        for index, one in enumerate(insight.traffic(stage)):
            table.add_row(escape(stage.name) if index == 0 else "", one.space, one.direction,
                          units.count(one.transactions), units.share(one.efficiency))
    return table


def _progress(record: Record) -> Table:
    table = _table("Search", "step", ">after", ">states", ">best", "")
    scale = max((one.best_cost_ms for one in record.progress), default=1.0) or 1.0
    for one in record.progress:
        table.add_row(escape(one.step), units.time(one.elapsed_ms), units.count(one.states),
                      units.time(one.best_cost_ms), _bar(one.best_cost_ms / scale))
    return table


def _warnings(texts: List[str], out: Console) -> None:
    for text in texts:
        out.print(f"[yellow]![/] {escape(text)}")
    if texts:
        out.print()


def explain(record: Record, out: Console) -> None:
    """Prints all about one record."""
    out.print(f"[bold]{escape(record.label)}[/]  computes {escape(record.name)}")
    for name, value in insight.facts(record):
        out.print(f"  {name + ':':<17}{escape(value)}")
    out.print()
    _warnings(insight.warnings(record), out)
    out.print(_loop_nest(record))
    out.print()
    for table in (_kernels, _stages, _funcs, _traffic, _progress):
        out.print(table(record))


def compare(pair: Comparison, out: Console) -> None:
    """Prints what differs between two records."""
    first, second = (escape(label) for label in pair.labels)
    table = _table("Comparison", "", f">{first}", f">{second}", ">change")
    costs = pair.first.cost_ms, pair.second.cost_ms
    table.add_row("predicted time", *map(units.time, costs),
                  units.change(costs[1] / costs[0]) if costs[0] > 0 else "")
    table.add_row("kernel launches", str(len(pair.first.kernels)), str(len(pair.second.kernels)))
    for name, one, other in pair.settings():
        table.add_row(escape(name), escape(str(one)), escape(str(other)))
    out.print(table)

    stages = _table("Predicted time per stage", "stage", f">{first}", f">{second}", ">difference")
    for stage in pair.stages():
        sign = "+" if stage.difference > insight.NEGLIGIBLE_MS else ""
        stages.add_row(escape(stage.name), *map(units.time, stage.costs),
                       f"{sign}{units.time(stage.difference)}")
    out.print(stages)

    funcs = _table("Places of the Funcs", "Func", first, second)
    for func in pair.funcs():
        style = "yellow" if func.differs else "dim"
        funcs.add_row(escape(func.name),
                      *(f"[{style}]{escape(place)}[/]" for place in func.places))
    out.print(funcs)
    for label, record in zip((first, second), (pair.first, pair.second)):
        out.rule(f"[bold]{label}", align="left", style="dim")
        _warnings(insight.warnings(record), out)
        out.print(_loop_nest(record))
        out.print(_kernels(record))
