#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CUDA kernels are compiled for: what is asked for, else what this machine has, else sm_90. With tools that are made up.
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
    found=$("$script" nvcc "$@" | tr '\n' ' ')
    if [ "$found" != "$wanted" ]; then
        echo "asked for '$*': '$found', expected '$wanted'"
        exit 1
    fi
}

script=$1
tool nvcc "printf 'sm_80\nsm_90\nsm_120\n'"
tool nvidia-smi "printf '9.0\n12.0\n9.0\n'"
expect 'sm_120 sm_90 '
expect 'sm_80 ' sm_80
tool nvidia-smi "echo 'No devices were found'; exit 6"
expect 'sm_90 '
if "$script" nvcc sm_70 2>"$folder/said"; then
    echo "sm_70 was taken"
    exit 1
fi
grep -q 'gpu_archs: sm_70: nvcc compiles for sm_80 sm_90 sm_120' "$folder/said"
