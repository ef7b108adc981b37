"""The folder of schedules that were found before (option cache_dir), run by run."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from test_replay import normalized
from toolchain import ROOT, clean_environment, run

HOST = Path(__file__).with_name("scheduling_host.py")
REDUCTIONS = HOST.with_name("reduction_pipelines.py")
QUICK = {"beam_size": 4, "num_passes": 1}
HIT = "Schedule taken from"
SEARCHED = "Pass 1 result"


class Runs:
    """Runs of one host program with one cache."""

    def __init__(self, tools, folder):
        self.tools, self.folder, self.count = tools, folder, 0
        self.cache = folder / "cache"

    def command(self, name, target, options):
        """Of a run whose files are called `name`."""
        words = [f"{key}={value}" for key, value in
                 {"cache_dir": self.cache, **QUICK, **options}.items()]
        return [sys.executable, HOST, self.tools.plugin, target, self.folder / name, *words]

    def __call__(self, target="host-opencl", environment=None, **options):
        """One run: output, schedule, lowered code with temporaries numbered anew."""
        self.count += 1
        name = f"run{self.count}"
        outcome = run(self.command(name, target, options),
                      environment={"HL_DEBUG_AUTOSCHEDULE": "1", **(environment or {})})
        outcome.require_success()
        files = [(self.folder / f"{name}.{suffix}").read_text() for suffix in ("schedule.h", "stmt")]
        # The last argument is the length of the kernels' text, numbers of temporaries included.
        files[1] = re.sub(r"(initialize_kernels.*), \d+\)", r"\1)", normalized(files[1]))
        assert (HIT in outcome.output) != (SEARCHED in outcome.output), outcome.output
        return outcome.output, *files

    def hits(self, *arguments, **options):
        """Whether a run took its schedule from the cache."""
        return HIT in self(*arguments, **options)[0]

    def entries(self):
        """Files of the cache."""
        return sorted(self.cache.iterdir()) if self.cache.exists() else []


@pytest.fixture
def runs(tools, folder):
    return Runs(tools, folder)


def test_the_second_run_does_not_search_and_gives_the_same(runs):
    first = runs()
    second = runs()
    assert SEARCHED in first[0] and HIT in second[0]
    assert str(runs.entries()[0]) in second[0]
    assert second[1:] == first[1:]
    assert "gpu_blocks" in first[1] and "opencl_gpu_source_kernels" in first[2]
    # The features and costs in the log are those of the search, too.
    costs = [[line for line in output.splitlines() if line.startswith("Predicted cost of")]
             for output in (first[0], second[0])]
    assert costs[0] and costs[0] == costs[1]


def test_a_hit_makes_no_search_of_any_kind(tools, folder):
    """Not even those on trial that tell whether reductions are split."""
    def log(*options):
        return run([sys.executable, REDUCTIONS, tools.plugin, "histogram", *options],
                   environment={"HL_DEBUG_AUTOSCHEDULE": "1"}).require_success().output

    cache = folder / "cache"
    first, second = log(f"cache_dir={cache}"), log(f"cache_dir={cache}")
    assert first.count(SEARCHED) >= 4 and "Long reductions as they are" in first
    assert HIT in second and not re.search(r"Search space|Pass \d|Long red|parts:", second), second
    result = [text.split("BEGIN Final")[1].split("END Final")[0] for text in (first, second)]
    assert result[0] == result[1] and "rfactor" in result[0]
    # A file that is whole, but not of this pipeline.
    entry, = cache.iterdir()
    log(f"cache_dir={cache}", "split_reductions=0")
    other, = set(cache.iterdir()) - {entry}
    assert "# split" in entry.read_text() and "# split" not in other.read_text()
    other.write_bytes(entry.read_bytes())
    again = log(f"cache_dir={cache}", "split_reductions=0")
    assert "Warning: searching anew" in again and "is not split" in again and SEARCHED in again
    # What versions before this one wrote, in its place.
    entry.write_text(re.sub("checksum .*", f"checksum {'0' * 32}", entry.read_text()))
    again = log(f"cache_dir={cache}")
    assert "is damaged or of another version" in again and "Long reductions as they are" in again


def test_whatever_matters_is_part_of_the_key(runs, tools, folder):
    assert not runs.hits()
    weights = folder / "copy.weights"
    shutil.copy(ROOT / "weights" / "gpu.weights", weights)
    partial = folder / "partial.txt"
    partial.write_text("inlined: squares 3\n")
    variants = [
        {"beam_size": 5}, {"parallelism": 40}, {"gpu": "a100"}, {"search_space_options": "0111"},
        {"weights_path": weights}, {"partial_schedule_path": partial},
        {"target": "host-cuda-cuda_capability_70"}, {"target": "host-opencl-large_buffers"},
    ]
    for variant in variants:
        assert not runs.hits(**variant), variant
    assert len(runs.entries()) == len(variants) + 1
    # The same files under other names are the same; changed ones are not.
    shutil.copy(weights, folder / "other.weights")
    assert runs.hits(weights_path=folder / "other.weights")
    partial.write_text("inlined: rows 3\n")
    assert not runs.hits(partial_schedule_path=partial)
    # What has no say.
    assert runs.hits(threads=1, cache_limit_mb=7, progress=0)
    # A run that is about more than its schedule searches.
    assert not runs.hits(record_path=folder / "record.json")
    assert (folder / "record.json").exists()


def test_damaged_entries_are_replaced(runs):
    good = runs()
    entry, = runs.entries()
    whole = entry.read_bytes()
    half = whole[: len(whole) // 2]
    lines = whole.splitlines(keepends=True)
    other_version = whole.replace(b"# Anderson2021 ", b"# Anderson2021 9", 1)
    for damage in (b"", half, b"".join(lines[:-1]), b"\0" * 100, other_version,
                   whole.replace(b"gpu_block", b"gpu_block", 1).replace(b"c", b"d", 1)):
        assert damage != whole
        entry.write_bytes(damage)
        output, *files = runs()
        assert SEARCHED in output and files == list(good[1:])
        assert "Warning: searching anew" in output, output
        assert entry.read_bytes() == whole
    entry.unlink()
    entry.mkdir()  # nothing can replace it
    output, *files = runs()
    assert SEARCHED in output and files == list(good[1:])


def test_a_folder_that_cannot_be_written_is_a_warning(runs, folder):
    (folder / "file").write_text("")
    for place in (folder / "file", folder / "file" / "cache", Path("/proc/no/such")):
        output, *_ = runs(cache_dir=place)
        assert SEARCHED in output
        assert "Warning: option autoscheduler.cache_dir" in output and str(place) in output
    # Also without a log.
    output = run(runs.command("quiet", "host-opencl", {"cache_dir": folder / "file"}))
    assert "Warning: option autoscheduler.cache_dir" in output.require_success().output


def test_the_environment_gives_a_default(runs, folder):
    variable = {"HL_ANDERSON_CACHE_DIR": str(folder / "elsewhere")}
    command = [word for word in runs.command("run", "host-opencl", {})
               if not str(word).startswith("cache_dir=")]
    run(command, environment=variable).require_success()
    assert len(list((folder / "elsewhere").iterdir())) == 1


def test_eight_builds_at_once(runs, folder):
    environment = clean_environment({"HL_DEBUG_AUTOSCHEDULE": "1", "OMP_NUM_THREADS": "1"})
    started = []
    for number in range(8):
        log = open(folder / f"p{number}.log", "wb")  # pylint: disable=consider-using-with
        words = runs.command(f"p{number}", "host-opencl", {"threads": 1})
        started.append((subprocess.Popen([str(w) for w in words], env=environment, stdout=log,
                                         stderr=subprocess.STDOUT), log))
    for process, log in started:
        assert process.wait(timeout=240) == 0, Path(log.name).read_text()
        log.close()
    schedules = {(folder / f"p{n}.schedule.h").read_text() for n in range(8)}
    assert len(schedules) == 1
    assert len(runs.entries()) == 1, "temporary files are left"
    output, schedule, _ = runs()
    assert HIT in output and schedule in schedules


def test_the_size_limit_removes_what_was_not_used_for_longest(runs):
    runs.cache.mkdir()
    names = []
    for age in (5, 4, 3, 2):
        file = runs.cache / f"aged{age}.schedule"
        file.write_bytes(b"#" * 300_000)
        then = time.time() - age * 1000
        os.utime(file, (then, then))
        names.append(file)
    runs(cache_limit_mb=1)
    assert [file.exists() for file in names] == [False, True, True, True]
    mine, = set(runs.entries()) - set(names)
    # A hit makes it young again, so that the next one has to go instead.
    os.utime(mine, (1000, 1000))
    assert runs.hits(cache_limit_mb=1)
    assert time.time() - mine.stat().st_mtime < 600
    names[1].write_bytes(b"#" * 500_000)
    os.utime(names[1], (2000, 2000))
    runs(beam_size=3, cache_limit_mb=1)
    assert mine.exists() and not names[1].exists()
