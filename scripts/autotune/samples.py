"""Features of schedules: records, hashes and the sample files that the trainer reads."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path

import numpy

SCHEDULE_FEATURES = 73
RECORD = 360
# Of the algorithm: types in use, then 40 kinds of features for each of 7 types.
TYPES, KINDS = 7, 40

_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1


def _hash(bits: numpy.ndarray) -> int:
    state = 0
    for value in bits.reshape(-1).tolist():
        added = (value + 0x9E3779B9) & _MASK32
        state ^= (added + ((state << 6) & _MASK64) + (state >> 2)) & _MASK64
    return state


def records(featurization: bytes) -> numpy.ndarray:
    """One row per stage; a ValueError if these are no features."""
    if not featurization or len(featurization) % (4 * RECORD) != 0:
        raise ValueError(f"a featurization of {len(featurization)} bytes is not whole")
    rows = numpy.frombuffer(featurization, dtype="<f4").reshape(-1, RECORD)
    if not numpy.isfinite(rows).all():
        raise ValueError("a featurization holds values that are no numbers")
    return rows


def schedule_hash(featurization: bytes) -> str:
    """Hash of the features of the schedule, 16 hexadecimal digits."""
    rows = records(featurization)[:, :SCHEDULE_FEATURES]
    return f"{_hash(numpy.ascontiguousarray(rows).view('<u4')):016x}"


def pipeline_hash(featurization: bytes) -> str:
    """Hash of the features of the algorithm, 16 hexadecimal digits."""
    rows = records(featurization)[:, SCHEDULE_FEATURES + TYPES :]
    by_type = rows.reshape(-1, KINDS, TYPES).transpose(0, 2, 1)
    return f"{_hash(numpy.ascontiguousarray(by_type).view('<u4')):016x}"


def sample_bytes(
    featurization: bytes, milliseconds: float, pipeline_id: int, schedule_id: int
) -> bytes:
    """Content of a .sample file."""
    return featurization + struct.pack("<fii", milliseconds, pipeline_id, schedule_id)


def packed(content: bytes) -> str:
    """Bytes as text for the log."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def unpacked(text: str) -> bytes:
    """The bytes of such a text."""
    return zlib.decompress(base64.b64decode(text))


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file that is either whole or as before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
