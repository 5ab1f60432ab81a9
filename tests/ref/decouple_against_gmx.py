#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the decoupling of several molecule types, each with its own ends, against gmx_d, run live.

usage: decouple_against_gmx.py [--device DEVICE] SHOAL_WORKER SOURCE_ROOT
GROMACS decouples one type, so it gets a topology with B states that say the same: a chain that vanishes with its inner pairs kept
(as [ pairs_nb ]), one that loses its charges and its inner pairs, an ion that appears. Shoal reads the plain topology. Energies,
forces, dU/dlambda and differences between windows are compared; inside the Coulomb ladder, where GROMACS mixes energies and Shoal
scales charges, with what Shoal makes of the B states. Exit code 77: no gmx_d.
"""
import os
import random
import re
import sys
import tempfile

import numpy as np

import against_gmx
import reference
import soft_core_against_gmx
import tolerances
import triclinic

BOX = 2.0
LADDERS = {'coulomb': [0, 1, 0, 1, 0.4], 'vdw': [0, 0.3, 0.6, 1, 0.5]}
MDP = {**soft_core_against_gmx.MDP, 'DispCorr': 'EnerPres', 'rcoulomb': 0.8, 'rvdw': 0.8, 'rlist': 0.9,
       'coul-lambdas': ' '.join(map(str, LADDERS['coulomb'])), 'vdw-lambdas': ' '.join(map(str, LADDERS['vdw'])),
       'sc-alpha': 0.5, 'sc-power': 1, 'sc-sigma': 0.3, 'sc-coul': 'yes'}
SPEC = '''name: several
system: {topology: %s, coordinates: conf.gro}
nonbonded:
  cutoff: 0.8 nm
  vdw: {modifier: potential-shift, dispersion-correction: energy-pressure}
  coulomb: {modifier: potential-shift, grid-spacing: 0.11 nm, order: 4, tolerance: 1e-5}
constraints: none
alchemy:
  %s
  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}
  windows: {coulomb: [0, 1, 0, 1, 0.4], vdw: [0, 0.3, 0.6, 1, 0.5]}
'''
SEVERAL = '''decouple:
    - {molecule: KEPT}
    - {molecule: LOOSE, to: vdw, intramolecular: decouple}
    - {molecule: ION, from: none, to: vdw-q}'''
TYPES = {'CA': (0.34, 0.45), 'CB': (0.30, 0.6), 'CL': (0.44, 0.42)}
CHAIN = [('CA', 0.3), ('CB', -0.4), ('CA', 0.25), ('CB', -0.35), ('CA', 0.5), ('CB', -0.3)]


def atoms_of(kind):
    """[(type, charge, type B, charge B, ...)] of a molecule."""
    if kind == 'ION':
        return [('DU', 0.0, 'CL', -1.0)]
    return [(t, q, 'DU' if kind == 'KEPT' else t, 0.0) for t, q in CHAIN]


def inner_pairs():
    """1-4 pairs and those beyond, which both stay: by the numbers of their atoms, with their charges and Lennard-Jones."""
    def line(i, j, fudge):
        (s, e), (u, f) = TYPES[CHAIN[i - 1][0]], TYPES[CHAIN[j - 1][0]]
        return f'{CHAIN[i - 1][1]} {CHAIN[j - 1][1]} {0.5 * (s + u)!r} {fudge * (e * f) ** 0.5!r}\n'
    text = '[ pairs ]\n' + ''.join(f'{i} {i + 3} 2 0.8 {line(i, i + 3, 0.5)}' for i in (1, 2, 3))
    apart = '[ pairs_nb ]\n' + ''.join(f'{i} {j} 1 {line(i, j, 1)}' for i, j in ((1, 5), (2, 6), (1, 6)))
    return text, apart + '[ exclusions ]\n1 5 6\n2 6\n'


def molecule(kind, b_states):
    text = f'[ moleculetype ]\n{kind} 3\n[ atoms ]\n'
    for i, (a, q, b, p) in enumerate(atoms_of(kind)):
        plain = (b, p) if kind == 'ION' else (a, q)
        states = f'{a} 1 {kind} X{i} 1 {q} 12 {b} {p} 12' if b_states else f'{plain[0]} 1 {kind} X{i} 1 {plain[1]} 12'
        text += f'{i + 1} {states}\n'
    if kind == 'ION':
        return text
    text += '[ bonds ]\n' + ''.join(f'{i} {i + 1} 1 0.15 2e5\n' for i in range(1, len(CHAIN)))
    if not b_states:
        return text + '[ pairs ]\n1 4 1\n2 5 1\n3 6 1\n'
    pairs, apart = inner_pairs()
    return text + pairs + (apart if kind == 'KEPT' else '')


def water(root):
    """Its moleculetype, of the types OW and HW."""
    with open(os.path.join(root, 'examples/methanol/methanol.top')) as f:
        return re.search(r'\[ moleculetype \]\n;[^\n]*\n  SOL.*?(?=\[ system \])', f.read(), re.S).group(0)


def topology(root, path, waters, b_states):
    with open(path, 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\n')
        for name, (sigma, epsilon) in {**TYPES, 'DU': (0, 0), 'OW': (0.315061, 0.636386), 'HW': (0, 0)}.items():
            f.write(f'{name} 6 12 0 A {sigma} {epsilon}\n')
        f.write(''.join(molecule(kind, b_states) for kind in ('KEPT', 'LOOSE', 'ION')) + water(root))
        f.write(f'[ system ]\nseveral\n[ molecules ]\nKEPT 1\nLOOSE 1\nION 1\nSOL {waters}\n')


def coordinates(work):
    """Two chains and an ion in water; returns the number of waters."""
    draw = random.Random('several')
    x = [np.array([0.4 + 0.12 * i, 0.5 + 0.09 * (i % 2), 0.6 + 0.7 * k]) for k in range(2) for i in range(len(CHAIN))] + [np.array([1, 1.4, 1])]
    names = [f'    1SOLU {"X" + str(i):>5}{i + 1:5d}' for i in range(len(x))]
    triclinic.write_gro(os.path.join(work, 'solute.gro'), names, np.array(x), [BOX] * 3)
    against_gmx.run(work, 'gmx', 'solvate', '-cp', 'solute.gro', '-cs', 'spc216.gro', '-o', 'wet.gro')
    names, x, box = triclinic.read_gro(os.path.join(work, 'wet.gro'))
    x += np.array([[draw.uniform(-5e-4, 5e-4) for _ in range(3)] for _ in x]) # no distance is exactly a cut-off
    triclinic.write_gro(os.path.join(work, 'conf.gro'), names, x, box)
    return (len(names) - 2 * len(CHAIN) - 1) // 3


def against(c, ours, gmx, whole, allowed):
    """whole: GROMACS's Coulomb means the same."""
    names = ('lj', 'lj_14', 'bond') + (('coulomb', 'coulomb_14', 'coulomb_reciprocal', 'potential') if whole else ())
    for name in names:
        value = gmx['energies'][name] + (gmx['dispersion'] if name == 'lj' else 0)
        mine = ours['energies'][name] + (ours['energies']['dispersion_correction'] if name == 'lj' else 0)
        c.check(name, mine, value, allowed.terms[name] * abs(value) + soft_core_against_gmx.floor(name))
    if whole:
        reference.compare_forces(c, ours['forces'], gmx['forces'].tolist(), allowed.forces)
    c.check('dvdl vdw', ours['dvdl']['vdw'], gmx['dvdl']['vdw'], allowed.of_lambda(gmx['dvdl']['vdw']))


def same(c, ours, by_states):
    """Of two runs of Shoal, which agree to rounding whatever the device."""
    for name, value in by_states['energies'].items():
        c.check('B states: ' + name, ours['energies'][name], value, 1e-9 * abs(value) + 2e-8)
    for name, value in by_states['dvdl'].items():
        c.check('B states: dvdl', ours['dvdl'][name], value, 1e-9 * abs(value) + 2e-8)
    for mine, value in zip(ours['delta_u'], by_states['delta_u'], strict=True):
        c.check('B states: delta_u', mine, value, 1e-9 * abs(value) + 2e-8)
    reference.compare_forces(c, ours['forces'], by_states['forces'], (1e-9, 1e-8))


def compare(o, write_topology, mdp, spec, words, ladder, also=lambda c, allowed, work, ours, gmx: None):
    """By `words` of the spec from the plain topology, from the written B states, and by GROMACS, at every lambda of the ladder.
    also(): further checks of a window."""
    c, allowed, potentials = reference.Comparison(), tolerances.of(o.device), {}
    with tempfile.TemporaryDirectory() as work:
        waters = coordinates(work)
        write_topology(o.root, os.path.join(work, 'plain.top'), waters, False)
        write_topology(o.root, os.path.join(work, 'gmx.top'), waters, True)
        for window, l in enumerate(ladder):
            gmx = soft_core_against_gmx.theirs(work, mdp, window)
            ours = reference.evaluate(o.worker, work, spec % ('plain.top', words), window, o.device)
            same(c, ours, reference.evaluate(o.worker, work, spec % ('gmx.top', 'perturb: b-states'), window, o.device))
            against(c, ours, gmx, l in (0, 1), allowed)
            also(c, allowed, work, ours, gmx)
            if l in (0, 1):
                potentials[window] = (gmx['energies']['potential'], ours['delta_u'])
        for first, (u, delta_u) in potentials.items():
            for second, (other, _) in potentials.items():
                c.check(f'delta_u from {first}', delta_u[second], other - u, allowed.of_lambda(other - u))
    return c


def main():
    o = against_gmx.options('worker', 'root')
    return 1 if compare(o, topology, MDP, SPEC, SEVERAL, LADDERS['coulomb']).report('several types') else 0


if __name__ == '__main__':
    sys.exit(main())
