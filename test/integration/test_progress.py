"""How users and hosts learn how far a search is: a bar at a terminal, callbacks in C++ and Python."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from documents import blocks
from terminal import Terminal
from toolchain import OPENCL_ON_CPU, ROOT, run

HERE = Path(__file__).parent
DOCUMENT = ROOT / "docs" / "progress.md"
HOST = HERE / "scheduling_host.py"
# A search of some seconds, so that it takes more than half a second anywhere.
SLOW = ["threads=1", "beam_size=2000"]


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


@pytest.fixture
def site(tools, folder):
    """The package as the wheel has it, as far as that is needed; for PYTHONPATH."""
    package = folder / "site" / "halide_anderson2021"
    shutil.copytree(ROOT / "python" / "halide_anderson2021", package)
    library = package / "lib" / "anderson2021"
    library.mkdir(parents=True)
    shutil.copy(tools.plugin, library / "libautoschedule_anderson2021.so")
    metadata = folder / "site" / "halide_anderson2021-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: halide-anderson2021\n"
                                       "Version: 0\n")
    return {**OPENCL_ON_CPU, "PYTHONPATH": f"{folder / 'site'}:{HERE}"}


def test_python_callback(site):
    outcome = run([sys.executable, HERE / "progress_host.py"], timeout=280, environment=site)
    assert outcome.require_success().output.endswith("all right\n")


def test_the_code_of_the_document(tools, folder, site):
    """docs/progress.md: in Python and C++, in what has to be around it."""
    python, = [block.text for block in blocks(DOCUMENT) if block.language == "python"]
    script = ("import halide as hl\nfrom scheduling_host import make_pipeline\n"
              "pipeline, target = make_pipeline(), hl.Target('host-opencl')\n" + python)
    shown = run([sys.executable, "-c", script], environment=site).require_success().output
    assert re.search(r"^100%  pass (\d+)/\1  best 0\.\d+ ms$", shown, re.MULTILINE), shown

    cpp, = [block.text for block in blocks(DOCUMENT) if block.language == "cpp"]
    outside, inside = cpp.split("Halide::load_plugin(path);")
    source = folder / "watch.cpp"
    source.write_text(f"""#include <cstdio>
#include "Halide.h"
{outside}
int main(int, char **argv) {{
    const char *path = argv[1];
    Halide::load_plugin(path);
    {inside}
    Halide::Var x("x"), y("y");
    Halide::Func f("f");
    f(x, y) = x + y;
    f.set_estimates({{{{0, 640}}, {{0, 480}}}});
    Halide::Pipeline(f).apply_autoscheduler(Halide::Target("host-cuda"),
                                            {{"Anderson2021", {{{{"parallelism", "80"}}}}}});
    return 0;
}}
""")
    program = tools.host_program(source, [f"-I{tools.plugin.parent / 'generated'}"])
    assert "100%, best " in run([program, tools.plugin]).require_success().output
