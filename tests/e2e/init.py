#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal init: what it writes is accepted as it stands, and is of the molecule that is neither solvent nor ion.

Usage: init.py SHOAL EXAMPLES
"""
import json
import math
import os
import re
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

    def check(self, kind, topology, coordinates, molecule, more=""):
        """The warnings of shoal validate of a spec of this molecule; `more` stands at the end of the topology."""
        shutil.copy(os.path.join(EXAMPLES, coordinates), os.path.join(self.folder, "a.gro"))
        with open(os.path.join(EXAMPLES, topology), encoding="utf-8") as f, open(os.path.join(self.folder, "a.top"), "w", encoding="utf-8") as to:
            to.write(f.read() + more)
        done = self.shoal("init", kind, "-p", "a.top", "-c", "a.gro", "-o", "a.yaml")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        path = os.path.join(self.folder, "a.yaml")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(f"name: {molecule}\n", text)
        self.assertNotIn("@", text)
        self.assertEqual(f"decouple: {molecule} " in text, kind not in ("relative", "switching"))
        done = self.shoal("validate", "a.yaml", "--json")
        self.assertEqual(done.returncode, 0, done.stdout)
        answer = json.loads(done.stdout)
        self.check_split(text, answer["split"])
        return answer

    def check_split(self, text, split):
        """A new spec leaves the split of Coulomb to Shoal; validate shows what is chosen, with no larger an error than without that line."""
        lines = re.findall(r"(?m)^ *split: .*\n", text)
        self.assertEqual([line.split(" #")[0] for line in lines], ["  split: auto"])
        self.assertLessEqual(split["force_error"], split["force_error_asked"])
        self.assertIn(f"\nCoulomb: cut-off {split['cutoff_nm']:g} nm, grid {' x '.join(map(str, split['grid']))}, ", self.shoal("validate", "a.yaml").stdout)
        with open(os.path.join(self.folder, "without.yaml"), "w", encoding="utf-8") as f:
            f.write(text.replace(lines[0], ""))
        self.assertNotIn("split", json.loads(self.shoal("validate", "without.yaml", "--json").stdout))

    def test_hydration(self):
        answer = self.check("hydration", "methanol/methanol.top", "methanol/methanol.gro", "MOH")
        self.assertEqual((answer["windows"], answer["stages"], answer["warnings"]), (16, 4, []))

    def test_relative(self):
        answer = self.check("relative", "methane-to-methanol/hybrid.top", "methane-to-methanol/water.gro", "HYB")
        self.assertEqual((answer["windows"], answer["warnings"]), (13, []))

    def test_switching(self):
        answer = self.check("switching", "methane-to-methanol/hybrid.top", "methane-to-methanol/water.gro", "HYB")
        self.assertEqual((answer["windows"], answer["warnings"]), (24, []))
        self.assertEqual((answer["switching"]["walkers"], answer["switching"]["switches_per_walker"]), (12, 20))
        with open(os.path.join(self.folder, "a.yaml"), encoding="utf-8") as f:
            text = f.read()
        with open(os.path.join(self.folder, "a.yaml"), "w", encoding="utf-8") as f:
            f.write(text.replace("# longest:", "longest:"))
        self.assertIn("switches may take up to 400 ps each", self.shoal("validate", "a.yaml").stdout)

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
        for kind, more, molecule in (("relative", "", ""), ("switching", "", ""), ("absolute", RESTRAINT, "MOH")):
            source = {"relative": "methane-to-methanol/hybrid.top", "switching": "methane-to-methanol/hybrid.top", "absolute": "methanol/methanol.top"}[kind]
            with open(os.path.join(EXAMPLES, source), encoding="utf-8") as f:
                text = f.read()
            first = text.index("[ moleculetype ]")
            second = text.find("[ moleculetype ]", first + 1)
            with open(os.path.join(self.folder, "held.top"), "w", encoding="utf-8") as f:
                f.write(text[:second] + '#include "posre.itp"\n' + text[second:] + more)
            coordinates = {"relative": "methane-to-methanol/water.gro", "switching": "methane-to-methanol/water.gro", "absolute": "methanol/methanol.gro"}[kind]
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

    HEAD = """[ defaults ]
1 2 no 1 1
[ atomtypes ]
A 6 12 0 A 0.3 0.3
"""

    def topology(self, molecules):
        """The path of one with these: (name, copies, masses of atoms, charges of atoms, charges in state B)."""
        text = self.HEAD
        for name, _, masses, charges, b_charges in molecules:
            text += f"[ moleculetype ]\n{name} 1\n[ atoms ]\n"
            for i, (mass, charge) in enumerate(zip(masses, charges), 1):
                b = f" A {b_charges[i - 1]} {mass}" if b_charges else ""
                text += f"{i} A 1 {name} X{i} {i} {charge} {mass}{b}\n"
        text += "[ system ]\nx\n[ molecules ]\n" + "".join(f"{m[0]} {m[1]}\n" for m in molecules if m[1])
        os.makedirs(os.path.join(self.folder, "top"), exist_ok=True)
        with open(os.path.join(self.folder, "top/topol.top"), "w", encoding="utf-8") as f:
            f.write(text)
        return "top/topol.top"

    WATER = ("SOL", 3, (15.9994, 1.008, 1.008), (-0.8, 0.4, 0.4), None)
    HEAVY = ("HEAVY", 2, (9.9514, 4.032, 4.032), (-1, 0.5, 0.5), None)
    ION = ("CL", 1, (35.45,), (-1,), None)
    HEXANE = ("HEX", 12, (14, 14), (0, 0), None)
    DRUG, HOST = ("D7-x", 1, (12, 12), (0.1, -0.1), None), ("HOST", 1, (12,), (0.2,), None)

    def test_molecules(self):
        """The one that is neither water, an ion nor there many times; --ligand where there are several or none; B states make it relative."""
        def made(molecules, *words, code=0):
            done = self.shoal("init", *words, "-p", self.topology(molecules))
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout if code == 0 else done.stderr

        for others in ([self.WATER, self.ION], [self.HEAVY], [self.HEXANE, self.WATER], [self.ION], [("UNUSED", 0, (1,), (0,), None)]):
            text = made([*others, self.DRUG])
            self.assertIn("name: D7-x\n", text)
            self.assertIn("  decouple: D7-x ", text)
            self.assertIn("  topology: top/topol.top ", text)
        self.assertIn("  decouple: CL ", made([self.WATER, self.ION], "--ligand", "CL"))
        err = made([self.WATER, self.HOST, self.DRUG], "hydration", code=2)
        self.assertIn("has several molecules that are neither solvent nor ions: HOST, D7-x; --ligand NAME", err)
        self.assertIn("  decouple: D7-x ", made([self.WATER, self.HOST, self.DRUG], "absolute", "--ligand", "D7-x"))
        self.assertIn("has no molecule that is neither solvent nor ion, but SOL, CL; --ligand", made([self.WATER, self.ION], code=2))
        self.assertIn("--ligand LIG: top/topol.top has no molecule of this type; it has SOL, D7-x",
                      made([self.WATER, self.DRUG], "--ligand", "LIG", code=65))
        changes = ("HYB", 1, (12, 12), (0.1, -0.1), (0, 0))
        self.assertIn("perturb: b-states", made([self.WATER, changes]))
        self.assertIn("name: HYB\n", made([self.WATER, changes], "relative"))
        self.assertIn("perturb: b-states", made([self.HOST, changes], "relative"))
        self.assertIn("shoal init: top/topol.top:6: ", made([("A", 1, (0,), (0,), None)], code=65))

    def test_spec_elsewhere(self):
        """Names are seen from the folder of the spec."""
        self.topology([self.WATER, self.DRUG])
        os.makedirs(os.path.join(self.folder, "runs"))
        self.assertEqual(self.shoal("init", "-p", "top/topol.top", "-c", "top/topol.top", "-o", "runs/a.yaml").returncode, 0)
        with open(os.path.join(self.folder, "runs/a.yaml"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("  topology: ../top/topol.top ", text)
        self.assertIn("  coordinates: ../top/topol.top ", text)

    def test_words(self):
        done = self.shoal("init", "hydraton")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "shoal: hydraton: expected hydration, relative, absolute or switching; did you mean hydration?\n")
        shutil.copy(os.path.join(EXAMPLES, "methanol/methanol.top"), os.path.join(self.folder, "my top.top"))
        done = self.shoal("init", "absolute", "-p", "my top.top")
        self.assertIn('\n  topology: "my top.top"\n', done.stdout)
        self.assertIn("  decouple: LIG ", self.shoal("init", "absolute").stdout)
        for name in ("-p", "-c"):
            done = self.shoal("init", "absolute", name, "none")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (66, "", "shoal: none: no such file\n"))
        self.assertEqual(self.shoal("init", "relative", "-o", "a.yaml").returncode, 0)
        self.assertEqual(self.shoal("init", "relative", "-o", "a.yaml").returncode, 3)


if __name__ == "__main__":
    unittest.main()
