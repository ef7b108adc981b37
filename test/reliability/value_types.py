"""Pipelines of every type of values."""

import halide as hl

from corpus import (BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Case, domain,
                    estimated, func, image, mix, noise, param, register, x, y)

pipeline, family = register("types")

# What back ends cannot do, in the words of the compiler, and for one of them the name alone.
NO_INT64 = {"metal d3d12compute": "64-bit integers|^Error: *$", "webgpu": "Invalid integer bitwidth"}
NO_DOUBLE = {"metal d3d12compute vulkan": "64-bit floating|'double'", "webgpu": "32-bit floats"}
NO_FLOAT16 = {"webgpu": "Error", "launch run": "CLHalf|half"}


def plain(f, *extents, **more) -> Case:
    small = {1: [(77,), (1,)], 2: [(61, 33), (1, 2)]}[len(extents)]
    return Case([estimated(f, *extents)], small, **more)


def unsupported(kind) -> dict[str, str]:
    """By back ends that lack the type."""
    if kind in (I64, U64):
        return NO_INT64
    return NO_DOUBLE if kind == F64 else NO_FLOAT16 if kind == F16 else {}


def stencil(kind) -> Case:
    """A stored Func and an image of that type."""
    im = image(kind, "im", 210, 110)
    f = func("f", (x, y), im[x, y] + hl.cast(kind, mix(x, y) & 63))
    g = func("g", (x, y), f[x, y] + f[x + 1, y] * hl.cast(kind, 3) - f[x, y + 1])
    return plain(g, 200, 100, images=[im], below=100, unsupported=unsupported(kind))


def total(kind) -> Case:
    """Values of that type added up along rows."""
    f, s = func("f", (x, y), hl.cast(kind, mix(x, y) & 3)), hl.Func("s")
    r = domain((0, 40))
    s[y] = hl.cast(kind, 0)
    s[y] += f[r, y]
    return plain(s, 300, unsupported=unsupported(kind))


KINDS = {"i8": I8, "i16": I16, "i32": I32, "i64": I64, "u8": U8, "u16": U16, "u32": U32, "u64": U64,
         "f16": F16, "bf16": BF16, "f32": F32, "f64": F64}

family("stencil_of", stencil, {name: [kind] for name, kind in KINDS.items() if kind != BF16})
family("total_of", total, {name: [kind] for name, kind in KINDS.items()
                           if name in ("i8", "i64", "u16", "f16", "f64")})


@pipeline
def stencil_of_bfloat16():
    f = func("f", (x, y), hl.cast(BF16, mix(x, y) & 63))
    g = func("g", (x, y), hl.cast(F32, f[x, y] + f[x + 1, y]))
    return plain(g, 200, 100, refused='uses bfloat16, which the compiler cannot')


@pipeline
def booleans():
    f, g = func("f", (x, y), mix(x, y) > 99), func("g", (x, y), mix(y, x) < 99)
    o = func("o", (x, y), (f[x, y] & g[x + 1, y]) | (g[x, y] != f[x, y + 1]))
    assert o.type() == BOOL
    return plain(o, 200, 100)


@pipeline
def booleans_reduced():
    f, s = func("f", (x, y), mix(x, y) > 250), hl.Func("s")
    r = domain((0, 40))
    s[y] = hl.cast(BOOL, False)
    s[y] = s[y] | f[r, y]
    return plain(s, 300, fatal="vulkan")


@pipeline
def handle_parameter():
    """Programs pass context on that way; only whether it is null can be seen."""
    p = hl.Param(hl.Handle(), "p")
    f = noise("f", x, y)
    g = func("g", (x, y), f[x, y] + hl.cast(I32, hl.reinterpret(U64, p) == 0))
    return Case([estimated(g, 200, 100)], [], fits=False, unsupported=NO_INT64)


@pipeline
def saturating_casts():
    f = func("f", (x, y), mix(x, y) * 3 - 300)
    g = func("g", (x, y), hl.saturating_cast(U8, f[x, y] + f[x + 1, y]))
    return plain(g, 200, 100)


@pipeline
def widening_products():
    f, g = func("f", (x, y), hl.cast(U8, mix(x, y))), func("g", (x, y), hl.cast(I8, mix(y, x)))
    o = func("o", (x, y), hl.cast(I16, f[x, y]) * g[x, y] + hl.cast(I16, f[x + 1, y]))
    return plain(o, 200, 100)


@pipeline
def many_types_in_a_row():
    f = noise("f", x, y)
    for k, kind in enumerate((U8, U16, F32, I16, U32, I32)):
        f = func(f"f{k}", (x, y), hl.cast(kind, hl.cast(I32, f[x, y] + f[x + 1, y]) & 127))
    return plain(f, 200, 100)


@pipeline
def int64_beyond_32_bits():
    f = func("f", (x, y), hl.cast(I64, mix(x, y)) * 123456789012 + 5)
    g = func("g", (x, y), f[x, y] - f[x + 1, y] * 3 + f[x, y] % 1000003)
    return plain(g, 200, 100, unsupported=NO_INT64)


@pipeline
def unsigned_wraps_around():
    f = func("f", (x, y), hl.cast(U32, mix(x, y)) * hl.cast(U32, 123456789))
    return plain(func("g", (x, y), f[x, y] - f[x + 1, y]), 200, 100)


@pipeline
def uint8_as_narrow_index():
    f = func("f", (x, y), hl.cast(U8, mix(x, y)))
    return plain(func("g", (x, y), f[hl.cast(I32, f[x, y] + f[y, x]), y]), 200, 100)


@pipeline
def float16_images_to_float32():
    im = image(F16, "im", 210, 110)
    f = func("f", (x, y), hl.cast(F32, im[x, y]) * 2.0)
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    return plain(g, 200, 100, images=[im], unsupported=NO_FLOAT16)


@pipeline
def parameters_of_every_kind():
    a, b, d = param(I16, "a", 3), param(F32, "b", 1.5), param(U8, "d", 9)
    f = func("f", (x, y), hl.cast(F32, mix(x, y)) * b + hl.cast(F32, a))
    g = func("g", (x, y), f[x, y] + f[x + 1, y] * hl.cast(F32, d))
    return plain(g, 200, 100, params=[(a, 5), (b, 0.25), (d, 200)])


@pipeline
def mathematics_of_floats():
    f = func("f", (x, y), hl.cast(F32, mix(x, y)) * 0.01)
    v = f[x, y]
    o = (hl.sin(v) + hl.exp(-v) + hl.log(v + 1.0) + hl.pow(v, 1.5) + hl.atan2(v, 2.0)
         + hl.floor(v) + hl.fast_inverse(v + 1.0) + hl.tanh(f[x + 1, y]) + hl.erf(v))
    return plain(func("g", (x, y), o), 200, 100, tolerance=1e-3)


@pipeline
def infinite_and_not_a_number():
    f = func("f", (x, y), 1.0 / hl.cast(F32, (mix(x, y) & 3)))
    g = func("g", (x, y), hl.select(hl.is_inf(f[x, y]) | hl.is_nan(f[x + 1, y]), 1, 0))
    return plain(g, 200, 100)


@pipeline
def bits_counted():
    f = func("f", (x, y), hl.cast(U32, mix(x, y)))
    v = f[x, y]
    o = hl.popcount(v) + hl.count_leading_zeros(v + 1) * 64 + (v << 3) - (f[x + 1, y] >> 2)
    return plain(func("g", (x, y), o), 200, 100, 
                 unsupported={"vulkan": "count_leading_zeros", "launch run": "incompatible type"})
