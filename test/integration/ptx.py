"""PTX of autoscheduled applications: assembling it and reading the assembler's figures."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence

from checks import require_quiet_compilation
from toolchain import App, Toolchain

CUDA = "host-cuda-cuda_capability_70"

# Limits of compute capability 7.0, per block.
REGISTERS_PER_BLOCK = 65536
THREADS_PER_BLOCK = 1024
SHARED_BYTES_PER_BLOCK = 48 * 1024

# Instructions, in bytes moved, that store or load a spilled register in a kernel where the plugin
# expects no spills. Some dozens in the whole code are addresses that are kept for long; many more
# are accumulators without room.
UNEXPECTED_SPILL_BYTES = 64


@dataclass
class Kernel:
    """What the assembler and the launch code say about one kernel."""

    name: str
    registers: int
    spill_bytes: int
    stack_bytes: int
    threads: int = 0
    # Zero if the size is only known at run time.
    shared_bytes: int = 0
    # The plugin expects spills in this or another kernel of the schedule.
    spill_predicted: bool = False

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.threads} threads, {self.registers} registers, "
            f"{self.shared_bytes} bytes shared, {self.stack_bytes} bytes stack, "
            f"{self.spill_bytes} bytes spilled"
        )


def assemble(
    tools: Toolchain,
    app: App,
    folder: Path,
    *,
    options: Optional[Mapping[str, object]] = None,
    parameters: Sequence[str] = (),
) -> list[Kernel]:
    """Autoschedules an app for sm_70 and assembles its PTX. Fails if anything is refused."""
    auto = tools.autoschedule(
        app,
        folder,
        CUDA,
        options=options,
        parameters=parameters,
        outputs="device_code,stmt,schedule,c_header",
        environment={"HL_DEBUG_AUTOSCHEDULE": "1"},
    )
    require_quiet_compilation(auto)
    outcome = tools.ptxas(auto.file("device_code")).require_success()
    kernels = assembled_kernels(outcome.output)
    # The statement also holds the PTX as text, with bytes that are no characters.
    statement = auto.file("stmt").read_text(errors="replace")
    predicted = re.search(r"^Registers per thread .*spill predicted$", auto.output, re.M)
    for kernel in kernels:
        _read_launch(kernel, statement)
        kernel.spill_predicted = predicted is not None
    slices = re.findall(r"allocate \S+\.\d+\.buffer\b", statement)
    assert not slices, f"per-thread arrays in global memory, their sizes are no constants: {slices}"
    return kernels


def assembled_kernels(log: str) -> list[Kernel]:
    """The kernels that the assembler reports on; threads and shared memory are not known yet."""
    kernels = []
    pattern = re.compile(
        r"Compiling entry function '(?P<name>[^']+)'.*?"
        r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
        r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers",
        re.DOTALL,
    )
    for match in pattern.finditer(log):
        kernels.append(
            Kernel(
                name=match["name"],
                registers=int(match["registers"]),
                spill_bytes=int(match["stores"]) + int(match["loads"]),
                stack_bytes=int(match["stack"]),
            )
        )
    return kernels


def _read_launch(kernel: Kernel, statement: str) -> None:
    """Threads and shared memory from the call that launches the kernel."""
    call = re.search(rf'halide_cuda_run\([^"]*"{re.escape(kernel.name)}", (.*)', statement)
    assert call, f"{kernel.name} is never launched"
    # Three grid extents, three block extents, bytes of shared memory.
    arguments = _arguments(call[1], 7)
    kernel.threads = 1
    for extent in arguments[3:6]:
        assert extent.isdigit(), f"{kernel.name}: block extent {extent} is no constant"
        kernel.threads *= int(extent)
    if re.fullmatch(r"[\d+*() ]+", arguments[6]):
        kernel.shared_bytes = eval(arguments[6])  # only digits, +, * and brackets


def _arguments(text: str, count: int) -> list[str]:
    """The first `count` arguments of a call, whose brackets may nest."""
    result, depth, current = [], 0, ""
    for character in text:
        if character == "," and depth == 0:
            result.append(current.strip())
            current = ""
            if len(result) == count:
                break
        else:
            depth += (character == "(") - (character == ")")
            current += character
    return result
