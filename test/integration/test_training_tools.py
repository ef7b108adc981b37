"""Small programs around weights and samples, and the script that does all of the training."""

import struct
import subprocess
import time

import pytest

from toolchain import ROOT, clean_environment, run
from training_programs import train_command


# ----- small tools


def test_check_weights(programs, weights, folder):
    assert run([programs / "check_weights", weights[0]]).returncode == 0
    assert run([programs / "check_weights", weights[0].parent]).returncode == 0
    good = weights[0].read_bytes()
    cases = {"nan": good[:40] + struct.pack("<f", float("nan")) + good[44:],
             "infinite": good[:40] + struct.pack("<f", float("inf")) + good[44:],
             "short": good[:-1], "long": good + b"x", "empty": b"",
             "version": good[:4] + b"\x02" + good[5:], "shape": good[:20] + b"\x09" + good[21:]}
    for name, content in cases.items():
        file = folder / f"{name}.weights"
        file.write_bytes(content)
        outcome = run([programs / "check_weights", weights[0], file])
        assert outcome.returncode == 1, name
        assert f"{name}.weights" in outcome.output
    assert run([programs / "check_weights", folder / "missing.weights"]).returncode == 1
    assert run([programs / "check_weights"]).returncode == 1


def test_directory_form_and_back(programs, samples, folder):
    run(train_command(programs, folder / "raw", samples)).require_success()
    assert len(list((folder / "raw").glob("*.data"))) == 6
    run(train_command(programs, folder / "same.weights", samples)).require_success()
    run([programs / "weightsdir_to_weightsfile", folder / "raw",
         folder / "converted.weights"]).require_success()
    assert (folder / "converted.weights").read_bytes() == (folder / "same.weights").read_bytes()
    assert run([programs / "check_weights", folder / "raw"]).returncode == 0
    (folder / "raw" / "trunk_conv1_bias.data").write_bytes(b"short")
    assert run([programs / "check_weights", folder / "raw"]).returncode == 1
    assert run([programs / "weightsdir_to_weightsfile", folder / "raw",
                folder / "no.weights"]).returncode == 1
    assert not (folder / "no.weights").exists()


def test_weights_info(programs, weights):
    outcome = run([programs / "weights_info", weights[0]]).require_success()
    assert "looks untrained" in outcome.output
    assert "head1_filter  8 x 40 x 7" in outcome.output
    assert run([programs / "weights_info", "/no/such.weights"]).returncode == 1


def test_featurization_to_sample(programs, samples, folder):
    original = sorted(samples.glob("random_1/*.sample"))[0].read_bytes()
    (folder / "in.featurization").write_bytes(original[:-12])
    tool = programs / "featurization_to_sample"
    run([tool, folder / "in.featurization", "0.002", "7", "9",
         folder / "out.sample"]).require_success()
    content = (folder / "out.sample").read_bytes()
    assert content[:-12] == original[:-12]
    runtime, pipeline, schedule = struct.unpack("<fii", content[-12:])
    assert (runtime, pipeline, schedule) == (2.0, 7, 9)
    (folder / "empty").write_bytes(b"")
    (folder / "odd").write_bytes(original[:-13])
    source = folder / "in.featurization"
    for arguments in ([source, "0", "7", "9"], [source, "-1", "7", "9"], [source, "nan", "7", "9"],
                      [source, "fast", "7", "9"], [source, "", "7", "9"],
                      [source, "1e-300", "7", "9"], [source, "1", "x", "9"],
                      [source, "1", "7", "99999999999"], [folder / "missing", "1", "7", "9"],
                      [folder / "empty", "1", "7", "9"], [folder / "odd", "1", "7", "9"]):
        assert run([tool, *arguments, folder / "bad.sample"]).returncode == 1, arguments
        assert not (folder / "bad.sample").exists()
    assert run([tool, source]).returncode == 1


# ----- all together


@pytest.fixture
def hold_one_out(programs, folder):
    """The command that trains `gpu` in a given folder, with random teachers."""
    teachers = folder / "teachers"
    teachers.mkdir()
    for seed, app in enumerate(("bgu bilateral_grid camera_pipe conv_layer cuda_mat_mul "
                                "depthwise_separable_conv harris hist iir_blur interpolate "
                                "lens_blur local_laplacian max_filter nl_means stencil_chain "
                                "unsharp").split()):
        run([programs / "make_random_weights", seed, teachers / f"{app}.weights"])

    def command(work, steps):
        return [ROOT / "scripts" / "train_hold_one_out", f"--teachers={teachers}",
                f"--build={programs}", f"--work={work}", "--names", "gpu",
                "--random_pipelines=16", "--random_schedules=6", "--random_good_schedules=0",
                "--app_schedules=0", "--app_good_schedules=0", f"--steps={steps}",
                "--units_per_step=4"]

    return command


ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}


def test_train_hold_one_out_can_be_repeated(hold_one_out, folder):
    command = hold_one_out(folder / "work", 40)
    first = run(command, environment=ENVIRONMENT).require_success()
    made = (folder / "work" / "students" / "gpu.weights").read_bytes()
    assert "| gpu |" in first.output
    second = run(command, environment=ENVIRONMENT).require_success()
    assert second.output.count("done before") == 1
    assert (folder / "work" / "students" / "gpu.weights").read_bytes() == made
    outcome = run([command[0], f"--teachers={folder}", f"--work={folder / 'work'}"],
                  environment=ENVIRONMENT)
    assert outcome.returncode == 1 and "bgu.weights" in outcome.output


def test_train_hold_one_out_can_be_stopped(hold_one_out, folder):
    run(hold_one_out(folder / "whole", 2500), environment=ENVIRONMENT).require_success()
    command = list(map(str, hold_one_out(folder / "work", 2500)))
    state = folder / "work" / "students" / "gpu.weights.state"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=clean_environment(ENVIRONMENT)) as process:
        while process.poll() is None and not state.exists():
            time.sleep(0.02)
        process.terminate()
        _, errors = process.communicate()
        assert process.returncode in (0, 130)
        assert process.returncode == 0 or b"start again" in errors
    before = state.read_bytes()
    time.sleep(1.5)
    assert state.read_bytes() == before, "a trainer is still running"
    run(command, environment=ENVIRONMENT).require_success()
    made = [folder / name / "students" / "gpu.weights" for name in ("whole", "work")]
    assert made[0].read_bytes() == made[1].read_bytes()
