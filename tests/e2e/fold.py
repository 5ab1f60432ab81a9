#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A protein that keeps its fold and one that does not: RMSD of backbone and ligand in results and report, window by window over time, with
a warning where they drift; the same numbers as `gmx rms` has of the same trajectory. Other atoms and another limit by the spec's `fold`.

The protein is a helix of twelve residues of three atoms each, held by springs between all atoms that are close, or pulled straight by springs
over six bonds; the ligand is four atoms beside it, of which the alchemy changes charges. It is free where the protein is not held.

Usage: fold.py SHOAL SHOALD WORKER
"""
import json
import math
import os
import re
import shutil
import subprocess
import time
import unittest
import xml.etree.ElementTree

from served import SHOAL, Served

RESIDUES, NAMES, RISE, RADIUS, TURN = 12, ("N", "CA", "C"), 0.05, 0.19, math.radians(100 / 3)
HELIX = [(RADIUS * math.cos(TURN * k), RADIUS * math.sin(TURN * k), RISE * k) for k in range(3 * RESIDUES)]
LIGAND = [(0.55, 0, 0.8), (0.55, 0.15, 0.8), (0.65, 0.1, 0.93), (0.55, 0, 0.95)]
EDGE = 5.0  # nm; of a rhombic dodecahedron
GMX = shutil.which("gmx_d") or shutil.which("gmx")


def springs(places, reach, k):
    return "".join(f"{i + 1} {j + 1} 6 {math.dist(a, b):.5f} {k}\n" for i, a in enumerate(places) for j, b in enumerate(places)
                   if i < j and math.dist(a, b) < reach)


def straight():
    """Springs as long as six bonds in line. The helix becomes a rod of twice its length, whatever noise does."""
    bond = math.dist(HELIX[0], HELIX[1])
    return "".join(f"{k} {k + 6} 6 {6 * bond:.5f} 20000\n" for k in range(1, 3 * RESIDUES - 5))


def topology(held, states):
    """held: in the shape of a helix. states: charges of the ligand have a state B."""
    atoms = "".join(f"{3 * r + k + 1} X {r + 1} ALA {name} {3 * r + k + 1} 0 {12 + 2 * (k == 0)}\n" for r in range(RESIDUES) for k, name in enumerate(NAMES))
    bonds = "".join(f"{k} {k + 1} 1 {math.dist(HELIX[k - 1], HELIX[k]):.5f} 100000\n" for k in range(1, 3 * RESIDUES))
    ligand = "".join(f"{k + 1} X 1 LIG C{k + 1} {k + 1} 0 12{f' X {(-1)**k * 0.05} 12' if states else ''}\n" for k in range(4))
    between = "".join(f"{i + 1} {37 + j} 6 {math.dist(HELIX[i], x):.5f} {5000 if held else 0}\n" for i in range(0, 36, 5) for j, x in enumerate(LIGAND))
    return f"""[ defaults ]
1 2 no 1 1
[ atomtypes ]
X 6 12.011 0 A 0.25 0.2
[ moleculetype ]
PRO 3
[ atoms ]
{atoms}[ bonds ]
{bonds}{springs(HELIX, 0.6, 20000) if held else straight()}[ moleculetype ]
LIG 3
[ atoms ]
{ligand}[ bonds ]
{springs(LIGAND, 1, 50000).replace(" 6 ", " 1 ")}[ system ]
a protein and its ligand
[ molecules ]
PRO 1
LIG 1
[ intermolecular_interactions ]
[ bonds ]
{between}"""


def coordinates():
    middle = (0.75 * EDGE, 0.75 * EDGE, EDGE / 2 / math.sqrt(2) - 0.9)
    rows = [(r + 1, "ALA", name, HELIX[3 * r + k]) for r in range(RESIDUES) for k, name in enumerate(NAMES)]
    rows += [(RESIDUES + 1, "LIG", f"C{k + 1}", x) for k, x in enumerate(LIGAND)]
    lines = ["%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % (residue, resname, name, number, *(a + b for a, b in zip(middle, x)))
             for number, (residue, resname, name, x) in enumerate(rows, 1)]
    box = "%.5f %.5f %.5f 0 0 0 0 %.5f %.5f" % (EDGE, EDGE, EDGE / math.sqrt(2), EDGE / 2, EDGE / 2)
    return "\n".join(["a protein and its ligand", str(len(rows)), *lines, box, ""])


SPEC = """name: NAME
system: {topology: protein.top, coordinates: protein.gro}
nonbonded: {cutoff: 1.0 nm, coulomb: {method: reaction-field}}
constraints: none
integrator: {temperature: 300 K, timestep: 2 fs, friction: 1 /ps, seed: 3}
alchemy:
  perturb: b-states
  windows: {coulomb: [0, 1]}
protocol:
  - minimize: {steps: 50}
  - equilibrate: {time: 1 ps, ensemble: nvt, frames-every: 0.5 ps}
  - produce: {time: PS ps, ensemble: nvt, sample-every: 0.1 ps, frames-every: 0.5 ps}
"""


class Fold(Served):
    OPTIONS = ("--live-seconds", "0")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def run_one(self, name, held=True, ps=20, more="", spec=SPEC, states=True, wait=True):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        files = {"protein.top": topology(held, states), "protein.gro": coordinates(), "a.yaml": spec.replace("NAME", name).replace("PS", str(ps)) + more}
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        ident = json.loads(self.shoal("submit", os.path.join(folder, "a.yaml"), "--json", *(["--output", os.path.join(folder, "out")] if wait else [])))["id"]
        if not wait:
            return ident, None, folder
        self.shoal("wait", ident)
        results = json.loads(self.shoal("results", ident, "--json"))
        self.shoal("results", ident, "--output", os.path.join(folder, "out"))
        return ident, results, folder

    def test_kept(self):
        ident, results, folder = self.run_one("kept")
        fold = results["fold"]
        self.assertEqual(fold["backbone"], {"text": "N, CA and C of 12 residues", "atoms": 36})
        self.assertEqual(fold["ligand"], {"text": "heavy atoms of LIG", "atoms": 4})
        self.assertEqual([(w["window"], w["frames"], len(w["points"])) for w in fold["windows"]], [(0, 41, 41), (1, 41, 41)])
        for window in fold["windows"]:
            for group in ("backbone", "ligand"):
                values = [point[group + "_nm"] for point in window["points"]]
                self.assertEqual(window[group]["drift"], "steady")
                self.assertAlmostEqual(window[group]["mean_nm"], sum(values) / 41, places=9)
                self.assertAlmostEqual(window[group]["last_quarter_nm"], sum(values[30:]) / 11, places=9)
                self.assertAlmostEqual(window[group]["most_nm"], max(values), places=9)
            self.assertTrue(0.005 < window["backbone"]["mean_nm"] < 0.05, window["backbone"])
        self.assertNotIn("start structure", str(results["warnings"]))
        text = self.shoal("results", ident)
        self.assertIn("RMSD from the start structure, backbone laid over backbone, in 82 frames of production, nm:", text)
        self.assertRegex(text, r"ligand +heavy atoms of LIG +4 ")
        page = self.shoal("report", ident)
        svg = "{http://www.w3.org/2000/svg}"
        figures = {one.find(svg + "title").text: one for one in xml.etree.ElementTree.fromstring(page).iter(svg + "svg")}
        for group in ("backbone", "ligand"):
            lines = [path for path in figures["RMSD of the " + group].iter(svg + "path") if re.fullmatch(r"k k[01]", path.get("class", ""))]
            self.assertEqual([len(re.findall(r"[ML]", path.get("d"))) for path in lines], [41, 41])
        self.assertIsNone(fold["warning"])
        self.assertIn("No window drifts.", page)
        if GMX:
            self.against_gmx(folder, fold["windows"][1]["points"])
        else:
            print("gmx: SKIP, not installed")

    def against_gmx(self, folder, points):
        """`gmx rms` without weights of masses, of the second window."""
        with open(os.path.join(folder, "run.mdp"), "w", encoding="utf-8") as f:
            f.write("cutoff-scheme = Verlet\ncoulombtype = reaction-field\nrcoulomb = 1\nrvdw = 1\n")
        with open(os.path.join(folder, "groups.ndx"), "w", encoding="utf-8") as f:
            f.write("[ backbone ]\n" + " ".join(map(str, range(1, 37))) + "\n[ ligand ]\n37 38 39 40\n")
        quiet = dict(cwd=folder, capture_output=True, text=True, check=True)
        subprocess.run([GMX, "grompp", "-f", "run.mdp", "-c", "protein.gro", "-p", "protein.top", "-o", "run.tpr", "-maxwarn", "5"], **quiet)
        for group in ("backbone", "ligand"):
            subprocess.run([GMX, "rms", "-s", "run.tpr", "-f", "out/lambda_01/traj.xtc", "-n", "groups.ndx", "-nomw", "-b", "0", "-xvg", "none", "-o", "rms.xvg"],
                           input=f"backbone\n{group}\n", **quiet)
            with open(os.path.join(folder, "rms.xvg"), encoding="utf-8") as f:
                theirs = [tuple(map(float, line.split())) for line in f]
            os.remove(os.path.join(folder, "rms.xvg"))
            self.assertEqual(len(theirs), len(points))
            for (time, value), point in zip(theirs, points):
                self.assertAlmostEqual(time, point["time_ps"], places=4)
                self.assertAlmostEqual(value, point[group + "_nm"], delta=2e-6)

    def test_lost(self):
        ident, results, _ = self.run_one("lost", held=False, more="repeats: 2\n")
        windows = results["fold"]["windows"]
        self.assertEqual([(w["repeat"], w["window"]) for w in windows], [(0, 0), (0, 1), (1, 0), (1, 1)])
        self.assertEqual({w["backbone"]["drift"] for w in windows}, {"far"})
        warning = results["fold"]["warning"]
        self.assertIn(warning, results["warnings"])
        self.assertIn(f'<p class="warn">{warning}</p>', self.shoal("report", ident))
        self.assertIn("the backbone (N, CA and C of 12 residues) is far from the start structure in windows 0.0, 0.1, 1.0 and 1.1 (RMSD up to 0.", warning)
        self.assertIn("beyond the limit of 0.3 nm); the ligand (heavy atoms of LIG) is far from", warning)
        self.assertIn("warning: " + warning, self.shoal("results", ident))

    def test_named(self):
        """The spec names other atoms, and a limit that nothing keeps; what is held by nothing but its own atoms keeps its shape."""
        more = "fold: {backbone: {name: CA}, ligand: {atoms: 1-3}, limit: 0.001 nm}\n"
        _, results, _ = self.run_one("named", ps=5, more=more)
        fold = results["fold"]
        self.assertEqual(fold["backbone"], {"text": "CA", "atoms": 12})
        self.assertEqual(fold["ligand"], {"text": "1-3", "atoms": 3})
        self.assertEqual({w["ligand"]["drift"] for w in fold["windows"]}, {"far"})

    def test_so_far(self):
        """Of a running ensemble the same as of one that has ended, of the frames that there are; turns of torsions are counted at the end."""
        ident, _, _ = self.run_one("running", ps=100000, wait=False)
        deadline = time.monotonic() + 60
        while True:
            results = json.loads(self.shoal("results", ident, "--json", code=None))
            windows = (results.get("fold") or {}).get("windows", [])
            if len(windows) == 2 and all(w["frames"] > 8 for w in windows):
                break
            self.assertLess(time.monotonic(), deadline, results)
            time.sleep(0.3)
        self.assertEqual(json.loads(self.shoal("status", ident, "--json"))["ensembles"][0]["state"], "running")
        for window in windows:
            self.assertTrue(0.005 < window["backbone"]["mean_nm"] < 0.05, window)
            self.assertLessEqual(window["points"][0]["time_ps"], 0.5)
        self.assertIsNone(results.get("torsions"))
        self.assertRegex(self.shoal("results", ident, code=None), r"RMSD from the start structure, backbone laid over backbone, in \d+ frames of production")
        self.assertIn("RMSD of the backbone", self.shoal("report", ident, code=None))
        self.shoal("cancel", ident)

    def test_unseen(self):
        _, results, _ = self.run_one("unseen", ps=1, spec=SPEC.replace(", frames-every: 0.5 ps", ""))
        self.assertEqual(results["fold"]["windows"], [])
        ident = results["ensemble"]["id"]
        self.assertIn("the protein's fold was not followed, for want of trajectories", self.shoal("results", ident))
        self.assertNotIn("RMSD of the backbone", self.shoal("report", ident))

    def test_decoupled(self):
        """A ligand that acts on nothing need not stay, and is not warned of in those windows."""
        spec = SPEC.replace("perturb: b-states", "decouple: LIG").replace("coulomb: [0, 1]", "vdw: [0, 0.5]")
        _, results, _ = self.run_one("decoupled", ps=5, spec=spec, more="fold: {limit: 0.001 nm}\n", states=False)
        windows = results["fold"]["windows"]
        self.assertEqual([w["ligand"]["drift"] for w in windows], ["far", "steady"])
        self.assertEqual([w["backbone"]["drift"] for w in windows], ["far", "far"])
        warning = next(w for w in results["warnings"] if "start structure" in w)
        self.assertIn("the backbone (N, CA and C of 12 residues) is far from the start structure in windows 0 and 1 (", warning)
        self.assertIn("the ligand (heavy atoms of LIG) is far from the start structure in window 0 (", warning)


if __name__ == "__main__":
    unittest.main(argv=["fold.py"], verbosity=2)
