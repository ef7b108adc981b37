"""Builds and times the scheduled applications on a GPU, through their filter programs.

Every variant is linked into a program of its own together with the hand-written one, which also
takes the place of the CPU reference there: so each process measures both under the same
conditions, and no time goes into the CPU. That the hand-written one is right is checked against
the CPU once, by a program of its own. Measuring needs these programs and Python alone, so it can
be done on another machine than building.
"""

import ctypes
import json
import re
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Sequence

import device_code

from toolchain import OPENCL_ON_CPU, App, Outcome, ToolError, Toolchain, run  # noqa: E402

sys.path.append(str(device_code.ROOT / "apps" / "support"))
import gpu  # noqa: E402

_OPENCL_GPU = 4  # CL_DEVICE_TYPE_GPU
_OPENCL_DEVICE_NAME = 0x102B


@dataclass(frozen=True)
class Variant:
    """A plugin with the words that make a generator use it; without plugin: written by hand."""

    name: str
    label: str
    plugin: Optional[Path] = None
    words: Sequence[str] = ()
    ours: bool = False


@dataclass
class Device:
    """Where programs run. `kind` says what sort of figures that gives."""

    kind: str  # "cuda", "opencl" or "opencl on the CPU"
    name: str
    target: str
    parallelism: int
    environment: dict = field(default_factory=dict)


def opencl_gpu() -> Optional[str]:
    """Name of the first GPU that OpenCL offers, or None."""
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return None
    count, platforms = ctypes.c_uint(), (ctypes.c_void_p * 16)()
    if library.clGetPlatformIDs(16, platforms, ctypes.byref(count)):
        return None
    for platform in platforms[: min(count.value, 16)]:
        device, found = ctypes.c_void_p(), ctypes.c_uint()
        if library.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(_OPENCL_GPU), 1,
                                  ctypes.byref(device), ctypes.byref(found)) or not found.value:
            continue
        name = ctypes.create_string_buffer(256)
        library.clGetDeviceInfo(device, _OPENCL_DEVICE_NAME, len(name), name, None)
        return name.value.decode(errors="replace")
    return None


def find_device() -> Optional[Device]:
    """The GPU of this machine, CUDA before OpenCL, or None."""
    cuda = gpu.cuda_device()
    if cuda is not None:
        return Device("cuda", f"{cuda.name} (compute capability {cuda.capability / 10:.1f})",
                      gpu.halide_target(cuda), gpu.parallelism(cuda))
    name = opencl_gpu()
    if name is not None:
        return Device("opencl", name, "host-opencl", gpu.DEFAULT_PARALLELISM,
                      {"HL_OCL_DEVICE_TYPE": "gpu"})
    return None


def cpu_as_device() -> Device:
    """OpenCL on the CPU, to try the programs out."""
    return Device("opencl on the CPU", "PoCL", "host-opencl", gpu.DEFAULT_PARALLELISM,
                  dict(OPENCL_ON_CPU))


@dataclass
class Build:
    """Programs of one application for one target."""

    tools: Toolchain
    app: App
    folder: Path
    target: str
    parameters: Sequence[str] = ()
    seconds: int = 900

    def emit(self, variant: Variant, folder: Path, extra: Sequence[str] = ()) -> Outcome:
        """Compiles a variant as if it was the automatic one of the app."""
        function = f"{self.app.generator}_auto"
        command: list[object] = [self.tools.generator(self.app), "-g", self.app.generator]
        command += ["-n", function, "-f", function, "-o", folder, "-e", "static_library,c_header"]
        if variant.plugin is not None:
            command += ["-p", variant.plugin]
        command += [f"target={self.target}-no_runtime", *self.parameters, *variant.words, *extra]
        folder.mkdir(parents=True, exist_ok=True)
        outcome = run(command, timeout=self.seconds)
        outcome.folder, outcome.function = folder, function
        return outcome

    def program(self, variant: Variant, extra: Sequence[str] = ()) -> Path:
        """The program that measures a variant; a ToolError says why there is none."""
        folder = self.folder / variant.name
        auto = self.emit(variant, folder, extra)
        if auto.returncode != 0:
            lines = [line for line in auto.output.splitlines() if line.strip()]
            raise ToolError(lines[-1][:240] if lines else f"exit status {auto.returncode}")
        generator = self.app.generator
        return self._link(auto, folder / "measure", [f"-D{generator}_cpu={generator}_manual"])

    def relative(self, program: Path) -> str:
        """As it is written to programs.json."""
        return str(program.relative_to(self.folder))

    def check_program(self) -> Path:
        """The program that compares the hand-written variant with the CPU."""
        auto = self.emit(Variant("manual", ""), self.folder / "check").require_success()
        return self._link(auto, self.folder / "check" / "check", [])

    def _link(self, auto: Outcome, product: Path, defines: Sequence[str]) -> Path:
        fixed = self.tools.fixed_variants(self.app, self.target, self.parameters)
        product.unlink(missing_ok=True)
        library = auto.file("a")
        libraries = [fixed / f"{self.app.generator}_{name}.a" for name in ("manual", "cpu")]
        self.tools.compile(
            product, [],
            ["-O1", "-s", *defines, f"-I{fixed}", f"-I{auto.folder}",
             device_code.ROOT / "apps" / self.app.name / "filter.cpp",
             *self.tools.support_objects(), library, *libraries,
             self.tools.runtime(self.target), "-ldl", "-lpthread"],
        )
        # The folder may have to travel.
        library.unlink()
        return product


def build_app(build: Build, variants: Sequence[Variant], top_k: int) -> dict:
    """Builds everything of one app; says per variant where the program is, or the error."""
    found: dict = {}
    todo = list(variants)
    prefix = build.folder / "top" / build.app.generator
    while todo:
        variant, extra = todo.pop(0), []
        if variant.name == "ours" and top_k > 1:
            prefix.parent.mkdir(parents=True, exist_ok=True)
            extra = [f"autoscheduler.top_k={top_k}", f"autoscheduler.top_k_path={prefix}"]
        try:
            found[variant.name] = {"label": variant.label,
                                   "program": build.relative(build.program(variant, extra))}
        except ToolError as error:
            found[variant.name] = {"label": variant.label, "error": str(error)[-240:]}
            continue
        if extra:
            # The first of them is what `ours` is already.
            trees = [Path(f"{prefix}.{rank}.tree") for rank in range(1, top_k)]
            todo += [Variant(f"top_{rank}", f"ours, rank {rank}", variant.plugin,
                             (*variant.words, f"autoscheduler.partial_schedule_path={tree}"))
                     for rank, tree in enumerate(trees, 1) if tree.exists()]
    try:
        found["check"] = {"program": build.relative(build.check_program())}
    except ToolError as error:
        found["check"] = {"error": str(error)[-240:]}
    (build.folder / "programs.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


def read_programs(folder: Path) -> dict:
    """What build_app() left in the folder, which may have been moved since."""
    found = json.loads((folder / "programs.json").read_text())
    for entry in found.values():
        if "program" in entry:
            entry["program"] = str(folder / entry["program"])
    return found


def parse_times(output: str) -> dict[str, float]:
    """Median ms by variant from what a filter program printed."""
    return {name: float(ms) for name, ms in re.findall(r": (\w+): median_ms=([\d.]+)", output)}


def _measure_once(entry: dict, device: Device, runs: int, seconds: float) -> None:
    """One process: adds a pair of times to the entry, or the error."""
    try:
        outcome = run([entry["program"], "--variants", "manual,auto", "--runs", runs],
                      environment=device.environment, timeout=seconds)
    except ToolError as error:
        entry["error"] = str(error)[:240]
        return
    times = parse_times(outcome.output)
    if "auto" not in times:
        lines = [line for line in outcome.output.splitlines() if line.strip()]
        entry["error"] = lines[-1][:240] if lines else f"exit status {outcome.returncode}"
        return
    # Not equal to the hand-written one, although that agrees with the CPU.
    entry["agrees"] = outcome.returncode == 0
    entry.setdefault("pairs", []).append([times["manual"], times["auto"]])


def measure_app(programs: dict, device: Device, runs: int, rounds: int, seconds: float) -> dict:
    """Times all variants of an app in turn until the rounds or the time are over."""
    end = time.monotonic() + seconds
    check = programs["check"]
    if "program" in check:
        try:
            outcome = run([check["program"], "--variants", "manual"],
                          environment=device.environment, timeout=max(seconds, 60))
            check["agrees"] = outcome.returncode == 0
        except ToolError as error:
            check["error"] = str(error)[:240]
    entries = {name: entry for name, entry in programs.items() if name != "check"}
    for number in range(rounds):
        if number > 0 and time.monotonic() > end:
            break
        for entry in entries.values():
            if "error" not in entry:
                _measure_once(entry, device, runs, max(seconds, 60))
    result = {name: summary(entry) for name, entry in entries.items()}
    return {"check": check, "variants": with_best_of_top(result)}


def summary(entry: dict) -> dict:
    """Median time and median of the speed-ups over the hand-written variant."""
    result = {"label": entry["label"], "error": entry.get("error")}
    if entry.get("pairs") and not result["error"]:
        result |= {
            "ms": statistics.median(auto for _, auto in entry["pairs"]),
            "speed_up": statistics.median(manual / auto for manual, auto in entry["pairs"]),
            "rounds": len(entry["pairs"]), "agrees": entry["agrees"],
        }
    return result


def with_best_of_top(variants: dict) -> dict:
    """Replaces the ranked schedules by the fastest one that is right, `ours` among them."""
    ranked = {n: v for n, v in variants.items() if n.startswith("top_") or n == "ours"}
    result = {n: v for n, v in variants.items() if not n.startswith("top_")}
    right = [(v["speed_up"], n) for n, v in ranked.items() if v.get("agrees")]
    if len(ranked) > 1 and right:
        _, best = max(right)
        result["ours_best"] = ranked[best] | {"label": f"ours, best of {len(ranked)}", "rank": best}
    return result
