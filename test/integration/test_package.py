"""The installed tree: CMake's find_package, pkg-config, and the commands of docs/install.md."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from documents import blocks, commands
from toolchain import OPENCL_ON_CPU, ROOT, run

PACKAGE = ROOT / "test" / "package"
DOCUMENT = ROOT / "docs" / "install.md"
TOOLS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def tree(tools):
    """An installed tree; nothing may change in it."""
    prefix = tools.work / "package tree"
    shutil.rmtree(prefix, ignore_errors=True)
    run([TOOLS / "cmake", "--install", tools.plugin.parent, "--prefix", prefix]).require_success()
    return prefix


def configure(folder, text, *arguments, languages="NONE"):
    """Configures a project of these lines."""
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.28)\nproject(test LANGUAGES {languages})\n{text}\n"
    )
    return run([TOOLS / "cmake", "-S", folder, "-B", folder / "build", *arguments])


def shell(script, home, **environment):
    """Runs commands of a document in the project's folder, with a home folder for the test."""
    return run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        environment={
            **OPENCL_ON_CPU,
            "HOME": str(home),
            "PATH": f"{TOOLS}:{os.environ['PATH']}",
            # As on a terminal, not as inside of another make.
            "MAKEFLAGS": "",
            **environment,
        },
    )


def test_the_documented_way(tools, folder):
    """Installs, builds with CMake and with make, and runs both."""
    install, completion, cmake_project, make_project = commands(
        DOCUMENT, "## A tree for CMake and make")
    # Building is what has been done before the tests.
    assert install.startswith("make build\n")
    install = install.removeprefix("make build\n")
    assert "build/release " in install
    install = install.replace("build/release ", f"'{tools.plugin.parent}' ")
    shell(install, folder).require_success()
    shown = shell(f"{completion}complete -p anderson2021-retrain\n", folder).require_success()
    assert "_anderson2021_retrain anderson2021-retrain" in shown.output

    done = shell(cmake_project, folder).require_success()
    assert "317 x 203 values are right" in done.output
    assert "gpu_blocks" in done.output
    tree = folder / "anderson2021"
    assert f"weights_path={tree}/share/anderson2021/weights/gpu.weights" in done.output

    done = shell(make_project, folder).require_success()
    assert "317 x 203 values are right" in done.output
    assert "gpu_blocks" in (folder / "blur_by_make" / "blur.schedule.h").read_text()


def test_the_document_shows_the_files_that_are_tested():
    copies = [block for block in blocks(DOCUMENT) if block.label]
    assert len(copies) >= 2
    for block in copies:
        assert (ROOT / block.label).read_text() == block.text, block.label


def test_a_second_plugin_build_is_noticed(tools, tree, folder):
    """The schedule depends on the plugin: a newer one makes it anew."""
    project = folder / "project"
    shutil.copytree(PACKAGE / "cmake", project)
    for source in PACKAGE.glob("*.cpp"):
        shutil.copy(source, project)
    build = project / "build"
    run([TOOLS / "cmake", "-S", project, "-B", build, f"-Danderson2021_ROOT={tree}",
         "-DBLUR_TARGET=host-opencl", "-G", "Ninja"]).require_success()
    steps = [TOOLS / "ninja", "-C", build, "-n", "blur.update"]
    assert "Generating blur.h" in run(steps).require_success().output
    run([TOOLS / "ninja", "-C", build, "blur.update"]).require_success()
    assert "no work to do" in run(steps).require_success().output
    os.utime(tree / "lib" / "anderson2021" / "libautoschedule_anderson2021.so")
    assert "Generating blur.h" in run(steps).require_success().output


def test_tree_next_to_the_python_package(tools, tree, folder):
    """Moved next to the Python package of Halide, and with nothing to find where it was built."""
    shutil.copytree(tree, folder / "halide_anderson2021", symlinks=True)
    (folder / "halide").symlink_to(tools.halide)
    config = folder / "halide_anderson2021" / "lib/cmake/anderson2021/anderson2021Config.cmake"
    assert str(tools.halide) in config.read_text()
    config.write_text(config.read_text().replace(str(tools.halide), "/no/such/place"))
    found = f"-Danderson2021_ROOT={folder / 'halide_anderson2021'}"

    text = """
find_package(anderson2021 0.1 REQUIRED)
get_target_property(type anderson2021::Anderson2021 TYPE)
get_target_property(halide Halide::Halide LOCATION)
get_target_property(plugin anderson2021::Anderson2021 LOCATION)
get_target_property(trainer anderson2021::retrain_cost_model LOCATION)
anderson2021_weights(weights harris)
foreach(path ${halide} ${plugin} ${trainer} ${weights} ${anderson2021_WEIGHTS_DIR})
    if(NOT EXISTS "${path}")
        message(FATAL_ERROR "${path} is missing")
    endif()
endforeach()
message("a ${type} for ${halide}")"""
    done = configure(folder / "project", text, found, languages="CXX").require_success()
    assert f"a MODULE_LIBRARY for {folder}/halide/lib64/libHalide.so" in done.output

    # Without Halide it says what to do, and is not found if it may be missing.
    (folder / "halide").unlink()
    missing = configure(folder / "missing", "find_package(anderson2021 REQUIRED)", found)
    assert missing.returncode != 0
    assert "set Halide_DIR" in " ".join(missing.output.split())
    configure(
        folder / "optional",
        "find_package(anderson2021)\nif(anderson2021_FOUND)\nmessage(FATAL_ERROR)\nendif()",
        found,
    ).require_success()


@pytest.mark.parametrize(
    "text, message",
    [
        ("find_package(anderson2021 9.0 REQUIRED)", 'compatible with requested version "9.0"'),
        ("add_library(Halide::Halide STATIC IMPORTED)\nfind_package(anderson2021 REQUIRED)",
         "a plugin needs the shared library of Halide"),
        ("add_library(Halide::Halide SHARED IMPORTED)\nset(Halide_VERSION 22.0.0)\n"
         "find_package(anderson2021 REQUIRED)", "built for Halide 21.0.0, but Halide 22.0.0"),
        ("add_library(Halide::Halide SHARED IMPORTED)\nfind_package(anderson2021 REQUIRED)\n"
         "anderson2021_weights(weights haris)", "no weights haris; there are: baseline, bgu,"),
    ],
    ids=["version", "static", "halide", "weights"],
)
def test_cmake_mistakes(tree, folder, text, message):
    done = configure(folder / "project", text, f"-Danderson2021_ROOT={tree}")
    assert done.returncode != 0
    assert message in " ".join(done.output.split())


def test_pkg_config_and_programs(tools, tree, folder):
    where = {"PKG_CONFIG_PATH": str(tree / "lib" / "pkgconfig")}

    def variable(name):
        return Path(run(
            ["pkg-config", f"--variable={name}", "anderson2021"], environment=where,
        ).require_success().output.strip().replace("\\ ", " "))

    plugin, weights = variable("plugin"), variable("weightsdir")
    assert plugin.read_bytes()[:4] == b"\x7fELF"
    assert (variable("toolsdir") / "retrain_cost_model").is_file()
    shipped = {path.name for path in (ROOT / "weights").glob("*.weights")} | {"baseline.weights"}
    assert {path.name for path in weights.iterdir()} == shipped

    programs = {path.name for path in (tree / "bin").iterdir()}
    assert {"anderson2021-retrain", "anderson2021-generate-samples"} <= programs
    for program in programs:
        assert "usage: " in run([tree / "bin" / program]).output
        assert (tree / "share" / "man" / "man1" / f"{program}.1").is_file()
        assert (tree / "share" / "bash-completion" / "completions" / program).is_file()
    # Pages for commands that are not there would lead astray.
    assert {path.stem for path in (tree / "share" / "man" / "man1").iterdir()} == programs
    version = run(["pkg-config", "--modversion", "anderson2021"], environment=where)
    flags = run(["pkg-config", "--cflags", "anderson2021"], environment=where)
    source = folder / "version.c"
    source.write_text('#include <anderson2021/version.h>\n#include <stdio.h>\n'
                      'int main(void) { return puts(ANDERSON2021_VERSION) < 0; }\n')
    run(["cc", *shlex.split(flags.require_success().output), source, "-o",
         folder / "version"]).require_success()
    assert run([folder / "version"]).output == version.require_success().output
    made = folder / "random.weights"
    run([tree / "bin" / "anderson2021-make-random-weights", "3", made]).require_success()
    run([tree / "bin" / "anderson2021-check-weights", made]).require_success()
