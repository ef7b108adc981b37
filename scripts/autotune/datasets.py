"""Work on whole folders of samples: many applications, predictions, averages of times."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from . import programs, training
from .errors import TuneError
from .outcome import Outcome
from .run_log import read_log
from .samples import replace_file
from .settings import ROOT, Settings, find_built

APPS = ("bgu", "bilateral_grid", "local_laplacian", "nl_means", "lens_blur", "camera_pipe",
        "stencil_chain", "harris", "hist", "max_filter", "unsharp", "interpolate", "conv_layer",
        "cuda_mat_mul", "iir_blur", "depthwise_separable_conv")
# Application -> its generator, where that has another name.
GENERATORS = {"cuda_mat_mul": "mat_mul"}
RANDOM = "random"
BATCH = 80

# Lines of a search log, and how their averages are called.
AVERAGED = ("Number of states added", "Number of featurizations computed",
            "Number of schedules evaluated by cost model", "Compile time (s)",
            "Time taken for autoscheduler (s)", "Average featurization time (ms)",
            "Average cost model evaluation time (ms)", "Number of memoization hits",
            "Number of memoization misses", "Number of tilings generated",
            "Number of tilings accepted")


def find_samples(folder: Path) -> List[Path]:
    """All sample files below a folder, in order."""
    if not folder.is_dir():
        raise TuneError(f"there is no folder {folder}")
    packed = sorted(folder.rglob("*.samples"))
    # Beside a packed file may lie a folder of the same name with the same samples one by one.
    beside = {file.with_suffix("") for file in packed}
    single = sorted(f for f in folder.rglob("*.sample") if f.parent not in beside)
    if not packed and not single:
        raise TuneError(f"there are no samples in {folder}")
    return packed + single


async def train_only(settings: Settings) -> int:
    """Retrains on the samples of a folder, without trying any."""
    entries, messages = read_log(settings.log)
    for message in messages:
        print(message, file=sys.stderr)
    files = Outcome(settings.folder, entries).write_samples() if entries else \
        find_samples(settings.folder)
    current = settings.updated_weights
    initial = current if current.is_file() else settings.weights
    folder = settings.folder / "train_only"
    folder.mkdir(parents=True, exist_ok=True)
    # Fixed when training begins, so that an interrupted run goes on from the same weights.
    start = folder / "used.weights"
    if not start.is_file() and initial is not None:
        replace_file(start, initial.read_bytes())
    figures = await training.Trainer(settings).retrain(start if start.is_file() else None, files,
                                                       folder)
    start.unlink(missing_ok=True)
    (folder / "trained.weights.state").unlink(missing_ok=True)
    taken = "taken over" if figures["accepted"] else "not better, dropped"
    print(f"trained on {figures['samples']} samples: pairs in order "
          f"{figures['before'].get('ordered_pairs')} -> {figures['after'].get('ordered_pairs')}, "
          f"{taken}")
    return 0


# ----- predictions


def predict(build: Path, folder: Path, weights: Path, out: Path, with_names: bool, limit: int,
            parallelism: int) -> int:
    """Predicts the run times of all samples; returns how many."""
    files = find_samples(folder)
    if not weights.exists():
        raise TuneError(f"there are no weights {weights}")
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [find_built(build, "retrain_cost_model"), "--epochs=1", "--rates=1",
               f"--num_cores={parallelism}", f"--initial_weights={weights}",
               f"--weights_out={out}.unused", "--best_benchmark=", "--best_schedule=",
               f"--predictions_file={out}", "--verbose=0", "--partition_schedules=0",
               f"--limit={limit}"]
    done = subprocess.run([str(word) for word in command], text=True, check=False,
                          input="".join(f"{file}\n" for file in files), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        raise TuneError(f"cannot predict the samples in {folder}")
    count = 0
    for file in (out, out.with_name(f"{out.name}_validation_set")):
        lines = file.read_text().splitlines()
        count += len(lines)
        if not with_names:
            pairs = [line.rsplit(", ", 2)[1:] for line in lines]
            text = "".join(f"{float(p):f}, {float(r):f}\n" for p, r in pairs)
            replace_file(file, text.encode())
    return count


def _flag(name: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise TuneError(f"{name} is {value!r}, but has to be 0 or 1")
    return value == "1"


def _number(name: str, value: str, least: int) -> int:
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise TuneError(f"{name} is {value!r}, but has to be a whole number, at least {least}")
    return number


def predict_command(argv: Sequence[str]) -> int:
    """predict_all.sh"""
    names = ("halide_build_dir", "samples_dir", "weights_file", "predictions_file",
             "include_filenames", "limit", "parallelism")
    parser = argparse.ArgumentParser(
        prog="predict_all.sh",
        description="Predicts the run times of all samples below a folder. Held-out samples go to "
                    "<predictions_file>_validation_set. Lines are `prediction, run time` in ms, "
                    "after the name of the file if include_filenames is 1.")
    for name in names:
        parser.add_argument(name)
    arguments = parser.parse_args(argv)
    count = predict(Path(arguments.halide_build_dir), Path(arguments.samples_dir),
                    Path(arguments.weights_file), Path(arguments.predictions_file),
                    _flag("include_filenames", arguments.include_filenames),
                    _number("limit", arguments.limit, 0),
                    _number("parallelism", arguments.parallelism, 1))
    print(f"{count} predictions in {arguments.predictions_file} and "
          f"{arguments.predictions_file}_validation_set")
    return 0


# ----- averages


def averages(folder: Path) -> Dict[str, Dict[str, Tuple[float, int]]]:
    """Mean and count of every figure of the search logs: of whole searches, of random descents."""
    sums: Dict[str, Dict[str, List[float]]] = {"beam search": {}, "greedy": {}}
    for log in sorted(folder.rglob("compile_err.txt")):
        kind = "beam search" if log.parent.name == "0" else "greedy"
        text = log.read_text(errors="replace")
        for name in AVERAGED:
            found = re.findall(rf"^{re.escape(name)}: ([-+.\deE]+)\s*$", text, re.MULTILINE)
            if found:
                sums[kind].setdefault(name, []).append(float(found[-1]))
    return {kind: {name: (sum(values) / len(values), len(values))
                   for name, values in figures.items()} for kind, figures in sums.items()}


def describe_averages(folder: Path) -> str:
    """The averages in lines."""
    found = averages(folder)
    if not any(found.values()):
        raise TuneError(f"there are no logs of searches (compile_err.txt) in {folder}")
    lines = []
    for kind, figures in found.items():
        for name, (mean, count) in figures.items():
            name = name.replace("Average ", "")
            lines.append(f"Average {name} ({kind}): {mean:.6g} over {count} samples\n")
    return "".join(lines)


def average_command(argv: Sequence[str]) -> int:
    """average_times.sh"""
    parser = argparse.ArgumentParser(
        prog="average_times.sh", description="Averages what searches have logged in "
        "compile_err.txt, for whole searches (samples 0) and random descents.")
    parser.add_argument("samples_dir", type=Path)
    folder = parser.parse_args(argv).samples_dir
    if not folder.is_dir():
        raise TuneError(f"there is no folder {folder}")
    print(describe_averages(folder), end="")
    return 0


# ----- many applications


@dataclass(frozen=True)
class DataPlan:
    """What generate_data.sh is asked for."""

    build: Path
    batches: int
    resume: bool
    train_only: bool
    predict_only: bool
    parallelism: int
    teachers: str
    target: str
    samples_name: str
    limit: int
    count: int

    def folder(self, app: str) -> Path:
        """Where the samples of an application go."""
        parent = ROOT / "apps" / app / "build" if app != RANDOM else ROOT / "build" / "random"
        name = Path(self.samples_name)
        if name.is_absolute():
            return name / app
        if self.resume or self.train_only or self.predict_only:
            earlier = sorted(parent.glob(f"{name}-*"))
            if earlier:
                return earlier[-1]
            if not self.resume:
                raise TuneError(f"there are no samples of {app} in {parent}/{name}-*")
        return parent / f"{name}-{datetime.now():%Y-%m-%d-%H-%M-%S}"


def sampling_command(plan: DataPlan, app: str, folder: Path) -> List[str]:
    """Many schedules with predicted times, in one process."""
    command = [str(find_built(plan.build, "generate_samples")), f"--out={folder}",
               f"--count={plan.count}", f"--teachers={plan.teachers}", f"--target={plan.target}",
               "--classic=1", f"autoscheduler.parallelism={plan.parallelism}"]
    if app == RANDOM:
        return [*command, f"--random={plan.batches}"]
    return [*command, f"--load={find_built(plan.build, 'app_generators.so')}",
            f"--generators={GENERATORS.get(app, app)}"]


def tuning_command(plan: DataPlan, app: str, folder: Path) -> List[str]:
    """Batches of schedules, timed on the device."""
    samples = plan.batches * plan.count
    runs = os.environ.get("RUNS", "20")
    return ["make", "-s", "-C", str(ROOT / "apps" / app), "autotune", f"HL_TARGET={plan.target}",
            f"PLUGIN={find_built(plan.build, 'libautoschedule_anderson2021.so').resolve()}",
            f"PARALLELISM={plan.parallelism}", f"TUNE_FOLDER={folder}", f"SAMPLES={samples}",
            f"MEASURE={runs}",
            f"TUNE_ARGS=--in_place --batch_size {plan.count} --retrain each"]


async def run_app(plan: DataPlan, app: str) -> None:
    """Samples of one application, predictions of their times, averages."""
    begin = time.monotonic()
    folder = plan.folder(app).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "autotune_out.txt"
    print(f"{app}: samples in {folder}", flush=True)
    if plan.train_only:
        settings = Settings(generator=Path("none"), pipeline=GENERATORS.get(app, app),
                            target=plan.target, build=plan.build, folder=folder,
                            weights=ROOT / "baseline.weights", parallelism=plan.parallelism)
        await train_only(settings)
    elif not plan.predict_only:
        command = (sampling_command if plan.teachers else tuning_command)(plan, app, folder)
        done = await programs.run(command, folder / "loop.txt", timeout=float("inf"))
        with log.open("a") as out:
            out.write(done.output)
        if not done.ok:
            raise TuneError(f"{app}: {done.reason(0)}\nThe whole output is in {log}")
    weights = folder / "updated.weights"
    if not weights.is_file():
        weights = Path(plan.teachers.split(",")[0]) if plan.teachers else ROOT / "baseline.weights"
    count = predict(plan.build, folder, weights, folder / "predictions_with_filenames", True,
                    plan.limit, plan.parallelism)
    predict(plan.build, folder, weights, folder / "predictions", False, plan.limit,
            plan.parallelism)
    with log.open("a") as out:
        if not plan.teachers and not plan.predict_only and not plan.train_only:
            out.write(describe_averages(folder))
        out.write(f"Total autotune time (s): {time.monotonic() - begin:.0f}\n")
    print(f"{app}: {count} predictions in {folder / 'predictions'}", flush=True)
    keep_best(folder, GENERATORS.get(app, app), app)


def keep_best(folder: Path, pipeline: str, app: str) -> None:
    """Copies the best schedule to best/ of the folder above, unless there is a faster one."""
    line = folder / f"best.{pipeline}.benchmark.txt"
    if not line.is_file():
        return
    best = folder.parent / "best"
    runtime = float(line.read_text().split()[3])
    known = best / f"{app}.txt"
    if known.is_file() and float(known.read_text().split()[-1]) <= runtime:
        return
    best.mkdir(exist_ok=True)
    shutil.copyfile(folder / f"best.{pipeline}.schedule.h", best / f"{app}.h")
    if (folder / "updated.weights").is_file():
        shutil.copyfile(folder / "updated.weights", best / f"{app}.weights")
    shutil.copyfile(folder / "autotune_out.txt", best / f"{app}.autotune_out")
    replace_file(known, f"{line.read_text()}Run time (ms) = {runtime:g}\n".encode())


async def run_apps(plan: DataPlan, apps: Sequence[str]) -> int:
    """One application after the other: each takes the whole machine."""
    for app in apps:
        await run_app(plan, app)
    return 0


def data_command(argv: Sequence[str]) -> int:
    """generate_data.sh"""
    parser = argparse.ArgumentParser(
        prog="generate_data.sh",
        description="Makes samples of applications: schedules with times. With TEACHERS (weights "
        "files, separated by commas) times are predicted and no GPU is needed; otherwise they "
        "are measured, in max_iterations batches, with training after each. `random` stands for "
        "max_iterations random pipelines (with TEACHERS only). Environment: HL_TARGET, "
        "SAMPLES_DIR (autotuned_samples; an absolute path is used as it is), LIMIT (0), COUNT (80 "
        "samples of a batch or pipeline), RUNS (20).")
    for name in ("halide_build_dir", "max_iterations", "resume", "train_only", "predict_only",
                 "parallelism"):
        parser.add_argument(name)
    parser.add_argument("apps", nargs="*", metavar="app")
    given = parser.parse_args(argv)
    environment = os.environ
    teachers = environment.get("TEACHERS", "")
    unknown = [app for app in given.apps if app not in (*APPS, RANDOM)]
    if unknown:
        raise TuneError(f"there is no application {unknown[0]}; there are: {' '.join(APPS)}")
    if RANDOM in given.apps and not teachers:
        raise TuneError("random pipelines cannot be timed: give TEACHERS")
    plan = DataPlan(
        Path(given.halide_build_dir), _number("max_iterations", given.max_iterations, 1),
        _flag("resume", given.resume), _flag("train_only", given.train_only),
        _flag("predict_only", given.predict_only), _number("parallelism", given.parallelism, 1),
        teachers, environment.get("HL_TARGET") or default_target(bool(teachers)),
        environment.get("SAMPLES_DIR") or "autotuned_samples",
        _number("LIMIT", environment.get("LIMIT") or "0", 0),
        _number("COUNT", environment.get("COUNT") or str(BATCH), 1))
    return asyncio.run(programs.with_signals(run_apps(plan, given.apps or APPS)))


def default_target(predicted: bool) -> str:
    """The device at hand; for predictions the one that weights are made for."""
    if predicted:
        return "host-cuda-cuda_capability_70"
    done = subprocess.run([sys.executable, ROOT / "apps" / "support" / "gpu.py", "target"],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()
