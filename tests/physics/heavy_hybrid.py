#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hybrid in water with heavy hydrogens conserves energy at 4 fs, at both ends of its ladder and between them, as well as at 2 fs with the
topology's masses: velocity Verlet, whose deviations and trend 4 fs may have fourfold as the square of the timestep. And in the gas phase, where it
is soon known, its free energy is the same by either.

Chloromethane (A) becomes ethane (B) as pmx writes such a change: the chlorine and a virtual site with a part of its charge vanish; the
second carbon is a dummy in A with a quarter of a carbon's mass, and so are its three hydrogens, of mass 1. GAFF's bonds and angles (Wang et
al. 2004, doi 10.1002/jcc.20035); charges are of that kind.

Usage: heavy_hybrid.py SHOAL_WORKER PICOSECONDS [DEVICE]
"""
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from heavy_hydrogens import DRIFT, trend  # noqa: E402
from tiny import coordinates, TOPOLOGY as WATER  # noqa: E402
from worker import Worker  # noqa: E402

SIDE = 5
WATERS = SIDE**3 - 1
FREEDOM = 6 * WATERS + 3 * 9 - 6  # nine atoms of the hybrid and six constraints of its hydrogens; com-removal: no
HYBRID = """[ moleculetype ]
HYB 3
[ atoms ]
1 c3 1 HYB C1 1 -0.05 12.01 c3 -0.0951 12.01
2 h1 1 HYB H1 1 0.08 1.008 hc 0.0317 1.008
3 h1 1 HYB H2 1 0.08 1.008 hc 0.0317 1.008
4 h1 1 HYB H3 1 0.08 1.008 hc 0.0317 1.008
5 cl 1 HYB CL 1 -0.29 35.45 DUM 0 35.45
6 EP 1 HYB EPA 1 0.10 0 EP 0 0
7 DUM 1 HYB DC1 1 0 3.0025 c3 -0.0951 12.01
8 DUM 1 HYB HD1 1 0 1 hc 0.0317 1.008
9 DUM 1 HYB HD2 1 0 1 hc 0.0317 1.008
10 DUM 1 HYB HD3 1 0 1 hc 0.0317 1.008
[ bonds ]
1 2 1 0.1092 282252.6 0.1092 282252.6
1 3 1 0.1092 282252.6 0.1092 282252.6
1 4 1 0.1092 282252.6 0.1092 282252.6
1 5 1 0.1786 233467.2 0.1786 233467.2
1 7 1 0.1535 253634.1 0.1535 253634.1
7 8 1 0.1092 282252.6 0.1092 282252.6
7 9 1 0.1092 282252.6 0.1092 282252.6
7 10 1 0.1092 282252.6 0.1092 282252.6
[ angles ]
2 1 3 1 109.55 327.86 108.35 329.95
2 1 4 1 109.55 327.86 108.35 329.95
3 1 4 1 109.55 327.86 108.35 329.95
2 1 5 1 105.65 339.7 105.65 339.7
3 1 5 1 105.65 339.7 105.65 339.7
4 1 5 1 105.65 339.7 105.65 339.7
2 1 7 1 110.05 388.0 110.05 388.0
3 1 7 1 110.05 388.0 110.05 388.0
1 7 8 1 110.05 388.0 110.05 388.0
1 7 9 1 110.05 388.0 110.05 388.0
1 7 10 1 110.05 388.0 110.05 388.0
8 7 9 1 108.35 329.95 108.35 329.95
8 7 10 1 108.35 329.95 108.35 329.95
9 7 10 1 108.35 329.95 108.35 329.95
[ dihedrals ]
2 1 7 8 9 0 0.65 3 0 0.65 3
3 1 7 9 9 0 0.65 3 0 0.65 3
[ virtual_sites2 ]
6 1 5 1 1.9
[ exclusions ]
5 7 8 9 10
6 1 2 3 4 5 7 8 9 10
"""
TYPES = """c3 6 12.01 0 A 0.339967 0.45773
h1 1 1.008 0 A 0.247135 0.0656888
hc 1 1.008 0 A 0.264953 0.0656888
cl 17 35.45 0 A 0.346595 1.10374
DUM 0 1 0 A 0 0
EP 0 0 0 V 0 0
"""
PLACES = {"C1": (0, 0, 0), "H1": (0.0363, 0.1030, 0), "H2": (0.0363, -0.0515, 0.0892), "H3": (0.0363, -0.0515, -0.0892), "CL": (-0.1786, 0, 0),
          "EPA": (-0.3393, 0, 0), "DC1": (0.0525, 0.08, 0.12), "HD1": (0.16, 0.08, 0.12), "HD2": (0.02, 0.183, 0.12), "HD3": (0.02, 0.035, 0.215)}
SPEC = """name: hybrid
system: {{topology: hybrid.top, coordinates: {gro}}}
nonbonded:
  cutoff: 0.75 nm
  vdw: {{modifier: potential-switch, switch-start: 0.6 nm}}
  coulomb: {{grid-spacing: 0.1 nm, tolerance: 1e-6}}
constraints: h-bonds
masses: {{repartition: {factor}}}
alchemy:
  perturb: b-states
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}}
  windows: {{coulomb: [0, 0.5, 1], vdw: [0, 0.5, 1], bonded: [0, 0.5, 1]}}
integrator: {{method: {method}, timestep: {timestep} fs, temperature: 298.15 K, seed: 5, com-removal: no}}
protocol:
{protocol}"""
VACUUM = """name: gas
system: {{topology: gas.top, coordinates: gas.gro}}
nonbonded: {{cutoff: 1.4 nm, vdw: {{modifier: none, dispersion-correction: no}}, coulomb: {{method: reaction-field, epsilon-rf: 1}}}}
constraints: h-bonds
masses: {{repartition: {factor}}}
alchemy:
  perturb: b-states
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}}
  windows: {{coulomb: [0, 0.5, 1], vdw: [0, 0.5, 1], bonded: [0, 0.5, 1]}}
integrator: {{method: langevin-middle, timestep: {timestep} fs, temperature: 298.15 K, friction: 1 /ps, seed: {seed}}}
protocol:
  - minimize: {{steps: 100}}
  - equilibrate: {{time: 10 ps}}
  - produce: {{time: 400 ps, sample-every: 0.4 ps}}
"""
RELAX = """  - minimize: {{steps: 300}}
  - equilibrate: {{time: 1 ps, timestep: 1 fs}}
  - produce: {{time: {} ps, sample-every: 2 ps}}
"""


def inputs():
    """The hybrid in place of the methane of a small box of water."""
    text = WATER.format(waters=WATERS).replace("methane in water", "hybrid in water").replace("MET 1\nSOL", "HYB 1\nSOL")
    first, second = text.index("[ moleculetype ]"), text.index("[ moleculetype ]", text.index("[ moleculetype ]") + 1)
    # the water's rule of combination and types, the hybrid's types, the hybrid, water
    topology = text[:first] + TYPES + HYBRID + text[second:]
    lines = coordinates(SIDE).splitlines()
    at = [float(word) for word in lines[2][20:].split()]
    rows = [("%5d%-5s%5s" % (1, "HYB", name), [a + b for a, b in zip(at, x)]) for name, x in PLACES.items()]
    rows += [(line[:15], [float(word) for word in line[20:].split()[:3]]) for line in lines[3:-1]]
    body = ["%s%5d%9.4f%9.4f%9.4f" % (head, number, *x) for number, (head, x) in enumerate(rows, 1)]
    return topology, "\n".join([lines[0], str(len(body)), *body, lines[-1], ""])


def run(program, folder, name, files, device):
    """Ends of the three windows, and their folder."""
    os.makedirs(os.path.join(folder, name, "input"))
    for file, text in files.items():
        with open(os.path.join(folder, name, "input", file), "w", encoding="utf-8") as f:
            f.write(text)
    worker = Worker(program, "--device", device)
    worker.socket.settimeout(None)
    for window in range(3):
        worker.start(window + 1, os.path.join(folder, name), window, 3)
    ended, _ = worker.until_ended(3)
    worker.drain()
    assert all(end["type"] == "done" for end in ended.values()), ended
    return os.path.join(folder, name)


def gas_leg(program, folder, factor, timestep, device):
    """(free energy, its error), kcal/mol, by MBAR."""
    topology, coordinates_of_all = inputs()
    lines = coordinates_of_all.splitlines()
    files = {"gas.top": topology[:topology.index("[ molecules ]")] + "[ molecules ]\nHYB 1\n",
             "gas.gro": "\n".join([lines[0], str(len(PLACES)), *lines[2:2 + len(PLACES)], "3 3 3", ""]),
             "spec.yaml": VACUUM.format(factor=factor, timestep=timestep, seed=factor)}
    where = run(program, folder, f"gas-{factor}", files, device)
    paths = [os.path.join(where, f"lambda_{window:02d}/dhdl.xvg") for window in range(3)]
    done = subprocess.run([program, "estimate", *paths], capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    return results["estimate"]["magnitude"], results["uncertainty"]["magnitude"]


def main():
    program, picoseconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    device = sys.argv[3] if len(sys.argv) > 3 else "cpu:2"
    topology, start = inputs()
    found = {}
    with tempfile.TemporaryDirectory(prefix="shoal-hybrid-") as folder:
        for factor, timestep in ((1, 2), (3, 4)):
            spec = SPEC.format(gro="start.gro", factor=factor, method="langevin-middle", timestep=2,
                               protocol=RELAX.format(max(2, picoseconds // 5)))
            where = run(program, folder, f"relax-{factor}", {"spec.yaml": spec, "hybrid.top": topology, "start.gro": start}, device)
            files = {"hybrid.top": topology, "start.gro": start}
            for window in range(3):
                with open(os.path.join(where, f"lambda_{window:02d}/confout.gro"), encoding="utf-8") as f:
                    files[f"start-{window}.gro"] = f.read()
            protocol = f"  - produce: {{time: {picoseconds} ps, sample-every: 0.02 ps}}\n"
            files["spec.yaml"] = SPEC.format(gro="start.gro, window-coordinates: [start-0.gro, start-1.gro, start-2.gro]", factor=factor,
                                             method="velocity-verlet", timestep=timestep, protocol=protocol)
            where = run(program, folder, f"nve-{factor}", files, device)
            for window in range(3):
                found[factor, window] = trend(os.path.join(where, f"lambda_{window:02d}/energy.xvg"), FREEDOM)
                print("window %d, masses x %d, %d fs: drift %.2g +- %.1g kT/ns/dof, %.3g kJ/mol about the trend"
                      % (window, factor, timestep, found[factor, window][0], found[factor, window][2], found[factor, window][1]))
        legs = [gas_leg(program, folder, factor, timestep, device) for factor, timestep in ((1, 1), (3, 4))]
    print("gas phase: %.3f +- %.3f by the topology's masses and 1 fs, %.3f +- %.3f by heavy hydrogens and 4 fs, kcal/mol" % (*legs[0], *legs[1]))
    assert abs(legs[0][0] - legs[1][0]) < 3 * math.hypot(legs[0][1], legs[1][1]), "heavy hydrogens change the free energy"
    assert math.hypot(legs[0][1], legs[1][1]) < 0.03, "the free energy is not known well enough to tell"
    for window in range(3):
        plain, heavy = found[1, window], found[3, window]
        assert heavy[1] < 4 * plain[1], "4 fs with heavy hydrogens are worse than the square of the timestep says"
        for square, (drift, _, error) in ((1, plain), (4, heavy)):
            assert abs(drift) < square * DRIFT + 3 * error, "energy drifts"


if __name__ == "__main__":
    main()
