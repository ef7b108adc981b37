#!/usr/bin/env bash
# Makes the machine ready: system packages (by apt where we are root) and the Python environment
# with the pinned versions of requirements.txt. Does nothing the second time.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${ANDERSON_VENV:-$PWD/.venv}

fail() {
    echo "setup: $*" >&2
    exit 1
}

# Each line: what must exist -> the Debian/Ubuntu package that brings it.
missing_packages() {
    command -v g++ >/dev/null || echo g++
    command -v make >/dev/null || echo make
    command -v pkg-config >/dev/null || echo pkg-config
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    echo '#include <gtest/gtest.h>' | g++ -fsyntax-only -x c++ - 2>/dev/null || echo libgtest-dev
    echo '#include <nlohmann/json.hpp>' | g++ -std=c++17 -fsyntax-only -x c++ - 2>/dev/null ||
        echo nlohmann-json3-dev
    ldconfig -p 2>/dev/null | grep -q libOpenCL.so.1 || echo ocl-icd-libopencl1
    ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || echo pocl-opencl-icd
}

packages=$(missing_packages | sort -u | tr '\n' ' ')
if [ -n "$packages" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing $packages"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q >/dev/null || true
        # shellcheck disable=SC2086
        apt-get install -y -q --no-install-recommends $packages >/dev/null ||
            fail "apt-get could not install: $packages"
    else
        fail "please install these packages first: sudo apt-get install $packages"
    fi
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "Python 3.9 or newer is needed"
stamp="$venv/.requirements"
if ! cmp -s requirements.txt "$stamp"; then
    echo "setup: installing the Python packages of requirements.txt into $venv"
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt ||
        fail "pip could not install requirements.txt"
    cp requirements.txt "$stamp"
fi
