#!/usr/bin/env bash
# Averages the figures of the search logs of a folder of samples.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/utils.sh"
autotune_tool average "$@"
