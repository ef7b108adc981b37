"""From a compiled candidate to its run time.

The usual harness is the program that Halide's RunGenMain makes of any pipeline: it is timed and
checked against the same pipeline compiled for the CPU, on the same inputs. Where a project has a
program of its own that checks and times a candidate, CustomHarness links and runs that.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Mapping, Tuple, Union

import numpy

from . import programs
from .errors import SampleFailure, TuneError, check_disk
from .settings import Settings, Tolerance
from .workbench import Searched, Workbench, halide_folder, halide_version

OUTPUT_LINE = re.compile(r'^\s*Output "([^"]+)" is of type', re.MULTILINE)
TIME_LINE = re.compile(r"\sBEST_TIME_MSEC_PER_ITER\s+(\S+)")
# Such programs time the pipeline of the CPU as well.
CUSTOM_TIME = re.compile(r"\bauto: median_ms=(\S+)")


@dataclass(frozen=True)
class Timed:
    """A run time, and how far the results are from those of the CPU."""

    milliseconds: float
    largest_difference: float


def parse_time(pattern: "re.Pattern[str]", output: str) -> float:
    """The last time in a program's output; it has to be a positive number."""
    found = pattern.findall(output)
    if not found:
        raise SampleFailure("run", "the program did not print a time")
    try:
        milliseconds = float(found[-1])
    except ValueError as error:
        raise SampleFailure("run", f"{found[-1]!r} is no time") from error
    if not (math.isfinite(milliseconds) and milliseconds > 0):
        raise SampleFailure("run", f"a time of {found[-1]} ms is impossible")
    return milliseconds


def load_array(path: Path) -> numpy.ndarray:
    """An output that RunGen has saved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the dialect of the header
        try:
            return numpy.load(path)
        except (OSError, ValueError) as error:
            raise SampleFailure("check", f"cannot read {path.name}: {error}") from error


def compare(value: numpy.ndarray, expected: numpy.ndarray, tolerance: Tolerance) -> float:
    """The largest difference; a SampleFailure if too many values differ by too much."""
    if value.shape != expected.shape or value.dtype != expected.dtype:
        raise SampleFailure("check", f"the output is {value.dtype} {value.shape} instead of "
                                     f"{expected.dtype} {expected.shape}")
    if value.size == 0:
        return 0.0
    ours, theirs = value.astype(numpy.float64), expected.astype(numpy.float64)
    with numpy.errstate(invalid="ignore"):
        difference = numpy.abs(ours - theirs)
        allowed = tolerance.absolute + tolerance.relative * numpy.abs(theirs)
        same = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
        wrong = ~same & ~(numpy.isfinite(theirs) & (difference <= allowed))
    difference[same] = 0
    finite = difference[numpy.isfinite(difference)]
    largest = float(finite.max()) if finite.size else math.inf
    count = int(wrong.sum())
    if count > tolerance.outliers * value.size:
        raise SampleFailure("check", f"{count} of {value.size} values differ from the CPU's by "
                                     f"more than the tolerance, by up to {largest:g}")
    return largest


class RunGenHarness:
    """RunGenMain around every candidate."""

    def __init__(self, workbench: Workbench) -> None:
        self.settings: Settings = workbench.settings
        self.workbench = workbench
        self.halide = halide_folder()
        self.compiler = shlex.split(os.environ.get("CXX", "g++"))
        self.tools = self.settings.folder / "tools"
        # What does not depend on the pipeline, for all runs that use this build.
        self.shared = self.settings.build.resolve() / "autotune"
        key = f"{halide_version()} {self.compiler}"
        self.suffix = f"{zlib.crc32(key.encode()):08x}"
        self.outputs: Dict[Tuple[int, str], numpy.ndarray] = {}

    def _flags(self) -> List[str]:
        return ["-std=c++17", "-O1", "-isystem", str(self.halide / "include"),
                "-isystem", str(self.halide / "share" / "tools")]

    async def _step(self, what: str, command: List[str], log: str) -> str:
        limit = self.settings.compile_timeout
        done = await programs.run(command, self.tools / log, timeout=limit)
        if not done.ok:
            check_disk(self.tools, done.output)
            raise TuneError(f"{what}: {done.reason(limit)}\nThe command was: "
                            f"{programs.quoted(command)}")
        return done.output

    @property
    def main(self) -> Path:
        """RunGenMain, compiled."""
        return self.shared / f"RunGenMain-{self.suffix}.o"

    @property
    def runtime(self) -> Path:
        """Halide's runtime for the target."""
        return self.shared / f"runtime-{self.settings.target}-{self.suffix}.a"

    async def prepare(self) -> None:
        """RunGenMain, the runtime and the results of the CPU."""
        self.tools.mkdir(parents=True, exist_ok=True)
        try:
            self.shared.mkdir(exist_ok=True)
            usable = os.access(self.shared, os.W_OK)
        except OSError:
            usable = False
        self.shared = self.shared if usable else self.tools
        # Renamed when they are whole, since another run may be making them, too.
        partial = self.shared / f"partial{os.getpid()}"
        if not self.main.exists():
            source = self.halide / "share" / "tools" / "RunGenMain.cpp"
            await self._step("cannot compile RunGenMain", [
                *self.compiler, *self._flags(), "-DHALIDE_NO_PNG", "-DHALIDE_NO_JPEG", "-c",
                str(source), "-o", f"{partial}.o"], "RunGenMain.txt")
            os.replace(f"{partial}.o", self.main)
        if not self.runtime.exists():
            await self._step("cannot make the runtime", [
                str(self.settings.generator.resolve()), "-r", partial.name, "-o",
                str(self.shared), "-e", "static_library", f"target={self.settings.target}"],
                "runtime.txt")
            os.replace(f"{partial}.a", self.runtime)
        for number in range(len(self.settings.argument_sets) if self.settings.check else 0):
            await self._reference(number)

    async def _reference(self, number: int) -> None:
        """Compiles and runs the pipeline on the CPU."""
        folder = self.tools / f"cpu_{number}"
        folder.mkdir(exist_ok=True)
        command = self.workbench.command(folder, "cpu", "static_library,registration", number,
                                         None, target="host")
        await self._step("cannot compile the pipeline for the CPU", command, f"cpu_{number}.txt")
        program = folder / "cpu.bench"
        await self._step("cannot link the pipeline for the CPU",
                         self._link_command(folder, "cpu", program), f"cpu_{number}_link.txt")
        text = await self._step("cannot describe the pipeline", [str(program), "--describe"],
                                f"cpu_{number}_describe.txt")
        names = OUTPUT_LINE.findall(text)
        arguments = [f"{name}={folder}/{i}.npy" for i, name in enumerate(names)]
        await self._step("cannot run the pipeline on the CPU",
                         [str(program), *self.settings.run_arguments, *arguments],
                         f"cpu_{number}_run.txt")
        program.unlink()
        for i, name in enumerate(names):
            self.outputs[number, name] = load_array(folder / f"{i}.npy")

    def _link_command(self, folder: Path, name: str, program: Path) -> List[str]:
        return [*self.compiler, *self._flags(), str(folder / f"{name}.registration.cpp"),
                str(self.main), str(folder / f"{name}.a"), str(self.runtime), "-o", str(program),
                "-ldl", "-lpthread"]

    async def link(self, searched: Searched) -> Path:
        """The program of a candidate."""
        name = searched.candidate.name(self.settings.pipeline)
        program = searched.folder / "bench"
        limit = self.settings.compile_timeout
        done = await programs.run(self._link_command(searched.folder, name, program),
                                  searched.folder / "link.txt", timeout=limit)
        if not done.ok:
            raise SampleFailure("link", done.reason(limit))
        return program

    async def measure(self, searched: Searched, program: Path,
                      environment: Mapping[str, str]) -> Timed:
        """Times a candidate and compares its last results with the CPU's."""
        names = [name for number, name in self.outputs
                 if number == searched.candidate.argument_set]
        files = [searched.folder / f"output_{i}.npy" for i in range(len(names))]
        limit = self.settings.run_timeout
        done = await programs.run(
            [program, *self.settings.run_arguments, "--benchmarks=all", "--parsable_output",
             f"--benchmark_min_time={self.settings.min_time}",
             *(f"{name}={file}" for name, file in zip(names, files))],
            searched.folder / "bench.txt", timeout=limit, environment=environment)
        try:
            if not done.ok:
                raise SampleFailure("run", done.reason(limit))
            milliseconds = parse_time(TIME_LINE, done.output)
            largest = 0.0
            for name, file in zip(names, files):
                expected = self.outputs[searched.candidate.argument_set, name]
                largest = max(largest, compare(load_array(file), expected,
                                               self.settings.tolerance))
        finally:
            for file in files:
                file.unlink(missing_ok=True)
        return Timed(milliseconds, largest)


class CustomHarness:
    """A program that checks its results by itself and prints `auto: median_ms=<time>`."""

    def __init__(self, workbench: Workbench) -> None:
        self.settings = workbench.settings

    async def prepare(self) -> None:
        """Nothing: whoever gives the command has made what it needs."""

    async def link(self, searched: Searched) -> Path:
        """The program of a candidate."""
        program, limit = searched.folder / "bench", self.settings.compile_timeout
        library = str(searched.file(self.settings, "a"))
        words = [w.replace("@LIBRARY@", library) for w in shlex.split(self.settings.link)]
        done = await programs.run([*words, "-o", program], searched.folder / "link.txt",
                                  timeout=limit)
        if not done.ok:
            raise SampleFailure("link", done.reason(limit))
        return program

    async def measure(self, searched: Searched, program: Path,
                      environment: Mapping[str, str]) -> Timed:
        """Runs the program, which fails if the results are wrong."""
        limit = self.settings.run_timeout
        done = await programs.run(
            [program, "--variants", "auto", "--runs", self.settings.runs],
            searched.folder / "bench.txt", timeout=limit, environment=environment)
        if not done.ok:
            stage = "check" if "FAILED" in done.output else "run"
            raise SampleFailure(stage, done.reason(limit))
        difference = re.findall(r"max_abs_diff=(\S+)", done.output)
        return Timed(parse_time(CUSTOM_TIME, done.output),
                     float(difference[-1]) if difference else 0.0)


Harness = Union[RunGenHarness, CustomHarness]


def make_harness(workbench: Workbench) -> Harness:
    """The harness that the settings ask for."""
    return CustomHarness(workbench) if workbench.settings.link else RunGenHarness(workbench)
