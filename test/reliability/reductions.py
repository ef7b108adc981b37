"""Reductions to few points, and others that must not end up in a single thread."""

import halide as hl

from corpus import (F32, F64, I32, I64, U8, U32, BOOL, Case, c, domain, estimated, func, image, mix,
                    noise, param, register, x, y, z)

from value_types import unsupported

pipeline, family = register("reductions")


def to_scalar(update, start, kind=I32, dims=1, count=100000) -> Case:
    """An image reduced to one number; at run time with few points."""
    p = param(I32, "count", count)
    im = image(kind, "im", *((count,) if dims == 1 else (count, 7)))
    r = hl.RDom([hl.Range(0, p)] + ([hl.Range(0, 7)] if dims == 2 else []), "r")
    s = hl.Func("s")
    s[()] = start
    s[()] = update(s[()], im[r.x] if dims == 1 else im[r.x, r.y], r)
    return Case([estimated(s)], [()], images=[im], params=[(p, 1003)],
                unsupported=unsupported(s.type()), fatal="vulkan" if s.type() == BOOL else "")


def cast(kind):
    return lambda value: hl.cast(kind, value)


family("scalar", to_scalar, {
    "sum": [lambda s, v, r: s + v, cast(I32)(0)],
    "sum_of_int64": [lambda s, v, r: s + hl.cast(I64, v), cast(I64)(0)],
    "sum_of_uint8": [lambda s, v, r: s + hl.cast(U32, v), cast(U32)(0), U8],
    "sum_of_float": [lambda s, v, r: s + v, cast(F32)(0), F32],
    "sum_of_double": [lambda s, v, r: s + v, cast(F64)(0), F64],
    "sum_in_2d": [lambda s, v, r: s + v, cast(I32)(0), I32, 2, 30000],
    "sum_of_squares": [lambda s, v, r: s + v * v, cast(I32)(0)],
    "product": [lambda s, v, r: s * (v * 2 + 1), cast(I32)(1)],
    "maximum": [lambda s, v, r: hl.max(s, v), cast(I32)(-1)],
    "minimum": [lambda s, v, r: hl.min(s, v), cast(I32)(1 << 30)],
    "xor": [lambda s, v, r: s ^ (v * 77), cast(I32)(0)],
    "any": [lambda s, v, r: s | (v == 7), cast(BOOL)(False)],
    "all": [lambda s, v, r: s & (v < 251), cast(BOOL)(True)],
    "not_associative": [lambda s, v, r: s * 3 + v, cast(I32)(1), I32, 1, 5000],
    "with_its_place": [lambda s, v, r: s + v * r.x, cast(I32)(0)],
    "sum_of_millions": [lambda s, v, r: s + v, cast(I32)(0), I32, 1, 4000000],
})


def few_points(points: int, length: int, axis: int) -> Case:
    """Sums along rows or columns of which there are few."""
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, length))
    s[x] = 0
    s[x] += f[r, x] if axis == 0 else f[x, r]
    o = func("o", (x,), s[x] + 1)
    return Case([estimated(o, points)], [(points,), (1,)])


family("sums", few_points, {
    "of_1_row": (1, 20000, 0), "of_3_rows": (3, 20000, 0), "of_20_rows": (20, 5000, 0),
    "of_3_columns": (3, 20000, 1), "of_2000_columns": (2000, 64, 1),
})


def histogram(bins: int, count: int) -> Case:
    f, h = noise("f", x, y), hl.Func("h")
    r = domain((0, count), (0, 64))
    h[x] = 0
    h[f[r.x, r.y] % bins] += 1
    return Case([estimated(h, bins)], [(bins,)])


family("histogram", histogram, {
    "of_1_bin": (1, 256), "of_4_bins": (4, 256), "of_256_bins": (256, 256),
    "of_1000_bins": (1000, 64),
})


@pipeline
def histogram_per_row():
    f, h = noise("f", x, y), hl.Func("h")
    r = domain((0, 500))
    h[x, y] = 0
    h[f[r, y] % 64, y] += 1
    return Case([estimated(h, 64, 40)], [(64, 40), (64, 3)])


@pipeline
def histogram_in_2d():
    f, g, h = noise("f", x, y), func("g", (x, y), mix(y, x)), hl.Func("h")
    r = domain((0, 100), (0, 50))
    h[x, y] = 0
    h[f[r.x, r.y] % 16, g[r.x, r.y] % 16] += 1
    return Case([estimated(h, 16, 16)], [(16, 16)])


@pipeline
def histogram_of_weights():
    im, h = image(I32, "im", 200, 100), hl.Func("h")
    r = domain((0, 200), (0, 100))
    h[x] = 0
    h[hl.clamp(im[r.x, r.y], 0, 63)] += r.x * r.y
    return Case([estimated(h, 64)], [(64,)], images=[im])


@pipeline
def histogram_of_maxima():
    f, h = noise("f", x), hl.Func("h")
    r = domain((0, 3000))
    h[x] = 0
    h[f[r] % 32] = hl.max(h[f[r] % 32], r)
    return Case([estimated(h, 32)], [(32,)])


@pipeline
def histogram_equalisation():
    """Histogram, its running sum, and the picture through that table."""
    im = image(U8, "im", 64, 48)
    r, b = domain((0, 64), (0, 48)), domain((1, 255), name="b")
    h, cdf = hl.Func("h"), hl.Func("cdf")
    h[x] = 0
    h[hl.cast(I32, im[r.x, r.y])] += 1
    cdf[x] = h[x]
    cdf[b.x] += cdf[b.x - 1]
    o = func("o", (x, y), hl.cast(U8, cdf[hl.cast(I32, im[x, y])] * 255 // 3072))
    return Case([estimated(o, 64, 48)], [(64, 48), (7, 3)], images=[im])


@pipeline
def argmax_to_scalar():
    f, s = noise("f", x), hl.Func("s")
    r = domain((0, 5000))
    s[()] = hl.argmax(f[r])
    return Case([estimated(s)], [()])


@pipeline
def argmin_in_2d_to_scalar():
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, 100), (0, 50))
    best = func("best", (), hl.argmin(f[r.x, r.y]))
    s[()] = best[()][0] * 1000 + best[()][1]
    return Case([estimated(s)], [()])


@pipeline
def argmax_to_one_point():
    f = noise("f", x, y)
    r = domain((0, 5000))
    s = func("s", (y,), hl.argmax(f[r, y])[0])
    return Case([estimated(s, 1)], [(1,), (3,)])


@pipeline
def mean_and_variance():
    im = image(F32, "im", 20000)
    r = domain((0, 20000))
    s = hl.Func("s")
    s[()] = (0.0, 0.0)
    s[()] = (s[()][0] + im[r] / 20000.0, s[()][1] + im[r] * im[r] / 20000.0)
    o = func("o", (), hl.sqrt(s[()][1] - s[()][0] * s[()][0]))
    return Case([estimated(o)], [()], images=[im], tolerance=1e-3)


@pipeline
def normalisation_by_the_maximum():
    f, top = noise("f", x, y), hl.Func("top")
    r = domain((0, 100), (0, 60))
    top[()] = 1
    top[()] = hl.max(top[()], f[r.x, r.y])
    return Case([estimated(func("o", (x, y), f[x, y] * 255 // top[()]), 100, 60)],
                [(100, 60), (7, 3)])


@pipeline
def normalisation_by_sums_of_rows():
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, 60))
    s[y] = 1
    s[y] += f[r, y]
    return Case([estimated(func("o", (x, y), f[x, y] * 255 // s[y]), 60, 100)],
                [(60, 33), (7, 3)])


@pipeline
def dot_product():
    a, b, s = image(F32, "a", 20000), image(F32, "b", 20000), hl.Func("s")
    r = domain((0, 20000))
    s[()] = 0.0
    s[()] += a[r] * b[r]
    return Case([estimated(s)], [()], images=[a, b], tolerance=1e-3)


@pipeline
def two_reductions_of_one_source():
    f, s, t = noise("f", x), hl.Func("s"), hl.Func("t")
    r, q = domain((0, 4000)), domain((0, 4000), name="q")
    s[()] = 0
    s[()] += f[r]
    t[()] = 0
    t[()] = hl.max(t[()], f[q])
    return Case([estimated(func("o", (x,), s[()] + t[()] * x), 50)], [(50,), (1,)])


@pipeline
def tree_of_two_levels():
    """What a user may have written for lack of anything better."""
    f, part, s = noise("f", x), hl.Func("part"), hl.Func("s")
    r, q = domain((0, 100)), domain((0, 64), name="q")
    part[x] = 0
    part[x] += f[x * 100 + r]
    s[()] = 0
    s[()] += part[q]
    return Case([estimated(s)], [()])


@pipeline
def reduction_of_a_reduction():
    f, rows, s = noise("f", x, y), hl.Func("rows"), hl.Func("s")
    r, q = domain((0, 80)), domain((0, 70), name="q")
    rows[y] = 0
    rows[y] += f[r, y]
    s[()] = 0
    s[()] = hl.max(s[()], rows[q])
    return Case([estimated(s)], [()])


@pipeline
def several_updates_to_scalar():
    f, s = noise("f", x), hl.Func("s")
    r, q = domain((0, 3000)), domain((0, 2000), name="q")
    s[()] = 5
    s[()] += f[r]
    s[()] = s[()] * 3
    s[()] = hl.min(s[()], f[q])
    return Case([estimated(s)], [()])


@pipeline
def counted_where():
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, 100), (0, 60))
    r.where(f[r.x, r.y] > 500)
    s[()] = 0
    s[()] += 1
    return Case([estimated(s)], [()])


@pipeline
def small_product_of_matrices():
    a, b, p = image(I32, "a", 300, 5), image(I32, "b", 4, 300), hl.Func("p")
    r = domain((0, 300))
    p[x, y] = 0
    p[x, y] += a[r, y] * b[x, r]
    return Case([estimated(p, 4, 5)], [(4, 5), (1, 1)], images=[a, b])


@pipeline
def large_kernel_for_a_small_output():
    im, k, o = image(I32, "im", 70, 70), image(I32, "k", 64, 64), hl.Func("o")
    r = domain((0, 64), (0, 64))
    o[x, y] = 0
    o[x, y] += im[x + r.x, y + r.y] * k[r.x, r.y]
    return Case([estimated(o, 4, 4)], [(4, 4), (1, 2)], images=[im, k])


@pipeline
def inline_sum():
    f = noise("f", x, y)
    r = domain((-2, 5), (-2, 5))
    return Case([estimated(func("o", (x, y), hl.sum(f[x + r.x, y + r.y])), 200, 100)],
                [(61, 33), (1, 1)])


@pipeline
def inline_sum_per_channel():
    f = noise("f", x, y, c)
    r = domain((0, 300), (0, 20))
    return Case([estimated(func("o", (c,), hl.sum(f[r.x, r.y, c])), 3)], [(3,), (1,)])


@pipeline
def moments():
    """Three sums at once, of an image with channels."""
    im, m = image(I32, "im", 60, 50, 3), hl.Func("m")
    r = domain((0, 60), (0, 50))
    v = im[r.x, r.y, z]
    m[z] = (0, 0, 0)
    m[z] = (m[z][0] + v, m[z][1] + v * r.x, m[z][2] + v * r.y)
    return Case([estimated(m, 3)], [(3,), (1,)], images=[im])


@pipeline
def place_of_the_last_maximum():
    """Which one of equal values it is depends on their order."""
    im, s = image(I32, "im", 20000), hl.Func("s")
    r = domain((0, 20000))
    s[()] = (-1, -1)
    later = s[()][0] <= im[r]
    s[()] = (hl.select(later, im[r], s[()][0]), hl.select(later, r, s[()][1]))
    return Case([estimated(s)], [()], images=[im])


@pipeline
def place_of_the_last_maximum_in_2d():
    im, s = image(I32, "im", 100, 90), hl.Func("s")
    r = domain((0, 100), (0, 90))
    s[()] = (-1, -1)
    later = s[()][0] <= im[r.x, r.y]
    s[()] = (hl.select(later, im[r.x, r.y], s[()][0]),
             hl.select(later, r.x + r.y * 100, s[()][1]))
    return Case([estimated(s)], [()], images=[im])


@pipeline
def sum_in_3d():
    f, s = noise("f", x, y, z), hl.Func("s")
    r = domain((-3, 40), (5, 30), (1, 7))
    s[()] = 0
    s[()] += f[r.x, r.y, r.z] * r.z
    return Case([estimated(s)], [()])


@pipeline
def sum_until_it_is_enough():
    """The domain depends on the result so far."""
    f, s = noise("f", x), hl.Func("s")
    r = domain((0, 5000))
    s[()] = 0
    r.where(s[()] < 10000)
    s[()] += f[r]
    return Case([estimated(s)], [()])


@pipeline
def places_that_depend_on_counts():
    f, h = noise("f", x), hl.Func("h")
    r = domain((0, 5000))
    h[x] = 0
    h[hl.clamp(h[f[r] % 8], 0, 7)] += 1
    return Case([estimated(h, 8)], [(8,)])


@pipeline
def histogram_in_a_large_table():
    f, h = noise("f", x), hl.Func("h")
    r = domain((0, 30000))
    h[x, y] = 0
    h[f[r] % 300, f[r + 1] % 200] += r
    return Case([estimated(h, 300, 200)], [(300, 200)])


@pipeline
def sum_with_loops_in_another_order():
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, 120), (0, 70))
    s[()] = 0
    s[()] += f[r.x, r.y] * r.x
    s.update(0).reorder(r.y, r.x)
    return Case([estimated(s)], [()])


@pipeline
def short_sum_with_loops_in_another_order():
    """It may well end up inside a thread, without any call of its own."""
    f, s = noise("f", x, y), hl.Func("s")
    r = domain((0, 3), (0, 2))
    s[x, y] = 0
    s[x, y] += f[x + r.x, y + r.y] * r.x
    s.update(0).reorder(r.y, r.x)
    return Case([estimated(func("o", (x, y), s[x, y] + s[x, y + 1]), 100, 80)],
                [(100, 80), (7, 3)])
