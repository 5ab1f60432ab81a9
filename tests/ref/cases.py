#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every case of the folder of cases beside the repository: inputs that once came out wrong, or were refused.

usage: cases.py SHOAL SHOALD SHOAL_WORKER CASES [NAME ...]
README.md in CASES has a table: a row for each case, with the command, and what is right. CHECKS below has a function
for each row; a row or a folder without one fails the test. Each case runs in a copy of its folder; those that submit
share a service of their own. Samples are drawn for as long as the case needs to tell right from wrong, which is less
than its spec says. Numbers from samples are within 4 of their errors, and their verdicts are as right runs have them
(tests/e2e/verdicts.py). Exit code 77: there is no folder of cases.
"""
import concurrent.futures
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from service import Service  # noqa: E402
from verdicts import beyond_chance  # noqa: E402

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])
CASES = sys.argv[4] if len(sys.argv) > 4 else ''
RT = 0.00831446261815324 * 300
STAGE = 'protocol: [{produce: {time: 10 ps, ensemble: nvt, sample-every: 1 ps}}]\n'
# What run files and topologies of two cases name and their folders lack.
TWO_MOLECULES = """[ defaults ]
1 2 yes 0.5 0.8333
[ atomtypes ]
C 6 12.011 0 A 0.34 0.36
O 8 15.999 0 A 0.30 0.71
[ moleculetype ]
LIG 3
[ atoms ]
1 C 1 LIG C1 1 0.3 12.011
2 O 1 LIG O2 1 -0.3 15.999
[ bonds ]
1 2 1 0.13 280000 0.13 290000
[ moleculetype ]
ANA 3
[ atoms ]
1 C 1 ANA C1 1 0.2 12.011
2 O 1 ANA O2 1 -0.2 15.999
[ bonds ]
1 2 1 0.13 280000
[ system ]
x
[ molecules ]
LIG 1
ANA 1
"""
TWO_PLACES = """x
4
    1LIG     C1    1   1.000   1.000   1.000
    1LIG     O2    2   1.130   1.000   1.000
    2ANA     C1    3   1.000   1.500   1.000
    2ANA     O2    4   1.130   1.500   1.000
   3.0 3.0 3.0
"""
# A stand-in for a force field whose [ cmaptypes ] name residues, and for a water of four sites.
RESIDUE_AWARE = {'forcefield.itp': """[ defaults ]
1 2 yes 0.5 0.8333
[ atomtypes ]
OW4 8 15.9994 0 A 0.31 0.7
HW4 1 1.008 0 A 0 0
EP4 0 0 0 D 0 0
C 6 12.01 0 A 0.34 0.36
N 7 14.01 0 A 0.325 0.7
XC 6 12.01 0 A 0.34 0.45
[ cmaptypes ]
""" + ''.join(f'C-* N-{r} XC-{r} C-{r} N-* 1 2 2 {v} {v} {v} {v}\n' for v, r in enumerate(('ALA', 'GLY'))),
                 'opc.itp': """[ moleculetype ]
SOL 2
[ atoms ]
1 OW4 1 SOL OW 1 0 15.9994
2 HW4 1 SOL HW1 1 0.68 1.008
3 HW4 1 SOL HW2 1 0.68 1.008
4 EP4 1 SOL MW 1 -1.36 0
[ settles ]
1 1 0.0872 0.1371
[ virtual_sites3 ]
4 1 2 3 1 0.147 0.147
[ exclusions ]
1 2 3 4
2 1 3 4
3 1 2 4
4 1 2 3
"""}


def check(truth, *said):
    """said: what an AssertionError says."""
    if not truth:
        raise AssertionError(*said)


class Case:
    """A copy of a case's folder, and the client in it."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment

    def run(self, *words):
        return subprocess.run([SHOAL, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False)

    def shoal(self, *words, code=0):
        """(stdout, stderr)"""
        done = self.run(*words)
        check(done.returncode == code, f'shoal {" ".join(words)}: {done.returncode}', done.stdout, done.stderr)
        return done.stdout, done.stderr

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as f:
            return f.read()

    def write(self, name, text):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def edit(self, name, *changes, to=None):
        """Each change, (pattern, text), takes place once in a copy of a file, named `to`."""
        text = self.read(name)
        for pattern, new in changes:
            text, n = re.subn(pattern, new, text, flags=re.M)
            check(n == 1, f'{name}: {pattern!r} {n} times')
        self.write(to or name, text)
        return to or name

    def energy(self, spec, *words):
        return json.loads(self.shoal('energy', spec, '--json', *words)[0])

    def accepted(self, spec):
        """What validate warns of."""
        self.energy(spec)
        if not re.search('^protocol:', self.read(spec), re.M):
            self.write('staged.yaml', self.read(spec) + STAGE)
            spec = 'staged.yaml'
        return self.shoal('validate', spec)[1]

    def submit(self, spec, ps=None):
        """Results as they are in results.json; ps: of production, in place of the spec's."""
        if ps:
            self.edit(spec, (r'(produce: \{time: )[0-9]+ ps', rf'\g<1>{ps} ps'))
        ident = self.shoal('submit', spec, '--quiet')[0].split()[-1]
        self.shoal('wait', ident, '--timeout', '240')
        return self.results(ident)

    def results(self, ident):
        return json.loads(self.shoal('results', ident, '--json')[0])

    def campaign(self, path):
        self.shoal('campaign', 'submit', path, '--quiet')
        for one in json.loads(self.shoal('campaign', 'status', path, '--json')[0])['ensembles']:
            self.shoal('wait', one['ensemble']['id'], '--timeout', '240')
        return json.loads(self.shoal('campaign', 'gather', path, '--json')[0])


def within(energy, exact, errors=4):
    check(abs(energy['value'] - exact) < errors * energy['error'] + 1e-9, energy, exact)


def estimator(results, name):
    return next(one for one in results['estimators'] if one['name'] == name)


def total(results, name='MBAR', verdict='converged'):
    one = estimator(results, name)
    check(one['verdict']['verdict'] == verdict, one['verdict'])
    return one['total']['kJ/mol']


def drawn(results, name='MBAR'):
    """The total of samples that were drawn here: chance may have them doubted."""
    one = estimator(results, name)
    check(not beyond_chance(one['verdict']), one['verdict'])
    return one['total']['kJ/mol']


def is_nothing(results):
    """A number that is zero by construction, and says so."""
    for name in ('MBAR', 'TI'):
        check(abs(total(results, name, 'unconverged')['value']) < 1e-9, results['estimators'])
    check('whatever is sampled' in json.dumps(results['estimators']), results['estimators'])


def charges_of_both_ends(case):
    """HA is there in state A alone, OB in state B alone: as if the pair were excluded, in every window and anywhere."""
    case.edit('topol.top', (r'^\[ system \]', '[ exclusions ]\n1 2\n[ system ]'), to='apart.top')
    case.edit('spec.yaml', ('topol.top', 'apart.top'), to='apart.yaml')
    places = case.read('conf.gro')
    for distance in (0.30, 0.02, 0.01):
        case.write('conf.gro', places.replace('   1.300   1.000   1.000', f'   {1 + distance:.3f}   1.000   1.000'))
        for window in '012':
            ours, apart = (case.energy(spec, '--window', window) for spec in ('spec.yaml', 'apart.yaml'))
            for ours, apart in ((ours['energies'], apart['energies']), (ours['dvdl'], apart['dvdl'])):
                for name in ours:
                    check(abs(ours[name] - apart[name]) < 1e-6, distance, window, name, ours, apart)


def mass_ladder(case):
    for spec, ps in (('alone_mass.yaml', 40), ('mnone.yaml', 40), ('m1.yaml', 1)):
        results = case.submit(spec, ps)
        is_nothing(results)
        said = ' '.join(results['warnings'])
        check('without the kinetic part' in said and 'cancels between legs' in said, said)
    legs = []
    for leg in ('solvent', 'vacuum'):
        said = case.shoal('import', 'leg.mdp', '-p', f'leg_{leg}.top', '-c', f'leg_{leg}.gro', '-o', f'{leg}.yaml')[1]
        check('leg.mdp:26: fep-lambdas' in said and 'kinetic part of masses' in said, said)
        legs.append(total(case.submit(f'{leg}.yaml'), verdict='unconverged')['value'])
    check(max(map(abs, legs)) < 1e-9, legs)


def restrained_atoms(case):
    for spec in ('eight.yaml', 'eight_off.yaml'):
        within(drawn(case.submit(spec, 600)), 8 * 1.5 * RT * math.log(4))


def constraint_length(case):
    check('changes its length' in case.shoal('validate', 'alone_hbond.yaml')[1], 'validate does not warn')
    results = case.submit('alone_hbond.yaml', 400)
    within(drawn(results, 'TI'), -2 * RT * math.log(0.153 / 0.11))
    for name in ('MBAR', 'BAR'):
        one = estimator(results, name)
        check(one['total'] is None and one['verdict']['verdict'] == 'failed', one)
        check('C1' in one['reason'] and 'H2' in one['reason'] and '0.11 nm' in one['reason'], one['reason'])


def nothing_changes(case):
    case.shoal('import', 'vq.mdp', '-o', 'vq.yaml')
    shutil.copy(os.path.join(case.folder, 'topol.top'), os.path.join(case.folder, 'bq.top'))
    for spec, ladder in (('vq.yaml', 'vdw'), ('b.yaml', 'mass')):
        said = case.shoal('validate', spec)[1]
        check(f'alchemy.windows.{ladder}: moves and changes nothing' in said, said)
        check('the free energy is 0 whatever is sampled' in said, said)
    is_nothing(case.submit('b.yaml', 20))


def ion_beside_ligand(case):
    check(abs(case.energy('two.yaml')['delta_u'][1] - 127.306580) < 1e-5, 'two.yaml')
    case.shoal('import', 'run.mdp', '-o', 'run.yaml')
    said = case.shoal('energy', 'run.yaml', code=65)[1]
    check('atom 3 (CAT CT, topol.top:26) has a state B' in said, said)
    check('{molecule: CAT, from: vdw-q, to: vdw}' in said, said)


def double_constraint(case):
    temperature = case.submit('both.yaml')['windows'][0]['averages']['Temperature']
    within(temperature, 300)
    check(temperature['error'] < 15, temperature)


def leap_order(case):
    """The topology was made with the amber99sb.ff that GROMACS brings; the define is what its amber14sb.ff has more."""
    case.write('amber14sb.ff/forcefield.itp',
               '#define _FF_AMBER_LEAP_ATOM_REORDERING\n#include "amber99sb.ff/forcefield.itp"\n')
    if 'there is no file' in case.run('energy', 'topol.yaml').stderr:
        return 'skipped: amber99sb.ff is not here, which GROMACS brings'
    for spec in ('topol.yaml', 'reordered.yaml'):
        check(abs(case.energy(spec)['energies']['improper_dihedral'] - 85.549035) < 1e-6, spec)
    return None


def infinite(case):
    results = json.loads(case.shoal('estimate', 'dhdl_00.xvg', 'dhdl_01.xvg', '--json')[0])
    for name in ('MBAR', 'BAR'):
        within(total(results, name), -RT * math.log(0.7))


def twin_window(case):
    names = [f'dhdl_0{k}.xvg' for k in (0, 1, 2, 4, 5)]
    results = json.loads(case.shoal('estimate', *names, '--json')[0])
    for name in ('MBAR', 'BAR', 'TI'):
        within(total(results, name), 2.872)


def dense_ladder(case):
    """Windows of a harmonic atom, k from 100 to 200 kJ/mol/nm^2, sampled exactly."""
    rng = random.Random(5)
    for n in (24, 41):
        strengths, paths = [100 * (1 + i / (n - 1)) for i in range(n)], []
        for i, k in enumerate(strengths):
            lines = [f'@ subtitle "T = 300 (K) \\xl\\f{{}} state {i}: fep-lambda = {i / (n - 1):.6f}"\n',
                     f'@ s0 legend "dH/d\\xl\\f{{}} fep-lambda = {i / (n - 1):.6f}"\n']
            lines += [f'@ s{j + 1} legend "\\xD\\f{{}}H \\xl\\f{{}} to {j / (n - 1):.6f}"\n' for j in range(n)]
            for row in range(500):
                half = 0.5 * rng.gauss(0, math.sqrt(RT / k))**2
                energies = [half * 100, *(half * (other - k) for other in strengths)]
                lines.append(f'{row} ' + ' '.join(f'{u:.8f}' for u in energies) + '\n')
            paths.append(f'{n}/dhdl_{i:02}.xvg')
            case.write(paths[-1], ''.join(lines))
        within(total(json.loads(case.shoal('estimate', *paths, '--json')[0])), 0.5 * RT * math.log(2))


def network_in_parts(case):
    gathered = case.campaign('singles.yaml')
    check(gathered['experiment']['values'] is None and gathered['experiment']['edges'] is None, gathered['experiment'])
    parts = sorted((one['system'], one['part']) for one in gathered['values'])
    check(parts == [('P', 0), ('Q', 0), ('R', 1), ('S', 1)], parts)
    check('0 of the 2 that have an experiment can be compared' in ' '.join(gathered['remarks']), gathered['remarks'])
    for edge in gathered['edges']:
        within(edge['free_energy']['kJ/mol'], -1.5 * RT * math.log(2))


def check_error_of_mean(repeats, told):
    """Of ten: their own errors, and by Student's t the spread that these do not explain. One that chance has doubted has
    a larger error of its own, so the size of an error is that of most of them. All in kcal/mol."""
    values, errors = ([one[what] for one in repeats] for what in ('value', 'error'))
    own = sum(error**2 for error in errors) / 10
    exact = math.sqrt((own + 1.0587**2 * max(0, statistics.variance(values) - own)) / 10)
    check(abs(told / exact - 1) < 1e-3, told, exact)
    check(0.0025 < statistics.median(errors) / math.sqrt(10) < 0.0055, errors)


def repeats_error(case):
    """Ten repeats are a third as uncertain as one, whether a spec or a campaign has them."""
    exact = 1.5 * RT * math.log(2)
    edge, = case.campaign('rep-r10.yaml')['edges']
    results = case.submit('spec10.yaml')
    within(drawn(results), exact)
    within(edge['free_energy']['kJ/mol'], exact)
    check_error_of_mean([one['free_energy']['kcal/mol'] for one in results['repeats']], results['uncertainty']['magnitude'])
    repeats = (case.results(f'rep.A_B.vac.{k}') for k in range(1, 11))
    check_error_of_mean([estimator(one, 'MBAR')['total']['kcal/mol'] for one in repeats],
                        edge['free_energy']['kcal/mol']['error'])
    few, = json.loads(case.shoal('campaign', 'gather', 'rep.yaml', '--json')[0])['edges']
    check(few['legs'][0]['repeats'] == 2, few)
    within(few['free_energy']['kJ/mol'], exact)


def without_constraints_on_sites(case):
    spec = 'spec.yaml' if os.path.exists(os.path.join(case.folder, 'spec.yaml')) else 's.yaml'
    case.energy(spec)
    check('constraint' not in case.accepted(spec), 'warned')


def atomtypes_digit(case):
    case.edit('b.yaml', ('plus.top', 'acp_explicit.top'))
    check(abs(case.energy('b.yaml')['energies']['potential'] - 16.936848) < 1e-6, 'b.yaml')


def amber19sb_cmap(case):
    """With the force field where a GROMACS of 2025 or later is in GMXLIB, else with a small one of its form."""
    folders = os.environ.get('GMXLIB', '').split(':')
    if not any(os.path.isdir(os.path.join(folder, 'amber19sb.ff')) for folder in folders):
        for name, text in RESIDUE_AWARE.items():
            case.write(f'amber19sb.ff/{name}', text)
    case.energy('s.yaml')
    case.accepted('s.yaml')


def run_files(case):
    case.write('topol.top', TWO_MOLECULES)
    case.write('conf.gro', TWO_PLACES)
    has = {'a-empty-then-given': 'barostat: {method: monte-carlo, pressure: 1 bar',
           'b-verlet-buffer-drift': 'grid-spacing: 0.12 nm',
           'd-coulomb-cut-off': 'method: reaction-field\n    epsilon-rf: 1\n',
           'g-mdout-of-2019': 'grid-spacing: 0.12 nm',
           'e-abfe-restraint-stage': 'perturb: b-states',
           'j-temperature-lambdas-zero': 'decouple: [{molecule: ANA, from: vdw, to: none'}
    found = sorted(name[:-4] for name in os.listdir(case.folder) if name.endswith('.mdp'))
    check(found == sorted(has), found)
    for name in found:
        case.shoal('import', f'{name}.mdp', '-o', f'{name}.yaml')
        check(has[name] in case.read(f'{name}.yaml'), case.read(f'{name}.yaml'))
        case.accepted(f'{name}.yaml')
    check('bonded: [0, 0.5, 1]' in case.read('e-abfe-restraint-stage.yaml'), 'no ladder of restraints')


def top_refusals(case):
    found = sorted(name for name in os.listdir(case.folder) if name.endswith('.yaml'))
    check(found == ['a-molecule_type.yaml', 'h-text.yaml', 'h-two.yaml'], found)
    said = {name: case.accepted(name) for name in found}
    check('text.gro:3: text where velocities would be is taken for a comment' in said['h-text.yaml'], said)
    check('two.gro:6: text after the box is not read' in said['h-two.yaml'], said)
    check(len({case.energy(name)['energies']['potential'] for name in found}) == 1, 'they differ')


def angle_restraints(case):
    """Of two vectors from one atom: k (1 - cos(theta - theta0)) of 60 degrees, where 90 is asked."""
    atoms = ''.join(f'{i} C {i} LIG C{i} {i} 0 12.011\n' for i in (1, 2, 3))
    head = TWO_MOLECULES[:TWO_MOLECULES.index('[ moleculetype ]')].replace('0.36', '0')
    case.write('a.top', head + f'[ moleculetype ]\nLIG 3\n[ atoms ]\n{atoms}[ angle_restraints ]\n1 2 1 3 1 90 40 1\n'
               '[ system ]\nx\n[ molecules ]\nLIG 1\n')
    places = ''.join(f'    1LIG     C{i}{i:5}   {1 + x:.3f}   {1 + y:.3f}   1.000\n'
                     for i, x, y in ((1, 0, 0), (2, .2, 0), (3, .1, .173)))
    case.write('a.gro', f'x\n3\n{places}   3.0 3.0 3.0\n')
    case.write('a.yaml', 'name: a\nsystem: {topology: a.top, coordinates: a.gro}\nnonbonded: {cutoff: 1 nm}\n')
    exact = 40 * (1 - math.cos(math.pi / 2 - math.atan2(0.173, 0.1)))
    check(abs(case.energy('a.yaml')['energies']['restraint'] - exact) < 1e-6, exact)


CHECKS = {
    'charges-of-both-ends': charges_of_both_ends,
    'mass-ladder': mass_ladder,
    'restrained-atoms': restrained_atoms,
    'constraint-length': constraint_length,
    'nothing-changes': nothing_changes,
    'ion-beside-ligand': ion_beside_ligand,
    'double-constraint': double_constraint,
    'leap-order': leap_order,
    'infinite': infinite,
    'twin-window': twin_window,
    'dense ladder': dense_ladder,
    'network-in-parts': network_in_parts,
    'repeats-error': repeats_error,
    'site-and-constraint': without_constraints_on_sites,
    'pmx-sigma-hole-all-bonds': without_constraints_on_sites,
    'atomtypes-digit': atomtypes_digit,
    'amber19sb-cmap': amber19sb_cmap,
    'run-files': run_files,
    'top-refusals': top_refusals,
    'angle-restraints': angle_restraints,
}


def unknown():
    """Folders and rows of the table that no check is of, and checks of neither. A row may be of several folders."""
    folders = {name for name in os.listdir(CASES) if os.path.isdir(os.path.join(CASES, name))}
    with open(os.path.join(CASES, 'README.md'), encoding='utf-8') as f:
        cells = [line.split('|')[1] for line in f if line.startswith('| ') and not line.startswith('| folder')]
    rows = {name.strip() for cell in cells for name in re.sub(r'\(.*\)', '', cell).split(',')}
    return sorted((folders | rows) ^ set(CHECKS))


def run(name, work, environment):
    """Whether it is right, after a line that says so."""
    folder, begin = os.path.join(work, name), time.monotonic()
    if os.path.isdir(os.path.join(CASES, name)):
        shutil.copytree(os.path.join(CASES, name), folder, copy_function=shutil.copyfile)
        os.chmod(folder, 0o755)
    else:
        os.mkdir(folder)
    try:
        said = CHECKS[name](Case(folder, environment)) or 'ok'
    except Exception as e:  # one case tells nothing of the others
        print(f'{name}: FAIL', *e.args, sep='\n  ', flush=True)
        return False
    print(f'{name}: {said}, {time.monotonic() - begin:.1f} s', flush=True)
    return True


def main():
    if not os.path.isdir(CASES):
        print(f'there is no folder {CASES}: skipped')
        return 77
    if unknown():
        print('no check of these cases, or no case of these checks:', *unknown())
        return 1
    wanted = sys.argv[5:] or list(CHECKS)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(len(CHECKS)) as pool:
        service = Service(SHOALD, WORKER, os.path.join(work, '.service'), device='cpu:2')
        service.start()
        environment = dict(os.environ, SHOAL_SOCKET=service.socket)
        right = list(pool.map(lambda name: run(name, work, environment), wanted))
        service.stop()
    print(f'{sum(right)} passed, {len(right) - sum(right)} failed')
    return 0 if all(right) else 1


if __name__ == '__main__':
    sys.exit(main())
