"""The table of mutants fits the sources and covers every schedule feature."""

import pathlib
import re

import mutant_table
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITES = mutant_table.read_table()
MUTANTS = [r for site in SITES for r in site.replacements]


def site_of(text, tmp_path):
    """The only site of a table with that text."""
    path = tmp_path / "mutants.txt"
    path.write_text("[a.cpp]\n" + text)
    (site,) = mutant_table.read_table(path)
    return site


def test_every_feature_has_mutants():
    covered = {f for site in SITES for f in site.features}
    assert covered == set(range(mutant_table.NUM_FEATURES))
    assert len(MUTANTS) >= 150


def test_texts_are_in_the_sources_exactly_once():
    for file, text in mutant_table.mutated_files(ROOT / "src", SITES).items():
        numbers = [int(n) for n in re.findall(r"anderson_mutant\(\) == (\d+) ", text)]
        expected = [r.number for s in SITES if s.file == file for r in s.replacements]
        assert sorted(numbers) == expected, file


def test_replacements_differ_from_the_original():
    for site in SITES:
        texts = ["".join(t.split()) for t in [site.original, *(r.text for r in site.replacements)]]
        assert len(set(texts)) == len(texts), site


def test_few_mutants_are_equivalent():
    equivalent = [r for r in MUTANTS if r.equivalent]
    assert len(equivalent) * 20 < len(MUTANTS)
    # Features are covered by mutants that a test can find.
    killable = {f for s in SITES for r in s.replacements if not r.equivalent for f in s.features}
    assert killable == set(range(mutant_table.NUM_FEATURES))


def test_documents_tell_the_last_result():
    document = (ROOT / "docs" / "compatibility.md").read_text()
    equivalent = sum(bool(r.equivalent) for r in MUTANTS)
    assert (
        f"{len(MUTANTS)} mutants at {len(SITES)} places, {len(MUTANTS) - equivalent} killed, "
        f"{equivalent} equivalent" in document
    ), "run `make check-mutants`"


def test_white_space_does_not_matter(tmp_path):
    site = site_of("3 5-6: f.a = «b *\n    c»;\n    -> c\n    = why\n", tmp_path)
    assert site.features == [3, 5, 6]
    assert site.replacements[0].equivalent == "why"
    source = "x(); f.a =\n    b   * c;"
    begin, end = mutant_table.locate(site, source)
    assert source[begin:end] == "b   * c"
    woven = mutant_table.mutate(source, [(begin, end, site)])
    assert woven == "x(); f.a =\n    (anderson_mutant() == 1 ? (c) : (b   * c));"


def test_texts_inside_others(tmp_path):
    outer = site_of("1: «a + b»;\n    -> a\n    -> b\n", tmp_path)
    inner = site_of("1: a + «b»;\n    -> c\n", tmp_path)
    inner.replacements[0].number = 3
    source = "a + b;"
    placed = [(*mutant_table.locate(s, source), s) for s in (inner, outer)]
    assert mutant_table.mutate(source, placed) == (
        "(anderson_mutant() == 2 ? (b) : (anderson_mutant() == 1 ? (a) : "
        "(a + (anderson_mutant() == 3 ? (c) : (b)))));"
    )


@pytest.mark.parametrize("source", ["nothing", "f = a; f = a;"])
def test_stale_texts_are_errors(tmp_path, source):
    site = site_of("1: f = «a»;\n    -> b\n", tmp_path)
    with pytest.raises(mutant_table.TableError, match="times in a.cpp"):
        mutant_table.locate(site, source)


def test_overlaps_are_errors(tmp_path):
    sites = [site_of(f"1: «{text}»\n    -> c\n", tmp_path) for text in ("a + b", "b + c")]
    with pytest.raises(mutant_table.TableError, match="overlaps"):
        mutant_table.mutate("a + b + c", [(0, 5, sites[0]), (4, 9, sites[1])])


@pytest.mark.parametrize(
    "text",
    ["73: «a»\n    -> b\n", "x: «a»\n    -> b\n", "1: no marks\n    -> b\n", "1: «a»\n"],
)
def test_malformed_tables_are_errors(tmp_path, text):
    with pytest.raises(mutant_table.TableError):
        site_of(text, tmp_path)
