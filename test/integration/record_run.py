"""Autoschedules a small pipeline and records the run.

usage: record_run.py PLUGIN RECORD PIPELINE [OPTION=VALUE ...]
"""

import sys

import halide as hl


def blur():
    """Five Funcs, one of them with an update."""
    x, y = hl.Var("x"), hl.Var("y")
    source, rows, sums = hl.Func("source"), hl.Func("rows"), hl.Func("sums")
    scaled, out = hl.Func("scaled"), hl.Func("out")
    window = hl.RDom([(0, 5)], "window")
    source[x, y] = hl.sqrt(hl.f32(x * 3 + y * y))
    rows[x, y] = source[x - 1, y] + source[x, y] + source[x + 1, y]
    sums[x, y] = 0.0
    sums[x, y] += rows[x, y + window]
    scaled[x, y] = sums[x, y] / 15
    out[x, y] = scaled[x, y] + scaled[x + 1, y]
    out.set_estimates([hl.Range(0, 640), hl.Range(0, 480)])
    return out


def other():
    """Nothing in common with the first."""
    x = hl.Var("x")
    ramp = hl.Func("ramp")
    ramp[x] = x * 2
    ramp.set_estimates([hl.Range(0, 4096)])
    return ramp


def main():
    plugin, record, name, *options = sys.argv[1:]
    hl.load_plugin(plugin)
    settings = dict(option.split("=", 1) for option in options)
    params = hl.AutoschedulerParams("Anderson2021", {"record_path": record, "threads": "1",
                                                     "beam_size": "4", **settings})
    pipeline = hl.Pipeline({"blur": blur, "other": other}[name]())
    pipeline.apply_autoscheduler(hl.Target("host-cuda-cuda_capability_70"), params)


if __name__ == "__main__":
    main()
