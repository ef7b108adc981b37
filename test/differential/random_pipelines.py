"""Seeded random pipelines of 1 to 20 Funcs; `random_<seed>` names one.

Every Func is made from one or two earlier ones by a step of a random kind. All Funcs that nothing
reads at the end become outputs (at most three; further ones are added into the last).
"""

import random

import halide as hl

F32, U8, U16, I32 = hl.Float(32), hl.UInt(8), hl.UInt(16), hl.Int(32)


class Builder:
    """Holds the Funcs made so far, all of the same dimensions."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dims = self.random.choice([1, 2, 2, 2, 3])
        self.vars = [hl.Var(n) for n in ("x", "y", "c")[:self.dims]]
        self.extents = [self.random.choice([64, 97, 256, 300, 512, 1000])
                        if d < 2 else self.random.choice([1, 3, 4, 16]) for d in range(self.dims)]
        self.count = 0
        self.funcs = []
        self.unread = []
        kind = self.random.choice([F32, F32, U8, U16, I32])
        image = hl.ImageParam(kind, self.dims, "im")
        image.set_estimates([hl.Range(-64, 4 * e + 512) for e in self.extents])
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
                    value = value + f(self.shifted(([i, j] + [0])[:self.dims]))
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

    def build(self):
        kinds = [self.pointwise, self.pointwise, self.combine, self.combine, self.stencil,
                 self.stencil, self.box, self.downsample, self.upsample, self.transpose,
                 self.reduction, self.scan, self.column_update, self.histogram]
        for _ in range(self.random.choice([1, 2, 3, 4, 5, 6, 8, 10, 14, 20])):
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
