"""Seeded random pipelines on integers, small enough to be run by the thousand.

Every value is kept to 16 bits, so that no sum of a reduction overflows and results are the same
whatever the order of operations.
"""

import random
from dataclasses import dataclass

import halide as hl
import numpy as np

U8, U16, I16, I32 = hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32)
IMAGE_TYPES = ((U8, np.uint8), (U16, np.uint16), (I16, np.int16), (I32, np.int32))
EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 61, 64, 97, 128, 257)
MAX_POINTS = 20000
MASK = 0xffff


def random_of(text):
    return random.Random(text)


@dataclass
class Case:
    """One instance of a pipeline."""

    outputs: list
    # Sizes to run it at, the estimated one first.
    sizes: list
    # Pairs of an ImageParam and its values.
    images: list


class Builder:
    """Adds Funcs one by one; all have the dimensions of the pipeline, helpers may have others."""

    def __init__(self, seed, small, wide):
        self.seed = seed
        self.small = small
        # Stands for a 64-bit integer, which some back ends do not have.
        self.wide = hl.Int(64) if wide else I32
        self.rng = random_of(f"pipeline {seed}")
        self.dims = self.rng.choice([0, 1, 1, 2, 2, 2, 2, 3, 3] + ([] if small else [4, 5]))
        self.vars = [hl.Var(n) for n in ("x", "y", "z", "w", "v")[:self.dims]]
        self.extents = self.random_size()
        self.count = 0
        self.funcs, self.unread, self.images = [], [], []
        self.make_image()

    def random_size(self):
        extents, points = [], 1
        for _ in range(self.dims):
            extent = min(self.rng.choice(EXTENTS), MAX_POINTS // points)
            extents.append(extent)
            points *= extent
        return extents

    def make_image(self):
        """An image with a boundary condition, so that it may be read anywhere."""
        kind, numpy_kind = self.rng.choice(IMAGE_TYPES)
        extents = [self.rng.choice([1, 5, 16, 33]) for _ in range(self.dims)]
        image = hl.ImageParam(kind, self.dims, f"im{len(self.images)}")
        image.set_estimates([hl.Range(0, e) for e in extents])
        # Halide's dimensions are numpy's in reverse.
        values = np.random.default_rng(self.seed).integers(0, 251, extents[::-1])
        self.images.append((image, values.astype(numpy_kind)))
        if self.dims == 0:
            self.source = lambda at: hl.cast(I32, image[()])
            return
        condition = self.rng.choice([hl.BoundaryConditions.repeat_edge,
                                     hl.BoundaryConditions.mirror_image,
                                     hl.BoundaryConditions.mirror_interior,
                                     hl.BoundaryConditions.repeat_image])
        padded = condition(image, [hl.Range(0, e) for e in extents])
        self.source = lambda at: hl.cast(I32, padded[tuple(at)])

    def new_func(self):
        self.count += 1
        return hl.Func(f"f{self.count - 1}")

    def define(self, value):
        f = self.new_func()
        f[tuple(self.vars)] = value & MASK
        return f

    def pick(self):
        """An earlier Func, recent ones more often, or the image; as a function of coordinates."""
        if not self.funcs or self.rng.random() < 0.15:
            return self.source
        f = self.funcs[max(-len(self.funcs), -1 - int(self.rng.expovariate(0.8)))]
        if f in self.unread:
            self.unread.remove(f)
        return lambda at: hl.cast(I32, f[tuple(at)])

    def axis(self):
        return self.rng.randrange(self.dims) if self.dims else None

    def moved(self, axis, change):
        """The coordinates of a point with one of them changed."""
        at = [hl.Expr(v) for v in self.vars]
        if axis is not None:
            at[axis] = change(at[axis])
        return at

    # Steps; each returns the value of a new Func, or a Func.

    def pointwise(self):
        a = self.pick()(self.vars)
        return self.rng.choice([lambda: a * 3 + 1, lambda: hl.abs(a - 100),
                                lambda: hl.select(a > 50, a, a * 2), lambda: hl.clamp(a, 3, 200),
                                lambda: (a << 1) ^ (a >> 2), lambda: a % 17 + a // 3])()

    def combine(self):
        return self.pick()(self.vars) + self.pick()(self.vars) * 2

    def coordinates(self):
        value = hl.Expr(5)
        for k, v in enumerate(self.vars):
            value = value + v * (2 * k + 3)
        return value + self.pick()(self.vars)

    def stencil(self):
        f, axis, step = self.pick(), self.axis(), self.rng.choice([1, 1, 2, 7])
        value = f(self.vars)
        for k in range(1, self.rng.choice([2, 3, 6])):
            value = value + f(self.moved(axis, lambda v, k=k: v + k * step))
        return value

    def box(self):
        f, value = self.pick(), hl.Expr(0)
        for i in range(3):
            for j in range(3):
                at = [v + (i - 1 if d == 0 else j if d == 1 else 0)
                      for d, v in enumerate(self.vars)]
                value = value + f(at)
        return value

    def downsample(self):
        f, axis = self.pick(), self.axis()
        return f(self.moved(axis, lambda v: v * 2)) + f(self.moved(axis, lambda v: v * 2 + 1))

    def upsample(self):
        f, axis = self.pick(), self.axis()
        return f(self.moved(axis, lambda v: v // 2)) + f(self.moved(axis, lambda v: (v + 1) // 2))

    def transpose(self):
        at = [hl.Expr(v) for v in self.vars]
        self.rng.shuffle(at)
        return self.pick()(at)

    def flip(self):
        return self.pick()(self.moved(self.axis(), lambda v: 40 - v))

    def reduction(self):
        f, axis = self.pick(), self.axis()
        r = hl.RDom([hl.Range(self.rng.choice([0, -2]), self.rng.choice([1, 3, 8, 32]))])
        g = self.define(hl.Expr(0))
        g[tuple(self.vars)] += f(self.moved(axis, lambda v: v + r.x)) & 255
        return g

    def window(self):
        f, g = self.pick(), self.define(hl.Expr(1))
        r = hl.RDom([hl.Range(0, 3), hl.Range(-1, self.rng.choice([1, 4]))])
        if self.rng.random() < 0.5:
            r.where(r.x + r.y < 3)
        at = [v + (r.x if d == 0 else r.y if d == 1 else 0) for d, v in enumerate(self.vars)]
        g[tuple(self.vars)] = hl.max(g[tuple(self.vars)], f(at))
        return g

    def scan(self):
        axis = self.axis()
        if axis is None or self.extents[axis] == 1:
            return self.pointwise()
        g = self.define(self.pick()(self.vars))
        r = hl.RDom([hl.Range(1, self.extents[axis] - 1)])
        here = tuple(self.moved(axis, lambda v: hl.Expr(r.x)))
        before = tuple(self.moved(axis, lambda v: r.x - 1))
        g[here] = (g[before] // 2 + g[here]) & MASK
        return g

    def fixed_places(self):
        """Updates without loops, or along a line."""
        g = self.define(self.pick()(self.vars))
        for _ in range(self.rng.choice([1, 2])):
            g[tuple(hl.Expr(self.rng.randrange(3)) for _ in self.vars)] = self.rng.randrange(99)
        if self.dims:
            g[tuple(self.moved(self.axis(), lambda v: hl.Expr(1)))] = 7
        return g

    def updates(self):
        g = self.define(self.pick()(self.vars))
        for _ in range(self.rng.choice([1, 2, 3, 9])):
            g[tuple(self.vars)] = (g[tuple(self.vars)] // 2 + self.pick()(self.vars)) & MASK
        return g

    def histogram(self):
        f, h, i = self.pick(), self.new_func(), hl.Var("i")
        h[i] = 0
        if self.dims:
            r = hl.RDom([hl.Range(0, min(e, 40)) for e in self.extents])
            h[hl.clamp(f([r[d] for d in range(self.dims)]) % 64, 0, 63)] += 1
        else:
            h[hl.clamp(f(()), 0, 63)] += 1
        return h[hl.clamp(self.pick()(self.vars), 0, 63)]

    def scatter(self):
        axis = self.axis()
        if axis is None:
            return self.pointwise()
        f, g = self.pick(), self.define(self.pick()(self.vars))
        r = hl.RDom([hl.Range(0, self.rng.choice([1, 9, 30]))])
        place = hl.clamp(f(self.moved(axis, lambda v: hl.Expr(r.x))), 0, self.extents[axis] - 1)
        g[tuple(self.moved(axis, lambda v: place))] = 3 + r.x
        return g

    def gather(self):
        index, axis = self.pick()(self.vars), self.axis()
        return self.pick()(self.moved(axis, lambda v: hl.clamp(index % 50, 0, 49)))

    def pair(self):
        """A Func with two values of different types."""
        f = self.new_func()
        f[tuple(self.vars)] = (self.pick()(self.vars) & MASK,
                               hl.cast(self.rng.choice([U8, U16, self.wide, hl.UInt(32)]),
                                       self.pick()(self.vars)))
        shifted = f[tuple(self.moved(self.axis(), lambda v: v + 1))]
        return f[tuple(self.vars)][0] + hl.cast(I32, shifted[1])

    def argmax(self):
        f, g, here, axis = self.pick(), self.new_func(), tuple(self.vars), self.axis()
        g[here] = (hl.Expr(-1), hl.Expr(0))
        r = hl.RDom([hl.Range(0, self.rng.choice([2, 9]))])
        value = f(self.moved(axis, lambda v: v + r.x))
        larger = value > g[here][0]
        g[here] = (hl.select(larger, value, g[here][0]), hl.select(larger, r.x, g[here][1]))
        return g[here][0] + g[here][1] * 3

    def typed(self):
        kind = self.rng.choice([U8, U16, I16, hl.UInt(32), self.wide, hl.Bool()])
        f = self.new_func()
        # Back ends do not agree on the truth of other integers than 0 and 1.
        mask = 1 if kind == hl.Bool() else 127
        f[tuple(self.vars)] = hl.cast(kind, self.pick()(self.vars) & mask)
        return hl.cast(I32, f[tuple(self.moved(self.axis(), lambda v: v + 1))])

    def clamped(self):
        if not self.dims:
            return self.pointwise()
        f = self.define(self.pick()(self.vars))
        padded = hl.BoundaryConditions.constant_exterior(
            f, 17, [hl.Range(0, e) for e in self.extents])
        return padded[tuple(self.moved(self.axis(), lambda v: v - 2))] + padded[tuple(self.vars)]

    def fewer_dimensions(self):
        f, g = self.pick(), self.new_func()
        kept = self.vars[:self.rng.randrange(self.dims + 1)]
        g[tuple(kept)] = f(list(kept) + [hl.Expr(2)] * (self.dims - len(kept))) & MASK
        return g[tuple(kept)] + f(self.vars)

    def more_dimensions(self):
        f, g, extra = self.pick(), self.new_func(), hl.Var("extra")
        g[(*self.vars, extra)] = (f(self.vars) * (extra + 1)) & MASK
        return g[(*self.vars, 0)] + g[(*self.vars, self.rng.choice([1, 3]))]

    def build(self):
        kinds = [self.pointwise, self.pointwise, self.combine, self.combine, self.coordinates,
                 self.stencil, self.stencil, self.box, self.downsample, self.upsample,
                 self.transpose, self.flip, self.reduction, self.window, self.scan,
                 self.fixed_places, self.updates, self.histogram, self.scatter, self.gather,
                 self.pair, self.argmax, self.typed, self.clamped, self.fewer_dimensions,
                 self.more_dimensions]
        for _ in range(self.rng.choice([1, 2, 3] if self.small else [1, 2, 3, 4, 5, 7])):
            made = self.rng.choice(kinds)()
            made = made if isinstance(made, hl.Func) else self.define(made)
            self.funcs.append(made)
            self.unread.append(made)
        outputs = self.unread[:2]
        if len(self.unread) > 2:
            value = hl.Expr(0)
            for f in self.unread[2:]:
                value = value + f[tuple(self.vars)]
            outputs.append(self.define(value))
        # An output that others read as well.
        if len(self.funcs) > 1 and self.rng.random() < 0.2 and self.funcs[0] not in outputs:
            outputs.append(self.funcs[0])
        for f in outputs:
            f.set_estimates([hl.Range(0, e) for e in self.extents])
        return Case(outputs, [self.extents, self.random_size()], self.images)


def make(seed, small=False, wide=False):
    """The pipeline of that seed; `small` ones are compiled and run within seconds, `wide` ones may
    have integers of 64 bits."""
    return Builder(seed, small, wide).build()
