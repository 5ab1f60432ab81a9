#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Torsions of what is decoupled: those that no window saw to turn are named in results and report, those that turned are counted.

Usage: torsions.py SHOAL SHOALD WORKER
"""
import json
import os
import subprocess
import unittest

from served import SHOAL, Served

# A chain of five atoms in a vacuum: a bond that nothing holds, and one with wells of 45 kJ/mol.
TOPOLOGY = """[ defaults ]
1 2 no 1 1
[ atomtypes ]
C 12.011 0 A 0.3 0.1
[ moleculetype ]
CHN 4
[ atoms ]
""" + "".join(f"{i} C 1 CHN C{i} 1\n" for i in range(1, 6)) + """[ bonds ]
1 2 1 0.15 100000
2 3 1 0.15 100000
3 4 1 0.15 100000
4 5 1 0.15 100000
[ angles ]
1 2 3 1 110 400
2 3 4 1 110 400
3 4 5 1 110 400
[ dihedrals ]
1 2 3 4 9 180 22.5 2
[ system ]
chain
[ molecules ]
CHN 1
"""
COORDINATES = """chain
5
    1CHN     C1    1   0.900   1.000   1.000
    1CHN     C2    2   0.951   1.141   1.000
    1CHN     C3    3   1.101   1.141   1.000
    1CHN     C4    4   1.152   1.282   1.000
    1CHN     C5    5   1.302   1.282   1.000
   2.00000   2.00000   2.00000
"""
SPEC = """name: chain
system: {topology: chain.top, coordinates: chain.gro}
nonbonded: {cutoff: 0.9 nm, coulomb: {method: reaction-field}}
constraints: none
integrator: {temperature: 300 K, timestep: 2 fs, friction: 5 /ps, seed: 3}
alchemy:
  decouple: CHN
  windows: {vdw: [0, 0.5, 1]}
protocol:
  - minimize: {steps: 100}
  - produce: {time: 40 ps, ensemble: nvt, sample-every: 0.1 ps, frames-every: 0.1 ps}
"""


class Torsions(Served):
    OPTIONS = ("--live-seconds", "0")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def run_chain(self, name, spec):
        for file, text in (("chain.top", TOPOLOGY), ("chain.gro", COORDINATES), (f"{name}.yaml", spec)):
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        ident = json.loads(self.shoal("submit", os.path.join(self.folder, f"{name}.yaml"), "--json"))["id"]
        self.shoal("wait", ident)
        return ident

    def test_one_turns(self):
        ident = self.run_chain("turning", SPEC)
        torsions = json.loads(self.shoal("results", ident, "--json"))["torsions"]
        self.assertEqual(torsions["windows"], 3)
        self.assertGreater(torsions["frames"], 1190)
        held, free = torsions["list"]
        self.assertEqual((held["molecule"], held["atoms"], held["names"]), ("CHN", [1, 2, 3, 4], ["C1", "C2", "C3", "C4"]))
        self.assertEqual((held["transitions"], held["windows_without"]), (0, 3))
        self.assertEqual((free["names"], free["windows_without"]), (["C2", "C3", "C4", "C5"], 0))
        self.assertGreater(free["transitions"], 100)
        text = self.shoal("results", ident)
        said = "torsion C1-C2-C3-C4 of CHN: 0 transitions in all windows: not seen to move"
        self.assertIn(said, text)
        self.assertNotIn("torsion C2-C3-C4-C5", text)
        self.assertIn("start repeats from different conformations", text)
        page = os.path.join(self.folder, "report.html")
        self.shoal("report", ident, "--output", page)
        with open(page, encoding="utf-8") as f:
            self.assertIn(said, f.read())

    def test_different_wells(self):
        """The last window starts where C1 and C4 are on one side of the bond that does not turn."""
        cis = COORDINATES.replace("1.152   1.282", "1.152   1.000").replace("1.302   1.282", "1.302   1.000")
        with open(os.path.join(self.folder, "cis.gro"), "w", encoding="utf-8") as f:
            f.write(cis)
        spec = SPEC.replace("coordinates: chain.gro}",
                            "coordinates: chain.gro, window-coordinates: [chain.gro, chain.gro, cis.gro]}")
        ident = self.run_chain("wells", spec.replace("40 ps", "8 ps"))
        torsions = json.loads(self.shoal("results", ident, "--json"))["torsions"]
        held = torsions["list"][0]
        self.assertAlmostEqual(torsions["interval"], 0.1, places=6)
        self.assertEqual((held["transitions"], held["windows_without"]), (0, 3))
        self.assertEqual([[one["window"] for one in well["windows"]] for well in held["wells"]], [[0, 1], [2]])
        self.assertLess(abs(abs(held["wells"][0]["angle"]) - 180), 20)
        self.assertLess(abs(held["wells"][1]["angle"]), 20)
        text = self.shoal("results", ident)
        self.assertRegex(text, "torsion C1-C2-C3-C4 of CHN: windows stay in different wells without a transition: "
                               r"0, 1 near -?1[67]\d|180 degrees; 2 near -?1?\d degrees")
        self.assertIn("windows in different wells are samples of different conformations", text)
        self.assertIn("torsions in 243 frames, one every 0.1 ps", text)
        page = os.path.join(self.folder, "wells.html")
        self.shoal("report", ident, "--output", page)
        with open(page, encoding="utf-8") as f:
            self.assertIn("windows stay in different wells", f.read())

    def test_repeats_in_wells(self):
        """Those that start from one file are in one well, and nothing is said of it."""
        ident = self.run_chain("repeated", SPEC.replace("name: chain", "name: chain\nrepeats: 2").replace("40 ps", "4 ps"))
        held = json.loads(self.shoal("results", ident, "--json"))["torsions"]["list"][0]
        self.assertEqual([len(well["windows"]) for well in held["wells"]], [6])
        self.assertEqual(held["wells"][0]["windows"][3], {"repeat": 1, "window": 0})
        self.assertNotIn("different wells", self.shoal("results", ident))

    def test_without_frames(self):
        ident = self.run_chain("unwatched", SPEC.replace(", frames-every: 0.1 ps", "").replace("40 ps", "4 ps"))
        torsions = json.loads(self.shoal("results", ident, "--json"))["torsions"]
        self.assertEqual((torsions["frames"], torsions["windows"], len(torsions["list"])), (0, 0, 2))
        self.assertIn("2 torsions were not watched, for want of trajectories: with frames-every", self.shoal("results", ident))


if __name__ == "__main__":
    unittest.main(argv=["torsions.py"], verbosity=2)
