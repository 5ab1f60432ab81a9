#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The architectures to compile CUDA kernels for, one a line: those asked for, else those of this machine's GPUs that can be, else sm_90.
# usage: archs.sh NVCC [ARCH...]
least=80 # GPU_MAJOR_LEAST of graphs/cuda/needs.h
nvcc=$1
shift
known=$("$nvcc" --list-gpu-code) || exit 1
known=$(echo "$known" | awk -F_ -v least="$least" '$2 >= least')

cannot() {
    echo "gpu_archs: $1: expected one of $(echo "$known" | tr '\n' ' ')(what $nvcc compiles for, from sm_$least on)" >&2
}

if [ $# = 0 ]; then
    for arch in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n 's/^ *\([0-9]*\)\.\([0-9]*\) *$/sm_\1\2/p' | sort -u); do
        if echo "$known" | grep -qx "$arch"; then
            set -- "$@" "$arch"
        else
            cannot "$arch, a GPU of this machine, which is left out"
        fi
    done
    [ $# = 0 ] && set -- sm_90
fi
for arch; do
    if ! echo "$known" | grep -qx "$arch"; then
        cannot "$arch"
        exit 1
    fi
    echo "$arch"
done
