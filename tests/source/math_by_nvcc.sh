#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header of engine/math compiles on its own under nvcc, all of its functions as device code, with real = double and
# real = float; where real is float, nothing becomes double. Usage: math_by_nvcc.sh SOURCE_ROOT NVCC
set -euo pipefail
root=$1 nvcc=$2
if [ "$nvcc" = none ] || [ ! -x "$nvcc" ]; then
    echo "math_by_nvcc: skipped, no nvcc here"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() { # NAME TYPE
    local name=$1 type=$2 ptx="$scratch/${1//\//.}.$2.ptx" flags=()
    [ "$type" = double ] || flags=(-DREAL_IS_FLOAT)
    # functions that are not static are all compiled, called or not
    if ! "$nvcc" -x cu -ptx -arch=compute_90 -rdc=true -I"$root" -D_GNU_SOURCE "-DMATH_FN=__host__ __device__" "${flags[@]}" \
        -Werror cross-execution-space-call,reorder,default-stream-launch -Xcompiler -Wall,-Werror \
        -o "$ptx" "$root/engine/math/$name.h" >"$ptx.log" 2>&1; then
        echo "engine/math/$name.h does not compile under nvcc with real = $type:"
        cat "$ptx.log"
        return 1
    fi
    if [ "$type" = float ] && grep -n 'cvt\.f64\.f32' "$ptx"; then
        echo "engine/math/$name.h turns float into double"
        return 1
    fi
}

failed=0 functions=0
for header in "$root"/engine/math/*.h "$root"/engine/math/*/*.h; do
    name=${header#"$root"/engine/math/} name=${name%.h}
    for type in double float; do
        check "$name" "$type" &
    done
    for job in $(jobs -p); do
        wait "$job" || failed=1
    done
    [ "$failed" -ne 0 ] || functions=$((functions + $(grep -cE '^\.visible \.func' "$scratch/${name//\//.}.float.ptx" || true)))
done
echo "math_by_nvcc: $functions functions compiled as device code"
[ "$functions" -gt 40 ] || failed=1 # an empty check is none
exit $failed
