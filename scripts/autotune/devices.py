"""Finds the GPUs (or the CPU behind OpenCL) that a target can run on.

Run as a program, it prints what it found as JSON. The tuner calls it in that way, because drivers
start threads that a program which starts others had better not have.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, List

from .errors import TuneError

# OpenCL: CL_DEVICE_TYPE_*, CL_PLATFORM_NAME, CL_DEVICE_NAME, CL_DRIVER_VERSION.
_CL_TYPES = {"cpu": 2, "gpu": 4, "acc": 8}
_CL_PLATFORM_NAME, _CL_DEVICE_NAME, _CL_DRIVER_VERSION = 0x0902, 0x102B, 0x102D


@dataclass(frozen=True)
class Device:
    """One device, and the environment that makes a program of Halide use it and no other."""

    name: str
    driver: str
    # Measuring has to wait until compilers are silent.
    is_cpu: bool
    slot: str
    environment: Dict[str, str] = field(default_factory=dict)


def _cuda_driver(cuda: ctypes.CDLL) -> str:
    version = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    text = f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"
    try:
        kernel_module = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return text
    found = re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", kernel_module)
    return f"{found.group(1)}, {text}" if found else text


def cuda_devices() -> List[Device]:
    """CUDA devices, in the order of CUDA_VISIBLE_DEVICES if that is set."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return []
    visible = [v for v in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if v.strip()]
    found = []
    for index in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        if cuda.cuDeviceGet(ctypes.byref(device), index):
            continue
        cuda.cuDeviceGetName(name, len(name), device)
        slot = visible[index].strip() if index < len(visible) else str(index)
        found.append(Device(name.value.decode(errors="replace"), _cuda_driver(cuda), False,
                            f"cuda-{slot}", {"CUDA_VISIBLE_DEVICES": slot, "HL_GPU_DEVICE": "0"}))
    return found


def _cl_text(function: Callable, handle: ctypes.c_void_p, what: int) -> str:
    text = ctypes.create_string_buffer(1024)
    if function(handle, what, ctypes.sizeof(text), text, None):
        return "?"
    return text.value.decode(errors="replace").strip()


def _cl_list(function: Callable, *arguments: object) -> List[ctypes.c_void_p]:
    count = ctypes.c_uint()
    if function(*arguments, 0, None, ctypes.byref(count)) or count.value == 0:
        return []
    handles = (ctypes.c_void_p * count.value)()
    if function(*arguments, count, handles, None):
        return []
    return [ctypes.c_void_p(handle) for handle in handles]


def opencl_devices() -> List[Device]:
    """Devices of the OpenCL platform that Halide takes: GPUs, or else CPUs."""
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return []
    platform_wanted = os.environ.get("HL_OCL_PLATFORM_NAME", "")
    type_wanted = os.environ.get("HL_OCL_DEVICE_TYPE", "")
    types = [t for t in _CL_TYPES if t in type_wanted] or ["gpu", "cpu"]
    for kind in types:
        for platform in _cl_list(library.clGetPlatformIDs):
            name = _cl_text(library.clGetPlatformInfo, platform, _CL_PLATFORM_NAME)
            if platform_wanted not in name:
                continue
            handles = _cl_list(library.clGetDeviceIDs, platform,
                               ctypes.c_ulonglong(_CL_TYPES[kind]))
            if handles:
                return [_opencl_device(library, handle, name, kind, index)
                        for index, handle in enumerate(handles)]
    return []


def _opencl_device(library: ctypes.CDLL, handle: ctypes.c_void_p, platform: str, kind: str,
                   index: int) -> Device:
    return Device(
        _cl_text(library.clGetDeviceInfo, handle, _CL_DEVICE_NAME),
        f"{platform} {_cl_text(library.clGetDeviceInfo, handle, _CL_DRIVER_VERSION)}",
        kind == "cpu",
        f"opencl-{kind}-{index}",
        {"HL_OCL_PLATFORM_NAME": platform, "HL_OCL_DEVICE_TYPE": kind,
         "HL_GPU_DEVICE": str(index)},
    )


def usable_devices(target: str) -> List[Device]:
    """Devices for a Halide target; those that are not like the first are left out."""
    features = target.split("-")
    if "cuda" in features:
        command, missing = "cuda", "no usable CUDA device"
    elif "opencl" in features:
        command, missing = "opencl", "no OpenCL device"
    else:
        raise TuneError(f"schedules for {target} cannot be timed: give a target with cuda or "
                        "opencl")
    scripts = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-m", "autotune.devices", command], cwd=scripts,
                          capture_output=True, text=True, check=False)
    found = [Device(**entry) for entry in json.loads(done.stdout or "[]")]
    if done.returncode != 0 or not found:
        raise TuneError(f"{missing} found for {target}: without a device, schedules can only be "
                        "judged by predictions (label `predicted`)")
    alike = [d for d in found if (d.name, d.driver) == (found[0].name, found[0].driver)]
    for device in found:
        if device not in alike:
            print(f"not used: {device.name} ({device.slot}), since it is no {found[0].name}",
                  file=sys.stderr)
    return alike


if __name__ == "__main__":
    finder = {"cuda": cuda_devices, "opencl": opencl_devices}[sys.argv[1]]
    print(json.dumps([device.__dict__ for device in finder()]))
