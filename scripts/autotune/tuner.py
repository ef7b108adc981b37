"""The loop: batches of candidates are compiled and timed, then the cost model is retrained.

Whatever is known is in the log. A run that was killed at any time goes on from there: finished
samples are not tried again, and samples that were being worked on are started anew.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional, Sequence, Tuple

from . import samples, training
from .candidates import Candidate, plan_batch
from .devices import Device, usable_devices
from .display import PlainDisplay
from .errors import SampleFailure, TuneError, check_disk
from .harness import Harness, make_harness
from .outcome import Outcome, ranked, sample_entries, time_of
from .run_log import Entry, RunLog, check_identity
from .settings import Settings
from .workbench import Searched, Workbench, halide_version

# Of a sample; the rest is needed by nobody once it is in the log.
PASSING = (".a", ".registration.cpp", ".h", ".featurization")

NO_DEVICE = Device("none", "", False, "none")


@dataclass
class Built:
    """A candidate that is ready to be timed."""

    searched: Searched
    program: Path
    seconds: Dict[str, float]


async def gather_or_stop(coroutines: Sequence[Any]) -> List[Any]:
    """All results; the first failure stops the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@contextmanager
def device_lock(device: Device) -> Iterator[int]:
    """A file that runs on the same device can lock against each other."""
    path = Path(tempfile.gettempdir()) / f"anderson2021-{os.getuid()}-{device.slot}.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


class Tuner:
    """One run in one folder."""

    def __init__(self, settings: Settings, display: PlainDisplay) -> None:
        self.settings = settings
        self.display = display
        self.workbench = self.make_workbench(settings)
        self.harness = self.make_harness()
        self.measures = settings.label == "measured"
        self.trainer = training.Trainer(settings) if self.trains else None
        self.devices = [NO_DEVICE]
        if self.measures and not settings.compile_only:
            self.devices = self.find_devices()
        self.deadline = time.monotonic() + 60 * settings.minutes if settings.minutes else None
        self.started = 0
        self.is_prepared = False
        # Schedules that are known, by hash: the sample that has or will have their time.
        self.claimed: Dict[Tuple[int, str], str] = {}
        self.identity = self._identity()
        self._open_log()

    # What another kind of tuner does in another way.

    def make_workbench(self, settings: Settings) -> Workbench:
        """Runs the generator."""
        return Workbench(settings)

    def make_harness(self) -> Harness:
        """Links and times candidates."""
        return make_harness(self.workbench)

    def find_devices(self) -> List[Device]:
        """What to measure on; all of a kind."""
        return usable_devices(self.settings.target)

    @property
    def trains(self) -> bool:
        """Predicted times teach nothing that the weights do not know."""
        settings = self.settings
        return (settings.retrain != "never" and self.measures and not settings.compile_only)

    def _identity(self) -> Entry:
        settings = self.settings
        device, weights = self.devices[0], ""
        if not self.measures:
            weights = training.checksum(settings.weights) or str(settings.weights or "built in")
        inputs = settings.link or " ".join(settings.run_arguments)
        return {
            "label": settings.label, "weights": weights,
            "device": device.name, "driver": device.driver, "halide": halide_version(),
            "features": training.check_versions(settings.weights),
            "pipeline": settings.pipeline, "target": settings.target,
            "parallelism": settings.parallelism,
            "argument_sets": [list(words) for words in settings.argument_sets],
            "inputs": inputs if self.measures else "",
        }

    def _open_log(self) -> None:
        settings = self.settings
        if settings.log.is_file() and settings.log.stat().st_size and not settings.resume:
            raise TuneError(f"{settings.folder} holds a run already: go on with --resume, or "
                            "choose another folder")
        self.log = RunLog(settings.log)
        try:
            for message in self.log.messages:
                self.display.say(message)
            for entry in self.log.entries:
                if entry["event"] == "sample" and not settings.compile_only:
                    check_identity(settings.log, entry["identity"], self.identity,
                                   "those of this run would")
        except BaseException:
            self.log.close()
            raise
        for entry in sample_entries(self.log.entries).values():
            if entry["status"] == "ok":
                self.claimed[entry["argument_set"], entry["schedule_hash"]] = entry["name"]

    # ----- the run

    async def run(self) -> int:
        """Everything that is missing; the exit status. What there is stays if it is cancelled."""
        settings = self.settings
        try:
            self.gate = asyncio.Semaphore(settings.jobs)
            self.free_devices: "asyncio.Queue[Device]" = asyncio.Queue()
            for device in self.devices:
                self.free_devices.put_nowait(device)
            plan = [(batch, number) for batch in range(settings.batches)
                    for number in range(len(settings.argument_sets))]
            total = len(plan) * settings.batch_size
            self.total = min(total, settings.trials) if settings.trials else total
            self.display.start(self.total)
            for index, (_, number) in enumerate(plan):
                if not self.is_over():
                    await self.run_batch(index, number, index + 1 == len(plan))
            self.display.stop()
            self.finish()
            return self.report()
        except BaseException:
            self.display.stop()
            with suppress(OSError):  # what went wrong before is what matters
                self.finish()
            raise
        finally:
            self.log.close()

    def is_over(self) -> bool:
        """The budget is spent."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or self.started >= self.total

    async def run_batch(self, batch: int, number: int, is_last: bool) -> None:
        """One batch: candidates, then training."""
        folder = self.workbench.batch_folder(batch, number)
        weights = self.batch_weights(folder)
        known = {sample: entry for (of, sample), entry in sample_entries(self.log.entries).items()
                 if of == batch and not (self.settings.retry and entry["status"] == "failed")}
        wanted = range(min(self.settings.batch_size, self.total - self.started))
        self.started += len(wanted)
        for sample in wanted:
            if sample in known:
                self.display.sample(known[sample], known=True)
        if any(sample not in known for sample in wanted):
            trees = await self.workbench.trees(batch, number, weights)
            plan = plan_batch(self.settings, batch, number, trees)
            await self.try_all([plan[s] for s in wanted if s not in known], weights)
        await self.train(batch, folder, is_last or self.is_over())

    async def try_all(self, todo: List[Candidate], weights: Optional[Path]) -> None:
        """Compiles and times candidates."""
        if self.measures and not self.is_prepared:
            await self.harness.prepare()
            self.is_prepared = True
        if not self.devices[0].is_cpu:
            await gather_or_stop([self.build_and_measure(c, weights) for c in todo])
            return
        # Compilers would take the device away from the schedules, so they take turns.
        turn = 2 * self.settings.jobs
        for first in range(0, len(todo), turn):
            built = await gather_or_stop([self.build(c, weights)
                                          for c in todo[first : first + turn]])
            for ready in built:
                if ready is not None:
                    await self.measure(ready)

    def batch_weights(self, folder: Path) -> Optional[Path]:
        """The weights of a batch; the same ones when it is continued. None: the built-in ones."""
        used = folder / "used.weights"
        if used.is_file():
            return used
        now = self.settings.updated_weights
        if not now.is_file():
            source = self.settings.weights
            if source is None or source.is_dir():
                return source
            samples.replace_file(now, source.read_bytes())
        samples.replace_file(used, now.read_bytes())
        arguments = " ".join(self.settings.argument_sets[int(folder.name.split("_")[2])])
        samples.replace_file(folder / "extra_generator_args.txt", f"{arguments}\n".encode())
        return used

    # ----- one sample

    async def build_and_measure(self, candidate: Candidate, weights: Optional[Path]) -> None:
        """A candidate from beginning to end."""
        ready = await self.build(candidate, weights)
        if ready is not None:
            await self.measure(ready)

    async def build(self, candidate: Candidate, weights: Optional[Path]) -> Optional[Built]:
        """Schedules and links; None if that is all there is to do."""
        name = candidate.name(self.settings.pipeline)
        async with self.gate:
            if self.deadline is not None and time.monotonic() > self.deadline:
                return None
            searched: Optional[Searched] = None
            begin = time.monotonic()
            try:
                self.display.begin_step(name, "scheduling")
                searched = await self.workbench.search(candidate, weights)
                if not self.settings.compile_only and \
                        (self.is_repetition(searched) or not self.measures):
                    self.clean(searched, None)
                    return None
                self.display.begin_step(name, "linking")
                program = await self.harness.link(searched)
            except SampleFailure as failure:
                self.record_failure(candidate, searched, failure)
                if searched is not None:
                    self.clean(searched, None)
                return None
            seconds = {"search": searched.seconds,
                       "build": time.monotonic() - begin - searched.seconds}
        if self.settings.compile_only:
            self.display.say(f"{name}: compiled")
            return None
        self.display.begin_step(name, "waiting")
        return Built(searched, program, seconds)

    def is_repetition(self, searched: Searched) -> bool:
        """Records a schedule that is known, or one that needs no measuring."""
        candidate = searched.candidate
        key = candidate.argument_set, samples.schedule_hash(searched.featurization)
        if key in self.claimed:
            self.record(candidate, searched, status="duplicate", same_as=self.claimed[key])
            return True
        self.claimed[key] = candidate.name(self.settings.pipeline)
        if not self.measures:
            self.record(candidate, searched, status="ok")
        return False

    async def measure(self, ready: Built) -> None:
        """Times a candidate on the next device that is free."""
        candidate = ready.searched.candidate
        if self.deadline is not None and time.monotonic() > self.deadline:
            return
        async with self.device() as device:
            self.display.begin_step(candidate.name(self.settings.pipeline), "measuring")
            begin = time.monotonic()
            try:
                timed = await self.harness.measure(ready.searched, ready.program,
                                                   device.environment)
            except SampleFailure as failure:
                self.record_failure(candidate, ready.searched, failure)
                return
            finally:
                self.clean(ready.searched, ready.program)
            seconds = {**ready.seconds, "measure": time.monotonic() - begin}
        self.record(candidate, ready.searched, status="ok", measured_ms=timed.milliseconds,
                    largest_difference=timed.largest_difference, slot=device.slot,
                    seconds={key: round(value, 3) for key, value in seconds.items()})

    @asynccontextmanager
    async def device(self) -> AsyncIterator[Device]:
        """A device that nobody else measures on."""
        device = await self.free_devices.get()
        try:
            with device_lock(device) as handle:
                while True:
                    try:
                        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        await asyncio.sleep(0.05)
                yield device
        finally:
            self.free_devices.put_nowait(device)

    def clean(self, searched: Searched, program: Optional[Path]) -> None:
        """Removes what a sample has left and nobody needs."""
        if self.settings.keep_programs or self.settings.compile_only:
            return
        for suffix in PASSING:
            searched.file(self.settings, suffix[1:]).unlink(missing_ok=True)
        if program is not None:
            program.unlink(missing_ok=True)

    # ----- the log

    def record(self, candidate: Candidate, searched: Optional[Searched], **values: Any) -> None:
        """Adds a sample to the log."""
        folder = self.workbench.sample_folder(candidate).relative_to(self.settings.folder)
        entry: Entry = {
            "event": "sample", "identity": self.identity, "batch": candidate.batch,
            "argument_set": candidate.argument_set, "sample": candidate.sample,
            "name": candidate.name(self.settings.pipeline), "folder": str(folder),
            "kind": candidate.kind, "seed": candidate.seed,
            "schedule_id": candidate.schedule_id, "parameters": candidate.parameters,
            "weights": training.checksum(
                self.batch_weights(self.workbench.batch_folder(candidate.batch,
                                                               candidate.argument_set))),
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "predicted_ms": None, "measured_ms": None, "stage": "", "reason": "",
        }
        if searched is not None:
            entry.update(predicted_ms=searched.predicted_ms,
                         stages=len(samples.records(searched.featurization)),
                         schedule_hash=samples.schedule_hash(searched.featurization),
                         pipeline_hash=samples.pipeline_hash(searched.featurization))
            if values.get("status") == "ok":
                entry.update(featurization=samples.packed(searched.featurization),
                             schedule=samples.packed(searched.schedule))
            self.check_pipeline(entry)
        entry.update(values)
        self.log.append(entry)
        self.display.sample(entry)

    def record_failure(self, candidate: Candidate, searched: Optional[Searched],
                       failure: SampleFailure) -> None:
        """Adds a failure to the log, unless it may not be the schedule's fault."""
        if self.settings.compile_only:
            self.display.say(f"{candidate.name(self.settings.pipeline)}: {failure}")
            return
        check_disk(self.settings.folder, failure.reason)
        if searched is not None:
            key = candidate.argument_set, samples.schedule_hash(searched.featurization)
            self.claimed.pop(key, None)
        self.record(candidate, searched, status="failed", stage=failure.stage,
                    reason=failure.reason)

    def check_pipeline(self, entry: Entry) -> None:
        """A TuneError if the algorithm is not the one that is in the log."""
        for other in self.log.entries:
            if other.get("event") == "sample" and other.get("pipeline_hash") and \
                    other["argument_set"] == entry["argument_set"]:
                if other["pipeline_hash"] != entry["pipeline_hash"]:
                    raise TuneError(f"{self.settings.log}: its samples are of another version of "
                                    f"{self.settings.pipeline}: use another folder")
                return

    # ----- after a batch, after the run

    async def train(self, batch: int, folder: Path, is_last: bool) -> None:
        """Retrains on all samples so far, unless that has been done."""
        done = any(e["event"] == "train" and e["batch"] == batch for e in self.log.entries)
        if self.trainer is None or done or (self.settings.retrain == "end" and not is_last):
            return
        files = Outcome(self.settings.folder, self.log.entries).write_samples()
        if len(files) < training.FEWEST_SAMPLES:
            self.display.say(f"not trained: {len(files)} samples are too few")
            return
        self.display.begin_step(f"batch {batch}", "training")
        figures = await self.trainer.retrain(self.batch_weights(folder), files, folder)
        entry = {"event": "train", "batch": batch, **figures}
        self.log.append(entry)
        self.display.trained(entry)

    def finish(self) -> None:
        """Writes what derives from the log."""
        outcome = Outcome(self.settings.folder, self.log.entries)
        outcome.write_samples()
        outcome.write_best()
        outcome.write_report()

    def report(self) -> int:
        """The last words; 0 if there is a schedule to be used."""
        best = ranked(self.log.entries)
        if self.settings.compile_only:
            return 0
        if not best:
            self.display.say("no sample succeeded")
            return 1
        for number in sorted({e["argument_set"] for e in best}):
            entry = ranked(self.log.entries, number)[0]
            how = "measured" if self.measures else "predicted"
            file = Outcome(self.settings.folder, []).best_schedule_file(self.settings.pipeline,
                                                                        number)
            self.display.say(f"best: {entry['name']}, {how} {time_of(entry):.6g} ms; schedule in "
                             f"{file}")
        self.display.say(f"report: {self.settings.folder / 'report.html'}")
        return 0
