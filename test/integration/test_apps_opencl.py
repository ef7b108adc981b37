"""Every application: autoscheduled, run through OpenCL, equal to the CPU."""

import pytest

from applications import APPS, IDS
from checks import OPENCL, build_for_opencl, require_quiet_compilation, run_at_sizes
from toolchain import APPS as APPS_FOLDER


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_equals_cpu_at_the_estimate_and_other_sizes(tools, folder, app):
    program = build_for_opencl(tools, app, folder)
    run_at_sizes(tools, app, program, [None, app.odd_size, *app.sizes], manual=True)


def test_a_wrong_result_is_noticed(tools, folder):
    """The comparison itself: a pipeline that computes something else must fail."""
    app = next(app for app in APPS if app.name == "harris")
    source = (APPS_FOLDER / "harris" / "harris_generator.cpp").read_text()
    assert "0.04f" in source
    changed = folder / "changed_generator.cpp"
    changed.write_text(source.replace("0.04f", "0.06f"))
    auto = tools.emit(
        tools.compile_generator(folder / "changed.generator", [changed]),
        "harris",
        "harris_auto",
        OPENCL,
        folder,
        options={"parallelism": 80, "beam_size": 1},
        parameters=app.small,
    )
    require_quiet_compilation(auto)
    fixed = tools.fixed_variants(app, OPENCL, app.small)
    outcome = tools.run_filter(tools.filter_program(app, auto, fixed, OPENCL))
    assert outcome.returncode == 1
    assert "auto against cpu" in outcome.output and "FAILED" in outcome.output
