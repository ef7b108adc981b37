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
