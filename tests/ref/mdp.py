# SPDX-License-Identifier: Apache-2.0
"""A GROMACS .mdp file as a Shoal spec."""

WORDS = {'coul': 'coulomb', 'vdw': 'vdw', 'bonded': 'bonded', 'mass': 'mass'}
MODIFIERS = {'none': 'none', 'potential-shift': 'potential-shift', 'potential-switch': 'potential-switch',
             'force-switch': 'force-switch', 'potential-shift-verlet': 'potential-shift'}
DISPERSION = {'no': 'no', 'ener': 'energy', 'enerpres': 'energy-pressure', 'allenerpres': 'all', 'allener': 'all'}


def read(path):
    options = {}
    with open(path) as f:
        for line in f:
            key, _, value = line.split(';')[0].partition('=')
            if key.strip():
                options[key.strip().lower().replace('_', '-')] = value.strip()
    return options


def net_charges(top, decoupled, b_states):
    """Net charge of a topology without includes in the end states A and B."""
    section, kind, atoms, net = '', '', {}, [0.0, 0.0]
    with open(top) as f:
        for line in f:
            words = line.split(';')[0].split()
            if not words or words[0].startswith('#'):
                continue
            if words[0] == '[':
                section = words[1]
            elif section == 'moleculetype':
                kind = words[0]
                atoms[kind] = [0.0, 0.0]
            elif section == 'atoms':
                q = float(words[6])
                atoms[kind][0] += q
                atoms[kind][1] += float(words[9]) if b_states and len(words) > 9 else q
            elif section == 'molecules':
                for state in (0, 1):
                    off = state == 1 and words[0] == decoupled
                    net[state] += 0 if off else int(words[1]) * atoms[words[0]][state]
    return net


class Settings:
    def __init__(self, path):
        self.mdp = read(path)
        o = self.mdp
        self.fep = o.get('free-energy', 'no') == 'yes'
        self.window = int(o.get('init-lambda-state', 0)) if self.fep else 0
        self.ladders = {}
        if self.fep:
            common = o.get('fep-lambdas')
            for short, name in WORDS.items():
                values = o.get(short + '-lambdas', common)
                if values and not (short == 'mass' and short + '-lambdas' not in o):
                    self.ladders[name] = [float(v) for v in values.split()]
        self.nwindows = len(next(iter(self.ladders.values()))) if self.ladders else 1

    def mixed(self, window):
        """Is the state inside the Coulomb ladder, where GROMACS mixes energies and Shoal scales charges?"""
        return 'coulomb' in self.ladders and 0 < self.ladders['coulomb'][window] < 1

    def net_charge(self, top):
        """At this window, with charges scaled."""
        l = self.ladders['coulomb'][self.window] if 'coulomb' in self.ladders else 0.0
        a, b = net_charges(top, self.mdp.get('couple-moltype'), self.fep and 'couple-moltype' not in self.mdp)
        return (1 - l) * a + l * b

    def same_but_window(self, other):
        a, b = dict(self.mdp), dict(other.mdp)
        a.pop('init-lambda-state', 0)
        b.pop('init-lambda-state', 0)
        return self.fep and a == b

    def spec(self, ladders=None):
        o = self.mdp
        vdw = MODIFIERS[o.get('vdw-modifier', 'potential-shift').lower()]
        if o.get('vdwtype', 'cut-off').lower() == 'switch':
            vdw = 'potential-switch'
        lines = ['name: reference', 'system: {topology: system.top, coordinates: conf.gro}', 'nonbonded:',
                 f'  vdw:', f'    cutoff: {o["rvdw"]} nm', f'    modifier: {vdw}',
                 f'    dispersion-correction: {DISPERSION[o.get("dispcorr", "no").lower()]}']
        if 'switch' in vdw:
            lines.append(f'    switch-start: {o["rvdw-switch"]} nm')
        coulomb = MODIFIERS[o.get('coulomb-modifier', 'potential-shift').lower()]
        lines += ['  coulomb:', f'    cutoff: {o["rcoulomb"]} nm', f'    modifier: {coulomb}',
                  f'    grid-spacing: {o["fourierspacing"]} nm', f'    order: {o["pme-order"]}',
                  f'    tolerance: {float(o["ewald-rtol"]):.10f}', f'constraints: {o.get("constraints", "none")}']
        if self.fep:
            lines.append('alchemy:')
            if 'couple-moltype' in o:
                keep = o.get('couple-intramol', 'no') == 'no'
                lines += [f'  decouple: {o["couple-moltype"]}', f'  intramolecular: {"keep" if keep else "decouple"}']
            else:
                lines.append('  perturb: b-states')
            soft_coulomb = o.get('sc-coul', 'no')
            lines.append(f'  soft-core: {{alpha: {o.get("sc-alpha", 0)}, power: {o.get("sc-power", 1)}, '
                         f'sigma: {o.get("sc-sigma", 0.3)} nm, coulomb: {soft_coulomb}}}')
            lines.append('  windows:')
            lines += [f'    {name}: {values}' for name, values in (ladders or self.ladders).items()]
        return '\n'.join(lines) + '\n'
