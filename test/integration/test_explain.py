"""`anderson2021-explain` tells in text and on a page what a record holds, and refuses others."""

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

import pytest

from toolchain import ROOT, run

sys.path.insert(0, str(ROOT / "scripts"))
from explain import cli  # noqa: E402  pylint: disable=wrong-import-position

HERE = Path(__file__).parent
FUNCS = ["out", "rows", "scaled", "source", "sums"]
_VOID = {"meta", "link", "br", "input", "img", "hr"}


class Page(HTMLParser):
    """Elements, their attributes and texts; notes tags that are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.elements, self.cdata = [], [], [], ""
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [name for name, _ in attrs]))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> in line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.cdata += data

    def values(self, attribute, of_class=None):
        """An attribute of all elements (of a class)."""
        return [attributes[attribute] for _, attributes, _ in self.elements
                if attribute in attributes
                and (of_class is None or of_class in attributes.get("class", "").split())]


def explain(*arguments, expected=0):
    """Output and errors of a call."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        status = cli.main([str(argument) for argument in arguments])
    assert status == expected, out.getvalue() + errors.getvalue()
    return out.getvalue(), errors.getvalue()


@pytest.fixture(scope="module", name="records")
def _records(tools):
    """Of one pipeline twice, the second time without fusion and inlining, and of another one."""
    folder = tools.work / "tests" / "explain-records"
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, pipeline, options in (("best", "blur", []),
                                    ("flat", "blur", ["search_space_options=0001"]),
                                    ("other", "other", [])):
        paths[name] = folder / f"{name}.json"
        paths[name].unlink(missing_ok=True)
        run([sys.executable, HERE / "record_run.py", tools.plugin, paths[name], pipeline,
             *options]).require_success()
    return paths


def page_of(folder, *arguments):
    path = folder / "page.html"
    out, _ = explain(*arguments, "--quiet", "--html", path)
    assert out == ""
    return path.read_text(encoding="utf-8")


def require_sound(text):
    """Well formed, everything inside, links and labels lead somewhere."""
    page = Page(text)
    assert not page.faults
    for tag, _, names in page.elements:
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
    assert not {"link", "img", "iframe"} & {tag for tag, _, _ in page.elements}
    assert not page.values("src") and "url(" not in text and "@import" not in text
    assert not re.search(r"(https?:)?//[\w.]+\.\w", text)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {href for href in page.values("href")} <= {f"#{name}" for name in ids}
    return page


def test_text_says_what_the_record_says(records):
    record = json.loads(records["best"].read_text())
    text, errors = explain(records["best"], "--width", "160")
    assert errors == ""
    for func in record["funcs"]:
        block = text[text.index("Where each Func"):]
        line = re.search(rf"^ {func['name']} +(.*)$", block, re.MULTILINE)
        assert line, func["name"]
    assert len(re.findall(r"\bchosen\b", text)) == len(record["funcs"])
    for kernel in record["kernels"]:
        assert re.search(rf"{kernel['stage']} .*{' × '.join(map(str, kernel['threads']))} ", text)
    for step in record["progress"]:
        assert step["step"] in text
    for func in record["funcs"]:
        chosen = next(p["cost_ms"] for p in func["places"] if p["chosen"])
        for place in func["places"]:
            percent = 100 * (place["cost_ms"] / chosen - 1)
            if not place["chosen"] and 9.95 <= percent < 900:
                assert f"{percent:+.0f} %" in text


def test_kernels_are_in_the_order_of_launches(records, folder):
    """The output comes last, although searches and records begin with it."""
    record = json.loads(records["flat"].read_text())
    assert len(record["kernels"]) > 1 and record["kernels"][0]["stage"] == "out"
    text, _ = explain(records["flat"])
    roots = re.findall(r"^[├└]── (\S+) ", text, re.MULTILINE)
    assert roots == [kernel["stage"] for kernel in record["kernels"]][::-1]
    numbered = re.findall(r'class="kernel">Kernel (\d+)</span>.*?data-func="(\w+)"',
                          page_of(folder, records["flat"]), re.DOTALL)
    assert [int(number) for number, _ in numbered] == list(range(1, len(roots) + 1))
    assert numbered[-1][1] == "out"


def test_page_is_sound_and_complete(records, folder):
    record = json.loads(records["best"].read_text())
    page = require_sound(page_of(folder, records["best"]))
    assert sorted(page.values("data-of", "card")) == FUNCS
    # Every Func is in the loop nest, as a loop or inlined.
    assert set(page.values("data-func")) == set(FUNCS)
    assert len(page.values("class", "mark")) == len(record["progress"])
    assert len(page.values("class", "fill")) == sum(len(f["places"]) for f in record["funcs"])
    assert len(page.values("class", "chosen")) == len(FUNCS)
    for words in ("registers", "in all", "Predicted time", record["target"], record["schedule"]):
        assert words in page.cdata
    for stage in record["stages"]:
        largest = max(stage["terms"], key=lambda term: term["cost_ms"])
        if largest["cost_ms"] > 0.1 * stage["cost_ms"] > 1e-6:
            assert largest["what"] in page.cdata


def test_stacked_bars_add_up(records, folder):
    """The parts of the bar on top are the whole predicted time."""
    text = page_of(folder, records["best"])
    first = text[text.index('<span class="stack">'):]
    first = first[:first.index("</span>\n")]
    total = sum(float(width) for width in re.findall(r"width:([\d.]+)%", first))
    assert total == pytest.approx(100, abs=0.5)


def test_comparison_shows_differences_first(records, folder):
    both = [json.loads(records[name].read_text()) for name in ("best", "flat")]
    places = [{func["name"]: func["place"] for func in record["funcs"]} for record in both]
    moved = {name for name in FUNCS if places[0][name] != places[1][name]}
    assert moved and moved != set(FUNCS)
    arguments = records["best"], "--compare", records["flat"]
    page = require_sound(page_of(folder, *arguments))
    assert set(page.values("data-of", "differs")) == moved
    rows = [name for name in page.values("class") if name in ("differs", "same")]
    assert rows == ["differs"] * len(moved) + ["same"] * (len(FUNCS) - len(moved))
    assert "search_space_options" in page.cdata and "record_path" not in page.cdata
    text, _ = explain(*arguments)
    table = text[text.index("Places of the Funcs"):]
    order = re.findall(r"^ (out|rows|scaled|source|sums) ", table, re.MULTILINE)[:len(FUNCS)]
    assert set(order[:len(moved)]) == moved and sorted(order) == FUNCS


def test_same_record_twice_differs_in_nothing(records, folder):
    page = require_sound(page_of(folder, records["best"], "--compare", records["best"]))
    assert not page.values("class", "differs") and "best (2)" in page.cdata


def test_different_pipelines_cannot_be_compared(records):
    out, errors = explain(records["best"], "--compare", records["other"], expected=1)
    assert out == "" and errors.count("\n") == 1 and "different pipelines" in errors


def without(path):
    """Takes one member out of a record."""
    def change(record):
        *way, last = path
        for key in way:
            record = record[key]
        del record[last]
    return change


def deep(record):
    for _ in range(300):
        record["tree"] = {"func": "f", "stage": 0, "axis": "serial", "loops": [],
                          "vector_dim": 0, "inlined": [], "children": [record["tree"]]}


@pytest.mark.parametrize("change, words", [
    (without(["kernels", 0, "threads"]), r"kernels\[0\]\.threads is missing"),
    (without(["tree", "children", 0, "axis"]), r"tree\.children\[0\]\.axis is missing"),
    (without(["tree"]), "was not written by option record_path"),
    (lambda r: r.update(format=2), "its format is 2, this program reads 1"),
    (lambda r: r.update(cost_ms=float("nan")), "cost_ms should be a finite number"),
    (lambda r: r.update(stages="none"), "stages should be an array"),
    (lambda r: r["funcs"][0]["place"].update(kind="moon"), r"place\.kind should be one of"),
    (lambda r: r["kernels"][0].update(blocks=1.5), "blocks should be a whole number"),
    (lambda r: r["kernels"][0].update(blocks=10**400), "blocks should be a finite number"),
    (lambda r: r.update(target="\ud800"), "no Unicode"),
    (deep, "too deep"),
])
def test_damaged_records(records, folder, change, words):
    record = json.loads(records["best"].read_text())
    change(record)
    path = folder / "damaged.json"
    path.write_text(json.dumps(record))
    require_refusal(path, words)


@pytest.mark.parametrize("content, words", [
    (b"", "it is no JSON"), (b"[1, 2]", "was not written by"), (b"\xff\xfe\x00", "it is no text"),
    (b"[" * 100000, "it is no JSON"), (b'{"format": 1, "tre', "it is no JSON"),
    (None, "No such file"),
])
def test_foreign_files(folder, content, words):
    path = folder / "foreign.json"
    if content is not None:
        path.write_bytes(content)
    require_refusal(path, words)


def require_refusal(path, words):
    """One line that names the file and says what is wrong."""
    out, errors = explain(path, expected=1)
    assert out == "" and errors.count("\n") == 1, errors
    assert str(path) in errors and re.search(words, errors), errors


def test_names_are_only_text(records, folder):
    """Names that look like HTML or like markup of the terminal are shown as they are."""
    path = folder / "hostile.json"
    name = "<b>[red]&quot;"
    text = records["best"].read_text().replace('"rows"', json.dumps(name))
    path.write_text(text)
    page = require_sound(page_of(folder, path))
    assert name in page.values("data-of", "card") and name in page.cdata
    assert name in explain(path, "--width", "160")[0]


def test_warnings_name_all_kernels_they_concern(records, folder):
    record = json.loads(records["flat"].read_text())
    kernels = record["kernels"]
    for kernel in kernels:
        kernel.update(warnings=["Hot"], occupancy=1)
    kernels[0]["warnings"].append("Cold")
    path = folder / "warm.json"
    path.write_text(json.dumps(record))
    names = [f"{number} ({kernel['stage']})" for number, kernel in enumerate(kernels[::-1], 1)]
    warnings = re.findall("^! (.*)$", explain(path, "--width", "300")[0], re.MULTILINE)
    assert f"Hot: kernels {', '.join(names)}" in warnings
    assert f"Kernel {names[-1]}: Cold" in warnings
    # Launches of that many kernels take longer than this pipeline.
    assert any("kernel launches take about" in warning for warning in warnings)


def test_nothing_is_divided_by_a_cost_of_zero(records, folder):
    record = json.loads(records["flat"].read_text())
    text = json.dumps(record)
    path = folder / "free.json"
    text = re.sub(r'("(best_)?cost_ms"|"elapsed_ms"|"multiplier"): [-\de.]+', r"\1: 0", text)
    assert '"cost_ms": 0,' in text
    path.write_text(text)
    require_sound(page_of(folder, path))
    require_sound(page_of(folder, path, "--compare", records["best"]))
    assert "Loop nest" in explain(path)[0]


def test_page_that_cannot_be_written(records, folder):
    target = folder / "no" / "such" / "page.html"
    _, errors = explain(records["best"], "--html", target, expected=1)
    assert errors.count("\n") == 1 and str(target) in errors


def test_module_and_application(records, tools, folder):
    """python -m explain, and `make explain` of an application."""
    done = subprocess.run([sys.executable, "-m", "explain", records["best"]], check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
                          capture_output=True, text=True, encoding="utf-8")
    assert "Loop nest" in done.stdout
    outcome = run(["make", "-C", ROOT / "apps" / "hist", "explain", f"PLUGIN={tools.plugin}",
                   f"OUT={folder}", "BEAM_SIZE=1", "HL_TARGET=host-cuda-cuda_capability_70",
                   "PARALLELISM=80", f"VENV={sys.prefix}", "CXXFLAGS=-O0"]).require_success()
    assert "Loop nest" in outcome.output
    require_sound((folder / "hist.html").read_text(encoding="utf-8"))
