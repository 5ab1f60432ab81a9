#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds systems with virtual sites against gmx_d, run live: every form of site, charged and with Lennard-Jones, and TIP4P water;
energies, forces on the atoms that place the sites, virial.

usage: sites_against_gmx.py [--device DEVICE] SHOAL_WORKER
In Shoal's input molecules are broken over the box, and sites are not where they belong. Exit code 77: no gmx_d.
"""
import os
import random
import sys
import tempfile

import numpy as np

import against_gmx
import reference
import terms_against_gmx as terms
import tolerances
import triclinic

# section, line; the site is atom 5
FORMS = [('2', '5 2 1 1 0'), ('2', '5 1 2 1 0.3'), ('2', '5 1 2 2 0.08'), ('3', '5 1 2 3 1 0.3 0.4'), ('3', '5 1 2 3 2 0.4 0.09'), ('3', '5 1 2 3 3 100 0.08'),
         ('3', '5 1 2 3 4 0.3 -0.2 5'), ('4', '5 1 2 3 4 2 0.6 0.7 0.06'), ('n', '5 1 1 2 3'), ('n', '5 2 1 2 4'), ('n', '5 3 1 0.3 2 0.4 3 0.5')]
CHARGES, MASSES = (0.3, -0.2, 0.25, 0.15, -0.5), (12, 14, 16, 12, 0)
SHAPE = np.array([(0.11, 0.02, 0.03), (0.22, 0.13, 0.02), (0.02, 0.12, 0.09), (0.15, 0.03, 0.16), (0.1, 0.1, 0.1)])
SPEC = '''name: sites
system: {topology: gmx.top, coordinates: images.gro}
nonbonded:
  vdw: {cutoff: 0.9 nm, modifier: potential-shift, dispersion-correction: no}
  coulomb: {cutoff: 0.9 nm, modifier: potential-shift, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}
constraints: none
'''
OPTIONS = dict(terms.SETTINGS, rcoulomb=0.9, rvdw=0.9, rlist=1.0)
TIP4P = '''[ defaults ]
1 2 yes 1 1
[ atomtypes ]
OW 15.9994 0 A 0.315365 0.6485
HW 1.008 0 A 0 0
MW 0 0 D 0 0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 0 15.9994
2 HW 1 SOL HW1 1 0.52 1.008
3 HW 1 SOL HW2 1 0.52 1.008
4 MW 1 SOL MW 1 -1.04 0
[ settles ]
1 1 0.09572 0.15139
[ virtual_sites3 ]
4 1 2 3 1 0.128012065 0.128012065
[ exclusions ]
1 2 3 4
2 1 3 4
3 1 2 4
4 1 2 3
[ system ]
water
[ molecules ]
SOL %d
'''


def write_forms(work):
    with open(os.path.join(work, 'gmx.top'), 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nC 12 0 A 0.3 0.4\nV 0 0 V 0.25 0.3\n')
        for k, (name, line) in enumerate(FORMS):
            f.write(f'[ moleculetype ]\nM{k} 3\n[ atoms ]\n')
            f.writelines(f'{i + 1} {"V" if i == 4 else "C"} 1 SOL A{i} 1 {q} {m}\n' for i, (q, m) in enumerate(zip(CHARGES, MASSES)))
            f.write('[ bonds ]\n1 2 1 0.15 2e5\n1 3 1 0.14 2e5\n1 4 1 0.15 2e5\n[ exclusions ]\n5 1 2 3 4\n')
            f.write(f'[ virtual_sites{name} ]\n{line}\n')
        f.write('[ system ]\nsites\n[ molecules ]\n' + ''.join(f'M{k} 3\n' for k in range(len(FORMS))))
    draw, x = random.Random('sites'), []
    cells = [(a, b, c) for a in range(3) for b in range(3) for c in range(4)]
    for k in range(3 * len(FORMS)):
        turn = np.linalg.qr(np.array([[draw.gauss(0, 1) for _ in range(3)] for _ in range(3)]))[0]
        x += list((SHAPE + np.array([[draw.uniform(-0.01, 0.01) for _ in range(3)] for _ in SHAPE])) @ turn + 0.75 * np.array(cells[k]) + 0.3)
    return np.array(x), [2.3, 2.4, 3.0]


def write_water(work):
    against_gmx.run(work, 'gmx_d', 'solvate', '-cs', 'tip4p.gro', '-box', '2.3', '2.4', '2.2', '-o', 'wet.gro')
    _, x, box = triclinic.read_gro(os.path.join(work, 'wet.gro'))
    with open(os.path.join(work, 'gmx.top'), 'w') as f:
        f.write(TIP4P % (len(x) // 4))
    draw = random.Random('water')
    weight = (1 - 2 * 0.128012065, 0.128012065, 0.128012065)
    x += np.array([[draw.uniform(-5e-4, 5e-4) for _ in range(3)] for _ in x]) # no distance is exactly a cut-off
    x[3::4] = sum(w * x[k::4] for k, w in enumerate(weight))
    return x, box


# Terms of sites that constraints hold and of sites that they do not: which of them a program leaves out as constant shows in its
# energies, since none is at rest. Atoms 1 to 4 are C1, C2, C3 and a hydrogen; sites 5 (of 2 and 3), 6 (3fd), 7 (3out), 8 (3fad), 9 (3).
FREE = '''[ bonds ]
1 2 1 0.15 2e5 0.15 3e5
2 3 1 0.15 3e5
1 4 1 0.11 1e5
2 5 1 0.20 5000 0.22 6000
3 5 2 0.10 1e5
1 6 1 0.08 4000
2 6 3 0.17 300 15
'''
LOOSE = '''3 6 1 0.17 4000
1 7 1 0.12 3000
3 8 1 0.12 2000
5 9 1 0.1 1000
'''
RING = '''3 6 1 0.17 4000
1 7 1 0.12 3000
6 8 1 0.12 2000
2 9 1 0.1 1000
[ constraints ]
1 3 2 0.2
'''
ANGLES = '''[ angles ]
1 2 5 1 150 100
1 2 9 1 100 200
2 9 3 2 150 200
6 1 2 1 120 300
6 1 3 5 120 300 0.2 2000
1 8 2 1 60 50
4 1 6 1 110 120
1 6 5 1 100 70
7 8 9 6 100 1 20 30 4 5
[ dihedrals ]
1 2 3 6 1 20 7 2
4 1 2 5 1 30 8 3
6 1 2 3 2 10 90
1 2 3 7 4 180 9 2
1 2 3 9 3 1 2 -3 4 -5 6
5 2 1 4 1 30 5 1
'''


def write_held(work, bonds):
    """A molecule whose atoms stand where its sites belong, so that a rerun needs to place none."""
    with open(os.path.join(work, 'gmx.top'), 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nC 12 0 A 0 0\nV 0 0 V 0 0\n[ moleculetype ]\nM 9\n[ atoms ]\n')
        names = ('C1', 'C2', 'C3', 'H4', 'S5', 'S6', 'S7', 'S8', 'S9')
        f.writelines(f'{i + 1} {"C" if i < 4 else "V"} 1 SOL {n} 1 0 {12 if i < 4 else 0}' + (' C 1e-9 12\n' if i == 3 else '\n')
                     for i, n in enumerate(names))
        f.write(bonds + ANGLES + '[ virtual_sites2 ]\n5 2 3 1 1.8\n[ virtual_sites3 ]\n6 1 2 3 2 0.4 -0.1\n7 1 2 3 4 -0.3 -0.2 4\n'
                '8 1 2 3 3 70 0.12\n9 1 2 3 1 0.3 0.2\n[ system ]\nheld\n[ molecules ]\nM 2\n')
    draw, x = random.Random('held'), []
    for k in range(2):
        a = np.array([[0, 0, 0], [0.15, 0, 0], [0.21, 0.14, 0.02], [-0.05, 0.06, 0.08]]) + 1 + k * 0.5
        a += np.array([[draw.uniform(-0.01, 0.01) for _ in range(3)] for _ in a])
        u, w, turn = a[1] - a[0], a[2] - a[0], np.radians(70)
        along = u / np.linalg.norm(u)
        jk = a[2] - a[1]
        across = jk - (jk @ along) * along
        mid = u + 0.4 * jk
        x += list(a) + [a[1] + 1.8 * jk, a[0] - 0.1 * mid / np.linalg.norm(mid), a[0] - 0.3 * u - 0.2 * w + 4 * np.cross(u, w),
                        a[0] + 0.12 * (np.cos(turn) * along + np.sin(turn) * across / np.linalg.norm(across)), a[0] + 0.3 * u + 0.2 * w]
    return np.array(x), [3.0, 3.0, 3.0], names


def rename(work, name, old, new):
    with open(os.path.join(work, name)) as f:
        text = f.read().replace(old, new)
    with open(os.path.join(work, name), 'w') as f:
        f.write(text)


def held(worker, device, work, bonds, constraints):
    c, allowed = reference.Comparison(), tolerances.of(device)
    x, box, names = write_held(work, bonds)
    with open(os.path.join(work, 'conf.gro'), 'w') as f:
        f.write(f'held\n{len(x)}\n' + ''.join(f'{1:5d}{"SOL":<5}{names[i % 9]:>5}{i + 1:5d}{a:18.14f}{b:18.14f}{d:18.14f}\n'
                                               for i, (a, b, d) in enumerate(x)) + ' '.join(map(str, box)) + '\n')
    windows = [0, 0.4, 1]
    spec = SPEC.replace('constraints: none', f'constraints: {constraints}').replace('images.gro', 'conf.gro')
    spec += f'alchemy:\n  perturb: b-states\n  soft-core: {{alpha: 0}}\n  windows:\n    bonded: {windows}\n'
    for window in range(3):
        theirs, forces = terms.gmx(work, dict(OPTIONS, constraints=constraints, **{
            'free-energy': 'yes', 'init-lambda-state': window, 'sc-alpha': 0, 'nstdhdl': 1, 'bonded-lambdas': '0 0.4 1'}))
        for name in ('gmx.top', 'conf.gro') if constraints == 'h-bonds' else (): # a site may be called a hydrogen, which grompp refuses
            rename(work, name, 'S5', 'H5')
        ours = reference.evaluate(worker, work, spec, window, device)
        for name in ('gmx.top', 'conf.gro'):
            rename(work, name, 'H5', 'S5')
        terms.compare_static(c, ours, theirs, forces, allowed, allowed is tolerances.DOUBLE, (1e-8, 1e-6))
    return c


def write_coordinates(work, x, box, names):
    """conf.gro for GROMACS; images.gro with atoms moved by whole edges, and sites away from where they belong."""
    draw = random.Random('images')
    sites = range(len(names) - 1, len(x), len(names))
    rows = [f'{1:5d}{"SOL":<5}{names[i % len(names)]:>5}{(i + 1) % 100000:5d}' for i in range(len(x))]
    triclinic.write_gro(os.path.join(work, 'conf.gro'), rows, x, box)
    moved = x + np.array(box[:3]) * np.array([[draw.randint(-1, 1) for _ in range(3)] for _ in x])
    moved[sites] += 0.02
    triclinic.write_gro(os.path.join(work, 'images.gro'), rows, moved, box)


def compare(worker, device, work, write, names, rigid):
    """names: of the atoms of a molecule, the site last."""
    c, allowed = reference.Comparison(), tolerances.of(device)
    exact = allowed is tolerances.DOUBLE
    x, box = write(work)
    write_coordinates(work, x, box, names)
    # A rerun takes sites as they stand, a run places them first; but it would move rigid water too.
    theirs, forces = terms.gmx(work, OPTIONS) if rigid else terms.still(work, dict(OPTIONS, continuation='no'))
    # A site at one atom is one of two atoms for GROMACS, the second of no weight: its 2022 loses the forces on [ virtual_sites1 ].
    rename(work, 'gmx.top', '[ virtual_sites2 ]\n5 2 1 1 0\n', '[ virtual_sites1 ]\n5 2 1\n')
    ours = reference.evaluate(worker, work, SPEC, 0, device)
    terms.compare_static(c, ours, theirs, forces, allowed, exact, (1e-8, 1e-6))
    c.check('forces left on sites', sum(any(f) for f in ours['forces'][len(names) - 1::len(names)]), 0, 0.5)
    if not rigid:
        terms.check_virial(c, ours, theirs, 1e-7 if exact else allowed.virial)
    return c


def main():
    o, failed = against_gmx.options('worker'), 0
    for label, write, names, rigid in (('forms', write_forms, ('A0', 'A1', 'A2', 'A3', 'A4'), False),
                                       ('TIP4P', write_water, ('OW', 'HW1', 'HW2', 'MW'), True)):
        with tempfile.TemporaryDirectory() as work:
            c = compare(o.worker, o.device, work, write, names, rigid)
        failed += c.report(label)
    for constraints, bonds in (('none', FREE + LOOSE), ('h-bonds', FREE + LOOSE), ('all-bonds', FREE + RING)):
        with tempfile.TemporaryDirectory() as work:
            failed += held(o.worker, o.device, work, bonds, constraints).report('held, ' + constraints)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
