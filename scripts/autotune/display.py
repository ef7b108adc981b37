"""Progress: a live table on a terminal, one line per event elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Dict, List, Optional

from .outcome import time_of
from .run_log import Entry

LAST_ROWS = 12


def milliseconds(value: Optional[float]) -> str:
    """A time for people."""
    return "-" if value is None else f"{value:.4g} ms"


def describe(entry: Entry) -> str:
    """One sample in words."""
    text = f"predicted {milliseconds(entry['predicted_ms'])}"
    if entry["status"] == "failed":
        return f"{text}, failed ({entry['stage']}): {entry['reason'].splitlines()[0][:200]}"
    if entry["status"] == "duplicate":
        return f"{text}, the same schedule as {entry['same_as']}"
    if entry["identity"]["label"] == "measured":
        text += f", measured {milliseconds(entry['measured_ms'])}"
    return text


class PlainDisplay:
    """Lines."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self.best: Optional[Entry] = None
        self.begin = time.monotonic()
        self.fresh = 0

    def start(self, total: int) -> None:
        """So many samples are to be tried."""
        self.total = total

    def say(self, text: str) -> None:
        """A remark."""
        print(text, flush=True)

    def begin_step(self, name: str, step: str) -> None:
        """A sample is being worked on."""

    def count(self, entry: Entry, known: bool) -> bool:
        """Counts a sample; whether it is the best so far."""
        self.done += 1
        self.fresh += 0 if known else 1
        score = time_of(entry)
        if score is None or (self.best is not None and time_of(self.best) <= score):
            return False
        self.best = entry
        return True

    def remaining(self) -> str:
        """How long it will take at the present pace."""
        if self.fresh == 0 or self.done >= self.total:
            return ""
        pace = (time.monotonic() - self.begin) / self.fresh
        minutes = pace * (self.total - self.done) / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", a minute left"

    def sample(self, entry: Entry, known: bool = False) -> None:
        """A sample is finished."""
        is_best = self.count(entry, known)
        best = milliseconds(time_of(self.best)) if self.best else "-"
        self.say(f"[{self.done}/{self.total}] {entry['name']}: {describe(entry)}"
                 f"{', from the log' if known else ''}; best {best}"
                 f"{' (new)' if is_best and not known else ''}"
                 f"{'' if known else self.remaining()}")

    def trained(self, entry: Entry) -> None:
        """Weights have been trained."""
        before, after = (entry[k].get("ordered_pairs") for k in ("before", "after"))
        order = f", pairs in order {before:.3f} -> {after:.3f}" if before and after else ""
        self.say(f"trained on {entry['samples']} samples{order}; "
                 f"{'taken over' if entry['accepted'] else 'not better, dropped'}")

    def stop(self) -> None:
        """Nothing follows."""


class LiveDisplay(PlainDisplay):
    """A table that is redrawn, with remarks above it."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # pylint: disable=import-outside-toplevel
        from rich.live import Live  # pylint: disable=import-outside-toplevel

        self.running: Dict[str, str] = {}
        self.rows: List[Entry] = []
        self.failed = 0
        self.console = Console()
        # Without a thread of its own: the tuner starts other programs.
        self.live = Live(console=self.console, auto_refresh=False, transient=False)
        self.live.start()

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def begin_step(self, name: str, step: str) -> None:
        self.running[name] = step
        self.draw()

    def sample(self, entry: Entry, known: bool = False) -> None:
        self.count(entry, known)
        self.running.pop(entry["name"], None)
        self.failed += entry["status"] == "failed"
        self.rows = [*self.rows, entry][-LAST_ROWS:]
        self.draw()

    def trained(self, entry: Entry) -> None:
        self.running.pop(f"batch {entry['batch']}", None)
        super().trained(entry)

    def draw(self) -> None:
        """Shows the present state."""
        from rich.console import Group  # pylint: disable=import-outside-toplevel
        from rich.table import Table  # pylint: disable=import-outside-toplevel
        from rich.text import Text  # pylint: disable=import-outside-toplevel

        table = Table("sample", "kind", "predicted", "measured", "outcome")
        others = [entry for entry in self.rows if entry is not self.best]
        for entry in ([self.best] if self.best else []) + others:
            outcome = entry["stage"] if entry["status"] == "failed" else entry["status"]
            table.add_row(entry["name"], entry["kind"], milliseconds(entry["predicted_ms"]),
                          milliseconds(entry["measured_ms"]),
                          Text("best so far" if entry is self.best else outcome or ""),
                          style="bold green" if entry is self.best else None)
        best = milliseconds(time_of(self.best)) if self.best else "-"
        states: Dict[str, int] = {}
        for step in self.running.values():
            states[step] = states.get(step, 0) + 1
        now = ", ".join(f"{count} {step}" for step, count in sorted(states.items()))
        head = Text(f"{self.done} of {self.total} samples, {self.failed} failed, best {best}"
                    f"{self.remaining()}   {now}")
        self.live.update(Group(head, table), refresh=True)

    def stop(self) -> None:
        if self.live.is_started:
            self.draw()
            self.live.stop()


def make_display(plain: bool) -> PlainDisplay:
    """A live table if there is a terminal to show it on."""
    return PlainDisplay() if plain or not sys.stdout.isatty() else LiveDisplay()
