#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign gather against a scripted service: every number of its JSON is computed here a second time, from the results that
the service gave; and what it writes for other programs.

Usage: gather.py SHOAL
"""
import csv
import json
import math
import os
import random
import re
import statistics
import subprocess
import unittest
import unittest.mock
import urllib.parse
import xml.etree.ElementTree

import browser
from client import SHOAL, Answered, ensemble

KCAL = 4.184
HTML = "{http://www.w3.org/1999/xhtml}"
SYSTEMS = {"a": -5.0, "b": -6.5, "c": -4.2, "d": None, "e": -3.0, "f": -2.1, "lone": -1.0}  # experiment, kcal/mol
TRUE = {"a": 0.0, "b": -1.2, "c": 1.0, "d": 0.4, "e": 2.0, "f": 2.9, "lone": 0.0}
EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("d", "c"), ("e", "f")]
CAMPAIGN = """name: net
systems: {{table: systems.tsv}}
{edges}
legs:
{legs}
repeats: {repeats}
"""


def estimate(value, error, verdict="converged", correction=None, finite_size=None):
    """A results.json as far as gather reads it; kcal/mol."""
    quantity = None if value is None else {"magnitude": value, "unit": "kilocalorie_per_mole"}
    results = {"estimate": quantity, "uncertainty": quantity and {**quantity, "magnitude": error}, "reason": None,
               "verdict": {"verdict": verdict, "reasons": []}, "standard_state": None}
    if correction is not None:
        results["standard_state"] = {"correction": {"kJ/mol": {"value": correction * KCAL, "error": 0}}}
    if finite_size is not None:
        results["finite_size"] = {"correction": {"kJ/mol": {"value": finite_size * KCAL, "error": 0}}}
    return results


def of_mean(x, errors):
    """The error of the mean of one to three repeats, by DerSimonian and Laird. Student's t of one degree of freedom is Cauchy's, and of
    two degrees the chance within t is t / sqrt(2 + t^2)."""
    n, own, within = len(x), statistics.mean(e * e for e in errors), math.erf(math.sqrt(0.5))
    t = {1: 0, 2: math.tan(math.pi / 2 * within), 3: within * math.sqrt(2 / (1 - within**2))}[n]
    return math.sqrt((own + t * t * max(0, (statistics.variance(x) if n > 1 else 0) - own)) / n)


def solve(matrix, vector):
    """Gaussian elimination with pivots."""
    rows = [row[:] + [x] for row, x in zip(matrix, vector)]
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                f = rows[i][k] / rows[k][k]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[k])]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def most_likely(nodes, edges):
    """Weighted least squares with the mean held at 0 by a multiplier, and the covariance of what it makes of errors of the edges."""
    n = len(nodes)
    bordered = [[0.0] * (n + 1) for _ in range(n + 1)]
    for k in range(n):
        bordered[k][n] = bordered[n][k] = 1.0

    def right(weights):
        z = [0.0] * (n + 1)
        for (i, j), x in weights:
            z[nodes.index(j)] += x
            z[nodes.index(i)] -= x
        return z

    for (i, j), (_, error) in edges.items():
        p, q, w = nodes.index(i), nodes.index(j), error**-2
        bordered[p][p] += w
        bordered[q][q] += w
        bordered[p][q] -= w
        bordered[q][p] -= w
    values = solve(bordered, right([(e, x / s**2) for e, (x, s) in edges.items()]))[:n]
    slopes = {e: solve(bordered, right([(e, edges[e][1]**-2)]))[:n] for e in edges}
    covariance = [[sum(slopes[e][p] * slopes[e][q] * edges[e][1]**2 for e in edges) for q in range(n)] for p in range(n)]
    return values, covariance


def tau(*parts):
    concordant = ties_a = ties_b = 0
    for pairs in parts:
        for k, (a, b) in enumerate(pairs):
            for x, y in pairs[:k]:
                concordant += ((a > x) - (a < x)) * ((b > y) - (b < y))
                ties_a += a != x
                ties_b += b != y
    return concordant / math.sqrt(ties_a * ties_b)


class Gathering(Answered):
    def setUp(self):
        super().setUp()
        self.results, self.changes = {}, {}  # by key: what the service says of an ensemble

    def write(self, legs, edges, repeats):
        with open(os.path.join(self.folder, "systems.tsv"), "w", encoding="utf-8") as f:
            f.write("name\texperiment (kcal/mol)\terror (kcal/mol)\n")
            for name, value in SYSTEMS.items():
                f.write(f"{name}\t{'' if value is None else value}\t{'' if value is None else 0.1}\n")
        text = CAMPAIGN.format(edges=f"edges: {{list: {[list(e) for e in edges]}}}".replace("'", "") if edges else "", legs=legs, repeats=repeats)
        with open(os.path.join(self.folder, "campaign.yaml"), "w", encoding="utf-8") as f:
            f.write(text)

    def gather(self, *words, code=0):
        listed = []
        for number, (key, results) in enumerate(self.results.items()):
            ident = f"id{number:06}"
            state = "running" if results is None else "done"
            listed.append(ensemble(**{"id": ident, "key": key, "state": state, "owner": os.geteuid(), "labels": {"campaign": "net"},
                                      **self.changes.get(key, {})}))
            live = "?live=1" if listed[-1]["state"] == "running" else ""
            self.service.answers[f"GET /v1/ensembles/{ident}/results{live}"] = (200, results)
        path = "/v1/ensembles?label=" + urllib.parse.quote("campaign=net", safe="")
        self.service.answers[f"GET {path}"] = (200, {"ensembles": listed, "next": None})
        return self.run_shoal("campaign", "gather", os.path.join(self.folder, "campaign.yaml"), *words, code=code)

    def run_shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], capture_output=True, text=True, env={**os.environ, "SHOAL_SOCKET": self.service.server_address},
                              check=False, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def near(self, energy, value, error):
        self.assertAlmostEqual(energy["kcal/mol"]["value"], value, delta=1e-9)
        self.assertAlmostEqual(energy["kJ/mol"]["value"], value * KCAL, delta=1e-8)
        self.assertAlmostEqual(energy["kcal/mol"]["error"], error, delta=1e-9)

    def draw_network(self, repeats):
        """Results of both legs of every edge. Returns the edges' sums and errors as they should be."""
        rng = random.Random(repeats)
        sums = {}
        for i, j in EDGES:
            total, squares = 0.0, 0.0
            for leg, sign, offset in (("complex", 1, 10.0), ("solvent", -1, 10.0 - TRUE[j] + TRUE[i])):
                correction = 1.5 if leg == "complex" and i == "a" else None
                x = [offset + rng.gauss(0, 0.3) - (correction or 0) for _ in range(repeats)]
                errors = [rng.uniform(0.2, 0.4) for _ in range(repeats)]
                for r in range(repeats):
                    self.results[f"net.{i}_{j}.{leg}.{r + 1}"] = estimate(x[r], errors[r], correction=correction)
                total += sign * (statistics.mean(x) + (correction or 0))
                squares += of_mean(x, errors)**2
            sums[i, j] = (total, math.sqrt(squares))
        return sums

    def deviation(self, i, j, *legs):
        """The standard deviation of the repeats of an edge's legs."""
        drawn = [[r["estimate"]["magnitude"] for k, r in self.results.items() if k.startswith(f"net.{i}_{j}.{leg}.") and r["estimate"]]
                 for leg in legs or ("complex", "solvent")]
        return math.sqrt(sum(statistics.variance(x) for x in drawn))

    LEGS = "  - {name: complex, of: edges, spec: x.yaml}\n  - {name: solvent, of: edges, spec: x.yaml, sign: -1}"


class Gather(Gathering):
    def check_network(self, repeats):
        self.write(self.LEGS, EDGES, repeats)
        sums = self.draw_network(repeats)
        got = json.loads(self.gather("--json"))
        self.assertEqual(len(got["ensembles"]), 12 * repeats)
        for edge in got["edges"]:
            self.near(edge["free_energy"], *sums[edge["ligand_i"], edge["ligand_j"]])
            self.assertEqual((edge["verdict"], [leg["repeats"] for leg in edge["legs"]]), ("converged", [repeats] * 2))
        loops = {tuple(sorted(loop["systems"])): loop["closure"] for loop in got["loops"]}
        self.assertEqual(sorted(loops), [("a", "b", "c"), ("a", "c", "d")])
        self.assertAlmostEqual(abs(loops["a", "b", "c"]["kcal/mol"]["value"]), abs(sum(sums[e][0] for e in EDGES[:3])), delta=1e-9)
        self.assertAlmostEqual(loops["a", "b", "c"]["kcal/mol"]["error"], math.sqrt(sum(sums[e][1]**2 for e in EDGES[:3])), delta=1e-9)
        names = list(SYSTEMS)
        shifted = {}
        for part in (["a", "b", "c", "d"], ["e", "f"]):
            values, covariance = most_likely(part, {e: s for e, s in sums.items() if e[0] in part})
            measured = [k for k, name in enumerate(part) if SYSTEMS[name] is not None]
            shift = statistics.mean(SYSTEMS[part[k]] - values[k] for k in measured)
            for k, name in enumerate(part):
                value = got["values"][names.index(name)]
                self.near(value["free_energy"], values[k], math.sqrt(covariance[k][k]))
                self.assertAlmostEqual(value["shift"]["kcal/mol"]["value"], shift, delta=1e-9)
                self.assertEqual(value["verdict"], "converged")
                shifted[name] = values[k] + shift
                for q, other in enumerate(part):
                    self.assertAlmostEqual(got["covariance"][names.index(name)][names.index(other)], covariance[k][q] * KCAL**2, delta=1e-9)
        lone = got["values"][names.index("lone")]
        self.assertEqual((lone["free_energy"], lone["part"], lone["anchored"], lone["shift"], lone["verdict"]), (None, None, False, None, None))
        self.assertEqual(got["covariance"][names.index("lone")], [None] * len(names))
        self.assertEqual([row.count(None) for row in got["covariance"]], [7 if name == "lone" else 1 for name in names])
        self.check_comparison(got["experiment"], [[(shifted[n], SYSTEMS[n]) for n in part if SYSTEMS[n] is not None] for part in ("abc", "ef")],
                              [(sums[i, j][0], SYSTEMS[j] - SYSTEMS[i]) for i, j in EDGES if None not in (SYSTEMS[i], SYSTEMS[j])])
        return sums

    def check_comparison(self, got, parts, edges):
        """Values of each part were moved to the mean of its experiments, and tau is of pairs within parts."""
        off = [(a - b) * math.sqrt(len(part) / (len(part) - 1)) for part in parts for a, b in part]
        for name, differences in (("values", off), ("edges", [a - b for a, b in edges])):
            self.assertEqual(got[name]["pairs"], len(differences))
            self.assertAlmostEqual(got[name]["rmse"]["value"], math.sqrt(statistics.mean(d * d for d in differences)), delta=1e-9)
            self.assertAlmostEqual(got[name]["mue"]["value"], statistics.mean(map(abs, differences)), delta=1e-9)
            self.assertEqual((got[name]["rmse"]["low"], got[name]["rmse"]["high"]), (None, None))  # of five and of four
        self.assertAlmostEqual(got["values"]["kendall_tau"]["value"], tau(*parts), delta=1e-9)

    def test_three_repeats(self):
        """Errors fall with the number of repeats, and allow for how little the spread of three says."""
        self.assertAlmostEqual(of_mean([1, 1.01, 0.99], [0.1] * 3), 0.1 / math.sqrt(3), delta=1e-9)
        self.assertAlmostEqual(of_mean([0, 1, 2], [0.01] * 3), 1.321 / math.sqrt(3), delta=0.001)
        self.check_network(3)

    def test_two_repeats(self):
        """Errors are those that the repeats were estimated to have, and more where they differ by more than that."""
        self.assertAlmostEqual(of_mean([1, 1.01], [0.1, 0.1]), 0.1 / math.sqrt(2), delta=1e-9)
        self.assertAlmostEqual(of_mean([1, 21], [0.1, 0.1]), 18.37, delta=0.01)  # their half distance, as often as one standard error
        self.check_network(2)

    def test_absolute(self):
        """Sums of systems; what is missing or failed is said, and no sum is made of it."""
        self.write("  - {name: complex, spec: x.yaml, sign: 1}\n  - {name: solvent, spec: x.yaml, sign: -1}\n  - {name: extra, spec: x.yaml, sign: 0}", [], 1)
        for name in SYSTEMS:
            self.results[f"net.{name}.complex.1"] = estimate(12.0, 0.3, "unconverged" if name == "b" else "converged", correction=-7.5,
                                                              finite_size=0.5)
            self.results[f"net.{name}.solvent.1"] = estimate(None if name == "c" else 4.0, 0.4, "failed" if name == "c" else "converged")
        self.results["net.d.solvent.1"] = None
        del self.results["net.e.complex.1"]
        got = json.loads(self.gather("--json", code=75))
        systems = {s["system"]: s for s in got["systems"]}
        self.near(systems["a"]["free_energy"], 12 - 7 - 4, 0.5)
        self.assertEqual({n: s["verdict"] for n, s in systems.items()},
                         {"a": "converged", "b": "unconverged", "c": "failed", "d": "pending", "e": "pending", "f": "converged", "lone": "converged"})
        self.assertEqual([n for n, s in systems.items() if not s["free_energy"]], ["c", "d", "e"])
        self.assertEqual((got["loops"], got["values"], got["covariance"], got["edges"]), ([], [], [], []))
        self.assertEqual(got["experiment"]["values"]["pairs"], 4)
        self.assertIsNone(got["experiment"]["values"]["kendall_tau"]["value"])
        text = self.gather(code=75)
        for words in ("12.00 +- 0.30", "-7.00", "1.00 +- 0.50", "not submitted", "+1 complex", "-1 solvent", "pending"):
            self.assertIn(words, text)

    def test_both(self):
        """Systems that have a sum of their own anchor what edges say."""
        self.write("  - {name: own, spec: x.yaml}\n  - {name: change, of: edges, spec: x.yaml}", [("a", "b")], 1)
        for name in SYSTEMS:
            self.results[f"net.{name}.own.1"] = estimate({"a": -5.0, "b": -6.0}.get(name, -1.0), 0.2)
        self.results["net.a_b.change.1"] = estimate(-1.6, 0.1)
        got = json.loads(self.gather("--json"))
        # With d = b - a: weights 25 of the sums, 100 of the edge; what they disagree by, -0.6, is shared 8 to 1.
        a, b = (next(v for v in got["values"] if v["system"] == n) for n in "ab")
        self.assertAlmostEqual(b["free_energy"]["kcal/mol"]["value"] - a["free_energy"]["kcal/mol"]["value"], -1.0 - 0.6 * 8 / 9, delta=1e-9)
        self.assertAlmostEqual(b["free_energy"]["kcal/mol"]["value"] + a["free_energy"]["kcal/mol"]["value"], -11, delta=1e-9)
        self.assertTrue(a["anchored"] and a["shift"]["kJ/mol"]["value"] == 0)

    def test_verdicts(self):
        """Failed is what has no number; a sum of nothing has no verdict."""
        self.write("  - {name: complex, spec: x.yaml}", [], 2)
        for name in SYSTEMS:
            for repeat in (1, 2):
                failed = name == "b" or (name, repeat) == ("c", 2)
                self.results[f"net.{name}.complex.{repeat}"] = estimate(None if failed else 2.0, 0.1, "failed" if failed else "converged")
        self.results["net.d.complex.2"] = None
        for sign, d_verdict in ((1, "pending"), (0, None)):
            self.write(f"  - {{name: complex, spec: x.yaml, sign: {sign}}}", [], 2)
            systems = {s["system"]: s for s in json.loads(self.gather("--json", code=75))["systems"]}
            legs = {n: s["legs"][0] for n, s in systems.items()}
            self.assertEqual([legs[n]["verdict"] for n in "abcd"], ["converged", "failed", "unconverged", "pending"])
            self.assertEqual([legs[n]["free_energy"] is None for n in "abcd"], [False, True, False, False])
            self.assertEqual([systems[n]["verdict"] for n in "abcd"],
                             ["converged", "failed", "unconverged", d_verdict] if sign else [None] * 4)
            self.assertEqual([systems[n]["free_energy"] is None for n in "abcd"], [False, True, False, False] if sign else [True] * 4)
        sums = [line.split() for line in self.gather(code=75).splitlines() if line.split()[:1] == ["sum"]]
        self.assertEqual([words[1:3] for words in sums], [["-", "-"]] * len(SYSTEMS))

    def measure(self, edges, **changed):
        """Results of edges of one leg and one repeat, all as they should be within 0.01 but those said otherwise."""
        self.write("  - {name: change, of: edges, spec: x.yaml}", edges, 1)
        for i, j in edges:
            value, error = changed.get(f"{i}_{j}", (TRUE[j] - TRUE[i] + 0.01, 0.2))
            self.results[f"net.{i}_{j}.change.1"] = estimate(value, error)
        return json.loads(self.gather("--json"))

    def test_parts(self):
        """Two edges that nothing connects, with two experiments each: their differences are no agreement, wherever their zeros lie."""
        got = self.measure([("a", "b"), ("e", "f")])
        self.assertEqual((got["experiment"]["values"]["pairs"], got["experiment"]["values"]["kendall_tau"]["value"]), (4, None))
        got = self.measure([("a", "d"), ("d", "e")])
        self.assertEqual(got["experiment"]["values"], None)
        self.results.clear()
        with unittest.mock.patch.dict(SYSTEMS, {"b": None, "d": None, "f": None}):
            got = self.measure([("a", "b"), ("c", "d"), ("e", "f")])
            self.assertEqual((got["experiment"]["values"], got["experiment"]["edges"]), (None, None))
            said = "no agreement with experiment from values: 0 of the 3 that have an experiment can be compared, expected 4 or more"
            self.assertEqual(got["remarks"], [said])
            target = os.path.join(self.folder, "out")
            text = self.gather("--output", target)
            self.assertIn(said, text)
            self.assertNotIn("RMSE", text)
            with open(os.path.join(target, "report.html"), encoding="utf-8") as f:
                page = f.read()
            self.assertIn(said, page)
            self.assertNotIn("RMSE", page)
            self.assertNotIn("Values beside experiment", page)  # each would lie on the diagonal
            line = next(line for line in text.split("values of the systems")[1].splitlines() if line.startswith("a "))
            self.assertEqual(re.split(r"  +", line.strip())[3], "-")

    def test_edge_that_is_off(self):
        """It is named, where it has loops of its own; where it is in the same loops as others all of them are."""
        edges = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("d", "c"), ("b", "d"), ("e", "f")]
        got = self.measure(edges)
        self.assertEqual({v["verdict"] for v in got["values"]}, {"converged", None})
        self.assertEqual(got["remarks"], [])
        got = self.measure(edges, b_c=(TRUE["c"] - TRUE["b"] + 2, 0.2))
        self.assertEqual({f"{e['ligand_i']}_{e['ligand_j']}": e["verdict"] for e in got["edges"] if e["verdict"] != "converged"}, {"b_c": "unconverged"})
        self.assertEqual({v["system"]: v["verdict"] for v in got["values"]},
                         {**dict.fromkeys("abcd", "unconverged"), **dict.fromkeys("ef", "converged"), "lone": None})
        self.assertRegex(got["remarks"][0], r"^edge b_c: off by 2\.0\d \+- 0\.\d+ kcal/mol \(\d\.\d errors\) from what the rest of part 1 of the network says")
        self.assertEqual(len(got["remarks"]), 1)
        found, = got["contradictions"]
        self.assertEqual((found["part"], found["loops"], found["named"]), (0, 3, ["b_c"]))
        self.assertAlmostEqual(found["off"]["kcal/mol"]["value"], 2, delta=0.1)
        got = self.measure(edges[:3], b_c=(TRUE["c"] - TRUE["b"] + 2, 0.2))
        self.assertRegex(got["remarks"][0], "^one of a_b, b_c, c_a: off by .* no test can tell which")
        self.assertEqual({e["verdict"] for e in got["edges"]}, {"unconverged"})

    def test_edge_without_an_error(self):
        """One in which nothing changes is exact: it holds the network together, and a remark says so."""
        got = self.measure([("a", "b"), ("b", "c")], a_b=(0.0, 0.0))
        a, b, c = (next(v for v in got["values"] if v["system"] == n) for n in "abc")
        self.assertEqual((a["part"], b["part"]), (0, 0))
        self.assertAlmostEqual(a["free_energy"]["kcal/mol"]["value"], b["free_energy"]["kcal/mol"]["value"], delta=1e-9)
        self.assertAlmostEqual(c["free_energy"]["kcal/mol"]["error"], 0.2 * 2 / 3, delta=1e-4)
        self.assertEqual(got["remarks"][0], "edge a_b has an error of 0: the network takes it as exact")

    def test_repeats_apart(self):
        """Repeats that are many of their errors apart: no sum of them is converged, and the leg is named."""
        self.write("  - {name: complex, spec: x.yaml}", [], 3)
        for name in SYSTEMS:
            for repeat in (1, 2, 3):
                self.results[f"net.{name}.complex.{repeat}"] = estimate(2.0 + (repeat * 0.3 if name == "b" else 0), 0.01)
        got = json.loads(self.gather("--json"))
        self.assertEqual({s["system"]: s["verdict"] for s in got["systems"]}, {**dict.fromkeys(SYSTEMS, "converged"), "b": "unconverged"})
        leg = got["systems"][1]["legs"][0]
        self.assertEqual(leg["reason"], "the repeats spread by 0.3 kcal/mol, their own errors are 0.01")
        self.assertAlmostEqual(leg["standard_deviation"]["kcal/mol"]["value"], 0.3, delta=1e-9)
        self.near(leg["free_energy"], 2.6, of_mean([0, 0.3, 0.6], [0.01] * 3))
        self.assertEqual(got["remarks"][0], f"b, complex: {leg['reason']}")
        self.assertIn(got["remarks"][0], self.gather())

    def test_torsions(self):
        """Those that did not turn and those that nobody watched are told: an error knows nothing of what no repeat saw."""
        self.write("  - {name: complex, spec: x.yaml}", [], 1)
        for name in SYSTEMS:
            self.results[f"net.{name}.complex.1"] = estimate(2.0, 0.01)
        watched = {"windows": 20, "list": [{"transitions": 3}, {"transitions": 0}]}
        for name, torsions in (("b", watched), ("c", {"windows": 0, "list": watched["list"]}), ("d", {"windows": 20, "list": [{"transitions": 1}]})):
            self.results[f"net.{name}.complex.1"]["torsions"] = torsions
        said = json.loads(self.gather("--json"))["remarks"]
        self.assertRegex(said[0], "^1 ensemble has a torsion that no window saw turn, b .complex. for one: `shoal results` names it")
        self.assertRegex(said[1], "^torsions of 1 ensemble were not watched, for want of trajectories: with frames-every")

    def test_spread_of_all_repeats(self):
        """Errors that are half of what they should be: no leg shows it, all of them together do."""
        self.write("  - {name: change, of: edges, spec: x.yaml}", EDGES, 3)
        for i, j in EDGES:
            for repeat in (1, 2, 3):
                self.results[f"net.{i}_{j}.change.{repeat}"] = estimate(TRUE[j] - TRUE[i] + 0.2 * (repeat - 2), 0.1)
        got = json.loads(self.gather("--json"))
        self.assertEqual({e["verdict"] for e in got["edges"]}, {"converged"})
        self.assertEqual({v["verdict"] for v in got["values"]}, {"unconverged", None})
        self.assertIn("repeats of all legs together spread 2.0 times as far as their own errors allow", got["remarks"][0])

    def test_experiment_without_error(self):
        """It is shown bare, and the difference has the error of the calculation."""
        self.write("  - {name: change, of: edges, spec: x.yaml}", [("a", "b"), ("b", "c")], 1)
        self.results.update({"net.a_b.change.1": estimate(-1.6, 0.3), "net.b_c.change.1": estimate(2.1, 0.3)})
        path = os.path.join(self.folder, "systems.tsv")
        with open(path, encoding="utf-8") as f:
            table = f.read().replace("a\t-5.0\t0.1", "a\t-5.0\t")
        with open(path, "w", encoding="utf-8") as f:
            f.write(table)
        lines = self.gather().split("values of the systems")[1].splitlines()
        a, b, lone = (re.split(r"  +", next(line for line in lines if line.startswith(name)).strip()) for name in ("a ", "b ", "lone"))
        self.assertEqual(a[3], "-5.000")
        self.assertEqual(a[4].split("+-")[1], a[1].split("+-")[1])
        self.assertGreater(float(b[4].split("+-")[1]), float(b[1].split("+-")[1]))
        value, difference = (float(cell.split("+-")[0]) for cell in (a[1], a[4]))
        self.assertAlmostEqual(value + 5, difference, delta=0.006)  # the value has the offset in it
        self.assertRegex(a[2], r"^[+-]\d+\.\d\d$")
        self.assertEqual((lone[1], lone[-1]), ("-", "-"))

    def test_reasons(self):
        """What the service says of a failed ensemble comes first, and what its results lack for it behind that."""
        self.write("  - {name: complex, spec: x.yaml}", [], 1)
        for name in SYSTEMS:
            self.results[f"net.{name}.complex.1"] = estimate(2.0, 0.1)
        torn = self.results["net.b.complex.1"] = estimate(None, None, "failed")
        torn["reason"] = "windows 0, 1 took no part"
        self.changes["net.b.complex.1"] = {"state": "failed", "reason": "window 0: step 1: atom 3 is thrown out of the box"}
        self.changes["net.a.complex.1"] = {"reason": "its stop-when holds"}
        rows = {r["item"]: r for r in json.loads(self.gather("--json", code=1))["ensembles"]}
        self.assertEqual(rows["b"]["reason"], "window 0: step 1: atom 3 is thrown out of the box; windows 0, 1 took no part")
        self.assertIsNone(rows["a"]["reason"])

    def test_files(self):
        self.write(self.LEGS, EDGES, 3)
        sums = self.draw_network(3)
        self.results["net.e_f.solvent.2"] = estimate(None, None, "failed")
        whole = {k: {"kcal/mol": {"value": 9.5, "error": 0.2}} for k in ("forward", "backward")}
        self.results["net.a_b.complex.1"].update(overlap={"minimum": 0.07}, convergence=[{"data_fraction": f / 10, **whole} for f in range(1, 11)])
        self.results["net.a_b.complex.1"]["verdict"]["reasons"] = [{"code": "few_samples", "text": "window 2 has few"}]
        sampled = [{"sampled": {"magnitude": ns, "unit": "nanosecond"}} for ns in (0.5, 0.75)]
        self.results["net.a_b.complex.1"].update(temperature={"magnitude": 298.15, "unit": "kelvin"}, pressure=None,
                                                 version="1.2.3", estimator="MBAR", windows=sampled)
        self.service.answers["GET /v1/ensembles/id000000/files/input/spec.yaml"] = (200, {"name": "the spec <of it>"})
        target = os.path.join(self.folder, "out")
        text = self.gather("--plain", "--output", target, code=1)

        def table(name, delimiter="\t"):
            with open(os.path.join(target, name), encoding="utf-8", newline="") as f:
                return list(csv.reader(f, delimiter=delimiter))

        with open(os.path.join(target, "gather.tsv"), encoding="utf-8") as f:
            self.assertEqual(f.read().split("\n", 1)[1], text)
        rows = table("gather.tsv")
        self.assertEqual({len(row) for row in rows}, {12})
        self.assertEqual([row[0] for row in rows].count("ensemble"), 36)
        ddg = table("ddg.tsv")
        self.assertEqual(ddg[0], ["ligand_i", "ligand_j", "DDG(i->j) (kcal/mol)", "uncertainty (kcal/mol)", "so far"])
        for i, j, value, error, _ in ddg[1:6]:
            self.assertAlmostEqual(float(value), sums[i, j][0], delta=0.02)
            self.assertAlmostEqual(float(error), sums[i, j][1], delta=0.02)
            self.assertEqual(len(value.split(".")[1]), len(error.split(".")[1]))
        dg = table("dg.tsv")
        deviation = "standard deviation of repeats (kcal/mol)"
        self.assertEqual(dg[0], ["ligand", "DG(MLE) (kcal/mol)", "uncertainty (kcal/mol)", deviation, "so far"])
        self.assertEqual(dg[7], ["lone", "Error", "Error", "", ""])
        values, covariance = most_likely(list("abcd"), {e: (0, self.deviation(*e)) for e in EDGES[:5]})
        for k, row in enumerate(dg[1:5]):
            self.assertAlmostEqual(float(row[3]), math.sqrt(covariance[k][k]), delta=0.006)
        raw = table("raw.tsv")
        self.assertEqual(raw[0], ["leg", "ligand_i", "ligand_j", "DG(i->j) (kcal/mol)", "MBAR uncertainty (kcal/mol)", deviation, "so far"])
        self.assertEqual((len(raw), [row[:5] for row in raw if row[3] == "Error"]), (37, [["solvent", "e", "f", "Error", "Error"]]))
        for leg, i, j, *_, spread, _ in raw[1:]:
            self.assertAlmostEqual(float(spread), self.deviation(i, j, leg), delta=0.006)
        self.check_cinnabar(table("cinnabar.csv", ","), sums)
        with open(os.path.join(target, "gather.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["name"], "net")
        self.check_page(os.path.join(target, "report.html"), sums)

    def test_so_far(self):
        """While it runs: numbers of the samples that there are, marked wherever they go, and none without samples."""
        edges = [("a", "b"), ("b", "c"), ("c", "a"), ("e", "f")]
        self.write(self.LEGS, edges, 2)
        for i, j in edges:
            for leg, value in (("complex", TRUE[j] - TRUE[i] + 10), ("solvent", 10.0)):
                for repeat in (1, 2):
                    self.results[f"net.{i}_{j}.{leg}.{repeat}"] = estimate(value, 0.2)
        running = {"state": "running", "progress": 0.4}
        self.results["net.a_b.complex.1"] = estimate(8.7, 0.3, "unconverged", correction=0.5)
        none = self.results["net.a_b.complex.2"] = estimate(None, None, "failed")
        none["verdict"]["reasons"] = [{"code": "no_samples", "text": "windows 1 to 2 have no samples"}]
        none["reason"] = "windows 1, 2 took no part; windows 1 to 2 have no samples"
        self.results["net.e_f.solvent.1"] = none
        self.changes = {key: running for key in ("net.a_b.complex.1", "net.a_b.complex.2", "net.e_f.solvent.1")}
        self.changes["net.e_f.solvent.2"] = {"state": "queued", "progress": 0}
        target = os.path.join(self.folder, "out")
        got = json.loads(self.gather("--json", code=75))
        rows = {row["key"]: row for row in got["ensembles"]}
        self.near(rows["net.a_b.complex.1"]["estimate"], 8.7, 0.3)
        waiting = ("pending", False, "windows 1 to 2 have no samples")
        self.assertEqual([(rows[key]["verdict"], rows[key]["so_far"], rows[key]["reason"]) for key in self.changes],
                         [("unconverged", True, None), waiting, waiting, ("pending", False, None)])
        self.assertEqual([rows[key]["estimate"] is None for key in self.changes], [False, True, True, True])
        edge, other = got["edges"][0], got["edges"][3]
        self.near(edge["free_energy"], 8.7 + 0.5 - 10, math.sqrt(0.3**2 + 0.2**2 / 2))
        self.assertEqual(([leg["so_far"] for leg in edge["legs"]], edge["legs"][0]["repeats"]), ([True, False], 1))
        self.assertEqual((edge["so_far"], edge["verdict"]), (True, "pending"))
        self.assertEqual((other["so_far"], other["free_energy"]), (False, None))
        self.assertEqual([e["so_far"] for e in got["edges"]], [True, False, False, False])
        self.assertEqual({v["system"]: v["so_far"] for v in got["values"]}, {name: name in "abc" for name in SYSTEMS})
        self.assertTrue(got["so_far"])
        text = self.gather(code=75)
        line = next(line for line in text.splitlines() if line.startswith("a_b") and " complex " in line)
        self.assertIn("8.70 +- 0.30", line)
        self.assertIn("unconverged so far", line)
        self.assertIn("so far, repeats pending", text)
        self.assertEqual([(loop["systems"], loop["so_far"]) for loop in got["loops"]], [(["a", "b", "c"], True)])
        self.gather("--output", target, code=75)

        def marked(name):
            with open(os.path.join(target, name), encoding="utf-8") as f:
                return [line.split("\t")[:4] for line in f.read().splitlines()[1:] if line.endswith("\tyes")]

        self.assertEqual([row[:3] for row in marked("gather.tsv")],
                         [["ensemble", "a_b", "complex"], ["leg", "a_b", "complex"], ["edge", "a_b", ""], ["loop", "1", ""],
                          *[["value", name, ""] for name in "abc"]])
        self.assertEqual([row[:2] for row in marked("ddg.tsv")], [["a", "b"]])
        self.assertEqual([row[:3] for row in marked("raw.tsv")], [["complex", "a", "b"]])
        self.assertEqual([row[0] for row in marked("dg.tsv")], ["a", "b", "c"])
        with open(os.path.join(target, "cinnabar.csv"), encoding="utf-8") as f:
            self.assertIn("# so far: not all ensembles have ended\n", f.read())
        with open(os.path.join(target, "report.html"), encoding="utf-8") as f:
            page = f.read()
        drawn = [page.count(f'class="{name}"><title>') for name in ("good", "none dashed")]
        self.assertEqual(drawn, [3, 1])  # e to f has no number
        for words in ("systems have a free energy so far", "12 converged, 0 did not, 0 failed, 4 have not ended",
                      "1 of these has a free energy of the samples so far", '<td class=" warn">unconverged so far</td>'):
            self.assertIn(words, page)

    def test_crowded_page(self):
        """Thirty systems of long names and sixty edges: what is drawn and written keeps apart from each other."""
        if not browser.PROGRAM:
            self.skipTest("no headless browser here")
        names = [f"CHEMBL{3402700 + 3 * k}-{'methyl' if k % 3 else k}" for k in range(30)]
        measured = {name: -11 + 5 * math.sin(k)**2 for k, name in enumerate(names)}
        crowd = {"SYSTEMS": measured, "TRUE": {n: x + math.sin(7 * k) for k, (n, x) in enumerate(measured.items())},
                 "EDGES": [(names[k], names[(k + step) % 30]) for k in range(30) for step in (1, 7)]}
        with unittest.mock.patch.dict(globals(), crowd):
            self.write(self.LEGS, EDGES, 1)
            self.draw_network(1)
            target = os.path.join(self.folder, "out")
            self.gather("--output", target)
        looking = browser.Browser()
        self.addCleanup(looking.close)
        for width in 1280, 360:
            faults = looking.faults(os.path.join(target, "report.html"), width)
            self.assertEqual(faults, [])

    def check_page(self, path, sums):
        """Whole XML with a line for every edge that has a number, in a colour for how well its loops close."""
        svg = "{http://www.w3.org/2000/svg}"
        with open(path, encoding="utf-8") as f:
            text = f.read()
        page = xml.etree.ElementTree.fromstring(text)
        figures = {s.find(svg + "title").text: s for s in page.iter(svg + "svg")}
        self.assertEqual(list(figures), ["Systems by free energy", "Values beside experiment", "Edges beside experiment", "Network of edges, kcal/mol", "a_b, complex, repeat 1"])
        network = figures["Network of edges, kcal/mol"]
        lines = list(network.iter(svg + "path"))
        self.assertEqual([p.find(svg + "title").text for p in lines[:5]], [f"{e[0]} to {e[1]}: {sums[e][0]:.2f} +- {sums[e][1]:.2f}" for e in EDGES[:5]])
        loops = [EDGES[:3], EDGES[2:5]]
        strain = {e: max(abs(sum(sums[x][0] for x in loop)) / math.sqrt(sum(sums[x][1]**2 for x in loop)) for loop in loops if e in loop)
                  for e in EDGES[:5]}
        colors = ["good" if strain[e] < 1 else "warn" if strain[e] < 2 else "bad" for e in EDGES[:5]]
        self.assertEqual([p.get("class") for p in lines], [*colors, "none"])  # the last is in no loop
        names = [t.text for t in network.iter(svg + "text")]
        self.assertLessEqual(set(SYSTEMS), set(names))
        shown = [(f"{sums[e][0]:.2f} ± {sums[e][1]:.2f}" in names, f"{sums[e][0]:.2f}" in names) for e in EDGES[:5]]
        self.assertTrue(all(any(each) for each in shown), (sums, names))
        self.assertTrue(any(whole for whole, _ in shown), (sums, names))  # with its error where there is room
        nodes = {c.find(svg + "title").text: (float(c.get("cx")), float(c.get("cy")))
                 for c in network.iter(svg + "circle")}
        arrows = [p.get("points").split()[0].split(",") for p in network.iter(svg + "polygon")]
        for (i, j), tip in zip(EDGES, arrows, strict=True):  # it points to ligand_j
            self.assertLess(math.dist(map(float, tip), nodes[j]), 8)
            self.assertGreater(math.dist(map(float, tip), nodes[i]), 20)
        points = [p.find(svg + "title").text for p in figures["Values beside experiment"].iter(svg + "circle")]
        self.assertEqual(points, ["a", "b", "c", "e", "f"])  # which are connected and were measured
        bars = [p.get("d") for p in figures["Values beside experiment"].iter(svg + "path") if p.get("class") == "k k0"]
        self.assertEqual("".join(re.findall("[HV]", "".join(bars))), "VH" * 5)  # errors of both
        points = list(figures["Edges beside experiment"].iter(svg + "circle"))
        self.assertEqual([p.find(svg + "title").text for p in points], ["a_b", "b_c", "c_a", "e_f"])
        # Where it lies is what it is: a straight line through all of them gives the axes, and the line where both are equal has slope 1.
        (xa, ya), (xb, yb) = ((SYSTEMS[j] - SYSTEMS[i], sums[i, j][0]) for i, j in EDGES[:2])
        at = [(float(p.get("cx")), float(p.get("cy"))) for p in points]
        across, up = (at[1][0] - at[0][0]) / (xb - xa), (at[1][1] - at[0][1]) / (yb - ya)
        self.assertAlmostEqual(at[2][0], at[0][0] + across * (SYSTEMS["a"] - SYSTEMS["c"] - xa), delta=0.2)
        self.assertAlmostEqual(at[2][1], at[0][1] + up * (sums["c", "a"][0] - ya), delta=0.2)
        # One ensemble has more in its results: both ways of its samples, and why it is as it is.
        curves = [p for p in figures["a_b, complex, repeat 1"].iter(svg + "path") if p.get("class").startswith("k ")]
        self.assertEqual([p.get("d").count("L") for p in curves], [9, 9])
        cards = {"".join(c[0].itertext()): ["".join(x.itertext()) for x in c] for c in page.iter(HTML + "article")}
        self.assertEqual((len(cards), cards["a_b, complex, repeat 1"][-4:]),
                         (36, ["converged", "window 2 has few", "least overlap of neighbours 0.07", "shoal report id000000"]))
        self.assertEqual(cards["e_f, solvent, repeat 2"][1:], ["failed", f"shoal report id{34:06}"])
        places = {c.get("id"): "".join(c[0].itertext()) for c in page.iter(HTML + "article")}
        links = {a.text: places[a.get("href")[1:]] for a in page.iter(HTML + "a")}
        self.assertEqual(links["+1 complex"], "e_f, complex, repeat 1")
        self.assertEqual(links["-1 solvent"], "e_f, solvent, repeat 1")
        run = text.split(">What was run<")[1]
        cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall("<td.*?</td>", run.split("</table>")[0])]
        self.assertEqual(cells[:8], ["complex", "18", "4", "0.5 to 0.75", "1.25", "298.15", "-", "MBAR"])
        self.assertEqual((cells[10], cells[11:19]), ("1.2.3", ["solvent", "18", "4", "-", "-", "-", "-", "-"]))
        self.assertIn("Spec of leg complex, of net.a_b.complex.1", run)
        self.assertIn("the spec &#60;of it&#62;", run)
        # `report` of the campaign is the same page.
        self.assertEqual(self.run_shoal("report", os.path.join(self.folder, "campaign.yaml"), code=1), text)

    def check_cinnabar(self, rows, sums):
        """As its reader takes the blocks apart: by what a comment says."""
        block, blocks = None, {"Experiment": [], "Calculate": []}
        for row in rows:
            line = ",".join(row)
            block = next((b for b in blocks if b in line), block)
            if line and not line.startswith("#"):
                blocks[block].append(row)
        self.assertEqual([(r[0], float(r[1]), float(r[2])) for r in blocks["Experiment"]],
                         [(n, x, 0.1) for n, x in SYSTEMS.items() if x is not None])
        self.assertEqual([tuple(r[:2]) for r in blocks["Calculate"]], EDGES)
        for i, j, value, _, other in blocks["Calculate"][:5]:
            self.assertAlmostEqual(float(value), sums[i, j][0], delta=0.02)
            self.assertEqual(float(other), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
