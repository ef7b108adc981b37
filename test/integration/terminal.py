"""A program at a terminal of its own, for tests of what only happens there."""

import os
import pty
import select
import signal
import struct
import termios
import time
from fcntl import ioctl

from toolchain import clean_environment


class Terminal:
    """Runs a program with a pseudo-terminal as stdin, stdout and stderr."""

    def __init__(self, command, environment=None, columns=100, cwd=None):
        self.text = ""
        self.seen = 0
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            try:
                if cwd is not None:
                    os.chdir(cwd)
                words = [str(word) for word in command]
                os.execvpe(words[0], words, clean_environment({"TERM": "xterm",
                                                               **(environment or {})}))
            finally:
                os._exit(127)
        ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def _read(self, seconds):
        """False at the end of the program's output."""
        ready, _, _ = select.select([self.handle], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.handle, 65536)
        except OSError:  # what Linux says when the other side is closed
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, words, timeout=120):
        """Waits until the words have been written, after those of the last call."""
        end = time.monotonic() + timeout
        while (at := self.text.find(words, self.seen)) < 0:
            assert time.monotonic() < end, f"no {words!r} within {timeout} s in:\n{self.text}"
            assert self._read(1), f"ended without {words!r}:\n{self.text}"
        self.seen = at + len(words)

    def type(self, line):
        """Types a line."""
        os.write(self.handle, f"{line}\n".encode())

    def press(self, key):
        """Sends a byte, e.g. b"\\x03" for an interrupt."""
        os.write(self.handle, key)

    def wait(self, timeout=120):
        """The exit status."""
        end = time.monotonic() + timeout
        while self._read(0.2):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"no end within {timeout} s:\n{self.text}")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.handle)
        return os.waitstatus_to_exitcode(status)
