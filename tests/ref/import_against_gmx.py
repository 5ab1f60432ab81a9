#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `shoal import` makes of run files against what gmx_d computes of the same files, run live.

usage: import_against_gmx.py [--device DEVICE] SHOAL SHOAL_WORKER SOURCE_ROOT [CASE ...]
Two chains in water, of which one is LIG, and an ion. Each case is a .mdp file: its energies, forces and differences between windows.
Coulomb lambdas are 0 or 1 here: in between GROMACS mixes energies and Shoal scales charges. Exit code 77: no gmx_d.
"""
import os
import sys
import tempfile

import against_gmx
import decouple_against_gmx as decouple
import reference
import terms_against_gmx as terms
import tolerances

MDP = {**terms.MDP, 'rcoulomb': 0.8, 'rvdw': 0.8, 'rlist': 0.9, 'fourierspacing': 0.11, 'coulomb-modifier': 'Potential-shift',
       'vdw-modifier': 'Potential-shift', 'DispCorr': 'EnerPres', 'nstdhdl': 1}
CUT, FIELD = {'coulombtype': 'Cut-off'}, {'coulombtype': 'Reaction-Field'}
FEP = {'free-energy': 'yes', 'sc-alpha': 0.5, 'sc-power': 1, 'sc-sigma': 0.3}
HELD = {'free-energy': 'yes', 'couple-moltype': 'LIG', 'couple-lambda0': 'vdw-q', 'couple-lambda1': 'vdw-q', 'bonded-lambdas': '0 0.3 1'}
GONE = {**FEP, 'couple-moltype': 'LIG', 'couple-lambda1': 'none', 'coul-lambdas': '0 1 1', 'vdw-lambdas': '0 0 0.6'}
PULL = {'pull': 'yes', 'pull-ngroups': 2, 'pull-ncoords': 1, 'pull-group1-name': 'LIG', 'pull-group2-name': 'far', 'pull-coord1-groups': '1 2',
        'pull-coord1-type': 'umbrella', 'pull-coord1-geometry': 'distance', 'pull-coord1-k': 700, 'pull-coord1-init': 0.4}
# name: options, their windows. Where the name ends with B, restraints between LIG and the other chain have a B state; with Q, LIG's charges.
CASES = {'plain cut-off': ({'coulombtype': ''}, 1), 'plain cut-off, epsilon-r 15': ({**CUT, 'epsilon-r': 15}, 1),
         'PME, epsilon-r 2.5': ({'epsilon-r': 2.5}, 1), 'reaction field, epsilon-r 2.5': ({**FIELD, 'epsilon-r': 2.5, 'epsilon-rf': 62}, 1),
         'reaction field, old way': ({**FIELD, 'epsilon-r': 15, 'epsilon-rf': 1}, 1),
         'reaction field zero': ({'coulombtype': 'Reaction-Field-zero'}, 1),
         'PME-Switch': ({'coulombtype': 'PME-Switch', 'rcoulomb-switch': 0.7}, 1),
         'decoupled, epsilon-r 2.5': ({**GONE, 'epsilon-r': 2.5}, 3),
         'decoupled, plain cut-off, epsilon-r 15': ({**GONE, **CUT, 'epsilon-r': 15}, 3),
         'B states, epsilon-r 2.5 Q': ({**FEP, 'epsilon-r': 2.5, 'coul-lambdas': '0 1', 'vdw-lambdas': '0 0'}, 2),
         'restraint stage B': ({**HELD, 'couple-intramol': 'yes'}, 3), 'restraint stage, inner pairs kept B': ({**HELD, 'couple-intramol': 'no'}, 3),
         'restraint stage of a molecule that is gone B': ({**HELD, 'couple-lambda0': 'none', 'couple-lambda1': 'none'}, 3),
         'one lambda B': ({'free-energy': 'yes', 'init-lambda': 0.3, 'delta-lambda': 0}, 1), 'pull': (PULL, 1),
         'pull from the start': ({**PULL, 'pull-coord1-start': 'yes', 'pull-coord1-init': ''}, 1),
         'pull along lambda B': ({**PULL, 'free-energy': 'yes', 'restraint-lambdas': '0 0.3 1', 'pull-coord1-kB': 2000}, 3)}


def ligand(b_states):
    """With or without charges that vanish; its 1-4 pairs follow the atoms."""
    atoms, terms_of = (decouple.molecule('LOOSE', states).split('[ bonds ]') for states in (b_states, False))
    return (atoms[0] + '[ bonds ]' + terms_of[1]).replace('LOOSE', 'LIG')


def topology(o, path, waters, kind):
    """kind: the last letter of a case's name."""
    with open(path, 'w') as f:
        f.write('[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\n')
        for name, (sigma, epsilon) in {**decouple.TYPES, 'DU': (0, 0), 'OW': (0.315061, 0.636386), 'HW': (0, 0)}.items():
            f.write(f'{name} 6 12 0 A {sigma} {epsilon}\n')
        f.write(ligand(kind == 'Q') + decouple.molecule('KEPT', False))
        f.write('[ moleculetype ]\nCAT 1\n[ atoms ]\n1 CL 1 CAT X0 1 -1 12\n' + decouple.water(o.root))
        f.write(f'[ system ]\nimported\n[ molecules ]\nLIG 1\nKEPT 1\nCAT 1\nSOL {waters}\n')
        if kind == 'B':
            f.write('[ intermolecular_interactions ]\n[ bonds ]\n2 8 6 0.6 0 0.6 900\n[ angles ]\n1 2 8 1 100 0 100 80\n')


def groups(path, natoms):
    with open(path, 'w') as f:
        f.write('[ System ]\n' + ' '.join(str(i + 1) for i in range(natoms)) + '\n[ LIG ]\n1 2 3 4 5 6\n[ far ]\n8 9 11\n')


def imported(o, work):
    """Without comments, in which files of other windows differ."""
    done = against_gmx.run(work, os.path.abspath(o.shoal), 'import', 'run.mdp', '-p', 'gmx.top', '-c', 'conf.gro', '--index', 'groups.ndx', '--quiet')
    return ''.join(line + '\n' for line in done.stdout.splitlines() if not line.startswith('#'))


def compare(o, work, options, windows):
    c, allowed, potentials, specs = reference.Comparison(), tolerances.of(o.device), [], set()
    for window in range(windows):
        state = {'init-lambda-state': window} if windows > 1 else {}
        options = {**MDP, **options, **state}
        theirs, forces = terms.gmx(work, options, '-n', 'groups.ndx')
        specs.add(imported(o, work))
        ours = reference.evaluate(o.worker, work, next(iter(specs)), window, o.device)
        theirs['Restraint Pot.'] = theirs.get('COM Pull En.', 0)
        terms.compare_static(c, ours, theirs, forces, allowed, False)
        potentials.append((theirs['Potential'], ours['delta_u']))
    c.check('specs of the windows', len(specs), 1, 0.5)
    for u, delta_u in potentials:
        for second, (other, _) in enumerate(potentials):
            c.check('delta_u', delta_u[second], other - u, allowed.of_lambda(other - u))
    return c


def main():
    o, failed = against_gmx.options('shoal', 'worker', 'root', 'wanted'), 0
    with tempfile.TemporaryDirectory() as work:
        waters = decouple.coordinates(work)
        groups(os.path.join(work, 'groups.ndx'), 2 * len(decouple.CHAIN) + 1 + 3 * waters)
        for name in o.wanted or CASES:
            options, windows = CASES[name]
            topology(o, os.path.join(work, 'gmx.top'), waters, name[-1])
            failed += compare(o, work, options, windows).report(name)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
