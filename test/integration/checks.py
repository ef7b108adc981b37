"""Assertions that several integration tests share."""

import re
from pathlib import Path
from typing import Mapping, Optional, Sequence

from applications import at_least
from toolchain import App, Outcome, Toolchain

OPENCL = "host-opencl"

# Halide's words for a schedule that promises what does not hold.
_BAD_WARNINGS = re.compile(r"Ignoring assertion|guaranteed to fail", re.IGNORECASE)


def require_quiet_compilation(outcome: Outcome) -> None:
    """The generator succeeded, and the compiler found no broken promise in the schedule."""
    outcome.require_success()
    found = _BAD_WARNINGS.search(outcome.output)
    assert not found, outcome.output


def require_agreement(outcome: Outcome, variants: Sequence[str]) -> None:
    """The filter program compared exactly these variants with the CPU and all agreed."""
    outcome.require_success()
    agreed = re.findall(r"(\w+) against cpu: .*: OK$", outcome.output, re.MULTILINE)
    assert sorted(agreed) == sorted(variants), outcome.output


def run_at_sizes(
    tools: Toolchain, app: App, program: Path, sizes: Sequence[Optional[str]], manual: bool
) -> None:
    """Runs the automatic variant (and the manual one) at each size; None is the estimate."""
    for size in sizes:
        with_manual = manual and (size is None or at_least(size, app.manual_size))
        variants = ["auto", "manual"] if with_manual else ["auto"]
        arguments = ["--variants", ",".join(variants)] + (["--size", size] if size else [])
        require_agreement(tools.run_filter(program, *arguments), variants)


def build_for_opencl(
    tools: Toolchain,
    app: App,
    folder: Path,
    options: Optional[Mapping[str, object]] = None,
) -> Path:
    """Autoschedules the small version of an app for OpenCL; returns the filter program."""
    auto = tools.autoschedule(
        app,
        folder,
        OPENCL,
        options=options,
        parameters=app.small,
        outputs="static_library,c_header,schedule,featurization",
    )
    require_quiet_compilation(auto)
    fixed = tools.fixed_variants(app, OPENCL, app.small)
    return tools.filter_program(app, auto, fixed, OPENCL)


def comparable_outputs(outcome: Outcome) -> tuple[str, bytes]:
    """Schedule text and features of a run, without the line that repeats the options."""
    lines = outcome.file("schedule.h").read_text().splitlines()
    text = "\n".join(line for line in lines if "with autoscheduler_params=" not in line)
    features = outcome.file("featurization").read_bytes()
    assert text and features
    return text, features
