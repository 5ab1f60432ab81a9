#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Systems that blow up: what is said of it, and the coordinates that are kept.

Usage: blow_up.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import re
import subprocess
import sys
import unittest

from served import SHOAL, Served
from tiny import tiny


class BlowsUp(Served):
    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def blow_up(self, name, files, spec):
        """Why each of the two windows failed, and the folder with their files."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        for file, text in {**files, "spec.yaml": spec}.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        self.shoal("submit", os.path.join(folder, "spec.yaml"), "--key", name)
        self.shoal("wait", name, "--timeout", "100", code=1)
        self.shoal("results", name, "--output", os.path.join(folder, "out"), code=1)
        return [r["reason"] for r in json.loads(self.shoal("status", name, "--json"))["ensembles"][0]["replicas"]], os.path.join(folder, "out")

    def frame(self, path):
        """Title, atoms by number and coordinates of a .gro file."""
        with open(path, encoding="ascii") as f:
            title, count, *lines = f.read().splitlines()
        atoms = {k + 1: (line[10:15].strip(), line[5:10].strip()) for k, line in enumerate(lines[:-1])}
        places = [[float(line[20 + 8 * d:28 + 8 * d]) for d in range(3)] for line in lines[:-1]]
        self.assertEqual(len(atoms), int(count))
        return title, atoms, places

    def check(self, reasons, folder, stage):
        for window, reason in enumerate(reasons):
            said = re.fullmatch(r"the system blew up in stage (\d) \((\w+)\), after step (\d+) of it \(([\d.e-]+) ps; ([\d.e-]+) ps of dynamics in all\): "
                                r"(?!step)(.*); the coordinates of that moment are in (lambda_\d\d/blowup\.gro)\. Usual causes: (.*)", reason)
            self.assertTrue(said, reason)
            number, kind, step, time, _, what, file, causes = said.groups()
            self.assertEqual((int(number), kind, file), (*stage[:2], f"lambda_{window:02d}/blowup.gro"))
            self.assertAlmostEqual(float(time), int(step) * stage[2], delta=1e-6)
            self.assertIn("a timestep too long for the fastest bonds", causes)
            _, atoms, places = self.frame(os.path.join(folder, file))
            self.assertTrue(all(abs(x) <= 999 for place in places for x in place))
            named = re.findall(r"(?:on atom|: atom|atoms|and) (\d+) \((\w+) (\w+?)\d+\)", what)
            self.assertTrue(named, what)  # whatever it was, an atom is named
            for index, name, residue in named:
                self.assertEqual(atoms[int(index)], (name, residue))
        return causes

    def test_timestep(self):
        """Waters cannot be followed in steps of 20 fs."""
        spec, files = tiny("fast", seed=33, side=5, timestep="20 fs", windows=(0, 1), retries=0)
        reasons, folder = self.blow_up("fast", files, spec)
        causes = self.check(reasons, folder, (2, "equilibrate", 0.02))
        self.assertNotIn("no minimize stage", causes)

    def test_overlap(self):
        """Two waters on top of each other, and nothing that takes them apart."""
        spec, files = tiny("overlap", seed=33, side=5, windows=(0, 1), retries=0)
        lines = files["tiny.gro"].splitlines()
        for k in range(3):
            atom, other = lines[3 + k], lines[6 + k]
            lines[6 + k] = other[:20] + f"{float(atom[20:29]) + 0.01:9.4f}" + atom[29:]
        files["tiny.gro"] = "\n".join(lines) + "\n"
        reasons, folder = self.blow_up("overlap", files, re.sub(r"  - minimize:.*\n", "", spec))
        self.assertIn("no minimize stage in the protocol", self.check(reasons, folder, (1, "equilibrate", 0.002)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
