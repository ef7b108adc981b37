"""The course of a search as an inline SVG: best cost against time, a mark per step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Sequence, Tuple

from markupsafe import Markup, escape

from . import units
from .model import Progress

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 66, 28, 20, 40


@dataclass(frozen=True)
class Course:
    """One line of the chart."""

    label: str
    progress: Sequence[Progress]


def ticks(top: float, number: int = 4) -> List[float]:
    """Round values from 0 to about `top`."""
    if top < 1e-9:
        return [0.0]
    step = 10.0 ** len(str(int(top))) if top >= 1 else 1.0
    while top / step < number:
        for divisor in (2, 2.5, 2):
            step /= divisor
            if top / step >= number:
                break
    return [index * step for index in range(int(top / step) + 2)]


def _axis(values: List[float], to_y) -> List[str]:
    parts = []
    for value in values:
        y = to_y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                     f'y2="{y:.1f}"/><text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" '
                     f'text-anchor="end">{escape(units.time(value))}</text>')
    return parts


def _line(index: int, course: Course, to_x, to_y) -> List[str]:
    points: List[Tuple[float, float]] = []
    marks = []
    for one in course.progress:
        x, y = to_x(one.elapsed_ms), to_y(one.best_cost_ms)
        if points:
            points.append((x, points[-1][1]))
        points.append((x, y))
        title = (f"{one.step}: {units.time(one.best_cost_ms)} after "
                 f"{units.time(one.elapsed_ms)}, {units.count(one.states)} states")
        marks.append(f'<circle class="mark line{index}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
                     f'<title>{escape(title)}</title></circle>')
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [f'<polyline class="course line{index}" points="{path}"/>', *marks]


def _step_labels(course: Course, to_x, to_y) -> List[str]:
    """Names of the steps, those left out that would overlap."""
    parts, end = [], -1.0
    for one in course.progress:
        x = to_x(one.elapsed_ms)
        label = one.step
        half = 3.2 * len(label)
        x = min(max(x, LEFT + half), WIDTH - RIGHT - half)
        if x - half > end + 6:
            end = x + half
            parts.append(f'<text class="step" x="{x:.1f}" y="{to_y(one.best_cost_ms) - 10:.1f}" '
                         f'text-anchor="middle">{escape(label)}</text>')
    return parts


def search_chart(courses: Sequence[Course]) -> Markup:
    """The chart; nothing if no course has a point."""
    everything = [one for course in courses for one in course.progress]
    if not everything:
        return Markup("")
    time_ticks = ticks(max(one.elapsed_ms for one in everything))
    cost_ticks = ticks(1.08 * max(one.best_cost_ms for one in everything))
    # At least a little, so that nothing is divided by 0.
    last, top = max(time_ticks[-1], 1e-9), max(cost_ticks[-1], 1e-12)

    def to_x(ms: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ms / last

    def to_y(ms: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - ms / top)

    parts = _axis(cost_ticks, to_y)
    parts += [f'<text class="tick" x="{to_x(value):.1f}" y="{HEIGHT - BOTTOM + 18}" '
              f'text-anchor="middle">{escape(units.time(value))}</text>' for value in time_ticks]
    for index, course in enumerate(courses):
        parts += _line(index, course, to_x, to_y)
    if len(courses) == 1:
        parts += _step_labels(courses[0], to_x, to_y)
    parts.append(f'<text class="tick" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" '
                 f'text-anchor="middle">time of the search</text>')
    label = "Best predicted time against the time of the search"
    return Markup(f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
                  f'aria-label="{label}">{"".join(parts)}</svg>')
