#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Observables of an ensemble while it runs: what they come to is what shoal observe makes of the frames that the same run writes, in the
files of windows and in the results; also where the service is killed on the way.

Usage: observe_live.py SHOAL SHOALD WORKER
"""
import json
import math
import os
import re
import signal
import subprocess
import unittest

from served import SHOAL, Served
from service import until
from tiny import tiny

OBSERVABLES = """observables:
  - rdf: {between: [OW, OW], max: 0.5 nm, bin: 0.02 nm, every: 20 steps}
  - msd: {of: {resname: SOL}, by: molecule, max: 0.4 ps, every: 20 steps, fit: [0.04 ps, 0.2 ps]}
  - saxs: {of: {resname: SOL}, max: 20 /nm, bin: 2 /nm, every: 20 steps}
  - dielectric: {every: 20 steps}
"""
# What no .xtc file has.
MOTION = """  - pressure: {every: 20 steps}
  - pressure: {every: 10 steps, name: often}
  - vacf: {of: {resname: SOL}, by: molecule, max: 0.1 ps, restart: no, every: 1 steps}
"""
STEPWISE = """  - msd: {of: {resname: SOL}, by: molecule, max: 0.004 ps, every: 1 steps, fit: [0.002 ps, 0.004 ps], name: stepwise}
"""
FILES = ["rdf.xvg", "msd.xvg", "saxs.xvg", "dielectric.xvg"]


R, WATER = 0.00831446261815324, 18.0154  # kJ/(mol K), u


def table(text):
    return [[float(word) for word in line.split()] for line in text.splitlines() if line[0] not in "#@"]


class Live(Served):
    OPTIONS = ("--live-seconds", "0")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def submit(self, name, *changes, observables=OBSERVABLES):
        spec, inputs = tiny("water", seed=5, steps=600, windows=(0, 0.5))
        spec = spec + observables
        for old, new in (("frames-every: 200 steps", "frames-every: 20 steps"), *changes):
            self.assertIn(old, spec)
            spec = spec.replace(old, new)
        for file, text in {f"{name}.yaml": spec, **inputs}.items():
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return json.loads(self.shoal("submit", os.path.join(self.folder, f"{name}.yaml"), "--json"))["id"]

    def fetched(self, ident):
        self.shoal("wait", ident)
        folder = os.path.join(self.folder, ident)
        self.shoal("results", ident, "--output", folder, "--csv")
        return folder

    def read(self, *path):
        with open(os.path.join(*path), encoding="utf-8") as f:
            return f.read()

    def test_frames(self):
        folder = self.fetched(self.submit("whole"))
        results = json.loads(self.read(folder, "results.json"))["observables"]
        self.assertEqual([(o["window"], o["repeat"], o["file"]) for o in results],
                         [(w, 0, f"lambda_{w:02d}/{f}") for w in (0, 1) for f in FILES])
        said = self.shoal("results", os.path.basename(folder))
        self.assertRegex(said, r"(?m)^ +1 +rdf +31 +highest g\(r\) \d\.\d+ \+- 0\.\d+ at 0\.2\d nm +(un)?converged +lambda_01/rdf.xvg$")
        self.assertRegex(said, r"(?m)^ +1 +dielectric +31 +dielectric constant \d+\.?\d* \+- \d+\.?\d* at 298.15 K +(un)?converged +lambda_01/")
        self.assertRegex(said, r"(?m)^ +0 +msd +31 +D -?\d+\.\d* \+- \d+\.?\d* 1e-5 cm\^2/s, from 0.04 to 0.2 ps +(un)?converged +lambda_00/msd.xvg$")
        for one in results:  # the words of the table are those of results.json
            self.assertRegex(said, rf"(?m)^ +{one['window']} +{one['name']} +31 +{re.escape(one['summary'])} +(un)?converged +{one['file']}$")
        page = self.shoal("report", os.path.basename(folder))
        for title in ("rdf: g(r)", "rdf: coordination number within r + bin/2", "msd: MSD", "saxs: I(q)"):
            figure = page.split(f"<b>{title}</b>", 1)[1].split("</figure>", 1)[0]
            self.assertEqual(figure.count('class="area k'), 2, title)
        for window in (0, 1):
            of_window = os.path.join(folder, f"lambda_{window:02d}")
            told = self.shoal("observe", os.path.join(self.folder, "whole.yaml"), "--trajectory", os.path.join(of_window, "traj.xtc"),
                              "--output", os.path.join(self.folder, "offline"), "--json")
            offline = json.loads(told)["observables"]
            rdf, msd, saxs, dielectric = results[len(FILES) * window:len(FILES) * (window + 1)]
            self.assertEqual([o["frames"] for o in results], [31] * 2 * len(FILES))
            self.assertEqual([o["frames"] for o in offline], [31] * len(FILES))
            # frames of the trajectory are rounded to 0.001 nm: pairs change bins, each with few others
            pairs = [row[5] for row in table(self.read(of_window, "rdf.xvg"))]
            for live, other in zip(pairs, offline[0]["pairs"]):
                self.assertLessEqual(abs(live - other), 10 + 0.03 * other)
            self.assertLess(abs(sum(pairs) - sum(offline[0]["pairs"])), 0.002 * sum(pairs))
            self.assertAlmostEqual(rdf["highest"]["g"], offline[0]["highest"]["g"], delta=0.05)
            self.assertAlmostEqual(rdf["mean_inverse_volume_per_nm3"], offline[0]["mean_inverse_volume_per_nm3"], delta=1e-5)
            for live, other in zip(table(self.read(of_window, "msd.xvg")), offline[1]["msd_nm2"]):
                self.assertAlmostEqual(live[1], other, delta=1e-5 + 0.01 * other)
            d, other = msd["diffusion"]["value_cm2_per_s"], offline[1]["diffusion"]["value_cm2_per_s"]
            self.assertAlmostEqual(d, other, delta=0.02 * d)
            lines = self.read(of_window, "saxs.csv").splitlines()
            self.assertEqual(lines[0], '"q (1/nm)","I(q)","error of I(q)"')
            self.assertEqual([[float(v) for v in line.split(",")] for line in lines[1:]], table(self.read(of_window, "saxs.xvg")))
            self.assertTrue(os.path.exists(os.path.join(of_window, "energy.csv")))
            for live, other in zip(table(self.read(of_window, "saxs.xvg")), offline[2]["intensity"]):
                self.assertAlmostEqual(live[1], other, delta=0.01 * other)
            constant, other = (o["dielectric"]["constant"] for o in (dielectric, offline[3]))
            self.assertTrue(constant > 1.1)
            self.assertAlmostEqual(constant, other, delta=0.01 * constant)
            self.assertAlmostEqual(saxs["lowest"]["intensity"], offline[2]["intensity"][0], delta=0.01 * offline[2]["intensity"][0])

    def test_motion(self):
        """Pressures are those of the rows of energies, at steps without rows too; velocities have the temperature, and move the atoms."""
        constant = "steps, ensemble: npt, sample-every", "steps, ensemble: nvt, sample-every"
        plain = self.fetched(self.submit("plain", constant, observables=""))
        folder = self.fetched(self.submit("motion", constant, observables="observables:\n" + MOTION + STEPWISE))
        said = self.shoal("results", os.path.basename(folder))
        self.assertRegex(said, r"(?m)^ +1 +pressure +31 +P -?\d+ \+- \d+ bar; xx -?\d+\.?\d*, yy -?\d+\.?\d*, zz -?\d+\.?\d* +(un)?converged +lambda_01/")
        self.assertRegex(said, r"(?m)^ +0 +vacf +601 +D \d+\.\d* \+- \d+\.?\d* 1e-5 cm\^2/s, up to 0.1 ps +(un)?converged +lambda_00/vacf.xvg$")
        results = json.loads(self.read(folder, "results.json"))["observables"]
        self.assertEqual([o["frames"] for o in results], 2 * [31, 61, 601, 601])
        for window in (0, 1):
            for file in ("dhdl.xvg", "energy.xvg"):  # samples in between change nothing
                self.assertEqual(self.read(plain, f"lambda_{window:02d}", file), self.read(folder, f"lambda_{window:02d}", file))
            pressure, _, vacf, _ = results[4 * window:4 * window + 4]
            text = self.read(folder, f"lambda_{window:02d}", "energy.xvg")
            column = {legend: int(n) + 1 for n, legend in re.findall(r'(?m)^@ s(\d+) legend "(.*)"$', text)}
            rows = [row for row in table(text) if row[0] >= 0]
            scalar = [row[column["Pressure"]] for row in rows]
            self.assertEqual(len(scalar), 31)
            p = pressure["pressure_bar"]
            self.assertAlmostEqual(p["mean"]["value"], sum(scalar) / 31, delta=1e-5 * max(map(abs, scalar)))
            self.assertAlmostEqual(p["mean"]["value"], sum(p[k]["value"] for k in ("xx", "yy", "zz")) / 3, delta=1e-6)
            blocks = table(self.read(folder, f"lambda_{window:02d}", "pressure.xvg"))
            self.assertEqual([b[0] for b in blocks], [*range(2, 31, 2), 31])
            for k, name in enumerate(("xx", "yy", "zz", "xy", "xz", "yz", "mean"), 1):
                mean = (2 * sum(b[k] for b in blocks[:-1]) + blocks[-1][k]) / 31
                self.assertAlmostEqual(p[name]["value"], mean, delta=1e-6 * max(abs(b[k]) for b in blocks))
                self.assertTrue(p[name]["error"] > 0)
            square = vacf["green_kubo"]["mean_square_velocity_nm2_per_ps2"]
            kt = R * sum(row[column["Temperature"]] for row in rows) / 31
            self.assertAlmostEqual(square, 3 * kt / WATER, delta=0.1 * square)
            steps = table(self.read(folder, f"lambda_{window:02d}", "stepwise.xvg"))
            # a step goes by velocities before and behind friction and noise
            self.assertAlmostEqual(steps[1][1] / 0.002**2, square * (1 + math.exp(-0.002)) / 2, delta=0.001 * square)

    def test_narrow(self):
        """A box that becomes too narrow ends an rdf; what there was is kept, and everything says so."""
        pressure = ("1.01325 bar, every: 25 steps", "8000 bar, every: 5 steps")
        folder = self.fetched(self.submit("narrow", pressure, ("max: 0.5 nm", "max: 0.74 nm")))
        for rdf in json.loads(self.read(folder, "results.json"))["observables"][::len(FILES)]:
            self.assertEqual(rdf["name"], "rdf")
            self.assertTrue(0 < rdf["frames"] < 31, rdf)
            self.assertLess(rdf["ended_box_width_nm"], 1.48)
            self.assertEqual(rdf["ended_at_step"] % 20, 0)
            said = f"# ended at step {rdf['ended_at_step']}, where the box was {rdf['ended_box_width_nm']:.6g} nm wide\n"
            self.assertIn(said, self.read(folder, rdf["file"]))

    def test_too_short(self):
        ident = self.submit("short", observables="observables:\n- msd: {of: OW, max: 20 ps, every: 20 steps}\n")
        self.fetched(ident)
        self.assertRegex(self.shoal("results", ident), r"(?m)^ +1 +msd +31 +no D: fewer than two lags from 2 to 18 ps, the longest so far is 1.2 ps +failed +lambda_01/msd.xvg$")

    def test_killed(self):
        whole, broken = (self.submit(name, observables=OBSERVABLES + MOTION) for name in ("one", "other"))
        for step in (620, 850):  # of 1100
            until(lambda n=step: max(r["step"] for r in json.loads(self.shoal("status", broken, "--json"))["ensembles"][0]["replicas"]) >= n)
            self.stop(signal.SIGKILL)
            self.start()
        a, b = self.fetched(whole), self.fetched(broken)
        for window in (0, 1):
            for file in [*FILES, "pressure.xvg", "often.xvg", "vacf.xvg"]:
                self.assertEqual(self.read(a, f"lambda_{window:02d}", file), self.read(b, f"lambda_{window:02d}", file))


if __name__ == "__main__":
    unittest.main(argv=["observe_live.py"])
