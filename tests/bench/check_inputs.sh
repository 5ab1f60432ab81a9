#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The inputs of the benches are specs that Shoal takes; that of coordinations runs, and reads the timers of a plumed, here a stand-in.
# Those of proteins, which need gmx, are the same bytes each time, and no atoms of theirs are too close.
# usage: check_inputs.sh MAKE_INPUTS SHOAL_WORKER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"
for spec in "$folder"/{solvent-plain,solvent-dodecahedron,narrow,narrow-dodecahedron,solvent-npt,solvent-biased,solvent-observed,solvent-with-*,peptide,vacuum,alcohol}.yaml; do # COMPLEX is SOLVENT, larger
    "$2" validate "$spec"
done

if command -v gmx >/dev/null; then
    for made in proteins again; do
        "$(dirname "$0")/make_proteins.py" "$folder/$made" protein leg # KINASE is PROTEIN, larger
    done
    diff -r "$folder/proteins" "$folder/again"
    for spec in "$folder"/proteins/*.yaml; do
        "$2" validate "$spec"
        "$2" energy "$spec" --window 6 >"$folder/energies"
        grep potential "$folder/energies"
        ! grep clamped "$folder/energies"
    done
else
    echo "no gmx: inputs of proteins are not checked"
fi

cat >"$folder/plumed" <<'EOF'
#!/bin/sh
grep -q '^c: COORDINATION GROUPA=1-27 ' plumed.dat && [ "$PLUMED_NUM_THREADS $1" = "1 driver" ] || exit 1
echo 'PLUMED: 4 Calculating (forward loop)                     500     0.007020     0.000014     0.000014     0.000020'
EOF
chmod +x "$folder/plumed"
PATH="$folder:$PATH" python3 "$(dirname "$0")/coordination.py" "$2" --atoms 27 --pairs 1e4 | tee "$folder/table"
[ "$(grep -c -E '^(free|near) +27 +351 .* 40.000$' "$folder/table")" = 2 ] # 14.04 us of PLUMED's over 351 pairs
