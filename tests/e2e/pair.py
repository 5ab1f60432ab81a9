# SPDX-License-Identifier: Apache-2.0
"""Two united atoms that feel nothing but a bond, which becomes another one: an ensemble of thousands of steps in a second."""
FROM = (0.2, 500.0)  # nm, kJ/mol/nm^2

TOPOLOGY = """; SPDX-License-Identifier: Apache-2.0
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
C4 6 16.043 0 A 0.3 0
[ moleculetype ]
PAR 3
[ atoms ]
1 C4 1 PAR C1 1 0.0 16.043
2 C4 1 PAR C2 2 0.0 16.043
[ bonds ]
1 2 1 {0[0]} {0[1]} {1[0]} {1[1]}
[ system ]
a pair
[ molecules ]
PAR 1
"""
COORDINATES = """a pair
2
    1PAR     C1    1   1.000   1.000   1.000
    1PAR     C2    2   1.200   1.000   1.000
2.0 2.0 2.0
"""

# To be followed by a protocol.
SPEC = """name: pair
system: {{topology: {topology}, coordinates: pair.gro}}
nonbonded: {{cutoff: 0.8 nm, vdw: {{modifier: none, dispersion-correction: no}}, coulomb: {{method: reaction-field}}}}
alchemy: {{perturb: b-states, soft-core: {{alpha: 0}}, windows: {{bonded: {windows}}}}}
integrator: {{timestep: 4 fs, temperature: 298.15 K, friction: 12 /ps, seed: 9, com-removal: no}}
run: {{retries: 100, checkpoint-every: 700 steps}}
"""


def topology(to):
    """The text of a topology whose bond becomes that of `to`."""
    return TOPOLOGY.format(FROM, to)


def spec(windows, name="pair.top"):
    return SPEC.format(topology=name, windows=list(windows))
