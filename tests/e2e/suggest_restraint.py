#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal suggest-restraint: from a trajectory to a topology that shoal validate reads, with the same term of the standard state.

Usage: suggest_restraint.py SHOAL
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SHOAL = os.path.abspath(sys.argv.pop(1))
EDGE, FRAMES, WIDTH = 3.0, 200, 0.015
PLACES = [(0.1, 1.0, 1.0), (2.97, 1.08, 1.0), (2.9, 1.0, 1.08), (0.25, 1.18, 1.16), (0.37, 1.08, 1.16), (0.39, 1.18, 1.06), (1.5, 2.0, 2.0)]
TOPOLOGY = """[ defaults ]
1 2
[ atomtypes ]
X 12 0 A 0.3 0.0
{}[ moleculetype ]
W 0
[ atoms ]
1 X 1 W W 1 0 18
[ system ]
complex
[ molecules ]
HOST 1
LIG 1
W {}
"""
MOLECULE = """[ moleculetype ]
{0} 0
[ atoms ]
1 X 1 {0} A 1 0 12
2 X 1 {0} B 1 0 14
3 X 1 {0} C 1 0 16
[ bonds ]
1 2 1 0.13 1e5
2 3 1 0.13 1e5
"""
SPEC = """name: complex
system: {topology: a.top, coordinates: a.gro}
alchemy:
  decouple: LIG
  windows: {bonded: [0, 1, 1], coulomb: [0, 0, 1], vdw: [0, 0, 1]}
protocol:
- minimize: {steps: 1}
- produce: {time: 10 ps}
"""


def frame(k, places):
    """One of a trajectory without compression, as it is of up to nine atoms."""
    box = [EDGE, 0, 0, 0, EDGE, 0, 0, 0, EDGE]
    return struct.pack(f">3if9fi{3 * len(places)}f", 1995, len(places), k, k, *box, len(places), *(v for x in places for v in x))


class SuggestRestraint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-suggest-")
        self.addCleanup(shutil.rmtree, self.folder)
        draw = random.Random(7)
        self.write("a.top", TOPOLOGY.format(MOLECULE.format("HOST") + MOLECULE.format("LIG"), 1))
        names = [("HOST", n) for n in "ABC"] + [("LIG", n) for n in "ABC"] + [("W", "W")]
        rows = [f"    1{r:<5}{n:>5}{i + 1:5d}" + "".join(f"{v:8.3f}" for v in x) for i, ((r, n), x) in enumerate(zip(names, PLACES))]
        self.write("a.gro", "\n".join(["complex", "7", *rows, f"{EDGE} {EDGE} {EDGE}"]) + "\n")
        self.write("a.yaml", SPEC)
        self.run_of = b"".join(frame(k, [[v + draw.gauss(0, WIDTH) for v in x] for x in PLACES]) for k in range(FRAMES))
        self.write("run.xtc", self.run_of + frame(FRAMES, PLACES)[:60])  # the last one is being written

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def shoal(self, *words):
        return subprocess.run([SHOAL, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def test_round_trip(self):
        done = self.shoal("suggest-restraint", "a.yaml", "run.xtc")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"hold LIG to HOST, chosen from {FRAMES} frames", done.stdout)
        release = float(re.search(r"1 mol/l is (\S+) kcal/mol", done.stdout)[1])
        with open(os.path.join(self.folder, "a.top"), "a", encoding="utf-8") as f:
            f.write(done.stdout)
        state = json.loads(self.shoal("validate", "a.yaml", "--json").stdout)["standard_state"]
        self.assertEqual((state["molecules"], state["terms"], state["window"]), (["HOST", "LIG"], 6, 2))
        self.assertAlmostEqual(state["release_kcal_per_mol"], release, delta=0.011)
        with open(os.path.join(self.folder, "a.gro"), encoding="utf-8") as f:
            self.write("two.gro", 2 * f.read())
        self.assertIn("chosen from 2 frames", self.shoal("suggest-restraint", "a.yaml", "two.gro").stdout)
        # two runs are one of both; --json has the same
        answer = json.loads(self.shoal("suggest-restraint", "a.yaml", "run.xtc", "run.xtc", "--json").stdout)
        self.assertEqual((answer["ligand"], answer["receptor"], answer["frames"]), ("LIG", "HOST", 2 * FRAMES))
        self.assertAlmostEqual(answer["standard_state"]["release_kcal_per_mol"], release, delta=0.011)
        self.assertEqual([c["kind"] for c in answer["coordinates"]], ["distance"] + ["angle"] * 2 + ["dihedral"] * 3)
        self.assertEqual({len(c["atoms"]) for c in answer["coordinates"]}, {2, 3, 4})
        self.assertAlmostEqual(answer["coordinates"][0]["width"], 2**0.5 * WIDTH, delta=0.005)
        self.assertIn("[ intermolecular_interactions ]", answer["topology"])

    def test_one_frame(self):
        done = self.shoal("suggest-restraint", "a.yaml", "--receptor", "HOST", "--ligand", "LIG")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: one frame says nothing of what moves", done.stderr)
        self.assertIn("from 1 frame:", done.stdout)

    def refused(self, code, message, *words):
        done = self.shoal("suggest-restraint", "a.yaml", *words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(message, done.stderr)

    def test_refused(self):
        self.write("other.xtc", frame(0, PLACES[:5]))
        self.write("none.xtc", b"@ s0 legend\n" * 20)
        half = len(self.run_of) // 2 // (len(self.run_of) // FRAMES) * (len(self.run_of) // FRAMES)
        self.write("damaged.xtc", self.run_of[:half] + b"\0\0\0\0" + self.run_of[half + 4:])
        self.write("begun.xtc", self.run_of[:60])
        self.refused(65, "other.xtc: frame 1 has 5 atoms; expected 7, as in the topology", "other.xtc")
        self.refused(65, "none.xtc:2: read '@ s0 legend', expected the number of atoms", "none.xtc")
        self.refused(65, f"damaged.xtc: frame {FRAMES // 2 + 1}, at byte {half}: no .xtc frame: the file is damaged there", "damaged.xtc")
        self.refused(65, "begun.xtc: frame 1, at byte 0: not a whole .xtc frame: the file ends in it", "begun.xtc")
        self.refused(66, "missing.xtc: No such file or directory", "missing.xtc")
        self.refused(65, "ligand LIGAND: the system has 0 molecules of this type; expected one", "--ligand", "LIGAND")
        self.refused(2, "--receptor LIG is the ligand", "--receptor", "LIG")
        self.refused(65, "no three heavy atoms in a row of each molecule", "--receptor", "W")
        self.write("a.yaml", SPEC.replace("decouple: LIG", "perturb: b-states"))
        self.write("a.top", TOPOLOGY.format(MOLECULE.format("HOST").replace("0.13 1e5", "0.13 1e5 0.14 1e5") + MOLECULE.format("LIG"), 1))
        self.refused(2, "expected --ligand NAME: alchemy.decouple of a.yaml names no one molecule type")


if __name__ == "__main__":
    unittest.main()
