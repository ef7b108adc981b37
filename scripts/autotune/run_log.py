"""The log of a run: one JSON object per line, only ever appended to.

Every line carries a checksum and everything that a result depends on, so that lines can be trusted
one by one. A line that was cut off by a kill or a full disk is cut away when the log is opened for
writing; a damaged line elsewhere counts as missing. Lines that belong to another device, driver,
version or pipeline are refused, since their times cannot be compared.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import zlib
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from .errors import TuneError

FORMAT = 1
# What results must have in common to be compared, and how to call it.
IDENTITY = {
    "label": "source of the times",
    "weights": "source of the times",
    "device": "device",
    "driver": "driver",
    "halide": "Halide version",
    "features": "feature versions",
    "pipeline": "pipeline",
    "target": "target",
    "parallelism": "parallelism",
    "argument_sets": "generator arguments",
    "inputs": "inputs",
}

Entry = Dict[str, Any]


def encode(entry: Entry) -> bytes:
    """A line with its checksum."""
    text = json.dumps(entry, sort_keys=True, allow_nan=False)
    return b'{"crc": "%08x", ' % zlib.crc32(text.encode()) + text[1:].encode() + b"\n"


def decode(line: bytes) -> Entry:
    """The entry of a line; a ValueError says what is wrong with it."""
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise ValueError("no JSON") from error
    if not isinstance(entry, dict) or "crc" not in entry:
        raise ValueError("no entry of a log")
    checksum = entry.pop("crc")
    text = json.dumps(entry, sort_keys=True)
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        raise ValueError("its checksum is wrong")
    return entry


def read_log(path: Path) -> Tuple[List[Entry], List[str]]:
    """Entries in order, and what is wrong with the lines that were left out."""
    entries: List[Entry] = []
    messages: List[str] = []
    if not path.is_file():
        return entries, messages
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise TuneError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entries.append(decode(line))
        except ValueError as error:
            what = "is cut off" if number == len(lines) else f"is damaged ({error})"
            messages.append(f"{path}:{number}: {what} and is left out")
    check_entries(path, entries)
    return entries, messages


def check_entries(path: Path, entries: List[Entry]) -> None:
    """A TuneError unless all entries can be used together."""
    first: Optional[Entry] = None
    for entry in entries:
        if entry.get("format") != FORMAT:
            raise TuneError(
                f"{path} holds lines of format {entry.get('format')}, but this program knows "
                f"format {FORMAT}"
            )
        if entry.get("event") != "sample":
            continue
        identity = entry.get("identity")
        if not isinstance(identity, dict):
            raise TuneError(f"{path} holds samples that do not say where they come from")
        first = first or identity
        check_identity(path, first, identity, "other lines")


def check_identity(path: Path, known: Entry, other: Entry, who: str) -> None:
    """A TuneError that names the first difference."""
    for key, meaning in IDENTITY.items():
        if known.get(key) != other.get(key):
            raise TuneError(
                f"{path}: {meaning} of its samples is {known.get(key)!r}, but {who} have "
                f"{other.get(key)!r}: results like these must not be mixed, use another folder"
            )


class RunLog:
    """The log of a run that is going on. Locked, so that no two runs share a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.messages: List[str] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise TuneError(f"cannot write {path}: {error.strerror}") from error
        try:
            self._lock()
            self.entries, self.messages = read_log(path)
            self._cut_tail()
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return  # a file system without locks
            raise TuneError(f"another run is writing {self.path}: wait for it to end") from error

    def _cut_tail(self) -> None:
        """Removes a last line without end."""
        if not self.path.is_file():
            return
        content = self.path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.ftruncate(self._file, content.rfind(b"\n") + 1)

    def append(self, entry: Entry) -> None:
        """Adds an entry for good, or leaves the log as it was."""
        entry = {"format": FORMAT, **entry}
        line = encode(entry)
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError as error:
            if error.errno != errno.EINVAL:  # not a file that can be synchronised
                self._take_back(size)
                raise TuneError(
                    f"cannot write {self.path}: {error.strerror}. What is in it is whole: make "
                    "room and go on with --resume"
                ) from error
        self.entries.append(entry)

    def _take_back(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError:
            pass  # an incomplete line is left out when the log is read

    def close(self) -> None:
        """Gives up the lock."""
        os.close(self._file)
