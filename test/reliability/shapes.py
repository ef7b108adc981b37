"""Pipelines with unusual extents and positions of their outputs and inputs."""

import halide as hl

from corpus import (F32, I32, U8, Case, c, domain, estimated, func, image, mix, noise, param,
                    register, total, w, x, y, z)

pipeline, family = register("shapes")

DIMS = tuple(hl.Var(name) for name in "a b c d e f g h".split())


def stencil(extents, *sizes, min=0, reach=1, **more) -> Case:
    """Each point of the output reads its neighbours in all dimensions."""
    args = DIMS[: len(extents)]
    f = noise("source", *args)
    value = f[args]
    for d in range(len(args)):
        at = list(args)
        at[d] = at[d] + reach
        value = value + f[tuple(at)] * (d + 2)
    g = func("stencil", args, value)
    return Case([estimated(g, *extents, min=min)], sizes or [extents], min=min, **more)


def pointwise(extents, *sizes, kind=I32, **more) -> Case:
    args = DIMS[: len(extents)]
    g = func("points", args, hl.cast(kind, mix(*args)))
    return Case([estimated(g, *extents)], sizes, **more)


family("one_point", stencil, {
    "1d": [(1,)], "2d": [(1, 1)], "3d": [(1, 1, 1)], "4d": [(1, 1, 1, 1)], "5d": [(1,) * 5],
})

family("prime_extent", pointwise, {
    "2": [(2,), (2,), (1,)],
    "31": [(31,), (31,), (32,)],
    "127": [(127,), (127,), (5,)],
    "8191": [(8191,), (8191,), (127,)],
    "524287": [(524287,), (10007,), (1,)],
})
family("prime_stencil", stencil, {
    "17_by_13": [(17, 13), (17, 13), (19, 11)],
    "257_by_263": [(257, 263), (257, 263), (31, 37)],
    "1009_by_3_by_2": [(1009, 3, 2), (101, 3, 2), (103, 5, 7)],
})

family("tiny", stencil, {
    "3_by_3": [(3, 3), (3, 3), (2, 1)],
    "7_by_1": [(7, 1), (7, 1), (1, 7)],
    "1_by_7": [(1, 7), (1, 7), (7, 1)],
    "2_by_2_by_2": [(2, 2, 2), (2, 2, 2), (1, 2, 3)],
    "33_points": [(33,), (33,), (1,), (64,)],
    "9_by_5_by_3": [(9, 5, 3), (9, 5, 3), (8, 4, 2)],
})

family("tall", stencil, {
    "3_by_10000000": [(3, 10000000), (3, 2001), (2, 3)],
    "10000000_by_3": [(10000000, 3), (2001, 3), (3, 2)],
    "16_by_4000000": [(16, 4000000), (16, 333), (5, 1)],
    "1_by_3000000": [(1, 3000000), (1, 777), (2, 2)],
    "4_by_4_by_1000000": [(4, 4, 1000000), (4, 4, 55), (1, 3, 2)],
    "2_by_300000_by_4": [(2, 300000, 4), (2, 99, 4), (3, 1, 2)],
    "3_by_2_by_2_by_400000": [(3, 2, 2, 400000), (3, 2, 2, 41), (1, 1, 1, 1)],
})

family("dims", stencil, {
    "6": [(9, 4, 3, 5, 2, 3), (9, 4, 3, 5, 2, 3), (2, 1, 3, 1, 2, 1)],
    "7": [(6, 3, 2, 3, 2, 3, 2), (3, 1, 2, 3, 2, 1, 2)],
    "8": [(6, 3, 2, 2, 3, 2, 2, 2), (6, 3, 2, 2, 3, 2, 2, 2), (1,) * 8],
    "8_with_ones": [(64, 1, 1, 32, 1, 1, 3, 1), (33, 1, 1, 7, 1, 1, 3, 1), (2,) * 8],
    "8_all_ones": [(1,) * 8, (1,) * 8, (2,) * 8],
})

family("ones", stencil, {
    "first": [(1, 400, 300), (1, 40, 30), (2, 3, 4)],
    "middle": [(400, 1, 300), (40, 1, 30), (2, 3, 4)],
    "last": [(400, 300, 1), (40, 30, 1), (2, 3, 4)],
    "first_and_last": [(1, 5000, 1), (1, 444, 1), (3, 3, 3)],
    "but_the_last": [(1, 1, 1, 5000), (1, 1, 1, 321), (2, 3, 1, 2)],
})


def at_min(extents, size, min, reach=1) -> Case:
    return stencil(extents, size, (1,) * len(extents), min=min, reach=reach)


family("min", at_min, {
    "of_minus_5": [(300, 200), (61, 33), -5],
    "of_minus_100000": [(300, 200), (61, 33), -100000],
    "of_million": [(300, 200), (61, 33), 1000000],
    "of_minus_3_in_4d": [(30, 20, 4, 3), (9, 8, 4, 3), -3, -2],
})


def other_size(extents, *sizes) -> Case:
    """An input is read, so that nothing may be computed beyond the edges."""
    im = image(I32, "im", *(e + 2 for e in extents))
    f = func("f", (x, y), im[x, y] * 3 + 1)
    g = func("g", (x, y), f[x, y] + f[x + 2, y] + f[x + 1, y + 2])
    return Case([estimated(g, *extents)], sizes, images=[im])


family("estimate", other_size, {
    "much_larger": [(2000, 1500), (1, 1), (3, 2), (31, 65)],
    "much_smaller": [(8, 8), (200, 150), (500, 3)],
    "transposed": [(2000, 4), (4, 300), (5, 5)],
})


@pipeline
def prime_extent_2147483647():
    """The largest extent that there is."""
    g = func("points", (x,), hl.cast(U8, x))
    return Case([estimated(g, 2147483647)], [(10007,), (1,)], fits=False)


@pipeline
def extents_beyond_31_bits_in_total():
    g = func("points", (x, y, z), hl.cast(U8, mix(x, y, z)))
    return Case([estimated(g, 65536, 65537, 3)], [(100, 33, 3), (1, 1, 1)], fits=False)


@pipeline
def no_dimensions():
    p = param(I32, "p", 3)
    g = func("scalar", (), p * 7 + 1)
    return Case([estimated(g)], [()], params=[(p, 11)])


@pipeline
def no_dimensions_with_update():
    p = param(I32, "p", 3)
    g = func("scalar", (), p * 7)
    g[()] = g[()] * g[()] + 1
    return Case([estimated(g)], [()], params=[(p, 11)])


@pipeline
def no_dimensions_between():
    """0-D and n-D Funcs read each other."""
    a = noise("a", x)
    s = func("s", (), a[3] + a[5])
    b = func("b", (x, y), a[x] * s[()] + y)
    t = func("t", (), b[1, 2] - s[()])
    o = func("o", (x, y), b[x, y] + t[()])
    return Case([estimated(o, 300, 200)], [(50, 20), (1, 1)])


@pipeline
def strides_of_interleaved_images():
    im, o = image(U8, "im", 200, 100, 3), hl.Func("o")
    im.dim(0).set_stride(3)
    im.dim(2).set_stride(1)
    o[x, y, c] = hl.cast(U8, im[x, y, c] // 2 + im[x + 1, y, 2 - c] // 3)
    o.output_buffer().dim(0).set_stride(3)
    o.output_buffer().dim(2).set_stride(1)
    o.bound(c, 0, 3)
    return Case([estimated(o, 199, 100, 3)], [(199, 100, 3), (17, 5, 3)], images=[im],
                interleaved=True)


@pipeline
def strides_unknown():
    im, o = image(U8, "im", 200, 100, 3), hl.Func("o")
    im.dim(0).set_stride(hl.Expr())
    o[x, y, c] = hl.cast(U8, im[x, y, c] // 2 + im[x + 1, y, c] // 3)
    o.output_buffer().dim(0).set_stride(hl.Expr())
    return Case([estimated(o, 199, 100, 3)], [(199, 100, 3), (17, 5, 3)], images=[im],
                interleaved=True)


@pipeline
def extents_from_an_input():
    """The reduction is as long as an image."""
    im, o = image(I32, "im", 40, 30), hl.Func("o")
    r = hl.RDom([hl.Range(0, im.width())], "r")
    o[x] = 0
    o[x] += im[r, x]
    return Case([estimated(o, 30)], [(30,), (7,)], images=[im], extents=[(43, 30)])


@pipeline
def extents_divided():
    """Upsampled by 3, downsampled by 5."""
    f = noise("f", x, y)
    up = func("up", (x, y), f[x // 3, y // 3] + x % 3)
    down = func("down", (x, y), total(up[5 * x + k, 5 * y] for k in range(5)))
    return Case([estimated(down, 200, 160)], [(61, 37), (2, 1)])


@pipeline
def extents_reversed():
    f = noise("f", x, y)
    g = func("g", (x, y), f[199 - x, y] + f[x, 99 - y])
    return Case([estimated(g, 200, 100)], [(200, 100), (7, 3)])


@pipeline
def extents_of_thread_dims():
    """Four dimensions of the extent of a warp's part."""
    return stencil((8, 8, 8, 8), (8, 8, 8, 8), (5, 3, 2, 9))


@pipeline
def reduction_of_one_step():
    r = domain((0, 1), (0, 1))
    f, g = noise("f", x, y), hl.Func("g")
    g[x, y] = 1
    g[x, y] = g[x, y] * 3 + f[x + r.x, y + r.y]
    return Case([estimated(g, 300, 200)], [(61, 33), (1, 1)])


@pipeline
def planes_of_unequal_extent():
    """A column vector times a row vector, both inputs."""
    a, b = image(F32, "a", 1, 300), image(F32, "b", 200, 1)
    g = func("g", (x, y), a[0, y] * b[x, 0])
    return Case([estimated(g, 200, 300)], [(20, 33), (1, 1)], images=[a, b])


@pipeline
def long_fourth_dimension_of_an_input():
    im = image(U8, "im", 3, 2, 2, 90000)
    g = func("g", (x, y, z, w), im[x, y, z, w] + im[x, y, z, w + 1])
    return Case([estimated(g, 3, 2, 2, 80000)], [(3, 2, 2, 70), (1, 1, 1, 2)], images=[im])
