"""A Python program that makes every mistake with options and files that there is, catches the
errors, and then schedules and runs a pipeline. usage: python_mistakes.py PLUGIN FOLDER"""

import re
import sys
import threading
from pathlib import Path

import halide as hl
import numpy as np

from python_host import make_blur, schedule

ROOT = Path(__file__).resolve().parents[2]
TARGET = "host-opencl"
OPTION = re.compile(r"^ANDERSON_OPTION\(([^,]+), (\w+), ", re.MULTILINE)
NO_NUMBERS = ("", "many", "1x", "--1", "nan", "1e999", "99999999999999999999999", "0x10", "1 2")
BELOW_MINIMUM = "-1"
# Signed on purpose.
ANY_INTEGER = {"random_dropout_seed"}
# What a string must not be, by option; empty ones are refused everywhere.
BAD_STRINGS = {
    "gpu": ("gtx9000", "V100", "v100 ", "\n"),
    "search_space_options": ("fast", "2", "-1", "11 1"),
    "weights": ("mine", "../baseline", "/"),
    "weights_path": ("/no/such/file", "/", "/dev/null", "/dev/zero", "x" * 5000),
    "partial_schedule_path": ("/no/such/file", "/", "/dev/zero", "x" * 5000),
    "record_path": ("/no/such/folder/x", "/dev/null/x", "x" * 5000),
    "top_k_path": ("/no/such/folder/x", "/dev/null/x", "x" * 5000),
}

errors = 0


def expect_error(words, **options):
    """The mistake must end in an error of Halide's kind that mentions one of the words."""
    global errors
    try:
        schedule(make_blur(), TARGET, **{"beam_size": 1, **options})
    except hl.HalideError as error:
        text = str(error)
        assert "Internal" not in text, text
        assert any(word in text for word in words), (options, text)
        errors += 1
    else:
        raise AssertionError(f"no error about {options}")


def bad_options():
    table = OPTION.findall((ROOT / "src" / "support" / "options.def").read_text())
    assert len(table) > 20
    for kind, name in table:
        values = [""]
        if kind != "std::string":
            values += NO_NUMBERS
            values += [] if name in ANY_INTEGER else [BELOW_MINIMUM]
            values += ["1.5"] if kind == "int64_t" else []
        else:
            values += BAD_STRINGS.get(name, ())
        for value in values:
            words = [value] if len(value) > 1 else []
            expect_error([name, "schedule file", *words], **{name: value})
    expect_error(["no_such_option"], no_such_option=1)
    expect_error(["top_k_path"], top_k=3)


def bad_weights(folder):
    good = (ROOT / "baseline.weights").read_bytes()
    contents = {
        "empty": b"",
        "text": b"These are no weights." * 1000,
        "truncated": good[:-1],
        "longer": good + b"\0",
        "half": good[: len(good) // 2],
        "signature": b"\0" + good[1:],
        "version": good[:4] + b"\xff" + good[5:],
        "infinite": good[:-4] + b"\x00\x00\x80\x7f",
        "endless": b"\0" * (2 << 20),
    }
    for name, content in contents.items():
        path = folder / f"{name}.weights"
        path.write_bytes(content)
        expect_error([str(path)], weights_path=path)
    (folder / "nothing").mkdir()
    expect_error([str(folder / "nothing")], weights_path=folder / "nothing")
    (folder / "loop.weights").symlink_to("loop.weights")
    expect_error(["loop.weights"], weights_path=folder / "loop.weights")


def bad_partial_schedules(folder):
    contents = {
        "binary": bytes(range(256)) * 10,
        "unknown": b"no_such_func 3 (0, 0) t gpu_block\n",
        "number": b"blur 99999999999999999999 (0, 0) t gpu_block\n",
        "cut": b"blur 16 1",
        "contradiction": b"inlined: rows 1\nrows 3 (0, 0) t gpu_block\n",
        "nul": b"\0" * 1000,
        "large": b"# a comment\n" * 500000,
        "illegal": b"blur 3 5000 (0, 0) t gpu_thread\n",
    }
    for name, content in contents.items():
        path = folder / f"{name}.txt"
        path.write_bytes(content)
        expect_error([str(path)], partial_schedule_path=path)


def mistakes_in_threads():
    """Errors of one thread are no business of the others."""
    outcomes = []

    def work(number):
        for _ in range(3):
            try:
                schedule(make_blur(), TARGET, beam_size=1 if number % 2 else "bad")
                outcomes.append(number % 2 == 1)
            except hl.HalideError as error:
                outcomes.append(number % 2 == 0 and "beam_size" in str(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 24, outcomes


def main():
    plugin, folder = sys.argv[1], Path(sys.argv[2])
    hl.load_plugin(plugin)
    hl.load_plugin(plugin)
    bad_options()
    bad_weights(folder)
    bad_partial_schedules(folder)
    mistakes_in_threads()

    want = np.array(make_blur().realize([301, 67]))
    blur = make_blur()
    results = schedule(blur, TARGET, gpu="opencl")
    assert "gpu_blocks" in results.schedule_source
    have = blur.realize([301, 67], hl.Target(TARGET))
    have.copy_to_host()
    np.testing.assert_array_equal(np.array(have), want)
    print(f"{errors} errors caught, all right")


if __name__ == "__main__":
    main()
