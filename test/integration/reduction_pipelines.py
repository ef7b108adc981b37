"""Reductions of much to few points, through the plugin and on OpenCL.

usage: reduction_pipelines.py PLUGIN NAME [OPTION=VALUE ...]

Autoschedules the pipeline, checks by the record of the run that no stage takes many steps in few
threads (unless nothing can be done about it), runs it at several sizes, and compares with the
unscheduled one on the CPU. With options, only schedules with these.
"""

import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Sequence

import halide as hl
import numpy as np

TARGET = "host-opencl"
ESTIMATE = 1000000
# Less than a part, not a multiple of anything, more than the parts.
COUNTS = (1, 1003, 70001)
# What a thread may do one after the other where there are fewer threads than a warp has.
MAX_STEPS = 512
OPTIONS = {"parallelism": 80, "beam_size": 8, "num_passes": 1}

I32, F32 = hl.Int(32), hl.Float(32)
x = hl.Var("x")


@dataclass
class Case:
    """One instance of a pipeline."""

    output: hl.Func
    shape: Sequence[int] = ()
    # Whether partial results are expected.
    splits: bool = True
    tolerance: float = 0
    options: dict = field(default_factory=dict)


class Inputs:
    """An image with one dimension, and how much of it counts."""

    def __init__(self, kind: hl.Type) -> None:
        self.image = hl.ImageParam(kind, 1, "image")
        self.image.dim(0).set_estimate(0, ESTIMATE)
        self.count = hl.Param(I32, "count", ESTIMATE)
        self.count.set_estimate(ESTIMATE)

    def domain(self) -> hl.RDom:
        return hl.RDom([hl.Range(0, self.count)], "r")

    def set(self, count: int) -> None:
        numbers = np.arange(max(count, 1), dtype=np.int64)
        values = (numbers * 37 + numbers // 11 * 5) % 251
        buffer = hl.Buffer(self.image.type(), list(values.shape))
        np.asarray(buffer)[...] = values
        buffer.set_host_dirty()
        self.image.set(buffer)
        self.count.set(count)


def to_scalar(inputs: Inputs, start, update: Callable) -> hl.Func:
    r = inputs.domain()
    s = hl.Func("s")
    s[()] = start
    s[()] = update(s[()], inputs.image[r.x], r)
    return s


def total(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, 3, lambda s, v, r: s + v))


def total_of_floats(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, hl.f32(0), lambda s, v, r: s + v), tolerance=1e-4)


def maximum(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, -1, lambda s, v, r: hl.max(s, v)))


def product(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, hl.u32(1), lambda s, v, r: s * hl.u32(v * 2 + 1)))


def total_and_maximum(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, (0, 0), lambda s, v, r: (s[0] + v, hl.max(s[1], v))))


def last_maximum(inputs: Inputs) -> Case:
    """Of equal values the one with the largest place: parts have to stay in order."""
    def update(s, v, r):
        later = s[0] <= v
        return hl.select(later, v, s[0]), hl.select(later, r.x, s[1])
    return Case(to_scalar(inputs, (-1, -1), update))


def first_maximum(inputs: Inputs) -> Case:
    """The compiler does not see that this is associative."""
    s = hl.Func("s")
    s[()] = hl.argmax(inputs.image[inputs.domain()])
    return Case(s, splits=False)


def not_associative(inputs: Inputs) -> Case:
    return Case(to_scalar(inputs, 1, lambda s, v, r: s * 3 + v), splits=False)


def switched_off(inputs: Inputs) -> Case:
    case = total(inputs)
    case.splits, case.options = False, {"split_reductions": 0}
    return case


def depends_on_itself(inputs: Inputs) -> Case:
    r = inputs.domain()
    s = hl.Func("s")
    s[()] = 0
    r.where(s[()] < 1000)
    s[()] += inputs.image[r.x]
    return Case(s, splits=False)


def counted_where(inputs: Inputs) -> Case:
    r = hl.RDom([hl.Range(0, inputs.count // 4), hl.Range(0, 4)], "r")
    r.where(r.x % 5 > r.y)
    r.where(inputs.image[r.x * 4 + r.y] > 20)
    s = hl.Func("s")
    s[()] = 0
    s[()] += inputs.image[r.x * 4 + r.y] * r.x
    return Case(s)


def histogram(inputs: Inputs) -> Case:
    h = hl.Func("h")
    h[x] = 0
    h[hl.clamp(inputs.image[inputs.domain()], 0, 255)] += 1
    return Case(h, (256,))


def histogram_and_its_table(inputs: Inputs) -> Case:
    h, cdf, out = hl.Func("h"), hl.Func("cdf"), hl.Func("out")
    h[x] = 0
    h[hl.clamp(inputs.image[inputs.domain()], 0, 255)] += 1
    b = hl.RDom([hl.Range(1, 255)], "b")
    cdf[x] = h[x]
    cdf[b.x] += cdf[b.x - 1]
    out[x] = cdf[hl.clamp(inputs.image[hl.clamp(x, 0, inputs.count - 1)], 0, 255)]
    return Case(out, (300,))


def sums_of_three(inputs: Inputs) -> Case:
    s, r = hl.Func("s"), hl.RDom([hl.Range(0, inputs.count // 3)], "r")
    s[x] = 0
    s[x] += inputs.image[hl.clamp(r.x * 3 + x, 0, inputs.count - 1)]
    return Case(s, (3,))


def several_updates(inputs: Inputs) -> Case:
    r, q, s = inputs.domain(), inputs.domain(), hl.Func("s")
    s[()] = 5
    s[()] += inputs.image[r.x]
    s[()] = s[()] * 3
    s[()] = hl.min(s[()], inputs.image[q.x] + 70000)
    return Case(s)


def normalisation(inputs: Inputs) -> Case:
    top = to_scalar(inputs, 1, lambda s, v, r: hl.max(s, v))
    out = hl.Func("out")
    out[x] = inputs.image[hl.clamp(x, 0, inputs.count - 1)] * 255 // top[()]
    return Case(out, (400,))


CASES = {f.__name__: f for f in (
    total, total_of_floats, maximum, product, total_and_maximum, last_maximum, first_maximum,
    not_associative, switched_off, depends_on_itself, counted_where, histogram,
    histogram_and_its_table, sums_of_three, several_updates, normalisation)}


def make(name: str) -> tuple[Inputs, Case]:
    inputs = Inputs(F32 if name == "total_of_floats" else I32)
    case = CASES[name](inputs)
    case.output.set_estimates([hl.Range(0, extent) for extent in case.shape])
    return inputs, case


def schedule(name: str, **options) -> tuple[Inputs, Case, hl.Pipeline, str]:
    inputs, case = make(name)
    pipeline = hl.Pipeline(case.output)
    options = {k: str(v) for k, v in {**OPTIONS, **case.options, **options}.items()}
    result = pipeline.apply_autoscheduler(
        hl.Target(TARGET), hl.AutoschedulerParams("Anderson2021", options))
    return inputs, case, pipeline, result.schedule_source


def check_threads(record: dict) -> None:
    for stage in record["stages"]:
        f = stage["features"]
        threads = f["num_blocks"] * max(1, f["num_threads_per_block"])
        steps = f["points_computed_per_thread"]
        assert threads >= 32 or steps <= MAX_STEPS, (stage["name"], threads, steps)


def realize(pipeline: hl.Pipeline, case: Case, target: str) -> list[np.ndarray]:
    buffers = [hl.Buffer(kind, list(case.shape)) for kind in case.output.types()]
    pipeline.realize(buffers, hl.Target(target))
    for buffer in buffers:
        buffer.copy_to_host()
    return [np.array(buffer, copy=True) for buffer in buffers]


def check_results(name: str, inputs: Inputs, case: Case, pipeline: hl.Pipeline) -> None:
    for count in COUNTS:
        reference, plain = make(name)
        reference.set(count)
        inputs.set(count)
        want = realize(hl.Pipeline(plain.output), plain, "host")
        for have, expected in zip(realize(pipeline, case, TARGET), want, strict=True):
            np.testing.assert_allclose(
                have, expected, rtol=case.tolerance, atol=0, err_msg=f"{name}, {count}")


def main() -> None:
    plugin, name, *options = sys.argv[1:]
    hl.load_plugin(plugin)
    if options:
        schedule(name, **dict(option.split("=") for option in options))
        return
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        inputs, case, pipeline, source = schedule(name, record_path=record)
        assert ("rfactor" in source) == case.splits, source
        if case.splits:
            check_threads(json.loads(record.read_text()))
    check_results(name, inputs, case, pipeline)
    print("all right")


if __name__ == "__main__":
    main()
