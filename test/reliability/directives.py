"""Pipelines with directives, which a user may or may not give."""

import halide as hl

from corpus import I32, Case, c, domain, estimated, func, image, mix, noise, param, register, x, y

from structure import plain

pipeline, _ = register("structure")


@pipeline
def directive_specialize():
    p = param(I32, "p", 1)
    g = func("g", (x, y), mix(x, y) + p)
    g.specialize(p == 1)
    return plain(g, 200, 100, params=[(p, 2)])


@pipeline
def directive_specialize_that_holds():
    p = param(I32, "p", 1)
    f = noise("f", x, y)
    chosen = hl.select(p > 1, f[x, y] + 0, f[x, y + 1] + 0)
    g = func("g", (x, y), chosen * p + f[x + 1, y])
    f.specialize(p == 2)
    g.specialize(p > 1).specialize(p == 2)
    return plain(g, 200, 100, params=[(p, 2)])


@pipeline
def directive_specialize_of_an_update():
    p, r = param(I32, "p", 1), domain((0, 9))
    f = hl.Func("f")
    f[x, y] = 0
    f[x, y] += mix(x + r * p, y)
    f.update().specialize(p == 2)
    return plain(func("g", (x, y), f[x, y] + f[x, y + 1]), 200, 100, params=[(p, 2)])


@pipeline
def directive_specialize_or_fail():
    p = param(I32, "p", 1)
    g = func("g", (x, y), mix(x, y) * p)
    g.specialize(p == 1)
    g.specialize(p == 2)
    g.specialize_fail("p is neither 1 nor 2")
    return plain(g, 200, 100, params=[(p, 2)])


@pipeline
def directive_specialize_on_the_size():
    f = noise("f", x, y)
    g = func("g", (x, y), f[x, y] + f[x + 1, y] + f[x, y + 1])
    g.specialize(g.output_buffer().width() >= 32)
    return plain(g, 200, 100)


@pipeline
def directive_in():
    f = noise("f", x, y)
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    f.in_(g)
    return plain(g, 200, 100)


@pipeline
def directive_in_of_an_image():
    im = image(I32, "im", 210, 110)
    g = func("g", (x, y), im[x, y] + im[x + 1, y])
    im.in_()
    return plain(g, 200, 100, images=[im])


@pipeline
def directive_in_for_some_readers():
    f = noise("f", x, y)
    a = func("a", (x, y), f[x, y] + f[x + 1, y])
    b = func("b", (x, y), f[x, y] * f[x, y + 1])
    d = func("d", (x, y), a[x, y] + b[x, y] + f[x, y])
    f.in_([a, b])
    f.in_(d)
    return plain(d, 200, 100)


@pipeline
def directive_in_of_a_reduction():
    r, f = domain((0, 9)), hl.Func("f")
    f[x, y] = 0
    f[x, y] += mix(x + r, y)
    g = func("g", (x, y), f[x, y] + f[x, y + 1] + f[x + 1, y])
    f.in_()
    return plain(g, 200, 100)


@pipeline
def directive_clone_in():
    f = noise("f", x, y)
    a = func("a", (x, y), f[x, y] + f[x + 1, y])
    b = func("b", (x, y), f[2 * x, y])
    f.clone_in(b)
    return plain(func("d", (x, y), a[x, y] - b[x, y]), 200, 100)


@pipeline
def directive_reorder_storage():
    f = noise("f", x, y)
    f.reorder_storage(y, x)
    r, g = domain((0, 5)), hl.Func("g")
    g[x, y] = 0
    g[x, y] += f[x, y + r]
    g.reorder_storage(y, x)
    return plain(func("h", (x, y), g[x, y] + g[x + 1, y]), 200, 100)


@pipeline
def directive_align_storage():
    f = noise("f", x, y)
    f.align_storage(x, 16)
    return plain(func("g", (x, y), f[x, y] + f[x + 1, y]), 200, 100)


@pipeline
def directive_store_in_heap():
    f = noise("f", x, y)
    f.store_in(hl.MemoryType.Heap)
    return plain(func("g", (x, y), f[x, y] + f[x + 1, y]), 200, 100)


@pipeline
def directive_store_in_shared():
    f = noise("f", x, y)
    f.store_in(hl.MemoryType.GPUShared)
    g = func("g", (x, y), f[x, y] + f[x + 1, y])
    return plain(g, 200, 100, refused="already has a schedule")


@pipeline
def directive_compute_root():
    f = noise("f", x, y)
    f.compute_root()
    return plain(func("g", (x, y), f[x, y]), 200, 100, refused="already has a schedule")


@pipeline
def directive_bound():
    g = func("g", (x, y, c), mix(x, y, c))
    g.bound(c, 0, 3)
    return Case([estimated(g, 200, 100, 3)], [(61, 33, 3), (1, 1, 3)])


@pipeline
def directive_bound_of_all():
    f = noise("f", x, y)
    g = func("g", (x, y), f[x, y] + f[x + 1, y + 1])
    g.bound(x, 0, 50)
    g.bound(y, 0, 30)
    return Case([estimated(g, 50, 30)], [(50, 30)])


@pipeline
def directive_bound_extent():
    f = noise("f", x, y)
    g = func("g", (x, y), f[x, y] + f[x + 1, y + 1])
    g.bound_extent(x, 64)
    return Case([estimated(g, 64, 300)], [(64, 33), (64, 1)])


@pipeline
def directive_align_bounds():
    f = noise("f", x, y)
    f.align_bounds(x, 16)
    g = func("g", (x, y), f[x, y] + f[x + 1, y + 1])
    return plain(g, 200, 100)


@pipeline
def directive_align_bounds_of_an_output():
    g = func("g", (x, y), mix(x, y))
    g.align_bounds(x, 2)
    return Case([estimated(g, 200, 100)], [(64, 33), (2, 2)])


@pipeline
def directive_reorder():
    f = noise("f", x, y)
    f.reorder(y, x)
    g = func("g", (x, y), f[x, y] + f[x + 2, y] + f[x, y + 1])
    g.reorder(y, x)
    return plain(g, 200, 100)
