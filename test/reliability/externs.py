"""Pipelines with stages that are defined by functions of the program."""

import ctypes
import os
import subprocess
from pathlib import Path

import halide as hl

from corpus import I32, Case, Making, estimated, func, image, noise, register, x, y

pipeline, family = register("externs")

# A message to the user, no error.
WARNING = "defined by the external function"


def load_functions() -> None:
    """Into this process, where the compiler finds them by name."""
    library = Path(os.environ["TMPDIR"]) / "libextern_stages.so"
    include = Path(hl.__file__).parent / "include"
    source = Path(__file__).with_name("extern_stages.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "-o", library, source], check=True)
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def doubled(f) -> hl.Func:
    made = hl.Func("doubled")
    made.define_extern("corpus_double", [hl.ExternFuncArgument(f)], I32, [x, y],
                       hl.NameMangling.C)
    if Making.for_reference:
        made.compute_root()
    return made


def plain(f, **more) -> Case:
    return Case([estimated(f, 200, 100)], [(61, 33), (1, 2)], says=WARNING, **more)


@pipeline
def extern_between_funcs():
    e = doubled(noise("f", x, y))
    return plain(func("g", (x, y), e[x, y] + e[x + 1, y]))


@pipeline
def extern_as_output():
    f = noise("f", x, y)
    return plain(doubled(func("g", (x, y), f[x, y] + f[x + 1, y])))


@pipeline
def extern_of_an_input():
    im = image(I32, "im", 210, 110)
    e = doubled(im)
    return plain(func("g", (x, y), e[x, y] * e[x, y + 1]), images=[im])


@pipeline
def extern_whose_input_others_read():
    f = noise("f", x, y)
    e = doubled(f)
    return plain(func("g", (x, y), e[x, y] + f[x, y + 2]))


@pipeline
def extern_of_an_extern():
    e = doubled(doubled(noise("f", x, y)))
    return plain(func("g", (x, y), e[x, y] + 1))
