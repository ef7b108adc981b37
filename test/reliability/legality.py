"""Pipelines and options with which it is easy to exceed what a GPU or the compiler can take."""

import halide as hl

from corpus import (F32, I32, Case, c, domain, estimated, func, image, mix, noise, register, total,
                    x, y, z)

from value_types import unsupported

pipeline, family = register("legality")


def options(seed: int, space: str, **more) -> dict[str, object]:
    """A random schedule, with the moves that `space` allows."""
    return {"beam_size": 1, "random_dropout": 1, "random_dropout_seed": seed,
            "search_space_options": space, **more}


def stencils(seed: int, space: str) -> Case:
    im = image(I32, "im", 220, 120)
    f = func("f", (x, y), im[x, y] + 1)
    for k in range(3):
        f = func(f"f{k}", (x, y), total(f[x + d, y + e] for d in range(3) for e in range(3)) & 1023)
    return Case([estimated(f, 200, 100)], [(61, 33), (1, 2)], images=[im],
                options=options(seed, space))


def grid(seed: int, space: str) -> Case:
    """A bilateral grid: a histogram, blurs in three dimensions, and a gather."""
    im = image(F32, "im", 70, 50)
    clamped = hl.BoundaryConditions.repeat_edge(im, [(0, 70), (0, 50)])
    r = domain((0, 4), (0, 4))
    value = hl.clamp(clamped[x * 4 + r.x - 2, y * 4 + r.y - 2] / 251.0, 0.0, 1.0)
    at = hl.cast(I32, value * 8.0 + 0.5)
    cells = hl.Func("cells")
    cells[x, y, z, c] = 0.0
    cells[x, y, at, c] += hl.mux(c, [value, 1.0])
    blurs = [cells]
    for k, step in enumerate(((0, 0, 1), (1, 0, 0), (0, 1, 0))):
        b = blurs[-1]
        places = [(x + d * step[0], y + d * step[1], z + d * step[2], c) for d in (-1, 0, 1)]
        blurs.append(func(f"blur{k}", (x, y, z, c), total(b[p] for p in places)))
    zi = hl.cast(I32, hl.clamp(im[x, y] / 251.0, 0.0, 1.0) * 8.0)
    o = func("o", (x, y), blurs[-1][x // 4, y // 4, zi, 0] / (blurs[-1][x // 4, y // 4, zi, 1] + 1))
    return Case([estimated(o, 70, 50)], [(70, 50), (9, 5)], images=[im],
                options=options(seed, space))


def product(seed: int, space: str) -> Case:
    a, b, p = image(I32, "a", 60, 70), image(I32, "b", 80, 60), hl.Func("p")
    r = domain((0, 60))
    copy = func("copy", (x, y), a[x, y] + 1)
    p[x, y] = 0
    p[x, y] += copy[r, y] * b[x, r]
    o = func("o", (x, y), p[x, y] + p[x, hl.min(y + 1, 69)])
    return Case([estimated(o, 80, 70)], [(80, 70), (3, 5)], images=[a, b],
                options=options(seed, space))


SPACES = {"all": "1111", "without_inlining": "1101", "in_threads": "1001", "in_blocks": "0111"}
for title, make in (("stencils", stencils), ("grid", grid), ("product", product)):
    for seed, (label, space) in enumerate(SPACES.items()):
        family(f"random_{title}", make, {label: (seed + 1, space)})


def deep_tiles(count: int, kind) -> Case:
    """Every Func enlarges what a fused one needs, until shared memory is not enough."""
    f = func("f", (x, y), hl.cast(kind, mix(x, y)))
    for k in range(count):
        f = func(f"f{k}", (x, y), f[x - 9, y - 9] + f[x + 9, y + 9] + f[x, y])
    return Case([estimated(f, 500, 400)], [(61, 33), (1, 1)], options={"beam_size": 4},
                unsupported=unsupported(kind))


family("deep_tiles", deep_tiles, {"of_float": (5, F32), "of_double": (5, hl.Float(64))})


@pipeline
def large_window_per_thread():
    """A Func that might be kept in each thread, if it were not too large."""
    f, g = noise("f", x, y), hl.Func("g")
    r = domain((0, 40), (0, 40))
    g[x, y] = 0
    g[x, y] += f[8 * x + r.x, 8 * y + r.y]
    return Case([estimated(g, 60, 50)], [(20, 10), (1, 1)])


@pipeline
def long_local_vector():
    """A 4-D Func of which each point of the output needs a long vector."""
    f, g = func("f", (z, x, y), mix(x, y, z)), hl.Func("g")
    r = domain((0, 600))
    g[x, y] = 0
    g[x, y] += f[r, x, y] * f[599 - r, x, y]
    return Case([estimated(g, 60, 50)], [(20, 10), (1, 1)])


@pipeline
def sort_in_each_point():
    """A median by a network of minima and maxima."""
    f = noise("f", x, y)
    values = [f[x + d, y + e] for d in range(3) for e in range(3)]
    for _ in range(5):
        for start in (0, 1):
            for k in range(start, len(values) - 1, 2):
                low, high = hl.min(values[k], values[k + 1]), hl.max(values[k], values[k + 1])
                values[k], values[k + 1] = low, high
    return Case([estimated(func("g", (x, y), values[4]), 200, 100)], [(21, 13), (1, 1)])


@pipeline
def hundreds_of_terms():
    f = noise("f", x, y)
    g = func("g", (x, y), total(f[x + d % 64, y + d // 64] * d for d in range(300)))
    return Case([estimated(g, 200, 100)], [(21, 13)], options={"beam_size": 2})


@pipeline
def many_small_dims():
    """More dimensions than there are in grids and blocks together."""
    args = [hl.Var(name) for name in "a b c d e f g".split()]
    f = func("f", args, mix(*args))
    g = func("g", args, f[args] + f[[args[0] + 1] + args[1:]])
    return Case([estimated(g, 5, 5, 5, 5, 5, 5, 5)], [(3, 2, 2, 2, 2, 2, 2)])


@pipeline
def few_points_of_many_channels():
    im, f = image(F32, "im", 4, 4, 2048), hl.Func("f")
    r = domain((0, 4), (0, 4))
    f[c] = 0.0
    f[c] += im[r.x, r.y, c]
    return Case([estimated(func("o", (c,), f[c] / 16.0), 2048)], [(64,), (1,)], images=[im])


def searched_with(**given) -> Case:
    """A pipeline that every option can be tried on."""
    f = noise("f", x, y)
    g = func("g", (x, y), f[x - 1, y] + f[x + 1, y])
    h = func("h", (x, y), g[x, y - 1] + g[x, y + 1])
    return Case([estimated(h, 200, 100)], [(61, 33), (1, 2)], options=given)


family("option", lambda given: searched_with(**given), {
    "parallelism_1": [{"parallelism": 1}],
    "parallelism_65536": [{"parallelism": 65536}],
    "only_root": [{"search_space_options": "0001"}],
    "only_threads": [{"search_space_options": "1001"}],
    "no_subtiling": [{"disable_subtiling": 1}],
    "shared_memory_of_1_kb": [{"shared_memory_limit_kb": 1}],
    "one_warp": [{"active_warp_limit": 1, "active_block_limit": 1}],
    "no_stack": [{"stack_factor": 0}],
    "freeze": [{"freeze_inline_compute_root": 1}],
    "random_tilings": [{"randomize_tilings": 1, "random_dropout_seed": 5}],
    "reference": [{"reference_features": 1}],
    "registers": [{"register_limit": 32}],
})
