"""How users and hosts learn how far a search is: a bar at a terminal, callbacks in C++ and Python."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from terminal import Terminal
from toolchain import OPENCL_ON_CPU, ROOT, run

HERE = Path(__file__).parent
HOST = HERE / "scheduling_host.py"
# A search of a second or two.
SLOW = ["threads=1", "beam_size=400"]


def command(tools, folder, *options):
    return [sys.executable, HOST, tools.plugin, "host-opencl", folder / "out", *SLOW, *options]


@pytest.mark.parametrize("columns", [100, 40])
def test_a_terminal_shows_a_bar(tools, folder, columns):
    terminal = Terminal(command(tools, folder), columns=columns)
    assert terminal.wait() == 0, terminal.text
    drawn = re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", terminal.text)
    assert drawn, terminal.text
    assert all(len(line) < columns for line in drawn)
    pattern = r"\[=*>? *\] +\d+%  pass \d+/\d+  best [\d.]+ ms  \d+ states  \d+ s, about \d+ s left"
    if columns == 100:
        assert re.fullmatch(pattern, drawn[-1].strip()), drawn
    # Wiped before anything else is written.
    assert terminal.text.endswith("\r\x1b[Kall right\r\n"), terminal.text[-200:]


def test_lines_of_the_log_wipe_the_bar(tools, folder):
    terminal = Terminal(command(tools, folder), environment={"HL_DEBUG_AUTOSCHEDULE": "1"})
    assert terminal.wait() == 0, terminal.text
    assert "states  " in terminal.text
    for line in terminal.text.split("\n"):
        at = line.rfind("\r[")  # the bar
        assert at < 0 or "\r\x1b[K" in line[at + 1:], repr(line)


@pytest.mark.parametrize("environment", [{"HL_ANDERSON_PROGRESS": "0"}, {"TERM": "dumb"}])
def test_a_bar_that_is_not_wanted(tools, folder, environment):
    terminal = Terminal(command(tools, folder), environment)
    assert terminal.wait() == 0
    assert terminal.text == "all right\r\n"


def test_a_pipe_gets_nothing(tools, folder):
    outcome = run(command(tools, folder)).require_success()
    assert outcome.output == "all right\n"


def test_cpp_callback(tools):
    program = tools.host_program(HERE / "progress_host.cpp",
                                 [f"-I{tools.plugin.parent / 'generated'}"])
    outcome = run([program, tools.plugin]).require_success()
    assert outcome.output.endswith("all right\n")


def test_python_callback(tools, folder):
    """With the package as the wheel has it, as far as that is needed."""
    package = folder / "site" / "halide_anderson2021"
    shutil.copytree(ROOT / "python" / "halide_anderson2021", package)
    library = package / "lib" / "anderson2021"
    library.mkdir(parents=True)
    shutil.copy(tools.plugin, library / "libautoschedule_anderson2021.so")
    metadata = folder / "site" / "halide_anderson2021-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: halide-anderson2021\n"
                                       "Version: 0\n")
    outcome = run([sys.executable, HERE / "progress_host.py"], timeout=280,
                  environment={**OPENCL_ON_CPU, "PYTHONPATH": str(folder / "site")})
    assert outcome.require_success().output.endswith("all right\n")
