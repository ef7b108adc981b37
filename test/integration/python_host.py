"""A Python program that loads the plugin, makes mistakes, catches them, and then schedules and
runs a pipeline. usage: python_host.py PLUGIN"""

import sys

import halide as hl
import numpy as np


def make_blur():
    x, y = hl.Var("x"), hl.Var("y")
    source, rows, blur = hl.Func("source"), hl.Func("rows"), hl.Func("blur")
    source[x, y] = x * 3 + y * y
    rows[x, y] = source[x - 1, y] + source[x, y] + source[x + 1, y]
    blur[x, y] = rows[x, y - 1] + rows[x, y] + rows[x, y + 1]
    blur.set_estimates([hl.Range(0, 300), hl.Range(0, 200)])
    return blur


def schedule(func, target, **options):
    params = hl.AutoschedulerParams("Anderson2021", options)
    return hl.Pipeline(func).apply_autoscheduler(hl.Target(target), params)


def expect_error(word, target, **options):
    try:
        schedule(make_blur(), target, **options)
    except hl.HalideError as error:
        assert word in str(error), error
        print("caught:", error)
    else:
        raise AssertionError(f"no error about {word}")


def main():
    hl.load_plugin(sys.argv[1])
    expect_error("GPU", "host")
    expect_error("beam_size", "host-opencl", beam_size=0)
    expect_error("no_such_option", "host-opencl", no_such_option=1)
    expect_error("/no/such.weights", "host-opencl", weights_path="/no/such.weights")

    want = np.array(make_blur().realize([301, 67]))
    for options in ({"parallelism": 80}, {"beam_size": 1, "shared_memory_limit_kb": 16}):
        blur = make_blur()
        results = schedule(blur, "host-opencl", **options)
        assert "gpu_blocks" in results.schedule_source
        have = blur.realize([301, 67], hl.Target("host-opencl"))
        have.copy_to_host()
        np.testing.assert_array_equal(np.array(have), want)
    print("all right")


if __name__ == "__main__":
    main()
