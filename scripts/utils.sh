#!/usr/bin/env bash
# Functions for scripts around samples, weights and autotuning; to be sourced. Functions with a
# "variable" argument store their result there. Paths may hold blanks.

ANDERSON_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ANDERSON_PYTHON=${ANDERSON_VENV:-$ANDERSON_ROOT/.venv}/bin/python

# autotune_exec command argument...: goes on as the Python package behind the scripts.
autotune_exec() {
    if [ ! -x "$ANDERSON_PYTHON" ]; then
        echo "there is no $ANDERSON_PYTHON: run \`make plugin\` in $ANDERSON_ROOT first" >&2
        exit 1
    fi
    export PYTHONPATH="$ANDERSON_ROOT/scripts${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
    exec "$ANDERSON_PYTHON" -m autotune "$@"
}

# autotune_tool command argument...: the same, and comes back.
autotune_tool() { (autotune_exec "$@"); }

# make_dir_path_absolute path variable; the folder has to exist.
make_dir_path_absolute() {
    local absolute
    absolute=$(cd "$1" && pwd) || return 1
    printf -v "$2" '%s' "$absolute"
}

# make_file_path_absolute path variable; the folder that it is in has to exist.
make_file_path_absolute() {
    local absolute
    absolute=$(cd "$(dirname "$1")" && pwd) || return 1
    printf -v "$2" '%s' "$absolute/$(basename "$1")"
}

# get_halide_src_dir autoscheduler_dir variable: where headers, libraries and tools of Halide are.
get_halide_src_dir() {
    local folder
    folder=$("$ANDERSON_PYTHON" -c \
        'import halide, os; print(os.path.dirname(halide.__file__))') || return 1
    printf -v "$2" '%s' "$folder"
}

# get_autoscheduler_src_dir halide_dir variable
get_autoscheduler_src_dir() { printf -v "$2" '%s' "$ANDERSON_ROOT"; }

# get_autoscheduler_scripts_dir halide_dir variable
get_autoscheduler_scripts_dir() { printf -v "$2" '%s' "$ANDERSON_ROOT/scripts"; }

# find_built build_dir name variable: a program or library of a build folder.
find_built() {
    local place
    for place in . bin lib lib64 src/autoschedulers/anderson2021; do
        if [ -f "$1/$place/$2" ]; then
            printf -v "$3" '%s' "$1/$place/$2"
            return 0
        fi
    done
    echo "there is no $2 in $1: build it first" >&2
    return 1
}

# get_autoscheduler_build_dir build_dir variable: the folder with the plugin.
get_autoscheduler_build_dir() {
    local plugin
    find_built "$1" libautoschedule_anderson2021.so plugin || return 1
    make_dir_path_absolute "$(dirname "$plugin")" "$2"
}

# get_tools_build_dir build_dir variable: the folder with the programs.
get_tools_build_dir() {
    local program
    find_built "$1" retrain_cost_model program || return 1
    make_dir_path_absolute "$(dirname "$program")" "$2"
}

# get_host_target variable [feature...]: the target of this machine, without these features.
get_host_target() {
    local variable=$1 target halide
    shift
    get_halide_src_dir . halide || return 1
    target=$("$halide/bin/get_host_target" "$@") || return 1
    printf -v "$variable" '%s' "$target"
}

# get_num_cpu_cores variable
get_num_cpu_cores() { printf -v "$1" '%s' "$(nproc 2>/dev/null || sysctl -n hw.ncpu)"; }

# get_timeout_cmd variable: the program that limits another one's time.
get_timeout_cmd() {
    local found
    found=$(command -v timeout || command -v gtimeout) || {
        echo "there is neither timeout nor gtimeout" >&2
        return 1
    }
    printf -v "$1" '%s' "$found"
}

# retrain_cost_model build_dir samples_dir weights num_cores epochs pipeline [rate predictions
#                    verbose partition limit]: trains <weights> on all samples below a folder.
retrain_cost_model() {
    local program samples=$2 weights=$3 pipeline=$6
    find_built "$1" retrain_cost_model program || return 1
    [ -d "$samples" ] || { echo "there is no folder $samples" >&2; return 1; }
    find "$samples" -name '*.sample' | sort | "$program" \
        --epochs="$5" --rates="${7:-0.001}" --num_cores="$4" --initial_weights="$weights" \
        --weights_out="$weights" --best_benchmark="$samples/best.$pipeline.benchmark.txt" \
        --best_schedule="$samples/best.$pipeline.schedule.h" --predictions_file="${8:-}" \
        --verbose="${9:-0}" --partition_schedules="${10:-0}" --limit="${11:-0}"
}

# predict_all build_dir samples_dir weights predictions_file include_filenames limit parallelism
predict_all() { autotune_tool predict "$@"; }

# average_compile_time_beam_search samples_dir, average_compile_time_greedy samples_dir
average_compile_time_beam_search() { _average_compile_time "$1" 'beam search'; }
average_compile_time_greedy() { _average_compile_time "$1" greedy; }
_average_compile_time() {
    local lines
    lines=$(autotune_tool average "$1") || return 1
    grep -F "Average Compile time (s) ($2)" <<<"$lines"
}

# reset_weights build_dir weights [seed]: writes random weights.
reset_weights() {
    local program
    find_built "$1" retrain_cost_model program || return 1
    "$program" --reset_weights=1 --weights_out="$2" --seed="${3:-$RANDOM}" --epochs=1 --rates=1 \
        --num_cores=32 --best_benchmark= --best_schedule= --predictions_file= --verbose=0 \
        --partition_schedules=0 --limit=0
}

# extract_sample_details sample_file batch_id_variable sample_id_variable
extract_sample_details() {
    local name=${1##*/}
    if [[ ! $name =~ _batch_([0-9]+)_sample_([0-9]+) ]]; then
        echo "$1 is not called <pipeline>_batch_<number>_sample_<number>" >&2
        return 1
    fi
    printf -v "$2" '%d' "$((10#${BASH_REMATCH[1]}))"
    printf -v "$3" '%d' "$((10#${BASH_REMATCH[2]}))"
}

# extract_best_sample_details samples_dir pipeline batch_id_variable sample_id_variable
#                             milliseconds_variable
extract_best_sample_details() {
    local file="$1/best.$2.benchmark.txt" line
    [ -f "$file" ] || { echo "there is no $file" >&2; return 1; }
    line=$(head -n 1 "$file")
    extract_sample_details "${line##* in file }" "$3" "$4" || return 1
    printf -v "$5" '%s' "$(awk '{ print $4; exit }' "$file")"
}

# save_best_schedule_result best_dir samples_dir: keeps the best schedule of a folder of samples,
# unless there is a faster one. The name is that of the pipeline.
save_best_schedule_result() {
    local best=$1 samples=$2 file pipeline milliseconds known
    for file in "$samples"/best.*.benchmark.txt; do
        [ -f "$file" ] || { echo "there is no best schedule in $samples" >&2; return 1; }
        pipeline=${file##*/best.}
        pipeline=${pipeline%.benchmark.txt}
        milliseconds=$(awk '{ print $4; exit }' "$file")
        known=$(awk '/^Run time \(ms\) = / { print $NF }' "$best/$pipeline.txt" 2>/dev/null || true)
        if [ -n "$known" ] && awk "BEGIN { exit !($known <= $milliseconds) }"; then
            echo "$pipeline: $known ms is still the best"
            continue
        fi
        mkdir -p "$best" || return 1
        cp "$samples/best.$pipeline.schedule.h" "$best/$pipeline.h" || return 1
        [ ! -f "$samples/updated.weights" ] ||
            cp "$samples/updated.weights" "$best/$pipeline.weights" || return 1
        { cat "$file"; echo "Run time (ms) = $milliseconds"; } >"$best/$pipeline.txt" || return 1
        echo "$pipeline: $milliseconds ms is the new best"
    done
}

# print_best_schedule_times best_dir
print_best_schedule_times() {
    local file
    for file in "$1"/*.txt; do
        [ -f "$file" ] || { echo "there are no best schedules in $1" >&2; return 1; }
        echo "$(basename "$file" .txt): $(awk '/^Run time \(ms\) = / { print $NF }' "$file") ms"
    done
}

# get_bench_args images_dir app sample_dir variable: arguments of the program that times an
# application. The inputs have the estimated sizes and random values, so no pictures are needed.
get_bench_args() { printf -v "$4" '%s' --estimate_all; }
