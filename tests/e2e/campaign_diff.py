#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign diff: two gathered campaigns, from files and from a service; every number is computed here a second time.

Usage: campaign_diff.py SHOAL
"""
import csv
import json
import math
import os
import unittest

from gather import EDGES, Gathering, estimate

KCAL = 4.184


def energy(value, error):
    return value and {"kJ/mol": {"value": value * KCAL, "error": error * KCAL}, "kcal/mol": {"value": value, "error": error}}


def leg(name, value, error, verdict="converged"):
    return {"leg": name, "sign": 1, "free_energy": energy(value, error), "verdict": verdict, "so_far": False}


def edge(i, j, value, error, verdict="converged", so_far=False, legs=()):
    return {"ligand_i": i, "ligand_j": j, "free_energy": energy(value, error), "verdict": verdict, "so_far": so_far, "legs": list(legs)}


def system(name, value, error):
    return {"system": name, "free_energy": energy(value, error), "verdict": "converged", "so_far": False, "legs": []}


FIRST = {"name": "first", "so_far": False, "systems": [system("host", -3.0, 0.2)],
         "edges": [edge("a", "b", 1.0, 0.3, legs=[leg("complex", 5.0, 0.2), leg("old", 4.0, 0.1)]),
                   edge("b", "c", 2.0, 0.4, "unconverged"), edge("c", "d, or e", -1.0, 0.1), edge("gone", "a", 0.5, 0.1)]}
SECOND = {"name": "second", "so_far": False, "systems": [system("host", -3.5, 0.1), system("guest", 1.0, 0.1)],
          "edges": [edge("a", "b", 1.8, 0.4, legs=[leg("complex", 5.5, 0.1, "unconverged"), leg("new", 3.7, 0.1)]),
                    edge("c", "b", -2.9, 0.3), edge("c", "d, or e", None, None, "pending", True), edge("new", "a", 0.7, 0.2)]}


class Diff(Gathering):
    def put(self, name, what):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(what, f) if isinstance(what, dict) else f.write(what)
        return path

    def diff(self, *words, code=0):
        return self.run_shoal("campaign", "diff", *words, code=code)

    def setUp(self):
        super().setUp()
        self.files = self.put("a.json", FIRST), self.put("b.json", SECOND)

    def found(self, rows, kind, *names, leg=None):
        got = [r for r in rows if r["kind"] == kind and [r.get(k) for k in ("ligand_i", "ligand_j", "system") if r.get(k)] == list(names)
               and r.get("leg") == leg]
        self.assertEqual(len(got), 1, (kind, names, leg, rows))
        return got[0]

    def differs(self, row, value, error):
        self.near(row["difference"], value, error)
        self.assertAlmostEqual(row["in_errors"], abs(value) / error, delta=1e-9)

    def test_json(self):
        got = json.loads(self.diff(*self.files, "--json"))
        rows = got["rows"]
        self.assertEqual((got["A"], got["B"], len(rows)), ("first", "second", 10))
        same = self.found(rows, "edge", "a", "b")
        self.differs(same, 0.8, math.hypot(0.3, 0.4))
        self.assertFalse(same["verdict_changed"])
        self.near(same["A"]["free_energy"], 1.0, 0.3)
        turned = self.found(rows, "edge", "b", "c")
        self.differs(turned, 0.9, 0.5)
        self.assertEqual((turned["verdict_changed"], turned["A"]["verdict"], turned["B"]["verdict"]), (True, "unconverged", "converged"))
        pending = self.found(rows, "edge", "c", "d, or e")
        self.assertEqual((pending["difference"], pending["in_errors"], pending["B"]["free_energy"], pending["B"]["so_far"]),
                         (None, None, None, True))
        for name, here, there in (("gone", "A", "B"), ("new", "B", "A")):
            row = self.found(rows, "edge", name, "a")
            self.assertEqual((row[there], row["difference"], row["verdict_changed"]), (None, None, False))
            self.assertIsNotNone(row[here])
        both = self.found(rows, "leg", "a", "b", leg="complex")
        self.differs(both, 0.5, math.hypot(0.2, 0.1))
        self.assertTrue(both["verdict_changed"])
        self.assertIsNone(self.found(rows, "leg", "a", "b", leg="old")["B"])
        self.assertIsNone(self.found(rows, "leg", "a", "b", leg="new")["A"])
        self.differs(self.found(rows, "system", "host"), -0.5, math.hypot(0.2, 0.1))
        self.assertIsNone(self.found(rows, "system", "guest")["A"])

    def test_text(self):
        text = self.diff(*self.files)
        for line in (f"A: first, {self.files[0]}", f"B: second, {self.files[1]}",
                     "3 edges in both, 1 only in A, 1 only in B; 2 verdicts changed; root mean square of 2 differences 0.85 kcal/mol, "
                     "0 of them more than 2 errors (by chance 0.1)",
                     "1 system in both, 0 only in A, 1 only in B; 0 verdicts changed; root mean square of 1 difference 0.50 kcal/mol, "
                     "1 of them more than 2 errors (by chance 0.0)"):
            self.assertIn(line + "\n", text)
        self.assertRegex(text, r"(?m)^b > c +sum +2.00 \+- 0.40 +2.90 \+- 0.30 +0.90 \+- 0.50 +1.8 +converged, was unconverged *$")
        self.assertRegex(text, r"(?m)^gone > a +sum +0.50 \+- 0.10 +- +- +- +converged +only in A$")
        self.assertRegex(text, r"(?m)^c > d, or e +sum .* pending, was converged +B so far$")
        plain = self.diff(*self.files, "--plain").splitlines()
        self.assertEqual((len(plain), plain[3].split("\t")[:2]), (10, ["a > b", "sum"]))

    def test_files(self):
        for name in ("out/d.csv", "out/d.json"):
            self.diff(*self.files, "--output", os.path.join(self.folder, name))
        with open(os.path.join(self.folder, "out/d.json"), encoding="utf-8") as f:
            rows = json.load(f)["rows"]
        self.assertEqual(rows, json.loads(self.diff(*self.files, "--json"))["rows"])
        with open(os.path.join(self.folder, "out/d.csv"), encoding="utf-8", newline="") as f:
            table = list(csv.DictReader(f))
        self.assertEqual([(t["kind"], t["name"], t["ligand_j"], t["leg"]) for t in table],
                         [(r["kind"], r.get("system") or r["ligand_i"], r.get("ligand_j", ""), r.get("leg", "")) for r in rows])
        for t, r in zip(table, rows):
            self.assertEqual(t["only in"], "" if r["A"] and r["B"] else "A" if r["A"] else "B")
            self.assertEqual(t["A verdict"], (r["A"] or {}).get("verdict", ""))
            if r["difference"]:
                self.assertAlmostEqual(float(t["B - A (kcal/mol)"]), r["difference"]["kcal/mol"]["value"], delta=1e-5)
                self.assertAlmostEqual(float(t["error (kcal/mol)"]), r["difference"]["kcal/mol"]["error"], delta=1e-5)
            else:
                self.assertEqual((t["B - A (kcal/mol)"], t["error (kcal/mol)"], t["in errors"]), ("", "", ""))

    def test_of_a_service(self):
        """A campaign beside what it was: nothing differs; then one ensemble does, and the exit code says that it is not final."""
        self.write(self.LEGS, EDGES, 1)
        self.draw_network(1)
        folder, file = os.path.join(self.folder, "table"), os.path.join(self.folder, "campaign.yaml")
        self.gather("--output", folder)
        before = os.path.join(folder, "gather.json")
        rows = json.loads(self.diff(before, file, "--json"))["rows"]
        self.assertEqual(len(rows), 3 * len(EDGES))
        self.assertTrue(all(abs(r["difference"]["kJ/mol"]["value"]) < 1e-9 and not r["verdict_changed"] for r in rows))
        one = self.results["net.a_b.complex.1"]["estimate"]["magnitude"]
        self.results["net.a_b.complex.1"] = estimate(one + 0.7, 0.2, "unconverged", correction=1.5)
        self.changes["net.a_b.complex.1"] = {"state": "running", "progress": 0.5}
        self.gather(code=75)
        rows = json.loads(self.diff(before, file, "--json", code=75))["rows"]
        changed = [(r["kind"], r.get("leg")) for r in rows if r["verdict_changed"]]
        self.assertEqual(changed, [("leg", "complex"), ("edge", None)])
        row = self.found(rows, "edge", "a", "b")
        self.assertAlmostEqual(row["difference"]["kcal/mol"]["value"], 0.7, delta=1e-9)
        self.assertTrue(row["B"]["so_far"])

    def test_refusals(self):
        spec = self.put("campaign.json", '{"name": "x"}')
        for words, code, said in ((self.files[:1], 2, "expected two campaigns"), ((self.files[0], spec), 65, "it has no tables of a campaign"),
                                  ((self.files[0], self.put("c.json", "no")), 65, r"c\.json:1: .*: expected gather\.json"), ((self.files[0], "/none.json"), 66, "/none.json"),
                                  ((*self.files, "--only", "a"), 2, "not with campaign diff"),
                                  ((*self.files, "--output", "d.txt"), 2, "expected a file that ends in .csv or .json")):
            with self.assertRaisesRegex(AssertionError, said):
                self.diff(*words)
            self.diff(*words, code=code)
        with self.assertRaisesRegex(AssertionError, "campaign plan: too many words"):
            self.run_shoal("campaign", "plan", *self.files)


if __name__ == "__main__":
    unittest.main()
