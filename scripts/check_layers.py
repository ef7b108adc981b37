#!/usr/bin/env python3
"""Checks that includes point down the layers only, and the limits on file sizes.

A folder of src/ is a layer. `ALLOWED` says which layers each may include; only the layers in
`MAY_SEE_HALIDE` may include Halide.h. Exit status 1 and one line per violation otherwise.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 500

BASE = {"support"}
NUMBERS = BASE | {"device", "features"}
GRAPH = NUMBERS | {"algorithm"}
TREE = GRAPH | {"schedule"}

ALLOWED = {
    "support": set(),
    "device": BASE,
    "features": BASE,
    "tiling": BASE | {"device"},
    "costmodel": BASE | {"features"},
    "training": BASE | {"features", "costmodel"},
    "algorithm": NUMBERS,
    "schedule": GRAPH,
    "space": TREE | {"tiling"},
    "pruning": TREE,
    "featurizer": TREE,
    "lowering": TREE,
    "search": TREE | {"space", "pruning", "featurizer", "costmodel", "tiling"},
    "frontend": GRAPH,
    "backend": GRAPH | {"lowering"},
}
EVERYTHING = set(ALLOWED) | {"plugin", "tools"}
ALLOWED["plugin"] = EVERYTHING - {"tools", "training"}
ALLOWED["tools"] = EVERYTHING

MAY_SEE_HALIDE = {"frontend", "backend", "plugin"}
# The network is a Halide generator of its own, and its caller needs the runtime's buffer type.
HALIDE_FILES = {"costmodel/network": "Halide.h", "costmodel": "HalideBuffer.h HalideRuntime.h",
                "tools/with_compiler": "Halide.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def violations_of(path):
    relative = path.relative_to(ROOT / "src")
    layer = relative.parts[0]
    lines = path.read_text().splitlines()
    if layer not in ALLOWED:
        yield f"{relative}: folder {layer} is not a known layer"
        return
    if len(lines) > MAX_LINES:
        yield f"{relative}: {len(lines)} lines, at most {MAX_LINES} are allowed"
    folder = relative.parent.as_posix()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        if included.startswith("Halide"):
            extra = HALIDE_FILES.get(folder, "").split()
            if layer not in MAY_SEE_HALIDE and included not in extra:
                yield f"{relative}:{number}: layer {layer} must not include {included}"
            continue
        target = included.split("/")[0] if "/" in included else None
        if target in EVERYTHING and target != layer and target not in ALLOWED[layer]:
            yield f"{relative}:{number}: layer {layer} must not include {included}"


def main():
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cpp"))
    found = [v for path in files for v in violations_of(path)]
    for violation in found:
        print(f"layers: {violation}", file=sys.stderr)
    if found:
        return 1
    print(f"layers: {len(files)} files respect the layers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
