"""From a candidate to its features, its schedule and, if it is to be timed, its library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Dict, List, Optional

from . import programs, samples
from .candidates import Candidate, kinds
from .errors import SampleFailure, TuneError
from .settings import Settings


def halide_folder() -> Path:
    """Folder of the Halide package."""
    spec = util.find_spec("halide")
    if spec is None or not spec.submodule_search_locations:
        raise TuneError("the Python package halide is not installed; see requirements.txt")
    return Path(list(spec.submodule_search_locations)[0])


def halide_version() -> str:
    """Version of the Halide package."""
    from importlib import metadata  # pylint: disable=import-outside-toplevel

    return metadata.version("halide")


@dataclass(frozen=True)
class Searched:
    """A schedule that the plugin has chosen."""

    candidate: Candidate
    folder: Path
    predicted_ms: float
    featurization: bytes
    schedule: bytes
    seconds: float

    def file(self, settings: Settings, suffix: str) -> Path:
        """A file that the generator has written."""
        return self.folder / f"{self.candidate.name(settings.pipeline)}.{suffix}"


class Workbench:
    """Runs the generator."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.plugin = settings.plugin_path
        if not settings.generator.is_file():
            raise TuneError(f"there is no generator program {settings.generator}")

    @property
    def function(self) -> str:
        """C name of the compiled pipeline; the same for all candidates."""
        return f"{self.settings.pipeline}_auto"

    def batch_folder(self, batch: int, argument_set: int) -> Path:
        """Where the samples of a batch lie."""
        options = {**self.settings.options, **self.settings.random_options}
        tilings = options.get("randomize_tilings", "0")
        freeze = options.get("freeze_inline_compute_root", "0")
        return self.settings.folder / f"batch_{batch:04d}_{argument_set}_{tilings}_{freeze}"

    def sample_folder(self, candidate: Candidate) -> Path:
        """Where the files of a sample lie."""
        batch = self.batch_folder(candidate.batch, candidate.argument_set)
        return batch / str(candidate.sample)

    def command(self, out: Path, name: str, outputs: str, argument_set: int,
                parameters: Optional[Dict[str, str]], target: Optional[str] = None) -> List[str]:
        """Command line of the generator; without parameters nothing is scheduled."""
        settings = self.settings
        words = [str(settings.generator.resolve()), "-g", settings.pipeline, "-n", name,
                 "-f", self.function, "-o", str(out), "-e", outputs,
                 f"target={target or settings.target}-no_runtime",
                 *settings.argument_sets[argument_set]]
        if parameters is not None:
            words += ["-p", str(self.plugin), "autoscheduler=Anderson2021",
                      f"autoscheduler.parallelism={settings.parallelism}"]
            words += [f"autoscheduler.{key}={value}" for key, value in parameters.items()]
        return words

    def with_weights(self, parameters: Dict[str, str], weights: Optional[Path]) -> Dict[str, str]:
        """The parameters, with the weights that predict."""
        return parameters if weights is None else {"weights_path": str(weights), **parameters}

    async def trees(self, batch: int, argument_set: int, weights: Optional[Path]) -> List[Path]:
        """The best schedules of one whole search, as far as the batch wants any."""
        count = kinds(self.settings).count("top_k")
        if count == 0:
            return []
        folder = self.batch_folder(batch, argument_set) / "top"
        folder.mkdir(parents=True, exist_ok=True)
        parameters = self.with_weights(
            {"beam_size": "32", **self.settings.options, "top_k": str(count),
             "top_k_path": str(folder / "rank")}, weights)
        command = self.command(folder, "top", "schedule", argument_set, parameters)
        limit = self.settings.compile_timeout
        done = await programs.run(command, folder / "search.txt", timeout=limit)
        if not done.ok:
            # The samples will tell the same story, one by one.
            return []
        found = sorted(folder.glob("rank.*.tree"), key=lambda tree: int(tree.name.split(".")[1]))
        return found[:count]

    async def search(self, candidate: Candidate, weights: Optional[Path]) -> Searched:
        """Schedules a candidate; a SampleFailure says why that is not possible."""
        settings = self.settings
        folder = self.sample_folder(candidate)
        folder.mkdir(parents=True, exist_ok=True)
        outputs = "schedule,featurization"
        if settings.label == "measured":
            outputs += ",static_library,registration,c_header"
        name = candidate.name(settings.pipeline)
        parameters = self.with_weights(candidate.parameters, weights)
        command = self.command(folder, name, outputs, candidate.argument_set, parameters)
        log = folder / "compile_err.txt"
        samples.replace_file(folder / "autoschedule_command.txt",
                             (programs.quoted(command) + "\n").encode())
        done = await programs.run(command, log, timeout=settings.compile_timeout,
                                  environment={"HL_DEBUG_AUTOSCHEDULE": "1",
                                               "HL_PERMIT_FAILED_UNROLL": "1"})
        text = done.output
        if done.ok and candidate.kind == "random":
            # The way there is long, and different for every one of thousands.
            text = text[max(0, text.rfind("** Optimal schedule")) :]
        samples.replace_file(log, f"{text}Compile time (s): {done.seconds:.3f}\n".encode())
        if not done.ok:
            raise SampleFailure("search", done.reason(settings.compile_timeout))
        cost = re.findall(r"^Best cost: (\S+)", done.output, re.MULTILINE)
        if not cost:
            raise SampleFailure("search", "the search did not say what it predicts")
        try:
            featurization = (folder / f"{name}.featurization").read_bytes()
            schedule = (folder / f"{name}.schedule.h").read_bytes()
            samples.records(featurization)
        except (OSError, ValueError) as error:
            raise SampleFailure("search", str(error)) from error
        return Searched(candidate, folder, float(cost[-1]), featurization, schedule, done.seconds)
