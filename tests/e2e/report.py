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


class Pages(Answered):
    def report(self, answer, *words, state="done", code=0, **changes):
        live = "" if state in ("done", "cancelled") else "?live=1"
        self.service.answers["GET /v1/ensembles/3f2a9c00"] = (200, ensemble(state=state, name="<methane>", **changes))
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


class Report(Pages):
    def column(self, page, name):
        """Of the table of windows; None: it has no such column."""
        rows = next([["".join(cell.itertext()) for cell in row] for row in table] for table in xml.etree.ElementTree.fromstring(page).iter(HTML + "table")
                    if "uncorrelated" in "".join(table[0].itertext()))
        return [row[rows[0].index(name)] for row in rows[1:]] if name in rows[0] else None

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
        self.assertEqual(list(circles.values()), [20, 0, WINDOWS - 1, WINDOWS - 1])
        cells = [r.find(SVG + "title").text for r in figures["Overlap of windows"].iter(SVG + "rect")]
        self.assertEqual(cells, [f"{i}, {j}: {1 / (1 + abs(i - j)):.3f}" for i in (0, 1, 2) for j in (0, 1, 2, 4)])

    def answer_of(self, answer, **more):
        return ["".join(p.itertext()) for p in xml.etree.ElementTree.fromstring(self.report(answer, **more)).find(f".//{HTML}section").iter(HTML + "p")]

    def test_headline(self):
        """The answer is that of the question: solvation with its sign, a leg of binding with its correction, a change with its direction."""
        last = "window 1 has <30> uncorrelated samples & more"
        answer = results()
        answer["solvation"] = {"molecule": "MET", "free_energy": energy(2, 0.1), "verdict": "unconverged"}
        self.assertEqual(self.answer_of(answer), ["free energy of solvation of MET", "2.00 \u00b1 0.10 kcal/mol", "unconverged",
                         "G(window 4) - G(window 0) = -2.00 \u00b1 0.10 kcal/mol by MBAR, with the sign changed: into the surroundings\n" + last])
        answer["finite_size"] = {"correction": energy(-0.5, 0), "missing": [], "charges": [1, 0], "edge": {"magnitude": 3, "unit": "nanometer"}}
        self.assertEqual(self.answer_of(answer)[1::2], ["2.50 \u00b1 0.10 kcal/mol", "G(window 4) - G(window 0) = -2.00 \u00b1 0.10 kcal/mol by MBAR - 0.50 "
                         "kcal/mol for no periodic images, all with the sign changed: into the surroundings\n" + last])
        for window, other, what in ((4, "free", "taking HOST and LIG apart, to 1 mol/l (a leg of binding: binding is the leg in water less this one)"),
                                    (0, "held", "bringing HOST and LIG together, from 1 mol/l (without attaching the restraints, which is another leg)")):
            held = {"molecules": ["HOST", "LIG"], "window": window, "other_end": other, "correction": energy(4.25, 0), "release": energy(4.25, 0)}
            self.assertEqual(self.answer_of({**results(), "standard_state": held}), [f"free energy of {what}", "2.25 \u00b1 0.10 kcal/mol", "unconverged",
                             "G(window 4) - G(window 0) = -2.00 \u00b1 0.10 kcal/mol by MBAR + 4.25 kcal/mol for the standard state of 1 mol/l\n" + last])
        answer = {**results(), "change": {"from": "B", "to": "A", "meaning": ""}}
        self.assertEqual(self.answer_of(answer)[:2], ["free energy of the change from state B to state A", "-2.00 \u00b1 0.10 kcal/mol"])
        self.assertIn("; so far: the ensemble is running, 50 % of all steps are done", self.answer_of(answer, state="running", progress=0.5, code=75)[0])

    def test_methods(self):
        """What was run, in lines to be pasted."""
        answer = results()
        self.assertNotIn("What was run", self.report(answer))
        answer.update(methods=[{"topic": "Masses", "text": "as in <the> topology"}], version="9.8", estimator="MBAR",
                      ensemble={"labels": {}, "spec_hash": "00ff", "devices": ["cpu one", "cpu two"], "running": {"magnitude": 200, "unit": "second"},
                                "speed": {"magnitude": 12.5, "unit": "nanosecond_per_day"}})
        for k, window in enumerate(answer["windows"]):
            window.update(seed=7 + k // 3, sampled={"magnitude": 1 + k, "unit": "nanosecond"})
        page = xml.etree.ElementTree.fromstring(self.report(answer, created="2026-11-20T10:00:00.000Z", changed="2026-11-21T11:30:00.000Z", device_seconds=125.4))
        (block,) = page.iter(HTML + "pre")
        self.assertEqual(block.text.splitlines(), [
            "Masses: as in <the> topology", "Production: 1 to 5 ns in each window, 15 ns in all", "Random seeds: 7, 8",
            "Free energies: MBAR, errors from the correlation of samples", "Program: Shoal 9.8; SHA-256 of spec and input files 00ff",
            "Device: cpu one; cpu two", "Wall-clock time on it: 3 min 20 s, 12.5 ns/day of all windows together",
            "Device time: 2 min 05 s (of a shared device its part)", "Dates: submitted 2026-11-20T10:00:00Z, last change 2026-11-21T11:30:00Z (UTC)"])

    def test_places(self):
        """Points lie on straight lines where their numbers do, and the numbers at the axes say what they are."""
        answer = results()
        for window, coulomb in zip(answer["windows"], (0, 0.5, 1, 1, 1)):
            window["lambda"]["coulomb"] = coulomb
            window["lambda"]["bonded"] = 0
        figures = self.figures(self.report(answer))
        self.assertNotIn("dH/dlambda of bonded", figures)
        svg = figures["dH/dlambda of vdw"]
        points = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter(SVG + "circle")]
        self.assertEqual(len(points), WINDOWS - 1)  # one has no samples
        (a, b, c, d), steps = points, (points[1][0] - points[0][0], points[1][1] - points[0][1])
        for one, windows in ((b, 1), (c, 2), (d, 4)):
            self.assertAlmostEqual(one[0] - a[0], windows * steps[0], delta=0.3)
            self.assertAlmostEqual(one[1] - a[1], windows * steps[1], delta=0.3)
        ticks = {t.text: float(t.get("y")) - 4 for t in svg.iter(SVG + "text") if t.get("class") == "soft up"}
        self.assertAlmostEqual(ticks["0"], a[1], delta=0.11)
        self.assertAlmostEqual(ticks["20"], c[1], delta=0.11)
        along = {float(t.text): float(t.get("x")) for t in svg.iter(SVG + "text") if t.get("class") == "soft along"}
        self.assertAlmostEqual(along[0], a[0], delta=0.11)
        self.assertAlmostEqual(along[1], d[0], delta=0.11)
        # Where coulomb stays 1, its derivative is no part of any integral.
        self.assertEqual(len(list(figures["dH/dlambda of coulomb"].iter(SVG + "circle"))), 3)
        said = [t.text for t in svg.iter(SVG + "text") if t.get("class") == ""]
        self.assertEqual(said, ["lambda of vdw", "dH/dlambda, kJ/mol"])

    def test_while_it_runs(self):
        """Windows that wait have no numbers and have not failed; a reason is said once; legs are indented."""
        answer = results()
        answer.update(status="failed", reason="windows 0 still running; windows 3 to 4 have no samples", estimate=None)
        answer["verdict"]["reasons"] = [{"code": "no_samples", "text": "windows 3 to 4 have no samples"}, {"code": "slow", "text": "another"}]
        answer["estimators"][0].update(total=None, verdict={"verdict": "failed", "reasons": []})
        answer["estimators"][0]["legs"] = [{"name": name, "free_energy": energy(1, 0.1), "verdict": "converged"} for name in ("coulomb", "vdw")]
        for window in answer["windows"][3:]:
            window.update(status="waits", samples=None, sampled={"magnitude": 0, "unit": "nanosecond"}, dhdl={})
        page = self.report(answer, state="running", code=75)
        root = xml.etree.ElementTree.fromstring(page)
        said = ["".join(p.itertext()) for p in root.find(f".//{HTML}section").iter(HTML + "p")]
        self.assertEqual(said[1:-1], ["no free energy yet"])
        self.assertEqual(said[-1], "windows 0 still running; windows 3 to 4 have no samples\nanother")
        rows = [["".join(cell.itertext()) for cell in row] for row in root.iter(HTML + "tr")]
        self.assertEqual([row[1:] for row in rows if row[0] == "4"], [["1", "waits"] + 6 * ["-"] + [""]])
        self.assertEqual([row for row in rows if row[0] == "MBAR"], [["MBAR", "-", "-", "-", "not yet"]])
        self.assertIn("status not yet: windows 0 still", page)
        cells = [i for i in self.figures(page)["Overlap of windows"].iter(SVG + "rect")]
        self.assertEqual({c.find(SVG + "title").text.split(",")[0] for c in cells if c.find(SVG + "title") is not None}, {"0", "1", "2"})
        inner = {row[0].text for row in root.iter(HTML + "tr") if "inner" in (row[0].get("class") or "").split()}
        self.assertEqual(inner, {"  coulomb", "  vdw"})
        self.look_at(page)

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

    def shares(self, answer, **changes):
        """The figure of time and error, its rectangles and circles as multiples of an even share, their titles, and the sentence under it."""
        page = self.report(answer, **changes)
        figure = next(f for f in xml.etree.ElementTree.fromstring(page).iter(HTML + "figure") if f[0][0].text == "Time and error")
        ticks = {float(t.text): float(t.get("y")) - 4 for t in figure.iter(SVG + "text") if t.get("class") == "soft up"}
        zero, one = ticks[0], ticks[1]
        bars, marks = list(figure.iter(SVG + "rect")), list(figure.iter(SVG + "circle"))
        for bar in bars:
            self.assertAlmostEqual(float(bar.get("y")) + float(bar.get("height")), zero, delta=0.11)
        heights = [float(b.get("height")) / (zero - one) for b in bars], [(zero - float(c.get("cy"))) / (zero - one) for c in marks]
        return *heights, [e[0].text for e in bars + marks], figure[-1].text, page

    def with_variances(self, variances, times, freedom=50, repeats=1):
        answer = results()
        answer["windows"] = [{**window, "repeat": repeat, "sampled": {"magnitude": time, "unit": "nanosecond"},
                              "samples": {**answer["windows"][0]["samples"], "variance": v, "variance_freedom": freedom}}
                             for repeat in range(repeats) for window, v, time in zip(answer["windows"], variances, times)]
        return answer

    def test_shares_even(self):
        """One window limits the answer. Its standard deviation would decide on the share: the variance goes as the sum of those, squared."""
        variances = [0.01, 0.01, 0.16, 0.01, 0.01]
        answer = self.with_variances(variances, [2] * WINDOWS)
        error, time, titles, sentence, page = self.shares(answer)
        for k, variance in enumerate(variances):
            self.assertAlmostEqual(error[k], variance / sum(variances) * WINDOWS, delta=0.01)
            self.assertAlmostEqual(time[k], 1, delta=0.01)
        self.assertEqual((titles[2], titles[-1]), ("window 2: 80.0 % of the error squared", "window 4: 2 ns, 1.00 of an even share"))
        needed = sum(v ** 0.5 for v in variances) ** 2 / WINDOWS / sum(variances)
        self.assertEqual(sentence, "Window 2 of 5 brings 80 % of the error squared; with allocate: adaptive in the spec the same error "
                                   f"takes about {100 * needed:.0f} % of the time.")
        self.assertEqual(self.column(page, "error/%"), ["5.0", "5.0", "80.0", "5.0", "5.0"])
        self.assertEqual(self.column(page, "share"), None)
        sentence = self.shares(self.with_variances([0.1, 0.11, 0.1, 0.12, 0.1], [2] * WINDOWS))[3]
        self.assertEqual(sentence, "No other share of the time does much better: for a smaller error give more of it (shoal extend 3f2a9c00 --time).")
        sentence = self.shares(self.with_variances(variances, [2] * WINDOWS, freedom=3), state="cancelled", code=1)[3]
        self.assertEqual(sentence, "What each window brings is not known well yet: sample on before it is acted on.")

    def test_shares_by_need(self):
        """Of two repeats with time that was handed out by need."""
        by_need = {"allocate": {"before": 0, "share": 1000, "handed_out": 1.0}}
        variances, times = [0.01, 0.02, 0.04, 0.02, 0.01], [1, 1.5, 5, 1.5, 1]
        answer = self.with_variances(variances, times, repeats=2)
        answer["windows"][WINDOWS + 4].update(samples=None, status="failed")
        error, time, titles, sentence, page = self.shares(answer, **by_need)
        whole, rest = sum(variances), sum(variances[:4])
        for k in range(WINDOWS):
            self.assertAlmostEqual(error[k] / WINDOWS, variances[k] * (1 / whole if k == 4 else (1 / whole + 1 / rest) / 2), delta=0.003)
            self.assertAlmostEqual(time[k], times[k] / 2, delta=0.01)
        self.assertEqual(titles[WINDOWS + 2], "window 2: 5 ns, 2.50 of an even share")
        self.assertEqual(sentence, "The time went where it cuts the error most: for a smaller error give more of it (shoal extend 3f2a9c00 --time).")
        self.assertEqual(self.column(page, "share"), 2 * [f"{t / 2:.2f}" for t in times])
        self.assertEqual(self.column(page, "error/%"), [f"{100 * v / w:.1f}" for w in (whole, rest) for v in variances][:-1] + ["-"])
        sentence = self.shares(self.with_variances(variances[::-1], [5, 1.5, 1, 1.5, 1]), **by_need)[3]
        self.assertEqual(sentence, "Windows 1, 2 of 5 bring 60 % of the error squared by now: give more time (shoal extend 3f2a9c00 --time), "
                                   "most of which goes to what needs it.")
        sentence = self.shares(answer, state="running", code=75, **by_need)[3]
        self.assertEqual(sentence, "What is left of production goes where it cuts the error most: nothing is to be done.")

    def test_shares_of_many(self):
        answer = self.with_variances([0.07] * WINDOWS, [1] * WINDOWS)
        plain = answer["windows"][0]
        answer["windows"] = [{**plain, "window": k, "samples": {**plain["samples"], "variance": 0.3 if k in (3, 9, 10, 20, 21, 22, 30, 35) else 0.07}}
                             for k in range(40)]
        answer["windows"].append({**plain, "window": 40, "status": "failed", "sampled": {"magnitude": 0, "unit": "nanosecond"}, "samples": None})
        error, time, _, sentence, page = self.shares(answer)
        self.assertAlmostEqual(sum(error), 40, delta=0.3)
        self.assertEqual({round(t, 1) for t in time}, {1})
        self.assertEqual(sentence, "Windows 3, 9, 10, 20 to 22, 30 and others of 40 bring 52 % of the error squared; with allocate: adaptive in the spec "
                                   "the same error takes about 89 % of the time.")
        self.look_at(page)

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
