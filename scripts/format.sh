#!/usr/bin/env bash
# Formats all C++ sources with clang-format 14; with --check only reports. Other versions format
# differently, so without version 14 the check is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
    echo "format: clang-format 14 not found, formatting not checked"
    exit 0
fi
mapfile -t files < <(git ls-files 'src/*.h' 'src/*.cpp' 'test/*.h' 'test/*.cpp' 'apps/*.h' 'apps/*.cpp')
if [ "${1:-}" = --check ]; then
    "$tool" --dry-run --Werror "${files[@]}" || { echo "format: run make format" >&2; exit 1; }
    echo "format: ${#files[@]} files are formatted"
else
    "$tool" -i "${files[@]}"
fi
