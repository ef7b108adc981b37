"""Autoschedules pipelines with one plugin, each in a forked child of this process.

usage: worker.py PLUGIN

A process can register the name Anderson2021 only once, so every plugin needs a worker of its own.
Importing Halide and loading the plugin are paid once per worker. As every child starts from the
same image, Funcs get the same names each time, and crashes or time-outs end one child only.

Reads one task per line as JSON and answers each with one line:
  task   {"pipeline": NAME, "target": T, "options": {...}, "log_level": 0 or 1, "timeout": s,
          "memory": bytes of address space}
         with "generator": [PROGRAM, NAME] instead of a pipeline, that program is run, which
         generators.py has built
  answer {"blob": base64, "tree": text, "cost": x, "stage_costs": [...], "labels": names of the
          stages}, or {"error": text, "log": text, "timed_out": true or absent}
"""

import base64
import json
import os
import pathlib
import re
import resource
import select
import signal
import sys
import tempfile
import time

import halide as hl

import pipeline_names

LOG_TAIL = 4 << 20
RESULT = "featurization"
COST = re.compile(r"^Best cost: (\S+)", re.M)
STAGE_COST = re.compile(r"^Predicted cost of \S+ \(ms\): (\S+)", re.M)
LABEL = re.compile(r"^Schedule features for (\S+)", re.M)
FINAL = re.compile(r"BEGIN Final generated loop nest and schedule:\n(.*?)\nEND", re.S)


def tree_lines(text):
    """The lines of the schedule tree at the start of a log section."""
    lines = []
    for line in text.split("\n"):
        tokens = line.split()
        is_nest = bool(tokens) and tokens[-1].startswith("gpu_")
        is_detail = bool(tokens) and tokens[0] in ("realize:", "inlined:")
        if is_nest or is_detail:
            lines.append(line)
        elif lines:
            break
    return "\n".join(lines) + "\n"


def limit_resources(task):
    """For the calling process."""
    memory = task.get("memory")
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def in_child(plugin, task, answer_fd, log_fd, folder):
    """Does the work of a task; writes the answer into a pipe. Does not return for a generator."""
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)
    os.environ["HL_DEBUG_AUTOSCHEDULE"] = str(task.get("log_level", 1))
    limit_resources(task)
    options = {k: str(v) for k, v in task["options"].items()}
    if "generator" in task:
        program, name = task["generator"]
        command = [program, plugin, name, task["target"], str(pathlib.Path(folder) / RESULT)]
        command += [f"{k}={v}" for k, v in options.items()]
        os.execv(program, command)
    try:
        outputs = pipeline_names.make(task["pipeline"])
        result = hl.Pipeline(outputs).apply_autoscheduler(
            hl.Target(task["target"]), hl.AutoschedulerParams("Anderson2021", options))
        answer = {"blob": base64.b64encode(bytes(result.featurization)).decode()}
    except Exception as error:  # whatever a plugin throws is an answer
        answer = {"error": f"{type(error).__name__}: {error}"}
    with os.fdopen(answer_fd, "w") as pipe:
        json.dump(answer, pipe)


def drain(child, fds, deadline):
    """Reads pipes until all are closed; kills the child at the deadline. Returns (data, in time).

    Only the end of the log is kept: a search prints every schedule that it looks at.
    """
    data = {fd: bytearray() for fd in fds}
    is_open = set(fds)
    in_time = True
    while is_open:
        left = deadline - time.monotonic()
        if left <= 0 and in_time:
            os.kill(child, signal.SIGKILL)
            in_time = False
        ready, _, _ = select.select(list(is_open), [], [], max(left, 0.5) if in_time else 0.5)
        for fd in ready:
            chunk = os.read(fd, 1 << 20)
            if not chunk:
                is_open.discard(fd)
                continue
            data[fd] += chunk
            if len(data[fd]) > 2 * LOG_TAIL and fd == fds[1]:
                del data[fd][:-LOG_TAIL]
    return data, in_time


def answer_of(task, data, status, folder):
    """The answer of a child that has ended, from what it wrote."""
    raw, log = bytes(data[0]), data[1].decode(errors="replace")
    file = pathlib.Path(folder) / RESULT
    if "generator" in task and os.waitstatus_to_exitcode(status) == 0 and file.exists():
        answer = {"blob": base64.b64encode(file.read_bytes()).decode()}
    elif raw and "generator" not in task:
        answer = json.loads(raw)
    else:
        answer = {"error": f"exit status {os.waitstatus_to_exitcode(status)}: {log[-3000:]}"}
    if "error" in answer:
        answer["log"] = log[-200000:]
        return answer
    final = FINAL.search(log)
    answer["tree"] = tree_lines(final.group(1)) if final else None
    costs = COST.findall(log)
    answer["cost"] = float(costs[-1]) if costs else None
    answer["stage_costs"] = [float(c) for c in STAGE_COST.findall(log)]
    answer["labels"] = LABEL.findall(log)
    return answer


def run(plugin, task):
    """Runs a task in a child."""
    with tempfile.TemporaryDirectory() as folder:
        answer_read, answer_write = os.pipe()
        log_read, log_write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(answer_read)
                os.close(log_read)
                in_child(plugin, task, answer_write, log_write, folder)
                code = 0
            finally:
                os._exit(code)
        os.close(answer_write)
        os.close(log_write)
        fds = [answer_read, log_read]
        data, in_time = drain(child, fds, time.monotonic() + task.get("timeout", 120))
        _, status = os.waitpid(child, 0)
        for fd in fds:
            os.close(fd)
        if not in_time:
            text = f"no result after {task.get('timeout', 120)} s"
            return {"error": text, "log": "", "timed_out": True}
        return answer_of(task, [data[fd] for fd in fds], status, folder)


def main():
    plugin = sys.argv[1]
    hl.load_plugin(plugin)
    for line in sys.stdin:
        print(json.dumps(run(plugin, json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
