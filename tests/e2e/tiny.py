# SPDX-License-Identifier: Apache-2.0
"""A tiny ensemble that runs in seconds: one united-atom methane in a small box of TIP3P water.

TIP3P: Jorgensen et al. 1983, doi 10.1063/1.445869. United-atom methane: TraPPE, Martin and Siepmann 1998,
doi 10.1021/jp972543+ (sigma 0.373 nm, epsilon/k 148 K). Coordinates: a cubic lattice at the density of water, every
molecule turned by a seeded random rotation.
"""
import math
import random

TOPOLOGY = """; SPDX-License-Identifier: Apache-2.0
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
OW 8 15.9994 0 A 0.315061 0.6364
HW 1  1.008  0 A 0        0
C4 6 16.043  0 A 0.373    1.23054
[ moleculetype ]
MET 1
[ atoms ]
1 C4 1 MET C 1 0.0 16.043
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW  1 -0.834 15.9994
2 HW 1 SOL HW1 1  0.417  1.008
3 HW 1 SOL HW2 1  0.417  1.008
[ settles ]
1 1 0.09572 0.15139
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
methane in water
[ molecules ]
MET 1
SOL {waters}
"""

SPEC = """name: {name}
system: {{topology: tiny.top, coordinates: tiny.gro}}
nonbonded:
  cutoff: 0.6 nm
  coulomb: {{grid-spacing: 0.15 nm}}
alchemy:
  decouple: MET
  windows: {{vdw: {windows}}}
integrator: {{timestep: {timestep}, temperature: 298.15 K, friction: 1 /ps, seed: {seed}}}
barostat: {{method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}}
protocol:
  - minimize: {{steps: 100}}
  - equilibrate: {{time: 200 steps, ensemble: nvt, sample-every: 100 steps}}
  - equilibrate: {{time: 200 steps, ensemble: npt}}
  - produce: {{time: {steps} steps, ensemble: npt, sample-every: 20 steps, frames-every: 200 steps}}
run: {{retries: {retries}, checkpoint-every: {checkpoint}}}
"""

SPACING = 0.3107  # nm, of one water at 997 kg/m3
# One molecule: O, H, H. Angle and lengths as in the topology's [ settles ].
HALF = math.asin(0.15139 / 2 / 0.09572)
WATER = [(0.0, 0.0, 0.0),
         (0.09572 * math.sin(HALF), 0.09572 * math.cos(HALF), 0.0),
         (-0.09572 * math.sin(HALF), 0.09572 * math.cos(HALF), 0.0)]


def random_rotation(rng):
    """A uniform random rotation matrix, from a random unit quaternion."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    n = math.sqrt(sum(c * c for c in q))
    w, x, y, z = (c / n for c in q)
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def coordinates(side=5, seed=1):
    """The text of a .gro file of side^3 lattice points: methane on the first, water on the others."""
    rng = random.Random(seed)
    points = [(i, j, k) for i in range(side) for j in range(side) for k in range(side)]
    lines = []
    for number, point in enumerate(points, 1):
        center = [(c + 0.5) * SPACING for c in point]
        if number == 1:
            atoms = [("MET", "C", center)]
        else:
            turn = random_rotation(rng)
            atoms = [("SOL", name, [center[d] + sum(turn[d][e] * at[e] for e in range(3)) for d in range(3)])
                     for name, at in zip(("OW", "HW1", "HW2"), WATER)]
        for residue, name, x in atoms:
            lines.append("%5d%-5s%5s%5d%9.4f%9.4f%9.4f" % (number, residue, name, (len(lines) + 1) % 100000, *x))
    box = "%.5f %.5f %.5f" % ((side * SPACING,) * 3)
    return "\n".join(["methane in water", str(len(lines)), *lines, box, ""])


def tiny(name, seed, steps=1000, windows=(0, 0.5, 1), timestep="2 fs", retries=100, side=5,
         checkpoint="100 steps"):
    """(text of the spec, {file name: text})."""
    spec = SPEC.format(name=name, seed=seed, steps=steps, windows=list(windows), timestep=timestep, retries=retries,
                       checkpoint=checkpoint)
    return spec, {"tiny.top": TOPOLOGY.format(waters=side**3 - 1), "tiny.gro": coordinates(side)}
