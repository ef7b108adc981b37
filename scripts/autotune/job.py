"""One step of a sample on a machine of a cluster: `python -m autotune.job FOLDER TOOLS`.

FOLDER/job.json says what to do, FOLDER/result.json becomes what came of it, a failure of the
schedule included. TOOLS is the folder of what all jobs of a run need (see cluster.py).
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict

from . import samples
from .candidates import Candidate
from .devices import usable_devices
from .errors import SampleFailure
from .harness import RunGenHarness, load_array
from .programs import with_signals
from .settings import Settings, Tolerance
from .workbench import Searched, Workbench, halide_folder

# Fields of Settings that hold paths; here they are where the files of the job are.
_PATHS = ("generator", "build", "folder", "weights", "plugin")


def packed_settings(settings: Settings) -> Dict[str, Any]:
    """Settings as JSON, without paths."""
    values = dataclasses.asdict(settings)
    return {key: value for key, value in values.items() if key not in _PATHS}


def unpacked_settings(values: Dict[str, Any], folder: Path, tools: Path) -> Settings:
    """The settings with the paths of this machine."""
    values = dict(values)
    values["tolerance"] = Tolerance(**values["tolerance"])
    values["argument_sets"] = tuple(tuple(words) for words in values["argument_sets"])
    values["run_arguments"] = tuple(_local(word, folder) for word in values["run_arguments"])
    return Settings(generator=tools / "bin" / "generator", build=tools / "lib",
                    folder=folder / "work", **values)


def _local(text: str, folder: Path) -> str:
    """`@JOB@/name` is a file that came with the job."""
    return text.replace("@JOB@", str(folder))


class Job:
    """What there is to do."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self.folder = folder
        values = json.loads((folder / "job.json").read_text())
        self.kind = values["kind"]
        self.settings = unpacked_settings(values["settings"], folder, tools)
        self.values = values
        self.workbench = Workbench(self.settings)
        self.harness = RunGenHarness(self.workbench)
        self.harness.shared = folder
        for name, link in (("RunGenMain.o", self.harness.main),
                           ("runtime.a", self.harness.runtime)):
            if (tools / "lib" / name).is_file():
                link.symlink_to(tools / "lib" / name)

    @property
    def candidate(self) -> Candidate:
        """The sample that the job is about."""
        values = self.values["candidate"]
        parameters = {key: _local(value, self.folder)
                      for key, value in values["parameters"].items()}
        return Candidate(**{**values, "parameters": parameters})

    async def run(self) -> Dict[str, Any]:
        """The result; a schedule that is no good is one, too."""
        try:
            return {"status": "ok", **await getattr(self, self.kind)()}
        except SampleFailure as failure:
            return {"status": "failed", "stage": failure.stage, "reason": failure.reason}

    async def device(self) -> Dict[str, Any]:
        """What measuring happens on here."""
        found = usable_devices(self.settings.target)[0]
        return {"device": dataclasses.asdict(found)}

    async def build(self) -> Dict[str, Any]:
        """Schedules and links. A program that cannot be linked still has features."""
        weights = self.folder / "weights"
        searched = await self.workbench.search(self.candidate,
                                               weights if weights.exists() else None)
        result: Dict[str, Any] = {"predicted_ms": searched.predicted_ms,
                                  "seconds": searched.seconds}
        (self.folder / "featurization").write_bytes(searched.featurization)
        (self.folder / "schedule").write_bytes(searched.schedule)
        begin = time.monotonic()
        if self.settings.label == "measured" and not self.settings.compile_only:
            try:
                program = await self.harness.link(searched)
                os.replace(program, self.folder / "program")
            except SampleFailure as failure:
                result.update(link_stage=failure.stage, link_reason=failure.reason)
        return {**result, "link_seconds": time.monotonic() - begin}

    async def measure(self) -> Dict[str, Any]:
        """Times a program that was built somewhere else."""
        device = usable_devices(self.settings.target)[0]
        work = self.workbench.sample_folder(self.candidate)
        work.mkdir(parents=True)
        for file in sorted((self.folder / "expected").glob("*.npy")):
            name = self.values["outputs"][int(file.stem)]
            self.harness.outputs[self.candidate.argument_set, name] = load_array(file)
        program = self.folder / "bin" / "program"
        searched = Searched(self.candidate, work, 0.0, b"", b"", 0.0)
        timed = await self.harness.measure(searched, program, device.environment)
        return {"milliseconds": timed.milliseconds, "device": dataclasses.asdict(device),
                "largest_difference": timed.largest_difference, "node": os.uname().nodename}


async def _main(folder: Path, tools: Path) -> int:
    library = str(halide_folder() / "lib64")
    before = os.environ.get("LD_LIBRARY_PATH")
    # The generator was linked on another machine.
    os.environ["LD_LIBRARY_PATH"] = f"{library}:{before}" if before else library
    result = await Job(folder, tools).run()
    samples.replace_file(folder / "result.json", json.dumps(result).encode())
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(with_signals(_main(Path(sys.argv[1]), Path(sys.argv[2])))))
