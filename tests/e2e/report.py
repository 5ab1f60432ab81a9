#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal report against a scripted service: a page that is whole XML, names nothing outside itself, and whose figures have every
number of the results in its place.

Usage: report.py SHOAL
"""
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree

from client import SHOAL, Answered, ensemble

SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"
WINDOWS = 5


def energy(value, error):
    return {unit: {"value": value * factor, "error": error * factor} for unit, factor in (("kJ/mol", 4.184), ("kcal/mol", 1), ("kT", 1.69))}


def results():
    verdict = {"verdict": "unconverged", "reasons": [{"code": "few_samples", "text": "window 1 has <30> uncorrelated samples & more"}]}
    windows = [{"repeat": 0, "window": k, "lambda": {"vdw": k / 4}, "status": "ok", "reason": None, "sampled": {"magnitude": 1, "unit": "nanosecond"},
                "samples": {"read": 100, "used": 90, "inefficiency": 1 + k, "uncorrelated": 90 / (1 + k)},
                "dhdl": {c: {"value": 10 * k if c == "vdw" else -5, "error": 1, "unit": "kilojoule_per_mole"} for c in ("coulomb", "vdw")}}
               for k in range(WINDOWS)]
    windows[3]["samples"] = None
    return {"estimate": {"magnitude": -2, "unit": "kilocalorie_per_mole"}, "uncertainty": {"magnitude": 0.1, "unit": "kilocalorie_per_mole"}, "status": "ok", "reason": None, "quantity": "G(window 4) - G(window 0)",
            "estimators": [{"name": "MBAR", "total": energy(-2, 0.1), "verdict": verdict, "legs": []}], "windows": windows, "repeats": None,
            "verdict": verdict, "temperature": {"magnitude": 300, "unit": "kelvin"}, "pressure": {"magnitude": 2, "unit": "bar"},
            "overlap": {"minimum": 0.5, "threshold": 0.03, "matrix": [[1 / (1 + abs(i - j)) if i != 4 else None for j in range(WINDOWS)] for i in range(WINDOWS)]},
            "convergence": [{"data_fraction": f / 10, "forward": energy(-2 - 1 / f, 0.1), "backward": energy(-2 + 1 / f, 0.1)} for f in range(1, 11)],
            "warnings": []}


class Report(Answered):
    def report(self, answer, *words, state="done", code=0):
        live = "" if state == "done" else "?live=1"
        self.service.answers["GET /v1/ensembles/3f2a9c00"] = (200, ensemble(state=state, name="<methane>"))
        self.service.answers[f"GET /v1/ensembles/3f2a9c00/results{live}"] = (200, answer)
        done = subprocess.run([SHOAL, "report", "3f2a9c00", *words], capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "SHOAL_SOCKET": self.service.server_address})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def figures(self, page):
        return {svg.find(SVG + "title").text: svg for svg in xml.etree.ElementTree.fromstring(page).iter(SVG + "svg")}

    def test_page(self):
        page = self.report(results())
        self.assertEqual(set(re.findall(r"https?://[^\"]*", page)), {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"})
        self.assertNotRegex(page, r"<script|<link|src=|href=|@import|url\(")
        root = xml.etree.ElementTree.fromstring(page)
        self.assertEqual(root.find(f".//{HTML}h1").text, "<methane>")
        answer = ["".join(p.itertext()) for p in root.find(f".//{HTML}section").iter(HTML + "p")]
        self.assertEqual(answer, ["G(window 4) - G(window 0)", "-2.00 \u00b1 0.10 kcal/mol", "unconverged",
                                  "window 1 has <30> uncorrelated samples & more"])
        self.assertEqual(root.find(f".//{HTML}section").get("class"), "answer warn")
        self.assertEqual({row[0].text: row[-1].text for row in root.iter(HTML + "tr")}["MBAR"], "unconverged")
        figures = self.figures(page)
        self.assertEqual(len(figures), 4)
        circles = {title: len(list(svg.iter(SVG + "circle"))) for title, svg in figures.items()}
        self.assertEqual(list(circles.values()), [20, 0, 2 * WINDOWS, WINDOWS - 1])
        cells = [r.find(SVG + "title").text for r in figures["Overlap of windows"].iter(SVG + "rect")]
        self.assertEqual(cells, [f"{i}, {j}: {1 / (1 + abs(i - j)):.3f}" for i in range(4) for j in range(WINDOWS)])

    def test_places(self):
        """Points lie on straight lines where their numbers do, and the numbers at the axes say what they are."""
        svg = self.figures(self.report(results()))["dH/dlambda along the ladder"]
        points = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter(SVG + "circle")]
        flat, rising = points[:WINDOWS], points[WINDOWS:]
        self.assertEqual(len({y for _, y in flat}), 1)
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(rising, rising[1:])]
        for dx, dy in steps:
            self.assertAlmostEqual(dx, steps[0][0], delta=0.11)
            self.assertAlmostEqual(dy, steps[0][1], delta=0.11)
        ticks = {t.text: float(t.get("y")) - 4 for t in svg.iter(SVG + "text") if t.get("class") == "soft up"}
        self.assertAlmostEqual(ticks["0"], rising[0][1], delta=0.11)
        self.assertAlmostEqual(ticks["20"], rising[2][1], delta=0.11)
        below = [t.text for t in svg.iter(SVG + "text") if t.get("class") == "soft along"]
        self.assertEqual(below, ["0", "1", "2", "3", "4"])

    def test_little_to_show(self):
        answer = results()
        answer.update(estimate=None, status="failed", reason="no samples", estimators=[], convergence=[], overlap=None, windows=answer["windows"][:1])
        answer["windows"][0].update(samples=None, dhdl=None)
        self.assertEqual(self.figures(self.report(answer, code=1)), {})

    def test_exchange(self):
        answer = results()
        answer["exchange"] = [{"repeat": k, "scheme": "gibbs", "exchanges": 9, "round_trips": 1, "eigenvalue": 0.5, "pairs": [], "replicas": [],
                               "transitions": [[0.75, 0.25], [0.25, 0.75]]} for k in range(2)]
        figures = self.figures(self.report(answer))
        cells = [r.find(SVG + "title").text for r in figures["Exchanges of repeat 1"].iter(SVG + "rect")]
        self.assertEqual((len(figures), cells), (6, ["0, 0: 0.750", "0, 1: 0.250", "1, 0: 0.250", "1, 1: 0.750"]))

    def test_file(self):
        target = os.path.join(self.folder, "r.html")
        self.assertEqual(self.report(results(), "--output", target, state="running", code=75), "")
        with open(target, encoding="utf-8") as f:
            self.assertIn("3f2a9c00, running", f.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
