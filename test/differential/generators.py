"""The generators of apps/: which there are, and their compilation into a folder of the build."""

import os
import pathlib
import re
import subprocess

import halide

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOST = HERE / "generator_host.cpp"


class Generator:
    """One application's generator."""

    def __init__(self, source):
        self.source = source
        self.app = source.parent.name
        makefile = source.parent / "Makefile"
        text = makefile.read_text() if makefile.exists() else ""
        given = re.search(r"^GENERATOR\s*[:?]?=\s*(\S+)", text, re.M)
        self.name = given.group(1) if given else self.app

    def build(self, folder):
        """Compiles the program if need be; returns its path, or None, and what went wrong."""
        program = pathlib.Path(folder) / f"{self.app}.generator"
        support = ROOT / "apps" / "support"
        inputs = [self.source, HOST, *self.source.parent.glob("*.h"), *support.glob("*.h")]
        newest = max(file.stat().st_mtime for file in inputs)
        if program.exists() and program.stat().st_mtime > newest:
            return program, ""
        program.parent.mkdir(parents=True, exist_ok=True)
        base = pathlib.Path(halide.__file__).parent
        library = base / "lib64"
        command = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", f"-I{ROOT / 'apps'}",
                   "-isystem", str(base / "include"), str(self.source), str(HOST), "-o",
                   str(program), f"-L{library}", "-lHalide",
                   f"-Wl,-rpath,{library}", "-ldl", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, "does not compile: " + done.stderr[:300]
        return program, ""


def all_generators():
    """By name of the pipeline, app_<folder>."""
    found = [Generator(source) for source in sorted((ROOT / "apps").glob("*/*_generator.cpp"))]
    return {"app_" + generator.app: generator for generator in found}
