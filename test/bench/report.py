"""Tables and a chart of what bench.py measured."""

import math

COLUMNS = ("case", "wall s: reference", "ours, 1 thread", "more threads", "faster", "CPU", "MB: reference",
           "ours", "ms: reference", "ours", "ratio", "states: reference", "ours")


def geometric_mean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratios(case):
    """Reference / ours for wall (per number of threads) and CPU time; ours / reference for cost."""
    reference = case["reference"]
    result = {"wall": {}, "cpu": None, "cost": None}
    if reference.get("wall_s"):
        for threads, ours in case["ours"].items():
            if ours.get("wall_s"):
                result["wall"][threads] = reference["wall_s"] / ours["wall_s"]
        one = next(iter(case["ours"].values()))
        if one.get("cpu_s"):
            result["cpu"] = reference["cpu_s"] / one["cpu_s"]
    if reference.get("cost_ms") and case.get("cost_ms"):
        result["cost"] = case["cost_ms"] / reference["cost_ms"]
    return result


def _text(value, digits=3):
    return "–" if value is None else f"{value:.{digits}g}"


def header():
    return "| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS)


def row(case):
    """One line of the table."""
    ratio, reference = ratios(case), case["reference"]
    threads = list(case["ours"])
    first, last = case["ours"][threads[0]], case["ours"][threads[-1]]
    died = "limit" if "no result" in reference.get("error", "") else "died"
    cells = [case["case"],
             _text(reference.get("wall_s")) if "error" not in reference else died,
             _text(first.get("wall_s")), _text(last.get("wall_s")),
             _text(ratio["wall"].get(threads[0])), _text(ratio["cpu"]),
             _text(reference.get("peak_mb"), 4), _text(first.get("peak_mb"), 4),
             _text(reference.get("cost_ms"), 4), _text(case.get("cost_ms"), 4),
             _text(ratio["cost"]), str(reference.get("states", "–")), str(case.get("states"))]
    return "| " + " | ".join(cells) + " |"


def summary(cases):
    """The geometric means, by kind, as text."""
    lines = []
    for kind in sorted({case["kind"] for case in cases}):
        chosen = [case for case in cases if case["kind"] == kind]
        found = [ratios(case) for case in chosen]
        for threads in chosen[0]["ours"]:
            mean = geometric_mean([r["wall"].get(threads) for r in found])
            lines.append(f"{kind}: {_text(mean)} times as fast with {threads} thread(s)")
        costs = [r["cost"] for r in found if r["cost"]]
        lines.append(f"{kind}: predicted cost {_text(geometric_mean(costs))} of the reference's, "
                     f"worse on {sum(c > 1 + 1e-6 for c in costs)} of {len(costs)}")
        peak = max((run.get("peak_mb") or 0) for case in chosen for run in case["ours"].values())
        slowest = max((run.get("wall_s") or 0) for case in chosen for run in case["ours"].values())
        lines.append(f"{kind}: at most {peak:.0f} MB and {slowest:.2f} s")
    return "\n".join(lines)


def scaling_table(rows):
    """Seconds by number of Funcs, beam and threads, as Markdown."""
    lines = ["| by | pipeline | plugin | value | wall s | MB |", "|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r['by']} | {r['family']} | {r['plugin']} | {r['value']} | "
                     f"{_text(r.get('wall_s'))} | {_text(r.get('peak_mb'), 4)} |")
    return "\n".join(lines)


def write(results, folder):
    """Writes benchmarks.md and benchmarks.svg."""
    parts = [header() + "\n" + "\n".join(map(row, results["cases"])),
             "\n".join("* " + line for line in summary(results["cases"]).split("\n"))]
    if results["scaling"]:
        parts.append(scaling_table(results["scaling"]))
    (folder / "benchmarks.md").write_text("\n\n".join(parts) + "\n")
    _chart(results, folder / "benchmarks.svg")


def _chart(results, path):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "benchmarks"

    cases = [case for case in results["cases"] if ratios(case)["wall"]]
    rows = [r for r in results["scaling"] if r.get("wall_s") and r["by"] == "funcs"]
    figure, axes = pyplot.subplots(1, 3, figsize=(15, 2 + 0.22 * max(len(cases), 8)))
    names = [case["case"] for case in cases]
    speed = [next(iter(ratios(case)["wall"].values())) for case in cases]
    axes[0].barh(names, speed, color="#35608d")
    axes[0].set(xscale="log" if speed else "linear", title="Search time: reference / ours, 1 thread")
    costs = [(case["case"], ratios(case)["cost"]) for case in cases if ratios(case)["cost"]]
    axes[1].barh([c[0] for c in costs], [c[1] for c in costs], color="#2a788e")
    axes[1].axvline(1, color="black", linewidth=0.8)
    axes[1].set(title="Predicted cost: ours / reference")
    for family in dict.fromkeys(r["family"] for r in rows):
        for plugin, style in (("reference", "--"), ("ours", "-")):
            points = [r for r in rows if r["family"] == family and r["plugin"] == plugin]
            axes[2].plot([p["value"] for p in points], [p["wall_s"] for p in points], style,
                         marker="o", label=f"{family}, {plugin}")
    axes[2].set(xlabel="Funcs", ylabel="s", title="Search time against length")
    if rows:
        axes[2].set(xscale="log", yscale="log")
        axes[2].legend()
    for axis in axes[:2]:
        axis.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
