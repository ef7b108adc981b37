"""Compiles pipelines of the applications to PTX and collects what is known without running it.

A Compiler starts one process per application, which compiles any number of schedules; the PTX is
assembled here. What a schedule's features predict is read from its `.featurization`.
"""

import json
import math
import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Iterator, Mapping, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "integration"))

from ptx import Kernel, assembled_kernels  # noqa: E402
from toolchain import App, Toolchain, clean_environment, package_folder  # noqa: E402

CUDA = "host-cuda-cuda_capability_70"
FLOATS_PER_RECORD = 73 + 287
# Bytes of one transaction of global memory.
SECTOR = 32


def feature_names() -> list[str]:
    """Of the features of a schedule, in file order."""
    text = (ROOT / "src" / "features" / "schedule_features.def").read_text()
    return re.findall(r"^ANDERSON_SCHEDULE_FEATURE\((\w+),", text, re.M)


def read_featurization(path: Path) -> list[dict[str, float]]:
    """One dictionary of schedule features per stage."""
    names, blob = feature_names(), path.read_bytes()
    size = 4 * FLOATS_PER_RECORD
    if len(blob) % size:
        raise ValueError(f"{path} is not a whole number of records")
    return [
        dict(zip(names, struct.unpack_from(f"{len(names)}f", blob, offset)))
        for offset in range(0, len(blob), size)
    ]


def global_traffic(stages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Bytes that all blocks load from and store to global memory, by the features.

    Transactions between multiprocessor and cache: what the cache keeps is not known here.
    """

    def total(name: str) -> float:
        return sum(stage[name] * stage["num_blocks"] * SECTOR for stage in stages)

    return {
        "loaded_bytes": total("num_global_mem_loads_per_block"),
        "stored_bytes": total("num_global_mem_stores_per_block"),
    }


def predicted_shared_bytes(stages: Sequence[Mapping[str, float]]) -> float:
    """The largest shared memory of a block that the features speak of, in bytes."""
    return max((s["shared_mem_occupancy"] for s in stages), default=0) * 48 * 1024


@dataclass
class Compiled:
    """What became of one job. `error` is one line, or None."""

    job: str
    seconds: float
    error: Optional[str] = None
    kernels: list[Kernel] = field(default_factory=list)
    launches: list[dict] = field(default_factory=list)
    stages: list[dict[str, float]] = field(default_factory=list)
    # Per architecture: the assembler's complaint.
    refusals: dict[str, str] = field(default_factory=dict)
    # Registers and spills of each kernel on further architectures.
    other_kernels: dict[str, list[Kernel]] = field(default_factory=dict)
    # Arrays per thread whose sizes are no constants; they go to global memory.
    slices: list[str] = field(default_factory=list)
    # The same in branches for other sizes than the estimates.
    other_slices: list[str] = field(default_factory=list)
    # If the log was on: registers per thread of each kernel by the plugin's estimate.
    registers: dict[str, int] = field(default_factory=dict)
    # If the log was on: kernels that the plugin expects to spill.
    spills_predicted: list[str] = field(default_factory=list)


def read_estimates(log: str) -> tuple[dict[str, int], list[str]]:
    """What the log says of registers: a number per kernel, and those that may spill."""
    found = re.findall(r"^Registers per thread of (\S+) \(estimate\): (\d+)(, spill predicted)?$",
                       log, re.M)
    return {name: int(n) for name, n, _ in found}, [name for name, _, spills in found if spills]


def thread_arrays(allocations: Sequence[str]) -> list[str]:
    """Of the host's allocations, those that stand for arrays of each thread."""
    return [name for name in allocations if re.search(r"\.\d+\.buffer$", name)]


def one_line(log: str, status: int) -> str:
    """Why a job failed."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    at = next((i for i, line in enumerate(lines) if re.match(r"(Internal )?[Ee]rror", line)), -2)
    reason = " ".join(lines[at:][:2])[:240] if lines else "nothing printed"
    if os.WIFSIGNALED(status):
        signal = os.WTERMSIG(status)
        names = {24: "too much CPU time", 6: "aborted", 9: "killed", 11: "segmentation fault"}
        return f"{names.get(signal, f'signal {signal}')}: {reason}"
    return reason


class Compiler:
    """Compiles one application again and again."""

    def __init__(self, tools: Toolchain, app: App, folder: Path) -> None:
        self.tools, self.app, self.folder = tools, app, folder
        folder.mkdir(parents=True, exist_ok=True)

    def program(self) -> Path:
        common = [
            self.tools.compile(
                self.tools.work / "programs" / f"{name}.o",
                [Path(__file__).with_name(f"{name}.cpp")],
                ["-O1", "-c", Path(__file__).with_name(f"{name}.cpp")],
            )
            for name in ("device_code", "log_tail")
        ]
        source = ROOT / "apps" / self.app.name / f"{self.app.name}_generator.cpp"
        library = self.tools.halide / "lib64"
        return self.tools.compile(
            self.tools.work / "programs" / f"{self.app.name}.device_code",
            [source, *common, *(ROOT / "apps" / "support").glob("*.h")],
            ["-O1", source, *common, f"-L{library}", "-lHalide", f"-Wl,-rpath,{library}"]
            + ["-ldl", "-lpthread"],
        )

    def compile(
        self,
        jobs: Iterable[tuple[str, Sequence[str]]],
        *,
        plugin: Optional[Path],
        parameters: Sequence[str] = (),
        seconds: int = 600,
        megabytes: int = 8192,
        architectures: Sequence[str] = ("sm_70",),
        keep: bool = False,
        log_level: int = 0,
    ) -> Iterator[Compiled]:
        """Yields one result per job; compilation goes on while the caller looks at it."""
        command = [self.program(), self.app.generator, plugin or "-", CUDA, self.folder]
        command += [seconds, megabytes, *parameters]
        with subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean_environment({"HL_DEBUG_AUTOSCHEDULE": str(log_level)}),
            text=True,
        ) as process:
            # Some hundred short lines fit into the pipe.
            process.stdin.write("".join(f"{job} {' '.join(words)}\n" for job, words in jobs))
            process.stdin.close()
            for line in process.stdout:
                job, status, passed = line.split()
                result = Compiled(job, float(passed))
                self._read(result, int(status), architectures)
                if not keep and result.error is None and not result.refusals:
                    for file in self.folder.glob(f"{job}.*"):
                        file.unlink()
                yield result

    def _read(self, result: Compiled, status: int, architectures: Sequence[str]) -> None:
        base = self.folder / result.job
        if status != 0:
            log = base.with_suffix(".log").read_text(errors="replace")[-20000:]
            result.error = one_line(log, status)
            return
        known = json.loads((self.folder / f"{result.job}.launches.json").read_text())
        result.launches = known["launches"]
        result.slices = thread_arrays(known["allocations"])
        result.other_slices = thread_arrays(known["other_allocations"])
        features = self.folder / f"{result.job}.featurization"
        if features.exists() and features.stat().st_size:
            result.stages = read_featurization(features)
        log = base.with_suffix(".log").read_text(errors="replace")
        result.registers, result.spills_predicted = read_estimates(log)
        code = self.folder / f"{result.job}.ptx"
        if not code.exists():
            result.error = "no kernel: everything runs on the CPU"
            return
        for architecture in architectures:
            kernels = self._assemble(result, code, architecture)
            if architecture == architectures[0]:
                result.kernels = kernels
            else:
                result.other_kernels[architecture] = kernels
        for kernel in result.kernels:
            add_launch(kernel, result.launches)

    @staticmethod
    def _assemble(result: Compiled, code: Path, architecture: str) -> list[Kernel]:
        assembler = package_folder("nvidia.cuda_nvcc") / "bin" / "ptxas"
        done = subprocess.run(
            [assembler, f"-arch={architecture}", "-maxrregcount=64", "-v", code, "-o", "/dev/null"],
            capture_output=True, text=True, check=False,
        )
        if done.returncode != 0:
            result.refusals[architecture] = (done.stdout + done.stderr).strip()[:300]
            return []
        return assembled_kernels(done.stdout + done.stderr)


def runs_at_estimates(kernel: Kernel, launches: Sequence[Mapping]) -> bool:
    """False for the kernels of other sizes, smaller than a tile for example."""
    return any(launch["taken_at_estimates"] for launch in launches_of(kernel.name, launches))


def launches_of(kernel: str, launches: Sequence[Mapping]) -> list[Mapping]:
    return [launch for launch in launches if launch["kernel"] == kernel]


def add_launch(kernel: Kernel, launches: Sequence[Mapping]) -> None:
    """Threads per block and shared memory at the estimates: the most of all launches."""
    found = launches_of(kernel.name, launches)
    if not found:
        raise ValueError(f"{kernel.name} is never launched")
    for launch in found:
        if all(extent.isdigit() for extent in launch["threads"]):
            kernel.threads = max(kernel.threads, math.prod(map(int, launch["threads"])))
        if launch["shared_at_estimates"]:
            kernel.shared_bytes = max(kernel.shared_bytes, int(launch["shared_at_estimates"]))


def count_launches(launches: Sequence[Mapping]) -> tuple[int, bool]:
    """Launches of a run at the estimates, and whether loops of unknown extent repeat some."""
    total, more = 0, False
    for launch in launches:
        if not launch["taken_at_estimates"]:
            continue
        extents = launch["loops_at_estimates"]
        known = [int(extent) for extent in extents if extent.isdigit()]
        more = more or len(known) < len(extents)
        total += math.prod(known)
    return total, more
