#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The architectures to compile CUDA kernels for, one a line: those asked for, else those of this machine's GPUs, else sm_90.
# usage: gpu_archs.sh NVCC [ARCH...]
nvcc=$1
shift
known=$("$nvcc" --list-gpu-code) || exit 1
if [ $# = 0 ]; then
    # shellcheck disable=SC2046 # a word each
    set -- $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n 's/^ *\([0-9]*\)\.\([0-9]*\) *$/sm_\1\2/p' | sort -u)
    [ $# = 0 ] && set -- sm_90
fi
for arch; do
    if ! echo "$known" | grep -qx "$arch"; then
        echo "gpu_archs: $arch: $nvcc compiles for $(echo "$known" | tr '\n' ' ')" >&2
        exit 1
    fi
    echo "$arch"
done
