"""Small pipelines with everything unusual that a scheduler has to cope with.

usage: odd_pipelines.py PLUGIN NAME

Autoschedules the pipeline for OpenCL with several options, runs it at several sizes, and compares
with the unscheduled one on the CPU. All arithmetic is on integers, so results must be equal.
"""

import sys
from dataclasses import dataclass, field
from typing import Callable, Sequence

import halide as hl
import numpy as np

TARGET = "host-opencl"

# The best schedule, and random ones with and without inlining.
OPTIONS = (
    {},
    {"beam_size": 1, "random_dropout": 1, "random_dropout_seed": 1},
    {"beam_size": 1, "random_dropout": 1, "random_dropout_seed": 2, "search_space_options": "1101"},
    {"beam_size": 1, "random_dropout": 1, "random_dropout_seed": 3, "search_space_options": "1001"},
)


@dataclass
class Case:
    """One instance of a pipeline, with all estimates set."""

    outputs: Sequence[hl.Func]
    sizes: Sequence[Sequence[int]]
    # Values at run time; the estimates are other ones.
    params: Sequence[tuple[hl.Param, int]] = field(default_factory=tuple)


def variables(*names: str):
    return [hl.Var(name) for name in names]


def estimated(func: hl.Func, *extents: int) -> hl.Func:
    func.set_estimates([hl.Range(0, extent) for extent in extents])
    return func


def source(x, y):
    return (x * 7 + y * 13) & 255


def offset_parameter() -> Case:
    """Reads at a distance that only a parameter tells."""
    x, y = variables("x", "y")
    distance = hl.Param(hl.Int(32), "distance", 2)
    distance.set_estimate(2)
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = source(x, y)
    g[x, y] = f[x, y] + f[x, y + distance]
    return Case([estimated(g, 200, 100)], [(200, 100), (61, 5)], [(distance, 9)])


def reduction_of_parameter_extent() -> Case:
    """A reduction that is neither associative nor, by its estimate, longer than one step."""
    x, y = variables("x", "y")
    steps = hl.Param(hl.Int(32), "steps", 1)
    steps.set_estimate(1)
    r = hl.RDom([(0, steps), (0, 3)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = source(x, y)
    f[x, y] = f[x, y] * 3 - r.x * 5 + r.y
    g[x, y] = f[x, y] + f[x + 1, y]
    return Case([estimated(g, 200, 100)], [(200, 100), (33, 7)], [(steps, 4)])


def reduction_of_extent_one() -> Case:
    x, y = variables("x", "y")
    r = hl.RDom([(0, 1), (0, 5)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = 0
    f[x, y] = f[x, y] * 2 + source(x + r.x, y + r.y)
    g[x, y] = f[x, y] - f[x, y + 1]
    return Case([estimated(g, 200, 100)], [(200, 100), (1, 1)])


def names_of_splits() -> Case:
    """Variables called as those that splits create, and as C++ keywords."""
    xi, x, template = variables("xi", "x", "template")
    f, g = hl.Func("pipeline"), hl.Func("target")
    f[xi, x, template] = source(xi, x) + template
    g[xi, x, template] = f[xi, x, template] + f[xi, x + 1, template] + f[xi + 1, x, template]
    return Case([estimated(g, 64, 48, 6)], [(64, 48, 6), (5, 3, 2)])


def reordered_stage() -> Case:
    """The user has changed the order of loops, which is no schedule yet."""
    x, y = variables("x", "y")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = source(x, y)
    f.reorder(y, x)
    g[x, y] = f[x, y] + f[x + 2, y] + f[x, y + 1]
    g.reorder(y, x)
    return Case([estimated(g, 200, 100)], [(200, 100), (61, 47)])


def five_dimensions() -> Case:
    a, b, c, d, e = variables("a", "b", "c", "d", "e")
    f, g = hl.Func("f"), hl.Func("g")
    f[a, b, c, d, e] = source(a, b) + c * d - e
    g[a, b, c, d, e] = f[a, b, c, d, e] + f[a + 1, b, c, d + 1, e]
    return Case([estimated(g, 20, 12, 6, 5, 4)], [(20, 12, 6, 5, 4), (3, 2, 1, 1, 2)])


def scalars() -> Case:
    """A producer and an output without dimensions."""
    x = hl.Var("x")
    r = hl.RDom([(0, 100)], "r")
    scale, total, f = hl.Func("scale"), hl.Func("total"), hl.Func("f")
    scale[()] = 3
    f[x] = x * scale[()]
    total[()] = 0
    total[()] += f[r]
    total.set_estimates([])
    return Case([total], [()])


def tuples() -> Case:
    x, y = variables("x", "y")
    r = hl.RDom([(0, 4)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = (source(x, y), x - y)
    f[x, y] = (f[x, y][0] + r, f[x, y][1] * 2)
    g[x, y] = f[x, y][0] + f[x + 1, y][1]
    return Case([estimated(g, 120, 80)], [(120, 80), (17, 3)])


def two_outputs() -> Case:
    x, y = variables("x", "y")
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = source(x, y)
    g[x, y] = f[x - 1, y] + f[x + 1, y]
    h[x, y] = g[x, y] * f[x, y]
    return Case([estimated(g, 150, 90), estimated(h, 150, 90)], [(150, 90), (40, 41)])


def scan() -> Case:
    """Running sums along columns, then across."""
    x, y = variables("x", "y")
    r = hl.RDom([(1, 63)], "r")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = source(x, y)
    f[x, r] = f[x, r - 1] + f[x, r]
    g[x, y] = f[x, y] + f[x + 1, hl.clamp(y - 1, 0, 63)]
    return Case([estimated(g, 200, 64)], [(200, 64), (9, 64)])


def histogram() -> Case:
    """Scatters to positions that depend on data, gathers from them."""
    x, y, bucket = variables("x", "y", "bucket")
    r = hl.RDom([(0, 64), (0, 32)], "r")
    counts, f = hl.Func("counts"), hl.Func("f")
    counts[bucket] = 0
    counts[hl.clamp(source(r.x, r.y), 0, 255)] += 1
    f[x, y] = counts[hl.clamp(source(x, y), 0, 255)] + counts[y & 255]
    return Case([estimated(f, 100, 60)], [(100, 60), (7, 3)])


def wide_grid() -> Case:
    """More blocks along y than a grid takes."""
    x, y = variables("x", "y")
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = source(x, y)
    g[x, y] = f[x, y] + f[x, y + 1]
    return Case([estimated(g, 16, 3000000)], [(16, 5000), (3, 2)])


CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make
    for make in (
        offset_parameter,
        reduction_of_parameter_extent,
        reduction_of_extent_one,
        names_of_splits,
        reordered_stage,
        five_dimensions,
        scalars,
        tuples,
        two_outputs,
        scan,
        histogram,
        wide_grid,
    )
}


def results_of(case: Case, size: Sequence[int], target: str) -> list[np.ndarray]:
    for param, value in case.params:
        param.set(value)
    made = hl.Pipeline(list(case.outputs)).realize(list(size), hl.Target(target))
    buffers = made if isinstance(made, (list, tuple)) else [made]
    for buffer in buffers:
        buffer.copy_to_host()
    return [np.array(buffer) for buffer in buffers]


def main() -> None:
    plugin, name = sys.argv[1:]
    hl.load_plugin(plugin)
    for options in OPTIONS:
        case = CASES[name]()
        pipeline = hl.Pipeline(list(case.outputs))
        params = hl.AutoschedulerParams("Anderson2021", {"parallelism": 80, **options})
        results = pipeline.apply_autoscheduler(hl.Target(TARGET), params)
        print(options, results.schedule_source, flush=True)
        for size in case.sizes:
            have = results_of(case, size, TARGET)
            want = results_of(CASES[name](), size, "host")
            for have_one, want_one in zip(have, want, strict=True):
                np.testing.assert_array_equal(have_one, want_one, err_msg=f"{options} {size}")
    print("all right")


if __name__ == "__main__":
    main()
