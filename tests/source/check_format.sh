#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every C, CUDA and C++ file of the tree is as clang-format writes it, and no list of kernels is wider. Usage: check_format.sh SOURCE_ROOT
cd "$1" || exit 1
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
awk 'length > 120 { print FILENAME ":" FNR ": over 120 columns"; wide = 1 } END { exit wide }' engine/*/kernels.def || exit 1
find engine graphs daemon client tests \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' \) -print0 |
    xargs -0 clang-format --dry-run -Werror
