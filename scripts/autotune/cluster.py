"""The loop on many machines, through Ray: samples are built and timed wherever there is room.

The log, training and everything that derives from them stay here. A machine gets what it needs as
files, so none have to be shared; it only has to have Halide, numpy and a compiler. A task whose
machine is lost is done again on another one, and a sample is in the log only when its result is
here.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import socket
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional

import numpy

from . import cluster_task
from .candidates import Candidate
from .devices import Device
from .display import PlainDisplay
from .errors import SampleFailure, TuneError
from .harness import RunGenHarness, Timed
from .job import packed_settings
from .settings import Settings
from .tuner import Tuner
from .workbench import Searched, Workbench

# Of a task whose machine is lost.
_RETRIES = 20
# Builds that wait for a processor, so that none is idle.
_BUILDS_PER_PROCESSOR = 2
_SECONDS_TO_CONNECT = 10


def _import_ray() -> Any:
    try:
        import ray  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise TuneError("--ray needs the Python package ray: `pip install ray` (or "
                        "`pip install halide-anderson2021[cluster]`)") from error
    return ray


def _check_address(address: str) -> None:
    """A TuneError if nobody listens; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        return  # auto, local, or what Ray's client knows
    try:
        socket.create_connection((host, int(port)), _SECONDS_TO_CONNECT).close()
    except (OSError, OverflowError) as error:
        raise TuneError(f"there is no Ray cluster {address}: {error}") from error


class Cluster:
    """Runs jobs on the machines of a Ray cluster."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ray = _import_ray()
        _check_address(settings.ray)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        own = {"include_dashboard": False} if settings.ray == "local" else {}
        try:
            self.ray.init(address=settings.ray, log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # pylint: disable=broad-except  # Ray has many kinds
            raise TuneError(f"there is no Ray cluster {settings.ray}: {error}") from error
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        resource = self.settings.ray_resource
        resources = self.ray.cluster_resources()
        self.measures = self.settings.label == "measured" and not self.settings.compile_only
        if self.measures and not resources.get(resource):
            names = ", ".join(sorted(name for name in resources if ":" not in name))
            raise TuneError(f"no machine of the cluster has the resource {resource} for measuring "
                            f"(--ray_resource); there are: {names}")
        self.processors = int(resources.get("CPU", 1))
        self.ray.cloudpickle.register_pickle_by_value(cluster_task)
        task = self.ray.remote(cluster_task.run_job)
        common = {"max_retries": _RETRIES, "num_cpus": 1}
        self.build_task = task.options(**common)
        needs = {"num_gpus": 1} if resource == "GPU" else {"resources": {resource: 1}}
        self.measure_task = task.options(**common, **needs)
        # What all jobs need; in the object store from the first job on.
        self.tools: Dict[str, bytes] = {}
        self.tools_object: Any = None
        package = Path(__file__).resolve().parent
        for source in sorted(package.glob("*.py")):
            self.tools[f"scripts/autotune/{source.name}"] = source.read_bytes()
        self.tools["bin/generator"] = self.settings.generator.read_bytes()
        self.tools["lib/libautoschedule_anderson2021.so"] = self.settings.plugin_path.read_bytes()
        self.inputs: Dict[str, bytes] = {}
        self.run_arguments = tuple(self._sent(word) for word in self.settings.run_arguments)

    def _sent(self, word: str) -> str:
        """`input=photo.npy` becomes a file that goes with every measurement."""
        name, equals, value = word.partition("=")
        if not equals or not os.path.isfile(value):
            return word
        sent = f"inputs/{len(self.inputs)}{Path(value).suffix}"
        self.inputs[sent] = Path(value).read_bytes()
        return f"{name}=@JOB@/{sent}"

    def add_tool(self, name: str, file: Path) -> None:
        """A file for all jobs that follow."""
        self.tools[name] = file.read_bytes()
        self.tools_object = None

    def _submit(self, task: Any, job: Dict[str, Any], files: Mapping[str, bytes],
                wanted: List[str]) -> Any:
        if self.tools_object is None:
            self.tools_object = self.ray.put(self.tools)
        settings = {**packed_settings(self.settings), "run_arguments": self.run_arguments}
        description = json.dumps({**job, "settings": settings}).encode()
        return task.remote(self.tools_object, {**files, "job.json": description}, wanted)

    @staticmethod
    def _result(answer: Dict[str, Any]) -> Dict[str, Any]:
        if answer["error"]:
            raise TuneError(f"a machine of the cluster cannot do its work: {answer['error']}")
        return {**json.loads(answer["files"]["result.json"]), "files": answer["files"]}

    def find_device(self) -> Device:
        """What the first machine with the resource measures on."""
        job = self._submit(self.measure_task, {"kind": "device"}, {}, [])
        return Device(**self._result(self.ray.get(job))["device"])

    async def run(self, task: Any, job: Dict[str, Any], files: Mapping[str, bytes],
                  wanted: List[str]) -> Dict[str, Any]:
        """Carries out a job; the result with the files that were wanted."""
        reference = self._submit(task, job, files, wanted)
        try:
            return self._result(await asyncio.wrap_future(reference.future()))
        except asyncio.CancelledError:
            self.ray.cancel(reference, force=True)
            raise
        except self.ray.exceptions.RayError as error:
            raise TuneError(f"the cluster has lost a task {_RETRIES} times: {error}; go on with "
                            "--resume") from error

    def stop(self) -> None:
        """Leaves the cluster."""
        self.ray.shutdown()


def described(candidate: Candidate) -> "tuple[Dict[str, Any], Dict[str, bytes]]":
    """A candidate for a job, and the files that its parameters name."""
    files: Dict[str, bytes] = {}
    parameters = {}
    for key, value in candidate.parameters.items():
        if key.endswith("_path") and os.path.isfile(value):
            files[f"parameters/{key}"] = Path(value).read_bytes()
            value = f"@JOB@/parameters/{key}"
        parameters[key] = value
    return {**dataclasses.asdict(candidate), "parameters": parameters}, files


class ClusterWorkbench(Workbench):
    """Has candidates scheduled and linked."""

    def __init__(self, settings: Settings, cluster: Cluster) -> None:
        super().__init__(settings)
        self.cluster = cluster
        # By sample: its program, or why there is none.
        self.linked: Dict[str, Any] = {}

    async def search(self, candidate: Candidate, weights: Optional[Path]) -> Searched:
        description, files = described(candidate)
        if weights is not None and weights.is_file():
            files["weights"] = weights.read_bytes()
        elif weights is not None:
            files.update({f"weights/{file.name}": file.read_bytes()
                          for file in sorted(weights.iterdir()) if file.is_file()})
        result = await self.cluster.run(
            self.cluster.build_task, {"kind": "build", "candidate": description}, files,
            ["featurization", "schedule", "program"])
        if result["status"] != "ok":
            raise SampleFailure(result["stage"], result["reason"])
        folder = self.sample_folder(candidate)
        folder.mkdir(parents=True, exist_ok=True)
        done = result["files"]
        self.linked[candidate.name(self.settings.pipeline)] = result
        return Searched(candidate, folder, result["predicted_ms"], done["featurization"],
                        done["schedule"], result["seconds"])


class ClusterHarness(RunGenHarness):
    """Has programs timed."""

    def __init__(self, workbench: ClusterWorkbench) -> None:
        super().__init__(workbench)
        self.cluster = workbench.cluster
        self.linked = workbench.linked

    async def prepare(self) -> None:
        """Made here, used everywhere."""
        await super().prepare()
        self.cluster.add_tool("lib/RunGenMain.o", self.main)
        self.cluster.add_tool("lib/runtime.a", self.runtime)

    async def link(self, searched: Searched) -> Path:
        """The program came with the schedule."""
        result = self.linked.pop(searched.candidate.name(self.settings.pipeline))
        if "link_reason" in result:
            raise SampleFailure(result["link_stage"], result["link_reason"])
        program = searched.folder / "bench"
        program.write_bytes(result["files"]["program"])
        return program

    async def measure(self, searched: Searched, program: Path,
                      environment: Mapping[str, str]) -> Timed:
        description, files = described(searched.candidate)
        files["bin/program"] = program.read_bytes()
        files.update(self.cluster.inputs)
        outputs = [(name, value) for (number, name), value in self.outputs.items()
                   if number == searched.candidate.argument_set]
        for index, (_, value) in enumerate(outputs):
            files[f"expected/{index}.npy"] = self._array(searched.folder, value)
        result = await self.cluster.run(
            self.cluster.measure_task,
            {"kind": "measure", "candidate": description,
             "outputs": [name for name, _ in outputs]}, files, [])
        if result["status"] != "ok":
            raise SampleFailure(result["stage"], result["reason"])
        device = Device(**result["device"])
        if (device.name, device.driver) != (environment["NAME"], environment["DRIVER"]):
            raise TuneError(
                f"{result['node']} measures on {device.name} ({device.driver}), but this run on "
                f"{environment['NAME']} ({environment['DRIVER']}): times of different devices "
                "cannot be compared; start the other machines without the resource "
                f"{self.settings.ray_resource}")
        return Timed(result["milliseconds"], result["largest_difference"])

    @staticmethod
    def _array(folder: Path, value: numpy.ndarray) -> bytes:
        file = folder / "expected.npy"
        numpy.save(file, value)
        content = file.read_bytes()
        file.unlink()
        return content


class ClusterTuner(Tuner):
    """One run in one folder, on many machines."""

    def __init__(self, settings: Settings, display: PlainDisplay) -> None:
        if settings.link:
            raise TuneError("--link and --ray exclude each other: that program may need files "
                            "that other machines do not have")
        self.cluster = Cluster(settings)
        try:
            settings = dataclasses.replace(
                settings, jobs=max(1, _BUILDS_PER_PROCESSOR * self.cluster.processors))
            super().__init__(settings, display)
        except BaseException:
            self.cluster.stop()
            raise

    def make_workbench(self, settings: Settings) -> Workbench:
        return ClusterWorkbench(settings, self.cluster)

    def make_harness(self) -> Any:
        assert isinstance(self.workbench, ClusterWorkbench)
        return ClusterHarness(self.workbench)

    def find_devices(self) -> List[Device]:
        """One that stands for all of them; Ray knows which are free."""
        found = self.cluster.find_device()
        return [Device(found.name, found.driver, False, f"ray-{found.slot}",
                       {"NAME": found.name, "DRIVER": found.driver})]

    @asynccontextmanager
    async def device(self) -> AsyncIterator[Device]:
        """The cluster's; waiting for a free one happens there."""
        yield self.devices[0]

    async def run(self) -> int:
        try:
            return await super().run()
        finally:
            self.cluster.stop()
