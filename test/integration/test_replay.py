"""The emitted schedule, compiled into the generator, gives the program that was applied."""

import re

import pytest

from applications import APPS, IDS
from checks import OPENCL, require_quiet_compilation

OUTPUTS = "conceptual_stmt,device_code,c_header"


def normalized(text: str) -> str:
    """Numbers the compiler's own names in order of appearance.

    Their numbers come from counters that the search also advances: t123, _45, name$6, kernel__7.
    Where such a name is taken, another one is made from it: name_6.max$1. Loops have it behind the
    name of the stage: f.s0.v12.block_id_x.
    """
    numbers: dict[str, dict[str, int]] = {}

    def rename(match: re.Match) -> str:
        name = match[0]
        base = re.sub(r"(?:^|(?<=\.))(_?[tv]|_)\d+(?=[._]|$)|\$\d+|_\d+(?=\.)|__\d+$", r"\1", name)
        known = numbers.setdefault(base, {})
        number = known.setdefault(name, len(known))
        return f"{base}#{number}"

    return re.sub(r"[A-Za-z_.][\w.$]*", rename, text)


def without_numbers(text: str) -> list[str]:
    """Lines in alphabetical order, names without any number.

    Kernels take their arguments, and declare what they do not use at once, in the order of names.
    """
    number = r"\b_t?\d+(?![A-Za-z0-9])|(?<=[a-z])(_+\d+)+(?![a-z0-9])|(?<=_)v\d{7}(?=_)"
    return sorted(re.sub(number, "", line) for line in text.splitlines())


def applied_and_replayed(tools, app, folder, options=None, parameters=()):
    """Schedules the app, compiles the emitted schedule into its generator and runs that."""
    applied = tools.autoschedule(
        app,
        folder / "applied",
        OPENCL,
        program=tools.comparable_generator(app, tools.work / "programs" / f"{app.name}.comparable"),
        # Where the compiler has lowered a copy before, it gives its own variables other names.
        options={"verify_lowering": 0, **(options or {})},
        outputs=f"schedule,{OUTPUTS}",
        parameters=parameters,
    )
    require_quiet_compilation(applied)
    replayed = tools.emit(
        tools.comparable_generator(app, folder / "replay.generator", applied.file("schedule.h")),
        app.generator,
        applied.function,
        OPENCL,
        folder / "replayed",
        outputs=OUTPUTS,
        parameters=parameters,
    )
    require_quiet_compilation(replayed)
    return applied, replayed


def require_same_program(applied, replayed):
    for suffix, form in (("conceptual.stmt", normalized), ("device_code", without_numbers)):
        texts = [run.file(suffix).read_text(errors="replace") for run in (applied, replayed)]
        assert "kernel" in texts[0] or "gpu_block" in texts[0]
        want, have = map(form, texts)
        assert have == want, suffix


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_default_schedule(tools, folder, app):
    require_same_program(*applied_and_replayed(tools, app, folder, parameters=app.usual))


@pytest.mark.parametrize("seed", (1, 2))
@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_random_schedule(tools, folder, app, seed):
    """Random schedules fuse more, at more levels."""
    options = {"beam_size": 1, "random_dropout": 1, "random_dropout_seed": seed}
    require_same_program(*applied_and_replayed(tools, app, folder, options, app.small))


def test_different_schedules_are_told_apart(tools, folder):
    """The comparison itself: another schedule must not count as the same program."""
    app = next(app for app in APPS if app.name == "harris")
    applied = [
        tools.autoschedule(
            app,
            folder / str(seed),
            OPENCL,
            outputs=f"schedule,{OUTPUTS}",
            parameters=app.small,
            options={"beam_size": 1, "random_dropout": 1, "random_dropout_seed": seed},
        ).require_success()
        for seed in (1, 2)
    ]
    texts = [normalized(run.file("conceptual.stmt").read_text()) for run in applied]
    assert texts[0] != texts[1]
