"""Retraining between batches, on everything that has been measured so far."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import programs
from .errors import TuneError, check_disk
from .samples import replace_file
from .settings import Settings, built_in_weights, find_built

# Fewer schedules teach nothing.
FEWEST_SAMPLES = 2


def checksum(path: Optional[Path]) -> str:
    """Tells weights apart; empty for those built into the plugin."""
    if path is None or not path.is_file():
        return ""
    return f"{zlib.crc32(path.read_bytes()):08x}"


def feature_versions(path: Optional[Path]) -> List[int]:
    """Versions of the features that weights are for: algorithm, schedule."""
    if path is None or not path.is_file():
        path = built_in_weights()
    header = path.read_bytes()[:12]
    if len(header) < 12 or header[:4] != b"1fwh":
        raise TuneError(f"{path} is no weights file")
    return [int.from_bytes(header[4:8], "little"), int.from_bytes(header[8:12], "little")]


def check_versions(path: Optional[Path]) -> List[int]:
    """The feature versions, which have to be those of the plugin."""
    given, current = feature_versions(path), feature_versions(None)
    if given != current:
        raise TuneError(f"{path} is for feature versions {given}, but the plugin computes "
                        f"versions {current}")
    return given


class Trainer:
    """retrain_cost_model with the settings of a run."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.program = find_built(settings.build, "retrain_cost_model")

    def _command(self, initial: Optional[Path], out: Path, *more: str) -> List[str]:
        settings = self.settings
        return [str(self.program), f"--epochs={settings.epochs}", f"--rates={settings.rates}",
                f"--num_cores={settings.parallelism}", f"--initial_weights={initial or ''}",
                f"--weights_out={out}", "--best_benchmark=", "--best_schedule=", "--verbose=0",
                "--partition_schedules=1", "--limit=0", *more]

    async def _run(self, command: List[str], files: Path, log: Path) -> None:
        done = await programs.run(command, log, timeout=float("inf"), stdin=files)
        if not done.ok:
            check_disk(self.settings.folder, done.output)
            raise TuneError(f"training failed, {done.reason(0)}\nIts output is in {log}")

    async def quality(self, weights: Optional[Path], files: Path, folder: Path, label: str
                      ) -> Dict[str, Any]:
        """How well weights order the schedules: of the held-out ones, else of all."""
        report = folder / f"quality_{label}.jsonl"
        command = self._command(weights, folder / "unused.weights",
                                f"--predictions_file={folder / f'predictions_{label}'}",
                                f"--report={report}")
        await self._run(command, files, folder / f"quality_{label}.txt")
        rows = [json.loads(line) for line in report.read_text().splitlines()]
        rows = [row for row in rows if row["set"] == "validation"] or rows
        # Of several pipelines, the mean.
        result: Dict[str, Any] = {"set": rows[0]["set"] if rows else None}
        for key in ("schedules", "spearman", "ordered_pairs", "top1_regret"):
            values = [row[key] for row in rows if row.get(key) is not None]
            if values:
                result[key] = sum(values) if key == "schedules" else sum(values) / len(values)
        return result

    async def retrain(self, initial: Optional[Path], files: List[Path], folder: Path
                      ) -> Dict[str, Any]:
        """Trains, and takes over the new weights unless they order held-out schedules worse.

        Can be interrupted and called again with the same arguments.
        """
        folder.mkdir(parents=True, exist_ok=True)
        listed = folder / "samples.txt"
        out, note = folder / "trained.weights", folder / "training_command.txt"
        command = self._command(initial, out, "--predictions_file=", "--resume=1",
                                f"--patience={self.settings.patience}",
                                f"--loss={self.settings.loss}",
                                f"--log={folder / 'train.jsonl'}")
        replace_file(listed, "".join(f"{file}\n" for file in files).encode())
        # What was trained with other options or samples cannot be continued.
        state = "\n".join([*command, checksum(initial), checksum(listed), ""]).encode()
        if not note.is_file() or note.read_bytes() != state:
            out.with_name(f"{out.name}.state").unlink(missing_ok=True)
        replace_file(note, state)
        before = await self.quality(initial, listed, folder, "before")
        await self._run(command, listed, folder / "train.txt")
        after = await self.quality(out, listed, folder, "after")
        accepted = after.get("ordered_pairs", 0) >= before.get("ordered_pairs", 0)
        if accepted:
            temporary = self.settings.folder / ".updated.weights"
            shutil.copyfile(out, temporary)
            temporary.replace(self.settings.updated_weights)
        return {"before": before, "after": after, "accepted": accepted, "samples": len(files),
                "weights_before": checksum(initial), "weights": checksum(out)}
