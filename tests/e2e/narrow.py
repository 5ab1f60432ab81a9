#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A box that its pressure would make narrower than its cut-off allows: events, results, report and verdict say so; of an ordinary one
nobody says anything. Also across kill -9 of the service.

Usage: narrow.py SHOAL SHOALD WORKER
"""
import json
import os
import signal
import subprocess
import unittest

from served import SHOAL, Served
from service import until
from tiny import tiny

BOUND = "1.54"  # nm, twice the cut-off of the narrow one; the box is 1.5535 nm wide at first


class Narrow(Served):
    OPTIONS = ("--live-seconds", "0")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def submit(self, name, steps, **changes):
        spec, inputs = tiny(name, seed=7, steps=steps, windows=(0, 0.3))
        for old, new in changes.values():
            self.assertIn(old, spec)
            spec = spec.replace(old, new)
        path = os.path.join(self.folder, f"{name}.yaml")
        for file, text in {f"{name}.yaml": spec, **inputs}.items():
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return json.loads(self.shoal("submit", path, "--json"))["id"]

    def narrow(self, name, steps):
        return self.submit(name, steps, cutoff=("cutoff: 0.6 nm", "cutoff: 0.77 nm"),
                           pressure=("1.01325 bar, every: 25 steps", "6000 bar, every: 5 steps"))

    def events(self, ident):
        return [e for e in json.loads(self.shoal("events", ident, "--json"))["events"] if e["kind"] == "narrow"]

    def test_too_narrow(self):
        ident = self.narrow("narrow", 600)
        self.shoal("wait", ident)
        told = self.events(ident)
        for window in (0, 1):
            last = [e["message"] for e in told if e["window"] == window][-1]
            self.assertRegex(last, r"^the box is too narrow for its pressure: in all of this stage, \d+ of 1[12]\d volume moves \(")
            self.assertRegex(last, rf"for it is 1\.5[45]\d* nm wide now and would have become narrower than the {BOUND} nm")
            self.assertIn("expected a larger box or a shorter cut-off", last)
        results = json.loads(self.shoal("results", ident, "--json"))
        self.assertEqual(results["verdict"]["verdict"], "unconverged")
        said = [r["text"] for r in results["verdict"]["reasons"] if r["code"] == "narrow"]
        self.assertEqual(len(said), 2, results["verdict"])
        self.assertEqual(sum("take a larger box or a shorter cut-off" in w for w in results["warnings"]), 2, results["warnings"])
        page = self.shoal("report", ident)
        self.assertIn(said[0], page)
        self.assertIn(results["warnings"][0], page)
        self.assertIn("warning: window 0: ", self.shoal("results", ident))

    def test_wide_enough(self):
        ident = self.submit("wide", 600)
        self.shoal("wait", ident)
        results = json.loads(self.shoal("results", ident, "--json"))
        self.assertEqual(self.events(ident), [])
        self.assertNotIn("narrow", json.dumps([results["verdict"], results["warnings"]]))

    def test_killed(self):
        """Counts come from checkpoints: those of a run that was killed are those of one that was not."""
        whole, broken = self.narrow("whole", 600), self.narrow("broken", 600)
        for step in (620, 850):  # of 1100 and those of the minimization, the last 600 production
            until(lambda n=step: max(r["step"] for r in json.loads(self.shoal("status", broken, "--json"))["ensembles"][0]["replicas"]) >= n)
            self.stop(signal.SIGKILL)
            self.start()
        self.shoal("wait", whole, broken)
        results = [json.loads(self.shoal("results", i, "--json")) for i in (whole, broken)]
        self.assertEqual(results[0]["warnings"], results[1]["warnings"])
        self.assertEqual(len(results[0]["warnings"]), 2)
        self.assertEqual({e["message"] for e in self.events(whole) if "in all" in e["message"]},
                         {e["message"] for e in self.events(broken) if "in all" in e["message"]})


if __name__ == "__main__":
    unittest.main(argv=["narrow.py"])
