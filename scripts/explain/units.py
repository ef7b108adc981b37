"""Numbers as people read them."""

from __future__ import annotations


def _significant(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def time(ms: float) -> str:
    """A time in ms with a fitting unit; what is not worth mentioning is 0."""
    sign, size = ("-", -ms) if ms < 0 else ("", ms)
    for unit, factor in (("s", 1e-3), ("ms", 1.0), ("µs", 1e3), ("ns", 1e6)):
        if size * factor >= 0.9995:
            return f"{sign}{_significant(size * factor)} {unit}"
    return "0"


def size(count: float) -> str:
    """Bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{_significant(count / factor)} {unit}"
    return f"{count:.0f} B"


def count(number: float) -> str:
    """A large number."""
    for unit, least, factor in (("G", 1e9, 1e9), ("M", 1e6, 1e6), ("k", 1e4, 1e3)):
        if number >= least:
            return f"{_significant(number / factor)} {unit}"
    return f"{number:,.0f}".replace(",", " ")


def share(part: float) -> str:
    """A ratio as a percentage."""
    percent = 100 * part
    return f"{percent:.0f} %" if abs(percent) >= 9.95 or percent == 0 else f"{percent:.1f} %"


def change(ratio: float) -> str:
    """How much more or less than 1, with its sign; very much more as a factor."""
    if ratio >= 10:
        return f"×{ratio:.0f}"
    percent = 100 * (ratio - 1)
    if abs(percent) < 0.05:
        return "±0 %"
    return f"{percent:+.0f} %" if abs(percent) >= 9.95 else f"{percent:+.1f} %"


def cross(extents) -> str:
    """Extents of a grid."""
    return " × ".join(str(extent) for extent in extents) or "1"
