"""Which schedules a batch tries: the whole search, random descents, the best of one search."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List

from .settings import Settings

# Sample numbers below this have ids of their own in every batch.
IDS_PER_BATCH = 10000

WHOLE_SEARCH = {"beam_size": "32", "random_dropout": "100"}
# Many of them run side by side.
RANDOM_DESCENT = {"beam_size": "1", "random_dropout": "1", "threads": "1"}


@dataclass(frozen=True)
class Candidate:
    """One schedule to be tried."""

    batch: int
    argument_set: int
    sample: int
    kind: str  # beam, random, top_k
    seed: int
    parameters: Dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def schedule_id(self) -> int:
        """A number for the trainer, unique in the run."""
        return self.batch * IDS_PER_BATCH + self.sample

    def name(self, pipeline: str) -> str:
        """What its files are called."""
        return f"{pipeline}_batch_{self.batch:04d}_sample_{self.sample:04d}"


def seed_of(base: int, batch: int, sample: int) -> int:
    """A seed of 31 bits that no other sample of the run is likely to have."""
    digest = hashlib.sha256(f"{base} {batch} {sample}".encode()).digest()
    return int.from_bytes(digest[:4], "little") & 0x7FFFFFFF


def kinds(settings: Settings) -> List[str]:
    """What each sample of a batch is."""
    size = settings.batch_size
    if settings.candidates == "top_k":
        return ["top_k"] * size
    first = 1 if settings.beam else 0
    if settings.candidates == "mixed":
        best = max(first, size // 2)
        return (["top_k"] * best + ["random"] * size)[:size]
    return (["beam"] * first + ["random"] * size)[:size]


def plan_batch(settings: Settings, batch: int, argument_set: int, trees: List[Path]
               ) -> List[Candidate]:
    """The candidates of a batch. `trees` are the best schedules of a search, best first."""
    planned = []
    for sample, kind in enumerate(kinds(settings)):
        if kind == "top_k" and sample >= len(trees):
            kind = "random"
        seed = seed_of(settings.seed, batch, sample)
        if kind == "random":
            parameters = {**settings.options, **RANDOM_DESCENT, **settings.random_options,
                          "random_dropout_seed": str(seed)}
        elif kind == "top_k":
            parameters = {**WHOLE_SEARCH, **settings.options,
                          "partial_schedule_path": str(trees[sample])}
        else:
            parameters = {**WHOLE_SEARCH, **settings.options}
        planned.append(Candidate(batch, argument_set, sample, kind, seed, parameters))
    return planned
