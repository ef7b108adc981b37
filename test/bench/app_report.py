"""Table, chart and section of docs/benchmarks.md from what bench_apps.py found."""

import math
from pathlib import Path
from typing import Mapping, Optional, Sequence

BEGIN, END = "<!-- applications: written by make bench-apps -->\n", "<!-- end of applications -->\n"
COLORS = ("#7f7f7f", "#35608d", "#22a884", "#fde725", "#d95f02", "#7570b3", "#e7298a")

STATIC_COLUMNS = ("app", "variant", "predicted ms", "launches", "occupancy: mean, lowest", "limiter",
                  "registers", "spilled bytes", "shared bytes", "MB loaded", "MB stored")
TIME_COLUMNS = ("app", "variant", "ms", "times as fast as hand-written", "rounds")

STATIC_TEXT = """\
**None of these figures is a time measured on a GPU**: there was none on the machine. They were
computed, for compute capability 7.0:

* *predicted ms*: what the cost model says, with the built-in weights, whose knowledge of a V100 is
  at second hand (weights/README.md): good for comparing schedules in the eyes of that model.
  The reference's schedule tree is judged by this plugin's evaluator, so that both are comparable.
* *launches*: kernels launched in one run. A + says that a loop of a length known at run time
  only repeats some.
* *occupancy*: resident warps by the warps that a multiprocessor can hold, from threads, registers
  and shared memory of each kernel (mean of the kernels, then the lowest with what limits it).
  A kernel of which not even one block fits has none, and cannot be launched. High occupancy is
  no aim in itself.
* *registers*, *spilled bytes*, *shared bytes*: the most of any kernel, from ptxas (at most 64
  registers, like Halide's runtime). *predicted*: the plugin says beforehand that a kernel may
  spill.
* *MB loaded*, *MB stored*: transactions of all blocks with global memory by the features of the
  schedule, 32 bytes each: an upper bound of the DRAM traffic, since caches are not modelled.
  Only this plugin has such features, so there are none for other ways to schedule.
"""
TIME_TEXT = """\
Times measured on {name} ({kind}), medians. Every variant runs in turn with the hand-written one in
the same process; the speed-up is the median of those pairs. Search and compilation are not included.
"""


def number(value: Optional[float], digits: int = 3) -> str:
    """A number with some digits, or a dash if it is not known."""
    if value is None:
        return "–"
    if value and (abs(value) >= 10**digits):
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def one_line(text: str) -> str:
    """As a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:160]


def geometric_mean(values: Sequence[float]) -> Optional[float]:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def static_row(app: str, label: str, entry: Mapping) -> list[str]:
    """One line about a variant that was not run."""
    if entry.get("error"):
        return [app, label, one_line(entry["error"])] + [""] * (len(STATIC_COLUMNS) - 3)
    kernels = entry["kernels"]
    known = [k for k in kernels if "occupancy" in k]
    lowest = min(known, key=lambda k: k["occupancy"], default=None)
    share = "–"
    if known:
        mean = sum(k["occupancy"] for k in known) / len(known)
        share = f"{mean:.0%}, {lowest['occupancy']:.0%}"
        if lowest["occupancy"] == 0:
            share += " (cannot be launched)"

    def most(name: str) -> str:
        return str(max((k[name] for k in kernels), default=0))

    spills = most("spill_bytes")
    if entry.get("spills_predicted"):
        spills += " (predicted)"
    traffic = [number(entry[n] / 1e6) if n in entry else "–"
               for n in ("loaded_bytes", "stored_bytes")]
    return [app, label, number(entry.get("cost_ms")),
            f"{entry['launches']}{'+' if entry['more_launches'] else ''}", share,
            lowest["limiter"] if known else "–", most("registers"), spills,
            most("shared_bytes"), *traffic]


def static_summary(apps: Mapping) -> list[str]:
    """Sentences over all applications."""
    ratios = []
    failures: dict[str, list[str]] = {}
    for app, variants in apps.items():
        for entry in variants.values():
            if entry.get("error"):
                kind = "not run" if entry["error"].startswith("not run") else "no schedule"
                failures.setdefault(f"{entry['label']}: {kind}", []).append(app)
        costs = [variants.get(name, {}).get("cost_ms") for name in ("reference", "ours")]
        if all(costs):
            ratios.append(costs[1] / costs[0])
    lines = []
    if ratios:
        lines.append(f"Predicted time of ours by the reference's: {number(geometric_mean(ratios))} "
                     f"(geometric mean of {len(ratios)} applications; worse on "
                     f"{sum(r > 1 + 1e-6 for r in ratios)}).")
    for what, names in failures.items():
        lines.append(f"{what} for {', '.join(names)}.")
    return lines


def time_row(app: str, entry: Mapping) -> list[str]:
    """One line about a measured variant."""
    if entry.get("error"):
        return [app, entry["label"], one_line(entry["error"]), "", ""]
    wrong = "" if entry.get("agrees") else " (WRONG RESULT)"
    return [app, entry["label"] + wrong, number(entry.get("ms")), number(entry.get("speed_up")),
            str(entry.get("rounds", 0))]


def time_summary(apps: Mapping) -> list[str]:
    """Geometric mean of the speed-ups over hand-written, per variant."""
    found: dict[str, list[float]] = {}
    for result in apps.values():
        for entry in result["variants"].values():
            if entry.get("agrees"):
                found.setdefault(entry["label"], []).append(entry["speed_up"])
    return [f"{label}: {number(geometric_mean(values))} times as fast as hand-written "
            f"(geometric mean of {len(values)})." for label, values in found.items()]


def markdown(results: Mapping) -> str:
    """The whole section without its heading."""
    parts = []
    if results.get("times"):
        times = results["times"]
        parts.append(TIME_TEXT.format(**times["device"]))
        parts.append("\n".join(f"* {line}" for line in time_summary(times["apps"])))
        parts.append(_table(TIME_COLUMNS, [time_row(app, entry)
                                           for app, result in times["apps"].items()
                                           for entry in result["variants"].values()]))
    if results.get("static"):
        parts.append(STATIC_TEXT)
        parts += ["\n".join(f"* {line}" for line in static_summary(results["static"]))]
        parts.append(_table(STATIC_COLUMNS, [static_row(app, entry["label"], entry)
                                             for app, variants in results["static"].items()
                                             for entry in variants.values()]))
    parts += [f"Sizes: {note}" for note in results.get("notes", [])]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def replace_section(path: Path, begin: str, end: str, section: str) -> None:
    """Replaces what stands between two markers of a document, or adds it at the end."""
    text = path.read_text() if path.exists() else "# Benchmarks\n"
    if begin in text:
        before, rest = text.split(begin, 1)
        text = before + begin + section + end + rest.split(end, 1)[1]
    else:
        text = text.rstrip("\n") + "\n\n" + begin + section + end
    path.write_text(text)


def write_docs(results: Mapping, path: Path) -> None:
    """Writes the section of the document."""
    replace_section(path, BEGIN, END, f"## Applications\n\n{markdown(results)}")


def write(results: Mapping, folder: Path) -> None:
    """Writes applications.md and applications.svg."""
    (folder / "applications.md").write_text(markdown(results))
    try:
        _chart(results, folder / "applications.svg")
    except ImportError as missing:
        print(f"no chart: {missing}")


def _bars(axis, apps: Sequence[str], series: Mapping[str, Mapping[str, float]]) -> None:
    """Groups of horizontal bars, one group per app."""
    height = 0.8 / max(len(series), 1)
    for i, (label, values) in enumerate(series.items()):
        places = [apps.index(app) + i * height for app in values]
        axis.barh(places, list(values.values()), height, label=label,
                  color=COLORS[i % len(COLORS)])
    axis.set_yticks([i + 0.4 - height / 2 for i in range(len(apps))], apps)
    axis.invert_yaxis()
    if series:
        axis.legend(fontsize=7)


def _chart(results: Mapping, path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "applications"
    panels = []
    if results.get("times"):
        speed: dict[str, dict[str, float]] = {}
        for app, result in results["times"]["apps"].items():
            for entry in result["variants"].values():
                if entry.get("agrees"):
                    speed.setdefault(entry["label"], {})[app] = entry["speed_up"]
        panels.append(("Times as fast as hand-written, measured", "log",
                       list(results["times"]["apps"]), speed))
    if results.get("static"):
        costs: dict[str, dict[str, float]] = {"ours / reference": {}}
        shares: dict[str, dict[str, float]] = {}
        for app, variants in results["static"].items():
            for entry in variants.values():
                known = [k["occupancy"] for k in entry.get("kernels", []) if "occupancy" in k]
                if known:
                    shares.setdefault(entry["label"], {})[app] = sum(known) / len(known)
            pair = [variants.get(name, {}).get("cost_ms") for name in ("ours", "reference")]
            if all(pair):
                costs["ours / reference"][app] = pair[0] / pair[1]
        apps = list(results["static"])
        panels.append(("Predicted time: ours / reference (not measured)", "linear", apps, costs))
        panels.append(("Theoretical occupancy, mean of kernels", "linear", apps, shares))
    size = max((len(panel[2]) for panel in panels), default=1)
    figure, axes = pyplot.subplots(1, max(len(panels), 1), squeeze=False,
                                   figsize=(6 * max(len(panels), 1), 1.5 + 0.55 * size))
    for axis, (title, scale, apps, series) in zip(axes[0], panels):
        _bars(axis, apps, series)
        axis.set_title(title, fontsize=9)
        if any(series.values()):
            axis.set_xscale(scale)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
