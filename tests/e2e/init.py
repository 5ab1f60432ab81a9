#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal init: what it writes is accepted as it stands but for the names of files and molecule.

Usage: init.py SHOAL EXAMPLES
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SHOAL, EXAMPLES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
RESTRAINT = """
[ intermolecular_interactions ]
[ bonds ]
1 100 6 0.5 0 0.5 4184
[ angles ]
2 1 100 1 90 0 90 41.84
[ dihedrals ]
3 2 1 100 2 30 0 30 41.84
"""


class Init(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-init-")
        self.addCleanup(shutil.rmtree, self.folder)

    def shoal(self, *words):
        return subprocess.run([SHOAL, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def check(self, kind, topology, coordinates, molecule="", more=""):
        """The warnings of shoal validate; the spec's molecule is put in place, and `more` at the end of the topology."""
        shutil.copy(os.path.join(EXAMPLES, coordinates), os.path.join(self.folder, "a.gro"))
        with open(os.path.join(EXAMPLES, topology), encoding="utf-8") as f, open(os.path.join(self.folder, "a.top"), "w", encoding="utf-8") as to:
            to.write(f.read() + more)
        done = self.shoal("init", kind, "-p", "a.top", "-c", "a.gro", "-o", "a.yaml")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        path = os.path.join(self.folder, "a.yaml")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertIn("name: " + kind, text)
        self.assertNotIn("@", text)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("LIG", molecule))
        done = self.shoal("validate", "a.yaml", "--json")
        self.assertEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)

    def test_hydration(self):
        answer = self.check("hydration", "methanol/methanol.top", "methanol/methanol.gro", "MOH")
        self.assertEqual((answer["windows"], answer["stages"], answer["warnings"]), (16, 4, []))

    def test_relative(self):
        answer = self.check("relative", "methane-to-methanol/hybrid.top", "methane-to-methanol/water.gro")
        self.assertEqual((answer["windows"], answer["warnings"]), (11, []))

    def test_absolute(self):
        answer = self.check("absolute", "methanol/methanol.top", "methanol/methanol.gro", "MOH", RESTRAINT)
        self.assertEqual((answer["windows"], answer["warnings"]), (22, []))
        # One distance, one angle of 90 degrees and one dihedral of three: Gaussians; the rest of Boresch's coordinates are free.
        rt, volume = 0.00831446261815324 * 298.15, 1.66053906717
        bond, angle = rt / 4184, rt / 41.84
        held = math.sqrt(2 * math.pi * bond) * (0.25 + bond) * 2 * math.pi * angle * math.exp(-angle / 2) * 2 * (2 * math.pi)**2
        state = answer["standard_state"]
        self.assertEqual((state["molecules"], state["terms"]), (["MOH", "SOL"], 3))
        self.assertAlmostEqual(state["release_kcal_per_mol"], rt / 4.184 * math.log(held / (8 * math.pi**2 * volume)), delta=2e-3)
        self.assertIn("3 restraints hold MOH and SOL together", self.shoal("validate", "a.yaml").stdout)

    def test_held(self):
        """Where the topology, or what it includes, names POSRES, atoms are held and let go in steps."""
        with open(os.path.join(self.folder, "posre.itp"), "w", encoding="utf-8") as f:
            f.write("#ifdef POSRES\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n")
        for kind, more, molecule in (("relative", "", ""), ("absolute", RESTRAINT, "MOH")):
            source = {"relative": "methane-to-methanol/hybrid.top", "absolute": "methanol/methanol.top"}[kind]
            with open(os.path.join(EXAMPLES, source), encoding="utf-8") as f:
                text = f.read()
            first = text.index("[ moleculetype ]")
            second = text.find("[ moleculetype ]", first + 1)
            with open(os.path.join(self.folder, "held.top"), "w", encoding="utf-8") as f:
                f.write(text[:second] + '#include "posre.itp"\n' + text[second:] + more)
            coordinates = {"relative": "methane-to-methanol/water.gro", "absolute": "methanol/methanol.gro"}[kind]
            shutil.copy(os.path.join(EXAMPLES, coordinates), os.path.join(self.folder, "a.gro"))
            done = self.shoal("init", kind, "-p", "held.top", "-c", "a.gro", "-o", kind + ".yaml")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.folder, kind + ".yaml"), encoding="utf-8") as f:
                spec = f.read()
            self.assertNotIn("@", spec)
            self.assertEqual([line.split("scale: ")[1] for line in spec.splitlines() if "scale: " in line], ["0.1}", "0.01}"])
            with open(os.path.join(self.folder, kind + ".yaml"), "w", encoding="utf-8") as f:
                f.write(spec.replace("LIG", molecule))
            done = self.shoal("validate", kind + ".yaml", "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual((json.loads(done.stdout)["stages"], json.loads(done.stdout)["warnings"]), (6, []))

    def test_words(self):
        done = self.shoal("init", "hydraton")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "shoal: hydraton: expected hydration, relative or absolute; did you mean hydration?\n")
        done = self.shoal("init", "absolute", "-p", "my top.top")
        self.assertIn('\n  topology: "my top.top"\n', done.stdout)
        self.assertEqual(self.shoal("init", "relative", "-o", "a.yaml").returncode, 0)
        self.assertEqual(self.shoal("init", "relative", "-o", "a.yaml").returncode, 3)


if __name__ == "__main__":
    unittest.main()
