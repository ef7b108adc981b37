#!/usr/bin/env bash
# Averages the figures of the search logs of a folder of samples.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/utils.sh"
autotune_exec average "$@"
