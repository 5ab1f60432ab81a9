#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Restraints from submission to results: what is sampled is what the integral over the distance says.

Usage: restraints.py SHOAL SHOALD SHOAL_WORKER
Two dumbbells that feel nothing of each other but the restraint, one of them across the edge of the box; the free energy between its
weak and its strong end is that of the volumes that it leaves, and so is the term of the standard state.
Atoms that are held in space and feel nothing of each other: the motion of their center of mass counts, whatever the spec says of it.
"""
import json
import math
import os
import signal
import subprocess
import sys
import tempfile

from service import Service

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])
RT, VOLUME = 0.00831446261815324 * 298.15, 1.66053906717
ENDS = ((0.3, 100), (0.2, 1000))  # wall in nm, k in kJ/mol/nm^2
DUMBBELL = """[ moleculetype ]
{0} 0
[ atoms ]
1 X 1 {0} A 1 0 {1}
2 X 1 {0} B 1 0 {2}
[ bonds ]
1 2 6 0.2 5000
"""
FILES = {
    "a.top": "[ defaults ]\n1 2\n[ atomtypes ]\nX 20 0 A 0.3 0\n" + DUMBBELL.format("HOST", 20, 20) + DUMBBELL.format("LIG", 10, 30) +
             "[ system ]\nheld\n[ molecules ]\nHOST 1\nLIG 1\n",
    "a.gro": "held\n4\n    1HOST     A    1   2.900   1.000   1.000\n    1HOST     B    2   0.100   1.000   1.000\n"
             "    2LIG      A    3   0.400   1.000   1.000\n    2LIG      B    4   0.600   1.000   1.000\n3 3 3\n",
    "a.ndx": "[ site ]\n1 2\n",
    "a.yaml": f"""name: held
system: {{topology: a.top, coordinates: a.gro, index: a.ndx}}
nonbonded: {{cutoff: 1.0 nm}}
constraints: none
alchemy:
  perturb: b-states
  windows: {{restraint: [0, 0.1, 0.3, 1]}}
restraints:
- between: [{{group: site}}, {{molecule: LIG}}]
  upper: {ENDS[0][0]} nm
  force-constant: {ENDS[0][1]} kJ/mol/nm^2
  b: {{upper: {ENDS[1][0]} nm, force-constant: {ENDS[1][1]} kJ/mol/nm^2}}
integrator: {{timestep: 4 fs, friction: 5 /ps, seed: 8, com-removal: no}}
protocol:
- equilibrate: {{time: 10 ps}}
- produce: {{time: 500 ps, sample-every: 0.4 ps}}
"""}
PINS, STIFFER = 5, 6
FILES |= {
    "pins.top": "[ defaults ]\n1 2\n[ atomtypes ]\nX 20 0 A 0.3 0\n[ moleculetype ]\nPIN 0\n[ atoms ]\n1 X 1 PIN A 1 0 20\n"
                f"[ position_restraints ]\n1 1 500 500 500 {STIFFER * 500} {STIFFER * 500} {STIFFER * 500}\n"
                f"[ system ]\npins\n[ molecules ]\nPIN {PINS}\n",
    "pins.gro": f"pins\n{PINS}\n" + "".join(f"{i + 1:5d}PIN      A{i + 1:5d}   {0.4 + 0.5 * i:.3f}   1.000   1.000\n" for i in range(PINS)) +
                "3 3 3\n",
    "pins.yaml": """name: pins
system: {topology: pins.top, coordinates: pins.gro}
nonbonded: {cutoff: 1.0 nm}
constraints: none
alchemy:
  perturb: b-states
  windows: {restraint: [0, 0.15, 0.45, 1]}
integrator: {timestep: 4 fs, friction: 5 /ps, seed: 8, com-removal: 50 steps}
protocol:
- equilibrate: {time: 10 ps}
- produce: {time: 500 ps, sample-every: 0.4 ps}
"""}


def volume(wall, k, steps=40000, far=1.5):
    """4 pi r^2 exp(-u/RT) over the distance, by the midpoint rule, nm^3."""
    width = far / steps
    places = (width * (i + 0.5) for i in range(steps))
    return sum(4 * math.pi * r * r * math.exp(-0.5 * k * max(0, r - wall)**2 / RT) * width for r in places)


def pins(s, folder):
    said = subprocess.check_output([WORKER, "validate", "--json", "pins.yaml"], cwd=folder, text=True)
    assert "integrator.com-removal: 50 steps: position restraints hold atoms in space in production" in said, said
    s.shoal(SHOAL, "submit", "pins.yaml", "--wait", cwd=folder)
    total = json.loads(s.shoal(SHOAL, "results", "pins", "--json"))["estimators"][0]["total"]["kJ/mol"]
    exact = PINS * 1.5 * RT * math.log(STIFFER)
    assert abs(total["value"] - exact) < 4 * total["error"] < 1, (total, exact)
    assert "the motion of the center of mass stays in production" in s.shoal(SHOAL, "events", "pins")
    print(f"{total['value']:.3f} +- {total['error']:.3f} kJ/mol, expected {exact:.3f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        s = Service(SHOALD, WORKER, os.path.join(folder, "service"))
        s.start()

        try:
            s.shoal(SHOAL, "submit", "a.yaml", "--wait", cwd=folder)
            pins(s, folder)
            text, results = s.shoal(SHOAL, "results", "held"), json.loads(s.shoal(SHOAL, "results", "held", "--json"))
        finally:
            s.process.send_signal(signal.SIGTERM)
            s.process.wait(60)
    weak, strong = (volume(*end) for end in ENDS)
    total = results["estimators"][0]["total"]["kJ/mol"]
    exact = RT * math.log(weak / strong)
    assert abs(total["value"] - exact) < 4 * total["error"] < 0.8, (total, exact)
    state = results["standard_state"]
    assert (state["molecules"], state["window"], state["terms"], state["other_end"]) == (["HOST", "LIG"], 3, 1, "held")
    assert abs(state["volume"]["magnitude"] / strong - 1) < 1e-5, (state, strong)
    assert abs(state["correction"]["kJ/mol"]["value"] + RT * math.log(VOLUME / strong)) < 1e-4
    assert "to add for 1 mol/l" in text and "restraints hold HOST and LIG together in window 3" in text, text
    print(f"{total['value']:.3f} +- {total['error']:.3f} kJ/mol, expected {exact:.3f}")


main()
