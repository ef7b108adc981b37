"""The record of a run, as the plugin's option record_path writes it: reading and checking.

Whatever is wrong with a file ends in one RecordError that names the file and the place in it.
Times are in ms, coefficients in ps, sizes in bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

FORMAT = 1
PLACE_KINDS = ("inlined", "root", "block", "thread", "serial")
# Deeper trees are no schedules.
MAX_DEPTH = 200
# No time, size or count comes near.
LARGEST = 1e100


class RecordError(Exception):
    """The file cannot be read or is no record."""


@dataclass(frozen=True)
class Place:
    """Where a Func is computed; `inside` is the Func whose loops hold it."""

    kind: str
    inside: Optional[str] = None

    @property
    def text(self) -> str:
        """For people."""
        within = self.inside or "?"
        return {"inlined": "inlined", "root": "at the root",
                "block": f"in blocks of {within}",
                "thread": f"in threads of {within}",
                "serial": f"in serial loops of {within}"}[self.kind]

    @property
    def storage(self) -> str:
        """What memory holds its values: global, shared, registers, or none if it is inlined."""
        return {"inlined": "none", "root": "global", "block": "shared"}.get(self.kind, "registers")


@dataclass(frozen=True)
class Alternative:
    """A place, and the cheapest whole schedule known with the Func there."""

    place: Place
    cost_ms: float
    chosen: bool


@dataclass(frozen=True)
class Func:
    """A Func, the places it could have, and how many schedules each rule dropped."""

    name: str
    place: Place
    places: List[Alternative]
    rejected: Dict[str, int]


@dataclass(frozen=True)
class Loop:
    """One loop of a level."""

    var: str
    extent: int


@dataclass
class Nest:
    """One level of the loop nest, children in the order in which they run; the root has no Func."""

    func: str = ""
    stage: int = 0
    axis: str = "root"
    loops: List[Loop] = field(default_factory=list)
    vector_dim: int = -1
    inlined: List[Tuple[str, int]] = field(default_factory=list)
    children: List["Nest"] = field(default_factory=list)

    def walk(self) -> Iterator["Nest"]:
        """This level and all below it, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Term:
    """One product of the cost model."""

    group: str
    what: str
    coefficient: float
    multiplier: float
    cost_ms: float


@dataclass(frozen=True)
class Stage:
    """The predicted time of a stage, and from what it follows."""

    name: str
    func: str
    stage: int
    cost_ms: float
    terms: List[Term]
    features: Dict[str, float]


@dataclass(frozen=True)
class Kernel:
    """One launch."""

    stage: str
    threads: List[int]
    blocks: int
    shared_bytes: int
    registers: int
    resident_blocks: int
    occupancy: float
    limiter: str
    warnings: List[str]


@dataclass(frozen=True)
class Progress:
    """The best schedule after a step of the search."""

    step: str
    elapsed_ms: float
    best_cost_ms: float
    states: int


@dataclass
class Record:
    """A whole run."""

    label: str
    target: str
    options: Dict[str, Any]
    device: Dict[str, Any]
    cost_ms: float
    progress: List[Progress]
    tree: Nest
    stages: List[Stage]
    # As they are launched.
    kernels: List[Kernel]
    funcs: List[Func]
    statistics: Dict[str, float]
    schedule: str

    @property
    def name(self) -> str:
        """The Func that is computed last stands for the pipeline."""
        return self.funcs[0].name if self.funcs else "pipeline"


class _Json:
    """A value of the file that knows where it stands, for messages."""

    def __init__(self, value: Any, where: str = ""):
        self.value, self.where = value, where

    def wrong(self, what: str) -> RecordError:
        """For raising."""
        return RecordError(f"{self.where or 'the file'} {what}")

    def expect(self, kind: type, noun: str) -> Any:
        """The value if it is of a type."""
        if not isinstance(self.value, kind) or (isinstance(self.value, bool) and kind is not bool):
            raise self.wrong(f"should be {noun}")
        return self.value

    def __getitem__(self, key: str) -> "_Json":
        name = f"{self.where}.{key}" if self.where else key
        if key not in self.expect(dict, "an object"):
            raise RecordError(f"{name} is missing")
        return _Json(self.value[key], name)

    def get(self, key: str, default: Any) -> "_Json":
        """A member that need not be there."""
        return self[key] if key in self.expect(dict, "an object") else _Json(default, key)

    def items(self) -> Iterator["_Json"]:
        """The elements of an array."""
        for index, value in enumerate(self.expect(list, "an array")):
            yield _Json(value, f"{self.where}[{index}]")

    def text(self) -> str:
        """A string."""
        return self.expect(str, "text")

    def number(self) -> float:
        """A number with which one can calculate."""
        value = self.expect((int, float), "a number")
        # Written so that NaN is refused, too.
        if not abs(value) < LARGEST:
            raise self.wrong("should be a finite number")
        return float(value)

    def whole(self) -> int:
        """An integer."""
        value = self.number()
        if value != int(value):
            raise self.wrong("should be a whole number")
        return int(value)

    def numbers(self) -> Dict[str, float]:
        """An object with numbers only."""
        return {key: self[key].number() for key in self.expect(dict, "an object")}


def _place(json_: _Json) -> Place:
    kind = json_["kind"].text()
    if kind not in PLACE_KINDS:
        raise json_["kind"].wrong(f"should be one of {', '.join(PLACE_KINDS)}")
    inside = json_.get("inside", None)
    return Place(kind, None if inside.value is None else inside.text())


def _nest(json_: _Json, depth: int = 0) -> Nest:
    if depth > MAX_DEPTH:
        raise RecordError("the tree is too deep for a schedule")
    nest = Nest()
    if depth > 0:
        nest.func, nest.stage = json_["func"].text(), json_["stage"].whole()
        nest.axis = json_["axis"].text()
        nest.loops = [Loop(one["var"].text(), one["extent"].whole())
                      for one in json_["loops"].items()]
        nest.vector_dim = json_["vector_dim"].whole()
    nest.inlined = [(one["func"].text(), one["calls"].whole())
                    for one in json_["inlined"].items()]
    # The file has what was placed first, and thus runs last, in front.
    nest.children = [_nest(child, depth + 1) for child in json_["children"].items()][::-1]
    return nest


def _stage(json_: _Json) -> Stage:
    terms = [Term(one["group"].text(), one["what"].text(), one["coefficient"].number(),
                  one["multiplier"].number(), one["cost_ms"].number())
             for one in json_["terms"].items()]
    return Stage(json_["name"].text(), json_["func"].text(), json_["stage"].whole(),
                 json_["cost_ms"].number(), terms, json_["features"].numbers())


def _kernel(json_: _Json) -> Kernel:
    return Kernel(json_["stage"].text(), [one.whole() for one in json_["threads"].items()],
                  json_["blocks"].whole(), json_["shared_bytes"].whole(),
                  json_["registers"].whole(), json_["resident_blocks"].whole(),
                  json_["occupancy"].number(), json_["limiter"].text(),
                  [one.text() for one in json_["warnings"].items()])


def _func(json_: _Json) -> Func:
    places = [Alternative(_place(one["place"]), one["cost_ms"].number(),
                          one["chosen"].expect(bool, "true or false"))
              for one in json_["places"].items()]
    rejected = {rule: int(count) for rule, count in json_["rejected"].numbers().items()}
    return Func(json_["name"].text(), _place(json_["place"]), places, rejected)


def _record(json_: _Json, label: str) -> Record:
    version = json_["format"].value
    if version != FORMAT or isinstance(version, bool):
        raise RecordError(f"its format is {json.dumps(version)[:40]}, this program reads {FORMAT}")
    progress = [Progress(one["step"].text(), one["elapsed_ms"].number(),
                         one["best_cost_ms"].number(), one["states"].whole())
                for one in json_["progress"].items()]
    return Record(
        label=label, target=json_["target"].text(),
        options=json_["options"].expect(dict, "an object"),
        device=json_["device"].expect(dict, "an object"),
        cost_ms=json_["cost_ms"].number(), progress=progress, tree=_nest(json_["tree"]),
        stages=[_stage(one) for one in json_["stages"].items()],
        kernels=[_kernel(one) for one in json_["kernels"].items()][::-1],
        funcs=[_func(one) for one in json_["funcs"].items()],
        statistics=json_["statistics"].numbers(), schedule=json_["schedule"].text())


def parse(text: str, label: str = "") -> Record:
    """The record in a text."""
    try:
        value = json.loads(text)
        # Escapes can stand for halves of characters, which nobody could print.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise RecordError("it holds text that is no Unicode") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"it is no JSON ({error})") from error
    if not isinstance(value, dict) or "format" not in value or "tree" not in value:
        raise RecordError("it was not written by option record_path")
    return _record(_Json(value), label)


def load(path: str) -> Record:
    """The record in a file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"), Path(path).stem)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: no record of a run: it is no text") from error
    except RecordError as error:
        raise RecordError(f"{path}: no record of a run that can be used: {error}") from error
