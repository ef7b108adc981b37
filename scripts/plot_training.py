#!/usr/bin/env python3
"""Draws the course of training runs as SVG: loss (logarithmic) and ordering rate per epoch.

  plot_training.py RUN.jsonl [RUN.jsonl ...] OUT.svg

The inputs are the logs that retrain_cost_model writes with --log.
"""

import html
import json
import math
import pathlib
import sys

WIDTH, HEIGHT, MARGIN = 560, 320, 50
COLOURS = ("#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65")


def read_log(path):
    """The epochs of a log; a ValueError names what cannot be read."""
    epochs = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        try:
            epochs.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: {error}") from error
    if not epochs:
        raise ValueError(f"{path} is empty")
    return epochs


def chart(title, left, curves, logarithmic):
    """One diagram; curves are (label, colour, dashed, [(x, y)])."""
    points = [(x, y) for _, _, _, curve in curves for x, y in curve]
    if not points:
        return ""
    scale = math.log10 if logarithmic else lambda value: value
    low, high = min(scale(y) for _, y in points), max(scale(y) for _, y in points)
    high = high if high > low else low + 1
    last = max(x for x, _ in points)

    def place(x, y):
        return (left + MARGIN + x / last * (WIDTH - 2 * MARGIN),
                HEIGHT - MARGIN - (scale(y) - low) / (high - low) * (HEIGHT - 2 * MARGIN))

    parts = [f'<text x="{left + WIDTH / 2}" y="24" text-anchor="middle">{title}</text>',
             f'<rect x="{left + MARGIN}" y="{MARGIN}" width="{WIDTH - 2 * MARGIN}" '
             f'height="{HEIGHT - 2 * MARGIN}" fill="none" stroke="#999"/>']
    for step in range(5):
        value = low + (high - low) * step / 4
        label = f"{10 ** value if logarithmic else value:.3g}"
        y = HEIGHT - MARGIN - step / 4 * (HEIGHT - 2 * MARGIN)
        parts.append(f'<text x="{left + MARGIN - 6}" y="{y + 4}" text-anchor="end" '
                     f'font-size="11">{label}</text>')
    parts.append(f'<text x="{left + WIDTH - MARGIN}" y="{HEIGHT - MARGIN + 18}" '
                 f'text-anchor="end" font-size="11">epoch {last:g}</text>')
    for label, colour, dashed, curve in curves:
        if curve:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
            dash = ' stroke-dasharray="5 3"' if dashed else ""
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}"{dash}>'
                         f"<title>{html.escape(label)}</title></polyline>")
    return "\n".join(parts)


def draw(runs):
    """SVG text for [(name, epochs)]."""
    losses, rates, legend = [], [], []
    for index, (name, epochs) in enumerate(runs):
        colour = COLOURS[index % len(COLOURS)]
        for key, charts, dashed in (("loss", losses, False), ("validation_loss", losses, True),
                                    ("rate", rates, False), ("validation_rate", rates, True)):
            curve = [(i, e[key]) for i, e in enumerate(epochs, 1)
                     if e.get(key) is not None and (charts is rates or e[key] > 0)]
            charts.append((f"{name}: {key}", colour, dashed, curve))
        legend.append(f'<text x="{MARGIN + 180 * (index % 6)}" '
                      f'y="{HEIGHT + 14 + 16 * (index // 6)}" font-size="12" fill="{colour}">'
                      f"{html.escape(name)}</text>")
    height = HEIGHT + 24 + 16 * ((len(runs) + 5) // 6)
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" '
                      f'height="{height}" font-family="sans-serif" font-size="14">',
                      chart("Loss (dashed: held out)", 0, losses, True),
                      chart("Pairs in the right order (dashed: held out)", WIDTH, rates, False),
                      *legend, "</svg>", ""])


def main(arguments):
    """Exit status 0, or 1 with a message."""
    if len(arguments) < 2 or not arguments[-1].endswith(".svg"):
        print(__doc__.strip(), file=sys.stderr)
        return 1
    try:
        runs = [(pathlib.Path(path).stem, read_log(path)) for path in arguments[:-1]]
        pathlib.Path(arguments[-1]).write_text(draw(runs))
    except (OSError, ValueError) as error:
        print(f"plot_training: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
