"""Steps from a generator's source to a checked run, for the integration tests and the demo.

A Toolchain compiles generators, runs them with or without the plugin, links filter programs and
runs those, and assembles PTX. Every step leaves its files in the work folder. Generators, runtimes
and filter objects are compiled once and reused while their sources are unchanged.
"""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from typing import Mapping, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "apps"
DEFAULT_PLUGIN = ROOT / "build" / "release" / "libautoschedule_anderson2021.so"

# OpenCL on the CPU, so that every machine does the same. PoCL 3.1 moves code across barriers inside
# conditions, although these are the same for all threads of a block, unless its optimiser is off.
# Small pictures take less time without it anyway, since compiling is most of that.
OPENCL_ON_CPU = {"HL_OCL_DEVICE_TYPE": "cpu", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}

# The plugin takes defaults from these; a test must not depend on the caller's.
_PLUGIN_VARIABLES = re.compile(r"^(HL_|PARTIAL_SCHEDULE$|ENABLE_FILTER_PRINTING$)")


class ToolError(RuntimeError):
    """A step failed; the text holds its command and its output."""


@dataclass(frozen=True)
class App:
    """What the tools need to know about one application."""

    name: str
    generator: str
    # Generator parameters of a small version, and output sizes to run it at.
    small: Sequence[str]
    # Not a multiple of any tile.
    odd_size: str
    # Smaller than any tile, odd, and twice the estimate.
    sizes: Sequence[str]
    # Smallest size that the hand-written schedule takes.
    manual_size: str
    # Generator parameters of the usual version; a shorter one where the search takes minutes.
    usual: Sequence[str] = ()
    # Options of the search where the usual ones take too long.
    options: Mapping[str, object] = field(default_factory=dict)
    # Of random schedules.
    seeds: Sequence[int] = (1, 2, 3, 4)


@dataclass
class Outcome:
    """What one program did."""

    command: Sequence[str]
    returncode: int
    output: str  # stdout and stderr, in the order in which they were written
    folder: Optional[Path] = None
    function: str = ""

    def file(self, suffix: str) -> Path:
        """An output file of a generator, e.g. file("schedule.h")."""
        assert self.folder is not None
        return self.folder / f"{self.function}.{suffix}"

    def require_success(self) -> "Outcome":
        if self.returncode != 0:
            command = " ".join(map(str, self.command))
            raise ToolError(f"exit status {self.returncode}: {command}\n{self.output}")
        return self


def package_folder(name: str) -> Path:
    """Folder of an installed Python package, without importing it."""
    spec = util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ToolError(f"the Python package {name} is not installed; see requirements.txt")
    return Path(list(spec.submodule_search_locations)[0])


def clean_environment(extra: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    """The environment without variables that steer Halide or the plugin."""
    kept = {k: v for k, v in os.environ.items() if not _PLUGIN_VARIABLES.match(k)}
    kept.update(extra or {})
    return kept


def run(
    command: Sequence[object],
    *,
    environment: Optional[Mapping[str, str]] = None,
    cwd: Optional[Path] = None,
    timeout: float = 300,
) -> Outcome:
    """Runs a program to its end. A program that takes too long is a ToolError."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=clean_environment(environment),
            cwd=cwd,
            timeout=timeout,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise ToolError(f"no end after {timeout} s: {' '.join(words)}") from late
    return Outcome(words, done.returncode, done.stdout)


def is_current(product: Path, sources: Sequence[Path]) -> bool:
    """Whether the product exists and is newer than all sources."""
    if not product.exists():
        return False
    built = product.stat().st_mtime
    return all(source.stat().st_mtime <= built for source in sources)


@dataclass
class Toolchain:
    """All steps, with one plugin and one work folder."""

    work: Path
    plugin: Path = DEFAULT_PLUGIN
    compiler: str = os.environ.get("CXX", "g++")
    halide: Path = field(default_factory=lambda: package_folder("halide"))

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        if not self.plugin.exists():
            raise ToolError(f"{self.plugin} is missing: run `make plugin` in {ROOT} first")

    # ----- compiling

    def compile(self, product: Path, sources: Sequence[Path], arguments: Sequence[object]) -> Path:
        """Calls the C++ compiler unless the product is newer than the sources."""
        if not is_current(product, sources):
            product.parent.mkdir(parents=True, exist_ok=True)
            # Renamed when complete, so that tests in other processes can share the folder.
            partial = product.with_name(f"{product.name}.{os.getpid()}.tmp")
            run(
                [self.compiler, "-std=c++17", "-Wall", "-Wextra", f"-I{APPS}"]
                + ["-isystem", self.halide / "include", *arguments, "-o", partial]
            ).require_success()
            os.replace(partial, product)
        return product

    def host_program(self, source: Path, defines: Sequence[str] = ()) -> Path:
        """Compiles a program that links libHalide itself."""
        library = self.halide / "lib64"
        return self.compile(
            self.work / "programs" / source.stem,
            [source],
            ["-O1", *defines, source, f"-L{library}", "-lHalide", f"-Wl,-rpath,{library}"]
            + ["-ldl", "-lpthread"],
        )

    def generator(self, app: App) -> Path:
        """The app's generator program."""
        source = APPS / app.name / f"{app.name}_generator.cpp"
        return self.compile_generator(
            self.work / "programs" / f"{app.name}.generator",
            [source, *(APPS / "support").glob("*.h")],
        )

    def comparable_generator(
        self, app: App, product: Path, schedule_header: Optional[Path] = None
    ) -> Path:
        """One whose statements can be compared; with a header it applies that schedule."""
        source = APPS / app.name / f"{app.name}_generator.cpp"
        names = Path(__file__).with_name("seven_digit_names.h")
        sources, flags = [source, names], ["-include", names]
        if schedule_header is not None:
            sources.append(schedule_header)
            flags.append(f'-DAPP_SCHEDULE_HEADER="{schedule_header}"')
        return self.compile_generator(product, sources, flags)

    def compile_generator(
        self, product: Path, sources: Sequence[Path], flags: Sequence[object] = ()
    ) -> Path:
        """Compiles the first of `sources` as a generator program."""
        library = self.halide / "lib64"
        return self.compile(
            product,
            sources,
            ["-O1", *flags, sources[0], library / "libHalide_GenGen.a"]
            + [f"-L{library}", "-lHalide", f"-Wl,-rpath,{library}", "-ldl", "-lpthread"],
        )

    # ----- running generators

    def emit(
        self,
        program: Path,
        generator: str,
        function: str,
        target: str,
        folder: Path,
        *,
        outputs: str = "static_library,c_header",
        options: Optional[Mapping[str, object]] = None,
        parameters: Sequence[str] = (),
        environment: Optional[Mapping[str, str]] = None,
        timeout: float = 300,
    ) -> Outcome:
        """Runs a generator. With `options` (of the autoscheduler) the plugin schedules it."""
        folder.mkdir(parents=True, exist_ok=True)
        outcome = run(
            self.emit_command(
                program,
                generator,
                function,
                target,
                folder,
                outputs=outputs,
                options=options,
                parameters=parameters,
            ),
            environment=environment,
            timeout=timeout,
        )
        outcome.folder, outcome.function = folder, function
        return outcome

    def emit_command(
        self,
        program: Path,
        generator: str,
        function: str,
        target: str,
        folder: Path,
        *,
        outputs: str,
        options: Optional[Mapping[str, object]],
        parameters: Sequence[str],
    ) -> list[object]:
        """The command line of `emit`."""
        command: list[object] = [program, "-g", generator, "-n", function, "-f", function]
        command += ["-o", folder, "-e", outputs]
        if options is not None:
            command += ["-p", self.plugin]
        command += [f"target={target}-no_runtime", *parameters]
        if options is not None:
            command.append("autoscheduler=Anderson2021")
            command += [f"autoscheduler.{name}={value}" for name, value in options.items()]
        return command

    def autoschedule(
        self,
        app: App,
        folder: Path,
        target: str,
        *,
        program: Optional[Path] = None,
        options: Optional[Mapping[str, object]] = None,
        **more: object,
    ) -> Outcome:
        """Autoschedules the app into `folder`, by default with its usual generator program."""
        return self.emit(
            program or self.generator(app),
            app.generator,
            f"{app.generator}_auto",
            target,
            folder,
            options={"parallelism": 80, **app.options, **(options or {})},
            **more,
        )

    # ----- filter programs

    def runtime(self, target: str) -> Path:
        """Stand-alone runtime library for a target."""
        product = self.work / "programs" / f"runtime-{target}.a"
        if not product.exists():
            product.parent.mkdir(parents=True, exist_ok=True)
            partial = f"{product.stem}.{os.getpid()}.tmp"
            gengen = self.halide / "bin" / "gengen"
            run(
                [gengen, "-r", partial, "-o", product.parent, "-e", "static_library"]
                + [f"target={target}"]
            ).require_success()
            os.replace(product.with_name(f"{partial}.a"), product)
        return product

    def fixed_variants(self, app: App, target: str, parameters: Sequence[str]) -> Path:
        """Builds the CPU reference and the hand-written GPU variant; returns their folder."""
        program = self.generator(app)
        key = " ".join([target, *parameters, str(program.stat().st_mtime_ns)])
        digest = hashlib.sha256(key.encode()).hexdigest()[:12]
        folder = self.work / "fixed" / f"{app.name}-{digest}"
        if not folder.exists():
            partial = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
            for variant, variant_target in (("cpu", "host"), ("manual", target)):
                self.emit(
                    program,
                    app.generator,
                    f"{app.generator}_{variant}",
                    variant_target,
                    partial,
                    parameters=parameters,
                ).require_success()
            try:
                os.replace(partial, folder)
            except OSError:  # another process was faster
                shutil.rmtree(partial)
        return folder

    def support_objects(self) -> list[Path]:
        """What all filter programs share."""
        headers = list((APPS / "support").glob("*.h"))
        return [
            self.compile(
                self.work / "programs" / f"{source.stem}.o",
                [source, *headers],
                ["-O1", "-c", source],
            )
            for source in sorted((APPS / "support").glob("*.cpp"))
        ]

    def filter_program(self, app: App, auto: Outcome, fixed: Path, target: str) -> Path:
        """Links the autoscheduled variant with the others and the app's main program."""
        source = APPS / app.name / "filter.cpp"
        main = self.compile(
            fixed / "filter.o",
            [source, *(APPS / "support").glob("*.h")],
            ["-O1", "-c", f"-I{fixed}", f"-I{auto.folder}", source],
        )
        product = auto.file("filter")
        product.unlink(missing_ok=True)
        return self.compile(
            product,
            [],
            [main, *self.support_objects(), auto.file("a")]
            + [fixed / f"{app.generator}_{variant}.a" for variant in ("manual", "cpu")]
            + [self.runtime(target), "-ldl", "-lpthread"],
        )

    def run_filter(self, program: Path, *arguments: object, timeout: float = 300) -> Outcome:
        """Runs a filter program, with OpenCL on the CPU."""
        cache = self.work / "pocl"
        cache.mkdir(exist_ok=True)
        return run(
            [program, *arguments],
            environment={**OPENCL_ON_CPU, "POCL_CACHE_DIR": str(cache)},
            timeout=timeout,
        )

    # ----- PTX

    def ptxas(self, ptx: Path, architecture: str = "sm_70") -> Outcome:
        """Assembles PTX; the output holds registers, shared memory and spills per kernel."""
        program = package_folder("nvidia.cuda_nvcc") / "bin" / "ptxas"
        # Halide's runtime limits registers in the same way, so that blocks of 1024 threads fit.
        return run(
            [program, f"-arch={architecture}", "-maxrregcount=64", "-v"]
            + [ptx, "-o", ptx.with_suffix(".cubin")]
        )
