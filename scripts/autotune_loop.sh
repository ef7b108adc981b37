#!/usr/bin/env bash
# Tries schedules of one pipeline, times them, trains on them, keeps the best. --help tells how.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/utils.sh"
autotune_exec loop "$@"
