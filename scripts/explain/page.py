"""The explanation as one HTML page that needs nothing else: styles, script and charts inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import chart, insight, units
from .comparison import Comparison
from .model import Func, Nest, Record

_TEMPLATES = Path(__file__).parent / "templates"
# A bar of an alternative ends at this many times the chosen cost.
_LONGEST_BAR = 3.0
# With more Funcs than this, details are closed at first.
_MANY_FUNCS = 16


def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(time=units.time, size=units.size, count=units.count,
                               share=units.share, change=units.change, cross=units.cross)
    environment.globals.update(groups=insight.GROUPS, negligible=insight.NEGLIGIBLE_MS,
                               rules=insight.RULES,
                               loops_text=insight.loops_text, traffic=insight.traffic,
                               group_costs=insight.group_costs, main_terms=insight.main_terms,
                               group_of=insight.group_of)
    for name in ("style.css", "script.js"):
        environment.globals[name.split(".", maxsplit=1)[0]] = Markup(
            (_TEMPLATES / name).read_text(encoding="utf-8"))
    return environment


def _bars(func: Func, record: Record) -> List[Dict[str, Any]]:
    """What the bars of a Func's places need."""
    rivals = insight.rivals(func, record)
    longest = min(max((one.ratio for one in rivals), default=1.0), _LONGEST_BAR)
    return [{"rival": one, "place": one.alternative.place, "cost": one.alternative.cost_ms,
             "width": 100 * min(one.ratio / longest, 1.0), "is_cut": one.ratio > longest}
            for one in rivals]


def _kernel_number(nest: Nest, record: Record) -> int:
    """From 1 for a child of the root, else 0."""
    for number, child in enumerate(record.tree.children, 1):
        if child is nest:
            return number
    return 0


def _view(record: Record) -> Dict[str, Any]:
    """One record with all that the templates ask of it."""
    return {
        "record": record,
        "facts": insight.facts(record),
        "warnings": insight.warnings(record),
        "places": {func.name: func.place for func in record.funcs},
        "costs": {(stage.func, stage.stage): stage.cost_ms for stage in record.stages},
        "stage_label": lambda nest: insight.stage_label(nest, record),
        "kernel_cost": lambda nest: insight.kernel_cost(nest, record),
        "kernel_number": lambda nest: _kernel_number(nest, record),
        "bars": lambda func: _bars(func, record),
        "verdict": lambda func: insight.verdict(func, record),
        "totals": insight.total_groups(record),
        "longest": max([stage.cost_ms for stage in record.stages] + [1e-12]),
        "stages": sorted(record.stages, key=lambda stage: -stage.cost_ms),
        "is_open": len(record.funcs) <= _MANY_FUNCS,
    }


def explain(record: Record) -> str:
    """The page of one record."""
    course = chart.Course(record.label, record.progress)
    return _environment().get_template("explain.html.j2").render(
        view=_view(record), chart=chart.search_chart([course]),
        title=f"Schedule of {record.label or record.name}")


def compare(pair: Comparison) -> str:
    """The page of two records."""
    records = (pair.first, pair.second)
    courses = [chart.Course(label, record.progress)
               for label, record in zip(pair.labels, records)]
    stages = pair.stages()
    return _environment().get_template("compare.html.j2").render(
        pair=pair, views=[_view(record) for record in records], stages=stages,
        longest=max([cost for stage in stages for cost in stage.costs] + [1e-12]),
        chart=chart.search_chart(courses), title=f"{pair.labels[0]} and {pair.labels[1]}")
