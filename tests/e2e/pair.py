# SPDX-License-Identifier: Apache-2.0
"""Two united atoms that feel nothing but a bond, which becomes another along the ladder: an ensemble of thousands of steps in a second,
and its free energy is known."""
import math

KT = 0.00831446261815324 * 298.15
COORDINATES = """a pair
2
    1PAR     C1    1   1.000   1.000   1.000
    1PAR     C2    2   1.200   1.000   1.000
2.0 2.0 2.0
"""
SPEC = """name: pair
system: {{topology: {topology}, coordinates: pair.gro}}
nonbonded: {{cutoff: 0.8 nm, vdw: {{modifier: none, dispersion-correction: no}}, coulomb: {{method: reaction-field}}}}
alchemy: {{perturb: b-states, soft-core: {{alpha: 0}}, windows: {{bonded: {windows}}}}}
integrator: {{timestep: 4 fs, temperature: 298.15 K, friction: 12 /ps, seed: 9, com-removal: no}}
protocol:
  - equilibrate: {{time: {before} steps, ensemble: nvt}}
  - produce: {{time: {share} steps, ensemble: nvt, sample-every: {every} steps{frames}}}
run: {{retries: 100, checkpoint-every: 700 steps}}
"""


def topology(bond):
    """bond: length (nm) and force constant (kJ/mol/nm^2) in A, and in B."""
    return f"""; SPDX-License-Identifier: Apache-2.0
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
1 2 1 {bond[0][0]} {bond[0][1]} {bond[1][0]} {bond[1][1]}
[ system ]
a pair
[ molecules ]
PAR 1
"""


def files(bond):
    """Those of the spec below."""
    return {"pair.top": topology(bond), "pair.gro": COORDINATES}


def spec(windows, before, share, every, frames=None, name="pair.top"):
    """Steps of equilibration and production; every: between samples; frames: how often, as the spec says it."""
    return SPEC.format(topology=name, windows=list(windows), before=before, share=share, every=every,
                       frames=f", frames-every: {frames}" if frames else "")


def exact(bond):
    """kcal/mol: of a length r that has r^2 exp(-k (r - b)^2 / 2 kT) for its density."""
    def integral(b, k):
        return sum((r / 1e4) ** 2 * math.exp(-k * (r / 1e4 - b) ** 2 / (2 * KT)) for r in range(1, 10000))

    return -KT / 4.184 * math.log(integral(*bond[1]) / integral(*bond[0]))
