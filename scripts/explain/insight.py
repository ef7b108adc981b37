"""What follows from a record: groups of terms, memory traffic, alternatives, warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional

from . import units
from .model import Alternative, Func, Nest, Record, Stage, Term

# Of the cost model's terms, in the order of presentation.
GROUPS = ("compute", "load", "store", "working set", "overhead")

RULES = {
    "grid-extents": "more blocks than a kernel can have",
    "inlined-calls": "a Func inlined too often into one place",
    "local-memory": "a thread would store more than its local memory holds",
    "local-memory-constant": "a thread would store more than its stack holds",
    "recompute": "more than ten times the work that is needed",
    "registers": "more registers than register_limit",
    "serial-extents": "too many points in a row in one thread",
    "shared-memory": "more shared memory than a block has",
    "thread-extents": "more threads than a block can have",
    "unknown-sizes": "sizes known only at run time may not fit",
    "unrolled-code": "unrolled code too long to compile",
}

# About what a launch takes, ms: less than that cannot be gained by computing faster.
LAUNCH_MS = 0.004
# Shown as 0, ms.
NEGLIGIBLE_MS = 1e-6
LOW_OCCUPANCY = 0.25
LOW_EFFICIENCY = 0.5
AXIS_NOUNS = {"block": "blocks", "thread": "threads", "serial": "serial", "point": "point",
              "none": "loops", "parallelized": "tasks"}


def group_of(term: Term) -> str:
    """A group of GROUPS; what a later plugin adds counts as overhead."""
    return term.group if term.group in GROUPS else "overhead"


def group_costs(stage: Stage) -> Dict[str, float]:
    """Time per group, ms. Tiny negative values, an artefact of the network, are dropped."""
    costs = dict.fromkeys(GROUPS, 0.0)
    for term in stage.terms:
        costs[group_of(term)] += term.cost_ms
    return {group: max(cost, 0.0) for group, cost in costs.items()}


def total_groups(record: Record) -> Dict[str, float]:
    """Time per group of all stages, ms."""
    costs = dict.fromkeys(GROUPS, 0.0)
    for stage in record.stages:
        for group, cost in group_costs(stage).items():
            costs[group] += cost
    return costs


def main_terms(stage: Stage) -> List[Term]:
    """The terms that matter, largest first."""
    least = max(0.002 * stage.cost_ms, NEGLIGIBLE_MS)
    return sorted((term for term in stage.terms if term.cost_ms >= least),
                  key=lambda term: -term.cost_ms)


@dataclass(frozen=True)
class Traffic:
    """Transactions of one kind that all blocks of a stage make together."""

    stage: str
    space: str
    direction: str
    transactions: float
    # Share of the bytes moved that are used.
    efficiency: float


def traffic(stage: Stage) -> List[Traffic]:
    """The kinds of memory access that a stage has."""
    found = []
    for space in ("global", "shared"):
        for direction in ("load", "store"):
            prefix = f"{space}_mem_{direction}"
            number = (stage.features.get(f"num_{prefix}s_per_block", 0)
                      * stage.features.get("num_blocks", 0))
            if number > 0:
                efficiency = stage.features.get(f"{prefix}_efficiency", 1)
                found.append(Traffic(stage.name, space, direction, number, efficiency))
    return found


@dataclass(frozen=True)
class Rival:
    """An alternative next to what was chosen."""

    alternative: Alternative
    ratio: float

    @property
    def change(self) -> str:
        """Against the chosen schedule."""
        return "chosen" if self.alternative.chosen else units.change(self.ratio)

    @property
    def is_cheaper(self) -> bool:
        """Whether it would have been the better choice, by more than rounding."""
        return not self.alternative.chosen and self.ratio < 0.9995


def rivals(func: Func, record: Record) -> List[Rival]:
    """All places of a Func by cost, the chosen one included."""
    chosen = next((one.cost_ms for one in func.places if one.chosen), record.cost_ms)
    return [Rival(one, one.cost_ms / chosen if chosen > 0 else 1.0)
            for one in sorted(func.places, key=lambda one: (one.cost_ms, not one.chosen))]


def runner_up(func: Func, record: Record) -> Optional[Rival]:
    """The cheapest place that was not chosen."""
    return next((one for one in rivals(func, record) if not one.alternative.chosen), None)


def verdict(func: Func, record: Record) -> str:
    """One sentence on why a Func is where it is."""
    rival = runner_up(func, record)
    if rival is None:
        return "no complete schedule with it elsewhere was found"
    where = rival.alternative.place.text
    if rival.is_cheaper:
        return (f"{where} would be predicted {units.change(rival.ratio)}: found only when this "
                f"Func was moved alone after the search")
    if rival.ratio < 1.0005:
        return f"{where} is predicted just as good"
    return f"next best: {where}, {rival.change}"


def stage_label(nest: Nest, record: Record) -> str:
    """Name of the stage that a level belongs to."""
    for stage in record.stages:
        if stage.func == nest.func and stage.stage == nest.stage:
            return stage.name
    return nest.func


def kernel_cost(nest: Nest, record: Record) -> float:
    """Time of all stages under a child of the root, and of what is inlined into them alone, ms."""
    inside = {(one.func, one.stage) for one in nest.walk()}
    inlined = {func for one in nest.walk() for func, _ in one.inlined}
    elsewhere = {func for child in record.tree.children if child is not nest
                 for one in child.walk() for func, _ in one.inlined}
    return sum(stage.cost_ms for stage in record.stages
               if (stage.func, stage.stage) in inside or stage.func in inlined - elsewhere)


def loops_text(nest: Nest) -> str:
    """The loops of a level that do more than one iteration, e.g. "x 32 × y 4 threads"."""
    noun = AXIS_NOUNS.get(nest.axis, nest.axis)
    extents = [f"{loop.var} {loop.extent}" for loop in nest.loops if loop.extent != 1]
    if nest.axis == "point":
        return " × ".join(extents) + " per point" if extents else ""
    if not extents:
        return {"block": "1 block", "thread": "1 thread"}.get(nest.axis, "once")
    return f"{' × '.join(extents)} {noun}"


def _kernel_warnings(record: Record) -> List[str]:
    """One line per kind of warning, with all kernels that it concerns."""
    kernels: Dict[str, List[str]] = {}
    for number, kernel in enumerate(record.kernels, 1):
        texts = list(kernel.warnings)
        if 0 < kernel.occupancy < LOW_OCCUPANCY:
            texts.append(f"Occupancy of only {units.share(kernel.occupancy)}, limited by "
                         f"{kernel.limiter}")
        for text in texts:
            kernels.setdefault(text, []).append(f"{number} ({kernel.stage})")
    return [f"Kernel {names[0]}: {text}" if len(names) == 1 else
            f"{text}: kernels {', '.join(names)}" for text, names in kernels.items()]


def warnings(record: Record) -> List[str]:
    """What a reader should look at, most telling first."""
    found = _kernel_warnings(record)
    launches = len(record.kernels) * LAUNCH_MS
    if len(record.kernels) > 1 and launches > 0.25 * record.cost_ms > 0:
        found.append(f"{len(record.kernels)} kernel launches take about {units.time(launches)}, "
                     f"{units.share(launches / record.cost_ms)} of the predicted time")
    moved = [one for stage in record.stages for one in traffic(stage)]
    for space in ("global", "shared"):
        total = sum(one.transactions for one in moved if one.space == space)
        for one in moved:
            if (one.space == space and one.efficiency < LOW_EFFICIENCY
                    and one.transactions > 0.1 * total):
                verb = "loads" if one.direction == "load" else "stores"
                found.append(f"{one.stage}: {space} memory {verb} use only "
                             f"{units.share(one.efficiency)} of the bytes moved")
    return found


def facts(record: Record) -> List[tuple]:
    """The run in a few pairs of words."""
    device, statistics = record.device, record.statistics
    return [
        ("Predicted time", units.time(record.cost_ms)),
        ("Kernel launches", str(len(record.kernels))),
        ("GPU", f"{device.get('name', '?')}, {device.get('multiprocessors', '?')} "
                f"multiprocessors"),
        ("Search", f"{units.time(1000 * statistics.get('seconds', 0))}, "
                   f"{units.count(statistics.get('states', 0))} states, "
                   f"{units.count(statistics.get('rejections', 0))} rejected"),
    ]
