"""Pipelines with unusual expressions, boundary conditions and graphs."""

import halide as hl

from corpus import (BOOL, F32, I16, I32, I64, U8, U16, Case, c, domain, estimated, func, image, mix,
                    noise, param, register, total, x, y, z)

from value_types import NO_INT64

pipeline, family = register("graphs")


def plain(f, *extents, **more) -> Case:
    small = {1: [(77,), (1,)], 2: [(61, 33), (1, 2)], 3: [(21, 9, 3), (1, 2, 1)]}[len(extents)]
    return Case([estimated(f, *extents)], small, **more)


CONDITIONS = hl.BoundaryConditions


def boundary(apply, of_image) -> Case:
    """A stencil across the edges."""
    images = []
    if of_image:
        f = image(I32, "im", 60, 40)
        images.append(f)
        padded = apply(f, [(0, f.width()), (0, f.height())])
    else:
        f = noise("f", x, y)
        padded = apply(f, [(0, 60), (0, 40)])
    g = func("g", (x, y), padded[x - 3, y] + padded[x + 2, y - 2] * 2 + padded[x, y + 5] * 3)
    return Case([estimated(g, 60, 40)], [(60, 40), (7, 3)], images=images)


for with_image in (True, False):
    family("boundary_of_" + ("image" if with_image else "func"), boundary, {
        "repeat_edge": (CONDITIONS.repeat_edge, with_image),
        "constant": (lambda f, at: CONDITIONS.constant_exterior(f, 7, at), with_image),
        "repeat": (CONDITIONS.repeat_image, with_image),
        "mirror": (CONDITIONS.mirror_image, with_image),
        "mirror_interior": (CONDITIONS.mirror_interior, with_image),
    })


@pipeline
def boundary_of_a_boundary():
    im = image(I32, "im", 60, 40)
    inner = CONDITIONS.repeat_edge(im)
    f = func("f", (x, y), inner[x - 1, y] + inner[x + 1, y])
    outer = CONDITIONS.mirror_image(f, [(0, 60), (0, 40)])
    return Case([estimated(func("g", (x, y), outer[x, y - 1] + outer[x, y + 1]), 60, 40)],
                [(60, 40), (5, 2)], images=[im])


# Tables and gathers.

@pipeline
def table_of_a_func():
    im = image(U8, "im", 210, 110)
    table = func("table", (x,), (x * x + 3) & 255)
    return plain(func("g", (x, y), table[hl.cast(I32, im[x, y])] + 1), 200, 100, images=[im])


@pipeline
def table_of_a_buffer():
    data = hl.Buffer(I32, [256])
    for k in range(256):
        data[k] = k * 7 % 256
    im = image(U8, "im", 210, 110)
    g = func("g", (x, y), data[hl.cast(I32, im[x, y])] + data[hl.cast(I32, im[x + 1, y])])
    return plain(g, 200, 100, images=[im])


@pipeline
def table_of_a_curve():
    im = image(U16, "im", 210, 110)
    table = func("table", (x,), hl.cast(I32, hl.pow(hl.cast(F32, x) / 1024.0, 0.5) * 255.0 + 0.5))
    g = func("g", (x, y), table[hl.clamp(hl.cast(I32, im[x, y]), 0, 1023)])
    return plain(g, 200, 100, images=[im], tolerance=0.01)


@pipeline
def table_indexed_by_narrow_types():
    """The types of the indices are their only bounds."""
    a, b = image(U8, "a", 210, 110), image(I16, "b", 210, 110)
    s = func("s", (x,), x * 3)
    t = func("t", (x,), x * 5 + 1)
    g = func("g", (x, y), s[hl.cast(I32, a[x, y])] + t[hl.cast(I32, b[x, y])])
    return plain(g, 200, 100, images=[a, b])


@pipeline
def table_3d():
    im = image(U8, "im", 210, 110, 3)
    lut = func("lut", (x, y, z), x * 5 + y * 3 + z)
    at = [hl.cast(I32, im[x, y, k]) // 16 for k in range(3)]
    return plain(func("g", (x, y), lut[tuple(at)]), 200, 100, images=[im])


@pipeline
def gather_clamped():
    im, f = image(I32, "im", 210, 110), noise("f", x, y)
    at = (hl.clamp(im[x, y], 0, 99), hl.clamp(im[x + 1, y] - 50, 0, 49))
    return plain(func("g", (x, y), f[at] + 1), 200, 100, images=[im])


@pipeline
def gather_modulo():
    im, f = image(I32, "im", 210, 110), noise("f", x, y)
    return plain(func("g", (x, y), f[im[x, y] % 100, im[x, y] % 32]), 200, 100, images=[im])


@pipeline
def gather_masked():
    """Nothing is known of the bits of what may be negative."""
    im, f = image(I32, "im", 210, 110), noise("f", x, y)
    return plain(func("g", (x, y), f[im[x, y] & 31, y]), 200, 100, images=[im],
                 refused='"g" reads Func "f" at unbounded coordinates in dimension 0 ("x")')


@pipeline
def gather_unbounded_from_func():
    im, f = image(I32, "im", 210, 110), noise("f", x, y)
    return plain(func("g", (x, y), f[x, im[x, y]]), 200, 100, images=[im],
                 refused='"g" reads Func "f" at unbounded coordinates in dimension 1 ("y")')


@pipeline
def gather_unbounded_from_image():
    """Halide would not take it either."""
    im, data = image(I32, "im", 210, 110), image(I32, "data", 251)
    f = func("f", (x, y), data[im[x, y]] + x)
    return plain(func("g", (x, y), f[x, y] + f[x + 1, y + 1]), 200, 100, images=[im, data],
                 refused='"f" reads input "data" at unbounded coordinates in dimension 0')


@pipeline
def scatter_unbounded():
    im, f = image(I32, "im", 210), hl.Func("f")
    r = domain((0, 200))
    f[x] = 0
    f[im[r]] = r
    return plain(f, 200, images=[im], refused="unbounded coordinates in dimension 0")


# Indices.

def index(make, lowers=True, unsupported=None) -> Case:
    f = noise("f", x, y)
    return plain(func("g", (x, y), f[make(x, y)] + 1), 60, 40, lowers=lowers,
                 unsupported=unsupported or {})


def as_int(e):
    return hl.cast(I32, e)


def real(v):
    return hl.cast(F32, v)


family("index", index, {
    "product": [lambda a, b: (a * b, b)],
    "square": [lambda a, b: (a * a, b * b)],
    "modulo": [lambda a, b: (a % 7, (b * 3) % 11)],
    "quotients": [lambda a, b: (a // 3 + b // 5, (a + b) // 2)],
    "negated": [lambda a, b: (-a, -3 * b + 5)],
    "minimum": [lambda a, b: (hl.min(a, b), hl.max(a, 9) - b)],
    "select": [lambda a, b: (hl.select(a > 9, a, 9 - b), b)],
    "shifted_bits": [lambda a, b: (a >> 2, b << 1)],
    "float_rounded": [lambda a, b: (as_int(hl.floor(real(a) * 0.3 + 0.5)), b)],
    "float_root": [lambda a, b: (as_int(hl.sqrt(real(a * a + b * b))), b)],
    "float_power": [lambda a, b: (hl.clamp(as_int(hl.pow(real(a) * 0.1, 3)), 0, 99), b)],
    "float_power_of_14": [lambda a, b: (hl.clamp(as_int(power(real(a) / 32.0, 14)), 0, 99), b),
                          False],
    "float_power_unclamped": [lambda a, b: (as_int(power(real(a) * 0.02, 4)), b)],
    "float_infinite": [lambda a, b: (hl.clamp(as_int(1.0 / real(a - 5)), -50, 50), b)],
    "float_tangent": [lambda a, b: (hl.clamp(as_int(hl.tan(real(a)) * 10), -20, 20), b)],
    "int64": [lambda a, b: (as_int(hl.cast(I64, a) * 3 // 2), as_int(hl.cast(I64, b))), True,
              NO_INT64],
    "of_uint8": [lambda a, b: (as_int(hl.cast(U8, a * 3)), b)],
    "deep": [lambda a, b: (deep(a, b, 24), b)],
})


def power(e, exponent: int):
    """By repeated multiplication."""
    result = e
    for _ in range(exponent - 1):
        result = result * e
    return result


def deep(a, b, levels: int):
    """Each level mentions the one below twice."""
    value = a
    for k in range(levels):
        value = hl.select(value > k, value - 1, value + b - k)
    return hl.clamp(value, 0, 99)


@pipeline
def random_numbers():
    """Other ones in each instance of the pipeline, but always within their range."""
    f = func("f", (x, y), hl.random_float(7))
    g = func("g", (x, y), hl.select((f[x, y] >= 0) & (f[x + 1, y] < 1), 1, 0))
    return plain(g, 200, 100)


@pipeline
def undefined_values():
    f = hl.Func("f")
    f[x, y] = hl.undef(I32)
    f[x, y] = mix(x, y)
    return plain(func("g", (x, y), f[x, y] + f[x + 1, y]), 200, 100)


@pipeline
def undefined_output():
    f = hl.Func("f")
    f[x, y] = hl.undef(I32)
    f[x, y] = mix(x, y)
    f[x, y] += 3
    return plain(f, 200, 100)


@pipeline
def distance_from_a_parameter():
    p = param(I32, "p", 2)
    f = noise("f", x, y)
    return plain(func("g", (x, y), f[x, y] + f[x, y + p] * f[x + p, y]), 200, 100,
                 params=[(p, 9)])


@pipeline
def reduction_as_long_as_a_parameter():
    p = param(I32, "p", 1)
    r = hl.RDom([hl.Range(0, p), hl.Range(0, 3)], "r")
    f = noise("f", x, y)
    f[x, y] = f[x, y] * 3 - r.x * 5 + r.y
    return plain(func("g", (x, y), f[x, y] + f[x + 1, y]), 200, 100, params=[(p, 4)])


# Graphs.

def chain(length: int, reach: int) -> Case:
    f = noise("f", x, y)
    for k in range(length):
        value = f[x, y] + (f[x + reach, y] if k % 2 else f[x, y + reach])
        f = func(f"f{k}", (x, y), value & 1023)
    return plain(f, 200, 100, options={"beam_size": 2})


family("chain", chain, {"of_40": (40, 0), "of_100": (100, 0), "of_45_stencils": (45, 1)})


@pipeline
def diamond_of_diamonds():
    f = noise("f", x, y)
    for k in range(8):
        a = func(f"a{k}", (x, y), f[x, y] + k)
        b = func(f"b{k}", (x, y), f[x + 1, y] * 3)
        f = func(f"j{k}", (x, y), (a[x, y] + b[x, y]) & 1023)
    return plain(f, 200, 100, options={"beam_size": 2})


@pipeline
def fan_in():
    parts = [func(f"f{k}", (x, y), mix(x + k, y)) for k in range(40)]
    return plain(func("g", (x, y), total(f[x, y] + f[x + 1, y] for f in parts)), 200, 100,
                 options={"beam_size": 2})


@pipeline
def fan_out():
    f = noise("f", x, y)
    parts = [func(f"g{k}", (x, y), f[x + k, y] * f[x, y + k]) for k in range(20)]
    return plain(func("o", (x, y), total(g[x, y] for g in parts)), 200, 100,
                 options={"beam_size": 2})


@pipeline
def pyramid():
    levels = [noise("f", x, y)]
    for k in range(4):
        up = levels[-1]
        levels.append(func(f"d{k}", (x, y), up[2 * x, 2 * y] + up[2 * x + 1, 2 * y + 1]))
    value = levels[-1]
    for k, level in enumerate(reversed(levels[:-1])):
        value = func(f"u{k}", (x, y), (value[x // 2, y // 2] + level[x, y]) & 4095)
    return plain(value, 200, 100, options={"beam_size": 4})


@pipeline
def output_that_nothing_feeds():
    a, b = noise("a", x, y), func("b", (x,), hl.Expr(3))
    return Case([estimated(a, 100, 50), estimated(b, 77)], [((50, 20), (33,))])


# What compilers of networks emit.

@pipeline
def flat_loops():
    """Element-wise operations on flattened tensors, broadcast by quotients and remainders."""
    a, b = image(F32, "a", 24 * 10 * 6), image(F32, "b", 10)
    t = func("t", (x,), a[x] * 2.0 + b[(x // 24) % 10])
    u = func("u", (x,), hl.max(t[x], 0.0) + t[(x // 24) * 24 + (23 - x % 24)])
    return Case([estimated(u, 1440)], [(1440,), (240,)], images=[a, b])


@pipeline
def flat_loops_of_int64():
    a = image(F32, "a", 24 * 60)
    wide = hl.cast(I64, x)
    t = func("t", (x,), a[hl.cast(I32, wide % 24 + (wide // 24) * 24)] + 1.0)
    u = func("u", (x,), t[hl.cast(I32, (wide // 4) * 4 + (wide + 1) % 4)])
    return Case([estimated(u, 1440)], [(1440,), (96,)], images=[a],
                unsupported=NO_INT64)


@pipeline
def flat_transposition():
    a = image(I32, "a", 30 * 40)
    t = func("t", (x,), a[x] + 1)
    return Case([estimated(func("u", (x,), t[(x % 40) * 30 + x // 40]), 1200)],
                [(1200,), (40,)], images=[a])


@pipeline
def layer_normalisation():
    im = image(F32, "im", 64, 100)
    r = domain((0, 64))
    mean, variance = hl.Func("mean"), hl.Func("variance")
    mean[y] = 0.0
    mean[y] += im[r, y] / 64.0
    variance[y] = 0.0
    variance[y] += (im[r, y] - mean[y]) * (im[r, y] - mean[y]) / 64.0
    o = func("o", (x, y), (im[x, y] - mean[y]) / hl.sqrt(variance[y] + 1.0))
    return Case([estimated(o, 64, 100)], [(64, 9), (3, 1)], images=[im])


@pipeline
def attention():
    q, k, v = (image(F32, name, 16, 24, 2) for name in "qkv")
    r, s = domain((0, 16)), domain((0, 24), name="s")
    score, e, norm, o = (hl.Func(name) for name in ("score", "e", "norm", "o"))
    score[x, y, c] = 0.0
    score[x, y, c] += q[r, y, c] * k[r, x, c]
    e[x, y, c] = hl.exp(score[x, y, c] * 0.001)
    norm[y, c] = 0.0
    norm[y, c] += e[s, y, c]
    o[x, y, c] = 0.0
    o[x, y, c] += e[s, y, c] * v[x, s, c] / norm[y, c]
    return Case([estimated(o, 16, 24, 2)], [(16, 24, 2), (3, 5, 1)], images=[q, k, v], below=15)


@pipeline
def convolution_and_pooling():
    im, weights = image(F32, "im", 4, 22, 22), image(F32, "weights", 8, 4, 3, 3)
    r, p = domain((0, 4), (0, 3), (0, 3)), domain((0, 2), (0, 2), name="p")
    conv, pool = hl.Func("conv"), hl.Func("pool")
    conv[c, x, y] = 0.0
    conv[c, x, y] += weights[c, r.x, r.y, r.z] * im[r.x, x + r.y, y + r.z]
    relu = func("relu", (c, x, y), hl.max(conv[c, x, y] - 9000.0, 0.0))
    pool[c, x, y] = 0.0
    pool[c, x, y] = hl.max(pool[c, x, y], relu[c, 2 * x + p.x, 2 * y + p.y])
    return Case([estimated(pool, 8, 10, 10)], [(8, 10, 10), (3, 1, 2)], images=[im, weights])


@pipeline
def concatenation():
    a, b = noise("a", x, y), func("b", (x, y), mix(y, x))
    o = func("o", (x, y), hl.select(x < 30, a[hl.min(x, 29), y], b[hl.max(x - 30, 0), y]))
    return plain(o, 60, 50)


@pipeline
def embedding():
    ids, table = image(I32, "ids", 50), image(F32, "table", 32, 100)
    o = func("o", (x, y), table[x, hl.clamp(ids[y], 0, 99)] * 2.0)
    return Case([estimated(o, 32, 50)], [(32, 9), (1, 1)], images=[ids, table])


@pipeline
def one_hot_and_masks():
    ids = image(I32, "ids", 50)
    hot = func("hot", (x, y), ids[y] == x)
    assert hot.type() == BOOL
    o = func("o", (x, y), hl.select(hot[x, y] | hot[x + 1, y], 1, mix(x, y)))
    return Case([estimated(o, 64, 50)], [(64, 9), (1, 1)], images=[ids])
