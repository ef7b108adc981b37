"""Two records next to each other, differences first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .model import Func, Record, RecordError, Stage

# Where a run writes, and how fast it searches, makes no other schedule.
_IRRELEVANT = ("record_path", "top_k_path", "threads")


@dataclass(frozen=True)
class StagePair:
    """One stage in both schedules; None where it does not exist."""

    name: str
    first: Optional[Stage]
    second: Optional[Stage]

    @property
    def costs(self) -> tuple:
        """Both times, ms."""
        return tuple(max(stage.cost_ms, 0.0) if stage else 0.0
                     for stage in (self.first, self.second))

    @property
    def difference(self) -> float:
        """Second minus first, ms."""
        return self.costs[1] - self.costs[0]


@dataclass(frozen=True)
class FuncPair:
    """One Func in both schedules."""

    name: str
    first: Optional[Func]
    second: Optional[Func]

    @property
    def places(self) -> tuple:
        """Both in words."""
        return tuple(func.place.text if func else "not there"
                     for func in (self.first, self.second))

    @property
    def differs(self) -> bool:
        """Whether the Func moved."""
        return self.places[0] != self.places[1]


class Comparison:
    """Of two records of one pipeline."""

    def __init__(self, first: Record, second: Record):
        self.first, self.second = first, second
        self.labels = (first.label, second.label)
        if first.label == second.label:
            self.labels = (f"{first.label} (1)", f"{second.label} (2)")
        names = [{func.name for func in record.funcs} for record in (first, second)]
        if not names[0] & names[1]:
            raise RecordError(f"{first.label} and {second.label} have no Func in common: they are "
                              f"records of different pipelines")

    def stages(self) -> List[StagePair]:
        """Those whose time differs most first."""
        pairs = _pairs(self.first.stages, self.second.stages, StagePair)
        return sorted(pairs, key=lambda pair: -abs(pair.difference))

    def funcs(self) -> List[FuncPair]:
        """Those that moved first."""
        pairs = _pairs(self.first.funcs, self.second.funcs, FuncPair)
        return sorted(pairs, key=lambda pair: not pair.differs)

    def settings(self) -> List[tuple]:
        """Options, and whatever else went in, with different values: name, first, second."""
        def flat(record: Record) -> Dict[str, Any]:
            values = {name: value for name, value in record.options.items()
                      if name not in _IRRELEVANT}
            return {"GPU": record.device.get("name"), "target": record.target, **values}

        first, second = flat(self.first), flat(self.second)
        return [(name, first.get(name, ""), second.get(name, ""))
                for name in dict.fromkeys([*first, *second])
                if first.get(name) != second.get(name)]


def _pairs(first: list, second: list, kind: type) -> list:
    by_name = [{one.name: one for one in side} for side in (first, second)]
    return [kind(name, by_name[0].get(name), by_name[1].get(name))
            for name in dict.fromkeys([*by_name[0], *by_name[1]])]
