"""Progress reports: how far a search is, as calls of a Python function."""

from __future__ import annotations

import ctypes
import math
import threading
from contextlib import contextmanager
from typing import Callable, Iterator, List, NamedTuple, Optional

# As in anderson2021/progress.h.
_CONTINUE, _STOP, _ABORT = 0, 1, 2


class Progress(NamedTuple):
    """How far a search is."""

    pass_number: int
    """From 1. The refinement of the result counts as the last pass."""
    passes: int
    """At most; becomes less when passes turn out to be superfluous."""
    fraction: float
    """Share of the work that is done, by a rough estimate; 1 is the last call of a search."""
    best_ms: Optional[float]
    """Predicted run time of the best complete schedule so far; None before there is one."""
    states: int
    """Schedules looked at so far, partial ones included."""
    elapsed_s: float
    """Since the beginning of the search."""
    eta_s: Optional[float]
    """What is left, by a rough estimate; None as long as there is none."""


class _Report(ctypes.Structure):  # pylint: disable=too-few-public-methods
    _fields_ = [("pass_number", ctypes.c_int32), ("passes", ctypes.c_int32),
                ("fraction", ctypes.c_double), ("best_cost_ms", ctypes.c_double),
                ("states", ctypes.c_int64), ("elapsed_s", ctypes.c_double),
                ("eta_s", ctypes.c_double)]


_Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Report), ctypes.c_void_p)

Callback = Callable[[Progress], Optional[bool]]

_lock = threading.Lock()
# The functions that the plugin may call, innermost last.
_installed: List[ctypes._FuncPointer] = []  # type: ignore[name-defined]


def _install(library: ctypes.CDLL) -> None:
    """Gives the innermost function to the plugin. Waits until the one before has returned."""
    setter = library.anderson2021_set_progress_callback
    setter.restype = None
    setter.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    setter(ctypes.cast(_installed[-1], ctypes.c_void_p) if _installed else None, None)


@contextmanager
def watching(library: ctypes.CDLL, callback: Callback) -> Iterator[None]:
    """See progress() of the package."""
    raised: List[BaseException] = []

    def function(report: "ctypes.pointer[_Report]", _user: object) -> int:
        now = report.contents
        try:
            if raised:
                return _ABORT
            answer = callback(Progress(
                now.pass_number, now.passes, now.fraction,
                now.best_cost_ms if math.isfinite(now.best_cost_ms) else None, now.states,
                now.elapsed_s, now.eta_s if now.eta_s >= 0 else None))
            return _STOP if answer is not None and not answer else _CONTINUE
        except BaseException as error:  # pylint: disable=broad-except
            # Nothing may pass through the plugin; it is raised again at the end.
            raised.append(error)
            return _ABORT

    pointer = _Function(function)
    with _lock:
        _installed.append(pointer)
        _install(library)
    failed: Optional[BaseException] = None
    try:
        yield
    except BaseException as error:  # pylint: disable=broad-except
        failed = error
        raise
    finally:
        with _lock:
            _installed.remove(pointer)
            _install(library)
        if raised and raised[0] is not failed:
            raise raised[0] from None
