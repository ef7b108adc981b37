"""Anderson2021, a GPU autoscheduler for Halide.

    import halide as hl
    import halide_anderson2021 as anderson2021

    anderson2021.load()
    params = anderson2021.params(gpu="a100", weights="harris")
    pipeline.apply_autoscheduler(hl.Target("host-cuda"), params)
"""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Union

from .watching import Callback, Progress, watching

if TYPE_CHECKING:
    import halide as hl

__all__ = ["PluginError", "Progress", "cmake_dir", "load", "params", "pkgconfig_dir",
           "plugin_path", "progress", "tools_dir", "weights_names", "weights_path"]

__version__ = metadata.version("halide-anderson2021")

NAME = "Anderson2021"
# The plugin was built for this one.
HALIDE_VERSION = "21.0.0"

_HERE = Path(__file__).resolve().parent
_WEIGHTS = _HERE / "share" / "anderson2021" / "weights"
_lock = threading.Lock()
_loaded = False


class PluginError(RuntimeError):
    """The plugin cannot be loaded; the text says why."""


def tools_dir() -> Path:
    """Folder with the plugin and the programs around samples and weights."""
    return _HERE / "lib" / "anderson2021"


def plugin_path() -> Path:
    """The plugin's library, for `-p` of a generator."""
    return tools_dir() / "libautoschedule_anderson2021.so"


def cmake_dir() -> Path:
    """Folder for anderson2021_DIR of a CMake project."""
    return _HERE / "lib" / "cmake" / "anderson2021"


def pkgconfig_dir() -> Path:
    """Folder for PKG_CONFIG_PATH."""
    return _HERE / "lib" / "pkgconfig"


def weights_names() -> List[str]:
    """Names that `weights_path` and `params(weights=...)` know."""
    return sorted(path.stem for path in _WEIGHTS.glob("*.weights"))


def weights_path(name: str = "baseline") -> Path:
    """The weights file of that name. Raises ValueError for a name that there is not."""
    if name not in weights_names():
        raise ValueError(f"there are no weights {name!r}; there are: {', '.join(weights_names())}")
    return _WEIGHTS / f"{name}.weights"


def _other_plugin() -> str:
    """Path of another plugin of that name in this process, or an empty string."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in lines if "/" in line}
    except OSError:
        return ""
    ours = str(plugin_path())
    others = sorted(path for path in paths
                    if os.path.basename(path) == plugin_path().name and path != ours)
    return others[0] if others else ""


def load() -> None:
    """Makes "Anderson2021" known to Halide in this process; does nothing the second time.

    Raises PluginError if Halide is missing or of another version, if another plugin has taken the
    name, or if the library cannot be loaded.
    """
    global _loaded  # pylint: disable=global-statement
    with _lock:
        if _loaded:
            return
        try:
            version = metadata.version("halide")
            import halide as hl  # pylint: disable=import-outside-toplevel
        except ImportError as error:  # PackageNotFoundError is one
            raise PluginError(f"the package halide cannot be imported: {error}; "
                              f"`pip install halide=={HALIDE_VERSION}`") from error
        if version != HALIDE_VERSION:
            raise PluginError(f"the plugin was built for halide {HALIDE_VERSION}, but halide "
                              f"{version} is installed; `pip install halide=={HALIDE_VERSION}`")
        if not plugin_path().is_file():
            raise PluginError(f"{plugin_path()} is missing; install the package again")
        other = _other_plugin()
        if other:
            raise PluginError(f"this process has loaded another plugin named {NAME}: {other}; "
                              "do not load both")
        try:
            hl.load_plugin(str(plugin_path()))
        except hl.HalideError as error:
            raise PluginError(f"{plugin_path()} cannot be loaded: {error}") from error
        _loaded = True


def params(**options: Union[str, int, float, bool, os.PathLike]) -> "hl.AutoschedulerParams":
    """Parameters for Pipeline.apply_autoscheduler; the options are those of the plugin.

    `weights` is a name in weights_names() or the path of a file or folder (a Path, or a string
    that holds a slash or ends with .weights); ValueError for anything else. Without it the plugin
    takes HL_WEIGHTS_DIR, or those that are built in. Together with `weights_path` it goes to the
    plugin as it is: a name in that folder. Booleans become 1 and 0.
    """
    import halide as hl  # pylint: disable=import-outside-toplevel

    texts = {}
    for name, value in options.items():
        if isinstance(value, bool):
            value = int(value)
        texts[name] = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if "weights" in texts and "weights_path" not in texts:
        given = texts.pop("weights")
        is_path = not isinstance(options["weights"], str) or "/" in given
        if is_path or given.endswith(".weights"):
            if not os.path.exists(given):
                raise ValueError(f"there are no weights {given}")
            texts["weights_path"] = os.path.abspath(given)
        else:
            texts["weights_path"] = str(weights_path(given))
    return hl.AutoschedulerParams(NAME, texts)


@contextmanager
def progress(callback: Callback) -> Iterator[None]:
    """Calls `callback` with a Progress during the searches inside of the `with` block.

        with anderson2021.progress(lambda now: print(f"{now.fraction:.0%}")):
            pipeline.apply_autoscheduler(target, params)

    It is called at the beginning of a search, then at most ten times per second, and at the end,
    in the thread that schedules, never by two threads at a time.

    * If it returns False (or 0, or anything else that is false, except None), the search ends, and
      the best schedule so far is applied; if none is complete yet, the first one that can be
      completed.
    * If it raises, the search ends, the pipeline stays as it was, and the exception is raised again
      where the `with` block ends. So an interrupt from the keyboard ends a search, too.

    It counts for all threads of the process. Of nested blocks the inner one counts.
    """
    load()
    with watching(ctypes.CDLL(str(plugin_path())), callback):
        yield
