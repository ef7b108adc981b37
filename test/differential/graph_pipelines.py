"""Pipelines for comparing function graphs, by name, and random ones called index_<seed>.

Each puts one part of the analysis to the test: shapes of coordinates, kinds of updates, types,
parameters, boundary conditions, predicates. As schedules they are of no interest.
"""

import random

import halide as hl

from pipelines import F32, I32, U8, U16, func, image, out

x, y, c = (hl.Var(n) for n in ("x", "y", "c"))
F64, I16, I64 = hl.Float(64), hl.Int(16), hl.Int(64)

PIPELINES = {}


def pipeline(function):
    PIPELINES[function.__name__] = function
    return function


def ramp(name="ramp", dims=2):
    """A Func without producers."""
    args = (x, y, c)[:dims]
    return func(name, args, sum((hl.cast(F32, v) for v in args[1:]), hl.sin(hl.cast(F32, x))))


def sum_of(funcs):
    return out(func("all", (x, y), sum((f[x, y] for f in funcs[1:]), funcs[0][x, y])), 64, 64)


def accesses(coordinates, dims=2):
    """One Func per access of a ramp, and their sum."""
    f = ramp(dims=dims)
    return [sum_of([func(f"access{i}", (x, y), f[at] * 2.0) for i, at in enumerate(coordinates)])]


@pipeline
def linear_coordinates():
    return accesses([(x + 1, y - 4), (y, x), (x, x), (5000 - x, y), (-x, -2 * y + 3), (3 * x + 5 * y + 7, (x * 4 + 2) * 3),
                     (hl.likely(x) + 1, hl.likely(y * 3))])


@pipeline
def fractional_coordinates():
    return accesses([(x // 2, y), (x // 2 + 1, y), (x // 3 + 1, y), ((x + 1) // 2, y), (x // 2 + y // 2, y), (x // 3 + x // 5, x // 2 + x // 6),
                     (x // 2 + x // 4, x // 3 - y // 3), (x // (-3) + x // 3, y // (-6) + x // 10), (x >> 1, y << 2)])


@pipeline
def non_linear_coordinates():
    return accesses([(x % 7, (y * 3) % 11), (hl.min(x, 10), hl.max(y, 3) + x), (hl.clamp(x - 1, 0, 63), hl.clamp(y + 2, 0, 63)),
                     (hl.select(x > 5, x, 3), y), (hl.cast(I32, hl.cast(U8, x)), y), (hl.cast(I32, hl.abs(x - 9)), y)])


@pipeline
def sliced_accesses():
    return accesses([(x, y, 3), (y, x, 0), (x, y, x), (0, y, x), (x, 1, 2)], dims=3)


@pipeline
def shared_subexpressions():
    f = ramp()
    i = (x * 17 + y * 3) // 5
    a = func("a", (x, y), f[i + 1, y] + f[i + 2, y] * f[(i + 2) * 2, y])
    b = func("b", (x, y), f[x, y] * f[x, y] + hl.sin(f[x, y]) + hl.sin(f[x, y]) * f[x + 1, y] * f[y, x])
    return [sum_of([a, b])]


@pipeline
def scalars():
    f = hl.Func("f")
    f[()] = hl.sin(1.0)
    f[()] = f[()] * 2.0
    r = hl.RDom([hl.Range(0, 10), hl.Range(0, 20)])
    total = hl.Func("total")
    total[()] = 0.0
    total[()] += ramp()[r.x, r.y]
    return [out(func("o", (x, y), f[()] + total[()] + hl.cast(F32, x)), 64, 64)]


@pipeline
def updates_at_fixed_places():
    f, p = ramp(), hl.Func("p")
    p[x, y] = f[x, y]
    p[0, y] = f[1, y] * 2.0
    p[x, 3] = p[x, 4] + f[x, 2]
    p[5, 6] = 1.0
    return [out(func("o", (x, y), p[x, y] + p[x + 1, y]), 64, 64)]


@pipeline
def updates_with_domains():
    f, s = ramp(), hl.Func("s")
    r = hl.RDom([hl.Range(0, 32), hl.Range(0, 16)])
    s[x, y] = 0.0
    s[r.x * 2, y] += f[r.x, y]
    s[r.x, 0] = s[r.x, 0] * 2.0
    s[r.x * 2 - r.y // 3, r.y % 5] += f[r.x, r.y]
    s[x, hl.clamp(r.x, 3, 9)] = 1.0
    return [out(func("o", (x, y), s[x, y] + s[x // 2, y]), 64, 64)]


@pipeline
def reordered_by_the_user():
    f, t = ramp(), hl.Func("t")
    t[x, y] = f[x, y] + f[y, x]
    t.reorder(y, x)
    r = hl.RDom([hl.Range(0, 20)])
    t[x, y] += f[x + r.x, y]
    t.update(0).reorder(x, y, r.x)
    return [out(func("o", (x, y), t[x, y] + t[x + 1, y]), 64, 64)]


@pipeline
def histogram_of_a_func():
    g = func("g", (x, y), hl.cast(U8, x * y))
    r = hl.RDom([hl.Range(0, 256), hl.Range(0, 256)])
    h = hl.Func("h")
    h[x] = 0
    h[hl.cast(I32, g[r.x, r.y])] += hl.cast(I32, g[r.x, r.y])
    return [out(func("o", (x,), h[x] * 2), 200)]


@pipeline
def predicate():
    f, g, s = ramp("f"), ramp("g"), hl.Func("s")
    r = hl.RDom([hl.Range(0, 30), hl.Range(-3, 7)])
    r.where(r.x + r.y < 20)
    r.where(g[r.x, r.y] > 0.5)
    s[x, y] = 0.0
    s[x, y] += f[x + r.x, y + r.y]
    return [out(func("o", (x, y), s[x, y]), 64, 64)]


@pipeline
def tuple_and_argmax():
    t = func("t", (x, y), hl.Tuple([x + y, hl.cast(F64, x * y)]))
    r = hl.RDom([hl.Range(-2, 5)])
    best = func("best", (x, y), hl.argmax(ramp()[x + r.x, y])[0])
    o = func("o", (x, y), hl.Tuple([t[x, y][0] + t[x + 1, y][1], t[y, x][0] + best[x, y]]))
    return [out(o, 64, 64)]


@pipeline
def types():
    im8, im16 = image(U8, "im8", 64, 64), image(I16, "im16", 64, 64)
    f = func("f", (x, y), hl.cast(U16, im8[x, y]) * 3 + hl.cast(U16, im16[x, y]))
    b = func("b", (x, y), f[x, y] > hl.cast(U16, 7))
    d = func("d", (x, y), hl.cast(F64, f[x, y]) * 2.5)
    w = func("w", (x, y), hl.cast(I64, f[x, y]) * 1234567890123)
    test = b[x, y] & (f[x, y] != hl.cast(U16, 3)) | ~b[x + 1, y]
    return [out(func("o", (x, y), hl.select(test, hl.cast(F32, d[x, y]) / hl.cast(F32, w[x, y] % 7), hl.pow(hl.cast(F32, f[x, y]), 2.2))), 62, 62)]


@pipeline
def parameters():
    p, q = hl.Param(I32, "p"), hl.Param(F32, "q")
    p.set_estimate(10)
    q.set_estimate(1.5)
    im, f, s = image(F32, "im", 80, 80), ramp(), hl.Func("s")
    r = hl.RDom([hl.Range(0, p), hl.Range(p - 3, p * 2)])
    s[x, y] = f[x, y] * q + f[x, y + p]
    s[x, p] = 3.0
    s[hl.clamp(p, 2, 9) + 1, y] = 4.0
    s[x, y] += f[x + r.x, y * 2 + r.y]
    edge = func("edge", (x, y), im[hl.clamp(x, 0, im.width() - 1), hl.clamp(y, 0, im.height() - 1)])
    return [out(func("o", (x, y), s[x, y] + edge[x - 1, y]), 64, 64)]


@pipeline
def boundary_conditions():
    im = image(F32, "im", 64, 64)
    b = hl.BoundaryConditions
    funcs = [b.repeat_edge(im), b.mirror_image(im), b.mirror_interior(im), b.repeat_image(im)]
    return [out(func("o", (x, y), sum((f[x - 1, y + 2] for f in funcs[1:]), funcs[0][x + 1, y])), 64, 64)]


@pipeline
def concrete_buffer():
    data = hl.Buffer(F32, [64, 64])
    data.fill(1.0)
    w = func("w", (x, y), data[x, y])
    f = func("f", (x, y), data[x, y] * 2 + w[x, y])
    return [out(func("o", (x, y), f[x, y] + w[y, x]), 64, 64)]


@pipeline
def ranges_of_values():
    im = image(U8, "im", 64, 64)
    t = func("t", (x,), hl.pow(hl.cast(F32, x) / 255.0, 0.45))
    g = func("g", (x, y), hl.cast(U8, im[x, y] // 2 + 3))
    return [out(func("o", (x, y), t[hl.cast(I32, g[x, y])] + t[hl.cast(I32, im[x, y]) + 5]), 64, 64)]


@pipeline
def intrinsics():
    f = ramp()
    value = hl.abs(f[x, y]) + hl.floor(f[x, y]) + hl.cast(F32, hl.absd(x, y)) + hl.lerp(f[x, y], f[x + 1, y], 0.25)
    return [out(func("o", (x, y), value + hl.cast(F32, hl.count_leading_zeros(x)) + hl.random_float()), 64, 64)]


@pipeline
def hundred_funcs():
    f = ramp()
    for i in range(100):
        f = func(f"s{i}", (x, y), f[x, y] + f[x + 1, y] + f[x, y + 1])
    return [out(f, 256, 256)]


class RandomAccesses:
    """A chain of Funcs that read each other at random coordinates."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.offset = hl.Param(I32, "offset")
        self.offset.set_estimate(self.random.randint(1, 9))
        self.image = image(U8, "im", 300, 200)
        self.funcs = []

    def coordinate(self, variables, depth=3):
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice(variables) + 0
        sub = lambda: self.coordinate(variables, depth - 1)
        factor = r.choice([2, 3, 4, 5, 7, 8, -1, -2, -3])
        return r.choice([
            lambda: sub() + r.randint(-4, 4), lambda: sub() + sub(), lambda: sub() - sub(), lambda: r.randint(3, 60) - sub(),
            lambda: sub() * factor, lambda: sub() // factor, lambda: sub() % r.choice([2, 3, 5, 16]),
            lambda: hl.min(sub(), r.randint(0, 50)), lambda: hl.max(sub(), sub()), lambda: hl.clamp(sub(), r.randint(-3, 3), r.randint(10, 60)),
            lambda: hl.select(sub() > r.randint(0, 30), sub(), sub()), lambda: sub() + self.offset, lambda: hl.likely(sub()),
            lambda: hl.cast(I32, hl.abs(sub() - 3)),
            lambda: hl.cast(I32, self.image[hl.clamp(r.choice(variables), 0, 199), hl.clamp(r.choice(variables), 0, 99)]) + sub()])()

    def value(self, variables, depth=3):
        r = self.random
        if depth == 0 or r.random() < 0.5:
            if not self.funcs or r.random() < 0.15:
                return hl.cast(F32, r.choice(variables))
            f = r.choice(self.funcs[-3:])
            at = [r.choice(variables) + r.randint(-2, 2) if r.random() < 0.5 else self.coordinate(variables) for _ in range(f.dimensions())]
            return f[tuple(at)] * 1.5
        sub = lambda: self.value(variables, depth - 1)
        return r.choice([lambda: sub() + sub(), lambda: sub() * sub(), lambda: sub() - sub(), lambda: hl.min(sub(), sub()),
                         lambda: hl.select(sub() > sub(), sub(), sub()), lambda: hl.sin(sub()), lambda: sub() / 2.0,
                         lambda: hl.cast(F32, hl.cast(U8, sub()))])()

    def add_update(self, f, variables):
        r = self.random
        domain = hl.RDom([hl.Range(r.randint(-2, 3), r.choice([3, 5, self.offset + 2])), hl.Range(0, 4)])
        at = list(variables)
        if r.random() < 0.6:
            at[-1] = hl.clamp(self.coordinate([domain.x, domain.y], 2), 0, 40)
        free = at[:-1] if at[-1] is not variables[-1] else at
        f[tuple(at)] += self.value(free + [domain.x, domain.y], 2)
        if r.random() < 0.3:
            f[tuple(variables)] = f[tuple(variables)] * 2.0 + self.value(variables, 1)

    def build(self):
        r = self.random
        count = r.randint(2, 6)
        for i in range(count):
            variables = [x, y, c] if i < count - 1 and r.random() < 0.2 else [x, y]
            f = func(f"f{i}", tuple(variables), self.value(variables))
            if r.random() < 0.35:
                self.add_update(f, variables)
            self.funcs.append(f)
        self.funcs[-1].set_estimates([hl.Range(r.choice([0, -5, 7]), 64), hl.Range(0, 80)])
        return [self.funcs[-1]]


def make(name):
    """The pipeline of that name, or None."""
    if name in PIPELINES:
        return PIPELINES[name]()
    if name.startswith("index_"):
        return RandomAccesses(int(name.split("_")[1])).build()
    return None
