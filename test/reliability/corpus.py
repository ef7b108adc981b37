"""What the pipelines of the corpus are made of.

A pipeline is a function without arguments that returns a new Case each time, registered under its
name. All outputs have estimates; the sizes at which it runs are small, and other ones.
"""

from dataclasses import dataclass, field
from typing import Callable, Mapping, Optional, Sequence, Union

import halide as hl

U8, U16, U32, U64 = (hl.UInt(bits) for bits in (8, 16, 32, 64))
I8, I16, I32, I64 = (hl.Int(bits) for bits in (8, 16, 32, 64))
F16, F32, F64 = (hl.Float(bits) for bits in (16, 32, 64))
BF16 = hl.BFloat(16)
BOOL = hl.Bool()

x, y, z, w, c, n, i, j = (hl.Var(name) for name in "x y z w c n i j".split())

# Extents of all outputs alike, or one tuple per output.
Size = Union[tuple[int, ...], Sequence[tuple[int, ...]]]


@dataclass
class Case:
    """One instance of a pipeline, and what is expected of it."""

    outputs: Sequence[hl.Func]
    sizes: Sequence[Size]
    # First coordinates of the outputs at run time, in every dimension.
    min: int = 0
    # Values at run time; the estimates may be other ones.
    params: Sequence[tuple[hl.Param, object]] = ()
    images: Sequence[hl.ImageParam] = ()
    # Extents of the images at run time, where the sizes of the outputs do not tell.
    extents: Sequence[tuple[int, ...]] = ()
    # Values of the images are below this.
    below: int = 251
    options: Mapping[str, object] = field(default_factory=dict)
    # The autoscheduler has to refuse the pipeline with a text that contains this.
    refused: Optional[str] = None
    # The log has to contain this.
    says: str = ""
    # The compiler refuses the pipeline, for some back ends: words of their names -> text.
    unsupported: Mapping[str, str] = field(default_factory=dict)
    # Back ends with which the compiler ends the process, whatever the schedule: they are left out.
    fatal: str = ""
    # Of floating point results, relative to their largest magnitude.
    tolerance: float = 1e-5
    # At the estimates a run must not launch more kernels than this.
    max_launches: int = 40
    # At the estimates a kernel of one thread is no disgrace.
    may_be_serial: bool = False
    # Whether the compiler gets through with any schedule at all.
    lowers: bool = True
    # Whether buffers of the estimated sizes can be had.
    fits: bool = True
    # Channels of images and outputs are innermost in memory.
    interleaved: bool = False


Maker = Callable[[], Case]

# Class -> name -> pipeline.
CLASSES: dict[str, dict[str, Maker]] = {}


def register(kind: str):
    """A decorator that registers a pipeline, and a function that registers a family of them."""
    known = CLASSES.setdefault(kind, {})

    def add(name: str, maker: Maker) -> None:
        assert all(name not in names for names in CLASSES.values()), name
        known[name] = maker

    def decorator(maker: Maker) -> Maker:
        add(maker.__name__, maker)
        return maker

    def family(prefix: str, maker: Callable[..., Case], members: Mapping[str, Sequence]) -> None:
        for suffix, arguments in members.items():
            add(f"{prefix}_{suffix}", lambda arguments=arguments: maker(*arguments))

    return decorator, family


class Making:
    """What holds for the pipelines that are being made."""

    # For the CPU: no Func is inlined, as that may take exponential time.
    for_reference = False
    # First coordinate and extents by name of the output.
    estimates: dict[str, tuple[int, tuple[int, ...]]] = {}


def func(name: str, args, value) -> hl.Func:
    """A Func with a pure definition."""
    f = hl.Func(name)
    f[args] = value
    if Making.for_reference:
        f.compute_root()
    return f


def estimated(f: hl.Func, *extents: int, min: int = 0) -> hl.Func:
    f.set_estimates([hl.Range(min, extent) for extent in extents])
    Making.estimates[f.name()] = (min, extents)
    return f


def image(kind: hl.Type, name: str, *extents: int) -> hl.ImageParam:
    """An image with estimates."""
    made = hl.ImageParam(kind, len(extents), name)
    made.set_estimates([hl.Range(0, extent) for extent in extents])
    return made


def param(kind: hl.Type, name: str, estimate) -> hl.Param:
    made = hl.Param(kind, name, estimate)
    made.set_estimate(estimate)
    return made


def mix(*coordinates) -> hl.Expr:
    """A number from 0 to 255 that looks random."""
    factors = (7, 13, 5, 11, 3, 17, 19, 23)
    total = hl.Expr(29)
    for factor, coordinate in zip(factors, coordinates):
        total = total + coordinate * factor
    return (total * 37) & 255


def noise(name: str, *args) -> hl.Func:
    """A Func of such numbers that is worth storing."""
    value = mix(*args)
    return func(name, args, (value * value + value // 3) & 1023)


def domain(*ranges: tuple, name: str = "r") -> hl.RDom:
    return hl.RDom([hl.Range(*r) for r in ranges], name)


def total(values):
    """Sum of a sequence of expressions."""
    values = list(values)
    return sum(values[1:], values[0])
