#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches that change while replicas run (tests/lib/planted.c): each is found out, the event says kernel, field, old and new value, that
replica alone stops and is tried again, and in the end all windows have the bytes of a run without it. A device that is lost ends its
worker, and nobody is to blame.

Usage: drift.py SHOAL SHOALD PLANTED_WORKER
"""
import glob
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
import unittest

from service import Service
from tiny import tiny

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])

TWICE = r"timestep was 0\.002 \(0x[0-9a-f]{16}\), is 0\.00400000\d* \(0x[0-9a-f]{16}\)"
# What is planted in which window, and what is said of it. A graph has a stride of five steps, or one, whichever is made first.
PLANTS = {
    "argument": (1, rf"recorder \(check\): launch \d+ \(langevin\); {TWICE}"),
    "grid": (2, r"recorder \(check\): launch 0 \(clear\); grid was 1x1x1, is 2x1x1"),
    "edge": (3, r"recorder \(check\): launch \d+ \(remove_com\); after was \{\d+\}, is \{\}"),
    "graph": (4, r"recorder \(warm\): the graph does not hold the tape \(step 0 of [15]\): launch \d+ \(langevin\); "
                 r"timestep was 0\.002 \(0x[0-9a-f]{16}\), is 0\.00200000\d* \(0x[0-9a-f]{16}\)"),
    "behind": (5, rf"recorder \(\w+\): what the device ran is not the tape: step 0 of [15]: launch \d+ \(langevin\); {TWICE}"),
}
WINDOWS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


class Planted(unittest.TestCase):
    DEVICE = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.plants = os.path.join(folder.name, "plants")
        os.mkdir(cls.plants)
        cls.service = Service(SHOALD, WORKER, folder.name, device=cls.DEVICE)
        cls.service.environment["SHOAL_TEST_PLANTS"] = cls.plants
        cls.service.start()
        cls.addClassCleanup(cls.service.kill)
        ident = cls.submit("clean")
        cls.service.wait_done(ident)
        assert not cls.messages(ident), cls.messages(ident)
        cls.clean = cls.outputs(ident)

    @classmethod
    def plant(cls, kind, window):
        with open(os.path.join(cls.plants, kind), "w", encoding="ascii") as f:
            f.write(str(window))

    @classmethod
    def spec(cls, retries):
        return tiny("drift", seed=5, side=4, steps=400, windows=WINDOWS, retries=retries)

    @classmethod
    def submit(cls, key, retries=2):
        spec, files = cls.spec(retries)
        spec = spec.replace("run: {", "run: {graph-check-every: 100 steps, ")
        status, answer = cls.service.call("POST", "/v1/ensembles", {"id": key, "spec": spec, "spec_name": "s.yaml", "files": files})
        assert status == 201, answer
        return answer["id"]

    @classmethod
    def outputs(cls, ident):
        return {name: data for name, data in cls.service.outputs(ident).items() if name != "results"}

    @classmethod
    def events(cls, ident):
        return [json.loads(line) for line in cls.service.raw("GET", f"/v1/ensembles/{ident}/events")[1].splitlines()]

    @classmethod
    def messages(cls, ident):
        """[(window, state, message)] of what went wrong."""
        return [(e["window"], e["state"], e["message"]) for e in cls.events(ident)
                if e["kind"] == "replica" and e["message"]]

    def assert_told(self, ident, window, state, says):
        """Once, by the API, by the client and in the database, of that window, word for word the same."""
        told = [m for m in self.messages(ident) if m[0] == window]
        self.assertEqual(len(told), 1, told)
        self.assertEqual(told[0][1], state)
        message = told[0][2]
        self.assertRegex(message, f"^{says}$")
        self.assertRegex(self.service.shoal(SHOAL, "events", ident), rf"(?m)^ *\d+  \S+ +{window}  {state} +{re.escape(message)}$")
        shown = json.loads(self.service.shoal(SHOAL, "events", ident, "--json"))["events"]
        self.assertIn((window, state, message), [(e["window"], e.get("state"), e["message"]) for e in shown])
        path, = glob.glob(os.path.join(os.path.dirname(self.plants), "state", "shoald.db"))
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            self.assertTrue(db.execute("SELECT 1 FROM event WHERE message = ?", (message,)).fetchall())


class OnTheProcessor(Planted):
    DEVICE = f"cpu:{len(WINDOWS)}"

    def test_each_kind(self):
        for kind, (window, _) in PLANTS.items():
            self.plant(kind, window)
        ident = self.submit("each-kind")
        self.service.wait_done(ident)
        self.assertEqual(os.listdir(self.plants), [])
        for window, says in PLANTS.values():
            self.assert_told(ident, window, "queued", says)
        self.assertEqual({window for window, _, _ in self.messages(ident)}, {window for window, _ in PLANTS.values()})
        self.assertEqual(self.outputs(ident), self.clean)

    def test_for_good(self):
        """Without a retry it stays failed, and says why; the others end."""
        self.plant("argument", 1)
        ident = self.submit("for-good", retries=0)
        deadline = time.monotonic() + 60
        while (e := self.service.get(ident)) and {r["state"] for r in e["replicas"]} - {"done", "failed"}:
            self.assertLess(time.monotonic(), deadline, e)
            time.sleep(0.02)
        self.assertEqual([r["window"] for r in e["replicas"] if r["state"] == "failed"], [1])
        says = PLANTS["argument"][1]
        self.assert_told(ident, 1, "failed", says)
        self.assertRegex(e["replicas"][1]["reason"], f"^{says}$")
        self.assertRegex(self.service.shoal(SHOAL, "status", ident), says)

    def test_lost(self):
        """The worker says why and ends; who was there goes on in the next one, no attempt the poorer."""
        self.plant("lost", 1)
        ident = self.submit("lost", retries=0)
        self.service.wait_done(ident)
        told = self.messages(ident)
        self.assertEqual(sorted(window for window, _, _ in told), list(range(len(WINDOWS))), told)
        for _, state, message in told:
            self.assertEqual(state, "queued")
            self.assertRegex(message, r"^worker exited with status 1: planted loss of the device in \w+ \(call 0\)$")
        with open(self.service.log, encoding="utf-8") as f:
            self.assertNotIn("failed ensemble=" + ident, f.read())
        self.assertEqual(self.outputs(ident), self.clean)


class OnAGpu(Planted):
    """Emulated; so small a system that all windows' timesteps go in one launch."""

    DEVICE = "cuda:0"

    @classmethod
    def spec(cls, retries):
        spec, files = tiny("drift", seed=5, side=2, steps=40, windows=WINDOWS[:3], retries=retries, checkpoint="20 steps")
        for old, new in ((r"coulomb: .*", "coulomb: {method: reaction-field}"), (r"barostat: .*\n", ""), ("npt", "nvt"),
                         ("(steps|time): [12]00", r"\1: 20")):
            spec, times = re.subn(old, new, spec)
            assert times, old
        files["tiny.gro"] = re.sub(r"\S+ \S+ \S+\n$", "1.5 1.5 1.5\n", files["tiny.gro"])
        return spec, files

    def test_row(self):
        self.plant("row", 1)
        ident = self.submit("row")
        self.service.wait_done(ident)
        self.assert_told(ident, 1, "queued", rf"what ran is not what was launched: member of a gang \(tiny\); {TWICE}")
        self.assertEqual({window for window, _, _ in self.messages(ident)}, {1})
        self.assertEqual(self.outputs(ident), self.clean)

    def test_launch(self):
        """Whoever was in it is told, until it is over."""
        self.plant("launch", 1)
        ident = self.submit("launch", retries=100)
        deadline = time.monotonic() + 60
        while 1 not in {window for window, _, _ in self.messages(ident)}:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        os.unlink(os.path.join(self.plants, "launch"))
        self.service.wait_done(ident)
        for _, state, message in self.messages(ident):
            self.assertEqual(state, "queued")
            self.assertRegex(message, r"^launch of a gang: what the device ran is not the tape: step 0 of 1: launch 0 \(tiny\); "
                                      r"shared bytes was \d+, is \d+$")
        self.assertEqual(self.outputs(ident), self.clean)


if __name__ == "__main__":
    unittest.main(argv=["drift.py"])
