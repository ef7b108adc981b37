#!/usr/bin/env bash
# Configures a build folder with the tools and the Halide package of the virtual environment.
# usage: scripts/configure.sh <preset> [more CMake arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/configure.sh <preset> [CMake arguments]}
shift
venv=${ANDERSON_VENV:-$PWD/.venv}
halide=$("$venv/bin/python" -c 'import halide, os; print(os.path.dirname(halide.__file__))')
PATH="$venv/bin:$PATH" exec cmake --preset "$preset" \
    -DHalide_DIR="$halide/lib64/cmake/Halide" \
    -DHalideHelpers_DIR="$halide/lib64/cmake/HalideHelpers" \
    -DPython3_EXECUTABLE="$venv/bin/python" "$@"
