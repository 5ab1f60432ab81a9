#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds PROTEIN of the benches (a folded chain, a hybrid ligand with virtual sites, a dodecahedron) against gmx_d, run live: every term at
both ends of the ladder, and in the middle all but Coulomb, of which GROMACS mixes energies and Shoal scales charges.

usage: proteins_against_gmx.py [--device DEVICE] SHOAL_WORKER     Exit code 77: no gmx_d.
"""
import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

import against_gmx
import reference
import terms_against_gmx as terms
import tolerances
import triclinic

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../bench'))
import ligand  # noqa: E402
import make_proteins  # noqa: E402

SPEC = 'protein-wide'
MDP = dict(terms.MDP, constraints='h-bonds', rcoulomb=1.1, rvdw=1.1, rlist=1.2, DispCorr='AllEnerPres')
MDP.update({'vdw-modifier': 'Potential-switch', 'rvdw-switch': 1.0, 'ewald-rtol': 1e-5, 'pme-order': 4, 'free-energy': 'yes', 'nstdhdl': 1,
            'sc-alpha': 0.5, 'sc-power': 1, 'sc-sigma': 0.3, 'sc-coul': 'yes'})
MDP.update({f'{ladder}-lambdas': ' '.join(map(str, make_proteins.WINDOWS)) for ladder in ('coul', 'vdw', 'bonded')})
COULOMB = 'coulomb', 'coulomb_14', 'coulomb_reciprocal', 'potential'


def main():
    o = against_gmx.options('worker')
    allowed, failed = tolerances.of(o.device), 0
    with tempfile.TemporaryDirectory() as work:
        make_proteins.write(Path(work), 'protein')
        names, x, box = triclinic.read_gro(os.path.join(work, 'protein.gro'))
        draw = random.Random('protein')
        x += np.array([[draw.uniform(-5e-4, 5e-4) for _ in range(3)] for _ in x])  # no distance is exactly a cut-off
        at = {name[10:15].strip(): i for i, name in enumerate(names) if name[5:10].strip() == ligand.RESIDUE}
        for site, placing in ligand.SITES.items():
            behind, halogen = (x[at[atom]] for atom in placing)
            x[at[site]] = halogen + (halogen - behind) * make_proteins.Hybrid(ligand).beyond(site)
        for name in ('conf.gro', 'protein.gro'):
            triclinic.write_gro(os.path.join(work, name), names, x, box)
        os.symlink('protein.top', os.path.join(work, 'gmx.top'))
        spec = (Path(work) / f'{SPEC}.yaml').read_text()
        for window in (0, 6, 11):
            c = reference.Comparison()
            found, forces = terms.still(work, {**MDP, 'init-lambda-state': window})
            ours = reference.evaluate(o.worker, work, spec, window, o.device)
            middle = 0 < make_proteins.WINDOWS[window] < 1
            for name, kinds in terms.OURS.items():
                value = sum(found.get(kind, 0.0) for kind in kinds)
                if not (middle and name in COULOMB):
                    c.check(name, ours['energies'][name], value, allowed.terms[name] * abs(value) + terms.TABLE_14)
            c.check('dispersion', ours['energies']['dispersion_correction'], found['Disper. corr.'], 1e-8 * abs(found['Disper. corr.']))
            for name, kind in (('vdw', 'dVvdw/dl'), ('bonded', 'dVbonded/dl')):
                c.check('dvdl ' + name, ours['dvdl'][name], found[kind], allowed.of_lambda(found[kind]))
            if not middle:
                reference.compare_forces(c, ours['forces'], forces.tolist(), allowed.forces)
            failed += c.report(f'window {window}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
