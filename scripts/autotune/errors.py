"""What can go wrong."""

import shutil
from pathlib import Path

# With less than that, failures may come from the disk and not from the schedules.
FREE_BYTES = 32 << 20


class TuneError(RuntimeError):
    """The run cannot go on; the text says why and what to do."""


class SampleFailure(RuntimeError):
    """One candidate cannot be used, which is a result as well."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(f"{stage}: {reason}")
        self.stage = stage
        self.reason = reason


def check_disk(folder: Path, reason: str) -> None:
    """A TuneError if something may have failed for lack of room."""
    if "No space left on device" in reason or shutil.disk_usage(folder).free < FREE_BYTES:
        raise TuneError(f"the disk behind {folder} is full: make room and go on with --resume")
