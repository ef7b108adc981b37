"""--help, --version, manual pages and completion of all programs; that there is one version."""

import re
import shutil
import subprocess
import sys

import pytest

from toolchain import ROOT, clean_environment, package_folder, run

VERSION = re.search(r"project\(anderson2021 VERSION (\S+)",
                    (ROOT / "CMakeLists.txt").read_text())[1]
PROGRAMS = ("check_weights", "distill_weights", "featurization_to_sample", "generate_samples",
            "make_random_weights", "retrain_cost_model", "weights_info",
            "weightsdir_to_weightsfile")
# With the folder of the build for programs, as installed.
COMMANDS = ("anderson2021-autotune", "anderson2021-check-weights", "anderson2021-distill-weights",
            "anderson2021-explain", "anderson2021-featurization-to-sample",
            "anderson2021-generate-samples", "anderson2021-make-random-weights",
            "anderson2021-retrain", "anderson2021-weights-info",
            "anderson2021-weightsdir-to-weightsfile")


@pytest.fixture(name="build")
def _build(tools):
    return tools.plugin.parent


def page(build, command):
    """The manual page of a command as text on a terminal."""
    file = build / "manuals" / "man1" / f"{command}.1"
    if not shutil.which("groff"):
        return file.read_text().replace("\\-", "-")
    done = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-ww", file], capture_output=True,
                          text=True, check=True)
    assert done.stderr == ""
    return re.sub(".\b", "", done.stdout)


def complete(build, command, *words):
    """What bash offers after these words."""
    file = build / "manuals" / "completions" / command
    function = "_" + command.replace("-", "_")
    script = (f'source "{file}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}; '
              r'printf "%s\n" "${COMPREPLY[@]}"; complete -p ' + command)
    done = run(["bash", "--norc", "-c", script, "bash", command, *words]).require_success()
    *offers, registered = done.output.splitlines()
    assert registered == f"complete -o default -F {function} {command}"
    return [offer for offer in offers if offer]


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_version(build, program):
    done = subprocess.run([build / program, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"usage: {program} ") and done.stderr == ""
    assert "\noptions:\n" in done.stdout
    done = subprocess.run([build / program, "--version"], capture_output=True, text=True,
                          check=True)
    assert done.stdout == f"{program} (Anderson2021) {VERSION}\n" and done.stderr == ""
    bare = subprocess.run([build / program], capture_output=True, text=True, check=False)
    assert bare.stdout == "" and bare.stderr.startswith(f"usage: {program} ")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([build / program, "--help"], stdout=full, check=False)
        assert done.returncode == 1


@pytest.mark.parametrize("words, message", [
    (["make_random_weights", "1"], "wrong number of arguments"),
    (["make_random_weights", "-1", "x.weights"], "has to be below 2^32"),
    (["make_random_weights", "4294967296", "x.weights"], "has to be below 2^32"),
    (["make_random_weights", "one", "x.weights"], "has to be an integer"),
    (["make_random_weights", "1", "/no/such/folder/x.weights"], "/no/such/folder"),
    (["check_weights", "--speed=1"], "there is no option --speed"),
    (["weights_info", "/no/such.weights"], "/no/such.weights"),
    (["weightsdir_to_weightsfile", "/no/such", "x.weights"], "/no/such"),
    (["weightsdir_to_weightsfile", "a", "b", "c"], "wrong number of arguments"),
    (["featurization_to_sample", "a", "1", "2", "3"], "IN.featurization SECONDS"),
])
def test_mistakes(build, folder, words, message):
    done = run([build / words[0], *words[1:]], cwd=folder)
    assert done.returncode == 1 and message in done.output
    assert not list(folder.iterdir())


def test_help_of_the_commands_that_are_scripts():
    explain = [sys.executable, ROOT / "scripts" / "anderson2021-explain"]
    assert run([*explain, "--version"]).require_success().output == \
        f"anderson2021-explain (Anderson2021) {VERSION}\n"
    assert "--compare" in run([*explain, "--help"]).require_success().output


@pytest.mark.parametrize("command", COMMANDS)
def test_pages_and_completions_name_every_option(build, command):
    text = page(build, command)
    program = "retrain_cost_model" if command == "anderson2021-retrain" else \
        command.removeprefix("anderson2021-").replace("-", "_")
    if program in PROGRAMS:
        shown = run([build / program, "--help"]).output
        options = re.findall(r"^  (--[a-z_]+=?)", shown, re.MULTILINE)
    else:
        options = {"autotune": ["--generator", "--batch_size", "--label", "--plain"],
                   "explain": ["--html", "--compare"]}[program] + ["--help", "--version"]
    assert len(options) >= 2
    offered = complete(build, command, "--")
    for option in options:
        assert option in text and option in offered, option
    # Nothing else, and nothing twice.
    assert len(offered) == len(set(offered))
    if program in PROGRAMS:
        assert sorted(offered) == sorted(options)
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS"):
        assert re.search(rf"^(\.SH )?{heading}$", text, re.MULTILINE)


def test_completion_of_values(build):
    assert complete(build, "anderson2021-retrain", "--partition_schedules", "=", "") == ["0", "1"]
    assert complete(build, "anderson2021-retrain", "--partition_schedules", "=") == ["0", "1"]
    assert complete(build, "anderson2021-retrain", "--rat") == ["--rates="]
    # Files are left to bash.
    assert complete(build, "anderson2021-retrain", "--weights_out", "=", "out") == []
    assert complete(build, "anderson2021-autotune", "--label", "p") == ["predicted"]
    assert complete(build, "anderson2021-autotune", "--lab") == ["--label"]


def test_the_page_about_the_plugin(build):
    page_text = (build / "manuals" / "man7" / "anderson2021.7").read_text()
    options = re.findall(r"^ANDERSON_OPTION\([^,]+, (\w+),",
                         (ROOT / "src" / "support" / "options.def").read_text(), re.MULTILINE)
    assert len(options) > 20
    for option in options:
        assert f"\\fB{option}=\\fR\n" in page_text
    for variable in ("HL_WEIGHTS_DIR", "HL_BEAM_SIZE", "HL_DEBUG_AUTOSCHEDULE"):
        assert f"\\fB{variable}\\fR\n" in page_text


# ----- versions


def test_versions_are_semantic_and_described():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    changes = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## (\d+\.\d+\.\d+)", changes, re.MULTILINE)[1]
    assert newest == VERSION


def test_the_header_agrees(build, folder):
    source = folder / "version.c"
    source.write_text(
        '#include "anderson2021/version.h"\n#include <stdio.h>\n'
        'int main(void) { printf("%s %d.%d.%d %s", ANDERSON2021_VERSION,'
        ' ANDERSON2021_VERSION_MAJOR, ANDERSON2021_VERSION_MINOR, ANDERSON2021_VERSION_PATCH,'
        ' ANDERSON2021_HALIDE_VERSION); return 0; }\n')
    run(["cc", "-Wall", "-Werror", f"-I{build / 'generated'}", source, "-o",
         folder / "version"]).require_success()
    halide = package_folder("halide").parent
    halide_version, = {path.name.removeprefix("halide-").removesuffix(".dist-info")
                       for path in halide.glob("halide-*.dist-info")}
    assert run([folder / "version"]).output == f"{VERSION} {VERSION} {halide_version}"


ASKING = """
import ctypes, sys
import halide as hl
hl.load_plugin(sys.argv[1])
version = ctypes.CDLL(sys.argv[1]).anderson2021_version
version.restype = ctypes.c_char_p
print("exported", version().decode())
x = hl.Var("x")
f = hl.Func("f")
f[x] = x
f.set_estimates([hl.Range(0, 1024)])
hl.Pipeline(f).apply_autoscheduler(hl.Target("host-cuda"), hl.AutoschedulerParams(
    "Anderson2021", {"record_path": sys.argv[2]}))
"""


def test_plugin_log_and_record_agree(tools, folder):
    done = subprocess.run(
        [sys.executable, "-c", ASKING, tools.plugin, folder / "run.record"], text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=clean_environment({"HL_DEBUG_AUTOSCHEDULE": "1"}))
    assert f"exported {VERSION}\n" in done.stdout
    assert f"Anderson2021 {VERSION}\n" in done.stdout
    assert f'"version": "{VERSION}"' in (folder / "run.record").read_text()


def test_the_plugin_exports_what_its_headers_declare(tools):
    headers = "".join(path.read_text() for path in (ROOT / "cmake" / "package").glob("*.h*"))
    code = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
    declared = set(re.findall(r"\b(anderson2021_\w+)\(", code))
    shown = run(["nm", "-D", "--defined-only", tools.plugin]).require_success().output
    # Of templates of the standard library there are weak copies, which count for nothing.
    ours = {name for _, kind, name in map(str.split, shown.splitlines())
            if kind not in "WVu" and "anderson" in name.lower()}
    assert "anderson2021_version" in ours and ours == declared
