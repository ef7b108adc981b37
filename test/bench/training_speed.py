#!/usr/bin/env python3
"""How fast samples are made and trained on, against the programs of the Halide wheel, in one run.

usage: training_speed.py [--build DIR] [--work DIR] [--app APP ...] [--check]

Samples: random schedules of an application with features. The wheel's plugin makes one per process
(beam_size 1, random_dropout 1), generate_samples many. Trainer: both trainers on the same .sample
files; the time of a run with one epoch is taken off that of a run with many, so that what remains
is training alone. The programs run in turn, several rounds; figures are medians of seconds and of
processor seconds. With --check the exit status is 1 if samples are not made 20 times as fast, or
trained on 5 times as fast.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "integration"))

# pylint: disable=wrong-import-position
from toolchain import APPS, Toolchain, clean_environment  # noqa: E402

TARGET = "host-cuda-cuda_capability_70"
GENERATORS = {"cuda_mat_mul": "mat_mul"}
PARALLELISM = 80
LEAST_SAMPLING, LEAST_TRAINING = 20, 5


class Seconds:
    """Wall and processor seconds of a program, with everything that it started."""

    def __init__(self, wall, processor):
        self.wall = wall
        self.processor = processor

    def __sub__(self, other):
        return Seconds(self.wall - other.wall, self.processor - other.processor)

    def per(self, count):
        """For one of so many."""
        return Seconds(self.wall / count, self.processor / count)


def timed(command, log, stdin=None):
    """Runs a program that has to succeed."""
    begin = time.monotonic()
    with open(log, "wb") as out, open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen([str(w) for w in command], stdin=source, stdout=out,
                                   stderr=subprocess.STDOUT, env=clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"status {process.returncode}: {command[0]}\n"
                           f"{Path(log).read_text(errors='replace')[-2000:]}")
    return Seconds(time.monotonic() - begin, usage.ru_utime + usage.ru_stime)


def median(values):
    """Of wall and of processor seconds."""
    return Seconds(statistics.median(v.wall for v in values),
                   statistics.median(v.processor for v in values))


def row(name, unit, reference, ours):
    """A line of the report, and the ratio of processor seconds."""
    wall, processor = reference.wall / ours.wall, reference.processor / ours.processor
    print(f"| {name} | {unit} | {reference.wall * 1e3:.4g} | {reference.processor * 1e3:.4g} "
          f"| {ours.wall * 1e3:.4g} | {ours.processor * 1e3:.4g} | {wall:.1f} | {processor:.1f} |",
          flush=True)
    return min(wall, processor)


class Bench:
    """Programs and folders of one run."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.work = arguments.work
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.tools = Toolchain(self.work / "tools",
                               arguments.build / "libautoschedule_anderson2021.so")
        self.reference = self.tools.halide / "lib64" / "libautoschedule_anderson2021.so"
        self.log = self.work / "log.txt"

    def app_programs(self, app):
        """Generator of an application, as a program and as a library."""
        source = APPS / app / f"{app}_generator.cpp"
        program = self.tools.compile_generator(self.work / f"{app}.generator", [source])
        library = self.tools.compile(self.work / f"{app}.so", [source],
                                     ["-shared", "-fPIC", "-O1", source])
        return program, library

    def reference_samples(self, app, program, first_seed, count):
        """One process for each."""
        generator = GENERATORS.get(app, app)
        seconds = []
        for seed in range(first_seed, first_seed + count):
            seconds.append(timed(
                [program, "-g", generator, "-n", "sample", "-o", self.work, "-e", "featurization",
                 "-p", self.reference, f"target={TARGET}-no_runtime",
                 "autoscheduler=Anderson2021", f"autoscheduler.parallelism={PARALLELISM}",
                 "autoscheduler.beam_size=1", "autoscheduler.random_dropout=1",
                 "autoscheduler.randomize_tilings=1",
                 f"autoscheduler.random_dropout_seed={seed}"], self.log))
        return Seconds(sum(s.wall for s in seconds), sum(s.processor for s in seconds)).per(count)

    def own_samples(self, app, library, first_seed, count):
        """All in one process."""
        out = self.work / f"{app}_{first_seed}"
        return timed(
            [self.arguments.build / "generate_samples", f"--out={out}", f"--load={library}",
             f"--generators={GENERATORS.get(app, app)}", f"--count={count}",
             f"--seed={first_seed}", f"--target={TARGET}",
             f"autoscheduler.parallelism={PARALLELISM}"], self.log).per(count)

    def sampling(self, app):
        """Ratio for one application."""
        program, library = self.app_programs(app)
        theirs, ours = [], []
        for number in range(self.arguments.rounds):
            theirs.append(self.reference_samples(app, program, 1000 * number,
                                                 self.arguments.reference_count))
            ours.append(self.own_samples(app, library, 1000 * number, self.arguments.count))
        return row(f"samples of {app}", "ms per schedule", median(theirs), median(ours))

    def train(self, program, epochs, files):
        """One run of a trainer."""
        return timed(
            [program, f"--epochs={epochs}", "--rates=0.0001", "--num_cores=32",
             f"--initial_weights={ROOT / 'baseline.weights'}",
             f"--weights_out={self.work / 'trained.weights'}", "--best_benchmark=",
             "--best_schedule=", "--predictions_file=", "--verbose=0", "--partition_schedules=0",
             "--limit=0"], self.log, stdin=files)

    def training(self):
        """Ratio of training on random pipelines."""
        arguments = self.arguments
        out = self.work / "random"
        timed([arguments.build / "generate_samples", f"--out={out}",
               f"--random={arguments.pipelines}", "--count=64", "--classic=1",
               f"--teachers={ROOT / 'baseline.weights'}"], self.log)
        samples = sorted(out.rglob("*.sample"))
        files = self.work / "samples.txt"
        files.write_text("".join(f"{sample}\n" for sample in samples))
        programs = (self.tools.halide / "bin" / "anderson2021_retrain_cost_model",
                    arguments.build / "retrain_cost_model")
        # Ours needs more epochs to be measured at all.
        epochs = (arguments.epochs, 10 * arguments.epochs)
        found = ([], [])
        for _ in range(arguments.rounds):
            for index, program in enumerate(programs):
                once = self.train(program, 1, files)
                many = self.train(program, 1 + epochs[index], files)
                found[index].append((many - once).per(epochs[index] * len(samples)))
        print(f"Training on {len(samples)} schedules of {arguments.pipelines} pipelines; per "
              "schedule and epoch:")
        return row("training", "ms per schedule and epoch", median(found[0]), median(found[1]))


def main():
    """Exit status 0, or 1 if --check was given and a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "training_speed")
    parser.add_argument("--app", nargs="*", default=["hist", "harris", "unsharp"])
    parser.add_argument("--count", type=int, default=400, help="schedules of ours in a round")
    parser.add_argument("--reference-count", type=int, default=6, help="and of the reference's")
    parser.add_argument("--pipelines", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.build, arguments.work = arguments.build.resolve(), arguments.work.resolve()
    bench = Bench(arguments)
    print("| what | unit | reference: wall | processor | ours: wall | processor "
          "| faster: wall | processor |\n|---|---|---|---|---|---|---|---|", flush=True)
    sampling = [bench.sampling(app) for app in arguments.app]
    training = bench.training()
    missed = [r for r in sampling if r < LEAST_SAMPLING] + \
        [r for r in [training] if r < LEAST_TRAINING]
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
