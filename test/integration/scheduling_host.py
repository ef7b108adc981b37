"""A Python program that schedules one pipeline and writes what came of it.

usage: scheduling_host.py PLUGIN TARGET OUT [option=value ...]

OUT.schedule.h and OUT.stmt hold the schedule and the lowered pipeline; --progress=WHAT sets a
progress callback through ctypes, see below.
"""

import sys
from pathlib import Path

import halide as hl


def make_pipeline():
    """Stencils with pointwise stages between them; nothing to be gained by splitting reductions."""
    x, y = hl.Var("x"), hl.Var("y")
    source, squares, rows = hl.Func("source"), hl.Func("squares"), hl.Func("rows")
    blur, sharp = hl.Func("blur"), hl.Func("sharp")
    source[x, y] = hl.f32(x * 3 + y * y)
    squares[x, y] = source[x, y] * source[x, y]
    rows[x, y] = squares[x - 1, y] + squares[x, y] + squares[x + 1, y]
    blur[x, y] = rows[x, y - 1] + rows[x, y] + rows[x, y + 1]
    sharp[x, y] = 2 * source[x, y] - hl.sqrt(blur[x, y] / 9)
    sharp.set_estimates([hl.Range(0, 1536), hl.Range(0, 1024)])
    return hl.Pipeline(sharp)


def main():
    plugin, target, out = sys.argv[1:4]
    options = dict(word.split("=", 1) for word in sys.argv[4:])
    hl.load_plugin(plugin)
    pipeline = make_pipeline()
    params = hl.AutoschedulerParams("Anderson2021", {"parallelism": "80", **options})
    results = pipeline.apply_autoscheduler(hl.Target(target), params)
    Path(f"{out}.schedule.h").write_text(results.schedule_source)
    pipeline.compile_to_lowered_stmt(f"{out}.stmt", [], hl.StmtOutputFormat.Text, hl.Target(target))
    print("all right")


if __name__ == "__main__":
    main()
