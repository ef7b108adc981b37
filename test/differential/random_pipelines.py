"""Seeded random pipelines of 1 to 20 Funcs; `random_<seed>` names one.

Every Func is made from one or two earlier ones by a step of a random kind. All Funcs that nothing
reads at the end become outputs (at most three; further ones are added into the last).
"""

import random

import halide as hl

F32, F64 = hl.Float(32), hl.Float(64)
U8, U16, I16, I32 = hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32)


class Builder:
    """Holds the Funcs made so far, all of the same dimensions."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dims = self.random.choice([1, 2, 2, 2, 3, 3, 4])
        self.vars = [hl.Var(n) for n in ("x", "y", "c", "n")[:self.dims]]
        self.extents = [self.random.choice([64, 97, 256, 300, 512, 1000])
                        if d < 2 else self.random.choice([1, 3, 4, 16]) for d in range(self.dims)]
        self.count = 0
        self.funcs = []
        self.unread = []
        kind = self.random.choice([F32, F32, U8, U16, I32])
        image = hl.ImageParam(kind, self.dims, "im")
        image.set_estimates([hl.Range(-64, 16 * e + 512) for e in self.extents])
        if self.random.random() < 0.3:
            source = hl.BoundaryConditions.repeat_edge(image)
            self.source = lambda at: source[tuple(at)]
        else:
            self.source = lambda at: image[tuple(at)]

    def add(self, value):
        f = self.define(value)
        self.funcs.append(f)
        self.unread.append(f)
        return f

    def define(self, value):
        f = hl.Func(f"f{self.count}")
        self.count += 1
        f[tuple(self.vars)] = value
        return f

    def pick(self):
        """A value source: an earlier Func (recent ones more often) or the image, as callable."""
        if not self.funcs or self.random.random() < 0.15:
            return lambda at: hl.cast(F32, self.source(at))
        f = self.funcs[max(-len(self.funcs), -1 - int(self.random.expovariate(0.8)))]
        if f in self.unread:
            self.unread.remove(f)
        return lambda at: f[tuple(at)]

    def shifted(self, offsets):
        return [v + o if o else v for v, o in zip(self.vars, offsets)]

    # Steps. Each returns the value of a new Func, or defines it itself.

    def pointwise(self):
        a = self.pick()(self.vars)
        return self.random.choice([lambda: a * 2.0 + 1.0, lambda: hl.sqrt(hl.abs(a)),
                                   lambda: hl.select(a > 0.5, a, a * a),
                                   lambda: hl.clamp(a, 0.0, 255.0), lambda: hl.exp(a) - a])()

    def combine(self):
        return self.pick()(self.vars) * 0.5 + self.pick()(self.vars)

    def stencil(self):
        f, axis = self.pick(), self.random.randrange(self.dims)
        reach, step = self.random.choice([1, 2, 3]), self.random.choice([1, 1, 1, 5])
        value = f(self.vars)
        for k in range(1, reach + 1):
            offsets = [0] * self.dims
            offsets[axis] = k * step
            value = value + f(self.shifted(offsets))
        return value

    def box(self):
        f = self.pick()
        value = f(self.vars)
        for i in range(3):
            for j in range(3 if self.dims > 1 else 1):
                if i or j:
                    value = value + f(self.shifted(([i, j] + [0] * 2)[:self.dims]))
        return value

    def downsample(self):
        f, axis = self.pick(), self.random.randrange(min(2, self.dims))
        at = list(self.vars)
        at[axis] = at[axis] * 2
        bt = list(at)
        bt[axis] = bt[axis] + 1
        return (f(at) + f(bt)) * 0.5

    def upsample(self):
        f, axis = self.pick(), self.random.randrange(min(2, self.dims))
        at = list(self.vars)
        at[axis] = at[axis] // 2
        bt = list(self.vars)
        bt[axis] = (bt[axis] + 1) // 2
        return f(at) + f(bt)

    def transpose(self):
        if self.dims < 2:
            return self.pointwise()
        at = list(self.vars)
        at[0], at[1] = at[1], at[0]
        return self.pick()(at)

    def reduction(self):
        f = self.pick()
        r = hl.RDom([hl.Range(0, self.random.choice([3, 8, 32]))])
        at = list(self.vars)
        at[-1] = at[-1] + r.x
        g = self.define(0.0)
        g[tuple(self.vars)] += f(at)
        return g

    def scan(self):
        if self.extents[-1] == 1:
            return self.pointwise()
        f = self.pick()
        g = self.define(f(self.vars))
        r = hl.RDom([hl.Range(1, self.extents[-1] - 1)])
        here, before = list(self.vars), list(self.vars)
        here[-1], before[-1] = r.x, r.x - 1
        g[tuple(here)] = g[tuple(before)] * 0.5 + g[tuple(here)]
        return g

    def column_update(self):
        f = self.pick()
        g = self.define(f(self.vars))
        at = list(self.vars)
        at[0] = hl.Expr(0)
        if self.dims > 1:
            g[tuple(at)] = 1.0
        g[tuple(self.vars)] += f(self.vars)
        return g

    def histogram(self):
        f = self.pick()
        h = hl.Func(f"f{self.count}")
        self.count += 1
        i = hl.Var("i")
        h[i] = 0
        domain = hl.RDom([hl.Range(0, e) for e in self.extents])
        at = [domain[d] for d in range(self.dims)]
        h[hl.cast(I32, hl.clamp(f(at), 0.0, 255.0))] += 1
        index = hl.cast(I32, hl.clamp(self.pick()(self.vars), 0.0, 255.0))
        return hl.cast(F32, h[index])

    # Kinds that define several Funcs, or change type or dimensions on the way.

    def tuple_pair(self):
        """A Func with two values of different types, and one that reads both."""
        a, b = self.pick()(self.vars), self.pick()(self.vars)
        f = hl.Func(f"f{self.count}")
        self.count += 1
        f[tuple(self.vars)] = (a * 2.0, hl.cast(self.random.choice([I32, U16, F64]), b))
        at = self.shifted([1] + [0] * (self.dims - 1))
        return f[tuple(self.vars)][0] + hl.cast(F32, f[tuple(at)][1])

    def tuple_reduction(self):
        """Largest value along the last dimension, and where it is."""
        f = self.pick()
        g = hl.Func(f"f{self.count}")
        self.count += 1
        here = tuple(self.vars)
        g[here] = (hl.f32(-1e30), hl.i32(0))
        r = hl.RDom([hl.Range(0, self.random.choice([4, 9]))])
        at = list(self.vars)
        at[-1] = at[-1] + r.x
        value = f(at)
        larger = value > g[here][0]
        g[here] = (hl.select(larger, value, g[here][0]), hl.select(larger, r.x, g[here][1]))
        return g[here][0] + hl.cast(F32, g[here][1])

    def pyramid(self):
        """Down by two levels and up again, along all of the first two dimensions."""
        base = self.pick()
        levels = [base]
        for _ in range(self.random.choice([1, 2])):
            at = [v * 2 if d < 2 else v for d, v in enumerate(self.vars)]
            bt = [v * 2 + 1 if d < 2 else v for d, v in enumerate(self.vars)]
            down = self.define((levels[-1](at) + levels[-1](bt)) * 0.5)
            levels.append(lambda place, f=down: f[tuple(place)])
        value = levels[-1]
        for level in reversed(levels[:-1]):
            at = [v // 2 if d < 2 else v for d, v in enumerate(self.vars)]
            up = self.define(value(at) + level(self.vars))
            value = lambda place, f=up: f[tuple(place)]
        return value(self.vars) * 0.25

    def clamped(self):
        """A boundary condition around a Func, then a stencil."""
        f = self.define(self.pick()(self.vars))
        condition = self.random.choice([hl.BoundaryConditions.repeat_edge,
                                        hl.BoundaryConditions.mirror_interior,
                                        hl.BoundaryConditions.repeat_image])
        padded = condition(f, [(0, e) for e in self.extents])
        before = self.shifted([-1] + [0] * (self.dims - 1))
        after = self.shifted([1] + [0] * (self.dims - 1))
        return padded[tuple(before)] + padded[tuple(self.vars)] * 2.0 + padded[tuple(after)]

    def typed(self):
        """Through a Func of another type."""
        kind = self.random.choice([U8, U16, I32, F64, I16, hl.UInt(32)])
        g = self.define(hl.cast(kind, hl.clamp(self.pick()(self.vars), 0.0, 255.0)))
        after = self.shifted([1] * self.dims)
        return hl.cast(F32, g[tuple(self.vars)]) + hl.cast(F32, g[tuple(after)])

    def fewer_dimensions(self):
        """A Func of the first dimension only, which all others share."""
        f = self.pick()
        g = hl.Func(f"f{self.count}")
        self.count += 1
        g[self.vars[0]] = f([self.vars[0]] + [hl.Expr(2)] * (self.dims - 1)) + 1.0
        return g[self.vars[0]] * f(self.vars)

    def more_dimensions(self):
        """A Func with one dimension more, of which two slices are read."""
        f, extra = self.pick(), hl.Var("w")
        g = hl.Func(f"f{self.count}")
        self.count += 1
        g[(*self.vars, extra)] = f(self.vars) * (extra + 1.0)
        return g[(*self.vars, 0)] + g[(*self.vars, 3)]

    def window_sum(self):
        """A reduction over a window in two loops."""
        f = self.pick()
        r = hl.RDom([hl.Range(-1, 3), hl.Range(0, self.random.choice([2, 5]))])
        at = list(self.vars)
        at[0], at[-1] = at[0] + r.x, at[-1] + r.y
        g = self.define(0.0)
        g[tuple(self.vars)] += f(at) * hl.cast(F32, r.x + 2)
        return g

    def repeated_updates(self):
        """Two to four updates of one Func."""
        g = self.define(self.pick()(self.vars))
        for _ in range(self.random.choice([2, 3, 4])):
            g[tuple(self.vars)] = g[tuple(self.vars)] * 0.5 + self.pick()(self.vars)
        return g

    def gather(self):
        """Reads at places that depend on data."""
        f, g = self.pick(), self.pick()
        at = list(self.vars)
        at[0] = hl.clamp(hl.cast(I32, g(self.vars)), 0, self.extents[0] - 1)
        return f(at)

    def build(self):
        kinds = [self.tuple_pair, self.tuple_reduction, self.pyramid, self.clamped, self.typed,
                 self.fewer_dimensions, self.more_dimensions, self.window_sum,
                 self.repeated_updates, self.gather,
                 self.pointwise, self.pointwise, self.combine, self.combine, self.stencil,
                 self.stencil, self.box, self.downsample, self.upsample, self.transpose,
                 self.reduction, self.scan, self.column_update, self.histogram]
        for _ in range(self.random.choice([1, 2, 3, 4, 5, 6, 8])):
            made = self.random.choice(kinds)()
            if isinstance(made, hl.Func):
                self.funcs.append(made)
                self.unread.append(made)
            else:
                self.add(made)
        outputs = self.unread[:2]
        rest = self.unread[2:]
        if rest:
            value = rest[0][tuple(self.vars)]
            for f in rest[1:]:
                value = value + f[tuple(self.vars)]
            outputs = outputs + [self.define(value)]
        for f in outputs:
            f.set_estimates([hl.Range(0, e) for e in self.extents])
        return outputs


def make(name):
    """The pipeline called `random_<seed>`."""
    return Builder(int(name.split("_")[1])).build()
