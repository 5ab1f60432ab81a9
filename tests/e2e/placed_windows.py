#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`alchemy.ladder` in a spec: a pilot of the spec's windows places those of the ensemble. What the pilot sampled is in no result; the
windows, and all bytes that they sample, are the same however often the service is killed. What cannot be placed is said.

Usage: placed_windows.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import pair
from served import SHOAL, Served
from service import Connection

# Its bond becomes longer along the ladder, with one force constant: windows belong at equal distances. Those of the spec have a gap.
FAR = ((0.2, 3000.0), (0.35, 3000.0))
GAP = (0, 0.04, 0.08, 0.12, 0.16, 1)
EXCHANGE = "repeats: 2\nexchange: {every: 200 steps}\n"
SWITCH = "switch: {walkers: 2, length: 400 steps, snapshots-every: 1000 steps, change-every: 4 steps}\n"


class Placed(Served):
    OPTIONS = ("--live-seconds", "0")

    def write(self, name, ladder="ladder: {pilot: 8 ps}", windows=GAP, more="", share=2000, change=str):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        text = pair.spec(windows, 400, share, 20).replace("windows: {", f"{ladder}, windows: {{" if ladder else "windows: {") + more
        for file, content in {**pair.files(FAR), "pair.yaml": change(text)}.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(content)
        return os.path.join(folder, "pair.yaml")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def submit(self, key, **how):
        self.shoal("submit", self.write(key, **how), "--key", key)

    def run_to_end(self, key, **how):
        self.submit(key, **how)
        self.shoal("wait", key)

    def status(self, key):
        return json.loads(self.shoal("status", key, "--json"))["ensembles"][0]

    def results(self, key):
        return json.loads(self.shoal("results", key, "--json"))

    def placed(self, key):
        return self.status(key)["placed"]["bonded"]

    def samples(self, key):
        """What the windows have written, but for the pilot's: file to text without comments."""
        top, found = os.path.join(self.folder, "state", "ensembles", self.status(key)["id"]), {}
        for folder, _, names in os.walk(top):
            for name in {"dhdl.xvg", "work.tsv"} & set(names):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    found[os.path.relpath(os.path.join(folder, name), top)] = [line for line in f if not line.startswith("#")]
        return {name: text for name, text in found.items() if not name.startswith("revision_")}

    def move_away(self, key):
        """To another service, and back."""
        path = os.path.join(self.folder, f"{key}.tar.zst")
        self.shoal("export", key, "--output", path)
        if self.status(key)["state"] == "paused":
            self.shoal("cancel", key)
        self.shoal("rm", key, "--yes")
        self.shoal("import-ensemble", path)

    def assert_even(self, ladder, n, within=0.08):
        self.assertEqual((len(ladder), ladder[0], ladder[-1]), (n, 0, 1))
        for k, x in enumerate(ladder):
            self.assertAlmostEqual(x, k / (n - 1), delta=within)

    def assert_free_energy(self, found):
        value, error = found["estimate"]["magnitude"], found["uncertainty"]["magnitude"]
        self.assertLess(abs(value - pair.exact(FAR)), 4 * error)

    def test_gap(self):
        """Windows with a gap become as many evenly apart; the ensemble is, byte for byte, that of a spec with these windows."""
        self.run_to_end("gap", ladder="ladder: auto")
        found, ladder = self.results("gap"), self.placed("gap")
        self.assert_even(ladder, len(GAP), 0.03)
        self.assertEqual([w["lambda"]["bonded"] for w in found["windows"]], ladder)
        self.assertEqual(found["ensemble"]["placed"], {"bonded": ladder})
        self.assertEqual(found["ensemble"]["revision"], 2)
        self.assertEqual([w["samples"]["read"] for w in found["windows"]], [101] * len(GAP))
        self.assertGreater(found["overlap"]["minimum"], 0.1)
        self.assert_free_energy(found)
        text = " ".join(f"{x:g}" for x in ladder)
        self.assertIn(f"windows placed by a pilot: bonded {text}\n", self.shoal("status", "gap"))
        self.assertRegex(self.shoal("events", "gap"), rf"ladder +revision 2: windows placed .*bonded: \[{text.replace(' ', ', ')}\]")
        self.assertIn("A pilot of the spec's windows placed these", self.shoal("results", "gap"))
        page = os.path.join(self.folder, "page.html")
        self.shoal("report", "gap", "--output", page)
        with open(page, encoding="utf-8") as f:
            self.assertIn("by a pilot of the spec", f.read())
        self.run_to_end("by-hand", ladder="", windows=ladder)
        self.assertEqual(len(self.samples("gap")), len(GAP))
        self.assertEqual(self.samples("gap"), self.samples("by-hand"))
        self.run_to_end("again", ladder=f"ladder: {{placed: {{bonded: {ladder}}}}}")
        self.assertEqual(self.status("again")["revision"], 1)
        self.assertEqual(self.samples("gap"), self.samples("again"))

    def test_killed(self):
        """In the pilot, while windows are placed, or after that: the same windows, the same bytes."""
        rng, before, after = random.Random(3), 0, 0
        self.submit("killed", ladder="ladder: {pilot: 30 ps}")
        while after < 2:
            time.sleep(rng.random() * 0.1)
            pilot = self.status("killed")["pilot"]
            self.stop(signal.SIGKILL)
            self.start()
            before, after = before + pilot, after + (not pilot)
        self.assertGreater(before, 1)
        self.shoal("wait", "killed")
        self.run_to_end("calm", ladder="ladder: {pilot: 30 ps}")
        self.assertEqual(self.placed("killed"), self.placed("calm"))
        self.assertEqual(self.samples("killed"), self.samples("calm"))
        self.assertEqual(self.shoal("events", "killed").count("windows placed"), 1)

    def test_fewer_and_more(self):
        """As many as are asked for, in all repeats, which exchange windows; so they are on another service."""
        for n in (4, 9):
            self.run_to_end(f"to-{n}", ladder=f"ladder: {{windows: {n}, pilot: 4 ps}}", more=EXCHANGE)
            found = self.results(f"to-{n}")
            self.assert_even(self.placed(f"to-{n}"), n)
            self.assertEqual([w["repeat"] for w in found["windows"]], [0] * n + [1] * n)
            self.assertEqual(len(self.samples(f"to-{n}")), 2 * n)
            self.assert_free_energy(found)
            self.assertTrue(found["exchange"])
        self.run_to_end("four", ladder="", windows=self.placed("to-4"), more=EXCHANGE)
        self.assertEqual(self.samples("to-4"), self.samples("four"))
        self.move_away("to-4")
        self.stop(signal.SIGKILL)
        self.start()
        self.assertEqual((self.status("to-4")["windows"], len(self.status("to-4")["replicas"])), (4, 8))
        self.assert_even(self.placed("to-4"), 4)

    def test_window_more(self):
        """A window that is added goes into the ladder that was placed."""
        self.run_to_end("frames", ladder="ladder: {windows: 3, pilot: 4 ps}",
                        change=lambda text: text.replace("sample-every: 20 steps", "sample-every: 20 steps, frames-every: 40 steps"))
        three = self.placed("frames")
        self.shoal("extend", "frames", "--add-window", "bonded: 0.25")
        self.shoal("wait", "frames")
        self.assertEqual(self.placed("frames"), [0, 0.25, *three[1:]])
        self.assertEqual([w["lambda"]["bonded"] for w in self.results("frames")["windows"]], [0, 0.25, *three[1:]])

    def test_switch(self):
        """The pilot has windows, the ensemble walkers, which pass the rows that were placed; as many as a spec with these rows has."""
        self.run_to_end("switch", more=SWITCH)
        ladder = self.placed("switch")
        self.assert_even(ladder, len(GAP))
        self.assertEqual((self.status("switch")["walkers"], self.status("switch")["windows"]), (2, 4))
        self.assertEqual(len(self.results("switch")["switching"]["walkers"]), 4)
        self.run_to_end("rows", ladder="", windows=ladder, more=SWITCH)
        self.assertEqual(self.samples("switch"), self.samples("rows"))
        self.assertTrue(any(name.endswith("work.tsv") for name in self.samples("switch")))
        pilot, walkers = self.shoal("events", "switch").split("windows placed")
        self.assertRegex(pilot, r"(?m)^\d+ +\S+ +5 +done$")
        self.assertNotRegex(pilot, r"(?m)^\d+ +\S+ +[AB] \d")
        self.assertRegex(walkers, r"(?m)^\d+ +\S+ +B 1 +done$")

    def test_pilot_is_in_no_result(self):
        """While it runs there is no number, nor when it is cancelled; paused and resumed it goes on."""
        self.submit("long", ladder="ladder: {pilot: 100 ns}")
        self.assertTrue(self.status("long")["pilot"])
        self.assertIn("these windows are a pilot's", self.shoal("status", "long"))
        for wish in (("extend", "long", "--time", "1 ps"), ("reestimate", "long")):
            self.shoal(*wish, code=3)
        self.shoal("pause", "long")
        self.move_away("long")
        self.assertTrue(self.status("long")["pilot"])
        self.shoal("resume", "long")
        self.shoal("cancel", "long")
        self.shoal("wait", "long", code=1)
        found = json.loads(self.shoal("results", "long", "--json", code=1))
        self.assertIsNone(found["estimate"])
        self.assertIn("of the pilot that places the ladder", json.dumps(found))

    def held(self):
        """How many replicas the user is charged."""
        connection = Connection(self.environment["SHOAL_SOCKET"])
        connection.request("GET", "/v1/usage")
        users = json.loads(connection.getresponse().read())["users"]
        connection.close()
        return users[0]["replicas"]

    def test_limit(self):
        """What a user may have is held against the windows that are to come, also of one from another service."""
        before = self.held()
        self.submit("held", ladder="ladder: {windows: 9, pilot: 100 ns}", windows=(0, 0.5, 1))
        self.assertEqual(self.held(), before + 9)
        self.shoal("pause", "held")
        self.move_away("held")
        self.assertEqual((len(self.status("held")["replicas"]), self.held()), (3, before + 9))
        self.shoal("cancel", "held")
        self.shoal("rm", "held", "--yes")
        self.assertEqual(self.held(), before)

    def test_nothing_to_place(self):
        """Two windows for a path with a corner; a retry looks again, at the same samples."""
        self.submit("few", ladder="ladder: {windows: 2, pilot: 2 ps}", windows=(0, 1, 1),
                    change=lambda text: text.replace("[0, 1, 1]", "[0, 1, 1], restraint: [0, 0, 1]"))
        self.shoal("wait", "few", code=1)
        found = self.status("few")
        self.assertEqual((found["state"], found["pilot"], found["placed"]), ("failed", True, None))
        self.assertIn("no windows can be placed: 2 windows; expected 3 or more", found["reason"])
        self.assertIn("placed no windows", self.shoal("reestimate", "few", code=3))
        self.shoal("retry", "few")
        self.shoal("wait", "few", code=1)
        self.assertEqual(self.status("few")["state"], "failed")

    def test_refused(self):
        for how, why in (({"windows": (0,)}, "alchemy.ladder: a single window"),
                         ({"ladder": "ladder: yes"}, "alchemy.ladder: yes"),
                         ({"more": SWITCH.replace("walkers", "shares: [1, 1, 1, 1, 1], walkers")}, "switch.shares: alchemy.ladder places")):
            self.assertRegex(self.shoal("submit", self.write("refused", **how), code=65), re.escape(why))
        said = self.shoal("validate", self.write("validated", ladder="ladder: {windows: 16}"))
        self.assertIn("16 windows", said)
        self.assertIn("a pilot of the spec's 6 windows, 20 ps of production each, places them first", said)


if __name__ == "__main__":
    unittest.main(argv=["placed_windows.py"])
