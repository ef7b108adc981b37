"""What a machine of a cluster does for the tuner. Sent there as it is: nothing but the standard
library is imported here, and the rest of the package comes along as files.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_LAST_CHARACTERS = 2000


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _write(folder: Path, files: dict) -> None:
    """Files by their paths in the folder; those in bin/ are programs."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if name.startswith("bin/"):
            path.chmod(0o755)


def unpack(root: Path, files: dict) -> Path:
    """A folder with the tools, made once per machine and version of them."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])} ".encode())
        digest.update(files[name])
    folder = root / digest.hexdigest()[:16]
    if not folder.is_dir():
        # Renamed when it is whole, since another task may be making it, too.
        partial = Path(tempfile.mkdtemp(dir=root))
        _write(partial, files)
        try:
            partial.rename(folder)
        except OSError:
            shutil.rmtree(partial)
    return folder


def run_job(tools: dict, files: dict, wanted: list) -> dict:
    """Carries out the job that `files` describes (job.json and what it refers to).

    The result: `files` that it left, those of `wanted` and result.json. Without result.json `error`
    says why: that is a fault of the machine or of the tuner, not of a schedule.
    """
    root = Path(tempfile.gettempdir()) / f"anderson2021-cluster-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="job", dir=root))
    try:
        unpacked = unpack(root, tools)
        _write(folder, files)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "autotune.job", str(folder), str(unpacked)],
            cwd=unpacked / "scripts", env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=_die_with_parent,
            check=False)
        left = {name: (folder / name).read_bytes() for name in ["result.json", *wanted]
                if (folder / name).is_file()}
        error = ""
        if "result.json" not in left:
            output = done.stdout.decode(errors="replace")[-_LAST_CHARACTERS:]
            error = f"exit status {done.returncode} on {os.uname().nodename}: {output}"
        return {"files": left, "error": error}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
