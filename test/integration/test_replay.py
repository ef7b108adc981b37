"""The emitted schedule, compiled into the generator, gives the program that was applied."""

import re

import pytest

from applications import APPS, IDS
from checks import OPENCL, require_quiet_compilation

OUTPUTS = "conceptual_stmt,device_code,schedule,c_header"


def normalized(text: str) -> str:
    """Numbers the compiler's temporaries in order of appearance.

    Their numbers come from a counter that the search also advances.
    """
    names: dict[str, str] = {}

    def rename(match: re.Match) -> str:
        return names.setdefault(match[0], f"{match[1]}#{len(names)}")

    return re.sub(r"\b(_?t|v|_outermost_v|__outermost_v|[\w.]*\$)\d+\b", rename, text)


def require_same_program(tools, app, applied, folder, parameters=()):
    replayed = tools.emit(
        tools.generator(app, applied.file("schedule.h")),
        app.generator,
        applied.function,
        OPENCL,
        folder,
        outputs="conceptual_stmt,device_code,c_header",
        parameters=parameters,
    )
    require_quiet_compilation(replayed)
    for suffix in ("conceptual.stmt", "device_code"):
        want = normalized(applied.file(suffix).read_text(errors="replace"))
        have = normalized(replayed.file(suffix).read_text(errors="replace"))
        assert "kernel" in want or "gpu_block" in want
        assert have == want, suffix


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_default_schedule(tools, folder, app):
    applied = tools.autoschedule(app, folder / "applied", OPENCL, outputs=OUTPUTS)
    require_quiet_compilation(applied)
    require_same_program(tools, app, applied, folder / "replayed")


@pytest.mark.parametrize("seed", (1, 2))
@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_random_schedule(tools, folder, app, seed):
    """Random schedules fuse more, at more levels."""
    applied = tools.autoschedule(
        app,
        folder / "applied",
        OPENCL,
        outputs=OUTPUTS,
        parameters=app.small,
        options={"beam_size": 1, "random_dropout": 1, "random_dropout_seed": seed},
    )
    require_quiet_compilation(applied)
    require_same_program(tools, app, applied, folder / "replayed", app.small)


def test_different_schedules_are_told_apart(tools, folder):
    """The comparison itself: another schedule must not count as the same program."""
    app = next(app for app in APPS if app.name == "harris")
    applied = [
        tools.autoschedule(
            app,
            folder / str(seed),
            OPENCL,
            outputs=OUTPUTS,
            parameters=app.small,
            options={"beam_size": 1, "random_dropout": 1, "random_dropout_seed": seed},
        ).require_success()
        for seed in (1, 2)
    ]
    texts = [normalized(run.file("conceptual.stmt").read_text()) for run in applied]
    assert texts[0] != texts[1]
