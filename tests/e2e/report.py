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

import browser
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

    def look_at(self, page):
        """In a browser, where there is one."""
        if not browser.PROGRAM:
            self.skipTest("no headless browser here")
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
        looking = browser.Browser()
        self.addCleanup(looking.close)
        self.assertEqual((looking.faults(path), looking.faults(path, 360)), ([], []))

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

    def test_series(self):
        """Every window's energies over time: a spike in thousands of rows is drawn as far up as it goes, what comes before production moves no
        axis, rows that are not whole are passed over, and a mean that is off its target is marked."""
        legends = ("Potential", "Kinetic En.", "Total Energy", "Temperature", "Pressure", "Volume", "Density")
        head = "# energy.xvg\n@    title \"Energies\"\n" + "".join(f'@ s{i} legend "{name}"\n' for i, name in enumerate(legends))
        answer, windows, rows = results(), 24, 6000

        def row(i, temperature):
            return f"{i * 0.2 - 100:.4f} {-5000 + i % 7} 900 {-4100 + i % 7} {temperature} {i % 100 - 50} 30.5 990"

        plain = [row(i, 5000 if i < 500 else 290 + i % 20) for i in range(rows)]
        spiked = [*plain[:3210], row(3210, 400), "3211 1 2", row(3212, "nan"), *plain[3213:]]
        answer["windows"] = [{**answer["windows"][0], "window": k, "averages": {"Temperature": {"value": 300 + k, "error": 1.5, "unit": "kelvin"}}}
                             for k in range(windows)]
        for k in range(windows - 1):  # the last has no file
            path = f"GET /v1/ensembles/3f2a9c00/files/lambda_{k:02d}/energy.xvg"
            self.service.answers[path] = (200, (head + "\n".join(spiked if k == 7 else plain) + "\n").encode())
        page = self.report(answer)
        self.assertLess(len(page), 1000000)
        (table,) = [t for t in xml.etree.ElementTree.fromstring(page).iter(HTML + "table") if t.get("class") == "small"]
        heads, *body = [list(tr) for tr in table]
        self.assertEqual(["".join(h.itertext()) for h in heads], ["window", "Temperature, Ktarget 300290 to 400", "Pressure, bartarget 2-50 to 49",
                         "Volume, nm\u00b330.5 to 30.5", "Potential, kJ/mol-5000 to -4994", "Total Energy, kJ/mol-4100 to -4094"])
        tops = []
        for k, cells in enumerate(body[:-1]):
            svg, text = cells[1]
            self.assertEqual((svg.find(SVG + "title").text, text.get("class")), (f"Temperature of window {k}", "warn" if k > 6 else None))
            self.assertEqual(text.text, f"{300 + k}.0 \u00b1 1.5")
            band = next(p.get("d") for p in svg.iter(SVG + "path") if p.get("class") == "band")
            early = next(p.get("d") for p in svg.iter(SVG + "path") if p.get("class") == "early")
            begin = float(re.search(r"H([\d.]+)V", early).group(1))
            self.assertAlmostEqual(begin, 200 * 100 / (rows * 0.2), delta=0.2)
            tops.append(min(float(y) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", band) if float(x) > begin))
        self.assertAlmostEqual(tops[7], 50 * 0.05 / 1.1, delta=0.1)  # the air above what is the most
        self.assertEqual(len(set(tops[:7] + tops[8:])), 1)
        self.assertGreater(tops[0], 35)
        self.assertEqual([len(cell) for cell in body[-1]], [0, 1, 1, 1, 1, 1])
        answer["overlap"]["matrix"] = [[max(0, 0.4 - 0.13 * abs(i - j)) for j in range(windows)] for i in range(windows)]
        self.look_at(self.report(answer))

    def test_file(self):
        target = os.path.join(self.folder, "r.html")
        self.assertEqual(self.report(results(), "--output", target, state="running", code=75), "")
        with open(target, encoding="utf-8") as f:
            self.assertIn("3f2a9c00, running", f.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
