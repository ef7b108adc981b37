"""What follows from a log: times, best schedules, samples for the trainer, files to keep."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional, Tuple

from . import report, samples
from .run_log import Entry

PACKED = ("featurization", "schedule")


def sample_entries(entries: List[Entry]) -> Dict[Tuple[int, int], Entry]:
    """Samples by batch and number. A later entry (of a repetition) counts."""
    return {(e["batch"], e["sample"]): e for e in entries if e["event"] == "sample"}


def time_of(entry: Entry) -> Optional[float]:
    """Milliseconds by which a sample is judged, or None."""
    if entry["status"] != "ok":
        return None
    return entry["measured_ms"] if entry["identity"]["label"] == "measured" else \
        entry["predicted_ms"]


def ranked(entries: List[Entry], argument_set: Optional[int] = None) -> List[Entry]:
    """Usable samples, fastest first."""
    usable = [e for e in sample_entries(entries).values() if time_of(e) is not None
              and argument_set in (None, e["argument_set"])]
    return sorted(usable, key=lambda e: (time_of(e), e["batch"], e["sample"]))


def argument_sets(entries: List[Entry]) -> List[int]:
    """Numbers of the argument sets with samples."""
    return sorted({e["argument_set"] for e in sample_entries(entries).values()})


def best_line(entry: Entry, file: Path) -> str:
    """The line about the best sample; scripts take its twelfth word as the file."""
    return (f"Best runtime is {time_of(entry):g} msec, from schedule id {entry['schedule_id']} "
            f"in file {file}\n")


class Outcome:
    """The files of a run that derive from its log. Writing them twice changes nothing."""

    def __init__(self, folder: Path, entries: List[Entry]) -> None:
        self.folder = folder
        self.entries = entries

    def sample_file(self, entry: Entry) -> Path:
        """The .sample file of an entry."""
        return self.folder / entry["folder"] / f"{entry['name']}.sample"

    def write_samples(self) -> List[Path]:
        """Sample files of all that was measured, made again where they are missing."""
        files = []
        for entry in sample_entries(self.entries).values():
            milliseconds = time_of(entry)
            if milliseconds is None:
                continue
            content = samples.sample_bytes(samples.unpacked(entry["featurization"]), milliseconds,
                                           entry["argument_set"], entry["schedule_id"])
            file = self.sample_file(entry)
            if not file.is_file() or file.read_bytes() != content:
                samples.replace_file(file, content)
            schedule = file.with_suffix(".schedule.h")
            if not schedule.is_file():
                samples.replace_file(schedule, samples.unpacked(entry["schedule"]))
            files.append(file)
        return sorted(files)

    def best_schedule_file(self, pipeline: str, argument_set: int) -> Path:
        """Where the best schedule for a set of generator arguments is kept."""
        part = f".{argument_set}" if argument_set else ""
        return self.folder / f"best.{pipeline}{part}.schedule.h"

    def write_best(self, top: int = 1, out: Optional[Path] = None) -> List[Path]:
        """The best schedules of every argument set; with `top` > 1 the next ones as well."""
        written = []
        for number in argument_sets(self.entries):
            for rank, entry in enumerate(ranked(self.entries, number)[:top]):
                pipeline = entry["identity"]["pipeline"]
                file = self.best_schedule_file(pipeline, number)
                if out is not None or rank:
                    folder = out or self.folder / "top"
                    file = folder / f"{pipeline}.{number}.{rank}.schedule.h"
                samples.replace_file(file, samples.unpacked(entry["schedule"]))
                if out is None and not rank:
                    line = best_line(entry, self.sample_file(entry))
                    benchmark = file.name.replace(".schedule.h", ".benchmark.txt")
                    samples.replace_file(file.with_name(benchmark), line.encode())
                written.append(file)
        return written

    def write_report(self) -> Path:
        """The report as one HTML file."""
        file = self.folder / "report.html"
        samples.replace_file(file, report.html_report(self.entries).encode())
        return file
