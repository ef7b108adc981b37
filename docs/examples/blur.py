"""Schedules a blur for a GPU by itself, prints the schedule, and runs it. Without a GPU it runs
through OpenCL on the processor (PoCL)."""

# %% A blur, as an algorithm: no word about loops or threads.
import halide as hl
import numpy as np

import halide_anderson2021 as anderson2021

x, y = hl.Var("x"), hl.Var("y")
picture = hl.ImageParam(hl.UInt(16), 2, "picture")
clamped = hl.BoundaryConditions.repeat_edge(picture)
rows, blur = hl.Func("rows"), hl.Func("blur")
rows[x, y] = (clamped[x - 1, y] + clamped[x, y] + clamped[x + 1, y]) / 3
blur[x, y] = (rows[x, y - 1] + rows[x, y] + rows[x, y + 1]) / 3

# %% What the autoscheduler has to know: the sizes to expect.
picture.set_estimates([hl.Range(0, 1536), hl.Range(0, 1024)])
blur.set_estimates([hl.Range(0, 1536), hl.Range(0, 1024)])

# %% The schedule.
anderson2021.load()
target = hl.Target("host-opencl")
params = anderson2021.params(parallelism=80, weights="gpu")
results = hl.Pipeline(blur).apply_autoscheduler(target, params)
print(results.schedule_source)

# %% Running it.
pixels = (np.add.outer(np.arange(203) ** 2 * 13, np.arange(317) * 7) % 1021).astype(np.uint16)
picture.set(hl.Buffer(pixels))
buffer = blur.realize([317, 203], target)
buffer.copy_to_host()

# %% The same in numpy.
wide = np.pad(pixels, 1, mode="edge")
want = (wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]) // 3
want = (want[:-2] + want[1:-1] + want[2:]) // 3
np.testing.assert_array_equal(np.array(buffer), want)
print("all", want.size, "values are right")
