"""The programs around the cost model, and what several tests give to them."""

import pytest

from toolchain import run


@pytest.fixture(scope="session")
def programs(tools):
    """Folder of the programs under test."""
    folder = tools.plugin.parent
    assert (folder / "retrain_cost_model").exists(), f"{folder} holds no tools"
    return folder


@pytest.fixture(scope="session")
def weights(programs, tmp_path_factory):
    """Two files of random weights."""
    folder = tmp_path_factory.mktemp("weights")
    files = []
    for seed in (11, 12):
        files.append(folder / f"seed{seed}.weights")
        run([programs / "make_random_weights", seed, files[-1]]).require_success()
    return files


def generate(programs, out, *arguments):
    """Samples of random pipelines."""
    return run([programs / "generate_samples", f"--out={out}", *arguments])


@pytest.fixture(scope="session")
def samples(programs, weights, tmp_path_factory):
    """Packed samples of six random pipelines, with classic ones beside them."""
    out = tmp_path_factory.mktemp("samples")
    generate(programs, out, "--random=6", "--first_random=1", "--count=12", "--classic=1",
             f"--teachers={weights[0]}").require_success()
    return out


def train_command(programs, out, *arguments, epochs=3):
    """The trainer's command line without samples."""
    return [programs / "retrain_cost_model", f"--epochs={epochs}", "--rates=0.001",
            f"--weights_out={out}", "--best_benchmark=", "--best_schedule=",
            "--predictions_file=", "--verbose=0", "--partition_schedules=1", "--limit=0",
            *([] if any("_weights" in str(a) for a in arguments) else ["--randomize_weights=1"]),
            *arguments]
