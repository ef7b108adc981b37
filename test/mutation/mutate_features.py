"""Checks that the unit tests notice small faults in the formulas of the schedule features.

usage: mutate_features.py [--build FOLDER] [--jobs N] [--only NUMBER ...] [--docs]

Copies the sources, weaves all mutants of mutants.txt into them, compiles once and runs the tests
once per mutant, which is chosen by an environment variable. A mutant is killed if a test fails,
crashes or runs too long. The exit status is 1 if the tests fail without a mutant, if a mutant
survives that is not marked as equivalent, or one is killed that is. --docs puts the result into
docs/compatibility.md.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import mutant_table

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "compatibility.md"
TIMEOUT = 120  # seconds; all tests together take a few
HEADER = """#pragma once
#include <cstdlib>
inline int anderson_mutant() {
    static const int chosen = [] {
        const char *const text = std::getenv("ANDERSON_MUTANT");
        return text != nullptr ? std::atoi(text) : 0;
    }();
    return chosen;
}
"""


def write_if_changed(path, text):
    """Keeps time stamps of files that stay the same, so that a rebuild is short."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def build(sites, folder, jobs):
    """Compiles the mutated sources; returns the test program."""
    copy = folder / "sources"
    mutated = mutant_table.mutated_files(ROOT / "src", sites)
    wanted = set()
    for top in ("src", "test/support", "test/unit"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".def"):
                relative = path.relative_to(ROOT)
                text = mutated.get(str(relative.relative_to("src"))) if top == "src" else None
                write_if_changed(copy / relative, path.read_text() if text is None else text)
                wanted.add(copy / relative)
    write_if_changed(copy / "mutant.h", HEADER)
    for path in copy.rglob("*"):
        if path.is_file() and path not in wanted and path.name != "mutant.h":
            path.unlink()
    cmake = shutil.which("cmake") or "cmake"
    configure = [cmake, "-S", pathlib.Path(__file__).parent, "-B", folder / "build"]
    configure.append(f"-DMUTANT_SOURCE_DIR={copy}")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", folder / "build", "-j", str(jobs)], check=True)
    return folder / "build" / "mutation_tests"


def first_failure(output):
    """Name of the test that failed, from the output of GoogleTest."""
    found = re.findall(r"^\[  FAILED  \] (\S+)", output, re.MULTILINE)
    return found[0].rstrip(",") if found else "crash"


def run_tests(program, number):
    """What kills the mutant of that number: a test, "crash", "timeout", or "" if nothing does."""
    env = dict(os.environ, ANDERSON_MUTANT=str(number), GTEST_FAIL_FAST="1", GTEST_BRIEF="1")
    # Runs side by side must not share files: that would look like a killed mutant.
    with tempfile.TemporaryDirectory(prefix="mutant_") as scratch:
        env["TEST_TMPDIR"] = scratch
        try:
            done = subprocess.run(
                [program], env=env, timeout=TIMEOUT, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return "timeout"
    return first_failure(done.stdout) if done.returncode != 0 else ""


def summary(sites, killed_by):
    """Rows (feature, mutants, killed, equivalent) of all features."""
    count = collections.Counter()
    for site in sites:
        for r in site.replacements:
            for feature in site.features:
                count[feature, "all"] += 1
                count[feature, "killed"] += bool(killed_by.get(r.number))
                count[feature, "equivalent"] += bool(r.equivalent)
    columns = ("all", "killed", "equivalent")
    return [(f, *(count[f, c] for c in columns)) for f in range(mutant_table.NUM_FEATURES)]


def docs_table(sites, killed_by):
    """The result as Markdown."""
    mutants = [r for site in sites for r in site.replacements]
    equivalent = [r for r in mutants if r.equivalent]
    lines = [
        f"{len(mutants)} mutants at {len(sites)} places, {len(mutants) - len(equivalent)} killed, "
        f"{len(equivalent)} equivalent to the original, 0 survivors.",
        "",
        "Mutants killed per feature, equivalent ones in parentheses; a mutant of a shared helper "
        "counts for all",
        "features that it can change.",
        "",
    ]
    rows = [f"{f}: {killed}" + (f" (+{eq})" if eq else "")
            for f, _, killed, eq in summary(sites, killed_by)]
    width = 10
    lines += ["| " + " | ".join(rows[:width]) + " |", "|" + "---|" * width]
    for i in range(width, len(rows), width):
        cells = rows[i:i + width]
        lines.append("| " + " | ".join(cells + [""] * (width - len(cells))) + " |")
    if equivalent:
        lines += ["", "The equivalent ones, and why no test can find them:", ""]
        for site in sites:
            for r in site.replacements:
                if r.equivalent:
                    what = f"`{site.original}` → `{r.text}` in `{site.file}`"
                    lines.append(f"* {what}: {r.equivalent}.")
    return "\n".join(lines)


def write_docs(text):
    """Replaces what lies between the two marks."""
    begin, end = "<!-- mutants begin -->\n", "<!-- mutants end -->"
    document = DOCS.read_text()
    head, rest = document.split(begin)
    DOCS.write_text(head + begin + text + "\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description="Mutation run over the schedule features.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    parser.add_argument("--docs", action="store_true", help="write docs/compatibility.md")
    args = parser.parse_args()

    sites = mutant_table.read_table()
    program = build(sites, args.build.resolve(), args.jobs)
    failure = run_tests(program, 0)
    if failure:
        sys.exit(f"the tests fail without any mutant: {failure}")
    mutants = [(s, r) for s in sites for r in s.replacements]
    if args.only:
        mutants = [m for m in mutants if m[1].number in args.only]
    wrong = []
    killed_by = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda m: run_tests(program, m[1].number), mutants)
        for (site, r), killer in zip(mutants, results):
            killed_by[r.number] = killer
            print(f"{r.number:4} {site.file}:{r.text[:50]:50} {killer or 'SURVIVED'}", flush=True)
            if bool(killer) == bool(r.equivalent):
                wrong.append((site, r, killer))
    for feature, total, killed, equivalent in summary(sites, killed_by):
        print(f"feature {feature:2}: {total:3} mutants, {killed:3} killed, {equivalent} equivalent")
    print(f"{len(mutants)} mutants, {sum(map(bool, killed_by.values()))} killed")
    for site, r, killer in wrong:
        what = f"killed by {killer} although marked as equivalent" if killer else "SURVIVED"
        print(f"{r.number} {what}: mutants.txt:{site.line}, features {site.features}\n"
              f"    {site.before} «{site.original}» {site.after}\n    -> {r.text}")
    if wrong:
        sys.exit(1)
    if args.docs and not args.only:
        write_docs(docs_table(sites, killed_by))


if __name__ == "__main__":
    main()
