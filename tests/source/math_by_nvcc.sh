#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header of engine/math compiles on its own under nvcc, all of its functions as device code. Usage: math_by_nvcc.sh SOURCE_ROOT NVCC
set -euo pipefail
root=$1 nvcc=$2
if [ "$nvcc" = none ] || [ ! -x "$nvcc" ]; then
    echo "math_by_nvcc: skipped, no nvcc here"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ptx_of() { # NAME
    echo "$scratch/${1//\//.}.ptx"
}

check() { # NAME
    local name=$1 ptx
    ptx=$(ptx_of "$1")
    # functions that are not static are all compiled, called or not
    if ! "$nvcc" -x cu -ptx -arch=compute_90 -rdc=true -I"$root" -D_GNU_SOURCE "-DMATH_FN=__host__ __device__" \
        -include "$root/engine/cuda/device/arch.cuh" \
        -Werror cross-execution-space-call,reorder,default-stream-launch -Xcompiler -Wall,-Werror \
        -o "$ptx" "$root/engine/math/$name.h" >"$ptx.log" 2>&1; then
        echo "engine/math/$name.h does not compile under nvcc:"
        cat "$ptx.log"
        return 1
    fi
}

failed=0 functions=0
for header in "$root"/engine/math/*.h "$root"/engine/math/*/*.h; do
    name=${header#"$root"/engine/math/} name=${name%.h}
    check "$name" || failed=1
    [ "$failed" -ne 0 ] || functions=$((functions + $(grep -cE '^\.visible \.func' "$(ptx_of "$name")" || true)))
done
echo "math_by_nvcc: $functions functions compiled as device code"
[ "$functions" -gt 40 ] || failed=1 # an empty check is none
exit $failed
