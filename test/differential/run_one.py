"""Autoschedules one pipeline with one plugin in this process; prints a JSON result on stdout.

usage: run_one.py PLUGIN PIPELINE TARGET [option=value ...]

A process can register the name Anderson2021 only once, so every plugin needs a process of its own.
"""

import base64
import json
import sys

import halide as hl

import pipeline_names


def main():
    plugin, name, target, *options = sys.argv[1:]
    hl.load_plugin(plugin)
    outputs = pipeline_names.make(name)
    parameters = dict(option.split("=", 1) for option in options)
    result = hl.Pipeline(outputs).apply_autoscheduler(
        hl.Target(target), hl.AutoschedulerParams("Anderson2021", parameters))
    json.dump({"featurization": base64.b64encode(bytes(result.featurization)).decode(),
               "schedule_source": result.schedule_source}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
