"""Takes every pipeline of the corpus through the plugin, each in a process of its own.

usage: run_pipelines.py PLUGIN [--names REGEX] [--shard K/N] [--quick]
                        [--jobs N] [--report FILE]

Steps of a pipeline:
  cuda    scheduled for an NVIDIA GPU and compiled to PTX
  metal, vulkan, d3d12compute, webgpu  compiled for these
  launch  scheduled for OpenCL; kernels of a run at the estimated sizes are within the limits of
          GPUs (nothing is computed for that)
  run     results at small sizes equal those of Halide's unscheduled program for the CPU

With --quick most pipelines take the first step only, and every tenth all of them.

The outcome of each: right, message (refused with the text that was expected), illegal, wrong,
error, crash or hang (no step takes more than a minute). Exit status 0 if all are right.
"""

import argparse
import collections
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT_S = 60
QUICK_EVERY = 10
STACK_BYTES = 256 << 20
READY = "ANDERSON_PIPELINES_READY"
CLASS_MODULES = ("shapes", "structure", "directives", "graphs", "value_types", "reductions",
                 "legality", "externs")


def prepare_process(work: Path) -> None:
    """Starts this program again with what can only be set before a program starts."""
    if os.environ.get(READY) == "1":
        return
    work.mkdir(parents=True, exist_ok=True)
    library = work / "libOpenCL.so"
    real = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"libOpenCL\.so\.1 .*=> (\S+)", real)
    if not found:
        sys.exit("There is no libOpenCL.so.1, see apps/README.md on what to install.")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "launch_recorder.c",
                    "-Wl,--no-as-needed", found.group(1), "-ldl"], check=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HL_")}
    environment.update({
        READY: "1",
        "LD_LIBRARY_PATH": f"{work}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "HL_OCL_DEVICE_TYPE": "cpu",
        # PoCL 3.1 moves code across barriers inside conditions unless its optimiser is off.
        "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable",
        "POCL_CACHE_DIR": str(work / "pocl"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(work),
    })
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def in_child(steps, arguments, name: str, pipe: int, log: int) -> None:
    """Runs the steps of one pipeline; one line of JSON per step that begins or ends."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(pipe, "w") as out:
        def tell(**facts):
            out.write(json.dumps(facts) + "\n")
            out.flush()

        steps.run_all(name, name in arguments.short, tell)


class Child:
    """A process that takes one pipeline through the steps."""

    def __init__(self, steps, arguments, name: str) -> None:
        self.name = name
        self.steps: dict[str, dict] = {}
        self.current = None
        self.log = tempfile.TemporaryFile()
        self.pipe, write = os.pipe()
        self.buffer = b""
        self.started = self.deadline = time.monotonic()
        self.deadline += LIMIT_S
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self.pipe)
                in_child(steps, arguments, name, write, self.log.fileno())
                code = 0
            except BaseException:  # the parent shows it
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        os.close(write)

    def read(self) -> bool:
        """Whether the child has more to say."""
        chunk = os.read(self.pipe, 1 << 16)
        self.buffer += chunk
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            facts = json.loads(line)
            self.current = facts["step"]
            self.steps[self.current] = facts
            self.deadline = time.monotonic() + LIMIT_S
        return bool(chunk)

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def finish(self, hung: bool) -> None:
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        if hung or code != 0:
            step = self.current or "start"
            self.steps[step] = {"step": step, "status": "hang" if hung else "crash",
                                "text": f"exit status {code}: {text[-3000:]}"}
        elif re.search("Ignoring assertion|guaranteed to fail", text):
            self.steps["log"] = {"step": "log", "status": "illegal", "text": text[-1500:]}
        for facts in list(self.steps.values()):
            if facts.get("says", "") not in text:
                self.steps["log"] = {"step": "log", "status": "error",
                                     "text": f"nothing says {facts['says']!r}"}
        self.seconds = time.monotonic() - self.started


def run_children(steps, arguments, names, finished) -> None:
    """Calls `finished` with each child in the order in which they end."""
    names = collections.deque(names)
    running: dict[int, Child] = {}
    while names or running:
        while names and len(running) < arguments.jobs:
            child = Child(steps, arguments, names.popleft())
            running[child.pipe] = child
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for pipe in list(running):
            child = running[pipe]
            hung = time.monotonic() > child.deadline
            if hung:
                child.stop()
            if hung or (pipe in ready and not child.read()):
                del running[pipe]
                child.finish(hung)
                finished(child)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plugin", type=Path)
    parser.add_argument("--names", default="", help="regular expression")
    parser.add_argument("--shard", default="0/1", help="K/N: every Nth pipeline from the Kth on")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--text", type=int, default=300, help="characters of a text to print")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", type=Path, help="JSON")
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "build" / "reliability")
    arguments = parser.parse_args()
    prepare_process(arguments.work.resolve())

    sys.path.insert(0, str(HERE))
    import halide as hl
    import corpus
    import externs
    import steps
    for module in CLASS_MODULES:
        __import__(module)
    import partial_schedules
    partial_schedules.add_class()
    externs.load_functions()
    hl.load_plugin(str(arguments.plugin.resolve()))
    shard, shards = map(int, arguments.shard.split("/"))
    names = [name for kind in corpus.CLASSES.values() for name in kind]
    names = [name for name in names if re.search(arguments.names, name)][shard::shards]

    arguments.short = {n for k, n in enumerate(names) if arguments.quick and k % QUICK_EVERY}

    report, counts = {}, collections.Counter()

    def finished(child: Child) -> None:
        kind = next(k for k, known in corpus.CLASSES.items() if child.name in known)
        report[child.name] = {"class": kind, "steps": child.steps, "seconds": child.seconds}
        bad = []
        for step, facts in child.steps.items():
            counts[facts["status"]] += 1
            if facts["status"] not in ("right", "message"):
                text = facts["text"].strip()[-arguments.text:]
                bad.append(f"  {step}: {facts['status']}: {text}")
        print("\n".join([f"{child.name}: {'BAD' if bad else 'ok'} ({child.seconds:.1f} s)", *bad]),
              flush=True)

    run_children(steps, arguments, names, finished)
    print(f"{len(report)} pipelines: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items())))
    if arguments.report:
        arguments.report.write_text(json.dumps(report, indent=1, sort_keys=True))
    return 0 if report and set(counts) <= {"right", "message"} else 1


if __name__ == "__main__":
    sys.exit(main())
