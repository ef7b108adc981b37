"""Takes the code out of a Markdown document, so that tests do what readers are told to do."""

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^(?:<!-- (?P<label>[^\n]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
                    re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    language: str
    # What a comment on the line before it says, e.g. the file that it is a copy of.
    label: str
    text: str


def blocks(document: Path, heading: str = "") -> list[Block]:
    """The blocks of a document, or of the part of it that follows a heading."""
    text = document.read_text()
    if heading:
        level = heading.split()[0]
        found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text,
                          re.MULTILINE | re.DOTALL)
        assert found, f"{document} has no {heading}"
        text = found[1]
    return [Block(found["language"], found["label"] or "", found["text"])
            for found in _BLOCK.finditer(text)]


def commands(document: Path, heading: str = "") -> list[str]:
    """What to type, block by block."""
    return [block.text for block in blocks(document, heading) if block.language == "bash"]


@dataclass(frozen=True)
class Step:
    """A block of commands, and what the document says that they print."""

    script: str
    shown: tuple[str, ...] = ()


def transcript(document: Path) -> list[Step]:
    """The blocks of commands, each with the block labelled `output` that follows it."""
    steps: list[Step] = []
    for block in blocks(document):
        if block.language == "bash":
            steps.append(Step(block.text))
        elif block.label == "output":
            assert steps and not steps[-1].shown, f"{document}: output of nothing"
            steps[-1] = Step(steps[-1].script, tuple(block.text.splitlines()))
    return steps


def missing_line(shown: tuple[str, ...], output: str) -> str:
    """The first of the lines that the output does not have in this order; `…` is any text."""
    lines = iter(output.splitlines())
    for wanted in shown:
        if wanted.strip() == "…":
            continue
        pattern = re.compile(re.escape(wanted.rstrip()).replace("…", ".*") + r"\s*")
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return ""


_MARK = "-- end of step --"


def script_of(steps: list[Step]) -> str:
    """One script of all steps, whose output can be told apart."""
    return "".join(f"{step.script}echo '{_MARK}'\n" for step in steps)


def check_transcript(steps: list[Step], output: str) -> None:
    """Compares what the script of the steps has printed with what the document shows."""
    parts = output.split(f"{_MARK}\n")
    assert len(parts) == len(steps) + 1, output
    for step, part in zip(steps, parts):
        missing = missing_line(step.shown, part)
        assert not missing, f"{step.script}does not print\n{missing}\nbut\n{part}"
