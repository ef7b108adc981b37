"""Theoretical occupancy of a kernel: how many of its blocks a multiprocessor can hold at a time.

Four limits, of which the smallest counts: blocks, warps, registers and shared memory of a
multiprocessor. Registers are handed out to whole warps in units of 256, and the warps share the
register file of one of four schedulers; shared memory is handed out in units that depend on the
architecture. The constants are those of NVIDIA's published tables of compute capabilities.
"""

from dataclasses import dataclass

WARP = 32


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor of an architecture has."""

    warps: int
    blocks: int
    shared_bytes: int
    # Taken by the system for every block, before rounding.
    shared_reserved_bytes: int
    shared_unit_bytes: int
    registers: int = 65536
    register_unit: int = 256
    registers_per_thread_unit: int = 8
    # Warps are dealt out to these, each with its part of the registers.
    schedulers: int = 4
    threads_per_block: int = 1024


MULTIPROCESSORS = {
    70: Multiprocessor(64, 32, 96 * 1024, 0, 256),
    75: Multiprocessor(32, 16, 64 * 1024, 0, 256),
    80: Multiprocessor(64, 32, 164 * 1024, 1024, 128),
    86: Multiprocessor(48, 16, 100 * 1024, 1024, 128),
    90: Multiprocessor(64, 32, 228 * 1024, 1024, 128),
}


@dataclass(frozen=True)
class Occupancy:
    """Resident blocks and warps; `limiter` names what allows no more."""

    blocks: int
    warps: int
    fraction: float
    limiter: str


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(capability: int, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Of a kernel with `threads` per block, `registers` per thread and shared memory per block.

    With several limits that allow equally few blocks the first of threads, registers, blocks
    and shared memory is named. A block that does not fit at all has zero blocks.
    """
    sm = MULTIPROCESSORS[capability]
    if threads < 1 or registers < 0 or shared_bytes < 0:
        raise ValueError("threads must be positive, registers and shared memory not negative")
    warps = -(-threads // WARP)
    per_warp = _up(_up(max(registers, 1), sm.registers_per_thread_unit) * WARP, sm.register_unit)
    warps_by_registers = sm.registers // sm.schedulers // per_warp * sm.schedulers
    shared = _up(shared_bytes + sm.shared_reserved_bytes, sm.shared_unit_bytes)
    limits = {
        "threads": sm.warps // warps if threads <= sm.threads_per_block else 0,
        "registers": warps_by_registers // warps,
        "blocks": sm.blocks,
        "shared memory": sm.shared_bytes // shared if shared else sm.blocks,
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / sm.warps, limiter)
