"""Runs the programs of the build, several at once, and stops them with the script."""

import asyncio
import dataclasses
import os
import pathlib
import signal


class ToolError(RuntimeError):
    """A program failed; the text holds the end of what it said."""


@dataclasses.dataclass(frozen=True)
class Tools:
    """Where the programs are."""

    build: pathlib.Path

    def path(self, name):
        """The program or library of that name; a ToolError if it has not been built."""
        path = self.build / name
        if not path.exists():
            raise ToolError(f"{path} is missing: build the target {path.stem} first")
        return str(path)


async def run(command, log):
    """Runs a command with its output in the file `log`; returns the output."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as out:
        process = await asyncio.create_subprocess_exec(
            *map(str, command), stdin=asyncio.subprocess.DEVNULL, stdout=out,
            stderr=asyncio.subprocess.STDOUT, start_new_session=True)
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            os.killpg(process.pid, signal.SIGTERM)
            await process.wait()
            raise
    text = log.read_text(errors="replace")
    if status != 0:
        raise ToolError(f"{command[0]} failed with status {status}:\n{text[-2000:]}\n"
                        f"The whole output is in {log}")
    return text


async def gather(coroutines, jobs, say):
    """Runs coroutines, at most `jobs` at a time; the first failure stops the others."""
    gate = asyncio.Semaphore(jobs)
    done = 0

    async def one(name, coroutine):
        nonlocal done
        async with gate:
            result = await coroutine
        done += 1
        say(f"[{done}/{len(coroutines)}] {name}: {result}")
        return result

    tasks = [asyncio.ensure_future(one(name, coroutine)) for name, coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
