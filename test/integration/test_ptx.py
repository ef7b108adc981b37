"""Every application at its default size: PTX that the assembler accepts and the device can run."""

import pytest

from applications import APPS, IDS
from ptx import (
    REGISTERS_PER_BLOCK,
    SHARED_BYTES_PER_BLOCK,
    THREADS_PER_BLOCK,
    UNEXPECTED_SPILL_BYTES,
    assemble,
)


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_default_schedule_assembles_for_sm_70(tools, folder, app):
    kernels = assemble(tools, app, folder, parameters=app.usual)
    report = "\n".join(map(str, kernels))
    (folder / "kernels.txt").write_text(f"{report}\n")
    print(f"{app.name}\n{report}")
    assert kernels
    for kernel in kernels:
        assert kernel.threads <= THREADS_PER_BLOCK, kernel
        # Registers are handed out to whole warps, eight per thread at a time.
        warps, per_thread = -(-kernel.threads // 32), 8 * -(-kernel.registers // 8)
        assert warps * 32 * per_thread <= REGISTERS_PER_BLOCK, kernel
        assert kernel.shared_bytes <= SHARED_BYTES_PER_BLOCK, kernel
        assert kernel.spill_predicted or kernel.spill_bytes <= UNEXPECTED_SPILL_BYTES, kernel


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_hand_written_schedule_assembles_for_sm_70(tools, folder, app):
    outcome = tools.emit(
        tools.generator(app),
        app.generator,
        f"{app.generator}_manual",
        "host-cuda-cuda_capability_70",
        folder,
        outputs="device_code,c_header",
        parameters=app.usual,
    ).require_success()
    assert "Used" in tools.ptxas(outcome.file("device_code")).require_success().output
