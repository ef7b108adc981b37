"""What a run is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Optional, Tuple

from .errors import TuneError

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("measured", "predicted")
CANDIDATES = ("random", "top_k", "mixed")
RETRAIN = ("each", "end", "never")
LOSSES = ("log", "throughput")

# Where programs and plugin lie in a build folder.
_PLACES = ("", "bin", "lib", "lib64", "src/autoschedulers/anderson2021")


def built_in_weights() -> Path:
    """A copy of the weights that are built into the plugin: of the project, or of the package."""
    path = ROOT / "baseline.weights"
    shipped = Path(__file__).resolve().parents[1] / "share/anderson2021/weights/baseline.weights"
    return shipped if shipped.exists() else path


def find_built(build: Path, name: str) -> Path:
    """A program or library of a build folder."""
    for place in _PLACES:
        path = build / place / name
        if path.is_file():
            return path
    raise TuneError(f"there is no {name} in {build}: build it first (`make build`)")


@dataclass(frozen=True)
class Tolerance:
    """|value - expected| <= absolute + relative * |expected|, with a share of exceptions."""

    absolute: float = 1e-5
    relative: float = 1e-3
    outliers: float = 0.0


@dataclass(frozen=True)
class Settings:
    """One run of the loop."""

    generator: Path
    pipeline: str
    target: str
    # Folder with the plugin and the tools.
    build: Path
    folder: Path
    # Weights to start with; None: those built into the plugin.
    weights: Optional[Path] = None
    plugin: Optional[Path] = None
    parallelism: int = 80
    argument_sets: Tuple[Tuple[str, ...], ...] = ((),)
    # Options of the plugin for all candidates.
    options: Dict[str, str] = field(default_factory=dict)
    # Options for candidates that are random descents.
    random_options: Dict[str, str] = field(default_factory=dict)

    label: str = "measured"
    candidates: str = "random"
    batches: int = 1
    batch_size: int = 80
    beam: bool = True
    trials: int = 0
    minutes: float = 0.0
    seed: int = 1
    resume: bool = False
    retry: bool = False

    jobs: int = os.cpu_count() or 1
    compile_timeout: float = 600.0
    run_timeout: float = 60.0
    min_time: float = 0.1
    # Arguments of the program that RunGen makes, e.g. files for its inputs.
    run_arguments: Tuple[str, ...] = ("--estimate_all",)
    tolerance: Tolerance = Tolerance()
    check: bool = True
    # A command that links another program than RunGen; @LIBRARY@ stands for the candidate.
    link: str = ""
    runs: int = 20
    keep_programs: bool = False

    retrain: str = "each"
    rates: str = "0.001"
    # Many, since an epoch of a few hundred samples takes a millisecond or two.
    epochs: int = 2000
    patience: int = 0
    loss: str = "log"
    compile_only: bool = False

    # Address of a Ray cluster to work on, "auto" or "local"; empty: this machine alone.
    ray: str = ""
    # What a machine of the cluster must have to measure.
    ray_resource: str = "GPU"

    def __post_init__(self) -> None:
        for name, allowed in (("label", LABELS), ("candidates", CANDIDATES), ("retrain", RETRAIN),
                              ("loss", LOSSES)):
            if getattr(self, name) not in allowed:
                raise TuneError(f"{name} is {getattr(self, name)}, but has to be one of "
                                + ", ".join(allowed))
        for name in ("batches", "batch_size", "jobs", "parallelism", "compile_timeout",
                     "run_timeout", "runs", "epochs"):
            if not getattr(self, name) > 0:
                raise TuneError(f"{name} is {getattr(self, name)}, but has to be positive")
        for name in ("trials", "minutes", "seed", "min_time", "patience"):
            if not getattr(self, name) >= 0:
                raise TuneError(f"{name} is {getattr(self, name)}, but must not be negative")
        if str(self.options.get("reference_features", "0")) != "0":
            raise TuneError("features as the plugin of the Halide wheel computes them are of no "
                            "use for training: leave out reference_features")
        if not self.argument_sets:
            raise TuneError("there has to be a set of generator arguments, if only an empty one")

    @property
    def plugin_path(self) -> Path:
        """The plugin's library."""
        return self.plugin or find_built(self.build, "libautoschedule_anderson2021.so")

    @property
    def updated_weights(self) -> Path:
        """The weights that the loop has trained so far."""
        return self.folder / "updated.weights"

    @property
    def log(self) -> Path:
        """The log of the run."""
        return self.folder / "log.jsonl"
