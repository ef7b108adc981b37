"""Random pipelines x random options x random seeds x GPU interfaces, through the whole plugin.

usage: fuzz_pipelines.py PLUGIN [--seconds S] [--count N] [--first SEED] [--state FILE]
                         [--run-every K]
       fuzz_pipelines.py PLUGIN --seed SEED      repeats one case in this process

A case is one pipeline that is autoscheduled with one set of options for one target, and compiled
as far as the source of its kernels (OpenCL, Metal, HLSL, WGSL) or its PTX. The kernels must keep
the limits of GPUs. Every K-th case is for OpenCL and also run on the CPU through PoCL, at the
estimated size and at another one, and has to give what the unscheduled pipeline gives: all
arithmetic is on integers, so results must be equal.

Cases run in forked children; one that crashes, or takes more than 60 s (on a busy machine: of CPU
time, and ten minutes), counts as failed like one with an error or a wrong result. A failure is printed with the command that repeats it. With
--state the next seed is kept in a file, and another call goes on from there.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import select
import signal
import sys
import tempfile
import time

import halide as hl
import numpy as np

import fuzz_builder

CASE_SECONDS = 60
MOST_SECONDS = 600
CASES_PER_CHILD = 30
# Vulkan would need its library at compile time.
# PTX comes from LLVM, which takes ten times as long as the others; so there is less of it.
TARGETS = ("host-opencl", "host-metal", "host-webgpu", "host-d3d12compute")
CUDA_TARGETS = ("host-cuda", "host-cuda-cuda_capability_75", "host-cuda-cuda_capability_86")
CUDA_PERCENT = 4
RUN_TARGET = "host-opencl"
# As test/integration/toolchain.py has them.
POCL = {"HL_OCL_DEVICE_TYPE": "cpu", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
# Halide's words for a schedule that promises what does not hold.
BAD_WARNING = re.compile(r"Ignoring assertion|guaranteed to fail", re.IGNORECASE)
OUT_OF_BOUNDS = re.compile(r"Output buffer \S+ is accessed at")
THREADS = re.compile(r"numthreads\( *(\d+), *(\d+), *(\d+)\)|"
                     r"@workgroup_size\( *(\d+), *(\d+), *(\d+)\)")
GPUS = ("v100", "t4", "a100", "rtx3060", "rtx4090", "h100", "b200", "opencl", "metal", "vulkan")


def random_options(rng):
    """Options of a search, most of them at their defaults, and fast ones more often."""
    options = {"beam_size": rng.choice([1, 1, 1, 2, 4]),
               "random_dropout_seed": rng.randrange(1 << 20), "parallelism": 80}

    def maybe(percent, name, *values):
        if rng.randrange(100) < percent:
            options[name] = rng.choice(values)

    maybe(60, "random_dropout", 0, 1, 20, 80)
    maybe(40, "num_passes", 1, 2)
    maybe(30, "randomize_tilings", 1)
    maybe(20, "disable_subtiling", 1)
    maybe(25, "freeze_inline_compute_root", 1)
    maybe(30, "search_space_options", "1101", "1011", "0111", "1001", "0101", "0011", "0001")
    maybe(25, "gpu", *GPUS)
    maybe(25, "parallelism", 1, 7, 200)
    maybe(15, "shared_memory_limit_kb", 1, 8, 16)
    maybe(10, "active_block_limit", 1, 100)
    maybe(10, "active_warp_limit", 1, 100)
    maybe(10, "stack_factor", 0, 0.01, 1)
    maybe(20, "reference_features", 1)
    maybe(10, "memory_limit_mb", 16)
    maybe(10, "time_limit_s", 0.001, 0.05)
    maybe(10, "verify_feature_cache", 1)
    maybe(50, "threads", 1, 2)
    return options


def plan(seed, run_every):
    """What a case consists of, besides its pipeline."""
    rng = fuzz_builder.random_of(f"options {seed}")
    runs = run_every > 0 and seed % run_every == 0
    target = rng.choice(CUDA_TARGETS if rng.randrange(100) < CUDA_PERCENT else TARGETS)
    return RUN_TARGET if runs else target, random_options(rng), runs


def thread_fault(text):
    """What is wrong with the blocks of kernels, where the source tells."""
    for groups in THREADS.findall(text):
        threads = [int(g) for g in groups if g]
        if threads[0] * threads[1] * threads[2] > 1024 or threads[2] > 64:
            return f"blocks of {threads} threads"
    return None


def compiled_fault(pipeline, target):
    """Lowers the pipeline; what is wrong with the outcome, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.stmt"
        pipeline.compile_to_lowered_stmt(str(path), pipeline.infer_arguments(),
                                         hl.StmtOutputFormat.Text, hl.Target(target))
        text = path.read_text(errors="replace")
    if "halide_" not in text:
        return "nothing was compiled"
    return thread_fault(text)


def results(case, sizes, target):
    for image, values in case.images:
        image.set(hl.Buffer(values))
    made = hl.Pipeline(case.outputs).realize(sizes, hl.Target(target))
    buffers = made if isinstance(made, (list, tuple)) else [made]
    for buffer in buffers:
        buffer.copy_to_host()
    return [np.array(buffer) for buffer in buffers]


def difference(seed, case):
    """How the scheduled pipeline differs from an unscheduled one, or None."""
    for sizes in case.sizes:
        try:
            want = results(fuzz_builder.make(seed, small=True, wide=True), sizes, "host")
        except hl.HalideError as error:
            # An update of an output may be for a place that a small output does not have.
            if OUT_OF_BOUNDS.search(str(error)):
                continue
            raise
        have = results(case, sizes, RUN_TARGET)
        for number, (have_one, want_one) in enumerate(zip(have, want, strict=True)):
            if not np.array_equal(have_one, want_one):
                wrong = np.argwhere(np.atleast_1d(have_one != want_one))
                return (f"output {number} of size {sizes} is wrong at {len(wrong)} points, "
                        f"e.g. {wrong[0].tolist()}")
    return None


def run_case(seed, run_every, verbose=False):
    """None, or what is wrong. Exceptions are failures as well."""
    target, options, runs = plan(seed, run_every)
    case = fuzz_builder.make(seed, small=runs, wide="opencl" in target or "cuda" in target)
    pipeline = hl.Pipeline(case.outputs)
    scheduled = pipeline.apply_autoscheduler(
        hl.Target(target),
        hl.AutoschedulerParams("Anderson2021", {k: str(v) for k, v in options.items()}))
    if verbose:
        print(target, options, scheduled.schedule_source, sep="\n", flush=True)
    if not scheduled.schedule_source:
        return "no schedule"
    return difference(seed, case) if runs else compiled_fault(pipeline, target)


def child(arguments, seeds, deadline, pipe):
    """Runs cases one after the other until the deadline and reports each with lines of JSON."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    log = os.open("/dev/null", os.O_WRONLY)
    with tempfile.TemporaryFile() as warnings:
        os.dup2(warnings.fileno(), 2)
        os.dup2(log, 1)
        with os.fdopen(pipe, "w") as out:
            for seed in seeds:
                if 0 < deadline < time.monotonic():
                    return
                warnings.seek(0)
                warnings.truncate()
                print(json.dumps({"started": seed}), file=out, flush=True)
                try:
                    fault = run_case(seed, arguments.run_every)
                except Exception as error:  # whatever a case raises is a finding
                    fault = f"{type(error).__name__}: {error}"
                warnings.seek(0)
                found = BAD_WARNING.search(warnings.read().decode(errors="replace"))
                if fault is None and found:
                    fault = f"warning: {found.group()}"
                print(json.dumps({"done": seed, "fault": fault}), file=out, flush=True)


def cpu_seconds(process):
    """CPU time that a process has taken so far, all its threads together."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Runner:
    """One child after the other, watched."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.cases = self.runs = self.failures = 0
        self.slowest = (0.0, 0)
        self.deadline = time.monotonic() + arguments.seconds if arguments.seconds else 0

    def fail(self, seed, reason):
        self.failures += 1
        target, options, _ = plan(seed, self.arguments.run_every)
        print(f"FAILED seed {seed}, {target}, {options}: {reason.strip()[:1500]}\n"
              f"  repeat with: {sys.executable} {sys.argv[0]} {sys.argv[1]} --seed {seed} "
              f"--run-every {self.arguments.run_every}", flush=True)

    def finish(self, seed, started, fault):
        self.cases += 1
        self.runs += plan(seed, self.arguments.run_every)[2]
        self.slowest = max(self.slowest, (time.monotonic() - started, seed))
        if fault is not None:
            self.fail(seed, fault)

    def run_some(self, first, count):
        """Returns the seed to go on with."""
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.close(read)
                child(self.arguments, range(first, first + count), self.deadline, write)
            finally:
                os._exit(0)
        os.close(write)
        current, following, started, rest = None, first, time.monotonic(), b""
        limit, cpu = CASE_SECONDS, 0.0
        reason = "crash"
        while True:
            left = started + limit - time.monotonic()
            if left <= 0 and limit < MOST_SECONDS and cpu_seconds(process) - cpu < CASE_SECONDS:
                limit += CASE_SECONDS
                continue
            if left <= 0:
                reason = f"no end after {limit} s"
                os.kill(process, signal.SIGKILL)
                break
            if not select.select([read], [], [], left)[0]:
                continue
            data = os.read(read, 1 << 16)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                event = json.loads(line)
                if "started" in event:
                    current, started = event["started"], time.monotonic()
                    limit, cpu = CASE_SECONDS, cpu_seconds(process)
                else:
                    self.finish(current, started, event["fault"])
                    current, following = None, current + 1
        os.close(read)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if current is None:
            return following
        self.finish(current, started, f"{reason}, status {status}")
        return current + 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("plugin")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--state")
    parser.add_argument("--run-every", type=int, default=4)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    os.environ.update(POCL)
    os.environ.pop("HL_WEIGHTS_DIR", None)
    hl.load_plugin(arguments.plugin)
    if arguments.seed is not None:
        fault = run_case(arguments.seed, arguments.run_every, verbose=True)
        print(fault or "passed")
        return 1 if fault else 0

    state = pathlib.Path(arguments.state) if arguments.state else None
    first = int(state.read_text()) if state and state.exists() else arguments.first
    seed, runner = first, Runner(arguments)
    while True:
        count = CASES_PER_CHILD
        if arguments.count:
            count = min(count, first + arguments.count - seed)
        if count <= 0 or 0 < runner.deadline < time.monotonic():
            break
        seed = runner.run_some(seed, count)
        if state:
            state.write_text(f"{seed}\n")
    print(f"fuzz_pipelines: seeds {first} to {seed - 1}, {runner.cases} cases, "
          f"{runner.runs} of them run, {runner.failures} failures, "
          f"slowest {runner.slowest[0]:.1f} s (seed {runner.slowest[1]})")
    return 0 if runner.failures == 0 and runner.cases > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
