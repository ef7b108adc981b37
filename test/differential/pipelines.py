"""Small pipelines for tests, by name. Each function returns the list of output Funcs, with estimates.

They cover what an autoscheduler meets: pointwise chains, stencils, resampling, reductions, scans,
histograms, transposes, updates, several outputs, tuples, scalars, boundary conditions, odd types.
"""

import halide as hl

x, y, c, z = (hl.Var(n) for n in ("x", "y", "c", "z"))
F32, U8, U16, I32 = hl.Float(32), hl.UInt(8), hl.UInt(16), hl.Int(32)

PIPELINES = {}


def pipeline(function):
    PIPELINES[function.__name__] = function
    return function


def image(kind, name, *sizes):
    param = hl.ImageParam(kind, len(sizes), name)
    param.set_estimates([hl.Range(0, s) for s in sizes])
    return param


def func(name, args, value):
    f = hl.Func(name)
    f[args] = value
    return f


def out(f, *sizes):
    f.set_estimates([hl.Range(0, s) for s in sizes])
    return f


@pipeline
def pointwise_chain():
    f = func("f", (x, y), (x + y) * (x + y))
    g = func("g", (x, y), f[x, y] * 2 + 1)
    return [out(func("h", (x, y), g[x, y] * 2 + 1), 1000, 1000)]


@pipeline
def diagonal_stencils():
    f = func("f", (x, y), (x + y) * (x + 2 * y) * (x + 3 * y) * (x + 4 * y) * (x + 5 * y))
    g = func("g", (x, y), sum((f[x + i, y + i] for i in range(1, 20)), f[x, y]))
    return [out(func("h", (x, y), sum((g[x + i, y + i] for i in range(1, 20)), g[x, y])), 1000, 1000)]


@pipeline
def stencil_distance_9():
    im = image(F32, "im", 2200, 2200)
    f = func("f", (x, y), im[x, y] * 2 + 3)
    taps = [f[x + 9 * i, y + 9 * j] for i in range(3) for j in range(3)]
    return [out(func("h", (x, y), sum(taps[1:], taps[0])), 2048, 2048)]


@pipeline
def stencil_chain_5():
    im = image(U16, "im", 2100, 2100)
    f = func("f0", (x, y), im[x, y])
    for k in range(1, 6):
        g = func(f"f{k}", (x, y), f[x, y] + f[x + 1, y] + f[x, y + 1] + f[x + 2, y + 2])
        f = g
    return [out(f, 2048, 2048)]


@pipeline
def outer_product():
    a, b = image(F32, "a", 2048), image(F32, "b", 2048)
    return [out(func("f", (x, y), a[x] * b[y]), 2048, 2048)]


@pipeline
def separable_downsample():
    im = image(F32, "im", 2056, 2056, 3)
    f = func("f", (x, y, c), hl.exp(im[x, y, c]))
    d = func("d", (x, y, c), f[2 * x, y, c] + f[2 * x + 1, y, c] + f[2 * x + 2, y, c])
    e = func("e", (x, y, c), d[x, 2 * y, c] + d[x, 2 * y + 1, c] + d[x, 2 * y + 2, c])
    return [out(e, 1024, 1024, 3)]


@pipeline
def matrix_multiply():
    n = 1024
    a, b = image(F32, "a", n, n), image(F32, "b", n, n)
    r = hl.RDom([hl.Range(0, n)])
    p = func("p", (x, y), 0.0)
    p[x, y] += a[x, r.x] * b[r.x, y]
    return [out(func("o", (x, y), p[x, y] * 2.0), n, n)]


@pipeline
def scan_between_pointwise():
    im = image(F32, "im", 2048, 2048)
    a = func("a", (x, y), im[x, y] * 2.0)
    s = func("s", (x, y), a[x, y])
    r = hl.RDom([hl.Range(1, 2047)])
    s[x, r.x] += s[x, r.x - 1]
    b = func("b", (x, y), s[y, x] + 1.0)
    return [out(func("o", (x, y), b[x, y] * 3.0), 2048, 2048)]


@pipeline
def two_reductions_transposed():
    a, b = image(F32, "a", 100, 2048), image(F32, "b", 2048, 100)
    r = hl.RDom([hl.Range(0, 100)])
    f = func("f", (x,), 0.0)
    f[x] += a[r.x, x]
    g = func("g", (x,), 0.0)
    g[x] += b[x, r.x]
    return [out(func("o", (x, y), f[x] * g[y]), 2048, 2048)]


@pipeline
def two_outputs():
    im = image(F32, "im", 1100, 1100)
    f = func("f", (x, y), hl.sqrt(im[x, y] + im[x + 1, y + 1]))
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    h = func("h", (x, y), f[x, y] * f[x, y + 1])
    return [out(g, 1024, 1024), out(h, 1024, 1024)]


@pipeline
def tiny_image():
    im = image(F32, "im", 3, 5)
    return [out(func("f", (x, y), im[x, y] * 2.0), 3, 5)]


@pipeline
def histogram_equalisation():
    im = image(U8, "im", 1536, 1024)
    r = hl.RDom([hl.Range(0, 1536), hl.Range(0, 1024)])
    hist = func("hist", (x,), hl.cast(I32, 0))
    hist[hl.cast(I32, im[r.x, r.y])] += 1
    cdf = func("cdf", (x,), hist[0])
    rb = hl.RDom([hl.Range(1, 255)])
    cdf[rb.x] = cdf[rb.x - 1] + hist[rb.x]
    lut = cdf[hl.cast(I32, im[x, y])] * (255.0 / (1536 * 1024))
    return [out(func("o", (x, y), hl.cast(U8, hl.clamp(lut, 0.0, 255.0))), 1536, 1024)]


@pipeline
def scalar_reduction():
    im = image(F32, "im", 1000)
    r = hl.RDom([hl.Range(0, 1000)])
    s = hl.Func("s")
    s[()] = 0.0
    s[()] += im[r.x]
    return [out(func("o", (x,), im[x] - s[()] * 0.001), 1000)]


@pipeline
def pyramid():
    im = image(F32, "im", 1024, 1024)
    level = hl.BoundaryConditions.repeat_edge(im)
    levels = [level]
    for k in range(1, 4):
        prev = levels[-1]
        levels.append(func(f"d{k}", (x, y), (prev[2 * x, 2 * y] + prev[2 * x + 1, 2 * y] +
                                             prev[2 * x, 2 * y + 1] + prev[2 * x + 1, 2 * y + 1]) * 0.25))
    up = levels[-1]
    for k in reversed(range(0, 3)):
        up = func(f"u{k}", (x, y), up[x // 2, y // 2] * 0.5 + levels[k][x, y])
    return [out(up, 1024, 1024)]


@pipeline
def tuple_chain():
    im = image(F32, "im", 1030, 1030)
    f = hl.Func("f")
    f[x, y] = (im[x, y] * 2.0, hl.cast(I32, im[x + 1, y]))
    g = func("g", (x, y), f[x, y][0] + hl.cast(F32, f[x + 1, y + 1][1]))
    return [out(g, 1024, 1024)]


@pipeline
def convolution_layer():
    im, w = image(F32, "im", 66, 66, 16, 4), image(F32, "w", 3, 3, 16, 32)
    n = hl.Var("n")
    r = hl.RDom([hl.Range(0, 3), hl.Range(0, 3), hl.Range(0, 16)])
    k = func("k", (c, x, y, n), 0.0)
    k[c, x, y, n] += w[r.x, r.y, r.z, c] * im[x + r.x, y + r.y, r.z, n]
    return [out(func("relu", (c, x, y, n), hl.max(k[c, x, y, n], 0.0)), 32, 64, 64, 4)]


@pipeline
def seven_dimensions():
    v = [hl.Var(f"v{i}") for i in range(7)]
    im = image(F32, "im", 8, 9, 10, 5, 3, 2, 6)
    return [out(func("f", tuple(v), im[tuple(v)] + 1.0), 8, 9, 10, 5, 3, 2, 6)]


@pipeline
def upsample_bytes():
    im = image(U8, "im", 514, 514)
    s = func("s", (x, y), hl.cast(U16, im[x, y]) + im[x + 1, y])
    a = func("a", (x, y), s[x // 2, y] + s[(x + 1) // 2, y])
    return [out(func("o", (x, y), hl.cast(U8, (a[x, y // 2] + a[x, (y + 1) // 2]) // 8)), 1024, 1024)]


@pipeline
def harris_like():
    im = image(F32, "im", 1538, 1026, 3)
    gray = func("gray", (x, y), 0.299 * im[x, y, 0] + 0.587 * im[x, y, 1] + 0.114 * im[x, y, 2])
    ix = func("ix", (x, y), gray[x + 2, y] - gray[x, y] + 2 * (gray[x + 2, y + 1] - gray[x, y + 1]))
    iy = func("iy", (x, y), gray[x, y + 2] - gray[x, y] + 2 * (gray[x + 1, y + 2] - gray[x + 1, y]))
    ixx = func("ixx", (x, y), ix[x, y] * ix[x, y])
    iyy = func("iyy", (x, y), iy[x, y] * iy[x, y])
    ixy = func("ixy", (x, y), ix[x, y] * iy[x, y])

    def sum3x3(name, f):
        taps = [f[x + i, y + j] for i in range(3) for j in range(3)]
        return func(name, (x, y), sum(taps[1:], taps[0]))

    sxx, syy, sxy = sum3x3("sxx", ixx), sum3x3("syy", iyy), sum3x3("sxy", ixy)
    det = func("det", (x, y), sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y])
    trace = func("trace", (x, y), sxx[x, y] + syy[x, y])
    return [out(func("o", (x, y), det[x, y] - 0.04 * trace[x, y] * trace[x, y]), 1532, 1020)]


@pipeline
def constant_column_update():
    im = image(F32, "im", 1024, 1024)
    f = func("f", (x, y), im[x, y])
    f[0, y] = 1.0
    f[x, y] += im[x, y] * 0.5
    return [out(func("o", (x, y), f[x, y] + f[x + 1, y]), 1023, 1024)]


@pipeline
def blur_of_matrix_product():
    n = 512
    a, b = image(F32, "a", n, n), image(F32, "b", n, n)
    r = hl.RDom([hl.Range(0, n)])
    p = func("p", (x, y), 0.0)
    p[x, y] += a[x, r.x] * b[r.x, y]
    q = func("q", (x, y), p[x, y] + p[x + 1, y] + p[x + 2, y])
    return [out(func("o", (x, y), q[x, y] + q[x, y + 1]), 500, 500)]
