#!/usr/bin/env bash
# Makes samples of applications or random pipelines. --help tells how.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/utils.sh"
autotune_exec data "$@"
