"""The autotuning loop on a Ray cluster: two machines (both of them this one), and one that is lost.

Each has a processor and a `measure`, so that what is timed with OpenCL on the CPU is not disturbed
by what is compiled on the same machine.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the Python package ray is not installed")

# pylint: disable=wrong-import-position
from autotuning import Loop, run_log  # noqa: E402
from documents import blocks  # noqa: E402
from toolchain import OPENCL_ON_CPU, ROOT, run  # noqa: E402

CLUSTER = ["--ray_resource=measure", "--retrain=never", "--run_timeout=240"]
# Ray would let its workers wait for everybody else on a busy machine. If there is a file with a
# token, which other uses of Ray may have left, a head asks for it but machines do not show it.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_worker_niceness": "0",
         "RAY_AUTH_MODE": "disabled"}
STORE = 80 << 20


class Machines:
    """A cluster whose machines can be lost."""

    def __init__(self, variables):
        # Before anything of Ray starts; its processes inherit it.
        os.environ.update({**OPENCL_ON_CPU, **QUIET, **variables})
        from ray.cluster_utils import Cluster  # pylint: disable=import-outside-toplevel

        # Paths of sockets have to be short.
        self.folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
        self.cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False,
            "temp_dir": self.folder})
        self.nodes = [self.add(), self.add()]

    @property
    def address(self):
        """For --ray."""
        return self.cluster.address

    def add(self, **resources):
        """One more machine."""
        return self.cluster.add_node(num_cpus=1, resources=resources or {"measure": 1},
                                     object_store_memory=STORE)

    def lose(self, number):
        """Without any farewell."""
        self.cluster.remove_node(self.nodes[number], allow_graceful=False)

    def close(self):
        """All processes end."""
        self.cluster.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def machines(tools):
    pocl = tools.work / "pocl"
    pocl.mkdir(exist_ok=True)
    before = dict(os.environ)
    made = Machines({"POCL_CACHE_DIR": str(pocl)})
    yield made
    made.close()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def loop(tools, folder):
    text = (ROOT / "test" / "package" / "blur_generator.cpp").read_text()
    source = tools.work / "programs" / "small_blur_generator.cpp"
    if not source.exists():
        source.parent.mkdir(exist_ok=True)
        source.write_text(text.replace("1536", "96").replace("1024", "64"))
    program = tools.compile_generator(tools.work / "programs" / "small_blur.generator", [source])
    return Loop(tools, folder / "samples", program, "blur", "")


def require_complete(loop, count):
    """Every sample is in the log, once, and what derives from it is there."""
    samples = loop.samples()
    assert sorted(samples) == [(0, number) for number in range(count)]
    good = [entry for entry in samples.values() if entry["status"] == "ok"]
    assert good and all(entry["status"] in ("ok", "duplicate") for entry in samples.values()), \
        [(entry["status"], entry["reason"]) for entry in samples.values()]
    for entry in good:
        assert entry["measured_ms"] > 0 and entry["predicted_ms"] > 0
        assert entry["identity"]["driver"].startswith("Portable Computing Language")
    best = min(good, key=lambda entry: entry["measured_ms"])
    assert (loop.folder / "best.blur.schedule.h").read_text() == \
        (loop.folder / best["folder"] / f"{best['name']}.schedule.h").read_text()
    assert (loop.folder / "report.html").exists()


def test_the_commands_of_the_document(tools, folder, loop):
    """docs/distributed.md, with two machines that are this one, and shorter."""
    script = "".join(block.text for block in blocks(ROOT / "docs" / "distributed.md")
                     if block.language == "bash")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    small = f" --num-cpus=1 --object-store-memory={STORE}"
    for text, instead in {
            "pip install ray==2.60.0": "true",
            "--port=6379 --num-gpus=0": f"--port={port} --num-gpus=0" + small,
            "localhost:6379": f"localhost:{port}" + small + """ --resources='{"measure": 1}'""",
            "scripts/": f"{ROOT}/scripts/", "build/release": str(tools.plugin.parent),
            # These may contain what the ones before replace.
            "my.generator my_pipeline host-cuda": f"{loop.positional[0]} blur host-opencl",
            "--batch_size 64": "--batch_size 1 --option beam_size=2 --min_time=0.001 --plain "
                               + " ".join(CLUSTER)}.items():
        assert text in script, text
        script = script.replace(text, instead)
    paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    try:
        run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, timeout=500,
            environment={**OPENCL_ON_CPU, **QUIET, "PATH": paths}).require_success()
    finally:
        run(["ray", "stop", "--force"], environment={"PATH": paths}, timeout=100)
    entries, messages = run_log.read_log(folder / "tuned" / "log.jsonl")
    assert len(entries) == 1 and not messages
    assert (folder / "tuned" / "best.blur.schedule.h").exists()


def test_mistakes_are_one_line(machines, loop):
    for options, words in (
            ([f"--ray={machines.address}"], "no machine of the cluster has the resource GPU"),
            (["--ray=127.0.0.1:1", "--ray_resource=measure"], "there is no Ray cluster"),
            ([f"--ray={machines.address}", "--link=cc"], "--link and --ray exclude each other")):
        outcome = loop.run("--retrain=never", *options, environment={"NUM_BATCHES": "1"})
        assert outcome.returncode == 1 and words in outcome.output, outcome.output
        assert "Traceback" not in outcome.output, outcome.output
        assert not (loop.folder / "log.jsonl").exists() or not loop.entries()


def test_a_machine_is_lost_but_no_sample(machines, loop):
    count = 4
    log = loop.folder.parent / "printed.txt"
    with open(log, "wb") as printed:
        running = subprocess.Popen(  # pylint: disable=consider-using-with
            loop.command(*CLUSTER, f"--ray={machines.address}", f"--batch_size={count}"),
            env=loop.environment(NUM_BATCHES="1"), stdout=printed, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + 500
            # Both are in the middle of something when the first results are there.
            while not (loop.folder / "log.jsonl").exists() or not loop.entries():
                assert running.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            known = len(loop.entries())
            assert known < count, "too late: all samples are done"
            machines.lose(0)
            assert running.wait(timeout=500) == 0, log.read_text()
        finally:
            running.kill()
            running.wait()
    require_complete(loop, count)

    # The rest of the cluster goes on with the folder, and a machine that joins takes part.
    machines.nodes[0] = machines.add()
    outcome = loop.run(*CLUSTER, f"--ray={machines.address}", f"--batch_size={count + 1}",
                       "--resume", environment={"NUM_BATCHES": "1"}).require_success()
    require_complete(loop, count + 1)
    assert "best: blur_batch_0000_sample" in outcome.output


def test_candidates_of_one_search_and_predicted_times(machines, loop):
    """Their trees and the weights go along as files."""
    loop.run(*CLUSTER, f"--ray={machines.address}", "--batch_size=2", "--candidates=top_k",
             environment={"NUM_BATCHES": "1"}).require_success()
    require_complete(loop, 2)
    assert {entry["kind"] for entry in loop.samples().values()} == {"top_k"}
    shutil.rmtree(loop.folder)
    loop.run(f"--ray={machines.address}", "--batch_size=3", "--label=predicted",
             environment={"NUM_BATCHES": "1"}).require_success()
    good = [entry for entry in loop.samples().values() if entry["status"] == "ok"]
    assert good and all(entry["measured_ms"] is None for entry in good)


def test_without_the_package_it_says_so(loop, tmp_path):
    """As if ray was not installed."""
    (tmp_path / "ray.py").write_text("raise ImportError('not here')\n")
    environment = {"PYTHONPATH": str(tmp_path), "NUM_BATCHES": "1"}
    outcome = loop.run(*CLUSTER, "--ray=auto", environment=environment)
    assert outcome.returncode == 1 and "needs the Python package ray" in outcome.output, \
        outcome.output
