#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign with `ladder`: pilots place the windows of every leg where they belong, the same for all repeats.
Killed at any moment and said again it ends with the same windows. A ladder that one repeat has and another lacks is
filled up. What cannot work is refused.

Usage: campaign_ladder.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import random
import signal
import subprocess
import time
import unittest

import pair
from served import SHOAL, Served

# Its force constant grows to a hundredfold: windows belong at equal ratios of it, so half of them below MIDDLE.
STIFF = ((0.2, 100.0), (0.2, 10000.0))
MIDDLE = (1000 - 100) / (10000 - 100)
CALM = ((0.2, 500.0), (0.21, 520.0))
FAR = ((0.2, 3000.0), (0.35, 3000.0))  # five standard deviations apart
EVEN = (0, 0.25, 0.5, 0.75, 1)
CAMPAIGN = """name: {name}
systems: {{list: [{systems}]}}
legs: [{{name: pair, spec: pair.yaml}}]
repeats: 2
ladder: {ladder}
"""


class Ladder(Served):
    OPTIONS = ("--live-seconds", "0")

    def write(self, name, ladder="{pilot: 20 ps}", bonds=None, more=""):
        bonds = bonds or {"stiff": STIFF, "calm": CALM}
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        systems = ", ".join(f"{{name: {s}}}" for s in bonds)
        files = {"pair.yaml": pair.spec(EVEN, 400, 20000, 20, "200 steps", "$(system).top") + more,
                 "pair.gro": pair.COORDINATES,
                 "campaign.yaml": CAMPAIGN.format(name=name, systems=systems, ladder=ladder),
                 **{f"{s}.top": pair.topology(bond) for s, bond in bonds.items()}}
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return os.path.join(folder, "campaign.yaml")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def results(self, key):
        return json.loads(self.shoal("results", key, "--json").stdout)

    def ladder(self, key):
        return [w["lambda"]["bonded"] for w in self.results(key)["windows"]]

    def listed(self, label):
        return json.loads(self.shoal("list", "--label", label, "--json").stdout)["ensembles"]

    def assert_placed(self, name):
        """Both repeats have the windows of a pilot, which are where they belong; the pilot's key is a label."""
        for system, bond in (("stiff", STIFF), ("calm", CALM)):
            found = [self.results(f"{name}.{system}.pair.{k}") for k in (1, 2)]
            windows = [[w["lambda"]["bonded"] for w in one["windows"]] for one in found]
            self.assertEqual(windows[0], windows[1])
            pilots = {one["ensemble"]["labels"]["ladder"] for one in found}
            self.assertEqual(len(pilots), 1)
            self.assertEqual(self.ladder(pilots.pop()), windows[0])
            for one in found:
                overlaps = [n["overlap"] for n in one["overlap"]["neighbours"]]
                self.assertGreater(min(overlaps), 0.1)
                self.assertLess(max(overlaps), 2 * min(overlaps))
                value, error = one["estimate"]["magnitude"], one["uncertainty"]["magnitude"]
                self.assertLess(abs(value - pair.exact(bond)), 4 * error)
        stiff = self.ladder(f"{name}.stiff.pair.1")
        self.assertEqual((stiff[0], stiff[-1]), (0, 1))
        self.assertLess(abs(sum(x < MIDDLE for x in stiff) - sum(x > MIDDLE for x in stiff)), 3, stiff)
        self.assertEqual(self.ladder(f"{name}.calm.pair.1"), [0, 1])

    def test_whole(self):
        path = self.write("whole")
        first = self.shoal("campaign", "plan", path)
        self.assertIn("2 legs wait for a pilot that places its windows", first.stderr)
        done = self.shoal("campaign", "run", path)
        self.assertIn("pair/calm: bonded: [0, 1]; neighbours overlap by 0.", done.stderr)
        self.assert_placed("whole")
        pilot = self.results("whole.stiff.pair.1")["ensemble"]["labels"]["ladder"]
        self.assertIn(f"placed these windows by its pilot {pilot}.", self.shoal("results", "whole.stiff.pair.1").stdout)
        page = os.path.join(self.folder, "page.html")
        self.shoal("report", "whole.stiff.pair.1", "--output", page)
        with open(page, encoding="utf-8") as f:
            self.assertIn(pilot, f.read())
        n = len(self.listed("pilot=whole"))
        self.assertIn("4 were there before", self.shoal("campaign", "run", path).stderr)
        self.assertEqual((len(self.listed("pilot=whole")), len(self.listed("campaign=whole"))), (n, 4))
        self.assertEqual(json.loads(self.shoal("campaign", "plan", path, "--json").stdout)["count"], 4)

    def test_by_submit(self):
        """Step by step, without `run`."""
        path = self.write("steps")
        for _ in range(6):
            said = self.shoal("campaign", "submit", path).stderr
            if "for a pilot" not in said:
                break
            self.shoal("wait", "--label", "pilot=steps")
        self.shoal("wait", "--label", "campaign=steps")
        self.assert_placed("steps")

    def test_killed(self):
        """The command, the service or both, at random moments: the windows are those of an undisturbed run."""
        path, rng, kills = self.write("killed"), random.Random(5), 0
        for turn in range(12):
            with subprocess.Popen([SHOAL, "campaign", "run", path], env=self.environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as run:
                time.sleep(0.1 + rng.random() * 0.4)
                kills += run.poll() is None
                run.kill()
            if turn % 3 == 2:
                self.stop(signal.SIGKILL)
                self.start()
        self.assertGreater(kills, 3)
        self.shoal("campaign", "run", path)
        self.assert_placed("killed")
        self.shoal("campaign", "run", self.write("calm"))
        for system in ("stiff", "calm"):
            self.assertEqual(self.ladder(f"killed.{system}.pair.1"), self.ladder(f"calm.{system}.pair.1"))

    def test_grows(self):
        """A pilot of five steps sees two atoms that have not moved yet, and no gap: the repeats do, and get a window."""
        path = self.write("short", "{pilot: 0.02 ps}", {"far": FAR})
        said = self.shoal("campaign", "run", path).stderr
        self.assertIn("pair/far: bonded: [0, 1];", said)
        found = [self.results(f"short.far.pair.{k}") for k in (1, 2)]
        windows = [[w["lambda"]["bonded"] for w in one["windows"]] for one in found]
        self.assertEqual(windows[0], windows[1])
        self.assertGreater(len(windows[0]), 2)
        for k, one in enumerate(found, 1):
            self.assertIn(f"short.far.pair.{k}: gets bonded: {windows[0][1]:.10g}, which closes a gap", said)
            self.assertGreaterEqual(one["overlap"]["minimum"], 0.03)
            value, error = one["estimate"]["magnitude"], one["uncertainty"]["magnitude"]
            self.assertLess(abs(value - pair.exact(FAR)), 4 * error)
        self.assertNotIn("gets", self.shoal("campaign", "run", path).stderr)

    def test_frames(self):
        """Gaps of repeats can be filled where they store frames: said once a spec, before anything runs, whatever the pilot stores."""
        path = self.write("frames")
        self.assertNotIn("stores no frames", self.shoal("campaign", "plan", path).stderr)
        spec = os.path.join(os.path.dirname(path), "pair.yaml")
        with open(spec, encoding="utf-8") as f:
            text = f.read()
        with open(spec, "w", encoding="utf-8") as f:
            f.write(text.replace(", frames-every: 200 steps", ""))
        line = text[:text.index("- ", text.index("protocol:"))].count("\n") + 1  # of the first stage
        said = [one for one in self.shoal("campaign", "plan", path).stderr.splitlines() if "stores no frames" in one]
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], rf"^shoal: warning: .*pair\.yaml:{line}: protocol: production stores no frames, so a gap .* expected frames-every in produce")
        self.assertEqual(self.shoal("campaign", "submit", path).stderr.count("stores no frames"), 1)
        with open(path, encoding="utf-8") as f:
            campaign = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(campaign.replace("ladder: {pilot: 20 ps}\n", ""))
        self.assertNotIn("stores no frames", self.shoal("campaign", "plan", path).stderr)
        self.shoal("cancel", "--label", "pilot=frames")
        path = self.write("frameless", bonds={"calm": CALM})
        spec = os.path.join(os.path.dirname(path), "pair.yaml")
        with open(spec, "w", encoding="utf-8") as f:
            f.write(text.replace(", frames-every: 200 steps", "").replace("20000 steps", "4000 steps"))
        self.assertEqual(self.shoal("campaign", "run", path).stderr.count("stores no frames"), 1)

    def test_window_more(self):
        """That one repeat has and the other lacks."""
        path = self.write("more", bonds={"stiff": STIFF})
        self.shoal("campaign", "run", path)
        before = self.ladder("more.stiff.pair.2")
        self.shoal("extend", "more.stiff.pair.1", "--add-window", "bonded: 0.5")
        said = self.shoal("campaign", "run", path).stderr
        self.assertIn("more.stiff.pair.2: gets bonded: 0.5", said)
        for k in (1, 2):
            self.assertEqual(self.ladder(f"more.stiff.pair.{k}"), sorted([*before, 0.5]))
        self.assertNotIn("gets", self.shoal("campaign", "run", path).stderr)

    def test_of_a_spec(self):
        """`shoal ladder SPEC.yaml`: as a campaign would have it; a spec that was edited has pilots of its own."""
        path = self.write("alone", bonds={"stiff": STIFF})
        self.shoal("campaign", "run", path)
        spec = os.path.join(os.path.dirname(path), "alone.yaml")
        with open(os.path.join(os.path.dirname(path), "pair.yaml"), encoding="utf-8") as f:
            text = f.read().replace("$(system)", "stiff")
        for seed in ("seed: 9", "seed: 8"):
            with open(spec, "w", encoding="utf-8") as f:
                f.write(text.replace("seed: 9", seed))
            said = self.shoal("ladder", spec).stdout
            placed = json.loads(self.shoal("ladder", spec, "--json").stdout)
            ladder = placed["windows"]["bonded"]
            self.assertIn(f"  bonded: [{', '.join(f'{x:g}' for x in ladder)}]", said)
            self.assertEqual((ladder[0], ladder[-1]), (0, 1))
            self.assertEqual(ladder, self.ladder(placed["from"]))
            if seed == "seed: 9":
                first = placed
                self.assertEqual(ladder, self.ladder("alone.stiff.pair.1"))
        self.assertNotEqual(first["from"].split(".")[0], placed["from"].split(".")[0])
        self.assertIn("no such file", self.shoal("ladder", spec + ".yaml", code=66).stderr.lower())

    def test_refused(self):
        path = self.write("few", "{pilot: 20 ps, windows: 2}", {"stiff": STIFF})
        said = self.shoal("campaign", "run", path, code=1).stderr
        self.assertRegex(said, r"few.stiff.pair.pilot1: an overlap of 0.1 of all neighbours takes \d+ windows; expec")
        self.assertEqual(self.listed("campaign=few"), [])
        said = self.shoal("campaign", "plan", self.write("word", "yes"), code=65).stderr
        self.assertIn("campaign.yaml:5: ladder: yes", said)
        starts = "spec: {system: {window-coordinates: [a.gro, b.gro, c.gro, d.gro, e.gro]}}\n"
        said = self.shoal("campaign", "plan", self.write("starts", "auto\n" + starts), code=65).stderr
        self.assertIn("system.window-coordinates: the campaign says ladder, so windows will be others", said)
        said = self.shoal("campaign", "plan", self.write("twice", "auto\nspec: {alchemy: {ladder: auto}}\n"), code=65).stderr
        self.assertIn("alchemy.ladder: the campaign says ladder, too", said)
        single = "spec: {alchemy: {windows: {bonded: [0]}}}\n"
        said = self.shoal("campaign", "plan", self.write("single", "auto\n" + single), code=65).stderr
        self.assertIn("alchemy.windows: the campaign says ladder; expected a ladder of two windows or more", said)
        path = self.write("cancelled", "{pilot: 100 ns}", {"far": FAR})
        self.shoal("campaign", "submit", path)
        self.assertIn("1 pilot is under way", self.shoal("campaign", "status", path).stderr)
        self.shoal("campaign", "cancel", path)
        said = self.shoal("campaign", "run", path, code=3).stderr
        self.assertIn("cancelled.far.pair.pilot1 is cancelled; `shoal retry`", said)

    def test_one_leg_alone(self):
        """A leg that gets no windows keeps no other from its repeats; what it lacks is said, and again at the end."""
        path = self.write("one", "{pilot: 20 ps, windows: 2}")
        why = r"one\.stiff\.pair\.pilot1: an overlap of 0.1 of all neighbours takes \d+ windows; expected a larger ladder.windows"
        said = self.shoal("campaign", "run", path, code=1).stderr
        self.assertRegex(said, f"(?m)^shoal: warning: {why}")
        self.assertRegex(said, f"(?m)^shoal: {why}")
        self.assertEqual({e["key"]: e["state"] for e in self.listed("campaign=one")},
                         {f"one.calm.pair.{k}": "done" for k in (1, 2)})
        for words in (("plan",), ("submit",), ("run",)):
            self.assertRegex(self.shoal("campaign", *words, path, code=1).stderr, why)
        self.assertEqual(len(self.listed("pilot=one")), 3)

    def test_what_a_pilot_has(self):
        """Neither observables, repeats nor an end of its own; the repeats have them."""
        more = "stop-when: {error: 5 kcal/mol, verdict: any}\nrepeats: 2\n"
        path = self.write("parts", "auto", {"calm": CALM}, more)
        planned = json.loads(self.shoal("campaign", "plan", path, "--json").stdout)["ensembles"]
        self.assertEqual([(e["key"], e["replicas"]) for e in planned], [("parts.calm.pair.pilot1", 5)])
        self.assertNotIn("stop-when", planned[0]["spec"])
        self.assertIn("time: 5000 steps\n      sample-every: 25 steps", planned[0]["spec"])
        self.shoal("campaign", "run", path)
        status = json.loads(self.shoal("status", "parts.calm.pair.1", "--json").stdout)
        self.assertEqual(status["ensembles"][0]["repeats"], 2)


if __name__ == "__main__":
    unittest.main(argv=["campaign_ladder.py"])
