#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds restraints between the centers of groups against the pull code of gmx_d, run live: energies, forces, virial, lambda.

usage: centers_against_gmx.py [--device DEVICE] SHOAL_WORKER
Two chains of atoms of many masses across the edge of the box, in a cube and in a skewed box; in Shoal's input each atom is moved
by whole edges. One harmonic restraint, one with an upper wall and one with a lower one, all beyond where they are zero, then
within; groups by atom, by molecule and of an index file. Exit code 77: no gmx_d.
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

ATOMS = 40
BOXES = {'cube': [3.0, 3.0, 3.0], 'skewed': [3.2, 3.0, 2.8, 0.0, 0.0, 1.1, 0.0, -0.9, 0.7]}
GROUPS = {'first': range(1, ATOMS + 1), 'second': range(ATOMS + 1, 2 * ATOMS + 1), 'part': [2, 3, 5, 7, 11], 'other': [43, 52, 71]}
LADDER = [0, 0.3, 1]
PULL = {'pull': 'yes', 'pull-ngroups': 4, 'pull-ncoords': 3, 'pull-nstxout': 0, 'pull-nstfout': 0,
        **{f'pull-group{k + 1}-name': name for k, name in enumerate(GROUPS)}}
# type of GROMACS, groups, our key, k in A and in B
COORDS = [('umbrella', (0, 1), 'distance', 800, 1500), ('flat-bottom', (2, 3), 'upper', 600, 0),
          ('flat-bottom-high', (3, 0), 'lower', 700, 900)]
OURS = ['{molecule: M0}', '{molecule: M1}', '{atoms: "2-3, 5,7 , 11"}', '{group: other}']
SPEC = '''name: centers
system: {topology: gmx.top, coordinates: images.gro, index: groups.ndx}
nonbonded: {cutoff: 1.0 nm}
constraints: none
'''


def write(work, name, text):
    with open(os.path.join(work, name), 'w') as f:
        f.write(text)


def inputs(work, box):
    """The distances of the three restraints."""
    draw, masses = random.Random('masses'), {}
    text = '[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nC 12 0 A 0 0\n'
    for m in range(2):
        text += f'[ moleculetype ]\nM{m} 0\n[ atoms ]\n'
        for i in range(ATOMS):
            masses[m * ATOMS + i + 1] = draw.choice([1.008, 12.011, 15.999, 32.06])
            text += f'{i + 1} C 1 MOL C{i} 1 0 {masses[m * ATOMS + i + 1]}\n'
    write(work, 'gmx.top', text + '[ system ]\ncenters\n[ molecules ]\nM0 1\nM1 1\n')
    write(work, 'groups.ndx', ''.join(f'[ {name} ]\n' + ' '.join(map(str, atoms)) + '\n' for name, atoms in GROUPS.items()))
    x = np.array([[2.7 + 0.018 * i, 2.9 + 0.5 * m + 0.09 * (-1) ** i, 0.05 + 0.006 * i * m] for m in range(2) for i in range(ATOMS)])
    x += np.array([[draw.uniform(-0.03, 0.03) for _ in range(3)] for _ in x])
    x = x.round(6)
    names = [f'    1MOL  {"C" + str(i % ATOMS):>5}{i + 1:5d}' for i in range(len(x))]
    edges = np.array([[box[0], 0, 0], [box[5], box[1], 0], [box[7], box[8], box[2]]]) if len(box) > 3 else np.diag(box)
    triclinic.write_gro(os.path.join(work, 'conf.gro'), names, x, box)
    moved = x + np.array([[draw.randint(-1, 1) for _ in range(3)] for _ in x]) @ edges
    triclinic.write_gro(os.path.join(work, 'images.gro'), names, moved, box)
    weigh = [np.array([masses[a] for a in atoms]) for atoms in GROUPS.values()]
    center = [m @ x[np.array(list(atoms)) - 1] / m.sum() for m, atoms in zip(weigh, GROUPS.values())]
    return [float(np.linalg.norm(center[a] - center[b])) for _, (a, b), _, _, _ in COORDS]


def compare(c, worker, device, work, at, allowed, exact, active):
    options, ours = dict(PULL), SPEC + f'alchemy: {{perturb: b-states, windows: {{restraint: {LADDER}}}}}\nrestraints:\n'
    for k, ((kind, (a, b), key, k_a, k_b), r0) in enumerate(zip(COORDS, at)):
        options.update({f'pull-coord{k + 1}-type': kind, f'pull-coord{k + 1}-groups': f'{a + 1} {b + 1}', f'pull-coord{k + 1}-init': r0,
                        f'pull-coord{k + 1}-k': k_a, f'pull-coord{k + 1}-kB': k_b, f'pull-coord{k + 1}-geometry': 'distance'})
        ours += (f'- {{between: [{OURS[a]}, {OURS[b]}], {key}: {r0} nm, force-constant: {k_a} kJ/mol/nm^2, '
                 f'b: {{force-constant: {k_b} kJ/mol/nm^2}}}}\n')
    found, results = [], []
    for window in range(len(LADDER)):
        lambdas = {'free-energy': 'yes', 'init-lambda-state': window, 'nstdhdl': 1, 'restraint-lambdas': ' '.join(map(str, LADDER))}
        theirs, forces = terms.gmx(work, {**options, **lambdas}, '-n', 'groups.ndx')
        results.append(reference.evaluate(worker, work, ours, window, device))
        found.append(theirs['COM Pull En.'])
        value = results[-1]['energies']['restraint']
        c.check('restraint', value, found[-1], allowed.terms['restraint'] * abs(found[-1]) + 2e-8)
        c.check('potential', results[-1]['energies']['potential'], found[-1], allowed.terms['restraint'] * abs(found[-1]) + 2e-8)
        if active:
            reference.compare_forces(c, results[-1]['forces'], forces.tolist(), (1e-8, 1e-7) if exact else allowed.forces)
        else:
            c.check('forces', float(np.abs(np.array(results[-1]['forces'])).max()), 0, 1e-12)
    for window, one in enumerate(results):
        c.check('dU/dlambda', one['dvdl']['restraint'], found[-1] - found[0], allowed.of_lambda(found[-1] - found[0])) # k is linear
        for other, u in enumerate(found):
            c.check('delta_u', one['delta_u'][other], u - found[window], allowed.of_lambda(u - found[window]))
    if active:
        theirs = terms.still(work, {**options, 'free-energy': 'no'}, '-n', 'groups.ndx')[0]
        terms.check_virial(c, results[0], theirs, 1e-6 if exact else allowed.virial)
    c.check('found', max(map(abs, found)) > 1, active, 0.5)


def main():
    o = against_gmx.options('worker')
    allowed, failed = tolerances.of(o.device), 0
    for name, box in BOXES.items():
        c = reference.Comparison()
        with tempfile.TemporaryDirectory() as work:
            r = inputs(work, box)
            compare(c, o.worker, o.device, work, [r[0] - 0.12, r[1] - 0.2, r[2] + 0.15], allowed, o.device.startswith('cpu'), True)
            compare(c, o.worker, o.device, work, [r[0], r[1] + 0.01, r[2] - 0.01], allowed, o.device.startswith('cpu'), False)
        failed += c.report(name)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
