#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dielectric constant of TIP3P water with the mesh in every timestep and in every second one: the same within three errors. Vega and
Abascal, Phys. Chem. Chem. Phys. 13, 19663 (2011), doi 10.1039/c1cp22168j, have 94 for the model.

Usage: dielectric.py SHOALD WORKER [--device D] [--time NS] [--repeats N] [--folder DIR] [--limit S]
--time, --repeats: of either, 1 ns and 3 unless given; 24 of 1 ns tell the constant to 1.4 %. A constant of so short a run lacks the square
of its mean dipole, 1 % of 1 ns: the same for both.
--folder and --limit are those of freesolv.py. Exit code 0: they agree; 1: they do not.
"""
import math
import os
import random
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../examples"), os.path.join(HERE, "../../examples/freesolv")]
import boxes  # noqa: E402
import make_box  # noqa: E402
from service_runs import STEPS_A_NS, parser, results, run, submit  # noqa: E402

WATERS, EDGE = 512, 8 * make_box.SPACING  # nm
TOPOLOGY = f"""[ defaults ]
1 2 no 1 1

{boxes.WATER_TYPES}{boxes.WATER}[ system ]
TIP3P

[ molecules ]
SOL {WATERS}
"""
SPEC = """name: tip3p-{mesh}
system: {{topology: tip3p.top, coordinates: water.gro}}
nonbonded:
  cutoff: 0.9 nm
  vdw: {{modifier: potential-switch, switch-start: 0.8 nm, dispersion-correction: energy-pressure}}
  coulomb: {{grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 0.2 /ps, seed: 2026, mesh-every: {mesh}}}
protocol:
  - minimize: {{steps: 100}}
  - equilibrate: {{time: 40 ps, friction: 2 /ps}}
  - produce: {{time: {steps} steps, sample-every: 100 steps}}
repeats: {repeats}
observables:
  - dielectric: {{every: 100 steps}}
"""


def water(path):
    rng = random.Random(2026)
    make_box.write(path, "TIP3P", [("SOL", make_box.water(x, rng)) for x in make_box.points_in(WATERS, EDGE, rng)], EDGE)


def submit_all(service, o):
    """{timesteps from mesh to mesh: id}"""
    steps = round(o.time * STEPS_A_NS)
    with tempfile.TemporaryDirectory(prefix="shoal-tip3p-") as folder:
        files = {name: os.path.join(folder, name) for name in ("tip3p.top", "water.gro")}
        water(files["water.gro"])
        with open(files["tip3p.top"], "w", encoding="utf-8") as f:
            f.write(TOPOLOGY)
        return {mesh: submit(service, f"tip3p-{mesh}-{steps}-{o.repeats}", SPEC.format(mesh=mesh, steps=steps, repeats=o.repeats), files)
                for mesh in (1, 2)}


def constant(found):
    """The mean of all runs, and its error by their spread."""
    values = [one["dielectric"]["constant"] for one in found["observables"]]
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def report(service, idents, live):
    found = {mesh: results(service, ident, live) for mesh, ident in idents.items()}
    if not all(found.values()):
        return 1
    constants = {mesh: constant(one) for mesh, one in found.items()}
    for mesh, (value, error) in constants.items():
        print(f"mesh every {mesh}: {value:.2f} +- {error:.2f}")
    (a, da), (b, db) = constants.values()
    return abs(a - b) > 3 * math.hypot(da, db)


if __name__ == "__main__":
    options = parser("freesolv").parse_args()
    sys.exit(run(options, lambda service: submit_all(service, options), report)[0])
