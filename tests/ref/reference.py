#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `shoal energy` against single-point reference data computed with GROMACS in double precision.

usage: reference.py [--device DEVICE] [--jobs N] SHOAL_WORKER REFERENCE_DIR [SYSTEM[/CASE] ...]
Needs nothing but Python's own modules. A device cuda:K is held to what mixed precision allows (tolerances.py). Every case (SYSTEM/CASE.mdp) is turned into a spec; energies, dU/dlambda, energy differences between windows, virial and
forces are compared. Exit code 77: there is no reference data.

Where the two are not the same by intent, or the reference is not exact:
- Inside a Coulomb ladder GROMACS mixes energies and Shoal scales charges: Coulomb terms of such states are left to against_gmx.py.
- At the ends of a Coulomb ladder the slopes differ, since the one energy is linear in lambda and the other quadratic. The
  mean of a quadratic's slopes at both ends is the difference of its end values, which is GROMACS's slope.
- gmx_d takes the Ewald correction of most pairs, and 1-4 pairs, from tables. Their errors were measured with its own
  analytical kernel (GMX_NBNXN_EWALD_ANALYTICAL): forces 5.9e-7 rms at cut-off 1.0, 7.4e-7 at 0.9; with that kernel ours
  differ by 8e-11 (against_gmx.py). So forces, virial and LJ-14 are compared here to what the tables allow.
- The energy E of a net charge's background goes as 1/V, so its share of each diagonal element of the virial is -E/2.
  GROMACS 2022 adds -E/V (in nm^3) instead; what it should have been is put in its place before comparing.
"""
import argparse
import concurrent.futures
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

import mdp
import tolerances

# kJ/mol name in the reference -> name in our JSON
TERMS = {'Bond': 'bond', 'Angle': 'angle', 'U-B': 'urey_bradley', 'Proper-Dih.': 'proper_dihedral',
         'Ryckaert-Bell.': 'proper_dihedral', 'Improper-Dih.': 'improper_dihedral', 'Per.-Imp.-Dih.': 'improper_dihedral',
         'LJ-14': 'lj_14', 'Coulomb-14': 'coulomb_14', 'LJ-(SR)': 'lj', 'Disper.-corr.': 'dispersion_correction',
         'Coulomb-(SR)': 'coulomb', 'Coul.-recip.': 'coulomb_reciprocal', 'Position-Rest.': 'restraint', 'Potential': 'potential'}
COULOMB = {'coulomb', 'coulomb_14', 'coulomb_reciprocal', 'potential'}
TABLE_14 = 1e-8  # kJ/mol: the terms of LJ-14 cancel, the errors of their table (2e-9 of each) do not
PRINTED = 5e-10  # kJ/mol: the reference has 12 decimals of terms, and ours are rounded to 2^-32


class Comparison:
    def __init__(self):
        self.failures, self.worst = [], {}

    def check(self, name, ours, theirs, tolerance):
        off = abs(ours - theirs)
        ratio = off / tolerance
        if ratio > self.worst.get(name, (0, 0))[0]:
            self.worst[name] = (ratio, off)
        if not ratio <= 1:
            self.failures.append(f'{name}: {ours:.12g}, reference {theirs:.12g}, off by {off:.3g}, allowed {tolerance:.3g}')

    def report(self, label, details=True):
        """Prints a line, and one for each failure; whether there are any."""
        worst = ', '.join(f'{k} {off:.1e}' for k, (_, off) in sorted(self.worst.items()))
        print(('FAIL ' if self.failures else 'ok   ') + label + (f': {worst}' if details else ''), flush=True)
        for line in self.failures:
            print('     ' + line)
        return bool(self.failures)


def energies(c, case, ours, mixed, allowed):
    sums = {}
    for name, value in case['energies_kJ_mol'].items():
        sums[TERMS[name]] = sums.get(TERMS[name], 0.0) + value
    for term, value in sums.items():
        if not (mixed and term in COULOMB):
            c.check(term, ours['energies'][term], value,
                    allowed.terms[term] * abs(value) + (TABLE_14 if term == 'lj_14' else PRINTED))


def components(c, case, ours, settings, allowed, end_slope):
    """dU/dlambda. GROMACS lumps components without a ladder of their own together. end_slope(): the slope of a linear
    path in the Coulomb lambda with the same ends."""
    given = {'coul': 'coulomb', 'vdw': 'vdw', 'bonded': 'bonded'}
    theirs = case.get('dhdl_kJ_mol', {})
    slopes = dict(ours['dvdl'])
    soft = settings.mdp.get('sc-coul', 'no') == 'yes'
    if theirs and not soft:
        slopes['coulomb'] = end_slope()
    for name, value in theirs.items():
        if name == 'dEkin/dl' or soft and name in ('dVremain/dl', 'dVcoul/dl'):
            continue
        if name == 'dVremain/dl':
            slope = sum(slopes[k] for g, k in given.items() if f'dV{g}/dl' not in theirs)
        else:
            slope = slopes[given[name[2:-3]]]
        c.check(name, slope, value, allowed.of_lambda(value))


def differences(c, reference, settings, index, ours, mixed, allowed):
    """U at the other windows from the reference potentials of their own cases; only between states free of mixing."""
    for other, potential in enumerate(reference):
        if potential is None or reference[index] is None or mixed or settings.mixed(other):
            continue
        theirs = potential - reference[index]
        c.check('delta_u', ours['delta_u'][other], theirs, allowed.of_lambda(theirs))


def compare_forces(c, ours, theirs, allowed):
    """allowed: rms and largest difference, of the rms force."""
    off = [math.dist(a, b) for a, b in zip(ours, theirs, strict=True)]
    rms = math.sqrt(sum(math.hypot(*f) ** 2 for f in theirs) / len(theirs))
    c.check('force rms', math.sqrt(sum(d * d for d in off) / len(off)) / rms, 0, allowed[0])
    c.check('force worst', max(off) / rms, 0, allowed[1])


def forces(c, folder, case, ours, mixed, allowed):
    if not case.get('forces') or mixed:
        return
    with gzip.open(os.path.join(folder, case['forces']), 'rt') as f:
        theirs = [[float(word) for word in line.split()[1:]] for line in f if not line.startswith('#')]
    compare_forces(c, ours['forces'], theirs, allowed.forces)


def virial(c, case, ours, mixed, charge, allowed):
    theirs = case.get('force_virial_kJ_mol')
    if not theirs or mixed:
        return
    volume = case['volume_nm3']
    background = -math.pi * 138.935458 * charge ** 2 / (2 * case['ewald_beta_per_nm'] ** 2 * volume)
    largest = max(abs(v) for v in theirs.values())
    for k, name in enumerate(a + b for a in 'XYZ' for b in 'XYZ'):
        due = background * (1 / volume - 0.5) if name[0] == name[1] else 0.0
        c.check('virial', ours['virial'][k], theirs[name] + due, allowed.virial * largest)


def evaluate(worker, folder, spec, window, device='cpu:1'):
    path = os.path.join(folder, 'spec.yaml')
    with open(path, 'w') as f:
        f.write(spec)
    r = subprocess.run([worker, 'energy', path, '--json', '--forces', '--window', str(window),
                        '--device', device], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip())
    return json.loads(r.stdout)


def end_slope(worker, folder, settings, window, device):
    spec = settings.spec(ladders={name: [v[window]] * 2 if name != 'coulomb' else [0.0, 1.0]
                                  for name, v in settings.ladders.items()})
    slopes = [evaluate(worker, folder, spec, end, device)['dvdl']['coulomb'] for end in (0, 1)]
    return 0.5 * sum(slopes)


def imported(shoal, path, work):
    """The spec that `shoal import` makes of an .mdp file."""
    r = subprocess.run([os.path.abspath(shoal), 'import', os.path.abspath(path), '-p', 'system.top', '-c', 'conf.gro', '--quiet'], cwd=work,
                       capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip())
    return r.stdout


def run_case(o, folder, reference, name):
    """Returns its label and what was compared."""
    case, allowed, c = reference['cases'][name], tolerances.of(o.device), Comparison()
    path = os.path.join(folder, case['mdp'])
    settings = mdp.Settings(path)
    index = settings.window
    mixed = settings.mixed(index)
    with tempfile.TemporaryDirectory() as work:
        for file in ('system.top', 'conf.gro'):
            os.symlink(os.path.abspath(os.path.join(folder, file)), os.path.join(work, file))
        try:
            spec = imported(o.shoal, path, work) if o.shoal else settings.spec()
            ours = evaluate(o.worker, work, spec, index, o.device)
            energies(c, case, ours, mixed, allowed)
            components(c, case, ours, settings, allowed, lambda: end_slope(o.worker, work, settings, index, o.device))
            differences(c, ladder_potentials(folder, reference, settings), settings, index, ours, mixed, allowed)
            forces(c, folder, case, ours, mixed, allowed)
            virial(c, case, ours, mixed, settings.net_charge(os.path.join(folder, 'system.top')), allowed)
        except RuntimeError as e:
            c.failures.append(str(e))
    return f'{os.path.basename(folder)} {name}{" (mixed in GROMACS: no Coulomb terms)" if mixed else ""}', c


def run_system(o, pool, folder, wanted):
    """Starts its cases and returns what prints them, once those before are printed."""
    with open(os.path.join(folder, 'reference.json')) as f:
        reference = json.load(f)
    running = [pool.submit(run_case, o, folder, reference, name) for name in reference['cases'] if not wanted or name in wanted]

    def report():
        failed, worst = 0, {}
        for label, c in (case.result() for case in running):
            for key, value in c.worst.items():
                worst[key] = max(worst.get(key, (0, 0)), value)
            failed += c.report(label, details=False)
        for key, (ratio, off) in sorted(worst.items()):
            print(f'     {key}: {ratio:.2g} of the tolerance, off by {off:.2g}')
        return failed
    return report


def ladder_potentials(folder, reference, settings):
    """Potential of each window, where the reference has a case that differs in the window alone."""
    found = [None] * settings.nwindows
    for case in reference['cases'].values():
        other = mdp.Settings(os.path.join(folder, case['mdp']))
        if other.same_but_window(settings):
            found[other.window] = case['energies_kJ_mol']['Potential']
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--device', default='cpu:1')
    parser.add_argument('--jobs', type=int, default=1, help='cases at once')
    parser.add_argument('--import', dest='shoal', help='this program makes the specs, by its command import')
    parser.add_argument('worker')
    parser.add_argument('root')
    parser.add_argument('wanted', nargs='*')
    o = parser.parse_args()
    root, wanted = o.root, o.wanted
    if not os.path.isdir(root):
        print(f'no reference data at {root}: skipped')
        return 77
    reports = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for system in sorted(os.listdir(root)):
            folder = os.path.join(root, system)
            if not os.path.isfile(os.path.join(folder, 'reference.json')) or system.startswith('nve_'):
                continue
            cases = {w.split('/')[1] for w in wanted if w.startswith(system + '/')}
            if wanted and not cases and system not in wanted:
                continue
            reports.append(run_system(o, pool, folder, cases))
        failed = sum(report() for report in reports)
    print(f'{failed} cases failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
