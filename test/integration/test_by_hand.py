"""Schedules by hand: partial schedules, and decisions at a terminal, from a file, from a pipe."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documents import blocks
from terminal import Terminal
from toolchain import ROOT, clean_environment, run

HOST = Path(__file__).with_name("scheduling_host.py")
DOCUMENT = ROOT / "docs" / "by-hand.md"
PROMPT = "or ? for help: "


class Desk:
    """Runs of one host program, with the decisions in one file."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.file = folder / "decisions.txt"

    def command(self, name="out", **options):
        words = [f"{key}={value}" for key, value in options.items()]
        return [sys.executable, HOST, self.tools.plugin, "host-opencl", name, *words]

    def schedule(self, name="out"):
        return (self.folder / f"{name}.schedule.h").read_text()

    def sit_down(self, answers, **options):
        """A session at a terminal that gives these answers; what the terminal shows."""
        terminal = Terminal(self.command(by_hand="decisions.txt", **options), cwd=self.folder)
        for answer in answers:
            terminal.expect(PROMPT)
            terminal.type(answer)
        status = terminal.wait()
        return status, terminal.text.replace("\r\n", "\n")

    def run(self, name="again", log=False, **options):
        """Without a terminal."""
        return run(self.command(name, by_hand="decisions.txt", **options), cwd=self.folder,
                   environment={"HL_DEBUG_AUTOSCHEDULE": "1"} if log else None)

    def decisions(self):
        return [line for line in self.file.read_text().splitlines() if not line.startswith("#")]


def without_costs(text):
    """Lines of a session; costs may differ in the last digit from processor to processor."""
    return [re.sub(r" +[\d.e-]+ ms", " ms", line).strip() for line in text.split("\n") if line]


@pytest.fixture
def desk(tools, folder):
    return Desk(tools, folder)


def test_the_session_of_the_document(desk):
    """The page shows what the terminal shows, and a replay of the transcript gives the same."""
    shown = {block.label: block.text for block in blocks(DOCUMENT) if block.label}
    answers = re.findall(re.escape(PROMPT) + r"(.*)", shown["session"])
    status, text = desk.sit_down(answers)
    assert status == 0, text
    # To be copied into the document if the search or the weights have changed.
    (desk.folder / "session.txt").write_text(text)
    assert without_costs(text) == without_costs(shown["session"] + "\nall right")
    assert without_costs(desk.file.read_text()) == without_costs(shown["transcript"])
    transcript = desk.file.read_text()
    replay = desk.run().require_success()
    assert replay.output == "all right\n"
    assert desk.schedule("again") == desk.schedule()
    assert desk.file.read_text() == transcript
    # Nor does a terminal ask any more.
    status, text = desk.sit_down([])
    assert status == 0 and PROMPT not in text and "(decisions.txt)" in text
    assert desk.schedule() == desk.schedule("again")


def test_all_answers(desk):
    status, text = desk.sit_down(["?", "b", "xyz", "m", "3", "", "b", "2", "p", "a"])
    assert status == 0, text
    for words in ("take that choice", "This is the first decision.", "That is none of the answers",
                  "   13  ", "realize: sharp", "The decisions are in decisions.txt"):
        assert words in text, words
    assert len(re.findall(r"^Func 2 of 5: blur,", text, re.MULTILINE)) == 2
    made = desk.decisions()
    assert made[0].startswith("sharp tiles = block ") and made[-1] == "* = automatic"
    assert len(made) == 3 and made[1].startswith("blur = ")
    desk.run().require_success()
    assert desk.schedule("again") == desk.schedule()


def test_quitting_and_going_on(desk):
    for end in ("q", "\x04"):
        desk.file.unlink(missing_ok=True)
        terminal = Terminal(desk.command(by_hand="decisions.txt"), cwd=desk.folder)
        terminal.expect(PROMPT)
        terminal.type("2")
        terminal.expect(PROMPT)
        if end == "q":
            terminal.type(end)
        else:
            terminal.press(end.encode())
        assert terminal.wait() == 1
        assert "The search by hand was quit" in terminal.text
        assert "terminate called" not in terminal.text
        assert len(desk.decisions()) == 1
    status, text = desk.sit_down(["", "", "", ""])
    assert status == 0, text
    assert "Func 1 of 5" not in text and "(decisions.txt)" in text
    assert len(desk.decisions()) == 5


def test_an_edited_file_without_a_terminal(desk):
    desk.file.write_text("# only this matters\nblur = in the blocks\nrows = inlined\n")
    outcome = desk.run(log=True).require_success()
    assert "Not decided by hand: sharp tiles = block" in outcome.output
    source = desk.schedule("again")
    assert re.search(r"^blur\s*\n(.*\n)*?\s*\.compute_at\(sharp", source, re.MULTILINE), source
    assert not re.search(r"^rows\s*$", source, re.MULTILINE)
    assert desk.file.read_text().startswith("# only this matters\n"), "nobody was asked"

    desk.file.write_text("blur = on the moon\n")
    outcome = desk.run()
    assert outcome.returncode == 1
    assert 'decisions.txt:1: "on the moon" is none of the' in outcome.output
    assert "\n  inlined\n" in outcome.output

    desk.file.write_text("nobody = inlined\n")
    outcome = desk.run()
    assert outcome.returncode == 1 and "decisions.txt:1: the pipeline has no Func" in outcome.output

    desk.file.write_text("blur = inlined\nblur tiles = block 8x8\n")
    outcome = desk.run().require_success()
    assert "Warning: decisions.txt:2: there was nothing to decide about blur tiles" in outcome.output


def test_a_pipe_is_asked_only_on_request(desk):
    def answer(text, **options):
        return subprocess.run(
            [str(w) for w in desk.command(by_hand="decisions.txt", **options)], input=text,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=desk.folder,
            env=clean_environment(), timeout=120, check=False)

    unasked = answer("2\n" * 20)
    assert unasked.returncode == 0 and unasked.stdout == "all right\n"
    assert not desk.file.exists()
    automatic = desk.schedule()
    asked = answer("2\n" * 5, by_hand_ask=2)
    assert asked.returncode == 0 and asked.stdout.count(PROMPT) == 5, asked.stdout
    assert desk.schedule() != automatic
    replay = answer("", by_hand_ask=2)
    assert replay.returncode == 0 and PROMPT not in replay.stdout


def test_a_terminal_is_not_asked_if_that_is_not_wanted(desk):
    status, text = desk.sit_down([], by_hand_ask=0)
    assert status == 0 and text == "all right\n"


def test_a_file_that_cannot_be_written(desk):
    terminal = Terminal([*desk.command(), "by_hand=/proc/no/decisions.txt"], cwd=desk.folder)
    terminal.expect(PROMPT)
    terminal.type("")
    assert terminal.wait() == 1
    assert "cannot write /proc/no/decisions.txt" in terminal.text


def test_the_whole_tree_fed_back_gives_the_same(desk):
    run(desk.command("first", top_k=1, top_k_path="best"), cwd=desk.folder).require_success()
    tree = desk.folder / "best.0.tree"
    for options in ({}, {"beam_size": 1}, {"freeze_inline_compute_root": 1}):
        run(desk.command("second", partial_schedule_path=tree, **options),
            cwd=desk.folder).require_success()
        assert desk.schedule("second") == desk.schedule("first"), options


def test_the_partial_schedule_of_the_document(desk):
    text = next(block.text for block in blocks(DOCUMENT) if "realize: sharp" in block.text)
    partial = desk.folder / "partial.txt"
    partial.write_text(text)
    outcome = run(desk.command(partial_schedule_path=partial), cwd=desk.folder,
                  environment={"HL_DEBUG_AUTOSCHEDULE": "1"}).require_success()
    found = outcome.output.split("BEGIN Final generated loop nest and schedule:\n")[1]
    for line in text.splitlines():
        if line.startswith(("sharp ", " ")):
            assert f"{line}\n" in found, found
    assert re.search(r"^ *inlined: squares ", found, re.MULTILINE)
    # With decisions by hand: what the file fixes is not asked.
    status, text = desk.sit_down(["", "", ""], partial_schedule_path=partial)
    assert status == 0, text
    assert re.findall(r"^Func \d of 5: (\w+)", text, re.MULTILINE) == ["blur", "rows", "source"]
    # A file that cannot be followed says why.
    partial.write_text("sharp 95c 32c (0, 0) t gpu_block\n")
    outcome = run(desk.command(partial_schedule_path=partial), cwd=desk.folder)
    assert outcome.returncode == 1 and "Func sharp" in outcome.output
    assert "95c" in outcome.output and os.fspath(partial) in outcome.output
