#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CUDA kernels are compiled for: what is asked for, else what this machine has that nvcc can and the kernels need, else sm_90. With
# tools that are made up.
# usage: archs.sh GPU_ARCHS_SH
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$folder:$PATH

# tool NAME COMMANDS: a program of this name
tool() {
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
    chmod +x "$folder/$1"
}

# expect WORDS ARCH...: what comes of the architectures asked for
expect() {
    wanted=$1
    shift
    found=$("$script" nvcc "$@" 2>"$folder/said" | tr '\n' ' ')
    if [ "$found" != "$wanted" ]; then
        echo "asked for '$*': '$found', expected '$wanted'"
        exit 1
    fi
}

# left_out ARCH: a GPU of this machine that nothing is compiled for
left_out() {
    if ! grep -q "^gpu_archs: $1, a GPU of this machine, which is left out: expected one of sm_80 sm_90 sm_120 " "$folder/said"; then
        echo "nothing was said of $1:"
        cat "$folder/said"
        exit 1
    fi
}

script=$1
tool nvcc "printf 'sm_75\nsm_80\nsm_90\nsm_120\n'"
tool nvidia-smi "printf '9.0\n12.0\n9.0\n'"
expect 'sm_120 sm_90 '
expect 'sm_80 ' sm_80
tool nvidia-smi "echo 'No devices were found'; exit 6"
expect 'sm_90 '
tool nvidia-smi "printf '7.0\n7.5\n8.0\n13.0\n'"
expect 'sm_80 '
for arch in sm_70 sm_75 sm_130; do
    left_out $arch
done
tool nvidia-smi "echo 7.5"
expect 'sm_90 '
left_out sm_75
for arch in sm_70 sm_75; do
    if "$script" nvcc $arch 2>"$folder/said"; then
        echo "$arch was taken"
        exit 1
    fi
    grep -q "gpu_archs: $arch: expected one of sm_80 sm_90 sm_120 (what nvcc compiles for, from sm_80 on)" "$folder/said"
done
