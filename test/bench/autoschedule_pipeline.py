"""Autoschedules one pipeline, written in Python, with one plugin in this process.

usage: autoschedule_pipeline.py PIPELINE PLUGIN TARGET LOG_TAIL_LIBRARY [autoscheduler.<option>=<value> ...]

Prints what that took as one line of JSON on stdout, and on stderr the end of the plugin's log.
Pipelines: those of test/differential, and chain_<n>, pyramid_<n> of synthetic.py.
"""

import ctypes
import json
import pathlib
import resource
import sys
import time

import halide as hl

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "differential"))
import pipeline_names  # noqa: E402
import synthetic  # noqa: E402


def main():
    name, plugin, target, library, *options = sys.argv[1:]
    log_tail = ctypes.CDLL(library)
    log_tail.log_tail_end.restype = ctypes.c_char_p
    hl.load_plugin(plugin)
    is_synthetic = name.rpartition("_")[0] in synthetic.FAMILIES and name not in pipeline_names.fixed()
    outputs = (synthetic if is_synthetic else pipeline_names).make(name)
    parameters = dict(option.removeprefix("autoscheduler.").split("=", 1) for option in options)
    pipeline = hl.Pipeline(outputs)
    target = hl.Target(target)
    parameters = hl.AutoschedulerParams("Anderson2021", parameters)

    log_tail.log_tail_begin()
    wall, cpu = time.monotonic(), time.process_time()
    try:
        pipeline.apply_autoscheduler(target, parameters)
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    finally:
        log = log_tail.log_tail_end()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mb": peak_mb}))
    sys.stderr.buffer.write(log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
