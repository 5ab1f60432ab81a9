#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Campaigns with `ladder` and with `budget` in shares: what belongs together is in one share, every ensemble runs once, its results are
those of a run in one share, and what the shares spend is the budget.

Usage: shares_together.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import json
import re
import unittest

import pair
from parts import Parts

BONDS = {"stiff": ((0.2, 100.0), (0.2, 10000.0)), "calm": ((0.2, 500.0), (0.21, 520.0)), "near": ((0.2, 500.0), (0.23, 700.0))}
CAMPAIGN = """name: shared
systems: {list: [{name: stiff}, {name: calm}, {name: near}]}
legs: [{name: pair, spec: pair.yaml}]
repeats: 2
"""
STEP_NS = 4e-6


class Together(Parts):
    def put(self, more, production=2000):
        self.write("pair.yaml", pair.spec((0, 0.25, 0.5, 0.75, 1), 400, production, 20, "200 steps", "$(system).top"))
        self.write("pair.gro", pair.COORDINATES)
        for name, bond in BONDS.items():
            self.write(f"{name}.top", pair.topology(bond))
        self.file = self.write("campaign.yaml", CAMPAIGN + more)

    def plan(self, folder):
        return self.read(f"{folder}/plan.json")

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as f:
            return json.load(f)

    def kept(self, folder):
        """What all shares have at their ends: {key: [share]}."""
        found = {}
        for share in range(self.plan(folder)["shares"]):
            for e in self.read(f"{folder}/share-{share:03d}/status.json")["ensembles"]:
                self.assertEqual(e["state"], "done")
                found.setdefault(e["key"], []).append(share)
        return found

    def windows(self, folder, share, key):
        return self.read(f"{folder}/share-{share:03d}/results/{key}.json")["windows"]

    def run_at_once(self, *shares):
        """Of each (folder, I/N) what it said; to the end."""
        runs = [self.begin(folder, "--share", share) for folder, share in shares]
        said = [run.communicate(timeout=200)[1] for run in runs]
        for run, text in zip(runs, said):
            self.assertEqual(run.returncode, 0, text)
        return said

    def gathered(self, folder):
        found = self.gather("--here", self.at(folder))
        for row in found["ensembles"]:
            del row["id"]
        return found

    def test_ladder(self):
        """One share and three of them place the same windows, which all repeats of a leg have."""
        self.put("ladder: {pilot: 20 ps}\n")
        said = self.run_at_once(("one", "0/1"), ("three", "1/3"))
        self.assertIn("neighbours overlap by", said[1])
        plan = self.plan("three")
        self.assertEqual({one["key"]: one["share"] for one in plan["ensembles"]}, {"pair/stiff": 0, "pair/calm": 1, "pair/near": 2})
        self.assertIn("3 shares: 1 done, 2 new", self.shoal("campaign", "status", self.file, "--here", self.at("three")).stderr)
        planned = json.loads(self.shoal("campaign", "plan", self.file, "--here", self.at("three"), "--json").stdout)["ensembles"]
        self.assertEqual([one["key"] for one in planned],
                         ["shared.stiff.pair.pilot1", "shared.calm.pair.1", "shared.calm.pair.2", "shared.near.pair.pilot1"])
        self.gather("--here", self.at("three"), code=75)
        self.run_at_once(("three", "0/3"), ("three", "2/3"))
        self.assertIn("3 shares: 3 done", self.shoal("campaign", "status", self.file, "--here", self.at("three")).stderr)
        one, three = self.kept("one"), self.kept("three")
        self.assertEqual(set(one), set(three))
        self.assertEqual({key for key in three if "pilot" not in key}, {f"shared.{s}.pair.{k}" for s in BONDS for k in (1, 2)})
        self.assertEqual(three, {key: [list(BONDS).index(key.split(".")[1])] for key in three})
        ladders = {}
        for key, (share,) in three.items():
            if "pilot" not in key:
                ladder = [w["lambda"]["bonded"] for w in self.windows("three", share, key)]
                self.assertEqual(ladders.setdefault(key.split(".")[1], ladder), ladder)
        self.assertEqual(ladders["calm"], [0, 1])
        self.assertGreater(len(ladders["stiff"]), 2)
        self.assertEqual(self.gathered("one"), self.gathered("three"))
        _, said = self.run_part("three", "--share", "0/3", code=0)
        self.assertIn("0 of 2 ensembles submitted, 2 were there before", said)

    def test_ladder_refused(self):
        """More shares than legs; another protocol of the repeats, which no pilot has."""
        self.put("ladder: {pilot: 20 ps}\n")
        with self.begin("d", "--share", "0/4") as run:
            said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 2, said)
        self.assertIn("4 shares of 3 legs of systems and edges, whose repeats have one ladder: expected at most", said)
        self.run_part("d", "--share", "1/3", "--for", "1s", code=75)
        self.put("ladder: {pilot: 20 ps}\n", production=3000)
        with self.begin("d", "--share", "1/3") as run:
            said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 3, said)
        self.assertIn("pair/stiff: its spec, topology or coordinates have changed", said)

    def spent(self, folder):
        """ns of production that were made, by share."""
        made, kept = {}, self.kept(folder)
        self.assertEqual({key: len(shares) for key, shares in kept.items()}, {f"shared.{s}.pair.{k}": 1 for s in BONDS for k in (1, 2)})
        for key, (share,) in kept.items():
            made[share] = made.get(share, 0) + sum(w["sampled"]["magnitude"] for w in self.windows(folder, share, key))
        return made

    def test_budget(self):
        """Each share has the part of the budget that it has of the specs' production, and hands out that by need."""
        first = 2000 * 5 * 6 * STEP_NS
        self.put(f"budget: {{time: {4 * first:.9f} ns, rounds: 2}}\n")
        planned = self.shoal("campaign", "slurm", self.file, "--here", self.at("none"), "--shares", "3", "--dry-run")
        self.assertIn("--array=0-2", planned.stdout)
        all_said = self.run_at_once(("d1", "0/1"), *(("d3", f"{i}/3") for i in range(3)))
        for folder, said, expected in (("d1", all_said[:1], [6]), ("d3", all_said[1:], [2, 2, 2])):
            plan, shares = self.plan(folder), len(expected)
            self.assertAlmostEqual(sum(plan["budgets"]), 4 * first, places=9)
            held = [sum(one["share"] == i for one in plan["ensembles"]) for i in range(shares)]
            self.assertEqual(held, expected)
            made = self.spent(folder)
            for i in range(shares):
                self.assertAlmostEqual(plan["budgets"][i], 4 * first * held[i] / 6, places=9)
                self.assertIn(f"this share's part of the budget is {plan['budgets'][i]:.6g} of {4 * first:.6g} ns", said[i])
                self.assertEqual(re.findall(r"round (\d) of 2", said[i]), ["1", "2"])
                self.assertLessEqual(made[i], plan["budgets"][i] * (1 + 1e-9))
                self.assertGreater(made[i], plan["budgets"][i] * 0.99)
            self.assertEqual({row["state"] for row in self.gathered(folder)["ensembles"]}, {"done"})


if __name__ == "__main__":
    unittest.main(argv=["shares_together.py"])
