"""What the tests of the autotuner share: the loop on one pipeline, in one folder."""

import sys

from applications import APPS
from toolchain import OPENCL_ON_CPU, ROOT, clean_environment, run

SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

from autotune import run_log  # noqa: E402  pylint: disable=wrong-import-position

HIST = next(app for app in APPS if app.name == "hist")
SMALL = "width=48;height=40"
QUICK = ["--option", "beam_size=2", "--min_time=0.001", "--epochs=10", "--plain"]


class Loop:
    """autotune_loop.sh on one pipeline, in one folder."""

    def __init__(self, tools, folder, generator, pipeline, arguments):
        self.folder = folder
        self.build = tools.plugin.parent
        self.pipeline = pipeline
        self.positional = [generator, pipeline, "host-opencl", ROOT / "baseline.weights",
                           self.build, "80", "0", arguments]

    def environment(self, **more):
        """For the loop; NUM_BATCHES=2."""
        return clean_environment({**OPENCL_ON_CPU, "SAMPLES_DIR": str(self.folder),
                                  "NUM_BATCHES": "2", **more})

    def command(self, *options, **changes):
        """Command line, with positional arguments replaced by number."""
        words = list(self.positional)
        for index, value in changes.items():
            words[int(index[1:])] = value
        return [str(w) for w in [SCRIPTS / "autotune_loop.sh", *words, *QUICK, *options]]

    def run(self, *options, environment=None, **changes):
        """To the end."""
        return run(self.command(*options, **changes),
                   environment=self.environment(**(environment or {})))

    def entries(self):
        """All lines of the log; none may be damaged."""
        entries, messages = run_log.read_log(self.folder / "log.jsonl")
        assert messages == []
        return entries

    def samples(self):
        """Samples of the log by batch and number, each once."""
        found = [e for e in self.entries() if e["event"] == "sample"]
        by_number = {(e["batch"], e["sample"]): e for e in found}
        assert len(by_number) == len(found)
        return by_number


def fake_linker(folder, by_sample):
    """A script that writes a program according to the number of the sample."""
    for sample, text in by_sample.items():
        if text is not None:
            program = folder / f"program_{sample}"
            program.write_text(f"#!/bin/bash\n{text}\n")
            program.chmod(0o755)
    linker = folder / "linker"
    linker.write_text('#!/bin/bash\nsample=$(basename "$(dirname "$1")")\n'
                      f'cp "{folder}/program_$sample" "$3" || exit 3\n')
    linker.chmod(0o755)
    return f"{linker} @LIBRARY@"
