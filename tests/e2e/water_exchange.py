#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchange of waters on a service: results say how it went, a run that was killed has the bits of one that was not, and a run without it
has nothing of it.

Usage: water_exchange.py SHOAL SHOALD WORKER
"""
import json
import os
import signal
import subprocess
import unittest

from served import SHOAL, Served
from service import until
from tiny import tiny

EXCHANGE = "water-exchange: {around: {resname: MET}, radius: 0.4 nm, every: 10 steps, tries: 60}\nbarostat:"


class WaterExchange(Served):
    OPTIONS = ("--live-seconds", "0")

    def shoal(self, *words):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def submit(self, name, exchanged=True):
        spec, inputs = tiny(name, seed=7, steps=400, windows=(0, 0.3))
        if exchanged:
            spec = spec.replace("barostat:", EXCHANGE)
        for file, text in {f"{name}.yaml": spec, **inputs}.items():
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return json.loads(self.shoal("submit", os.path.join(self.folder, f"{name}.yaml"), "--json"))["id"]

    def results(self, ident):
        return json.loads(self.shoal("results", ident, "--json"))

    def file(self, ident, name):
        into = os.path.join(self.folder, f"of-{ident}")
        self.shoal("results", ident, "--output", into)
        with open(os.path.join(into, "lambda_00", name), "rb") as f:
            return f.read()

    def test_killed(self):
        whole, broken, without = self.submit("whole"), self.submit("broken"), self.submit("without", exchanged=False)
        for step in (620, 750):  # of 800 timesteps and those of the minimization
            until(lambda n=step: max(r["step"] for r in json.loads(self.shoal("status", broken, "--json"))["ensembles"][0]["replicas"]) >= n)
            self.stop(signal.SIGKILL)
            self.start()
        self.shoal("wait", whole, broken, without)
        windows = [self.results(ident)["windows"] for ident in (whole, broken, without)]
        for window in windows[0]:
            told = window["water_exchange"]
            self.assertEqual((told["batches"], told["tried"]), (40, 2400))
            self.assertLessEqual(told["kept"], told["moved"])
            self.assertLessEqual(told["undone"], told["changed"])
            self.assertTrue(0 < told["inside"] < 20, told)
        self.assertEqual([w["water_exchange"] for w in windows[0]], [w["water_exchange"] for w in windows[1]])
        self.assertNotIn("water_exchange", windows[2][0])
        told = windows[0][1]["water_exchange"]
        row = rf"0 +1 +{told['inside']:.2f} +2400 +{told['kept']} +{told['changed']} +{told['undone']}"
        self.assertRegex(self.shoal("results", whole), row)
        self.assertNotIn("exchange of waters", self.shoal("results", without))
        self.assertEqual(self.file(whole, "energy.xvg"), self.file(broken, "energy.xvg"))
        said = {s["topic"]: s["text"] for s in self.results(whole)["methods"]}
        self.assertIn("60 moves every 10 steps", said["Water exchange"])


    def test_walkers(self):
        """Beside switch: results have the moves of every walker, which a switch does not count to."""
        spec, inputs = tiny("walkers", seed=7, steps=400, windows=(0, 0.3))
        spec = spec.replace("barostat:", EXCHANGE) + "switch: {length: 100 steps, snapshots-every: 100 steps, walkers: 1}\n"
        for file, text in {"walkers.yaml": spec, **inputs}.items():
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        ident = json.loads(self.shoal("submit", os.path.join(self.folder, "walkers.yaml"), "--json"))["id"]
        self.shoal("wait", ident)
        walkers = self.results(ident)["switching"]["walkers"]
        self.assertEqual([w["works"] for w in walkers], [4, 4])
        for walker in walkers:
            told = walker["water_exchange"]
            self.assertEqual((told["batches"], told["tried"]), (40, 2400))
            row = rf"0 +{walker['end']} 0 +{told['inside']:.2f} +2400 +{told['kept']} +{told['changed']} +{told['undone']}"
            self.assertRegex(self.shoal("results", ident), row)


if __name__ == "__main__":
    unittest.main(argv=["water_exchange.py"])
