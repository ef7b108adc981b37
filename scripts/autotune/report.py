"""The report of a run: one HTML file with drawings inside, made from the log alone."""

from __future__ import annotations

import html
import math
from collections import Counter
from typing import Any, Dict, List, Optional, Sequence, Tuple

WIDTH, HEIGHT, MARGIN = 620, 360, 60
STYLE = """body { font-family: sans-serif; margin: 2em auto; max-width: 1300px; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
td, th { border: 1px solid #ccc; padding: .25em .6em; text-align: right }
td.text, th.text { text-align: left }
svg { background: #fff; border: 1px solid #ddd; margin: .5em }"""

Entry = Dict[str, Any]
Point = Tuple[float, float]


def judged(entry: Entry) -> Optional[float]:
    """The time that counts for a sample, or None."""
    if entry["status"] != "ok":
        return None
    key = "measured_ms" if entry["identity"]["label"] == "measured" else "predicted_ms"
    return entry[key]


def scale(values: Sequence[float]) -> Tuple[float, float]:
    """Range of the logarithms of positive values, never empty."""
    logs = [math.log10(v) for v in values]
    low, high = min(logs), max(logs)
    return (low - 0.05, high + 0.05) if high - low > 1e-9 else (low - 0.5, high + 0.5)


class Chart:
    """A drawing with a logarithmic y axis."""

    def __init__(self, title: str, x_label: str, y_label: str, ys: Sequence[float],
                 xs: Sequence[float], log_x: bool) -> None:
        self.log_x = log_x
        self.y_range = scale(ys)
        self.x_range = scale(xs) if log_x else (0.0, max(1.0, max(xs)))
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            'font-size="12" font-family="sans-serif">',
            f'<text x="{WIDTH / 2}" y="22" text-anchor="middle" font-size="15">'
            f"{html.escape(title)}</text>",
            f'<rect x="{MARGIN}" y="{MARGIN / 2}" width="{WIDTH - 2 * MARGIN}" '
            f'height="{HEIGHT - 1.5 * MARGIN}" fill="none" stroke="#999"/>',
            f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
            f"{html.escape(x_label)}</text>",
            f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 14 {HEIGHT / 2})">{html.escape(y_label)}</text>',
        ]
        for step in range(5):
            share = step / 4
            y = 10 ** (self.y_range[0] + share * (self.y_range[1] - self.y_range[0]))
            x = self.x_range[0] + share * (self.x_range[1] - self.x_range[0])
            x = 10**x if log_x else x
            px, py = self.place(x, y)
            self.parts.append(f'<text x="{MARGIN - 6}" y="{py + 4:.1f}" text-anchor="end">'
                              f"{y:.3g}</text>")
            self.parts.append(f'<text x="{px:.1f}" y="{HEIGHT - MARGIN + 18}" '
                              f'text-anchor="middle">{x:.3g}</text>')

    def place(self, x: float, y: float) -> Point:
        """Position of a point in the drawing."""
        value = math.log10(x) if self.log_x else x
        across = (value - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (math.log10(y) - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return (MARGIN + across * (WIDTH - 2 * MARGIN),
                HEIGHT - MARGIN - up * (HEIGHT - 1.5 * MARGIN))

    def dots(self, points: Sequence[Tuple[float, float, str]], colour: str) -> None:
        """Points with a text that appears when one points at them."""
        for x, y, text in points:
            px, py = self.place(x, y)
            self.parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}" '
                              f'fill-opacity=".6"><title>{html.escape(text)}</title></circle>')

    def line(self, points: Sequence[Point], colour: str, dashed: bool = False) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.place(*p) for p in points))
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}"{dash}/>')

    def text(self) -> str:
        """The drawing."""
        return "\n".join([*self.parts, "</svg>"])


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An HTML table."""
    def cells(tag: str, values: Sequence[object]) -> str:
        return "".join(
            f"<{tag}{'' if isinstance(v, (int, float)) else ' class=text'}>"
            f"{html.escape(f'{v:.4g}' if isinstance(v, float) else str(v))}</{tag}>"
            for v in values)
    lines = [f"<tr>{cells('th', head)}</tr>", *(f"<tr>{cells('td', row)}</tr>" for row in rows)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def progress_chart(samples: Sequence[Entry], label: str) -> str:
    """Times in the order of the samples, and the best so far."""
    points, line, best = [], [], math.inf
    for number, entry in enumerate(samples, 1):
        time = judged(entry)
        if time is not None and time > 0:
            points.append((float(number), time, f"{entry['name']}: {time:g} ms"))
            best = min(best, time)
        if best < math.inf:
            line.append((float(number), best))
    if not points:
        return ""
    chart = Chart("Best so far", "sample", f"{label} ms", [p[1] for p in points],
                  [p[0] for p in line], False)
    chart.dots(points, "#1b6ca8")
    chart.line(line, "#c0392b")
    return chart.text()


def scatter_chart(samples: Sequence[Entry]) -> str:
    """Predicted against measured times."""
    points = [(e["predicted_ms"], e["measured_ms"], e["name"]) for e in samples
              if e["status"] == "ok" and e["measured_ms"] and e["predicted_ms"] > 0]
    if not points:
        return ""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    chart = Chart("Predicted and measured", "predicted ms", "measured ms", ys, xs, True)
    low, high = max(min(xs), min(ys)), min(max(xs), max(ys))
    if low < high:
        chart.line([(low, low), (high, high)], "#999", dashed=True)
    chart.dots(points, "#1e8449")
    return chart.text()


def html_report(entries: List[Entry], top: int = 10) -> str:
    """The page."""
    by_number = {(e["batch"], e["sample"]): e for e in entries if e["event"] == "sample"}
    samples = list(by_number.values())
    if not samples:
        return ("<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>Autotuning</title>"
                "</head><body><p>No sample has been tried yet.</p></body></html>\n")
    identity = samples[0]["identity"]
    title = f"Autotuning of {identity['pipeline']}"
    usable = sorted((e for e in samples if judged(e) is not None), key=judged)
    states = Counter(e["status"] for e in samples)
    failures = Counter((e["stage"], e["reason"][:160]) for e in samples
                       if e["status"] == "failed")
    trained = [e for e in entries if e["event"] == "train"]
    parts = [
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        table(["", ""], [[key, str(value)] for key, value in sorted(identity.items())]),
        f"<p>{len(samples)} samples: {states['ok']} usable, {states['failed']} failed, "
        f"{states['duplicate']} like an earlier one.</p>",
        progress_chart(samples, identity["label"]), scatter_chart(samples),
        f"<h2>The best {min(top, len(usable))}</h2>",
        table(["name", "kind", "measured ms", "predicted ms", "seed"],
              [[e["name"], e["kind"], e["measured_ms"] or "", e["predicted_ms"], e["seed"]]
               for e in usable[:top]]),
    ]
    if trained:
        parts += ["<h2>Training</h2>",
                  table(["batch", "samples", "pairs in order before", "after", "taken over"],
                        [[e["batch"], e["samples"], e["before"].get("ordered_pairs", ""),
                          e["after"].get("ordered_pairs", ""), "yes" if e["accepted"] else "no"]
                         for e in trained])]
    if failures:
        parts += ["<h2>Failures</h2>",
                  table(["number", "step", "reason"],
                        [[count, *what] for what, count in failures.most_common(20)])]
    return "\n".join([*parts, "</body></html>", ""])
