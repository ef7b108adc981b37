#!/usr/bin/env python3
"""Tries random schedules of one application and keeps the best one. Called by `make autotune`.

usage: autotune.py --folder FOLDER --generator PROGRAM --name GENERATOR --samples N [--measure RUNS]
                   [--link "COMPILER ... LIBRARIES"] -- GENERATOR ARGUMENTS

Sample 0 is the usual search; the others are greedy searches that drop candidates by chance, with
the number of the sample as seed. A schedule is judged by the median time of its filter program if
--measure is given (and the program must agree with the CPU), else by the predicted time.

Samples are kept in a folder of FOLDER that belongs to the arguments. FOLDER/log.jsonl gets one line per finished sample. A second run goes on where the first one
stopped; lines that belong to other arguments are left alone and ignored. FOLDER/best.schedule.h is
the emitted schedule of the best sample, to be used with SCHEDULE_HEADER.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Optional

RANDOM_SEARCH = ("autoscheduler.beam_size=1", "autoscheduler.random_dropout=1")
# These steer the search, so random samples bring their own.
OVERRIDDEN = ("beam_size", "random_dropout", "random_dropout_seed")


class SampleError(RuntimeError):
    """A sample could not be built or is wrong."""


def run(command: list[str], environment: Optional[dict[str, str]] = None) -> str:
    """Runs a program and returns what it printed."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise SampleError(f"exit status {done.returncode}: {shlex.join(command)}\n{done.stdout}")
    return done.stdout


def search_arguments(arguments: list[str], sample: int) -> list[str]:
    """The generator's arguments for one sample."""
    if sample == 0:
        return arguments
    own = tuple(f"autoscheduler.{option}=" for option in OVERRIDDEN)
    kept = [argument for argument in arguments if not argument.startswith(own)]
    return [*kept, *RANDOM_SEARCH, f"autoscheduler.random_dropout_seed={sample}"]


class Tuner:
    """The samples of one application with one set of arguments."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.function = f"{options.name}_auto"
        self.log = options.folder / "log.jsonl"
        # Whatever makes results comparable.
        self.key = " ".join(
            [*options.arguments, os.environ.get("HL_WEIGHTS_DIR", ""), f"measure={options.measure}"]
        )

        digest = hashlib.sha256(self.key.encode()).hexdigest()[:8]
        self.samples_folder = options.folder / digest

    def results(self) -> dict[int, dict]:
        """Finished samples by number."""
        found: dict[int, dict] = {}
        if self.log.exists():
            for line in self.log.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:  # the line that an interrupted run was writing
                    continue
                if entry.get("key") == self.key:
                    found[entry["sample"]] = entry
        return found

    def sample_folder(self, sample: int) -> Path:
        return self.samples_folder / f"sample_{sample:04d}"

    def search(self, sample: int) -> float:
        """Emits the schedule of a sample; returns its predicted milliseconds."""
        folder = self.sample_folder(sample)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        outputs = "schedule,featurization,c_header"
        output = run(
            [self.options.generator, "-g", self.options.name, "-n", self.function]
            + ["-f", self.function, "-o", str(folder)]
            + ["-e", outputs + (",static_library" if self.options.measure else "")]
            + search_arguments(self.options.arguments, sample),
            {"HL_DEBUG_AUTOSCHEDULE": "1"},
        )
        cost = re.findall(r"^Best cost: (\S+)", output, re.MULTILINE)
        if not cost:
            raise SampleError("the search did not say what it predicts")
        return float(cost[-1])

    def measure(self, sample: int) -> float:
        """Median milliseconds of a sample; its results must be right."""
        folder = self.sample_folder(sample)
        program = folder / "filter"
        library = str(folder / f"{self.function}.a")
        run([word.replace("@AUTO@", library) for word in shlex.split(self.options.link)]
            + ["-o", str(program)])
        output = run(
            [str(program), "--variants", "auto", "--runs", str(self.options.measure)]
        )
        program.unlink()
        return float(re.findall(r" auto: median_ms=(\S+)", output)[-1])

    def run_sample(self, sample: int) -> dict:
        """One line of the log. A failure is a result as well."""
        entry = {"key": self.key, "sample": sample, "predicted_ms": None, "measured_ms": None}
        try:
            entry["predicted_ms"] = self.search(sample)
            if self.options.measure:
                entry["measured_ms"] = self.measure(sample)
        except SampleError as error:
            entry["error"] = str(error)
        with self.log.open("a") as log:
            log.write(json.dumps(entry) + "\n")
        return entry

    def score(self, entry: dict) -> float:
        """Milliseconds to compare by; infinite for failures."""
        value = entry["measured_ms" if self.options.measure else "predicted_ms"]
        return float("inf") if value is None or "error" in entry else value

    def run(self) -> int:
        """All missing samples; returns the exit status."""
        self.options.folder.mkdir(parents=True, exist_ok=True)
        results = self.results()
        for sample in range(self.options.samples):
            known = sample in results and self.sample_folder(sample).exists()
            if not known:
                results[sample] = self.run_sample(sample)
            entry = results[sample]
            print(
                f"sample {sample}: predicted {entry['predicted_ms']} ms, "
                f"measured {entry['measured_ms']} ms{', from the log' if known else ''}"
                f"{': ' + entry['error'].splitlines()[0] if 'error' in entry else ''}",
                flush=True,
            )
        wanted = [results[sample] for sample in range(self.options.samples)]
        best = min(wanted, key=self.score)
        if self.score(best) == float("inf"):
            print("autotune: no sample succeeded", file=sys.stderr)
            return 1
        kept = self.options.folder / "best.schedule.h"
        shutil.copyfile(
            self.sample_folder(best["sample"]) / f"{self.function}.schedule.h", kept
        )
        how = "measured" if self.options.measure else "predicted"
        print(f"best: sample {best['sample']}, {how} {self.score(best)} ms; schedule in {kept}")
        return 1 if any("error" in entry for entry in wanted) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--measure", type=int, default=0)
    parser.add_argument("--link", default="")
    parser.add_argument("arguments", nargs="+")
    return Tuner(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
