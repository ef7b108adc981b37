"""Does what the documents say: every command in them is run here or by another test, or is one of
the few that would take hours; messages, options and files that they name exist."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from documents import blocks
from toolchain import OPENCL_ON_CPU, ROOT, run

DOCS = ROOT / "docs"
PAGES = sorted({*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "apps" / "README.md",
                ROOT / "weights" / "README.md"})
# Whose commands other tests run.
ELSEWHERE = {"docs/install.md": "test_package.py test_wheel.py",
             "docs/tutorial.md": "test_wheel.py", "docs/guide.md": "test_wheel.py",
             "docs/distributed.md": "test_autotune_cluster.py"}
HERE = ["README.md", "CONTRIBUTING.md", "apps/README.md", "weights/README.md",
        "docs/differential.md", "docs/explain.md", "docs/gpus.md", "docs/training.md"]
# What makes examples short: text of a document, what is run instead. Nothing else is changed.
SHORTER = {
    "docs/training.md": {
        "--random 100 --count 20": "--random 2 --count 4",
        "--count 600": "--count 6",
        "--epochs=200": "--epochs=2",
        "--steps=8000": "--steps=10",
        "NUM_BATCHES=4": "NUM_BATCHES=1",
        # Without a GPU, and without measuring; test_autotune_loop.py does that.
        "host-cuda-cuda_capability_70": "host-opencl",
        "--batch_size 32": "--batch_size 2 --label predicted --epochs 5",
    },
    # Hours, for all pipelines.
    "CONTRIBUTING.md": {"compare_with_reference.py ": "compare_with_reference.py --help "},
    "weights/README.md": {"train_hold_one_out ": "train_hold_one_out --help ",
                          "<folder with the sixteen files>": "weights",
                          ".venv/bin/cmake --build": ".venv/bin/cmake --version #"},
}
LANGUAGES = {"", "bash", "cmake", "cpp", "make", "python", "text"}
COMMAND = re.compile(
    r"^(\$ |\./|\.venv/|anderson2021-|cmake |make |pip |python3? |scripts/|test/)", re.MULTILINE)


def relative(page):
    """A page's name as in the tables above."""
    return str(page.relative_to(ROOT))


def test_every_block_says_what_it_is():
    """Otherwise a command could hide in a block that nobody runs."""
    wrong = [f"{relative(page)}: {block.text.splitlines()[0]}" for page in PAGES
             for block in blocks(page) if block.language not in LANGUAGES
             or block.language in ("", "text") and COMMAND.search(block.text)]
    assert not wrong


def test_every_page_with_commands_is_run_somewhere():
    having = {relative(page) for page in PAGES
              if any(block.language == "bash" for block in blocks(page))}
    assert having <= {*HERE, *ELSEWHERE}
    for page, scripts in ELSEWHERE.items():
        for script in scripts.split():
            assert Path(page).name in (Path(__file__).parent / script).read_text(), (page, script)


def test_excerpts_are_what_the_files_hold():
    labelled = [(block.label.removeprefix("excerpt of "), block.text) for page in PAGES
                for block in blocks(page) if block.label.startswith("excerpt of ")]
    assert labelled
    for file, text in labelled:
        assert text in (ROOT / file).read_text(), file


# ----- commands


@pytest.fixture(name="place")
def _place(tools, folder):
    """A folder that looks like the project's, and what the examples take for granted."""
    place = folder / "project"
    place.mkdir()
    for name in (".venv", "Makefile", "baseline.weights", "cmake", "docs", "scripts", "src",
                 "test"):
        (place / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "apps", place / "apps", ignore=shutil.ignore_patterns("build"))
    (place / "build").mkdir()
    (place / "build" / "release").symlink_to(tools.plugin.parent)
    (place / "weights").mkdir()
    for file in (ROOT / "weights").iterdir():
        (place / "weights" / file.name).symlink_to(file)
    for name in ("weights/my.weights", "v100.weights", "my.weights"):
        (place / name).symlink_to(ROOT / "weights" / "gpu.weights")
    (place / "out").mkdir()
    # `make` would take hours: what it would do is shown instead.
    stub = folder / "bin" / "make"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nexec /usr/bin/env -u MAKEFLAGS PATH="$SYSTEM_PATH" make -n "$@"\n')
    stub.chmod(0o755)
    return place


def shell(place, script):
    """Runs a script with the project's programs at hand."""
    programs = [place.parent / "bin", place / "build" / "release", Path(sys.executable).parent]
    return run(["bash", "-euo", "pipefail", "-c", script], cwd=place, environment={
        **OPENCL_ON_CPU, "SYSTEM_PATH": os.environ["PATH"],
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]])})


def my_generator(tools, place):
    """my.generator and my_generator.so with the generator my_pipeline, which has a width."""
    source = tools.work / "documents" / "my_generator.cpp"
    source.parent.mkdir(exist_ok=True)
    text = (DOCS / "examples" / "tutorial" / "soft_blur_generator.cpp").read_text()
    text = text.replace("(SoftBlur, soft_blur)", "(SoftBlur, my_pipeline)")
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    program = tools.compile_generator(source.with_name("my.generator"), [source])
    library = tools.compile(source.with_name("my_generator.so"), [source],
                            ["-O1", "-shared", "-fPIC", source, f"-L{tools.halide / 'lib64'}",
                             "-lHalide"])
    shutil.copy(program, place)
    shutil.copy(library, place)


def prepare(tools, place, page):
    """What a page takes for granted."""
    if page in ("README.md", "docs/gpus.md", "docs/training.md", "docs/explain.md"):
        my_generator(tools, place)
    if page == "docs/explain.md":
        for name, options in (("record", ""), ("other", "autoscheduler.beam_size=1")):
            shell(place, "./my.generator -g my_pipeline -o out -e schedule target=host-cuda -p "
                  "build/release/libautoschedule_anderson2021.so autoscheduler=Anderson2021 "
                  f"autoscheduler.record_path={name}.json {options}").require_success()
    if page == "apps/README.md":
        kept = place / "apps" / "harris" / "build" / "host-opencl" / "harris_auto.schedule.h"
        kept.parent.mkdir(parents=True)
        kept.write_text("// a schedule\n")


@pytest.mark.parametrize("page", HERE)
def test_commands(tools, place, page):
    prepare(tools, place, page)
    script = "".join(block.text for block in blocks(ROOT / page) if block.language == "bash")
    assert script
    for text, shorter in SHORTER.get(page, {}).items():
        assert text in script, f"{page} does not hold {text!r} any more"
        script = script.replace(text, shorter)
    shell(place, script).require_success()
    made = {
        "README.md": ["out/my_pipeline.schedule.h", "out/my_pipeline.featurization"],
        "docs/gpus.md": ["out/my_pipeline.schedule.h"],
        "docs/explain.md": ["page.html"],
        "docs/training.md": ["samples/random_1.samples", "samples/my_pipeline.samples",
                             "mine.weights", "tuned/best.my_pipeline.schedule.h"],
        "apps/README.md": ["kept.schedule.h"],
    }
    for file in made.get(page, []):
        assert (place / file).stat().st_size > 0, file


def test_code_in_the_readme(tools, place, folder):
    """The lines for C++, Python and CMake, in what has to be around them."""
    by_language = {}
    for block in blocks(ROOT / "README.md"):
        by_language.setdefault(block.language, []).append(block.text)
    program = folder / "host.cpp"
    program.write_text(
        '#include "Halide.h"\nint main() {\nHalide::Var x("x");\nHalide::Func f("f");\n'
        "f(x) = x * 2;\nf.set_estimate(x, 0, 4096);\nHalide::Pipeline pipeline(f);\n"
        'Halide::Target target("host-cuda");\n' + by_language["cpp"][0] +
        'return results.schedule_source.find("gpu_blocks") == std::string::npos;\n}\n')
    library = tools.halide / "lib64"
    run([tools.compiler, "-std=c++17", "-isystem", tools.halide / "include", program, "-o",
         folder / "host", f"-L{library}", "-lHalide", f"-Wl,-rpath,{library}"]).require_success()
    run([folder / "host"], cwd=place).require_success()

    # The other Python block needs the package: test_wheel.py.
    lines, = (text for text in by_language["python"] if "halide_anderson2021" not in text)
    script = ("import halide as hl\nx, f = hl.Var('x'), hl.Func('f')\nf[x] = x * 2\n"
              f"f.set_estimates([hl.Range(0, 4096)])\npipeline = hl.Pipeline(f)\n{lines}"
              "assert 'gpu_blocks' in results.schedule_source\n")
    run([sys.executable, "-c", script], cwd=place).require_success()

    tree = folder / "tree"
    cmake = Path(sys.executable).with_name("cmake")
    run([cmake, "--install", tools.plugin.parent, "--prefix", tree]).require_success()
    project = folder / "cmake"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.28)\nproject(test LANGUAGES CXX)\n"
        "set(CMAKE_CXX_STANDARD 17)\nfind_package(anderson2021 REQUIRED)\n"
        "add_halide_generator(my.generator SOURCES my.cpp)\n" + by_language["cmake"][0])
    ninja = Path(sys.executable).with_name("ninja")
    (project / "my.cpp").write_text(
        (ROOT / "test/package/blur_generator.cpp").read_text()
        .replace("Blur, blur", "Blur, my_pipeline"))
    run([cmake, "-S", project, "-B", project / "build", f"-Danderson2021_ROOT={tree}", "-G",
         "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]).require_success()
    plan = run([ninja, "-C", project / "build", "-n", "-v", "my_pipeline.update"])
    assert "autoscheduler.parallelism=80" in plan.require_success().output


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text()
    known = set(re.search(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)[1].split())
    named = set()
    for page in PAGES:
        text = page.read_text()
        named |= set(re.findall(r"`make (?:[A-Z_]+=\S+ )*([a-z][a-z-]*)", text))
    assert len(named) > 12
    assert named <= known
    commented = set(re.findall(r"^#   make ([a-z-]+)", makefile, re.MULTILINE))
    assert commented <= known


# ----- options, files, messages


def test_options_of_programs_that_are_named_exist(tools):
    text = (DOCS / "training.md").read_text()
    named = set(re.findall(r"(?<![\w-])--([a-z_]+)\b", text))
    build = tools.plugin.parent
    helps = [run([build / name, "--help"]).output for name in
             ("generate_samples", "retrain_cost_model", "distill_weights")]
    environment = {"PYTHONPATH": str(ROOT / "scripts")}
    helps.append(run([sys.executable, "-m", "autotune", "loop", "--help"],
                     environment=environment).output)
    helps.append(run([sys.executable, "-m", "autotune", "show", "--help"],
                     environment=environment).output)
    helps.append(run([sys.executable, ROOT / "scripts" / "train_hold_one_out", "--help"]).output)
    known = set(re.findall(r"--([a-z_]+)", "\n".join(helps)))
    assert len(named) > 20
    assert named - {"help", "install", "teachers"} <= known


def test_options_of_the_plugin_that_are_named_exist():
    known = set(re.findall(r"^ANDERSON_OPTION\([^,]+, (\w+),",
                           (ROOT / "src" / "support" / "options.def").read_text(), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"autoscheduler\.([a-z]\w*)=", page.read_text()))
        assert named <= known, relative(page)


def test_links_and_files(tools):
    check = ROOT / "scripts" / "check_docs.py"
    run([sys.executable, check, tools.plugin.parent]).require_success()


def literals(text):
    """The string literals of C++ or Python, adjacent ones joined."""
    text = re.sub(r"^\s*(//|#(?!define)).*$", "", text, flags=re.MULTILINE)
    found = []
    for group in re.finditer(r'(?:f?"(?:[^"\\\n]|\\.)*"\s*(?:(?:<<|\+)\s*(?=f?"))?)+', text):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', group[0])
        found.append("".join(parts).replace('\\"', '"').replace("\\n", "\n").replace("\\$", "$"))
    return found


def source_texts():
    """All texts that a program can print."""
    files = [*(ROOT / "src").rglob("*.cpp"), *(ROOT / "src").rglob("*.h"),
             *(ROOT / "python").rglob("*.py"), *(ROOT / "scripts").rglob("*.py")]
    texts = [literal for file in files for literal in literals(file.read_text())]
    cmake = (ROOT / "cmake" / "package" / "anderson2021Config.cmake.in").read_text()
    return [*texts, *literals(cmake.replace("\\\n", ""))]


TROUBLES = DOCS / "troubleshooting.md"
# Texts of others.
FOREIGN = ("GLIBCXX", "<file>:<line>")


def test_every_message_that_is_explained_exists():
    texts = source_texts()
    messages = re.findall(r"^\| (?:CMake: |`[^`]*`: )?`(.+?)`(?: \([^)]*\))? \| ",
                          TROUBLES.read_text(), re.MULTILINE)
    assert len(messages) > 60
    for message in messages:
        if message.startswith(FOREIGN):
            continue
        fragments = [part for part in message.split("…") if len(part.strip(" .:'\"()[]")) >= 3]
        assert fragments, message
        for fragment in fragments:
            assert any(fragment in text for text in texts), f"no source has {fragment!r}"


def test_every_message_of_the_plugin_is_explained():
    explained = TROUBLES.read_text()
    layers = ("backend", "costmodel", "frontend", "plugin", "schedule", "search", "support")
    count = 0
    for layer in layers:
        for file in sorted((ROOT / "src" / layer).rglob("*.cpp")):
            text = file.read_text()
            for thrown in re.finditer(r"throw UserError\((.*?)\);\n", text, re.DOTALL):
                words = [part.strip() for literal in literals(thrown[1])
                         for part in re.split(r"[\n:.;,\"]", literal) if len(part.strip()) >= 12]
                count += bool(words)
                assert not words or any(word in explained for word in words), \
                    f"{file.name}: docs/troubleshooting.md does not tell about {words}"
            for warned in re.finditer(r'"Warning: (.*?);\n', text, re.DOTALL):
                words = [literal.strip(" :.\n") for literal in literals('"' + warned[1])]
                words = [word for word in words if len(word) >= 12]
                assert not words or any(word in explained for word in words), (file.name, words)
    assert count > 20


def test_pictures_are_of_the_present_search(tools, folder):
    """The drawings of the tutorial are what `make tutorial-images` makes now."""
    run([sys.executable, ROOT / "scripts" / "tutorial_images.py", "--plugin", tools.plugin,
         "--only", "drawings", "--out", folder, "--work", tools.work / "tutorial-images"],
        ).require_success()
    for name in ("root.svg", "best.svg"):
        assert (folder / name).read_text() == (DOCS / "tutorial" / name).read_text(), \
            f"{name}: run `make tutorial-images`"


def test_python_examples_are_tested():
    """The example that opens as a notebook is run by test_wheel.py, as install.md says to."""
    assert json.dumps("python docs/examples/blur.py")[1:-1] in (DOCS / "install.md").read_text()
    compiled = subprocess.run([sys.executable, "-m", "py_compile", DOCS / "examples" / "blur.py"],
                              check=False, capture_output=True)
    assert compiled.returncode == 0
