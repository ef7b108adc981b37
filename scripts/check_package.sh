#!/usr/bin/env bash
# From nothing to an autoscheduled library, with nothing but what pip brings: makes the source
# archive, installs it into a fresh environment (which compiles it there), schedules and runs a
# pipeline from Python and one from a CMake project.
# usage: scripts/check_package.sh [work folder; default: build/check-package]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(realpath -m "${1:-build/check-package}")
rm -rf "$work"
mkdir -p "$work/project"
# OpenCL on the processor, as in the tests.
export HL_OCL_DEVICE_TYPE=cpu POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable

"${ANDERSON_VENV:-$root/.venv}/bin/python" -c \
    'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$work"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$work"/halide_anderson2021-*.tar.gz \
    cmake ninja
export PATH="$work/venv/bin:$PATH"

python docs/examples/blur.py | tail -1
for command in "$work"/venv/bin/anderson2021-*; do
    "$command" --version
    test -s "$work/venv/share/man/man1/${command##*/}.1"
    test -s "$work/venv/share/bash-completion/completions/${command##*/}"
done
anderson2021-check-weights "$(python -m halide_anderson2021 --weights gpu)"
# That one needs libHalide, which only the environment has.
anderson2021-generate-samples --out "$work/samples" --random 1 --count 2 --threads 1
cp test/package/*.cpp test/package/cmake/CMakeLists.txt "$work/project"
cd "$work/project"
cmake -S . -B build -G Ninja -DBLUR_TARGET=host-opencl \
    -Danderson2021_DIR="$(python -m halide_anderson2021 --cmake)"
cmake --build build
build/run_blur
