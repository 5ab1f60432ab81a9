#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds 20 constrained steps of velocity Verlet against GROMACS (md-vv, double precision).

usage: nve.py [--device DEVICE] [--steps N] NVE_PROGRAM REFERENCE_DIR WORK_DIR
The stored runs took the Ewald correction from tables, whose errors (4e-4 kJ/mol/nm rms in the forces, see reference.py) move
single atoms by up to 1.2e-7 nm in 20 steps. So x is held to 1e-7 nm rms and 2e-7 nm at worst there; where gmx_d is installed
the same run is made with its analytical kernel, and x is held to 1e-9 nm, v to 1e-7 nm/ps. A device cuda:K is held to the stored run, within what mixed precision allows.
Of fewer steps (--steps) energies and pressures are compared, and not where atoms end.
Exit code 77: no reference data.
"""
import argparse
import gzip
import json
import math
import os
import shutil
import struct
import subprocess
import sys

import tolerances

STEPS = 20
failures = 0


def check(what, value, limit):
    global failures
    if not value <= limit:
        failures += 1
    print(f'{"ok  " if value <= limit else "FAIL"} {what}: {value:.3g} (limit {limit:g})')


def ours(program, folder, device, steps):
    environment = dict(os.environ, SHOAL_TEST_DEVICE=device)
    rows = [line.split() for line in subprocess.run([program, folder, str(steps)], check=True, capture_output=True, text=True,
                                                    env=environment).stdout.splitlines()]
    rows = [[float(word) for word in row] for row in rows]
    return rows[:steps + 1], rows[steps + 1:-1], rows[-1]


def compare_atoms(name, atoms, box, x, v, x_rms, x_worst, v_worst):
    dx = [[(a - b) - edge * round((a - b) / edge) for a, b, edge in zip(mine, his, box)] for mine, his in zip(atoms, x)]
    dv = [abs(a - b) for mine, his in zip(atoms, v) for a, b in zip(mine[3:], his)]
    check(f'{name} x, rms nm', math.sqrt(sum(d * d for row in dx for d in row) / len(dx)), x_rms)
    check(f'{name} x, worst nm', max(abs(d) for row in dx for d in row), x_worst)
    check(f'{name} v, worst nm/ps', max(dv), v_worst)


def last_frame(name):
    """x and v of the last frame of a double-precision .trr"""
    data, at, frame = open(name, 'rb').read(), 0, {}
    while at < len(data):
        at += 12 + (struct.unpack('>i', data[at + 8:at + 12])[0] + 3) // 4 * 4
        sizes = struct.unpack('>13i', data[at:at + 52])
        at += 52 + 16
        for key, size in zip(('box', 'vir', 'pres', 'x', 'v', 'f'), (sizes[2], sizes[3], sizes[4], *sizes[7:10])):
            flat = struct.unpack(f'>{size // 8}d', data[at:at + size])
            frame[key] = [flat[i:i + 3] for i in range(0, len(flat), 3)]
            at += size
    return frame['x'], frame['v']


def analytical(folder, work):
    """The same run by gmx_d without tables; None where it is not installed."""
    if not shutil.which('gmx_d'):
        return None
    os.makedirs(work, exist_ok=True)
    quiet = dict(check=True, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                 env=dict(os.environ, GMX_NBNXN_EWALD_ANALYTICAL='1', GMX_MAXBACKUP='-1'))
    subprocess.run(['gmx_d', 'grompp', '-f', f'{folder}/md-vv.mdp', '-p', f'{folder}/system.top', '-c',
                    f'{folder}/conf.gro', '-o', 'run.tpr', '-maxwarn', '6'], **quiet)
    subprocess.run(['gmx_d', 'mdrun', '-s', 'run.tpr', '-nt', '1', '-deffnm', 'run'], **quiet)
    return last_frame(f'{work}/run.trr')


def worst(mine, his, relative):
    return max(abs(a - b) / (abs(b) if relative else 1) for a, b in zip(mine, his))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--device', default='cpu:2')
    parser.add_argument('--steps', type=int, default=STEPS, choices=range(1, STEPS + 1))
    parser.add_argument('paths', nargs=3, type=os.path.abspath)
    o = parser.parse_args()
    program, reference, work = o.paths
    allowed = tolerances.of(o.device)
    systems = ('nve_spce', 'nve_fs_methanol')
    if not os.path.isdir(os.path.join(reference, systems[0])):
        print(f'skipped: no reference data in {reference}')
        sys.exit(77)
    for system in systems:
        folder = os.path.join(reference, system)
        energies, atoms, box = ours(program, folder, o.device, o.steps)
        run = json.load(open(f'{folder}/reference.json'))['runs']['md-vv']
        mine = list(zip(*energies))
        his = {name: [row[i] for row in run['rows'][:o.steps + 1]] for i, name in enumerate(run['columns'])}
        check(f'{system} potential, relative', worst(mine[0], his['Potential'], True), allowed.run_energy)
        check(f'{system} kinetic, relative', worst(mine[1], his['Kinetic-En.'], True), allowed.run_kinetic)
        check(f'{system} temperature, relative', worst(mine[2], his['Temperature'], True), allowed.run_kinetic)
        # constraint forces are known from the first step on
        check(f'{system} pressure, bar', worst(mine[3][1:], his['Pressure'][1:], False), allowed.run_pressure)
        for k, name in enumerate(('XX', 'YY', 'ZZ', 'XY', 'XZ', 'YZ'), 4):
            check(f'{system} Pres-{name}, bar', worst(mine[k][1:], his[f'Pres-{name}'][1:], False), allowed.run_pressure)
        if o.steps < STEPS:
            continue
        with gzip.open(f'{folder}/{run["final"]}', 'rt') as f:
            final = [[float(word) for word in line.split()[1:]] for line in f if not line.startswith('#')]
        compare_atoms(f'{system} stored', atoms, box, final, [row[3:] for row in final], *allowed.run_atoms)
        exact = None if allowed is tolerances.MIXED else analytical(folder, os.path.join(work, system))
        if exact:
            compare_atoms(f'{system} analytical', atoms, box, *exact, 1e-9, 1e-9, 1e-7)
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
