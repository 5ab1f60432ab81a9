#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every bonded function against gmx_d, run live: energies, forces and what lambda does to them.

usage: terms_against_gmx.py [--device DEVICE] SHOAL_WORKER REFERENCE_DIR
Chains of atoms without charges and Lennard-Jones carry one term of each kind. In Shoal's input the chains are broken over the box.
dU/dlambda is compared with differences of GROMACS's energies over five values of lambda, because GROMACS 2022's own is wrong for
some of them (G96 bonds, linear angles, angle restraints whose angle changes). Then a peptide of the reference data in force fields
that GROMACS brings: CHARMM27 (CMAP, Urey-Bradley) and GROMOS 54a7 (their own bonds and angles). Exit code 77: no gmx_d.
"""
import os
import random
import sys
import tempfile

import numpy as np

import against_gmx
import reference
import tolerances
import triclinic

BOX, ATOMS = 3.0, 12
TABLE_14 = 5e-7 # kJ/mol: GROMACS's table is 2e-9 off each attraction and repulsion of 1-4 pairs, hundreds of kJ/mol in a peptide
MDP = {'integrator': 'md', 'nsteps': 0, 'cutoff-scheme': 'Verlet', 'verlet-buffer-tolerance': -1, 'nstlist': 1, 'coulombtype': 'PME',
       'nstfout': 1, 'nstenergy': 1, 'nstcalcenergy': 1, 'constraints': 'none', 'continuation': 'yes', 'comm-mode': 'None',
       'rcoulomb': 1.0, 'rvdw': 1.0, 'rlist': 1.1, 'fourierspacing': 0.12}
SPEC = '''name: terms
system: {topology: gmx.top, coordinates: images.gro}
nonbonded: {cutoff: 1.0 nm}
constraints: none
'''
OURS = {'bond': ('Bond', 'G96Bond', 'Morse', 'Cubic Bonds', 'FENE Bonds', 'Harmonic Pot.'),
        'angle': ('Angle', 'G96Angle', 'Restr. Angles', 'Lin. Angle', 'Bond-Cross', 'BA-Cross', 'Quartic Angles'),
        'urey_bradley': ('U-B',),
        'proper_dihedral': ('Proper Dih.', 'Ryckaert-Bell.', 'Restr. Dih.', 'CBT Dih.', 'Fourier Dih.'),
        'improper_dihedral': ('Improper Dih.', 'Per. Imp. Dih.'),
        'restraint': ('Restraint Pot.', 'Angle Rest.', 'Angle Rest. Z', 'Dih. Rest.', 'Dis. Rest.', 'Flat-b. P-R.', 'Position Rest.'),
        'cmap': ('CMAP Dih.',), 'lj_14': ('LJ-14',), 'coulomb_14': ('Coulomb-14',), 'lj': ('LJ (SR)',), 'coulomb': ('Coulomb (SR)',),
        'coulomb_reciprocal': ('Coul. recip.',), 'potential': ('Potential',)}

# section: lines, their atoms counted from the first of a chain; functions that GROMACS computes outside free-energy runs alone
PLAIN = {'bonds': ['1 2 1 0.13 2e5', '2 3 2 0.15 8e6', '3 4 3 0.14 400 20', '4 5 4 0.13 5e4 8', '5 6 5', '6 7 6 0.3 900',
                   '7 8 7 0.31 3000', '1 4 10 0.5 0.6 0.7 800', '2 6 10 0.1 0.2 0.3 800', '3 7 10 0.1 0.3 9 800', '4 8 10 0 9 9 1'],
         'angles': ['1 2 3 1 110 400', '2 3 4 2 110 500', '3 4 5 3 0.14 0.15 700', '4 5 6 4 0.14 0.15 0.22 800',
                    '5 6 7 5 110 300 0.25 9000', '6 7 8 6 105 1 20 300 -40 55', '7 8 9 9 0.45 3000', '8 9 10 10 100 60'],
         'dihedrals': ['1 2 3 4 1 30 8 3', '2 3 4 5 2 20 90', '3 4 5 6 3 1 2 -3 4 -5 6', '4 5 6 7 4 180 9 2',
                       '5 6 7 8 5 3 -4 5 6', '6 7 8 9 9 40 7 2', '2 4 7 9 10 80 12', '8 9 10 11 11 1.5 2 -3 4 -2 1'],
         'angle_restraints': ['1 3 5 8 1 70 300 1', '2 6 7 9 1 20 100 2', '3 1 3 9 1 80 200 1', '4 7 2 7 1 100 150 1'], 'angle_restraints_z': ['3 8 1 40 200 1'],
         'dihedral_restraints': ['1 4 6 9 1 100 10 200', '2 5 6 10 1 -170 5 100', '3 4 5 9 1 20 179 50'],
         'cmap': ['2 3 4 5 6 1', '3 4 5 6 7 1 2', '7 8 9 10 11 1']}
# GROMACS's numbers of geometries: inside and outside of what is left alone; lower, upper wall and beyond of distances
FLAT = [f'{i + 1} 2 {geometry} {r} {800 + 10 * i}' for i, (geometry, r) in enumerate(
    [(1, 0.02), (1, -0.3), (2, 0.02), (3, 0.01), (4, -0.25), (5, 0.01), (6, 0.02), (7, -0.3), (8, 0.02), (3, -0.4), (1, 0.9), (8, -0.01)])]
HELD = {'position_restraints': FLAT + ['3 1 100 200 300'],
        'distance_restraints': ['1 4 1 0 1 0.9 1.0 1.1 2', '2 6 1 1 2 0.1 0.2 0.3 0.5', '3 7 1 2 1 0.1 0.3 9 1', '4 8 1 3 1 0 9 9 1',
                                '5 9 1 4 1 0.7 0.75 0.76 3', '1 8 1 5 1 0 0.2 9 1', '2 9 1 5 1 0 0.2 9 1', '10 3 1 5 1 0 0.2 9 1',
                                '1 5 1 7 1 2 2.5 3 0.2', '2 6 1 7 1 2 2.5 3 0.2', '4 7 1 6 2 0 0.1 0.15 2', '8 12 1 6 2 0 0.1 0.15 2']}
# bonded-lambdas
PERTURBED = {'bonds': ['1 2 1 0.13 2e5 0.15 3e5', '2 3 2 0.15 8e6 0.16 6e6', '3 4 3 0.14 400 20 0.12 300 25',
                       '6 7 6 0.3 900 0.4 2000'],
             'angles': ['1 2 3 1 110 400 120 300', '2 3 4 2 110 500 95 700', '5 6 7 5 110 300 0.25 9000 100 200 0.3 5000',
                        '7 8 9 9 0.45 3000 0.6 2000'],
             'dihedrals': ['1 2 3 4 1 30 8 3 60 5 3', '2 3 4 5 2 20 90 40 70', '3 4 5 6 3 1 2 -3 4 -5 6 6 5 4 3 2 1',
                           '4 5 6 7 4 180 9 2 170 6 2', '5 6 7 8 5 3 -4 5 6 1 2 3 4'], 'cmap': ['2 3 4 5 6 1']}
# restraint-lambdas
RESTRAINTS = {'bonds': ['1 4 10 0.5 0.6 0.7 800 0.6 0.65 0.8 300', '2 6 10 0.1 0.2 0.3 800 0.2 0.25 0.3 500',
                        '3 7 10 0.1 0.3 9 800 0.1 0.2 9 400'],
              'angle_restraints': ['1 3 5 8 1 70 300 1 50 200 1', '2 6 7 9 1 20 100 2 40 150 2'],
              'angle_restraints_z': ['3 8 1 40 200 1 60 100 1'],
              'dihedral_restraints': ['1 4 6 9 1 100 10 200 120 5 300', '2 5 6 10 1 -170 5 100 150 2 80']}
# between chains: atoms of all of them. That of a protein and its ligand is the fourth to sixth line, driven by bonded-lambdas.
BETWEEN = {'bonds': ['1 14 6 0.4 900 0.4 2000', '3 20 10 0.1 0.3 0.4 500 0.2 0.3 0.4 900'],
           'angles': ['2 1 14 1 100 0 100 80', '1 14 17 5 100 30 0.4 500 90 50 0.5 600'],
           'dihedrals': ['3 2 1 14 2 60 0 60 70', '2 1 14 15 2 -40 0 -40 30'],
           'dihedral_restraints': ['4 3 17 19 1 30 5 0 30 5 90'], 'angle_restraints': ['1 5 13 18 1 70 0 1 70 300 1'],
           'pairs': ['6 22 1 0.3 0.5'], 'pairs_nb': ['8 23 1 0.2 -0.3 0.3 0.5']}


def section(terms, only=None):
    return ''.join(f'[ {name} ]\n' + ''.join(line + '\n' for line in lines) for name, lines in terms.items() if name in (only or terms))


def grid(draw):
    return '\\\n'.join(' '.join(f'{draw.uniform(-9, 9):.6f}' for _ in range(24)) for _ in range(24))


def topology(path, molecules, between):
    """molecules: the terms of one chain each. The charge of an atom changes by 1e-9 e, or GROMACS crashes on perturbed pairs."""
    draw = random.Random('grid')
    with open(path, 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nC 12 0 A 0 0\nB 12 0 A 0 0\n[ cmaptypes ]\n')
        f.write(f'C C C C C 1 24 24\\\n{grid(draw)}\nC B C C C 1 24 24\\\n{grid(draw)}\n')
        for k, terms in enumerate(molecules):
            f.write(f'[ moleculetype ]\nM{k} 0\n[ atoms ]\n')
            for i in range(ATOMS):
                kind = 'B' if i == 7 else 'C'
                f.write(f'{i + 1} {kind} 1 MOL C{i} 1 0 12' + (f' {kind} 1e-9 12\n' if i == 11 else '\n'))
            f.write(section(terms))
        f.write('[ system ]\nterms\n[ molecules ]\n' + ''.join(f'M{k} 1\n' for k in range(len(molecules))))
        f.write('[ intermolecular_interactions ]\n' + section(between) if between else '')


def coordinates(work, molecules):
    draw, x = random.Random('chains'), []
    for k in range(molecules):
        at = np.array([0.2, 0.4 + 0.3 * k, 1.0])
        for i in range(ATOMS):
            x.append(at)
            at = at + np.array([0.11, 0.07 * (-1) ** i, 0.0]) + np.array([draw.uniform(-0.03, 0.03) for _ in range(3)])
    names = [f'    1MOL  {"C" + str(i % ATOMS):>5}{i + 1:5d}' for i in range(len(x))]
    edges = [BOX] * 3
    triclinic.write_gro(os.path.join(work, 'conf.gro'), names, np.array(x), edges)
    moved = np.array(x) + BOX * np.array([[draw.randint(-1, 1) for _ in range(3)] for _ in x])
    triclinic.write_gro(os.path.join(work, 'images.gro'), names, moved, edges)


def energies(work, name):
    """All of an .edr file."""
    numbers = ' '.join(str(k) for k in range(1, 60))
    against_gmx.run(work, 'gmx_d', 'energy', '-f', name + '.edr', '-dp', '-o', 'all.xvg', text=numbers + '\n\n')
    return triclinic.columns(os.path.join(work, 'all.xvg'))


def gmx(work, options, *more):
    """All energies of GROMACS by name, and forces. more: words for grompp."""
    _, forces = against_gmx.gmx(work, dict(MDP, **options), *more)
    return energies(work, 'run'), forces


def still(work, options, *more):
    """Energies and virial by name, and forces, of a run of no steps and almost no time: a rerun gives no virial."""
    with open(os.path.join(work, 'still.mdp'), 'w') as f:
        f.writelines(f'{k} = {v}\n' for k, v in {**MDP, 'dt': 1e-9, **options}.items())
    against_gmx.run(work, 'gmx_d', 'grompp', '-f', 'still.mdp', '-c', 'conf.gro', '-p', 'gmx.top', '-o', 'still.tpr', '-maxwarn', '9', *more)
    against_gmx.run(work, 'gmx_d', 'mdrun', '-s', 'still.tpr', '-nt', '1', '-deffnm', 'still')
    return energies(work, 'still'), against_gmx.trr_forces(os.path.join(work, 'still.trr'))


def check_virial(c, ours, theirs, allowed):
    largest = max(abs(v) for name, v in theirs.items() if name.startswith('Vir-'))
    for k, name in enumerate(a + b for a in 'XYZ' for b in 'XYZ'):
        c.check('virial', ours['virial'][k], theirs['Vir-' + name], allowed * largest)


def compare_static(c, ours, theirs, forces, allowed, exact, exact_forces=(1e-9, 1e-8)):
    for name, kinds in OURS.items():
        value = sum(theirs.get(kind, 0.0) for kind in kinds)
        floor = TABLE_14 if name == 'lj_14' else 2e-8
        c.check(name, ours['energies'][name], value, allowed.terms[name] * abs(value) + floor)
    reference.compare_forces(c, ours['forces'], forces.tolist(), exact_forces if exact else allowed.forces)


def plain(worker, device, work, allowed, exact):
    c = reference.Comparison()
    topology(os.path.join(work, 'gmx.top'), [PLAIN], None)
    coordinates(work, 1)
    theirs, forces = gmx(work, {})
    ours = reference.evaluate(worker, work, SPEC, 0, device)
    compare_static(c, ours, theirs, forces, allowed, exact)
    check_virial(c, ours, still(work, {})[0], 1e-7 if exact else allowed.virial)
    missing = [k for k in ('G96Bond', 'Morse', 'Cubic Bonds', 'FENE Bonds', 'CBT Dih.', 'Restr. Dih.', 'CMAP Dih.') if k not in theirs]
    c.check('terms that GROMACS did not name: ' + ', '.join(missing), len(missing), 0, 0.5)
    return c


def held(worker, device, work, allowed, exact):
    """Restraints to places, whose reference is a file of its own, and of distances."""
    c, draw = reference.Comparison(), random.Random('places')
    topology(os.path.join(work, 'gmx.top'), [HELD], None)
    coordinates(work, 1)
    names, x, edges = triclinic.read_gro(os.path.join(work, 'conf.gro'))
    triclinic.write_gro(os.path.join(work, 'ref.gro'), names, x + np.array([[draw.uniform(-0.2, 0.2) for _ in range(3)] for _ in x]), edges)
    theirs, forces = gmx(work, {'disre': 'simple'}, '-r', 'ref.gro')
    ours = reference.evaluate(worker, work, SPEC.replace('images.gro', 'images.gro, reference: ref.gro'), 0, device)
    compare_static(c, ours, theirs, forces, allowed, exact)
    check_virial(c, ours, still(work, {'disre': 'simple'}, '-r', 'ref.gro')[0], 1e-7 if exact else allowed.virial)
    missing = [k for k in ('Flat-b. P-R.', 'Dis. Rest.', 'Position Rest.') if not theirs.get(k)]
    c.check('terms that GROMACS did not name: ' + ', '.join(missing), len(missing), 0, 0.5)
    return c


def perturbed(worker, device, work, allowed, exact):
    """Window 0 is in the middle, 1 to 4 around it along the bonded lambda, 5 to 8 along that of restraints, 9 and 10 the ends."""
    c, h = reference.Comparison(), 0.004
    steps = [-2 * h, -h, h, 2 * h]
    bonded = [0.3] + [0.3 + s for s in steps] + [0.3] * 4 + [0, 1]
    restraint = [0.6] + [0.6] * 4 + [0.6 + s for s in steps] + [0, 1]
    topology(os.path.join(work, 'gmx.top'), [PERTURBED, RESTRAINTS], BETWEEN)
    coordinates(work, 2)
    spec = SPEC + f'alchemy:\n  perturb: b-states\n  soft-core: {{alpha: 0}}\n  windows:\n    bonded: {bonded}\n    restraint: {restraint}\n'
    potential = []
    for window in range(len(bonded)):
        options = {'free-energy': 'yes', 'init-lambda-state': window, 'sc-alpha': 0, 'nstdhdl': 1,
                   'bonded-lambdas': ' '.join(map(str, bonded)), 'restraint-lambdas': ' '.join(map(str, restraint))}
        theirs, forces = gmx(work, options)
        potential.append(theirs['Potential'])
        if window in (0, 9, 10):
            ours = reference.evaluate(worker, work, spec, window, device)
            compare_static(c, ours, theirs, forces, allowed, exact)
            middle = ours if window == 0 else middle
    for component, first in (('bonded', 1), ('restraint', 5)):
        a, b, d, e = potential[first:first + 4]
        slope = (a - 8 * b + 8 * d - e) / (12 * h)
        c.check('dU/dlambda ' + component, middle['dvdl'][component], slope, allowed.of_lambda(slope))
    for window, u in enumerate(potential):
        c.check('delta_u', middle['delta_u'][window], u - potential[0], allowed.of_lambda(u - potential[0]))
    return c


def together(worker, device, work, allowed, exact):
    """Without a ladder of their own restraints follow the bonded lambda, and count to it."""
    c = reference.Comparison()
    topology(os.path.join(work, 'gmx.top'), [PERTURBED, RESTRAINTS], BETWEEN)
    coordinates(work, 2)
    windows = 'alchemy:\n  perturb: b-states\n  soft-core: {alpha: 0}\n  windows:\n    bonded: [0.4, 1]\n'
    one = reference.evaluate(worker, work, SPEC + windows, 0, device)
    two = reference.evaluate(worker, work, SPEC + windows + '    restraint: [0.4, 1]\n', 0, device)
    for name, value in two['energies'].items():
        c.check(name, one['energies'][name], value, 1e-12)
    c.check('delta_u', one['delta_u'][1], two['delta_u'][1], 1e-12)
    c.check('dU/dlambda', one['dvdl']['bonded'], two['dvdl']['bonded'] + two['dvdl']['restraint'], 1e-8)
    c.check('dU/dlambda restraint', one['dvdl']['restraint'], 0, 0.0 or 1e-300)
    return c


SETTINGS = {'coulomb-modifier': 'Potential-shift', 'vdw-modifier': 'Potential-shift', 'pme-order': 4, 'ewald-rtol': 1e-5}
PEPTIDE = '''name: peptide
system: {topology: gmx.top, coordinates: conf.gro}
nonbonded:
  vdw: {cutoff: 1.0 nm, modifier: potential-shift, dispersion-correction: no}
  coulomb: {cutoff: 1.0 nm, modifier: potential-shift, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}
constraints: none
'''


def peptide(worker, device, work, allowed, exact, field, source, own):
    """own: energies of GROMACS that must be there."""
    c = reference.Comparison()
    with open(source) as f:
        lines = f.read().splitlines()
    rows = [line for line in lines[2:2 + int(lines[1])] if line[5:10].strip() not in ('SOL', 'NA', 'CL')]
    with open(os.path.join(work, 'peptide.gro'), 'w') as f:
        f.write('\n'.join(['peptide', str(len(rows))] + rows + lines[2 + int(lines[1]):]) + '\n')
    against_gmx.run(work, 'gmx_d', 'pdb2gmx', '-f', 'peptide.gro', '-ff', field, '-water', 'none', '-ignh', '-o', 'conf.gro', '-p', 'raw.top')
    with open(os.path.join(work, 'none.mdp'), 'w'):
        pass
    against_gmx.run(work, 'gmx_d', 'grompp', '-f', 'none.mdp', '-c', 'conf.gro', '-p', 'raw.top', '-pp', 'gmx.top', '-o', 'raw.tpr', '-maxwarn', '9')
    theirs, forces = gmx(work, SETTINGS)
    compare_static(c, reference.evaluate(worker, work, PEPTIDE, 0, device), theirs, forces, allowed, exact, (1e-8, 1e-6))
    rigid, forces = gmx(work, dict(SETTINGS, constraints='all-bonds'))
    ours = reference.evaluate(worker, work, PEPTIDE.replace('constraints: none', 'constraints: all-bonds'), 0, device)
    compare_static(c, ours, rigid, forces, allowed, exact, (3e-8, 1e-6)) # forces are a third of those above, and their errors the same
    c.check('bonds that are constraints', ours['energies']['bond'], 0, 1e-12)
    c.check('missing: ' + ', '.join(own), sum(theirs.get(name, 0) == 0 for name in own), 0, 0.5)
    return c


def main():
    o = against_gmx.options('worker', 'root')
    allowed, failed = tolerances.of(o.device), 0
    source = os.path.join(o.root, 'pep_opls', 'conf.gro')
    cases = [(case.__name__, case, ()) for case in (plain, held, perturbed, together)]
    if os.path.isfile(source):
        cases += [('CHARMM27', peptide, ('charmm27', source, ('U-B', 'CMAP Dih.'))),
                  ('GROMOS 54a7', peptide, ('gromos54a7', source, ('G96Bond', 'G96Angle', 'Improper Dih.')))]
    for label, case, more in cases:
        with tempfile.TemporaryDirectory() as work:
            c = case(o.worker, o.device, work, allowed, allowed is tolerances.DOUBLE, *more)
        failed += c.report(label)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
