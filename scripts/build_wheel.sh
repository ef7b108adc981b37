#!/usr/bin/env bash
# Builds the Python package with the tools of the virtual environment.
# usage: scripts/build_wheel.sh [folder for the wheel; default: dist]
# With ANDERSON_TREE naming an installed tree, that becomes the content of the wheel, and nothing is
# compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
bin=${ANDERSON_VENV:-$PWD/.venv}/bin
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

settings=()
if [ -n "${ANDERSON_TREE:-}" ]; then
    settings=(-C cmake.source-dir=test/package/wheel_from_tree -C "build-dir=$temporary/build"
        -C "cmake.define.ANDERSON_TREE=$(cd "$ANDERSON_TREE" && pwd)")
fi
PATH="$bin:$PATH" "$bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$temporary" "${settings[@]}" .
# Gives the wheel the name of the oldest systems that it fits. libHalide is another package's.
PATH="$bin:$PATH" "$bin/auditwheel" repair --exclude libHalide.so --wheel-dir "$folder" \
    "$temporary"/halide_anderson2021-*.whl 2>&1 | sed 's/^/wheel: /'
