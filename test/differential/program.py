"""Runs tasks in worker processes, one per plugin, and keeps them alive."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import halide

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = pathlib.Path(halide.__file__).parent / "lib64" / "libautoschedule_anderson2021.so"
TARGET = "host-cuda-cuda_capability_70"


class Result:
    """What a plugin made of a pipeline, or why nothing came out of it."""

    def __init__(self, answer):
        self.error = answer.get("error")
        self.log = answer.get("log", "")
        self.timed_out = answer.get("timed_out", False)
        if self.error is None:
            self.blob = base64.b64decode(answer["blob"])
            self.tree = answer["tree"]
            self.cost = answer["cost"]
            self.stage_costs = answer["stage_costs"]
            self.labels = answer["labels"]


class Worker:
    """A process that has one plugin loaded. Not for several threads at once."""

    def __init__(self, plugin, timeout, memory, environment=None):
        self.plugin, self.timeout, self.memory = str(plugin), timeout, memory
        self.environment = environment or {}
        self.process = None

    def start(self):
        inherited = {k: v for k, v in os.environ.items() if k != "HL_WEIGHTS_DIR"}
        environment = dict(inherited, HL_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                           **self.environment)
        self.process = subprocess.Popen([sys.executable, str(HERE / "worker.py"), self.plugin],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment, start_new_session=True)

    def run(self, pipeline, options, log_level=1):
        """The Result for a pipeline: a name, or a pair (program, generator)."""
        task = {"target": TARGET, "options": {k: str(v) for k, v in options.items()},
                "timeout": self.timeout, "memory": self.memory, "log_level": log_level}
        if isinstance(pipeline, str):
            task["pipeline"] = pipeline
        else:
            task["generator"] = [str(part) for part in pipeline]
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            return Result({"error": "the worker died"})
        return Result(json.loads(line))

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def in_parallel(slots, work, items, seconds=float("inf")):
    """Calls work(slot, item) for all items, in one thread per slot.

    Starts nothing more after the given time or an interrupt; returns whether all items were done.
    """
    pending, lock, faults = iter(items), threading.Lock(), []
    end = time.monotonic() + seconds
    is_complete = True

    def loop(slot):
        nonlocal is_complete
        while not faults:
            with lock:
                item = next(pending, None)
            if item is None:
                return
            if time.monotonic() > end:
                is_complete = False
                return
            try:
                work(slot, item)
            except Exception as fault:  # reported by the caller's thread
                faults.append(fault)

    threads = [threading.Thread(target=loop, args=(slot,)) for slot in slots]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        end = 0
        for thread in threads:
            thread.join()
    if faults:
        raise faults[0]
    return is_complete
