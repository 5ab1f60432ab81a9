#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of observables and profiles, in pages of shoal report and in files of shoal observe --plot: every point of a curve and of a band
is where its number says, read off the axes; and tables as .csv beside .xvg.

Usage: figures.py SHOAL
"""
import csv
import itertools
import math
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree

import observe
import browser
from report import HTML, SVG, Pages, energy, results

SHOAL = os.path.abspath(observe.SHOAL)
XVG = """# rdf.xvg, written by Shoal
@    title "{title}"
@    xaxis  label "{x}"
@    yaxis  label "{y}"
@TYPE xy
"""


def xvg(title, x, y, legends, rows):
    head = XVG.format(title=title, x=x, y=y) + "".join(f'@ s{i} legend "{legend}"\n' for i, legend in enumerate(legends))
    return (head + "".join(" ".join(f"{v:.8g}" for v in row) + "\n" for row in rows)).encode()


def axis(svg, along):
    """From a place in the drawing to a number, by the first and the last number at the axis; whether it is logarithmic they tell."""
    kind, letter, off = ("soft along", "x", 0) if along else ("soft up", "y", -4)
    ticks = sorted((float(t.get(letter)) + off, float(t.text)) for t in svg.iter(SVG + "text") if t.get("class") == kind)
    (a, low), (b, high), straight = ticks[0], ticks[-1], len(ticks) < 3
    middle = ticks[len(ticks) // 2]
    straight = straight or abs(low + (high - low) * (middle[0] - a) / (b - a) - middle[1]) < 0.02 * abs(high - low)
    if straight:
        return lambda at: low + (high - low) * (at - a) / (b - a)
    return lambda at: low * (high / low)**((at - a) / (b - a))


def paths(svg, kind):
    """Points of every path of a class, as numbers."""
    x, y = axis(svg, True), axis(svg, False)
    return [[(x(float(a)), y(float(b))) for a, b in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", p.get("d"))]
            for p in svg.iter(SVG + "path") if p.get("class") == kind]


class Figures(Pages):
    def assert_near(self, points, expected, scale):
        self.assertEqual(len(points), len(expected))
        for (x, y), (a, b) in zip(points, expected):
            self.assertAlmostEqual(x, a, delta=scale[0])
            self.assertAlmostEqual(y, b, delta=scale[1] if scale[1] > 0 else -scale[1] * b)

    def observed(self, answer, name, kind, windows, file, repeats=1, **more):
        """Adds observables whose file(k) is window k's; None: the service has no such file."""
        for repeat, k in itertools.product(range(repeats), range(windows)):
            path = f"{f'repeat_{repeat:02d}/' if repeats > 1 else ''}lambda_{k:02d}/{name}.xvg"
            one = {"window": k, "repeat": repeat, "file": path, "name": name, "kind": kind, "frames": 9, **more}
            answer.setdefault("observables", []).append(one)
            text = file(k)
            self.service.answers[f"GET /v1/ensembles/3f2a9c00/files/{path}"] = (404, {}) if text is None else (200, text)

    def test_convergence(self):
        """The band is the answer with the error of so many samples: 0.1 of all, the root of ten times as much of a tenth."""
        (band,) = paths(self.figures(self.report(results()))["Convergence"], "band")
        self.assertGreater(len(band), 40)
        for part, value in band:
            self.assertAlmostEqual(abs(value + 2), 0.1 / math.sqrt(part), delta=0.01)
        self.assertEqual({value > -2 for part, value in band if part < 0.15}, {True, False})
        self.assertEqual({value > -2 for part, value in band if part > 0.95}, {True, False})

    def test_observables(self):
        answer = results()
        r = [0.05 + 0.1 * i for i in range(12)]
        g = [[max(0, math.sin(3 * x + k)) for x in r] for k in range(3)]
        self.observed(answer, "rdf", "rdf", 3, lambda k: None if k == 1 else xvg(
            "g(r) of OW around <OW>", "r (nm)", "g(r)",
            ["g(r)", "error of g(r)", "coordination number within r + bin/2", "error of the coordination number", "pairs"],
            [(x, g[k][i], 0.1, 10 * x, 0.5, 7) for i, x in enumerate(r)]), highest={"g": 1, "error": 0.1, "r_nm": 0.5},
            summary="highest g(r) 1.00 +- 0.10 at 0.5 nm")
        fit = {"from_ps": 2, "to_ps": 8, "slope_nm2_per_ps": 0.5, "intercept_nm2": 0.25, "value_cm2_per_s": 1e-5,
               "error_cm2_per_s": 1e-6}
        self.observed(answer, "msd", "msd", 1, lambda k: xvg(
            "mean square displacement of SOL", "tau (ps)", "MSD (nm\\S2\\N)", ["MSD", "error of the MSD", "origins of time"],
            [(t, 0.5 * t + 0.25, 0.02 * t, 4) for t in range(11)]), diffusion=fit)
        q = [2 + i for i in range(9)]
        self.observed(answer, "saxs", "saxs", 2, lambda k: xvg(
            "X-ray scattering of SOL", "q (1/nm)", "I (electrons\\S2\\N)", ["I(q)", "error of I(q)"],
            [(x, -1 if i == 4 else 10**(6 - i) * (1 + k), 10.0**(7 - i)) for i, x in enumerate(q)]))
        page = self.report(answer)
        figures = self.figures(page)
        svg = figures["rdf: g(r)"]
        for k, window in enumerate((0, 2)):  # the second has no file yet
            self.assert_near(paths(svg, f"k k{k}")[0], list(zip(r, g[window])), (0.002, 0.005))
            band = [(x, y + 0.1) for x, y in zip(r, g[window])] + [(x, y - 0.1) for x, y in list(zip(r, g[window]))[::-1]]
            self.assert_near(paths(svg, f"area k{k}")[0], band, (0.002, 0.005))
        root = xml.etree.ElementTree.fromstring(page)
        caption = next(f for f in root.iter(HTML + "figure") if f[0][0].text == "rdf: g(r)")[0]
        self.assertEqual(["".join(e.itertext()) for e in caption],
                         ["rdf: g(r)", "window 0", "window 2", "g(r) of OW around <OW>; in the bands one standard error to either side"])
        self.assertEqual([t.text for t in svg.iter(SVG + "text") if t.get("class") == ""], ["r (nm)", "g(r)"])
        numbers = figures["rdf: coordination number within r + bin/2"]
        self.assert_near(paths(numbers, "k k1")[0], [(x, 10 * x) for x in r], (0.002, 0.05))
        svg = figures["msd: MSD"]
        self.assert_near(paths(svg, "k k0 dashed")[0], [(2, 1.25), (8, 4.25)], (0.05, 0.02))
        self.assertEqual([t.text for t in svg.iter(SVG + "text") if t.get("class") == ""], ["tau (ps)", "MSD (nm^2)"])
        for k in range(2):  # a negative one has no place on this axis; the band ends at its end
            positive = [(x, 10**(6 - i) * (1 + k)) for i, x in enumerate(q) if i != 4]
            self.assert_near(paths(figures["saxs: I(q)"], f"k k{k}")[0], positive, (0.05, -0.05))
        self.assertEqual(len(figures), 4 + 4)
        self.assertEqual(sum("1.00 \u00b1 0.10 at 0.5 nm" in "".join(row.itertext()) for row in root.iter(HTML + "tr")), 3)
        self.look_at(page)

    def test_transport(self):
        """Curves of which the values have errors, and of which they have none: whose notes do not speak of any."""
        answer, t = results(), [0.1 * i for i in range(8)]
        self.observed(answer, "vacf", "vacf", 1, lambda k: xvg(
            "autocorrelation of velocities of SOL", "tau (ps)", "C (nm\\S2\\N/ps\\S2\\N)",
            ["C", "error of C", "C / C(0)", "D up to there (1e-5 cm^2/s)", "error of D", "origins of time"],
            [(x, math.exp(-x), 0.1, math.exp(-x), 1 - math.exp(-x), 0.05, 9) for x in t]))
        self.observed(answer, "dielectric", "dielectric", 1, lambda k: xvg(
            "Dielectric constant", "frames", "\\xe\\f{}", ["dielectric constant of the frames so far"],
            [(100 * i, 70 + i) for i in range(1, 9)]))
        self.observed(answer, "pressure", "pressure", 1, lambda k: xvg(
            "Pressure tensor, means of blocks", "frames", "(bar)", ["Pres-XX", "Pressure"], [(100 * i, 9, -i) for i in range(1, 9)]))
        page = self.report(answer)
        figures = self.figures(page)
        self.assert_near(paths(figures["vacf: C"], "k k0")[0], [(x, math.exp(-x)) for x in t], (0.002, 0.005))
        self.assert_near(paths(figures["vacf: D up to there (1e-5 cm^2/s)"], "k k0")[0], [(x, 1 - math.exp(-x)) for x in t], (0.002, 0.005))
        for title, slope in (("dielectric: dielectric constant of the frames so far", 1), ("pressure: Pressure", -1)):
            self.assert_near(paths(figures[title], "k k0")[0], [(100 * i, 70 * (slope > 0) + slope * i) for i in range(1, 9)], (2, 0.05))
            self.assertEqual(paths(figures[title], "area k0"), [])
        captions = ["".join(c.itertext()) for c in xml.etree.ElementTree.fromstring(page).iter(HTML + "figcaption")]
        self.assertIn("dielectric: dielectric constant of the frames so far Dielectric constant", captions)
        said = [t.text for t in figures["dielectric: dielectric constant of the frames so far"].iter(SVG + "text") if t.get("class") == ""]
        self.assertEqual(said, ["frames", "epsilon"])
        self.look_at(page)

    def test_many_windows(self):
        """Of more curves than there are colours those of three windows stay, with all repeats where these have colours."""
        for windows, repeats, shown in ((5, 2, [(k, r) for k in (0, 2, 4) for r in range(2)]), (8, 3, [(0, 0), (3, 0), (7, 0)]),
                                        (2, 4, [(k, r) for k in range(2) for r in range(4)])):
            answer = results()
            answer["repeats"] = []
            self.observed(answer, "coordination", "coordination", windows, lambda k: xvg(
                "Distribution of a coordination", "C", "p(C)", ["p(C)", "error of p(C)", "frames"],
                [(i, k + i % 2, 0.5, 3) for i in range(6)]), repeats=repeats)
            page = self.report(answer)
            lines = [p for p in self.figures(page)["coordination: p(C)"].iter(SVG + "path") if (p.get("class") or "").startswith("k k")]
            self.assertEqual([p[0].text for p in lines], [f"window {k} of repeat {r}" for k, r in shown])
            said = f"; the first, the middle and the last of {windows} windows with samples"
            (self.assertIn if windows > 3 else self.assertNotIn)(said, page)
            table = xml.etree.ElementTree.fromstring(page).iter(HTML + "tr")
            rows = [[cell.text for cell in row] for row in table if row[1].text == "coordination"]
            self.assertEqual([row[0] for row in rows], [f"{r}.{k}" for r in range(repeats) for k in range(windows)])
            self.look_at(page)
        # Two windows have too many repeats for colours: shades go along the ladder.
        shades = [float(p.get("stroke-opacity")) for p in lines]
        self.assertEqual(shades, sorted(shades))
        self.assertTrue(shades[0] < 0.3 and shades[-1] > 0.95 and len(set(shades)) == 8, shades)
        self.assertIn("Distribution of a coordination; pale: window 0 of repeat 0, dark: window 1 of repeat 3", page)

    def test_few_counts(self):
        """A bin with one pair in it does not set the scale of g(r), and the note says that it is cut off."""
        def tallest(spike):
            answer, r = results(), [0.01 * i for i in range(20)]
            self.observed(answer, "rdf", "rdf", 2, lambda k: xvg(
                "g(r) of OW", "r (nm)", "g(r)", ["g(r)", "error of g(r)"], [(x, spike if i == 1 and k else 1 + i % 2, spike if i == 1 and k else 0.1)
                                                                            for i, x in enumerate(r)]))
            page = self.report(answer)
            svg = self.figures(page)["rdf: g(r)"]
            ys = [float(y) for k in range(2) for cls in ("k", "area") for p in svg.iter(SVG + "path") if p.get("class") == f"{cls} k{k}"
                  for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)", p.get("d"))]
            self.look_at(page)
            return max(float(t.text) for t in svg.iter(SVG + "text") if t.get("class") == "soft up"), min(ys), "values above 2.1, each with an error" in page
        self.assertEqual(tallest(30)[::2], (2, True))
        self.assertGreaterEqual(tallest(30)[1], 12 - 0.1)  # the top of the axes
        self.assertFalse(tallest(1.5)[2])

    def test_profiles(self):
        answer = results()
        converged = {"verdict": "converged", "reasons": []}
        answer["repeats"] = [{"repeat": r, "free_energy": energy(1, 0.1), "verdict": converged} for r in range(2)]
        f = [(0.5 * b - 3)**2 / 2 for b in range(12)]
        answer["profiles"] = [{"coordination": 1, "verdict": "converged", "bins": [
            {"from": 0.1 * b, "to": 0.1 * (b + 1), "rows": 200, "rows_of_windows": [max(0, 100 - 10 * abs(b - 3 * k)) for k in range(4)],
             "free_energy": energy(f[b], 0.2), "verdict": "converged",
             "repeats": [energy(f[b] + 0.1, 0.2), energy(f[b] - 0.1, 0.2) if b else None]}
            for b in range(12)]}]
        page = self.report(answer)
        figures = self.figures(page)
        middles = [0.1 * b + 0.05 for b in range(12)]
        svg = figures["Profile along coordination 1"]
        lines = paths(svg, "k k0")
        self.assert_near(lines[0], list(zip(middles, f)), (0.003, 0.01))
        x, y = axis(svg, True), axis(svg, False)
        drawn = [re.fullmatch(r"M([-\d.]+) ([-\d.]+)V([-\d.]+)", p.get("d")) for p in svg.iter(SVG + "path") if p.get("class") == "k k0"]
        bars = [bar.groups() for bar in drawn if bar]
        self.assert_near([(x(float(a)), y(float(low))) for a, low, _ in bars], [(m, v - 0.2) for m, v in zip(middles, f)], (0.003, 0.01))
        self.assert_near([(x(float(a)), y(float(high))) for a, _, high in bars], [(m, v + 0.2) for m, v in zip(middles, f)], (0.003, 0.01))
        self.assert_near(paths(svg, "k k1 dashed")[0], [(m, v + 0.1) for m, v in zip(middles, f)], (0.003, 0.01))
        self.assert_near(paths(svg, "k k2 dashed")[0], [(m, v - 0.1) for m, v in zip(middles[1:], f[1:])], (0.003, 0.01))
        for k in range(4):
            expected = [(m, b["rows_of_windows"][k]) for m, b in zip(middles, answer["profiles"][0]["bins"])]
            self.assert_near(paths(figures["Histograms along coordination 1"], f"k k{k}")[0], expected, (0.003, 0.2))
        self.assertIn("profile along coordination 1, without the biases (converged), the mean of all repeats:", page)
        self.look_at(page)


    def test_coordinations_over_time(self):
        """Beside the other columns of energy.xvg, on one scale for all windows; a window without a bias has none."""
        legends = ("Potential", "Total Energy", "Temperature", "Pressure", "Volume", "Bias", "Coordination 1")
        answer = results()
        for k, window in enumerate(answer["windows"]):
            window["averages"] = {"Coordination 1": {"value": 2.5 + k, "error": 0.25, "unit": "dimensionless"}}
            columns = legends if k != 1 else legends[:5]
            rows = [(t, 1, 2, 300, 1, 30, 0.5, k + (t > 50))[:1 + len(columns)] for t in range(-10, 101)]
            path = f"GET /v1/ensembles/3f2a9c00/files/lambda_{k:02d}/energy.xvg"
            self.service.answers[path] = (200, xvg("Energies", "Time (ps)", "", columns, rows))
        page = self.report(answer)
        table = next(t for t in xml.etree.ElementTree.fromstring(page).iter(HTML + "table") if t.get("class") == "small")
        heads, *body = [list(tr) for tr in table]
        self.assertEqual(["".join(h.itertext()) for h in heads][-1], "Coordination 10 to 5")  # "Coordination 1", from 0 to 5
        self.assertEqual(len(heads), 7)
        self.assertIn("<h2>Temperature, pressure, volume, energies and coordinations</h2>", page)
        for k, row in enumerate(body):
            self.assertEqual(["".join(e.text for e in cell.iter(HTML + "span")) for cell in row][-1], f"{2.5 + k:.2f} \u00b1 0.25")
            svg = row[-1].find(SVG + "svg")
            self.assertEqual(svg is None, k == 1)
            if k == 1:
                continue
            line = next(p.get("d") for p in svg.iter(SVG + "path") if p.get("class") == "k")
            heights = [float(y) for _, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", line)]
            for height, value in ((heights[0], k), (heights[-1], k + 1)):
                self.assertAlmostEqual(height, 50 * (1 - (value / 5 + 0.05) / 1.1), delta=0.1)
        self.look_at(page)


class Files(observe.Files):
    def look_at(self, path):
        if not browser.PROGRAM:
            self.skipTest("no headless browser here")
        with open(path, encoding="utf-8") as f, open(self.path("page.html"), "w", encoding="utf-8") as page:
            page.write(f"<!DOCTYPE html><html><body>{f.read()}</body></html>")
        looking = browser.Browser()
        self.addCleanup(looking.close)
        self.assertEqual(looking.faults(self.path("page.html")), [])

    def titles(self, name):
        return [t.text for t in xml.etree.ElementTree.parse(self.path(name)).iter(SVG + "text") if t.get("class") == "title"]

    def test_observe(self):
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0)), "d"))
        spec = ("- rdf: {between: [OW, OW], max: 1 nm, bin: 0.05 nm, name: oo}\n- msd: {of: OW, max: 3 ps, fit: [0.5 ps, 2 ps]}\n"
                "- coordination: {of: {within: OW, r0: 0.5 nm}, max: 40, bin: 0.5}\n")
        said = self.observe(spec, "a.trr", "--plot", self.path("figures"), "--csv")
        self.assertEqual(sorted(os.listdir(self.path("figures"))), ["coordination.svg", "coordination_time.svg", "msd.svg", "oo.svg"])
        files = itertools.product(("coordination", "coordination_time", "msd", "oo"), ("csv", "xvg"))
        self.assertEqual(sorted(os.listdir(self.path("out"))), [f"{name}.{ending}" for name, ending in files])
        self.assertEqual(said, self.observe(spec, "a.trr", "--plot", self.path("all.svg")))
        titles = ["oo: g(r)", "oo: coordination number within r + bin/2", "msd: MSD", "coordination: p(C)", "coordination: C"]
        self.assertEqual(self.titles("all.svg"), titles)
        self.assertEqual(self.titles("figures/oo.svg"), titles[:2])
        rows = observe.table(self.path("out/oo.xvg"))
        with open(self.path("out/oo.csv"), encoding="utf-8", newline="") as f:
            names, *lines = csv.reader(f)
        self.assertEqual(names, ["r (nm)", "g(r)", "error of g(r)", "coordination number within r + bin/2",
                                 "error of the coordination number", "pairs"])
        self.assertEqual([[float(v) for v in line] for line in lines], rows)
        drawn = xml.etree.ElementTree.parse(self.path("figures/oo.svg")).getroot()
        first = next(g for g in drawn if g.tag == SVG + "g")
        band = [(row[0], row[1] + row[2]) for row in rows] + [(row[0], row[1] - row[2]) for row in rows[::-1]]
        for points, expected in ((paths(first, "k k0")[0], [row[:2] for row in rows]), (paths(first, "area k0")[0], band)):
            self.assertEqual(len(points), len(expected))
            for (x, y), (a, b) in zip(points, expected):
                self.assertAlmostEqual(x, a, delta=0.003)
                self.assertAlmostEqual(y, b, delta=0.01 * max(row[1] + row[2] for row in rows))
        self.look_at(self.path("all.svg"))

    def test_where_to(self):
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0))))
        self.write("taken", b"")
        spec = "- rdf: {between: [OW, OW], max: 1 nm}\n"
        for name in ("a.png", "a.PDF", "figures/a.jpg"):
            self.assertIn(f"{name}: expected a name that ends in .svg", self.observe(spec, "a.trr", "--plot", self.path(name), code=2))
            self.assertFalse(os.path.exists(self.path(name)))
        self.assertIn("taken: File exists", self.observe(spec, "a.trr", "--plot", self.path("taken"), code=73))
        self.assertIn("No such file or directory", self.observe(spec, "a.trr", "--plot", self.path("none/a.svg"), code=73))
        self.assertEqual(os.listdir(self.path("out")), [])  # before anything was computed
        asked = subprocess.run([SHOAL, "results", "3f2a", "--csv"], capture_output=True, text=True, check=False)
        self.assertEqual((asked.returncode, asked.stderr), (2, "shoal results: --csv goes with --output, the folder that files go to; "
                                                               "shoal results --help shows how\n"))


if __name__ == "__main__":
    unittest.main(argv=["figures.py"])
