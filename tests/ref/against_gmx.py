#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `shoal energy` against gmx_d where the stored reference data cannot: run live, with its analytical Ewald kernel.

usage: against_gmx.py SHOAL_WORKER REFERENCE_DIR [SYSTEM[/CASE] ...]
- Cases without free energy: forces to 1e-8 rms (the stored ones carry the error of a table).
- States inside a Coulomb ladder: Shoal scales charges, GROMACS mixes energies; so gmx_d gets a topology whose charges are
  scaled. With couple-intramol = no the molecule's inner pairs keep their full strength as [ pairs_nb ], its 1-4 pairs as
  [ pairs ] of type 2. Soft-core Coulomb has no such counterpart and is left out.
Exit code 77: no gmx_d or no reference data.
"""
import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

import mdp
import reference

TERMS = {'LJ-14': 'lj_14', 'Coulomb-14': 'coulomb_14', 'LJ-(SR)': 'lj', 'Coulomb-(SR)': 'coulomb',
         'Coul.-recip.': 'coulomb_reciprocal', 'Potential': 'potential'}


def options(*words):
    """The device (--device) and words that a script was called with, the worker's path made absolute; without gmx_d the script ends here."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--device', default='cpu:1')
    for word in words:
        parser.add_argument(word, nargs='*' if word == 'wanted' else None)
    o = parser.parse_args()
    if not shutil.which('gmx_d'):
        print('no gmx_d: skipped')
        sys.exit(77)
    o.worker = os.path.abspath(o.worker)
    return o


def run(folder, *command, text=None, check=True):
    env = dict(os.environ, GMX_NBNXN_EWALD_ANALYTICAL='1', GMX_MAXBACKUP='-1')
    r = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, env=env)
    if check and r.returncode:
        raise RuntimeError(f'{" ".join(command)}: {r.stderr[-1500:]}')
    return r


def trr_forces(path):
    """Forces of the only frame of a double-precision .trr file (XDR)."""
    with open(path, 'rb') as f:
        data = f.read()
    _, _, length = struct.unpack('>iii', data[:12])
    at = 12 + (length + 3) // 4 * 4
    sizes = struct.unpack('>13i', data[at:at + 52])
    box, vir, pres, x, v, force, natoms = sizes[2], sizes[3], sizes[4], sizes[7], sizes[8], sizes[9], sizes[10]
    start = at + 52 + 16 + box + vir + pres + x + v
    return np.frombuffer(data[start:start + force], '>f8').reshape(natoms, 3)


def gmx(folder, options, *more):
    with open(os.path.join(folder, 'run.mdp'), 'w') as f:
        f.writelines(f'{k} = {v}\n' for k, v in options.items())
    run(folder, 'gmx_d', 'grompp', '-f', 'run.mdp', '-c', 'conf.gro', '-p', 'gmx.top', '-o', 'run.tpr', '-maxwarn', '9', *more)
    run(folder, 'gmx_d', 'mdrun', '-s', 'run.tpr', '-rerun', 'conf.gro', '-nt', '1', '-deffnm', 'run')
    energies = {}
    for name in TERMS:
        r = run(folder, 'gmx_d', 'energy', '-f', 'run.edr', '-dp', '-xvg', 'none', '-o', 'one.xvg', text=name + '\n\n', check=False)
        if r.returncode == 0:
            with open(os.path.join(folder, 'one.xvg')) as f:
                energies[name] = float(f.read().split()[1])
    return energies, trr_forces(os.path.join(folder, 'run.trr'))


# ---- topologies with scaled charges ----

def sections(path):
    """[(name, [lines of words])], comments and blank lines dropped."""
    out = []
    with open(path) as f:
        for line in f:
            words = line.split(';')[0].split()
            if not words:
                continue
            if words[0] == '[':
                out.append((words[1], []))
            else:
                out[-1][1].append(words)
    return out


def molecule_of(top, kind):
    """The sections of one moleculetype, as {name: lines}."""
    found, inside = {}, False
    for name, lines in top:
        if name == 'moleculetype':
            inside = lines[0][0] == kind
        elif name in ('system', 'molecules'):
            inside = False
        if inside:
            found.setdefault(name, []).extend(lines)
    return found


def lj_of(types, rule, a, b, fudge=1.0):
    """sigma and epsilon of a pair (rules 2 and 3)."""
    (s, e), (t, f) = types[a], types[b]
    return (0.5 * (s + t) if rule == 2 else (s * t) ** 0.5), fudge * (e * f) ** 0.5


def separations(molecule, natoms, nrexcl):
    """Pairs of atoms at most nrexcl bonds apart, or listed as excluded; 1-based."""
    near = {i: set() for i in range(1, natoms + 1)}
    for words in molecule.get('bonds', []) + molecule.get('constraints', []):
        near[int(words[0])].add(int(words[1]))
        near[int(words[1])].add(int(words[0]))
    pairs = set()
    for i in near:
        reached, edge = {i}, {i}
        for _ in range(nrexcl):
            edge = {k for j in edge for k in near[j]} - reached
            reached |= edge
        pairs |= {(i, j) for j in reached if j > i}
    for words in molecule.get('exclusions', []):
        pairs |= {tuple(sorted((int(words[0]), int(w)))) for w in words[1:]}
    return pairs


def inner_pairs(molecule, atoms, types, rule):
    excluded = separations(molecule, len(atoms), int(molecule['moleculetype'][0][1]))
    apart = [(i, j) for i in atoms for j in atoms if i < j and (i, j) not in excluded]
    return [('pairs_nb', [[str(i), str(j), '1', repr(atoms[i][1]), repr(atoms[j][1])] +
                          [repr(v) for v in lj_of(types, rule, atoms[i][0], atoms[j][0])] for i, j in apart]),
            ('exclusions', [[str(i)] + [str(j) for j in atoms if j > i] for i in atoms if i < len(atoms)])]


def decoupled_topology(path, kind, l, keep):
    top = sections(path)
    defaults = next(lines for name, lines in top if name == 'defaults')[0]
    rule, fudge_lj, fudge_qq = int(defaults[1]), float(defaults[3]), float(defaults[4])
    types = {w[0]: (float(w[-2]), float(w[-1])) for name, lines in top if name == 'atomtypes' for w in lines}
    molecule = molecule_of(top, kind)
    atoms = {int(w[0]): (w[1], float(w[6])) for w in molecule['atoms']}
    out, inside = [], False
    for name, lines in top:
        if name in ('moleculetype', 'system'):
            if inside and keep:
                out += inner_pairs(molecule, atoms, types, rule)
            inside = name == 'moleculetype' and lines[0][0] == kind
        if inside and name == 'atoms':
            lines = [w[:6] + [repr((1 - l) * float(w[6]))] + w[7:] for w in lines]
        if inside and name == 'pairs':
            new = []
            for w in lines:
                (ti, qi), (tj, qj) = atoms[int(w[0])], atoms[int(w[1])]
                sigma, eps = (float(w[3]), float(w[4])) if len(w) > 4 else lj_of(types, rule, ti, tj, fudge_lj)
                new.append([w[0], w[1], '2', repr(fudge_qq), repr(qi), repr(qj), repr(sigma), repr(eps)])
            lines = new
        out.append((name, lines))
    return out


def hybrid_topology(path, l):
    out = []
    for name, lines in sections(path):
        if name == 'atoms':
            new = []
            for w in lines:
                q = float(w[6])
                b = float(w[9]) if len(w) > 9 else q
                scaled = repr((1 - l) * q + l * b)
                new.append(w[:6] + [scaled, w[7]] + ([w[8], scaled] + w[10:] if len(w) > 9 else []))
            lines = new
        out.append((name, lines))
    return out


def write_topology(path, top):
    with open(path, 'w') as f:
        for name, lines in top:
            f.write(f'[ {name} ]\n' + ''.join(' '.join(w) + '\n' for w in lines))


# ---- cases ----

def plan(folder, settings):
    """Topology and .mdp options for gmx_d, or None when the case is none for this test."""
    o = dict(settings.mdp)
    top = os.path.join(folder, 'system.top')
    if not settings.fep:
        return sections(top), o
    if not settings.mixed(settings.window) or o.get('sc-coul', 'no') == 'yes':
        return None
    l = settings.ladders['coulomb'][settings.window]
    if 'couple-moltype' not in o:
        return hybrid_topology(top, l), o
    if settings.ladders.get('vdw', [0])[settings.window if 'vdw' in settings.ladders else 0] != 0:
        return None
    o = {k: v for k, v in o.items() if not re.match(r'(couple-|sc-|.*-lambda|calc-lambda|nstdhdl|separate|dhdl)', k)}
    o['free-energy'] = 'no'
    return decoupled_topology(top, settings.mdp['couple-moltype'], l, settings.mdp.get('couple-intramol', 'no') == 'no'), o


def compare(worker, folder, work, settings, planned):
    top, options = planned
    exact = options.get('free-energy', 'no') == 'no' # perturbed pairs always use a table
    write_topology(os.path.join(work, 'gmx.top'), top)
    theirs, forces = gmx(work, options)
    ours = reference.evaluate(worker, work, settings.spec(), settings.window)
    c = reference.Comparison()
    for name, value in theirs.items():
        rel = 1e-6 if name == 'Coul.-recip.' else 3e-9 if name == 'LJ-14' else 1e-8
        c.check(TERMS[name], ours['energies'][TERMS[name]], value, rel * abs(value) + (5e-9 if name == 'LJ-14' else reference.PRINTED))
    off = np.linalg.norm(np.array(ours['forces']) - forces, axis=1)
    rms = np.sqrt((forces ** 2).sum() / len(forces))
    c.check('force rms', np.sqrt((off ** 2).mean()) / rms, 0, 1e-8 if exact else 1e-6)
    c.check('force worst', off.max() / rms, 0, 1e-6 if exact else 4e-6)
    return c


def main():
    worker, root, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not os.path.isdir(root) or not shutil.which('gmx_d'):
        print('no reference data or no gmx_d: skipped')
        return 77
    failed = done = 0
    for system in sorted(os.listdir(root)):
        folder = os.path.join(root, system)
        if system.startswith('nve_') or not os.path.isfile(os.path.join(folder, 'reference.json')):
            continue
        with open(os.path.join(folder, 'reference.json')) as f:
            cases = json.load(f)['cases']
        for name, case in cases.items():
            if wanted and system not in wanted and f'{system}/{name}' not in wanted:
                continue
            settings = mdp.Settings(os.path.join(folder, case['mdp']))
            planned = plan(folder, settings)
            if not planned:
                continue
            with tempfile.TemporaryDirectory() as work:
                for file in ('system.top', 'conf.gro'):
                    os.symlink(os.path.abspath(os.path.join(folder, file)), os.path.join(work, file))
                c = compare(worker, folder, work, settings, planned)
            done += 1
            failed += c.report(f'{system} {name}')
    print(f'{failed} of {done} cases failed')
    return 1 if failed or not done else 0


if __name__ == '__main__':
    sys.exit(main())
