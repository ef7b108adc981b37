"""Twenty-four small pipelines on which schedulers make characteristic decisions, by name.

Each has one feature that a schedule should respond to; the docstrings say which.
"""

import halide as hl

from pipelines import F32, I32, U8, func, image, out

x, y, c = (hl.Var(n) for n in ("x", "y", "c"))

PIPELINES = {}


def pipeline(function):
    PIPELINES["small_" + function.__name__] = function
    return function


def total(values):
    values = list(values)
    return sum(values[1:], values[0])


def box(f, reach, step=1):
    """Sum over a square of taps with the corner at (x, y)."""
    return total(f[x + step * i, y + step * j] for i in range(reach) for j in range(reach))


def costly(a, b):
    """An expression that nobody wants to compute twice."""
    return total(hl.sqrt(hl.cast(F32, a * k + b)) for k in range(1, 9))


@pipeline
def three_pointwise():
    """Everything should be fused."""
    f = func("f", (x, y), (x + y) * (x + y))
    g = func("g", (x, y), f[x, y] * 2 + 1)
    return [out(func("h", (x, y), g[x, y] * 2 + 1), 1000, 1000)]


@pipeline
def two_long_diagonals():
    """A hundred taps each: nothing should be fused."""
    f = func("f", (x, y), costly(x, y))
    g = func("g", (x, y), total(f[x + i, y + i] for i in range(100)))
    return [out(func("h", (x, y), total(g[x + i, y + i] for i in range(100))), 1000, 1000)]


@pipeline
def wide_stencil():
    """Taps at distance 9 ask for square tiles."""
    im = image(F32, "im", 2100, 2100)
    f = func("f", (x, y), im[x, y] * 2 + 3)
    return [out(func("h", (x, y), box(f, 3, 9)), 2048, 2048)]


@pipeline
def narrow_stencil():
    """The same at distance 1."""
    im = image(F32, "im", 2100, 2100)
    f = func("f", (x, y), im[x, y] * 2 + 3)
    return [out(func("h", (x, y), box(f, 3)), 2048, 2048)]


@pipeline
def eight_large_stencils():
    """A chain of 5x5 stencils."""
    f = image(hl.UInt(16), "im", 2100, 2100)
    for k in range(8):
        f = func(f"f{k}", (x, y), box(f, 5))
    return [out(f, 2048, 2048)]


@pipeline
def product_of_vectors():
    """Two inputs that depend on one dimension each."""
    a, b = image(F32, "a", 2048), image(F32, "b", 2048)
    return [out(func("f", (x, y), a[x] * b[y]), 2048, 2048)]


@pipeline
def separable_downsampling():
    """A costly source that is read at half the resolution in each direction."""
    f = func("f", (x, y, c), costly(x, y) + hl.cast(F32, c))
    d = func("d", (x, y, c), f[2 * x - 1, y, c] + f[2 * x, y, c] + f[2 * x + 1, y, c])
    e = func("e", (x, y, c), d[x, 2 * y - 1, c] + d[x, 2 * y, c] + d[x, 2 * y + 1, c])
    return [out(e, 1024, 1024, 3)]


@pipeline
def five_stages():
    """Updates of several kinds, one of them a single column."""
    im = image(F32, "im", 1030, 1030)
    r = hl.RDom([hl.Range(0, 5)])
    f = func("f", (x, y), im[x, y])
    f[x, y] += 2.0
    f[x, y] += im[x + r.x, y]
    f[0, y] = 4.0
    f[x, y] = f[x, y] * 0.5
    return [out(func("g", (x, y), f[x, y] + f[x + 1, y + 1]), 1024, 1024)]


@pipeline
def scan_between_chains():
    """A scan, read transposed, with pointwise chains before and after it."""
    im = image(F32, "im", 2048, 2048)
    before = im
    for k in range(3):
        before = func(f"before{k}", (x, y), before[x, y] * 2.0)
    s = func("s", (x, y), before[x, y])
    r = hl.RDom([hl.Range(1, 2047)])
    s[x, r.x] += s[x, r.x - 1]
    after = func("after0", (x, y), s[y, x] + 1.0)
    for k in range(1, 3):
        after = func(f"after{k}", (x, y), after[x, y] * 2.0)
    return [out(after, 2048, 2048)]


@pipeline
def product_with_copies():
    """Matrix multiplication of copies of the inputs, and a copy of the result."""
    n = 1024
    a, b = image(F32, "a", n, n), image(F32, "b", n, n)
    a_copy, b_copy = func("a_copy", (x, y), a[x, y]), func("b_copy", (x, y), b[x, y])
    r = hl.RDom([hl.Range(0, n)])
    p = func("p", (x, y), 0.0)
    p[x, y] += a_copy[x, r.x] * b_copy[r.x, y]
    return [out(func("o", (x, y), p[x, y]), n, n)]


@pipeline
def scan_and_downsample():
    """Only every other row of the scanned image is read."""
    im = image(F32, "im", 2048, 2048)
    s = func("s", (x, y), im[x, y])
    r = hl.RDom([hl.Range(1, 2047)])
    s[r.x, y] += s[r.x - 1, y]
    p = func("p", (x, y), s[x, y] * 3.0)
    return [out(func("o", (x, y), p[x, 2 * y] + p[x, 2 * y + 1]), 2048, 1000)]


@pipeline
def gather_from_table():
    """A large table of which ten entries are read."""
    im = image(I32, "im", 10)
    table = func("table", (x,), costly(x, 1))
    return [out(func("o", (x,), table[hl.clamp(im[x], 0, 99999)]), 10)]


@pipeline
def swapped_reductions():
    """Two Funcs whose loads coalesce along different dimensions."""
    a, b = image(F32, "a", 100, 100), image(F32, "b", 100, 100)
    r = hl.RDom([hl.Range(0, 100)])
    f, g = func("f", (x, y), 0.0), func("g", (x, y), 0.0)
    f[x, y] += a[x, r.x] * a[r.x, y]
    g[x, y] += b[y, r.x] * f[r.x, x]
    return [out(func("o", (x, y), f[x, y] + g[y, x]), 100, 100)]


@pipeline
def two_gathers():
    """Two outputs read one Func at places that depend on data."""
    im = image(I32, "im", 1000, 1000)
    f = func("f", (x, y), costly(x, y))
    at = hl.clamp(im[x, y], 0, 999)
    g = func("g", (x, y), f[at, y])
    h = func("h", (x, y), f[x, at] * 2.0)
    return [out(g, 1000, 1000), out(h, 1000, 1000)]


@pipeline
def copy_of_copy():
    """Two copies of an image."""
    im = image(F32, "im", 2048, 2048)
    f = func("f", (x, y), im[x, y])
    return [out(func("o", (x, y), f[x, y]), 2048, 2048)]


@pipeline
def fifteen_points():
    """An image that cannot fill a warp."""
    im = image(F32, "im", 3, 5)
    return [out(func("f", (x, y), im[x, y] * 2.0), 3, 5)]


@pipeline
def copy_in_seven_dimensions():
    """More dimensions than a grid has."""
    v = tuple(hl.Var(f"v{i}") for i in range(7))
    im = image(F32, "im", 2, 3, 5, 7, 11, 13, 4)
    return [out(func("f", v, im[v]), 2, 3, 5, 7, 11, 13, 4)]


@pipeline
def transposed_outputs():
    """Each of four Funcs reads the one before it transposed; two are outputs."""
    im = image(F32, "im", 2048, 2048)
    f = func("f", (x, y), im[x, y] * 2.0)
    g = func("g", (x, y), f[y, x] + 1.0)
    h = func("h", (x, y), g[y, x] * 3.0)
    a, b = func("a", (x, y), h[y, x]), func("b", (x, y), h[x, y] + 2.0)
    return [out(a, 2048, 2048), out(b, 2048, 2048)]


@pipeline
def stencils_and_gather():
    """A chain of stencils whose source is read at random places as well."""
    source = func("source", (x, y), costly(x, y))
    f = source
    for k in range(8):
        f = func(f"f{k}", (x, y), box(f, 3))
    at = hl.clamp(hl.cast(I32, f[x, y]), 0, 2000)
    return [out(func("o", (x, y), f[x, y] + source[at, y]), 2048, 2048)]


@pipeline
def short_rows():
    """The first dimension is too short for the lanes of a warp."""
    im = image(F32, "im", 2048, 10)
    r = hl.RDom([hl.Range(0, 10)])
    f = func("f", (x, y), hl.cast(F32, x + y))
    f[x, y] += im[y, r.x]
    return [out(func("o", (x, y), f[x, y] * 2.0), 10, 2048)]


@pipeline
def pyramid_of_four_levels():
    """Down and up again, with the edge repeated."""
    base = hl.BoundaryConditions.repeat_edge(image(F32, "im", 1024, 1024))
    levels = [base]
    for k in range(1, 4):
        last = levels[-1]
        taps = [last[2 * x + i, 2 * y + j] for i in (0, 1) for j in (0, 1)]
        levels.append(func(f"down{k}", (x, y), total(taps) / 4.0))
    up = levels[-1]
    for k in (2, 1, 0):
        up = func(f"up{k}", (x, y), levels[k][x, y] + up[x / 2, y / 2])
    return [out(up, 1024, 1024)]


@pipeline
def scan_down_and_up():
    """Two scans of one Func in opposite directions."""
    im = image(F32, "im", 2048, 2048)
    f = func("f", (x, y), im[x, y])
    r = hl.RDom([hl.Range(1, 2047)])
    f[x, r.x] += f[x, r.x - 1]
    f[x, 2047 - r.x] += f[x, 2048 - r.x]
    return [out(func("o", (x, y), f[x, y]), 2048, 2048)]


@pipeline
def plain_histogram():
    """An update that nothing but one thread can do."""
    im = image(U8, "im", 2000, 2000)
    r = hl.RDom([hl.Range(0, 2000), hl.Range(0, 2000)])
    h = func("h", (x,), hl.cast(I32, 0))
    h[hl.cast(I32, im[r.x, r.y])] += 1
    return [out(h, 256)]


@pipeline
def scalar_sum():
    """A reduction to a scalar, and a scalar Func made of it."""
    im = image(F32, "im", 2000, 2000)
    r = hl.RDom([hl.Range(0, 2000), hl.Range(0, 2000)])
    s, o = hl.Func("s"), hl.Func("o")
    s[()] = 0.0
    s[()] += im[r.x, r.y]
    o[()] = s[()] * 2.0
    o.set_estimates([])
    return [o]
