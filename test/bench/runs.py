"""Runs one plugin on one pipeline in a process of its own and says what that took."""

import json
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import halide

import synthetic

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HALIDE = Path(halide.__file__).parent
REFERENCE = HALIDE / "lib64" / "libautoschedule_anderson2021.so"
TARGET = "host-cuda-cuda_capability_70"
# So that both plugins do the same work: search a schedule for the pipeline as it is. That the
# compiler lowers it afterwards, once more than it has to, is no part of the search.
SEARCH_ONLY = {"split_reductions": 0, "verify_lowering": 0}


@dataclass
class Case:
    """A pipeline and the weights to schedule it with."""

    name: str
    kind: str  # "app", "pipeline" or a family of synthetic.py
    weights: Path
    before_plugin: list  # the command up to the name of the plugin
    after_plugin: list  # what follows the target


@dataclass
class Run:
    """What one process did; `error` is None if it made a schedule."""

    error: str = None
    wall_s: float = None
    cpu_s: float = None
    peak_mb: float = None
    # Only if the log was on.
    cost_ms: float = None
    states: int = None
    tree: str = field(default=None, repr=False)

    def figures(self):
        """As a dictionary for JSON, without the tree and without what is not known."""
        names = ("error", "wall_s", "cpu_s", "peak_mb", "cost_ms", "states")
        return {n: getattr(self, n) for n in names if getattr(self, n) is not None}


@dataclass
class Limits:
    """Of one process."""

    seconds: float = 900
    address_space_gb: float = 10

    def apply(self):
        size = int(self.address_space_gb * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


class Builder:
    """Compiles the programs that the runs need, into a folder; once, while sources are unchanged."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def log_tail(self):
        sources = [HERE / "log_tail.cpp"]
        return self._compile("liblog_tail.so", sources, [], ["-shared", "-fPIC"])

    def generator(self, app):
        """The program that autoschedules the generator of an application."""
        sources = [HERE / "autoschedule_generator.cpp", HERE / "log_tail.cpp",
                   ROOT / "apps" / app / f"{app}_generator.cpp"]
        libraries = ROOT / "apps", HALIDE / "include", HALIDE / "lib64"
        return self._compile(app, sources, [
            f"-I{libraries[0]}", "-isystem", str(libraries[1]), f"-L{libraries[2]}", "-lHalide",
            f"-Wl,-rpath,{libraries[2]}", "-ldl", "-lpthread"], [])

    def _compile(self, name, sources, libraries, flags):
        program = self.folder / name
        newest = max(source.stat().st_mtime for source in sources)
        if not program.exists() or program.stat().st_mtime < newest:
            subprocess.run(["g++", "-std=c++17", "-O1", *flags, *map(str, sources), "-o",
                            str(program), *libraries], check=True)
        return program


def app_case(app, builder, weights):
    """The application of that name at its estimated size."""
    source = (ROOT / "apps" / app / f"{app}_generator.cpp").read_text()
    generator = re.search(r"HALIDE_REGISTER_GENERATOR\(\s*\w+\s*,\s*(\w+)", source).group(1)
    return Case(app, "app", weights, [str(builder.generator(app)), generator], [])


def pipeline_case(name, builder, weights):
    """A pipeline of test/differential or a synthetic one."""
    family = name.split("_")[0]
    kind = family if family in synthetic.FAMILIES and name[-1].isdigit() else "pipeline"
    program = [sys.executable, str(HERE / "autoschedule_pipeline.py"), name]
    return Case(name, kind, weights, program, [str(builder.log_tail())])


def run(case, plugin, options, limits, log=False):
    """Schedules the case once. With `log` also finds out tree, cost and states, which takes longer."""
    if plugin != REFERENCE:
        options = SEARCH_ONLY | options
    command = [*case.before_plugin, str(plugin), TARGET, *case.after_plugin,
               f"autoscheduler.weights_path={case.weights}"]
    command += [f"autoscheduler.{name}={value}" for name, value in options.items()]
    environment = {"HL_DEBUG_AUTOSCHEDULE": "1" if log else "0", "PATH": "/usr/bin:/bin"}
    with tempfile.TemporaryFile() as stderr:
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=stderr,
                                  timeout=limits.seconds, preexec_fn=limits.apply)
        except subprocess.TimeoutExpired:
            return Run(error=f"no result after {limits.seconds:g} s")
        stderr.seek(0)
        text = stderr.read().decode(errors="replace")
    if done.returncode != 0:
        lines = [line for line in text.splitlines() if line.strip()]
        reason = lines[-1][:200] if lines else "nothing printed"
        return Run(error=f"exit status {done.returncode}: {reason}")
    result = Run(**json.loads(done.stdout))
    if log:
        costs = re.findall(r"^Best cost: (\S+)", text, re.M)
        states = re.findall(r"^Number of states added: (\d+)", text, re.M)
        result.cost_ms = float(costs[-1]) if costs else None
        result.states = int(states[-1]) if states else None
        result.tree = tree_of(text)
    return result


def tree_of(log):
    """The lines of the chosen schedule's tree in a log, or None."""
    _, marker, section = log.rpartition("BEGIN Final generated loop nest and schedule:\n")
    lines = []
    for line in section.split("\n") if marker else []:
        tokens = line.split()
        if tokens and (tokens[-1].startswith("gpu_") or tokens[0] in ("realize:", "inlined:")):
            lines.append(line)
        elif lines:
            break
    return "\n".join(lines) + "\n" if lines else None


def cost_of(case, plugin, tree, options, limits):
    """Predicted ms of a schedule tree, computed by `plugin` with its own features."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(tree)
        file.flush()
        forced = {"parallelism": options["parallelism"], "beam_size": 1,
                  "partial_schedule_path": file.name}
        return run(case, plugin, forced, limits, log=True)
