#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The inputs of the benches are specs that Shoal takes.
# usage: check_inputs.sh MAKE_INPUTS SHOAL_WORKER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"
for spec in "$folder"/{solvent-plain,solvent-npt,solvent-biased,solvent-observed,peptide,vacuum}.yaml; do # COMPLEX is SOLVENT, larger
    "$2" validate "$spec"
done
