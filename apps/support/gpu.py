#!/usr/bin/env python3
"""Says which GPU the applications can use on this machine.

usage: gpu.py target        the Halide target: host-cuda-..., else host-opencl
       gpu.py parallelism   multiprocessors of that GPU; 80 (V100) where there is none
       gpu.py describe      both in one sentence

CUDA counts as usable if the driver loads, initialises and shows a device.
"""

import ctypes
import sys
from typing import NamedTuple, Optional

# Halide 21 generates PTX for these and no later ones; newer GPUs translate it when they load it.
HALIDE_CAPABILITIES = (30, 32, 35, 50, 61, 70, 75, 80, 86)

# Multiprocessors of the V100, for which the cost model is trained.
DEFAULT_PARALLELISM = 80

# Numbers of the CUDA driver API (CUdevice_attribute).
_MULTIPROCESSOR_COUNT = 16
_CAPABILITY_MAJOR = 75
_CAPABILITY_MINOR = 76


class CudaDevice(NamedTuple):
    name: str
    capability: int  # 70 stands for 7.0
    multiprocessors: int


def cuda_device() -> Optional[CudaDevice]:
    """The first CUDA device, or None if none is usable."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, device = ctypes.c_int(), ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return None
    if cuda.cuDeviceGet(ctypes.byref(device), 0):
        return None
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGetName(name, len(name), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        return value.value

    return CudaDevice(
        name.value.decode(errors="replace"),
        10 * attribute(_CAPABILITY_MAJOR) + attribute(_CAPABILITY_MINOR),
        attribute(_MULTIPROCESSOR_COUNT),
    )


def halide_target(device: Optional[CudaDevice]) -> str:
    if device is None:
        return "host-opencl"
    known = [c for c in HALIDE_CAPABILITIES if c <= device.capability]
    return f"host-cuda-cuda_capability_{known[-1]}" if known else "host-cuda"


def parallelism(device: Optional[CudaDevice]) -> int:
    return device.multiprocessors if device else DEFAULT_PARALLELISM


def describe(device: Optional[CudaDevice]) -> str:
    return f"CUDA on {device.name}" if device else "no usable CUDA device; OpenCL"


def main(arguments: list[str]) -> int:
    device = cuda_device()
    answers = {
        "target": halide_target(device),
        "parallelism": str(parallelism(device)),
        "describe": describe(device),
    }
    if len(arguments) != 2 or arguments[1] not in answers:
        print(__doc__, file=sys.stderr)
        return 2
    print(answers[arguments[1]])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
