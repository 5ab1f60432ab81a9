#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the B states of a tempered solute against gmx_d, run live, which gets them written out line by line.

usage: temper_against_gmx.py [--device DEVICE] SHOAL_WORKER SOURCE_ROOT
The solute is a chain with dihedrals of every form that has a B state, 1-4 pairs and pairs of types with parameters of their own,
and an ion; another chain and water stay as they are. Shoal reads the plain topology. Energies, forces, dU/dlambda and differences
between windows are compared; inside the ladder, where GROMACS mixes Coulomb energies and Shoal scales charges, charges with what
Shoal makes of the written states, whose soft core acts on nothing. Exit code 77: no gmx_d.
"""
import math
import os
import sys

import against_gmx
import decouple_against_gmx as several
import triclinic

T, TO = 300, 480
SCALE, ROOT = T / TO, math.sqrt(T / TO)
LADDER = [0, 0.4, 1]
LAMBDAS = ' '.join(map(str, LADDER))
MDP = {**several.MDP, 'coul-lambdas': LAMBDAS, 'vdw-lambdas': LAMBDAS, 'bonded-lambdas': LAMBDAS, 'sc-alpha': 0, 'sc-coul': 'no'}
SPEC = '''name: tempered
system: {topology: %s, coordinates: conf.gro}
nonbonded:
  cutoff: 0.8 nm
  vdw: {modifier: potential-shift, dispersion-correction: energy-pressure}
  coulomb: {modifier: potential-shift, grid-spacing: 0.11 nm, order: 4, tolerance: 1e-5}
constraints: none
integrator: {temperature: 300 K}
alchemy:
  %s
  windows: {coulomb: [0, 0.4, 1], vdw: [0, 0.4, 1], bonded: [0, 0.4, 1]}
'''
TEMPER = 'temper: {molecule: [HOT, ION], to: 480 K}'
PAIRS = {('CA', 'OW'): (0.36, 0.5), ('CA', 'CB'): (0.31, 0.3), ('CL', 'OW'): (0.37, 0.6), ('CA', 'CL'): (0.38, 0.4)}
# atoms, function and parameters; which of these are energies
DIHEDRALS = (('1 2 3 4', 9, '180 8 2', [1]), ('1 2 3 4', 9, '0 -4 1', [1]), ('2 3 4 5', 4, '180 12 2', [1]), ('3 4 5 6', 2, '20 80', [1]),
             ('2 3 4 5', 3, '4 8 -12 16 -20 24', range(6)), ('3 4 5 6', 5, '4 -8 12 16', range(4)))


def hot_dihedral(parameters, energies):
    values = [float(p) * (SCALE if k in energies else 1) for k, p in enumerate(parameters.split())]
    return ' '.join(f'{int(v)}' if k not in energies else repr(v) for k, v in enumerate(values))


def chain(name, hot):
    text = f'[ moleculetype ]\n{name} 3\n[ atoms ]\n'
    for i, (a, q) in enumerate(several.CHAIN, 1):
        text += f'{i} {a} 1 {name} X{i} 1 {q} 12' + (f' {a}h {q * ROOT!r} 12\n' if hot else '\n')
    text += '[ bonds ]\n' + ''.join(f'{i} {i + 1} 1 0.15 2e5\n' for i in range(1, len(several.CHAIN)))
    text += '[ angles ]\n' + ''.join(f'{i} {i + 1} {i + 2} 1 110 400\n' for i in range(1, len(several.CHAIN) - 1)) + '[ dihedrals ]\n'
    for atoms, function, parameters, energies in DIHEDRALS:
        text += f'{atoms} {function} {parameters} {hot_dihedral(parameters, energies) if hot else ""}\n'
    return text + '[ pairs ]\n1 4 1\n2 5 1\n' + f'3 6 1 0.3 0.25 {f"0.3 {0.25 * SCALE!r}" if hot else ""}\n'


def types(by_hand):
    plain = {**several.TYPES, 'OW': (0.315061, 0.636386), 'HW': (0, 0)}
    text = ''.join(f'{name} 6 12 0 A {sigma} {epsilon}\n' for name, (sigma, epsilon) in plain.items())
    pairs = dict(PAIRS)
    if by_hand:
        text += ''.join(f'{name}h 6 12 0 A {sigma} {epsilon * SCALE!r}\n' for name, (sigma, epsilon) in several.TYPES.items())
        for (a, b), (sigma, epsilon) in PAIRS.items():
            pairs[a + 'h', b] = sigma, epsilon * ROOT
            if b != 'OW':
                pairs[a, b + 'h'] = sigma, epsilon * ROOT
                pairs[a + 'h', b + 'h'] = sigma, epsilon * SCALE
    return text + '[ nonbond_params ]\n' + ''.join(f'{a} {b} 1 {sigma} {epsilon!r}\n' for (a, b), (sigma, epsilon) in pairs.items())


def topology(root, path, waters, by_hand):
    with open(path, 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\n' + types(by_hand) + chain('HOT', by_hand) + chain('COLD', False))
        f.write('[ moleculetype ]\nION 1\n[ atoms ]\n1 CL 1 ION X1 1 -1 12' + (f' CLh {-ROOT!r} 12\n' if by_hand else '\n'))
        f.write(several.water(root) + f'[ system ]\ntempered\n[ molecules ]\nHOT 1\nCOLD 1\nION 1\nSOL {waters}\n')


def dihedrals(c, allowed, work, ours, gmx):
    for name in ('proper_dihedral', 'improper_dihedral'):
        c.check(name, ours['energies'][name], gmx['energies'][name], allowed.terms[name] * abs(gmx['energies'][name]) + 2e-8)
    columns = triclinic.columns(os.path.join(work, 'still.xvg'))
    slope = next(v for name, v in columns.items() if name.startswith('dH') and 'bonded-lambda' in name)
    c.check('dvdl bonded', ours['dvdl']['bonded'], slope, allowed.of_lambda(slope))


def main():
    o = against_gmx.options('worker', 'root')
    return 1 if several.compare(o, topology, MDP, SPEC, TEMPER, LADDER, dihedrals).report('a tempered solute') else 0


if __name__ == '__main__':
    sys.exit(main())
