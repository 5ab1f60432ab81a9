#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds both soft cores against gmx_d, run live, where it matters: atoms that are on their way out stand inside waters.

usage: soft_core_against_gmx.py [--device DEVICE] SHOAL SHOAL_WORKER SOURCE_ROOT [CASE ...]
The methanol of the examples, decoupled in water and moved into it; and a methanol whose hydroxyl hydrogen vanishes, with its 1-4
pairs, and whose oxygen becomes heavier; both in a reaction field too. Specs are made by `shoal import`. Compared: energies, forces,
dU/dlambda and differences between windows. Inside a Coulomb ladder GROMACS mixes energies and Shoal scales charges, which is the same
for a pair of which one atom changes, and another thing for self energy and mesh: there the step from one soft core to the other is
compared, which leaves those out. Exit code 77: no gmx_d.
"""
import os
import random
import re
import sys
import tempfile

import numpy as np

import against_gmx
import reference
import terms_against_gmx
import tolerances
import triclinic

BOX = 1.6
LADDERS = {'coulomb': [1, 1, 0, 0.2, 0.5, 0.9], 'vdw': [0.3, 0.7, 0.6, 0.3, 0.8, 0.5]}
MDP = {'integrator': 'md', 'nsteps': 0, 'dt': 1e-5, 'cutoff-scheme': 'Verlet', 'verlet-buffer-tolerance': -1, 'nstlist': 1, 'coulombtype': 'PME',
       'nstfout': 1, 'nstenergy': 1, 'nstcalcenergy': 1, 'constraints': 'none', 'continuation': 'yes', 'comm-mode': 'None',
       'rcoulomb': 0.7, 'rvdw': 0.7, 'rlist': 0.78, 'fourierspacing': 0.11, 'ewald-rtol': 1e-5, 'pme-order': 4,
       'free-energy': 'yes', 'nstdhdl': 1, 'coul-lambdas': ' '.join(map(str, LADDERS['coulomb'])),
       'vdw-lambdas': ' '.join(map(str, LADDERS['vdw']))}
DECOUPLE = {'couple-moltype': 'MOH', 'couple-lambda0': 'vdw-q', 'couple-lambda1': 'none', 'couple-intramol': 'yes'}
BEUTLER = {'sc-alpha': 0.5, 'sc-power': 1, 'sc-sigma': 0.3, 'sc-coul': 'yes'}
GAPSYS = {'sc-function': 'gapsys'}
FAR = {**GAPSYS, 'sc-gapsys-scale-linpoint-lj': 1.2, 'sc-gapsys-scale-linpoint-q': 0.4, 'sc-gapsys-sigma-lj': 0.35}
SWITCH = {'vdw-modifier': 'Potential-switch', 'rvdw-switch': 0.6}
FIELD = {'coulombtype': 'Reaction-Field', 'epsilon-rf': 62}
CASES = [('decoupled', DECOUPLE, {}), ('decoupled, switched', DECOUPLE, SWITCH), ('vanishing hydrogen', {}, {}),
         ('decoupled in a reaction field', DECOUPLE, FIELD), ('vanishing hydrogen in a reaction field', {}, {**FIELD, 'epsilon-rf': 0})]
PAIRS = ('lj', 'coulomb', 'lj_14', 'coulomb_14')


def solvated(root, work, moved):
    """Methanol put into a box of water, then moved. Returns the number of waters."""
    names, x, box = triclinic.read_gro(os.path.join(root, 'examples/methanol/methanol.gro'))
    solute = [i for i, n in enumerate(names) if 'SOL' not in n]
    triclinic.write_gro(os.path.join(work, 'solute.gro'), [names[i] for i in solute], x[solute], box)
    against_gmx.run(work, 'gmx', 'editconf', '-f', 'solute.gro', '-o', 'boxed.gro', '-c', '-box', str(BOX))
    against_gmx.run(work, 'gmx', 'solvate', '-cp', 'boxed.gro', '-cs', 'spc216.gro', '-o', 'wet.gro')
    names, x, box = triclinic.read_gro(os.path.join(work, 'wet.gro'))
    draw = random.Random('soft core')
    x += np.array([[draw.uniform(-5e-4, 5e-4) for _ in range(3)] for _ in x]) # no distance is exactly a cut-off
    x[:len(solute)] += moved
    triclinic.write_gro(os.path.join(work, 'conf.gro'), names, x, box)
    return (len(names) - len(solute)) // 3


def topology(root, work, waters, vanishing):
    with open(os.path.join(root, 'examples/methanol/methanol.top')) as f:
        text = re.sub(r'(?m)^SOL\s+\d+\s*$', f'SOL {waters}', f.read())
    if vanishing: # with the Lennard-Jones of the others, or its 1-4 pairs would have none
        text = re.sub(r'(?m)^(\s*)6   ho( .*)$', r'\g<1>6   h1\2 DU 0.0 1.008', text)
        text = re.sub(r'(?m)^(\s*2   oh .*)$', r'\1 oh -0.5985 18.0', text) # its mass alone changes
        text = re.sub(r'(?m)^(\s*HW\s+1.*)$', r'\1\n  DU 1 1.008 0.0 A 0.0 0.0', text, count=1)
    with open(os.path.join(work, 'gmx.top'), 'w') as f:
        f.write(text)


def theirs(work, options, window):
    """Energies by Shoal's names, forces, dU/dlambda."""
    found, forces = terms_against_gmx.still(work, {**options, 'init-lambda-state': window})
    ours = {name: sum(found.get(kind, 0.0) for kind in kinds) for name, kinds in terms_against_gmx.OURS.items()}
    columns = triclinic.columns(os.path.join(work, 'still.xvg'))
    slopes = {ladder: next(v for name, v in columns.items() if name.startswith('dH') and f'{short}-lambda' in name)
              for ladder, short in (('coulomb', 'coul'), ('vdw', 'vdw'))}
    return {'energies': ours, 'dispersion': found.get('Disper. corr.', 0.0), 'forces': forces, 'dvdl': slopes}


def both(shoal, worker, device, work, options):
    """[(of Shoal, of GROMACS)] for each window."""
    out = []
    for window in range(len(LADDERS['vdw'])):
        gmx = theirs(work, options, window)
        spec = reference.imported(shoal, os.path.join(work, 'still.mdp'), work)
        assert ('gapsys' in spec) == ('sc-function' in options)
        out.append((reference.evaluate(worker, work, spec, window, device), gmx))
    return out


def floor(name):
    return 1e-7 if name == 'lj_14' else 2e-8 # a table of GROMACS


def same(c, pairs, allowed):
    """Whole windows at the ends of the Coulomb ladder; differences between those."""
    ends = [w for w, l in enumerate(LADDERS['coulomb']) if l in (0, 1)]
    for w in ends:
        ours, gmx = pairs[w]
        for name in PAIRS + ('coulomb_reciprocal', 'potential'):
            value = gmx['energies'][name]
            c.check(name, ours['energies'][name], value, allowed.terms[name] * abs(value) + floor(name))
        reference.compare_forces(c, ours['forces'], gmx['forces'].tolist(), allowed.forces)
        c.check('dvdl vdw', ours['dvdl']['vdw'], gmx['dvdl']['vdw'], allowed.of_lambda(gmx['dvdl']['vdw']))
        for other in ends:
            value = pairs[other][1]['energies']['potential'] - gmx['energies']['potential']
            c.check('delta_u', ours['delta_u'][other], value, allowed.of_lambda(value))


def same_step(c, one, two, allowed):
    """What changes from one soft core to the other."""
    for (ours, gmx), (ours2, gmx2) in zip(one, two, strict=True):
        for name in PAIRS:
            value = gmx2['energies'][name] - gmx['energies'][name]
            scale = abs(gmx['energies'][name]) + abs(gmx2['energies'][name])
            c.check('step of ' + name, ours2['energies'][name] - ours['energies'][name], value, allowed.terms[name] * scale + floor(name))
        for name, value in gmx2['dvdl'].items():
            value -= gmx['dvdl'][name]
            c.check('step of dvdl ' + name, ours2['dvdl'][name] - ours['dvdl'][name], value,
                    allowed.of_lambda(abs(gmx['dvdl'][name]) + abs(gmx2['dvdl'][name])))
        change = gmx2['forces'] - gmx['forces']
        off = np.linalg.norm(np.array(ours2['forces']) - np.array(ours['forces']) - change, axis=1)
        rms = np.sqrt((change ** 2).sum() / len(off))
        whole = np.sqrt((gmx['forces'] ** 2).sum() / len(off)) # some atoms are so close that it is far more than what changes
        c.check('step of forces', np.sqrt((off ** 2).mean()), 0, 2 * allowed.forces[0] * rms + allowed.rounded[0] * whole)
        c.check('step of forces, worst', off.max(), 0, 2 * allowed.forces[1] * rms + allowed.rounded[1] * whole)
        c.check('no force changes', float(rms < 0.1), 0, 0.5)


def case(o, change, modifier):
    c, allowed = reference.Comparison(), tolerances.of(o.device)
    with tempfile.TemporaryDirectory() as work:
        waters = solvated(o.root, work, [0.13, 0.05, -0.04] if change else [0, 0, 0]) # what stays must not be in waters
        topology(o.root, work, waters, not change)
        os.symlink('gmx.top', os.path.join(work, 'system.top'))
        found = [both(o.shoal, o.worker, o.device, work, {**MDP, **change, **modifier, **soft})
                 for soft in (BEUTLER, GAPSYS, FAR)]
    for pairs in found:
        same(c, pairs, allowed)
    for pairs in found[1:]:
        same_step(c, found[0], pairs, allowed)
    return c


def main():
    o = against_gmx.options('shoal', 'worker', 'root', 'wanted')
    failed = 0
    for label, change, modifier in [c for c in CASES if not o.wanted or c[0] in o.wanted]:
        failed += case(o, change, modifier).report(label)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
