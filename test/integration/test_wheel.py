"""The Python package, in an environment of its own: the commands of docs/install.md, and mistakes.

The wheel is made of an installed tree, so that nothing is compiled anew; `make check-package`
builds it from the sources.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from documents import blocks, check_transcript, commands, script_of, transcript
from toolchain import OPENCL_ON_CPU, ROOT, clean_environment, package_folder, run

DOCUMENT = ROOT / "docs" / "install.md"
HEADING = "## The Python package"
BIN = Path(sys.executable).parent
VERSION = re.search(r"anderson2021 VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
# What pip would fetch: packages that halide and this one need.
BORROWED = ("halide", "numpy", "imageio", "pillow",  # halide
            "rich", "markdown-it-py", "mdurl", "pygments", "jinja2", "markupsafe")


def lend(distribution, site):
    """Makes an installed package of this environment one of another, too."""
    files = metadata.distribution(distribution).files or []
    for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
        source = Path(metadata.distribution(distribution).locate_file(top))
        if not (site / top).exists():
            (site / top).symlink_to(source)

PIPELINE = """
x = hl.Var("x")
f = hl.Func("f")
f[x] = x * 2
f.set_estimates([hl.Range(0, 4096)])
pipeline = hl.Pipeline(f)
"""


class Home:
    """A home folder with a virtual environment that the document's commands fill."""

    def __init__(self, folder, plugin):
        self.folder = folder
        self.tree = folder / "tree"
        run([BIN / "cmake", "--install", plugin.parent, "--prefix", self.tree]).require_success()

    def shell(self, script, environment=None):
        """Runs commands in the project's folder."""
        paths = [str(self.folder / "venv" / "bin"), str(BIN), os.environ["PATH"]]
        return run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=ROOT,
            environment={**OPENCL_ON_CPU, "HOME": str(self.folder), "PATH": ":".join(paths),
                         "MAKEFLAGS": "", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1",
                         "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(environment or {})},
        ).require_success().output

    def python(self, script, environment=None):
        """Runs lines of Python in the environment; what it did."""
        done = subprocess.run(
            [self.folder / "venv" / "bin" / "python", "-c", script], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300,
            env=clean_environment({**OPENCL_ON_CPU, **(environment or {})}))
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def home(tools):
    """After the first commands of the document: the package is installed."""
    folder = tools.work / "wheel home"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = Home(folder, tools.plugin)
    install = commands(DOCUMENT, HEADING)[0]
    assert install.startswith("make wheel\n") and "pip install dist/" in install
    # Elsewhere than in the project's folder, and without compiling.
    before, after = install.split("source ~/venv/bin/activate\n")
    made.shell(before.replace("make wheel", "scripts/build_wheel.sh ~/dist"),
               {"ANDERSON_TREE": str(made.tree), "ANDERSON_VENV": str(BIN.parent)})
    site = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
    for distribution in BORROWED:
        lend(distribution, site)
    made.shell("source ~/venv/bin/activate\n" + after.replace("dist/", "~/dist/"))
    return made


def test_the_documented_way(home):
    _, example, cmake_project, tools = commands(DOCUMENT, HEADING)
    shown = home.shell(example)
    assert "gpu_blocks" in shown
    assert "all 64351 values are right" in shown
    shown = home.shell(cmake_project)
    assert "317 x 203 values are right" in shown
    shown = home.shell(tools)
    assert "halide_anderson2021/share/anderson2021/weights/gpu.weights: good" in shown
    assert "gpu_blocks" in (home.folder / "tuning" / "best.blur.schedule.h").read_text()
    assert "<html" in (home.folder / "blur.html").read_text()


def test_the_tutorial(home):
    """Everything that docs/tutorial.md says to type, and what it says that comes out of it."""
    steps = transcript(ROOT / "docs" / "tutorial.md")
    script = script_of(steps)
    # The size would take PoCL a minute.
    assert script.count("--retrain never\n") == 1
    script = script.replace("--retrain never\n",
                            "--retrain never --arguments 'width=192;height=128'\n")
    check_transcript(steps, home.shell("source ~/venv/bin/activate\n" + script))
    for page in ("best.html", "compare.html"):
        assert "<html" in (home.folder / "tutorial" / page).read_text()

    # The guide goes on where the tutorial ends.
    guide = ROOT / "docs" / "guide.md"
    steps = transcript(guide)
    assert len(steps) >= 6
    check_transcript(steps, home.shell("source ~/venv/bin/activate\n" + script_of(steps)))
    python, = (block.text for block in blocks(guide) if block.language == "python")
    status, shown = home.python(
        "import halide as hl, halide_anderson2021 as a\nplugin = str(a.plugin_path())\n"
        f"{PIPELINE}{python}print(results.schedule_source, len(results.featurization))")
    assert status == 0 and "gpu_blocks" in shown, shown


@pytest.mark.parametrize("document", [DOCUMENT, ROOT / "README.md"], ids=["install", "readme"])
def test_the_documented_python(home, document):
    """The lines in the document, with a pipeline for them."""
    lines = next(block.text for block in blocks(document)
                 if "import halide_anderson2021" in block.text)
    before, after = lines.split("results = ")
    status, shown = home.python(
        f"import halide as hl\ntarget = hl.Target('host-cuda')\n{before}{PIPELINE}"
        f"results = {after}\nprint(results.schedule_source)", {"HL_DEBUG_AUTOSCHEDULE": "1"})
    assert status == 0, shown
    assert "gpu_blocks" in shown
    assert "Params.gpu:a100\n" in shown
    assert "weights/harris.weights" in shown


def test_wheel_name_and_content(home):
    wheel, = (home.folder / "dist").glob("*.whl")
    assert re.fullmatch(rf"halide_anderson2021-{VERSION}-py3-none-manylinux_2_\d+_x86_64\.whl",
                        wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        facts = archive.read(f"halide_anderson2021-{VERSION}.dist-info/METADATA").decode()
    assert "Requires-Dist: halide==21.0.0\n" in facts
    package = {name.removeprefix("halide_anderson2021/") for name in names}
    scripts = {str(path.relative_to(ROOT / "scripts")) for folder in ("autotune", "explain")
               for path in (ROOT / "scripts" / folder).rglob("*.*") if path.suffix != ".pyc"}
    weights = {f"share/anderson2021/weights/{path.name}"
               for path in [*(ROOT / "weights").glob("*.weights"), ROOT / "baseline.weights"]}
    assert scripts | weights <= package
    # libHalide is the other package's, and is found where pip puts that.
    assert not any("libHalide" in name for name in names)
    for name in ("libautoschedule_anderson2021.so", "generate_samples"):
        dynamic = run(["readelf", "-d", home.tree / "lib" / "anderson2021" / name])
        assert "$ORIGIN/../../../halide/lib64" in dynamic.require_success().output


def test_every_command_starts(home):
    found = sorted((home.folder / "venv" / "bin").glob("anderson2021-*"))
    assert len(found) == 10
    shared = home.folder / "venv" / "share"
    for command in found:
        shown = run([command, "--help"], cwd=home.folder).require_success().output
        assert shown.startswith(f"usage: {command.name} "), shown
        shown = run([command, "--version"], cwd=home.folder).require_success().output
        assert shown.endswith(f" (Anderson2021) {VERSION}\n"), shown
        if command.name not in ("anderson2021-autotune", "anderson2021-explain"):
            # Those two come from the build, which `make check-package` does.
            assert (shared / "man" / "man1" / f"{command.name}.1").is_file()
            assert (shared / "bash-completion" / "completions" / command.name).is_file()
    assert (shared / "man" / "man7" / "anderson2021.7").is_file()


def test_loading_twice_and_scheduling(home):
    status, shown = home.python("""
import halide as hl, halide_anderson2021 as a
a.load()
a.load()
x = hl.Var("x")
def schedule(**options):
    f = hl.Func("f")
    f[x] = x + 1
    f.set_estimates([hl.Range(0, 1024)])
    return hl.Pipeline(f).apply_autoscheduler(hl.Target("host-opencl"), a.params(**options))
assert "gpu_blocks" in schedule(verify_feature_cache=True, beam_size=4).schedule_source
for options in ({"beam_size": 0}, {"no_such_option": 1}):
    try:
        schedule(**options)
        raise SystemExit("no error")
    except hl.HalideError as error:
        assert next(iter(options)) in str(error)
assert a.__version__ == "VERSION"
print("all right")
""".replace("VERSION", VERSION))
    assert status == 0 and shown.endswith("all right\n"), shown


def test_weights_names_and_paths(home):
    status, shown = home.python("""
import halide_anderson2021 as a
from pathlib import Path
def path(**options):
    return a.params(**options).extra.get("weights_path")
gpu = a.weights_path("gpu")
assert path(weights="gpu") == str(gpu)
assert path(weights=gpu) == path(weights=str(gpu)) == str(gpu)
assert path(weights=gpu.parent) == str(gpu.parent)
assert path() is None
both = a.params(weights="gpu", weights_path=gpu.parent).extra
assert both["weights"] == "gpu" and both["weights_path"] == str(gpu.parent)
for wrong, word in (("haris", "harris, hist"), ("no/such", "no/such"), ("x.weights", "x.weights"),
                    (Path("gpu"), "gpu")):
    try:
        a.params(weights=wrong)
        raise SystemExit(f"no error about {wrong}")
    except ValueError as error:
        assert word in str(error), error
print("all right")
""")
    assert status == 0 and shown.endswith("all right\n"), shown
    module = f"'{home.folder}/venv/bin/python' -m halide_anderson2021"
    assert "harris\n" in home.shell(f"{module} --weights")
    done = run(["bash", "-c", f"{module} --weights haris"])
    assert done.returncode == 1 and "there are: baseline, bgu," in done.output


OTHER_VERSION = """
import halide_anderson2021 as a
a.metadata.version = lambda name: "22.0.0"
"""
NO_HALIDE = """
import sys
sys.modules["halide"] = None
import halide_anderson2021 as a
"""
HALIDES_OWN = """
import halide as hl, halide_anderson2021 as a
hl.load_plugin(hl.install_dir() + "/lib64/libautoschedule_anderson2021.so")
"""
DAMAGED = """
import tempfile, pathlib
import halide_anderson2021 as a
broken = pathlib.Path(tempfile.mkdtemp()) / "libautoschedule_anderson2021.so"
broken.write_text("no library")
a.plugin_path = lambda: broken
"""
MISSING = """
import pathlib
import halide_anderson2021 as a
a.plugin_path = lambda: pathlib.Path("/no/such/plugin.so")
"""


@pytest.mark.parametrize(
    "preparation, reason",
    [
        (OTHER_VERSION, "built for halide 21.0.0, but halide 22.0.0"),
        (NO_HALIDE, "the package halide cannot be imported"),
        (HALIDES_OWN, "another plugin named Anderson2021"),
        (DAMAGED, "cannot be loaded"),
        (MISSING, "/no/such/plugin.so is missing"),
    ],
    ids=["version", "no halide", "other plugin", "damaged", "missing"],
)
def test_load_says_what_is_wrong(home, preparation, reason):
    status, shown = home.python(preparation + """
for _ in range(2):
    try:
        a.load()
        raise SystemExit("no error")
    except a.PluginError as error:
        print("caught:", error)
""")
    assert status == 0, shown
    assert shown.count("caught:") == 2
    assert reason in shown


def build_sdist(folder):
    """Makes the source archive of the project; its path."""
    script = ("import sys; from scikit_build_core.build import build_sdist\n"
              "print(build_sdist(sys.argv[1]))")
    done = run([sys.executable, "-c", script, folder], cwd=ROOT).require_success()
    return folder / done.output.split()[-1]


def test_the_source_archive_is_complete(folder):
    """Every source that the build asks for is in it, and Halide is found through Python."""
    archive = build_sdist(folder)
    run(["tar", "xzf", archive, "--strip-components=1"], cwd=folder).require_success()
    run([BIN / "cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja",
         f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}", f"-DPython3_EXECUTABLE={sys.executable}",
         "-DANDERSON_BUILD_TESTS=OFF", "-DANDERSON_BUILD_APPS=OFF"]).require_success()
    run([BIN / "ninja", "-C", folder / "build", "-n", "package_contents"]).require_success()


def test_imports_resolve_to_the_lent_halide(home):
    """Otherwise these tests would say nothing about a fresh environment."""
    status, shown = home.python("import halide, sys; print(halide.__file__, sys.prefix)")
    assert status == 0
    assert str(home.folder / "venv") in shown
    assert package_folder("halide").is_dir()
