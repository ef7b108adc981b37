"""Starts other programs, with time limits, and ends them together with this one."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shlex
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Coroutine, Mapping, Optional, Sequence

PR_SET_PDEATHSIG = 1
SECONDS_TO_END = 2.0
LONGEST_OUTPUT = 16 << 20

_libc = ctypes.CDLL(None)


@dataclass
class Result:
    """What a program did. The output holds stdout and stderr."""

    command: Sequence[str]
    status: int
    output: str
    seconds: float
    timed_out: bool

    @property
    def ok(self) -> bool:
        """It ended by itself, with success."""
        return self.status == 0 and not self.timed_out

    def reason(self, limit: float) -> str:
        """Why it failed, in one line with the last ones that it printed."""
        if self.timed_out:
            return f"no end after {limit:g} s"
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        end = " | ".join(lines[-4:])[-600:]
        if self.status < 0:
            return f"ended by {signal.Signals(-self.status).name}: {end}"
        return f"exit status {self.status}: {end}"


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends a program and all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            await asyncio.wait_for(asyncio.shield(process.wait()), SECONDS_TO_END)
            break
        except asyncio.TimeoutError:
            continue
    await process.wait()


async def run(
    command: Sequence[object],
    log: Path,
    *,
    timeout: float,
    environment: Optional[Mapping[str, str]] = None,
    stdin: Optional[Path] = None,
) -> Result:
    """Runs a program with its output in the file `log`."""
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    timed_out = False
    with open(stdin or os.devnull, "rb") as source, open(log, "wb") as out:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=source,
            stdout=out,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        try:
            await asyncio.wait_for(
                asyncio.shield(process.wait()), None if timeout == float("inf") else timeout
            )
        except asyncio.TimeoutError:
            timed_out = True
            await _end(process)
        except asyncio.CancelledError:
            await asyncio.shield(_end(process))
            raise
    seconds = time.monotonic() - begin
    with open(log, "rb") as printed:
        # What matters comes last.
        printed.seek(max(0, os.fstat(printed.fileno()).st_size - LONGEST_OUTPUT))
        output = printed.read().decode(errors="replace")
    return Result(words, process.returncode or 0, output, seconds, timed_out)


async def with_signals(coroutine: Coroutine[None, None, int]) -> int:
    """Whoever ends this program wants those that it started to end, too."""
    task = asyncio.ensure_future(coroutine)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


def quoted(command: Sequence[object]) -> str:
    """A command as one would type it."""
    return shlex.join(str(word) for word in command)
