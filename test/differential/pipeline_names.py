"""All pipelines of this folder by name."""

import importlib.util
import os

import graph_pipelines
import pipelines
import random_pipelines
import small_pipelines


def fixed():
    """Names of all pipelines that are written down one by one."""
    return [*pipelines.PIPELINES, *small_pipelines.PIPELINES, *graph_pipelines.PIPELINES]


def additional():
    """The functions of the Python file that ANDERSON_MORE_PIPELINES names, by name."""
    path = os.environ.get("ANDERSON_MORE_PIPELINES")
    if not path:
        return {}
    spec = importlib.util.spec_from_file_location("additional_pipelines", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def make(name):
    """The outputs of a pipeline, with estimates; random_<seed> and index_<seed> are random ones."""
    more = additional()
    if name in more:
        return more[name]()
    for module in (pipelines, small_pipelines, graph_pipelines):
        if name in module.PIPELINES:
            return module.PIPELINES[name]()
    return graph_pipelines.make(name) or random_pipelines.make(name)
