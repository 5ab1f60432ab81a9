#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with clang and lets each look for new inputs for a while, from its corpus on.
# usage: run_targets.sh SOURCE_ROOT BUILD_FOLDER SECONDS TARGET...
# Exit code 77: no clang, or clang without its fuzzing library.
set -euo pipefail
root=$1 build=$2 seconds=$3
shift 3
if ! command -v clang >/dev/null || ! command -v clang++ >/dev/null ||
    ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return 0; }' |
    clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null; then
    echo "run_targets: skipped, no clang with libFuzzer here"
    exit 77
fi
[ -f "$build/build.ninja" ] ||
    CC=clang CXX=clang++ meson setup "$build" "$root" -Dfuzz=true -Dcuda=disabled -Ddebug=false -Dc_args=-gline-tables-only >"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
ninja -C "$build" "${@/#/tests/fuzz/fuzz_}" >"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for target in "$@"; do
    mkdir "$scratch/$target"
    (cd "$scratch" && "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        "$scratch/$target" "$root/tests/fuzz/corpus/$target") >"$scratch/$target.log" 2>&1 ||
        { echo "fuzz_$target:"; tail -n 60 "$scratch/$target.log"; exit 1; }
    echo "fuzz_$target: $(grep -o 'stat::number_of_executed_units: *[0-9]*' "$scratch/$target.log" | grep -o '[0-9]*$') inputs"
done
