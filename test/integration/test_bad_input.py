"""Mistakes of the user end in one clear message that names the thing, never in a crash."""

import re
from pathlib import Path

import pytest

CUDA = "host-cuda"
SOURCE = Path(__file__).with_name("faulty_generators.cpp")


@pytest.fixture(scope="module")
def program(tools):
    return tools.compile_generator(tools.work / "programs" / "faulty.generator", [SOURCE])


def attempt(tools, program, folder, generator="correct", target=CUDA, options=None, environment=None):
    return tools.emit(
        program,
        generator,
        "result",
        target,
        folder,
        outputs="static_library,c_header,schedule",
        options={"parallelism": 80, "beam_size": 2, **(options or {})},
        environment=environment,
    )


def require_clear_error(outcome, *words):
    """Exit by itself with a status, an error of the user's kind, and every word in the text."""
    assert outcome.returncode > 0, f"status {outcome.returncode}\n{outcome.output}"
    assert "terminate called" not in outcome.output
    assert "Internal" not in outcome.output, outcome.output
    assert "Error" in outcome.output
    for word in words:
        assert re.search(word, outcome.output), f"{word} is not in:\n{outcome.output}"
    assert not outcome.file("a").exists()


def test_the_correct_generator_passes(tools, program, folder):
    outcome = attempt(tools, program, folder).require_success()
    assert outcome.file("a").exists() and outcome.file("schedule.h").exists()


def test_target_without_gpu(tools, program, folder):
    require_clear_error(attempt(tools, program, folder, target="host"), "GPU", r"x86-64|host|arm-64")


@pytest.mark.parametrize(
    "generator, words",
    [
        ("no_output_estimate", ("output", "estimate")),
        ("no_parameter_estimate", ("taps", "estimate")),
        ("already_scheduled", ("neighbour_sum", "schedule")),
        ("already_vectorized", ("output", "schedule")),
    ],
)
def test_faulty_pipelines(tools, program, folder, generator, words):
    require_clear_error(attempt(tools, program, folder, generator), *words)


@pytest.mark.parametrize(
    "name, value",
    [
        ("beam_size", "0"),
        ("beam_size", "-3"),
        ("beam_size", "many"),
        ("beam_size", "8x"),
        ("beam_size", "99999999999999999999"),
        ("parallelism", "0"),
        ("num_passes", "-1"),
        ("random_dropout", "-1"),
        ("random_dropout_seed", "1.5"),
        ("search_space_options", "1211"),
        ("stack_factor", "much"),
        ("shared_memory_limit_kb", "-1"),
        ("weights_path", "/no/such/file.weights"),
        ("partial_schedule_path", "/no/such/schedule.txt"),
    ],
)
def test_bad_values_of_options(tools, program, folder, name, value):
    outcome = attempt(tools, program, folder, options={name: value})
    require_clear_error(outcome, re.escape(value) if "path" in name else name)


def test_unknown_option(tools, program, folder):
    require_clear_error(attempt(tools, program, folder, options={"beem_size": "8"}), "beem_size")


def test_weights_that_are_none(tools, program, folder):
    foreign = folder / "foreign.weights"
    foreign.write_bytes(b"These are no weights." * 100)
    empty = folder / "empty.weights"
    empty.write_bytes(b"")
    for path in (foreign, empty):
        by_option = attempt(tools, program, folder, options={"weights_path": path})
        require_clear_error(by_option, re.escape(str(path)))
        by_variable = attempt(
            tools, program, folder, environment={"HL_WEIGHTS_DIR": str(path)}
        )
        require_clear_error(by_variable, re.escape(str(path)))


def test_collection_without_the_named_weights(tools, program, folder):
    collection = folder / "collection"
    collection.mkdir()
    (collection / "other.weights").write_bytes(b"")
    outcome = attempt(
        tools,
        program,
        folder,
        options={"weights": "mine"},
        environment={"HL_WEIGHTS_DIR": str(collection)},
    )
    require_clear_error(outcome, "mine", re.escape(str(collection)))


def test_bad_default_from_the_environment(tools, program, folder):
    outcome = attempt(
        tools, program, folder, environment={"HL_SEARCH_SPACE_OPTIONS": "fast"}
    )
    require_clear_error(outcome, "fast")


def test_option_before_environment(tools, program, folder):
    """A good option hides a bad default."""
    attempt(
        tools,
        program,
        folder,
        options={"search_space_options": "1111"},
        environment={"HL_SEARCH_SPACE_OPTIONS": "fast"},
    ).require_success()


def test_log_level_zero_is_silent(tools, program, folder):
    assert attempt(tools, program, folder).require_success().output == ""
    loud = attempt(tools, program, folder, environment={"HL_DEBUG_AUTOSCHEDULE": "1"})
    for words in ("generate_schedule for target=", "Number of states added", "Optimal schedule"):
        assert words in loud.require_success().output
