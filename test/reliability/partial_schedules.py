"""What is done with partial schedules, for pipelines of many kinds out of the corpus.

The decisions of a schedule, or a part of them, are given back as a partial schedule: what they say
must hold in the result, which must be right. Damaged ones must end in a message that names the file
and the Func.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Callable

import halide as hl

from corpus import CLASSES, register

import steps
from steps import CUDA, OPENCL, Reference, Wrong

CLASS = "partial_schedules"
PREFIX = "partial_schedule_of_"
# Names are those of the pipelines.
OF = (
    "one_point_3d", "tiny_7_by_1", "tall_3_by_10000000", "dims_6", "ones_but_the_last",
    "no_dimensions_with_update", "min_of_minus_5", "outputs_histogram_and_its_source",
    "outputs_softmax_with_all_stages", "outputs_of_different_sizes",
    "update_of_a_row_and_a_column", "updates_with_different_loops", "scan_along_y",
    "scan_of_a_vector", "integral_image", "scatter_by_data", "where_in_a_circle",
    "tuple_of_two_types", "tuple_of_minimum_and_its_place", "directive_specialize",
    "directive_in", "directive_clone_in", "mixture_of_dims", "boundary_of_func_mirror",
    "table_of_a_func", "chain_of_40", "chain_of_45_stencils", "pyramid", "layer_normalisation",
    "convolution_and_pooling", "stencil_of_f16", "booleans", "many_types_in_a_row",
    "scalar_sum", "histogram_of_256_bins", "mean_and_variance", "place_of_the_last_maximum",
    "histogram_equalisation", "extern_between_funcs", "extern_whose_input_others_read",
)

_, family = register(CLASS)
LEVEL = re.compile(r"( *)(\S+)((?: \d+v?c?)*) \(-?\d+, -?\d+\).* gpu_(\w+)$")


def original(name: str) -> str:
    """Of a pipeline of this class, the one that it is."""
    return name.removeprefix(PREFIX)


def add_class() -> None:
    """Once all other classes are there."""
    steps.RUNNERS[CLASS] = run_all
    for name in OF:
        maker = next(known[name] for known in CLASSES.values() if name in known)
        CLASSES[CLASS][PREFIX + name] = maker


# Texts of schedule trees.

def func_of(line: str) -> str:
    """The Func that a line is about; empty for that of the root."""
    words = line.split()
    if words[0] in ("realize:", "inlined:"):
        return words[1]
    return "" if words == ["gpu_none"] else words[0]


def is_level(line: str) -> bool:
    return bool(func_of(line)) and line.split()[0] not in ("realize:", "inlined:")


def decided(tree: list[str]) -> list[str]:
    """Funcs, roughly as they are decided on: outputs first, then what is fused into them."""
    kernels, names = [], []
    for line in tree:
        if not line.startswith(" ") or not kernels:
            kernels.append([])
        kernels[-1].append(line)
    for kernel in reversed(kernels):
        names += [func_of(line) for line in kernel if func_of(line)]
    return list(dict.fromkeys(names))


def about(tree: list[str], funcs) -> list[str]:
    return [line for line in tree if func_of(line) in funcs]


def without_counts(lines: list[str]) -> list[str]:
    """How often something is inlined depends on the others."""
    return sorted(re.sub(r"^ *(inlined: \S+) \d+$", r"\1", line) for line in lines)


def in_the_middle(tree: list[str]) -> str:
    """A Func that is fused into another one, or else one in the middle."""
    fused, open_levels = [], []
    for line in filter(is_level, tree):
        indent = len(line) - len(line.lstrip())
        open_levels = [level for level in open_levels if level[0] < indent]
        if open_levels and open_levels[-1][1] != func_of(line):
            fused.append(func_of(line))
        open_levels.append((indent, func_of(line)))
    names = decided(tree)
    return fused[0] if fused else names[len(names) // 2]


def swapped(lines: list[str]) -> tuple[list[str], str]:
    """The first two levels of a Func change places."""
    for k, (one, other) in enumerate(zip(lines, lines[1:])):
        if is_level(one) and is_level(other) and func_of(one) == func_of(other):
            return [*lines[:k], other, one, *lines[k + 2:]], func_of(one)
    raise AssertionError("no two levels")


def changed(lines: list[str], change: Callable[[re.Match], str]) -> tuple[list[str], str]:
    """The last level is another one."""
    k = max(k for k, line in enumerate(lines) if is_level(line))
    return [*lines[:k], change(LEVEL.match(lines[k])), *lines[k + 1:]], func_of(lines[k])


def damaged(tree: list[str]) -> dict[str, tuple[str, str]]:
    """Texts that cannot be followed, and words of the message."""
    last = decided(tree)[-1]
    unknown = [line.replace(f" {last} ", " nobody ") if not is_level(line) else
               re.sub(rf"^( *){re.escape(last)} ", r"\1nobody ", line) for line in tree]
    swap, swapped_func = swapped(tree)
    more, more_func = changed(tree, lambda m: m[0].replace(" (", " 1 (", 1))
    cut, cut_func = changed(tree, lambda m: m[0].split(" (")[0])
    cut = cut[:1 + next(k for k, line in enumerate(cut) if is_level(line) and "(" not in line)]
    texts = {"unknown": (unknown, "nobody"), "swapped": (swap, swapped_func),
             "dims": (more, more_func), "cut": (cut, cut_func),
             "foreign": (["inlined: of_another_pipeline 4"], "of_another_pipeline")}
    return {name: ("\n".join(lines) + "\n", word) for name, (lines, word) in texts.items()}


# Runs. Each in a process of its own, since names depend on what was made before.

class Outcome:
    """What a process said: its last words, and all that it wrote."""

    def __init__(self, result: str, log: str) -> None:
        self.result, self.log = result, log


def in_process(action: Callable[[], str]) -> Outcome:
    """What `action` returns. Its HalideError and Wrong come out of here."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as log:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                try:
                    said.write(action().encode())
                    code = 0
                except hl.HalideError as error:
                    said.write(str(error).encode())
                    code = 2
                except Wrong as error:
                    said.write(str(error).encode())
                    code = 3
                said.flush()
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for file in (said, log):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if status not in (0, 2, 3):
        raise RuntimeError(f"exit status {status}: {texts[1][-2000:]}")
    print(texts[1], flush=True)
    if status == 2:
        raise hl.HalideError(texts[0])
    if status == 3:
        raise Wrong(texts[0])
    return Outcome(*texts)


class PartialSchedules:
    """One pipeline and the folder with its schedules."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.tree: list[str] = []

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def schedule(self, label: str, run: bool, **options) -> tuple[list[str], str, str]:
        """Tree, C++ text and log of a schedule; runs it at the first size, or compiles it for
        another target if there is no OpenCL for its types."""
        place = self.folder / label / "best"
        place.parent.mkdir()

        def action() -> str:
            case = steps.make(self.name)
            runs = not any("run" in words.split() for words in case.unsupported)
            target = OPENCL if runs else CUDA
            pipeline = steps.schedule(case, target, top_k_path=place, **options)
            if run and runs:
                steps.run_at(Reference(self.name), case, pipeline, case.sizes[0])
            elif run:
                steps.lower(case, pipeline, target)
            return ""
        outcome = in_process(action)
        tree = Path(f"{place}.0.tree").read_text().splitlines()
        return tree, Path(f"{place}.0.schedule.h").read_text(), outcome.log

    def whole(self) -> None:
        """All of it, with other options for all the rest: the same schedule."""
        self.tree, text, _ = self.schedule("free", run=False)
        path = self.file("whole.txt", "\n".join(self.tree) + "\n")
        for label, options in (("again", {}), ("greedy", {"beam_size": 1})):
            tree, again, _ = self.schedule(label, run=not options, partial_schedule_path=path,
                                           **options)
            if (tree, again) != (self.tree, text):
                raise Wrong(f"{label}: another schedule:\n{again}\ninstead of\n{text}")

    def kept(self, label: str, funcs) -> None:
        lines = about(self.tree, funcs)
        path = self.file(f"{label}.txt", "\n".join(lines) + "\n")
        tree, _, _ = self.schedule(label, run=True, partial_schedule_path=path)
        have, want = without_counts(about(tree, funcs)), without_counts(lines)
        if have != want:
            raise Wrong(f"not kept: {want} became {have}")

    def half(self) -> None:
        names = decided(self.tree)
        self.kept("half", names[:(len(names) + 1) // 2])

    def one(self) -> None:
        self.kept("one", [in_the_middle(self.tree)])

    def damaged(self) -> None:
        for label, (text, word) in damaged(self.tree).items():
            path = self.file(f"{label}.txt", text)
            try:
                self.schedule(label, run=False, partial_schedule_path=path)
            except hl.HalideError as error:
                message = str(error)
                if str(path) not in message or word not in message or "Internal" in message:
                    raise Wrong(f"{label}: not told about {word}: {message}") from error
            else:
                raise Wrong(f"{label}: no error for\n{text}")
        path = self.file("empty.txt", "")
        *same, log = self.schedule("empty", run=False, partial_schedule_path=path)
        if f"Warning: the partial schedule {path}" not in log:
            raise Wrong("an empty file makes no difference, but nothing says so")
        if same[0] != self.tree:
            raise Wrong("an empty file makes a difference")


def run_all(name: str, short: bool, tell) -> None:
    """All steps, or only the first one."""
    name = original(name)
    with tempfile.TemporaryDirectory(prefix="partial_schedules") as folder:
        schedules = PartialSchedules(name, Path(folder))
        all_steps = steps.Steps(steps.make(name), tell)
        if all_steps.run("whole", schedules.whole) and not short:
            for step in ("half", "one", "damaged"):
                all_steps.run(step, getattr(schedules, step))
