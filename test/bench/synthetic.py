"""Synthetic pipelines of any length, for measuring how the time of a search grows.

chain_<n>     n Funcs, 3x3 stencils and pointwise Funcs in turn, 2048 x 2048
pyramid_<n>   n Funcs: levels that are halved and combined again, on an image of 2048 x 2048
maxpool_<n>   n Funcs: running maxima of a window and where they were found, two outputs
ladder_<n>    n pointwise Funcs, each reading the two before it
"""

import halide as hl

x, y = hl.Var("x"), hl.Var("y")


def make(name):
    """Outputs of the pipeline, with estimates; KeyError if there is none of the name."""
    family, _, size = name.rpartition("_")
    if family not in FAMILIES or not size.isdigit():
        raise KeyError(f"there is no pipeline {name}")
    result = FAMILIES[family](int(size))
    outputs = result if isinstance(result, list) else [result]
    for output in outputs:
        output.set_estimates([hl.Range(0, 2048), hl.Range(0, 2048)])
    return outputs


def _func(name, value):
    f = hl.Func(name)
    f[x, y] = value
    return f


def _input():
    image = hl.ImageParam(hl.Float(32), 2, "input")
    image.set_estimates([hl.Range(0, 4096), hl.Range(0, 4096)])
    return image


def _chain(length):
    f = _input()
    for k in range(length):
        if k % 2:
            taps = [f[x + i, y + j] for i in range(3) for j in range(3)]
            f = _func(f"f{k}", sum(taps[1:], taps[0]) / 9.0)
        else:
            f = _func(f"f{k}", f[x, y] * 1.5 + 0.5)
    return f


def _pyramid(length):
    # Every level is one Func down and one up; more levels than an image has go into further
    # pyramids on top of the first.
    max_levels, f, k = 8, hl.BoundaryConditions.repeat_edge(_input()), 0
    while k < length:
        levels = [f]
        for _ in range(max(1, min(max_levels, (length - k) // 2))):
            g = levels[-1]
            levels.append(_func(f"f{k}", (g[2 * x, 2 * y] + g[2 * x + 1, 2 * y] +
                                          g[2 * x, 2 * y + 1] + g[2 * x + 1, 2 * y + 1]) * 0.25))
            k += 1
        f = levels.pop()
        while levels and k < length:
            f = _func(f"f{k}", f[x // 2, y // 2] * 0.5 + levels.pop()[x, y])
            k += 1
    return f


def _maxpool(length):
    image = _input()
    largest = _func("largest0", image[2 * x, 2 * y])
    index = _func("index0", hl.i32(0))
    side = 3
    for k in range(1, length // 2):
        tap = image[2 * x + k % side, 2 * y + k // side]
        index, largest = (
            _func(f"index{k}", hl.select(tap > largest[x, y], hl.i32(k), index[x, y])),
            _func(f"largest{k}", hl.max(largest[x, y], tap)))
    return [largest, index]


def _ladder(length):
    image = _input()
    a, b = _func("f0", image[x, y] + 1.0), _func("f1", image[x, y] * 2.0)
    for k in range(2, length):
        a, b = b, _func(f"f{k}", a[x, y] + b[x, y])
    return b


FAMILIES = {"chain": _chain, "pyramid": _pyramid, "maxpool": _maxpool, "ladder": _ladder}
