#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/water/run on few molecules and steps: its table, its files, the same again, the picture, and what it says of bad input.

Usage: water.py EXAMPLES BUILD      BUILD: a build folder, as for `run --build`
"""
import importlib.machinery
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

EXAMPLES, BUILD = (Path(path).resolve() for path in sys.argv[1:3])
SHORTER = [("steps: 200", "steps: 20"), ("time: 10 ps", "time: 0.04 ps"), ("time: 20 ps", "time: 0.04 ps"), ("time: 30 ps", "time: 0.04 ps"),
           ("every: 0.1 ps", "every: 0.02 ps"), ("max: 20 ps", "max: 0.2 ps"), ("fit: [2 ps, 15 ps]", "fit: [0.04 ps, 0.1 ps]")]
# where neither a service nor a setting of the one who tests is found
BARE = {**{k: v for k, v in os.environ.items() if not k.startswith("SHOAL_")}, "PYTHONDONTWRITEBYTECODE": "1"}


def loaded(folder):
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("water_run", str(folder / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("water_run", loader))
    loader.exec_module(module)
    return module


class Water(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.water = cls.folder / "examples/water"
        shutil.copytree(EXAMPLES / "water", cls.water)
        shutil.copy(EXAMPLES / "make_box.py", cls.folder / "examples")
        changed = set()
        for spec in cls.water.glob("*.yaml"):
            text = spec.read_text()
            for old, new in SHORTER:
                if old in text:
                    changed.add(old)
                    text = text.replace(old, new)
            spec.write_text(text)
        assert len(changed) == len(SHORTER), changed
        cls.output = cls.folder / "out"
        cls.told = cls.run_it("--molecules", "600", "--time", "0.4 ps", "--repeats", "2")

    @classmethod
    def run_it(cls, *words, code=0, build=BUILD):
        environment = {**BARE, "XDG_RUNTIME_DIR": str(cls.folder)}
        done = subprocess.run([cls.water / "run", "--build", build, "--output", cls.output, "--device", "cpu:2", *words], env=environment,
                              text=True, capture_output=True, check=False)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_table(self):
        self.assertEqual((self.output / "table.txt").read_text(), self.told)
        rows = {line.split("  ")[0].split(",")[0] if not line.startswith(" ") else "at": line for line in self.told.splitlines()}
        density = re.search(r"density, kg/m\^3 +([\d.]+) \+- ([\d.]+) +998 \[a\]", self.told)
        self.assertTrue(density and 950 < float(density[1]) < 1050, self.told)
        results = {name: json.loads((self.output / "600" / name / "results.json").read_text()) for name in ("npt", "nvt")}
        means = [w["averages"]["Density"]["value"] for w in results["npt"]["windows"]]
        self.assertEqual(len(means), 2)
        self.assertAlmostEqual(float(density[1]), sum(means) / 2, delta=0.05)
        slopes = [o["diffusion"]["value_cm2_per_s"] * 1e5 for o in results["nvt"]["observables"]]
        self.assertIn(f"{sum(slopes) / 2:.2f} +- ", rows["diffusion"] + self.told)
        for name in ("energy of a molecule", "g(r) of oxygens", "heat capacity", "compressibility", "thermal expansion", "pressure at 998"):
            self.assertRegex(self.told, re.escape(name) + r"[^\n]* -?\d+\.?\d* \+- \d")
        self.assertRegex(self.told, r"600 molecules, nvt: [\d,.]+ ns/day, 2 runs together")
        for letter in set(re.findall(r"\[([a-z])\]", self.told)):
            self.assertRegex(self.told, rf"(?m)^\[{letter}\] .*(doi|no paper)")

    def test_files(self):
        for path in ("npt.yaml", "nvt.yaml", "spce.top", "water.gro", "npt/repeat_00/lambda_00/rdf.xvg", "nvt/repeat_01/lambda_00/msd.xvg"):
            self.assertTrue((self.output / "600" / path).stat().st_size > 0, path)
        self.assertIn("SOL 600\n", (self.output / "600/spce.top").read_text())

    def test_again(self):
        self.assertEqual(self.run_it("--molecules", "600", "--time", "0.4 ps", "--repeats", "2"), self.told)

    def test_picture(self):
        """Of a GPU, for which another device stands in."""
        run = loaded(self.water)
        lines = run.picture(run.Programs(BUILD), self.output, [self.output / "600"], "cpu:2", 20)
        self.assertEqual([line.split()[0] for line in lines], ["device", "cpu:2", "cpu:1"])
        texts = [t.text for t in xml.etree.ElementTree.parse(self.output / "speed.svg").iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue({"1800", "atoms", "ns/day", "cpu:1", "cpu:2"} < set(texts) and any(t.startswith("x ") for t in texts), texts)

    def test_repeats(self):
        quantities = loaded(self.water).quantities
        value = quantities.combined([quantities.Value(1.0, 0.3), quantities.Value(3.0, 0.4)])
        self.assertEqual((value.value, value.error), (2.0, 1.0))  # they spread more than they say
        value = quantities.combined([quantities.Value(2.0, 0.3), quantities.Value(2.0, 0.4)])
        self.assertAlmostEqual(value.error, 0.25)
        self.assertEqual(quantities.shown(quantities.combined([quantities.Value(1.0, math.nan)]), 1), "1.0 +- ?")

    def test_errors(self):
        told = self.run_it(build="/nowhere", code=1)
        self.assertRegex(told, r"^water: no program /nowhere/client/shoal; expected shoal and shoald in PATH, or --build FOLDER")
        told = self.run_it("--molecules", "100", "--time", "0.4 ps", code=1)
        self.assertRegex(told, r"npt.yaml:7: nonbonded.cutoff: 1 nm: expected less than half the shortest box edge in water.gro, 1.44")
        self.assertIn("make_box.py water 0: expected 1 molecule or more", self.run_it("--molecules", "0", code=1))
        self.assertIn("protocol[3].produce.time: 7: no unit", self.run_it("--time", "7", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
