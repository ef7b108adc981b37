#!/usr/bin/env python3
"""Autoschedules the Harris corner detector for the GPU and runs it on a real photograph.

usage: .venv/bin/python scripts/demo.py        (`make demo` does it with all set-up)

Shows the progress of the search, the chosen schedule and its predicted cost, compares the result
with the one of the CPU, and leaves the pictures and the full log in build/demo/. Runs on CUDA if a
device is usable, else through OpenCL on the CPU.

Environment: ANDERSON_PLUGIN, HL_TARGET, HL_WEIGHTS_DIR, HL_DEBUG_AUTOSCHEDULE and whatever else
the plugin understands.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "integration"), str(ROOT / "apps" / "support")]
sys.dont_write_bytecode = True

try:
    import gpu
    import photo
    from PIL import Image
    from toolchain import DEFAULT_PLUGIN, App, Outcome, Toolchain, ToolError
except ImportError as missing:
    sys.exit(f"demo: {missing}. Start it with `make demo`, which installs what it needs.")

HARRIS = App("harris", "harris", small=(), odd_size="", sizes=(), manual_size="1x1")
PHOTO_SCALE = 3
# Repetitions of the measurement: on a GPU a run takes milliseconds, through PoCL seconds.
RUNS_ON_GPU, RUNS_ON_CPU = 10, 1

# Lines of the log that tell a user how the search goes, rather than a developer.
PROGRESS = re.compile(
    r"^(Loading weights|Pass \d+ result|Best cost|Frozen|Warning|Number of states added"
    r"|Number of featurizations|Number of schedules evaluated|Time taken for autoscheduler)"
)


class Clock:
    """Announces steps and remembers how long each took."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, float]] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        print(f"\n== {title}", flush=True)
        begin = time.monotonic()
        yield
        seconds = time.monotonic() - begin
        self._steps.append((title, seconds))
        print(f"   ({seconds:.2f} s)", flush=True)

    def summary(self) -> None:
        print("\n== Time of each step")
        for title, seconds in self._steps:
            print(f"   {seconds:7.2f} s  {title}")
        print(f"   {sum(seconds for _, seconds in self._steps):7.2f} s  in all")


def require_opencl() -> None:
    """OpenCL needs a loader and at least one platform (PoCL, if there is no GPU)."""
    advice = "On Debian or Ubuntu: apt-get install ocl-icd-libopencl1 pocl-opencl-icd"
    try:
        opencl = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        raise ToolError(f"there is no CUDA device and no libOpenCL.so.1. {advice}") from None
    count = ctypes.c_uint(0)
    if opencl.clGetPlatformIDs(0, None, ctypes.byref(count)) != 0 or count.value == 0:
        raise ToolError(f"there is no CUDA device and no OpenCL platform. {advice}")


def show_progress(command: list[str], environment: dict[str, str], log: Path) -> str:
    """Runs the generator, shows the interesting lines of its log as they come; returns the log."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if PROGRESS.match(line):
                print(f"   {line.rstrip()}", flush=True)
    text = "".join(lines)
    log.write_text(text)
    if process.returncode != 0:
        raise ToolError(f"the generator stopped with status {process.returncode}:\n{text[-3000:]}")
    return text


def autoschedule(tools: Toolchain, folder: Path, target: str, width: int, height: int) -> Outcome:
    """Schedules the app for pictures of this size and shows what was chosen."""
    function = "harris_auto"
    command = tools.emit_command(
        tools.generator(HARRIS),
        "harris",
        function,
        target,
        folder,
        outputs="static_library,c_header,schedule,featurization",
        options={"parallelism": gpu.parallelism(gpu.cuda_device())},
        parameters=[f"width={width}", f"height={height}"],
    )
    environment = {"HL_DEBUG_AUTOSCHEDULE": "1", **os.environ}
    log = show_progress([str(word) for word in command], environment, folder / "search.log")
    outcome = Outcome(command, 0, log, folder, function)
    tree = re.search(r"BEGIN Final generated loop nest.*?\n(.*?)^END", log, re.DOTALL | re.MULTILINE)
    if tree:
        print("\n   The chosen loop nest and schedule:\n")
        print("".join(f"      {line}\n" for line in tree[1].splitlines() if line.strip()))
    cost = re.findall(r"^Best cost: (\S+)", log, re.MULTILINE)
    print(f"   Predicted cost: {cost[-1] if cost else 'not printed at this log level'}")
    print(f"   Schedule as C++: {relative(outcome.file('schedule.h'))}")
    print(f"   Full log:        {relative(folder / 'search.log')}")
    return outcome


def relative(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def main() -> None:
    clock = Clock()
    folder = ROOT / "build" / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target = os.environ.get("HL_TARGET") or gpu.halide_target(gpu.cuda_device())
    print(f"Target {target} ({gpu.describe(gpu.cuda_device())})")
    if "opencl" in target:
        require_opencl()
    plugin = Path(os.environ.get("ANDERSON_PLUGIN", DEFAULT_PLUGIN)).resolve()
    tools = Toolchain(work=folder / "work", plugin=plugin)

    with clock.step("Photograph (the astronaut Eileen Collins, NASA, public domain)"):
        picture = photo.photograph(PHOTO_SCALE)
        picture.save(folder / "input.png")
        photo.write_ppm(picture, folder / "input.ppm")
        print(f"   {relative(folder / 'input.png')}: {picture.width} x {picture.height}")
    with clock.step("Compile the generator of apps/harris"):
        tools.generator(HARRIS)
    with clock.step(f"Autoschedule it with {plugin.name}"):
        auto = autoschedule(tools, folder, target, picture.width, picture.height)
    with clock.step("Build the program, with the CPU variant and the hand-written GPU schedule"):
        fixed = tools.fixed_variants(
            HARRIS, target, [f"width={picture.width}", f"height={picture.height}"]
        )
        program = tools.filter_program(HARRIS, auto, fixed, target)
    with clock.step("Run it on the photograph, compare with the CPU, measure"):
        runs = RUNS_ON_GPU if "cuda" in target else RUNS_ON_CPU
        outcome = tools.run_filter(
            program, "--input", folder / "input.ppm", "--output", folder, "--runs", runs
        )
        print("".join(f"   {line}\n" for line in outcome.output.splitlines()), end="")
        outcome.require_success()
    with clock.step("Compress the picture with the corners"):
        output = folder / "harris.png"
        Image.open(output).save(output)
        print(f"   {relative(output)}")
    clock.summary()


if __name__ == "__main__":
    try:
        main()
    except (ToolError, FileNotFoundError) as error:
        sys.exit(f"demo: {error}")
