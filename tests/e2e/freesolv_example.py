#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/freesolv on a database of the examples' own molecules: which it takes, the boxes, the campaign from its file to its end in two
parts, and the table's numbers, computed here a second time.

Usage: freesolv_example.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SHOAL, SHOALD, WORKER, EXAMPLES = (Path(p).resolve() for p in sys.argv[1:5])
MOLECULES = {"mobley_11": "methane", "mobley_2": "methanol", "mobley_301": "ethane"}
ROWS = """#Hydration free energy database
# compound id (and file prefix); SMILES; name; experiment; error; calculated; error; references and notes
mobley_301; CC; ethane, 4$l^{5}; 1.83; 0.60; 2.46; 0.01; a; b; notes; with a semicolon
mobley_11; C; methane; 2.00; 0.20; 2.45; 0.01; a; b; notes
mobley_2; CO; methanol; -5.10; 0.60; -3.49; 0.02; a; b; notes
"""
# What a test has time for; each is in hydration.yaml.
SHORTER = [("cutoff: 1.0 nm", "cutoff: 0.55 nm"), ("switch-start: 0.9 nm", "switch-start: 0.5 nm"), ("  split: auto", "#"),
           ("coulomb: [0,", "coulomb: [0, 0.5, 1] #"), ("vdw: [0,", "vdw: [0, 0, 0] #"), ("steps: 500", "steps: 10"), ("time: 20 ps", "time: 20 steps"),
           ("time: 60 ps", "time: 60 steps"), ("sample-every: 0.2 ps", "sample-every: 2 steps")]


def write_database(folder):
    """As the database is: a .top and a .gro of each molecule alone."""
    (folder / "gromacs").mkdir(parents=True)
    (folder / "database.txt").write_text(ROWS)
    for ident, name in MOLECULES.items():
        text = (EXAMPLES / name / f"{name}.top").read_text()
        molecule = re.search(r"(?m)^\[ moleculetype \]\n(?:;.*\n)*\s*(\w+)", text)[1]
        alone = re.split(r"(?m)^(?=\[ moleculetype \])", text)
        (folder / f"gromacs/{ident}.top").write_text("".join(alone[:2]) + f"[ system ]\n{name}\n\n[ molecules ]\n{molecule} 1\n")
        lines = (EXAMPLES / name / f"{name}.gro").read_text().splitlines()
        own = [line for line in lines[2:] if line[5:10].strip() == molecule]
        (folder / f"gromacs/{ident}.gro").write_text("\n".join([name, str(len(own)), *own, lines[-1]]) + "\n")


class FreeSolv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.database, self.to = self.folder / "database", self.folder / "to"
        write_database(self.database)
        self.environment = {**os.environ, "SHOALD": str(SHOALD), "SHOAL_WORKER": str(WORKER), "TMPDIR": str(self.folder), "GMXLIB": "",
                            "SHOAL_SOCKET": str(self.folder / "none")}
        self.environment.pop("XDG_RUNTIME_DIR", None)

    def call(self, *words, code=0):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def example(self, *words, code=0):
        return self.call(sys.executable, EXAMPLES / "freesolv/freesolv.py", *words, code=code)

    def write(self, *words, code=0):
        return self.example("write", self.database, self.to, *words, code=code)

    def systems(self):
        rows = [line.split("\t") for line in (self.to / "systems.tsv").read_text().splitlines()]
        return [dict(zip(rows[0], row)) for row in rows[1:]]

    def plan(self, code=0):
        return json.loads(self.call(SHOAL, "campaign", "plan", self.to / "campaign.yaml", "--quiet", "--json", code=code))

    def test_all_of_it(self):
        """Boxes with water to the margin, none of it on the molecule; what the campaign plans is what was asked for."""
        self.write("--time", "36", "--margin", "1.2")
        plan = self.plan()
        self.assertEqual([row["name"] for row in self.systems()], ["mobley_11", "mobley_2", "mobley_301"])
        self.assertEqual([row["molecule"] for row in self.systems()], ["MET", "MOH", "ETH"])
        self.assertEqual([row["experiment (kcal/mol)"] for row in self.systems()], ["2.00", "-5.10", "1.83"])
        self.assertEqual([row["published"] for row in self.systems()], ["2.45", "-3.49", "2.46"])
        self.assertEqual(len(plan["ensembles"]), 9)
        self.assertIn("budget: {time: 108 ns", (self.to / "campaign.yaml").read_text())
        self.assertEqual({row["production"] for row in self.systems()}, {"50000 steps"})  # 36 ns / 3 / 3 repeats / 20 windows of 4 fs
        self.box("mobley_2", 6, 1.2)

    def box(self, ident, own, margin):
        lines = (self.to / ident / "conf.gro").read_text().splitlines()
        atoms = [(line[10:15].strip(), [float(line[20 + 9 * k:29 + 9 * k]) for k in range(3)]) for line in lines[2:-1]]
        edge = float(lines[-1].split()[0])
        solute, waters = atoms[:own], atoms[own:]
        self.assertEqual(int(re.search(r"SOL +(\d+)\s*\Z", (self.to / ident / "system.top").read_text())[1]), len(waters) / 3)
        widest = max(math.dist(a, b) for _, a in solute for _, b in solute)
        self.assertAlmostEqual(edge, widest + 2 * margin, delta=1e-3)
        self.assertGreater(min(math.dist(x, y) for _, x in solute for name, y in waters if name == "OW"), 0.27)
        self.assertAlmostEqual(len(waters) / 3 / edge**3 / 33, 1, delta=0.04)  # molecules per nm^3

    def test_chosen(self):
        """Ids with and without their beginning; at random the same whatever the order of the file, and another by another seed."""
        self.write("--ids", "301,mobley_2")
        self.assertEqual([row["name"] for row in self.systems()], ["mobley_301", "mobley_2"])
        chosen = set()
        for seed in range(4):
            self.write("--random", "2", "--seed", str(seed))
            names = tuple(row["name"] for row in self.systems())
            self.assertEqual(list(names), random.Random(seed).sample(sorted(MOLECULES), 2))
            chosen.add(names)
        self.assertGreater(len(chosen), 1)

    def test_settings(self):
        """2 fs, and what is published: production is as long, and nothing of ours is left."""
        for words, step, words_there, words_gone in (
                (("--timestep", "2"), 2, ("cutoff: 1.0 nm, grid-spacing", "split: auto"), ("masses", "4 fs")),
                (("--published",), 2, ("cutoff: 1.2 nm, grid-spacing: 0.1 nm, order: 6", "friction: 0.5 /ps"), ("masses", "4 fs", "split:")),
                ((), 4, ("masses: {repartition: 3", "timestep: 4 fs", "split: auto"), ("timestep: 2 fs",))):
            self.write("--ids", "2", "--time", "36", *words)
            text = (self.to / "hydration.yaml").read_text()
            for word in words_there:
                self.assertIn(word, text)
            for word in words_gone:
                self.assertNotIn(word, text.split("system:", 1)[1])
            self.assertEqual(self.systems()[0]["production"], f"{200000 // step} steps")
            self.box("mobley_2", 6, 1.5 if "--published" in words else 1.1)
            self.assertEqual(len(self.plan()["ensembles"]), 3)

    def test_with_water(self):
        """Files that have more than the molecule are taken as they are."""
        for end in ("top", "gro"):
            (self.database / f"gromacs/mobley_2.{end}").write_bytes((EXAMPLES / f"methanol/methanol.{end}").read_bytes())
        self.write("--ids", "2")
        self.assertEqual((self.to / "mobley_2/conf.gro").read_bytes(), (EXAMPLES / "methanol/methanol.gro").read_bytes())
        self.assertEqual(self.systems()[0]["molecule"], "MOH")
        self.assertEqual(len(self.plan()["ensembles"]), 3)

    def test_refused(self):
        self.assertIn("--ids: no mobley_77 among the 3 molecules", self.write("--ids", "2,77", code=1))
        self.assertIn("--random 4: expected 1 to 3", self.write("--random", "4", code=1))
        (self.database / "gromacs/mobley_2.gro").unlink()
        self.assertIn("no " + str(self.database / "gromacs/mobley_2.gro"), self.write(code=1))
        self.assertFalse(self.to.exists())
        (self.database / "gromacs/mobley_2.gro").write_bytes((self.database / "gromacs/mobley_11.gro").read_bytes())
        self.assertRegex(self.write(code=1), r"mobley_2\.top has 6 atoms in its first molecule, and .*mobley_2\.gro has 5;")
        with open(self.database / "database.txt", "a", encoding="utf-8") as f:
            f.write("mobley_5; C; methane; x; 0.2; 2.45; 0.01\n")
        self.assertIn("database.txt:6: expected id; SMILES; name; experiment", self.write(code=1))

    def test_run(self):
        """In two parts, to the table."""
        self.write("--ids", "11,2", "--time", "0.01", "--margin", "0.5", "--name", "some")
        spec = (self.to / "hydration.yaml").read_text()
        for old, new in SHORTER:
            self.assertIn(old, spec)
            spec = spec.replace(old, new)
        (self.to / "hydration.yaml").write_text(spec)
        text = (self.to / "campaign.yaml").read_text()
        (self.to / "campaign.yaml").write_text(re.sub(r"budget: .*", "budget: {time: 0.006 ns, rounds: 1}", text))
        run = [SHOAL, "campaign", "run", self.to / "campaign.yaml", "--here", self.to / "run", "--device", "cpu:2", "--output", self.to / "table"]
        self.call(*run, "--for", "1s", code=75)
        self.call(*run)
        with open(self.to / "usage.json", "w", encoding="utf-8") as f:
            subprocess.run([SHOAL, "usage", "--here", self.to / "run", "--by", "campaign", "--json"], env=self.environment, stdout=f, check=True)
        said = self.example("table", self.to, self.to / "table/gather.json", "--usage", self.to / "usage.json")
        gathered = json.loads((self.to / "table/gather.json").read_text())
        for one in gathered["systems"]:
            energy, leg = one["free_energy"]["kcal/mol"], one["legs"][0]["free_energy"]["kcal/mol"]
            self.assertEqual(energy["value"], -leg["value"])  # the windows take it out of the water
            self.assertRegex(said, rf"{one['system']} +{energy['value']:.3f} \+- {energy['error']:.3f} ")
        self.assertRegex(said, r"device time: \d+\.\d\d h for 2 molecules")

    def test_numbers(self):
        """Of known values; one molecule has none."""
        self.write()
        energy = {"mobley_11": (2.55, 0.03), "mobley_2": (-3.29, 0.04)}
        gathered = {"name": "freesolv", "systems": [
            {"system": name, "verdict": "converged", "free_energy": {"kcal/mol": {"value": v, "error": e}}} for name, (v, e) in energy.items()]
            + [{"system": "mobley_301", "verdict": "failed", "free_energy": None}]}
        (self.to / "gather.json").write_text(json.dumps(gathered))
        used = [("freesolv", 600), ("freesolv", 120), ("other", 5)]
        (self.to / "usage.json").write_text(json.dumps({"rows": [{"campaign": name, "device_seconds": s} for name, s in used]}))
        said = self.example("table", self.to, self.to / "gather.json", "--usage", self.to / "usage.json", code=1)
        lines = {line.split()[0] + line.split()[1]: line for line in said.splitlines() if line}
        self.assertRegex(said, r"mobley_11 +2\.550 \+- 0\.030 +2\.45 \+- 0\.01 +2\.00 \+- 0\.20 +\+0\.10 +\+3\.2 +converged +methane")  # 0.1 / hypot(0.03, 0.01)
        self.assertRegex(said, r"mobley_301 +none +2\.46 \+- 0\.01 +1\.83 \+- 0\.60 +ethane, 4\$")
        # off by 0.1 and 0.2; off by 0.55 and 1.81
        self.assertRegex(lines["frompublished"], r"RMSE 0\.158 +mean difference \+0\.150 +mean unsigned difference 0\.150 +R 1\.0000")
        self.assertRegex(lines["fromexperiment"], r"RMSE 1\.338 +mean difference \+1\.180 +mean unsigned difference 1\.180 +R 1\.0000")
        self.assertIn("errors, root mean square: 0.035, published 0.016", said)  # (0.0009 + 0.0016) / 2; (0.0001 + 0.0004) / 2
        # 720 s for 2 are 2.675 days for 642; 0.0025 / 0.0005 = 5 times as long
        self.assertIn("device time: 0.20 h for 2 molecules, 2.67 days for 642; for errors of 0.016 5.00 of the time, 13.38 days", said)
        self.assertIn("has no campaign freesolv", self.example("table", self.to, self.to / "gather.json", "--usage", self.to / "gather.json", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
