"""The same inputs give the same schedule, byte for byte, whatever the number of threads."""

import pytest

from applications import APPS, IDS
from checks import comparable_outputs

DROPOUT = {"random_dropout": 60, "random_dropout_seed": 7}


def outputs_of(tools, app, folder, options, environment=None):
    outcome = tools.autoschedule(
        app,
        folder,
        "host-cuda-cuda_capability_70",
        options=options,
        outputs="schedule,featurization,c_header",
        parameters=app.small,
        environment=environment,
    ).require_success()
    return comparable_outputs(outcome)


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_same_seed_twice(tools, folder, app):
    first = outputs_of(tools, app, folder / "first", DROPOUT)
    second = outputs_of(tools, app, folder / "second", DROPOUT)
    assert first == second


@pytest.mark.parametrize("app", APPS, ids=IDS)
def test_any_number_of_threads(tools, folder, app):
    one = outputs_of(
        tools, app, folder / "one", {**DROPOUT, "threads": 1}, {"HL_NUM_THREADS": "1"}
    )
    many = outputs_of(
        tools, app, folder / "many", {**DROPOUT, "threads": 5}, {"HL_NUM_THREADS": "5"}
    )
    assert one == many
