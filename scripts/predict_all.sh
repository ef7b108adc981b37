#!/usr/bin/env bash
# Predicts the run times of all samples of a folder. --help tells how.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/utils.sh"
autotune_exec predict "$@"
