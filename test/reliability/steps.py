"""What is done with one pipeline of the corpus. See run_pipelines.py."""

import os
import re
import tempfile

import halide as hl
import numpy as np

import corpus
from corpus import Case, Making

CUDA = "host-cuda-cuda_capability_70"
OPENCL = "host-opencl-cl_doubles"
OTHERS = {"metal": "arm-64-osx-metal",
          "vulkan": "x86-64-linux-vulkan-vk_int8-vk_int16-vk_int64-vk_float16-vk_float64-vk_v13",
          "d3d12compute": "x86-64-windows-d3d12compute", "webgpu": "x86-64-linux-webgpu"}
OPTIONS = {"parallelism": 80, "beam_size": 8, "num_passes": 1}

# What every GPU can launch.
MAX_THREADS = 1024
MAX_THREADS_Z = 64
MAX_GROUPS_YZ = 65535
MAX_SHARED_BYTES = 48 * 1024


class Illegal(Exception):
    """A run does what a GPU could not."""


class Wrong(Exception):
    """A result differs."""


def make(name: str, for_reference: bool = False) -> Case:
    Making.for_reference = for_reference
    Making.estimates = {}
    kinds = (known for known in corpus.CLASSES.values() if name in known)
    return next(kinds)[name]()


def schedule(case: Case, target: str, **more) -> hl.Pipeline:
    """With the options of the case, and more."""
    pipeline = hl.Pipeline(list(case.outputs))
    options = {k: str(v) for k, v in {
        **OPTIONS, **({} if case.lowers else {"verify_lowering": 0}), **case.options,
        **more}.items()}
    results = pipeline.apply_autoscheduler(
        hl.Target(target), hl.AutoschedulerParams("Anderson2021", options))
    print(results.schedule_source, flush=True)
    return pipeline


def lower(case: Case, pipeline: hl.Pipeline, target: str) -> None:
    pipeline.compile_to_module(pipeline.infer_arguments(), "f", hl.Target(target))


def output_buffers(case: Case, size, estimates) -> list[hl.Buffer]:
    """For one size of all outputs, or one per output; None is the estimates."""
    buffers = []
    for k, f in enumerate(case.outputs):
        first, extents = case.min, size
        if size is None:
            first, extents = estimates[k]
        elif len(size) > 0 and isinstance(size[0], (tuple, list)):
            extents = size[k]
        for kind in f.types():
            if case.interleaved:
                buffer = hl.Buffer.make_interleaved(kind, *extents)
            else:
                buffer = hl.Buffer(kind, list(extents))
            if extents:
                buffer.set_min([first] * len(extents))
            buffers.append(buffer)
    return buffers


def set_params(case: Case) -> None:
    for param, value in case.params:
        param.set(value)


class Reference:
    """The pipeline for the CPU, compiled once."""

    def __init__(self, name: str) -> None:
        self.case = make(name, for_reference=True)
        self.pipeline = hl.Pipeline(list(self.case.outputs))
        self.estimates = [Making.estimates[f.name()] for f in self.case.outputs]

    def input_shapes(self, size) -> list[list[tuple[int, int]]]:
        """Min and extent of each dimension of the images that outputs of a size need."""
        case = self.case
        if case.extents:
            return [[(0, extent) for extent in extents] for extents in case.extents]
        if not case.images:
            return []
        for image in case.images:
            image.reset()
        self.pipeline.infer_input_bounds(
            output_buffers(case, size, self.estimates), hl.Target("host"))
        return [[(d.min(), d.extent()) for d in map(im.dim, range(im.dimensions()))]
                for im in (image.get() for image in case.images)]

    def results(self, size) -> list[hl.Buffer]:
        set_images(self.case, self.input_shapes(size))
        outputs = output_buffers(self.case, size, self.estimates)
        self.pipeline.realize(outputs, hl.Target("host"))
        return outputs


def set_images(case: Case, shapes) -> None:
    """With numbers that depend on nothing but their position in the array."""
    for image, shape in zip(case.images, shapes, strict=True):
        extents = [extent for _, extent in shape]
        if case.interleaved:
            buffer = hl.Buffer.make_interleaved(image.type(), *extents)
        else:
            buffer = hl.Buffer(image.type(), extents)
        view = np.asarray(buffer)
        numbers = np.arange(view.size, dtype=np.int64)
        view[...] = ((numbers * 37 + numbers // 11 * 5) % case.below).reshape(view.shape)
        buffer.set_min([first for first, _ in shape])
        buffer.set_host_dirty()
        image.set(buffer)


def compare(have: np.ndarray, want: np.ndarray, case: Case, what: str) -> None:
    if want.dtype.kind == "f":
        magnitude = np.max(np.abs(want[np.isfinite(want)]), initial=0.0)
        tolerance = max(case.tolerance, 2e-3 if want.dtype.itemsize == 2 else 0.0)
        same = np.isclose(have, want, rtol=0, atol=tolerance * magnitude, equal_nan=True)
    else:
        same = have == want
    if not np.all(same):
        at = np.argwhere(~same)[0] if same.ndim else ()
        raise Wrong(f"{what}: {np.count_nonzero(~same)} of {same.size} values differ, at "
                    f"{tuple(at)} {have[tuple(at)]} instead of {want[tuple(at)]}")


def run_at(reference: Reference, case: Case, pipeline: hl.Pipeline, size) -> None:
    set_params(reference.case)
    want = reference.results(size)
    set_params(case)
    set_images(case, reference.input_shapes(size))
    have = output_buffers(case, size, None)
    pipeline.realize(have, hl.Target(OPENCL))
    for k, (one, other) in enumerate(zip(have, want, strict=True)):
        one.copy_to_host()
        compare(np.asarray(one), np.asarray(other), case, f"size {size}, output {k}")


def check_launches(case: Case, record: str) -> dict:
    """Checks what was launched and sums it up."""
    serial = count = 0
    for line in record.splitlines():
        kernel, *numbers = line.split()
        gx, gy, gz, tx, ty, tz, shared = map(int, numbers)
        groups = (gx // tx, gy // ty, gz // tz)
        what = f"{kernel}: groups {groups}, threads {(tx, ty, tz)}, shared memory {shared}"
        if tx * ty * tz > MAX_THREADS or tz > MAX_THREADS_Z:
            raise Illegal(f"too many threads: {what}")
        if max(groups[1:]) > MAX_GROUPS_YZ or groups[0] >= 1 << 31:
            raise Illegal(f"too many groups: {what}")
        if shared > MAX_SHARED_BYTES:
            raise Illegal(f"too much shared memory: {what}")
        count += 1
        serial += tx * ty * tz * groups[0] * groups[1] * groups[2] == 1
    if count > case.max_launches:
        raise Illegal(f"{count} launches, the last is {what}")
    return {"launches": count, "single_threads": serial}


def launch(reference: Reference, case: Case, pipeline: hl.Pipeline) -> dict:
    """Runs at the estimates without computing anything."""
    with tempfile.NamedTemporaryFile("r", prefix="launches") as record:
        os.environ["LAUNCH_RECORD"], os.environ["LAUNCH_DRY"] = record.name, "1"
        outputs = output_buffers(case, None, reference.estimates)
        set_images(case, reference.input_shapes(None))
        pipeline.realize(outputs, hl.Target(OPENCL))
        del os.environ["LAUNCH_RECORD"], os.environ["LAUNCH_DRY"]
        return check_launches(case, record.read())


class Steps:
    """Carries out steps and tells how they went."""

    def __init__(self, case: Case, tell) -> None:
        self.case = case
        self.tell = tell

    def run(self, step: str, action) -> bool:
        """Whether there is a point in going on."""
        self.tell(step=step, status="begun", text="")
        status, text, facts = "right", "", {}
        try:
            facts = action() or {}
        except hl.HalideError as error:
            status, text = self.judge(step, str(error))
        except Illegal as error:
            status, text = "illegal", str(error)
        except Wrong as error:
            status, text = "wrong", str(error)
        if status == "right" and self.case.refused and step == "cuda":
            status, text = "error", "was not refused"
        self.tell(step=step, status=status, text=text, says=self.case.says, **facts)
        return status == "right"

    def judge(self, step: str, text: str) -> tuple[str, str]:
        if self.case.refused and self.case.refused in text and step == "cuda":
            return "message", text
        for words, expected in self.case.unsupported.items():
            if step in words.split() and re.search(expected, text):
                return "message", text
        return "error", text


# Classes that take other steps.
RUNNERS = {}


def run_all(name: str, short: bool, tell) -> None:
    """Carries out all steps, or the first one."""
    for kind, runner in RUNNERS.items():
        if name in corpus.CLASSES[kind]:
            runner(name, short, tell)
            return
    case = make(name)
    steps = Steps(case, tell)
    made = {}

    def cuda():
        made["cuda"] = schedule(case, CUDA)
        if case.lowers:
            lower(case, made["cuda"], CUDA)

    if not steps.run("cuda", cuda) and "cuda" not in made or not case.lowers or short:
        return
    for step, target in OTHERS.items():
        if step in case.fatal.split():
            continue
        steps.run(step, lambda target=target: lower(case, made["cuda"], target))

    reference = Reference(name)
    case = make(name)
    steps.case = case

    def opencl():
        made["opencl"] = schedule(case, OPENCL)
        return launch(reference, case, made["opencl"]) if case.fits else None

    if not steps.run("launch", opencl) and "opencl" not in made:
        return

    def run():
        for size in case.sizes:
            run_at(reference, case, made["opencl"], size)

    steps.run("run", run)
