#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of real, small runs in a real browser without a window: what is wrong with the pages as they are seen, on a desk and on a phone,
in light and in dark; and that the picture has the figures in it.

Usage: pages.py SHOAL SHOALD SHOAL_WORKER
"""
import base64
import json
import os
import subprocess
import sys
import unittest

import browser
from served import SHOAL, Served
from tiny import tiny

SIZES = {"desk": (1280, False), "dark": (1280, True), "phone": (360, False)}
CAMPAIGN = """name: study
systems: {table: molecules.csv}
edges: {list: [[first, second], [second, molecule-of-a-long-name], [molecule-of-a-long-name, first]]}
legs:
  - {name: solvent, spec: tiny.yaml, sign: -1}
  - {name: change, of: edges, spec: pair.yaml}
spec:
  protocol: [{minimize: {steps: 5}}, {produce: {time: 200 steps, ensemble: npt, sample-every: 4 steps}}]
"""
SYSTEMS = ("first", "second", "molecule-of-a-long-name")

# Of a picture's rectangles, how many colours each has and what share of it is not of its most frequent colour.
LOOK = """(async (data, boxes) => {
  const picture = new Image();
  picture.src = "data:image/png;base64," + data;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  return boxes.map(([x, y, width, height]) => {
    const colors = new Map(), pixels = new Uint32Array(context.getImageData(x, y, width, height).data.buffer);
    for (const p of pixels) colors.set(p, (colors.get(p) || 0) + 1);
    return [colors.size, 1 - Math.max(...colors.values()) / pixels.length];
  });
})"""
BOXES = """[...document.querySelectorAll("svg")].map(e => e.getBoundingClientRect()).filter(r => r.right <= innerWidth)
  .map(r => [r.left, r.top + scrollY, r.width, r.height].map(Math.round))"""
TITLES = '[...document.querySelectorAll("figure svg > title")].map(e => e.textContent)'
FIGURES = '[...document.querySelectorAll("figure")]'


class Pages(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def shoal(self, *words):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def look(self):
        """What rectangles of figures have in the picture of the page that is open."""
        boxes = self.browser.script(BOXES)
        data = base64.b64encode(self.browser.picture()).decode()
        return self.browser.script(f"{LOOK}({json.dumps(data)}, {json.dumps(boxes)})")

    def check(self, path):
        with open(path, encoding="utf-8") as f:
            self.assertLess(len(f.read()), 200000)
        for name, (width, dark) in SIZES.items():
            with self.subTest(name):
                self.assertEqual(self.browser.faults(path, width, dark), [])
                ground = self.browser.script("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(sum(map(int, ground[4:-1].split(","))) < 300, dark)
                seen = self.look()
                self.assertGreater(len(seen), 3)
                for colors, share in seen:
                    self.assertTrue(colors > 4 and share > 0.005, seen)

    def test_ensemble(self):
        spec, files = tiny("swapping", seed=7, side=4, windows=(0, 0.1, 0.2, 0.3), steps=400)
        for name, text in files.items():
            self.write(f"ensemble/{name}", text)
        self.shoal("submit", self.write("ensemble/spec.yaml", spec.replace("protocol:", "exchange: {every: 20 steps, scheme: neighbours}\nprotocol:")))
        adaptive, _ = tiny("adaptive", seed=7, side=4, windows=(0, 0.1, 0.2, 0.3), steps=1200)
        self.shoal("submit", self.write("ensemble/adaptive.yaml", adaptive + "allocate: adaptive\n"))
        self.shoal("wait", "--all", "--timeout", "200")
        page = os.path.join(self.folder, "ensemble.html")
        self.shoal("report", "adaptive", "--output", page)
        self.check(page)
        self.assert_shares(json.loads(self.shoal("results", "adaptive", "--json"))["windows"])
        self.shoal("report", "swapping", "--output", page)
        self.check(page)
        results = json.loads(self.shoal("results", "swapping", "--json"))
        total = results["estimators"][0]["total"]["kcal/mol"]
        shown = self.browser.script('document.querySelector(".big").textContent').split()
        self.assertEqual((shown[1], shown[3]), ("\u00b1", "kcal/mol"))
        self.assertAlmostEqual(float(shown[0]), total["value"], delta=0.06 * abs(total["value"]) + total["error"] / 10)
        self.assertAlmostEqual(float(shown[2]), total["error"], delta=0.06 * total["error"])
        self.assertEqual(self.browser.script(TITLES), ["Convergence", "Overlap of windows", "dH/dlambda of vdw", "Statistical inefficiency g",
                                                       "Exchanges of repeat 0"])
        series = self.browser.script('[...document.querySelectorAll(".small tr")].map(r => [...r.cells].map(c => c.innerText.trim()))')
        self.assertEqual([len(row) for row in series], [6] * 5)
        self.assertIn("target 1.01325", series[0][2])
        for row, window in zip(series[1:], results["windows"]):
            for text, legend in zip(row[1:], ("Temperature", "Pressure", "Volume", "Potential", "Total Energy")):
                average = window["averages"][legend]
                value, error = (float(x) for x in text.split("\u00b1"))
                self.assertAlmostEqual(value, average["value"], delta=average["error"])
                self.assertAlmostEqual(error, average["error"], delta=0.06 * average["error"])

    def assert_shares(self, windows):
        """The open page shows what each window has of the time and of the error, and says something about it."""
        time = sum(w["sampled"]["magnitude"] for w in windows) / len(windows)
        error = sum(w["samples"]["variance"] for w in windows)
        titles = [f"window {w['window']}: {100 * w['samples']['variance'] / error:.1f} % of the error squared" for w in windows]
        titles += [f"window {w['window']}: {w['sampled']['magnitude']:.4g} ns, {w['sampled']['magnitude'] / time:.2f} of an even share" for w in windows]
        shown = self.browser.script(f"""(figure => [[...figure.querySelectorAll("rect > title, circle > title")].map(e => e.textContent),
          figure.querySelector("p").getBoundingClientRect().top > figure.querySelector("svg").getBoundingClientRect().bottom])
          ({FIGURES}.find(f => f.querySelector("b").textContent === "Time and error"))""")
        self.assertEqual(shown, [titles, True])

    def test_campaign(self):
        spec, files = tiny("tiny", seed=5, side=4)
        spec = spec.replace("tiny.top", "$(system)/tiny.top").replace("tiny.gro", "$(system)/tiny.gro")
        for system in SYSTEMS:
            for name, text in files.items():
                self.write(f"campaign/{system}/{name}", text)
        self.write("campaign/tiny.yaml", spec)
        self.write("campaign/pair.yaml", spec.replace("$(system)", "$(ligand_j)"))
        self.write("campaign/molecules.csv", "name,experiment (kcal/mol),error (kcal/mol)\n" + "".join(f"{s},{-3 - k},0.2\n" for k, s in enumerate(SYSTEMS)))
        path = self.write("campaign/campaign.yaml", CAMPAIGN)
        self.shoal("campaign", "submit", path)
        self.shoal("wait", "--label", "campaign=study", "--timeout", "200")
        page = os.path.join(self.folder, "campaign.html")
        # Fifty rows of a window may carry no number that could be believed, or none at all: exit code 1 then.
        done = subprocess.run([SHOAL, "report", path, "--output", page], env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.check(page)
        self.assertEqual(self.browser.script(TITLES), ["Systems by free energy", "Values beside experiment", "Edges beside experiment",
                                                       "Network of edges, kcal/mol"])
        self.assertEqual(self.browser.script('document.querySelectorAll("article").length'), 6)

    def test_faults(self):
        """Each fault that a page could have is found."""
        svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" style="width:400px;height:200px">'
        line = '<path d="M0 0L90 9" stroke="red"/>'
        good = f'<h1>a</h1><p>b</p><figure>{svg}<title>c</title>{line}<text y="50">words</text></svg></figure>'
        for body, found in ((good, None), (good + "<script>console.error('x')</script>", "says "), (good + '<img src="http://127.0.0.1:9/x.png">', "asks for http"),
                            (good + '<p style="width:2000px">d</p>', "ends beyond the window"), (good.replace('y="50"', 'y="-9"'), "leaves"),
                            (good.replace("words</text>", 'words</text><text y="52">others</text>'), "lies on"), (good.replace(line, ""), "is empty"),
                            (good.replace("height:200px", "height:9px"), "is 400 x 9"), (good + '<h2 style="margin-top:-80px">e</h2>', "lies on"),
                            (good.replace("<p>", '<p style="color:#ccc">'), "contrast"), (good.replace("words", '<tspan font-size="2">w</tspan>'), "too small")):
            with self.subTest(found):
                path = self.write("fault.html", f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>')
                wrong = self.browser.faults(path)
                self.assertEqual(bool(wrong), found is not None, wrong)
                self.assertTrue(not found or any(found in w for w in wrong), wrong)
        self.browser.open(self.write("blank.html", f'<!DOCTYPE html><body>{svg}</svg></body>'))
        self.assertEqual(self.look()[0][1], 0)


if __name__ == "__main__":
    if not browser.PROGRAM:
        print("skipped: no headless browser here; Debian's package chromium-headless-shell has one")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
