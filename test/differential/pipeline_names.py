"""All pipelines of this folder by name."""

import graph_pipelines
import pipelines
import random_pipelines
import small_pipelines


def fixed():
    """Names of all pipelines that are written down one by one."""
    return [*pipelines.PIPELINES, *small_pipelines.PIPELINES, *graph_pipelines.PIPELINES]


def make(name):
    """The outputs of a pipeline, with estimates; random_<seed> and index_<seed> are random ones."""
    for module in (pipelines, small_pipelines, graph_pipelines):
        if name in module.PIPELINES:
            return module.PIPELINES[name]()
    return graph_pipelines.make(name) or random_pipelines.make(name)
