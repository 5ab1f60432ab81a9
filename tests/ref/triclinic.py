#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `shoal energy` against gmx_d, run live, in triclinic boxes: a rhombic dodecahedron, a truncated octahedron, skewed cells.

usage: triclinic.py [--device DEVICE] SHOAL_WORKER SOURCE_ROOT [CASE...]
The methanol of the examples in water. Molecules are moved by whole box edges and broken in Shoal's input, so that every image is
taken. Compared: energies and forces of the coupled molecule (in GROMACS a plain system, in Shoal alchemical pairs), energies,
dU/dlambda and differences of half decoupled ones, virial and pressure. Exit code 77: no gmx_d.
"""
import os
import random
import re
import sys
import tempfile

import numpy as np

import against_gmx
import reference
import tolerances

BOXES = {'dodecahedron': ['-bt', 'dodecahedron', '-box', '2.6'], 'octahedron': ['-bt', 'octahedron', '-box', '2.7'],
         'skewed': ['-bt', 'triclinic', '-box', '2.4', '2.6', '2.5', '-angles', '72', '105', '66'],
         'steep': ['-bt', 'triclinic', '-box', '3.63', '3.271', '2.8932', '-angles', '87.308', '128.379', '56.31']} # a - b + c: 2.268
# Box, cut-off (nm), order of PME. "far": nearly half the shortest lattice vector, farther than half from face to face.
CASES = {'dodecahedron': ('dodecahedron', 0.9, 4), 'octahedron': ('octahedron', 0.9, 5), 'skewed': ('skewed', 0.9, 6),
         'dodecahedron far': ('dodecahedron', 1.23, 4), 'octahedron far': ('octahedron', 1.2, 5), 'skewed far': ('skewed', 1.12, 6),
         'steep far': ('steep', 1.08, 4)}
MDP = {'integrator': 'md', 'nsteps': 0, 'cutoff-scheme': 'Verlet', 'verlet-buffer-tolerance': -1, 'nstlist': 1, 'coulombtype': 'PME',
       'nstfout': 1, 'nstenergy': 1, 'nstcalcenergy': 1, 'constraints': 'none', 'continuation': 'yes', 'comm-mode': 'None',
       'fourierspacing': 0.11, 'ewald-rtol': 1e-5, 'DispCorr': 'EnerPres',
       'vdwtype': 'Cut-off', 'vdw-modifier': 'Potential-switch', 'coulomb-modifier': 'Potential-shift'}
FEP = {'free-energy': 'yes', 'sc-alpha': 0.5, 'sc-power': 1, 'sc-sigma': 0.3, 'nstdhdl': 1, 'calc-lambda-neighbors': -1,
       'couple-moltype': 'MOH', 'couple-lambda0': 'vdw-q', 'couple-lambda1': 'none', 'couple-intramol': 'yes', 'sc-coul': 'no',
       'coul-lambdas': '0 1 1', 'vdw-lambdas': '0 0.5 1'}
SPEC = '''name: triclinic
system: {topology: gmx.top, coordinates: %s}
nonbonded:
  vdw: {cutoff: %g nm, modifier: potential-switch, switch-start: %g nm, dispersion-correction: energy-pressure}
  coulomb: {cutoff: %g nm, modifier: potential-shift, grid-spacing: 0.11 nm, order: %d, tolerance: 1e-5}
constraints: none
alchemy:
  decouple: MOH
  intramolecular: decouple
  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}
  windows: {coulomb: [0, 1, 1], vdw: [0, 0.5, 1]}
'''
BAR = 16.6053907 # bar nm^3 per kJ/mol
WINDOW = {'LJ-(SR)': 'lj', 'Coulomb-(SR)': 'coulomb', 'Coul.-recip.': 'coulomb_reciprocal', 'Potential': 'potential'}


def read_gro(path):
    with open(path) as f:
        lines = f.read().split('\n')
    n = int(lines[1])
    x = np.array([[float(v) for v in re.findall(r'-?\d+\.\d+', line[20:])[:3]] for line in lines[2:2 + n]])
    return [line[:20] for line in lines[2:2 + n]], x, [float(v) for v in lines[2 + n].split()]


def write_gro(path, names, x, box):
    with open(path, 'w') as f:
        f.write(f'triclinic\n{len(x)}\n' + ''.join(f'{n}{a:14.9f}{b:14.9f}{c:14.9f}\n' for n, (a, b, c) in zip(names, x)))
        f.write(' '.join(f'{v:.7f}' for v in box) + '\n')


def build(root, work, shape):
    """gmx.top, conf.gro as GROMACS gets it, images.gro with atoms moved by whole edges. Returns the
    volume, nm^3."""
    names, x, box = read_gro(os.path.join(root, 'examples/methanol/methanol.gro'))
    solute = [i for i, n in enumerate(names) if 'SOL' not in n]
    write_gro(os.path.join(work, 'solute.gro'), [names[i] for i in solute], x[solute], box)
    against_gmx.run(work, 'gmx', 'editconf', '-f', 'solute.gro', '-o', 'boxed.gro', '-c', *BOXES[shape])
    against_gmx.run(work, 'gmx', 'solvate', '-cp', 'boxed.gro', '-cs', 'spc216.gro', '-o', 'wet.gro')
    names, x, box = read_gro(os.path.join(work, 'wet.gro'))
    draw = random.Random(shape)
    x += np.array([[draw.uniform(-5e-4, 5e-4) for _ in range(3)] for _ in x]) # no distance is exactly a cut-off
    write_gro(os.path.join(work, 'conf.gro'), names, x, box)
    edges = np.array([[box[0], 0, 0], [box[5], box[1], 0], [box[7], box[8], box[2]]])
    moved = x + np.array([[draw.randint(-1, 1) for _ in range(3)] for _ in x]) @ edges
    write_gro(os.path.join(work, 'images.gro'), names, moved, box)
    with open(os.path.join(root, 'examples/methanol/methanol.top')) as f:
        text = f.read()
    waters = (len(names) - len(solute)) // 3
    with open(os.path.join(work, 'gmx.top'), 'w') as f:
        f.write(re.sub(r'(?m)^SOL\s+\d+\s*$', f'SOL {waters}', text))
    return box[0] * box[1] * box[2]


def columns(path):
    """First row of an .xvg file by the legends of its columns."""
    with open(path) as f:
        lines = f.read().splitlines()
    legends = [re.search(r'"(.*)"', line).group(1) for line in lines if re.match(r'@ s\d+ legend', line)]
    return dict(zip(legends, [float(v) for v in next(line for line in lines if line[0] not in '#@').split()[1:]]))


def virial_of(work, options):
    """Virial and pressure from a run of no steps, which a rerun does not give; without settles, and too short to get velocities."""
    with open(os.path.join(work, 'gmx.top')) as f:
        text = f.read()
    with open(os.path.join(work, 'free.top'), 'w') as f:
        f.write(re.sub(r'\[ settles \][^\[]*', '', text))
    with open(os.path.join(work, 'still.mdp'), 'w') as f:
        f.writelines(f'{k} = {v}\n' for k, v in dict(options, dt=1e-9).items())
    against_gmx.run(work, 'gmx_d', 'grompp', '-f', 'still.mdp', '-c', 'conf.gro', '-p', 'free.top', '-o', 'still.tpr', '-maxwarn', '9')
    against_gmx.run(work, 'gmx_d', 'mdrun', '-s', 'still.tpr', '-nt', '1', '-deffnm', 'still')
    wanted = ['Kinetic-En.', 'Pressure', 'Pres.-DC'] + ['Vir-' + a + b for a in 'XYZ' for b in 'XYZ']
    against_gmx.run(work, 'gmx_d', 'energy', '-f', 'still.edr', '-dp', '-o', 'still.xvg', text='\n'.join(wanted) + '\n\n')
    return columns(os.path.join(work, 'still.xvg'))


def slope_of(work):
    """dV/dlambda of the vdw ladder, from the .xvg of a run."""
    return next(v for name, v in columns(os.path.join(work, 'run.xvg')).items() if name.startswith('dH') and 'vdw-lambda' in name)


def check_energies(c, ours, theirs, names, allowed):
    for name, value in theirs.items():
        if name in names:
            floor = 5e-9 if name == 'LJ-14' else reference.PRINTED
            c.check(names[name], ours['energies'][names[name]], value, allowed.terms[names[name]] * abs(value) + floor)


def compare(worker, device, root, shape, cutoff, order):
    """On the CPU device closer than elsewhere: GROMACS computes here without tables, but for perturbed pairs."""
    c, allowed = reference.Comparison(), tolerances.of(device)
    exact = allowed is tolerances.DOUBLE
    with tempfile.TemporaryDirectory() as work:
        volume = build(root, work, shape)
        options = dict(MDP, **{'pme-order': order, 'rcoulomb': cutoff, 'rvdw': cutoff, 'rlist': cutoff + 0.05,
                               'rvdw-switch': cutoff - 0.1})
        reach = (cutoff, cutoff - 0.1, cutoff)
        theirs, forces = against_gmx.gmx(work, options)
        for start in ('conf.gro', 'images.gro'):
            ours = reference.evaluate(worker, work, SPEC % (start, *reach, order), 0, device)
            check_energies(c, ours, theirs, against_gmx.TERMS, allowed)
            reference.compare_forces(c, ours['forces'], forces.tolist(), (1e-8, 1e-6) if exact else allowed.forces)
        still = virial_of(work, options)
        largest = max(abs(v) for k, v in still.items() if k.startswith('Vir'))
        correction = still['Pres. DC'] * volume / (2 * BAR) # GROMACS counts the dispersion's to the virial
        for k, name in enumerate(a + b for a in 'XYZ' for b in 'XYZ'):
            due = correction if name[0] == name[1] else 0.0
            c.check('virial', ours['virial'][k], still['Vir-' + name] + due, (1e-7 if exact else allowed.virial) * largest)
        c.check('kinetic', still['Kinetic En.'], 0, 1e-6)
        c.check('pressure', ours['pressure'], still['Pressure'],
                (1e-7 * abs(still['Pressure']) if exact else 2 * BAR / volume * allowed.virial * largest))
        half, half_forces = against_gmx.gmx(work, dict(options, **FEP, **{'init-lambda-state': 1}))
        ours_half = reference.evaluate(worker, work, SPEC % ('images.gro', *reach, order), 1, device)
        check_energies(c, ours_half, half, WINDOW, allowed)
        reference.compare_forces(c, ours_half['forces'], half_forces.tolist(), allowed.forces)
        c.check('dvdl vdw', ours_half['dvdl']['vdw'], slope_of(work), allowed.of_lambda(ours_half['dvdl']['vdw']))
        difference = half['Potential'] - theirs['Potential']
        c.check('delta_u', ours['delta_u'][1], difference, allowed.of_lambda(difference))
    return c


def main():
    o = against_gmx.options('worker', 'root', 'wanted')
    failed = 0
    for name in o.wanted or CASES:
        failed += compare(o.worker, o.device, o.root, *CASES[name]).report(name)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
