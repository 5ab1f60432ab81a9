#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a CUDA source. What ptxas says of each kernel's registers and spills goes to OBJECT.ptxas (tests/source/registers.py reads it),
# all other words to the terminal. usage: compile.sh OBJECT NVCC [ARGUMENT...]
object=$1
shift
said='^(ptxas info|    [0-9]+ bytes stack frame)'
"$@" -Xptxas -v 2>"$object.said"
status=$?
grep -E "$said" "$object.said" >"$object.ptxas"
grep -vE "$said" "$object.said" >&2
rm "$object.said"
exit $status
