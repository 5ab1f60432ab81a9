#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches that change while replicas run (tests/lib/planted.c): each is found out, the event says kernel, field, old and new value, that
replica alone stops and is tried again, and in the end all windows have the bytes of a run without it. A device that is lost ends its
worker, and nobody is to blame.

Usage: drift.py [--device D] SHOAL SHOALD PLANTED_WORKER
Without --device: on the CPU device, and on GPUs that the worker emulates. With it, on that GPU: a worker that emulates none.
"""
import argparse
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

options = argparse.ArgumentParser()
options.add_argument("--device")
options.add_argument("programs", nargs=3, type=os.path.abspath)
OPTIONS = options.parse_args()
SHOAL, SHOALD, WORKER = OPTIONS.programs

TWICE = r"timestep was 0\.002 \(0x[0-9a-f]{16}\), is 0\.00400000\d* \(0x[0-9a-f]{16}\)"
# What is said of what is planted. A graph has a stride of five steps, or one, whichever is made first.
GRAPH = (r"recorder \(warm\): the graph does not hold the tape \(step 0 of [15]\): launch \d+ \(langevin\); "
         r"timestep was 0\.002 \(0x[0-9a-f]{16}\), is 0\.00200000\d* \(0x[0-9a-f]{16}\)")
BEHIND = rf"recorder \(\w+\): what the device ran is not the tape: step 0 of [15]: launch \d+ \(langevin\); {TWICE}"
SEEN = r"recorder \((?:check|live)\)"  # live: a graph of another length was built before the next check
WINDOWS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def plants(after, first, grid, last, edge):
    """{kind: (window, steps before, what is said of it)}; first, last: kernels of a timestep; grid: of the first, as it was and is; edge: of
    the last, as it was."""
    return {"argument": (1, after, rf"{SEEN}: launch \d+ \(langevin\); {TWICE}"),
            "grid": (2, after, rf"{SEEN}: launch 0 \({first}\); grid was {grid[0]}x1x1, is {grid[1]}x1x1"),
            "edge": (3, after, rf"{SEEN}: launch \d+ \({last}\); after was \{{{edge}\}}, is \{{\}}"),
            "graph": (4, 0, GRAPH), "behind": (5, 0, BEHIND)}


class Planted(unittest.TestCase):
    DEVICE, WINDOWS, CHECK = None, WINDOWS, 100

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.plants = os.path.join(folder.name, "plants")
        os.mkdir(cls.plants)
        cls.service = Service(SHOALD, WORKER, folder.name, device=cls.DEVICE)
        cls.service.environment["SHOAL_TEST_PLANTS"] = cls.plants
        cls.addClassCleanup(cls.service.kill)
        cls.service.start()
        ident = cls.submit("clean")
        cls.service.wait_done(ident)
        assert not cls.messages(ident), cls.messages(ident)
        cls.clean = cls.outputs(ident)

    @classmethod
    def plant(cls, kind, window, after=0):
        with open(os.path.join(cls.plants, kind), "w", encoding="ascii") as f:
            f.write(f"{window} {after}")

    @classmethod
    def spec(cls, retries):
        return tiny("drift", seed=5, side=4, steps=400, windows=cls.WINDOWS, retries=retries)

    @classmethod
    def submit(cls, key, retries=2):
        spec, files = cls.spec(retries)
        spec = spec.replace("run: {", f"run: {{graph-check-every: {cls.CHECK} steps, ")
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


class ByGraphs:
    """Each replica's timesteps in graphs of its own."""

    PLANTS = None

    def test_each_kind(self):
        for kind, (window, after, _) in self.PLANTS.items():
            self.plant(kind, window, after)
        ident = self.submit("each-kind")
        self.service.wait_done(ident)
        self.assertEqual(os.listdir(self.plants), [])
        for window, _, says in self.PLANTS.values():
            self.assert_told(ident, window, "queued", says)
        self.assertEqual({window for window, _, _ in self.messages(ident)}, {window for window, _, _ in self.PLANTS.values()})
        self.assertEqual(self.outputs(ident), self.clean)


class OnTheProcessor(ByGraphs, Planted):
    DEVICE = f"cpu:{len(WINDOWS)}"
    AFTER = 250
    PLANTS = plants(AFTER, "clear", (1, 2), "remove_com", r"\d+")

    def test_for_good(self):
        """Without a retry it stays failed, and says why; the others end."""
        window, after, says = self.PLANTS["argument"]
        self.plant("argument", window, after)
        ident = self.submit("for-good", retries=0)
        deadline = time.monotonic() + 60
        while (e := self.service.get(ident)) and {r["state"] for r in e["replicas"]} - {"done", "failed"}:
            self.assertLess(time.monotonic(), deadline, e)
            time.sleep(0.02)
        self.assertEqual([r["window"] for r in e["replicas"] if r["state"] == "failed"], [window])
        self.assert_told(ident, window, "failed", says)
        self.assertRegex(e["replicas"][window]["reason"], f"^{says}$")
        self.assertRegex(self.service.shoal(SHOAL, "status", ident), says)

    def test_lost(self):
        """The worker says why and ends; who was there goes on in the next one, no attempt the poorer."""
        self.plant("lost", 1, self.AFTER)
        ident = self.submit("lost", retries=0)
        self.service.wait_done(ident)
        told = self.messages(ident)
        self.assertEqual(sorted(window for window, _, _ in told), list(range(len(self.WINDOWS))), told)
        for _, state, message in told:
            self.assertEqual(state, "queued")
            self.assertRegex(message, r"^worker exited with status 1: planted loss of the device in \w+ \(call 0\)$")
        with open(self.service.log, encoding="utf-8") as f:
            self.assertNotIn("failed ensemble=" + ident, f.read())
        self.assertEqual(self.outputs(ident), self.clean)


def short(cls, side, steps, retries):
    """Without what takes emulated GPUs long."""
    spec, files = tiny("drift", seed=5, side=side, steps=steps, windows=cls.WINDOWS, retries=retries, checkpoint="20 steps")
    for old, new in ((r"coulomb: .*", "coulomb: {method: reaction-field}"), (r"barostat: .*\n", ""), ("npt", "nvt"),
                     ("(steps|time): [12]00", r"\1: 20")):
        spec, times = re.subn(old, new, spec)
        assert times, old
    return spec, files


class OnAGpu(ByGraphs, Planted):
    DEVICE, WINDOWS, CHECK = OPTIONS.device or "cuda:0", WINDOWS[:6], 20
    PLANTS = plants(50, "list_build", (4, 5), "langevin", "1,2")

    @classmethod
    def spec(cls, retries):
        return short(cls, 4, 60, retries)


class InAGang(Planted):
    """So small a system that all windows' timesteps go in one launch."""

    DEVICE, WINDOWS = OPTIONS.device or "cuda:0", WINDOWS[:3]

    @classmethod
    def spec(cls, retries):
        spec, files = short(cls, 2, 40, retries)
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
    unittest.main(argv=["drift.py", *(["OnAGpu", "InAGang"] if OPTIONS.device else [])])
