"""Pipelines whose Funcs, updates and outputs are linked in unusual ways."""

import halide as hl

from corpus import (F32, I32, I64, U8, Case, domain, estimated, func, image, mix, noise, param,
                    register, w, x, y, z)

from value_types import NO_INT64

pipeline, family = register("structure")


def plain(f, *extents, **more) -> Case:
    """Runs at the estimated size if that is small, and at two others."""
    small = {1: [(77,), (1,)], 2: [(61, 33), (1, 2)], 3: [(21, 9, 3), (1, 2, 1)]}[len(extents)]
    return Case([estimated(f, *extents)], small, **more)


# Several outputs.

@pipeline
def outputs_histogram_and_its_source():
    f, h = noise("f", x, y), hl.Func("h")
    r = domain((0, 40), (0, 30))
    h[x] = 0
    h[hl.clamp(f[r.x, r.y], 0, 255)] += 1
    return Case([estimated(f, 40, 30), estimated(h, 256)], [((40, 30), (256,)), ((50, 31), (256,))])


@pipeline
def outputs_softmax_with_all_stages():
    im = image(F32, "im", 100, 32)
    r = domain((0, 100))
    top, e, s, o = (hl.Func(name) for name in ("top", "e", "s", "o"))
    top[y] = im[0, y]
    top[y] = hl.max(top[y], im[r, y])
    e[x, y] = hl.exp(im[x, y] - top[y])
    s[y] = 0.0
    s[y] += e[r, y]
    o[x, y] = e[x, y] / s[y]
    outputs = [estimated(top, 32), estimated(e, 100, 32), estimated(s, 32), estimated(o, 100, 32)]
    return Case(outputs, [((32,), (100, 32), (32,), (100, 32)), ((5,), (100, 5), (5,), (100, 5))],
                images=[im], below=9)


@pipeline
def outputs_of_different_sizes():
    f = noise("f", x, y)
    a = func("a", (x, y), f[x, y] + f[x + 1, y])
    b = func("b", (x, y), f[2 * x, 2 * y] * 3)
    return Case([estimated(a, 300, 200), estimated(b, 10, 400)],
                [((60, 30), (5, 50)), ((1, 1), (30, 2))])


@pipeline
def outputs_read_with_a_stencil():
    a = noise("a", x, y)
    b = func("b", (x, y), a[x, y] + a[x + 1, y + 1])
    d = func("d", (x, y), b[x, y] - b[x, y + 2])
    return Case([estimated(a, 200, 150), estimated(b, 199, 149), estimated(d, 199, 147)],
                [((50, 40), (49, 38), (48, 36)), ((9, 9), (7, 7), (5, 5))])


@pipeline
def outputs_of_different_dims():
    f = noise("f", x, y)
    rows, s = hl.Func("rows"), hl.Func("s")
    r, q = domain((0, 50)), domain((0, 20), name="q")
    rows[y] = 0
    rows[y] += f[r, y]
    s[()] = 0
    s[()] += rows[q]
    return Case([estimated(f, 50, 20), estimated(rows, 20), estimated(s)],
                [((50, 20), (20,), ())])


@pipeline
def outputs_alike():
    f = noise("f", x, y)
    outputs = [estimated(func(f"o{k}", (x, y), f[x + k, y] * k), 200, 100) for k in range(5)]
    return Case(outputs, [(61, 33), (1, 2)])


@pipeline
def output_that_a_scan_continues():
    r = domain((1, 49))
    a, b = noise("a", x, y), hl.Func("b")
    b[x, y] = a[x, y]
    b[x, r] += b[x, r - 1]
    o = func("o", (x, y), b[x, y] * 2)
    return Case([estimated(b, 200, 50), estimated(o, 200, 50)], [(31, 50), (1, 50)])


# Updates.

@pipeline
def update_of_one_point():
    f = noise("f", x, y)
    f[5, 7] = 2
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    return plain(g, 200, 100)


@pipeline
def update_of_one_point_of_an_output():
    f = noise("f", x, y)
    f[5, 7] = 2
    return Case([estimated(f, 200, 100)], [(61, 33), (6, 8)])


@pipeline
def update_of_a_row_and_a_column():
    f = noise("f", x, y)
    f[x, 3] = f[x, 4] + 1
    f[2, y] = f[1, y] * 2
    g = func("g", (x, y), f[x, y] * 2 + f[x, y + 1])
    return plain(g, 200, 100)


@pipeline
def updates_by_the_dozen():
    f = noise("f", x, y)
    for k in range(30):
        f[x, y] = (f[x, y] * 3 + k) & 1023
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    return plain(g, 200, 100)


@pipeline
def updates_of_many_points():
    f = noise("f", x)
    for k in range(24):
        f[k] = f[k + 1] + k
    return plain(func("g", (x,), f[x] + f[x + 1]), 200)


@pipeline
def updates_with_different_loops():
    f = noise("f", x, y)
    r, q = domain((0, 4)), domain((0, 9), (0, 3), name="q")
    f[x, y] += r
    f[q.x, y] += q.y
    f[x, q.x] = f[x, q.x] * 2 - q.y
    return plain(func("g", (x, y), f[x, y] - f[x + 1, y]), 200, 100)


def scan(axis: int, backward: bool, non_linear: bool) -> Case:
    count = 60
    r = domain((1, count - 1))
    f = noise("f", x, y)
    here, before = (count - 1 - r, count - r) if backward else (r, r - 1)
    at = lambda place: (place, y) if axis == 0 else (x, place)
    value = f[at(before)] + f[at(here)]
    f[at(here)] = (value * 3) & 1023 if non_linear else value
    g = func("g", (x, y), f[x, y] * 2 + 1)
    extents = (count, 200) if axis == 0 else (200, count)
    return Case([estimated(g, *extents)], [(count, 33) if axis == 0 else (33, count)])


family("scan", scan, {
    "along_x": (0, False, False), "along_y": (1, False, False), "backward": (1, True, False),
    "backward_along_x": (0, True, True), "non_linear": (1, False, True),
})


@pipeline
def scan_of_two_terms():
    f = noise("f", x, y)
    r = domain((2, 48))
    f[r, y] = (f[r - 1, y] + f[r - 2, y]) & 255
    return Case([estimated(f, 50, 100)], [(50, 31), (50, 1)])


@pipeline
def scan_of_a_vector():
    """Nothing at all can be done at the same time."""
    f = noise("f", x)
    r = domain((1, 299))
    f[r.x] += f[r.x - 1]
    return Case([estimated(func("g", (x,), f[x] * 2), 300)], [(300,), (33,)])


@pipeline
def integral_image():
    f = noise("f", x, y)
    r = domain((1, 39))
    f[r, y] += f[r - 1, y]
    f[x, r] += f[x, r - 1]
    clamped = lambda a: hl.clamp(a, 0, 39)
    g = func("g", (x, y), f[clamped(x + 4), clamped(y + 4)] - f[clamped(x - 4), clamped(y - 4)])
    return Case([estimated(g, 40, 40)], [(40, 40), (7, 3)])


@pipeline
def integral_image_in_one_update():
    f = noise("f", x, y)
    r = domain((1, 29), (1, 19))
    f[r.x, r.y] += f[r.x - 1, r.y] + f[r.x, r.y - 1] - f[r.x - 1, r.y - 1]
    return Case([estimated(f, 30, 20)], [(30, 20), (30, 20)])


@pipeline
def scatter_to_clamped_places():
    f, g = hl.Func("f"), noise("g", x)
    r = domain((0, 300))
    f[x] = 0
    f[hl.clamp(r - 7, 0, 255)] = r * 3 + g[r]
    return plain(func("o", (x,), f[x] * 2), 200)


@pipeline
def scatter_by_data():
    f, g = hl.Func("f"), noise("g", x)
    r = domain((0, 300))
    f[x] = 0
    f[hl.clamp(g[r], 0, 255)] = r * 3
    return plain(func("o", (x,), f[x] * 2), 200)


@pipeline
def scatter_in_rows():
    f, g = hl.Func("f"), noise("g", x, y)
    r = domain((0, 50))
    f[x, y] = 0
    f[hl.clamp(g[r, y], 0, 63), y] += r
    return Case([estimated(f, 64, 200)], [(64, 33), (64, 1)])


@pipeline
def scatter_transposed():
    f, g = hl.Func("f"), noise("g", x, y)
    r = domain((0, 40), (0, 30))
    f[x, y] = -1
    f[r.y, r.x] = g[r.x, r.y]
    return Case([estimated(f, 30, 40)], [(30, 40), (33, 45)])


@pipeline
def where_in_a_circle():
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((-4, 9), (-4, 9))
    r.where(r.x * r.x + r.y * r.y < 17)
    g[x, y] = 0
    g[x, y] += f[x + r.x, y + r.y]
    return plain(g, 200, 100)


@pipeline
def where_in_a_triangle():
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 40), (0, 40))
    r.where(r.x < r.y)
    g[x] = 0
    g[x] += f[r.x, r.y] * x
    return plain(g, 200)


@pipeline
def where_data_says_so():
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 20))
    r.where(f[r, 3] > 300)
    g[x, y] = 0
    g[x, y] += f[x, y] + r
    return plain(g, 200, 100)


@pipeline
def where_a_parameter_says_so():
    p = param(I32, "p", 5)
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 20))
    r.where(r < p)
    g[x, y] = 0
    g[x, y] += f[x + r, y]
    return plain(g, 200, 100, params=[(p, 9)])


@pipeline
def where_never():
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 20))
    r.where(r > 99)
    g[x, y] = 7
    g[x, y] += f[x + r, y]
    return plain(g, 200, 100)


# Tuples.

@pipeline
def tuple_of_two_types():
    f = func("f", (x, y), (mix(x, y), hl.cast(U8, mix(y, x))))
    g = func("g", (x, y), f[x, y][0] + hl.cast(I32, f[x + 1, y][1]))
    return plain(g, 200, 100)


@pipeline
def tuple_as_output():
    f = noise("f", x, y)
    g = func("g", (x, y), (f[x, y] + 1, hl.cast(I64, f[x + 1, y]) * 100000, hl.cast(U8, x)))
    return plain(g, 200, 100, unsupported=NO_INT64)


@pipeline
def tuple_swapped_by_updates():
    f = func("f", (x, y), (mix(x, y), mix(y, x)))
    r = domain((0, 3))
    f[x, y] = (f[x, y][1] + r, f[x, y][0] * 2)
    return plain(func("g", (x, y), f[x, y][0] - f[x + 1, y][1]), 200, 100)


@pipeline
def tuple_of_minimum_and_its_place():
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 30))
    g[y] = (100000, 0)
    better = f[r, y] < g[y][0]
    g[y] = (hl.select(better, f[r, y], g[y][0]), hl.select(better, r, g[y][1]))
    return plain(func("o", (y,), g[y][0] * 100 + g[y][1]), 300)


@pipeline
def tuple_histogram():
    f, g = noise("f", x), hl.Func("g")
    r = domain((0, 200))
    g[x] = (0, 0)
    at = f[r] % 64
    g[at] = (g[at][0] + 1, g[at][1] + r)
    return plain(func("o", (x,), g[x][0] * 1000 + g[x][1]), 64)


@pipeline
def tuple_from_argmax():
    f = noise("f", x, y)
    r = domain((0, 7), (0, 5))
    best = func("best", (x, y), hl.argmax(f[x + r.x, y + r.y]))
    return plain(func("o", (x, y), best[x, y][0] * 7 + best[x, y][1]), 200, 100)


@pipeline
def names_of_splits_and_keywords():
    xi, x_, keyword = (hl.Var(name) for name in ("xi", "x", "template"))
    f = func("class", (xi, x_, keyword), mix(xi, x_, keyword))
    g = func("pipeline", (xi, x_, keyword), f[xi, x_, keyword] + f[xi, x_ + 1, keyword])
    return plain(g, 64, 48, 6)


@pipeline
def names_alike():
    """Funcs and variables of one name."""
    f = func("x", (x, y), mix(x, y))
    g = func("x", (x, y), f[x, y] + f[x + 1, y])
    return plain(func("x", (x, y), g[x, y] + g[x, y + 1]), 200, 100)


@pipeline
def mixture_of_dims():
    """1-D, 2-D, 3-D and 4-D Funcs read each other."""
    a = noise("a", x)
    b = func("b", (x, y), a[x] + a[y])
    d = func("d", (x, y, z), b[x, y] * a[z])
    e = func("e", (x, y, z, w), d[x, y, z] + b[z, w])
    o = func("o", (x, y), e[x, y, 3, 2] + e[y, x, x, y])
    return plain(o, 60, 50)
