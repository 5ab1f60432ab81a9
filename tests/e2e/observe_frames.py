#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal observe: which frames of a trajectory count, by their times; and frames that are no frames.

Usage: observe_frames.py SHOAL [DEVICE [WORKER]]
"""
import itertools
import json
import math
import random
import struct
import unittest

import observe

RDF = "- rdf: {between: [OW, OW], max: 1 nm, bin: 0.05 nm}\n"


def at(made, times, box=None):
    return [(t, box or one[1], one[2]) for t, one in zip(times, made)]


def xtc(made):
    """Of few atoms, which are written as they are, in single precision."""
    data = b""
    for k, (time, box, x) in enumerate(made):
        data += struct.pack(">3if9fi", 1995, len(x), k, time, *itertools.chain(*box), len(x))
        data += struct.pack(f">{3 * len(x)}f", *itertools.chain(*x))
    return data


class Frames(observe.Files):
    def test_picked(self):
        """As gmx trjconv picks: a whole number of --dt behind the first that counts."""
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0))))  # every 0.5 ps up to 9 ps
        for words, frames in (("--dt 0.75ps", [0, 3, 6, 9, 12, 15, 18]), ("--dt 0.3ps", [0, 3, 6, 9, 12, 15, 18]),
                              ("--begin 0.5ps --dt 1ps", range(1, 19, 2)), ("--begin 0.6ps --dt 1ps --end 4ps", [2, 4, 6, 8])):
            found = json.loads(self.observe(RDF, "a.trr", "--json", *words.split()))["observables"][0]
            made = [observe.frames((0, 0, 0))[k] for k in frames]
            pairs = list(itertools.combinations(range(0, observe.ATOMS, 3), 2))
            self.assertEqual(found["frames"], len(made), words)
            self.assertEqual(sum(found["pairs"]), sum(observe.added(observe.histogram(made, pairs, 1, 0.05))[0]), words)
        self.assertIn("--dt -1ps: expected no time below zero", self.observe(RDF, "a.trr", "--dt", "-1ps", code=2))

    def test_late(self):
        """Times in single precision, of frames late in a long run."""
        made = observe.frames((0, 0, 0))
        for begin, interval in ((1e5, 0.25), (1e5, 0.1), (2e5, 0.05), (2e6, 0.5), (1e6, 0.2), (2e6, 12.5)):
            self.write("late.trr", observe.trr(at(made, [begin + interval * k for k in range(observe.FRAMES)])))
            spec = f"- msd: {{of: OW, max: {8 * interval} ps}}\n"
            found = json.loads(self.observe(spec, "late.trr", "--json"))["observables"][0]
            self.assertEqual((found["frames"], len(found["msd_nm2"])), (observe.FRAMES, 9))
            self.assertAlmostEqual(found["interval_ps"], interval, delta=1e-9)
            self.observe(spec, "late.trr", "--dt", f"{2 * interval} ps")
            self.assertEqual(len(observe.table(self.path("out/msd.xvg"))), 5)

    def test_too_short(self):
        """No lag of those that a line is to go through."""
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0))))
        spec = "- msd: {of: OW, max: 100 ps, viscosity: 0.7 mPa s}\n"
        said = "no D: fewer than two lags from 10 to 90 ps, the longest so far is 9 ps\n"
        self.assertEqual(self.observe(spec, "a.trr"), "msd: 19 frames; " + said.replace("\n", "; failed\n"))
        verdict = json.loads(self.observe(spec, "a.trr", "--json"))["observables"][0]["verdict"]
        self.assertEqual((verdict["verdict"], [reason["code"] for reason in verdict["reasons"]]), ("failed", ["no_answer"]))
        with open(self.path("out/msd.xvg"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines(True)[2], "# " + said)

    def test_verdicts(self):
        """An error of few blocks is not to be believed, nor one of frames that drift: of the latter the second half is denser."""
        steady = observe.frames((0, 0, 0)) + observe.frames((0, 0, 0), 3)
        dense = [(time, box, [[0.2 * c for c in r] for r in x]) for time, box, x in steady]
        spec = "- coordination: {of: {between: [OW, HW1], r0: 0.5 nm}, max: 40, name: c}\n"
        few = "c: 4 frames; .*; unconverged: its error is from 4 blocks, below 8: it needs longer\n"
        halves = ("c: 38 frames; .*; unconverged: each block is like the one before: what moves takes longer than a block: it needs longer; "
                  "its first and second half differ by more than 4 standard errors: it needs longer\n")
        for made, codes, line in ((steady, [], "c: 38 frames; .*; converged\n"), (steady[:4], ["few_samples"], few),
                                  (steady[:8], [], "c: 8 frames; .*; converged\n"), (steady[:19] + dense[19:], ["slow", "halves"], halves)):
            self.write("a.trr", observe.trr(at(made, [0.5 * k for k in range(len(made))])))
            self.assertRegex(self.observe(spec, "a.trr"), f"^{line}$")
            verdict = json.loads(self.observe(spec, "a.trr", "--json"))["observables"][0]["verdict"]
            self.assertEqual((verdict["verdict"], [reason["code"] for reason in verdict["reasons"]]),
                             ("unconverged" if codes else "converged", codes))

    def test_blocks(self):
        """Errors where the longest lag is as long as blocks are: of 20 frames in blocks of two."""
        made = 2 * observe.frames((0, 0, 0), 3)
        self.write("a.trr", observe.trr(at(made, [0.5 * k for k in range(20)])))
        for fit, blocks in ((2, 3), (1, 5)):  # of six frames, and of four
            spec = f"- msd: {{of: OW, max: 3 ps, fit: [0.5 ps, {fit} ps]}}\n"
            found = json.loads(self.observe(spec, "a.trr", "--json"))["observables"][0]
            self.assertEqual((found["frames_per_block"], found["diffusion"]["blocks"]), (2, blocks))
            self.assertGreater(found["diffusion"]["error_cm2_per_s"], 0)

    def test_half_a_box(self):
        """Edges that are a little shorter in single precision."""
        made = at(observe.frames((0, 0, 0)), itertools.count(), [[2.6, 0, 0], [0, 2.6, 0], [0, 0, 2.6]])
        self.write("a.trr", observe.trr(made))
        self.assertLess(struct.unpack("f", struct.pack("f", 2.6))[0], 2.6)
        self.observe("- rdf: {between: [OW, OW], max: 1.3 nm, bin: 0.05 nm}\n", "a.trr")
        self.assertIn("a box 2.6 nm wide: expected at least twice max, 2.601 nm",
                      self.observe("- rdf: {between: [OW, OW], max: 1.3005 nm, bin: 0.0005 nm}\n", "a.trr", code=65))

    def test_series(self):
        """A coordination frame by frame, by times where all are known and rise."""
        made = observe.frames(observe.TRICLINIC)
        spec = "- coordination: {of: {between: [OW, HW1], r0: 0.5 nm}, max: 40, name: c}\n"
        pairs = list(itertools.product(range(0, observe.ATOMS, 3), range(1, observe.ATOMS, 3)))
        values = [observe.coordination(box, x, pairs, 0.5, 0, 6, 12, math.inf) for _, box, x in made]
        self.write("a.trr", observe.trr(made, "d"))
        self.write("back.trr", observe.trr(made[::-1], "d"))
        self.write("timeless.gro", observe.gro(made).replace(b"t=", b""))
        numbers = list(range(1, observe.FRAMES + 1))
        for name, x, expected in (("a.trr", [0.5 * k for k in range(observe.FRAMES)], values), ("back.trr", numbers, values[::-1]),
                                  ("timeless.gro", numbers, values)):
            found = json.loads(self.observe(spec, name, "--json", "--csv", "--plot", self.path("figures")))["observables"][0]
            self.assertEqual(found.get("time_ps"), x if name == "a.trr" else None)
            rows = observe.table(self.path("out/c_time.xvg"))
            with open(self.path("out/c_time.csv"), encoding="utf-8") as f:
                names, *lines = f.read().splitlines()
            self.assertEqual(names, '"Time (ps)","C"' if name == "a.trr" else '"frame","C"')
            self.assertEqual([[float(v) for v in line.split(",")] for line in lines], rows)
            self.assertEqual([row[0] for row in rows], x)
            for row, value, other in zip(rows, found["value_of_frame"], expected):
                self.assertAlmostEqual(value, other, delta=1e-9 * other)
                self.assertAlmostEqual(row[1], other, delta=1e-7 * other)
            for figure, title in (("c", "c: p(C)"), ("c_time", "c: C")):
                with open(self.path(f"figures/{figure}.svg"), encoding="utf-8") as f:
                    text = f.read()
                self.assertEqual((text.count(f">{title}<"), text.count('class="k k0"')), (1, 1), figure)
        self.assertIn("c_time: c_time.xvg is c frame by frame; expected another name",
                      self.observe(spec + "- rdf: {between: [OW, OW], max: 1 nm, name: c_time}\n", "a.trr", code=65))

    def test_window(self):
        """Dipoles with the charges of a window."""
        charged = observe.TOPOLOGY
        for atom, charge in (("OW", -0.8), ("HW1", 0.3), ("HW2", 0.5)):
            charged = charged.replace(f"{atom} 1 0 1", f"{atom} 1 {charge} 1")
        molecule = charged[charged.index("[ moleculetype ]"):charged.index("[ system ]")]
        self.write("a.top", charged.replace(molecule, molecule + molecule.replace("SOL 1\n", "LIG 1\n", 1))
                   .replace("SOL 10", "SOL 9\nLIG 1").encode())
        made = observe.frames((0, 0, 0))
        self.write("a.trr", observe.trr(made, "d"))
        spec = "- dielectric: {}\nalchemy: {decouple: LIG, windows: {coulomb: [0, 0.25, 1]}}\n"
        for words, off in ([], 0), (["--window", "1"], 0.25), (["--window", "2"], 1):
            found = json.loads(self.observe(spec, "a.trr", "--json", *words))["observables"][0]["dielectric"]
            of_frames = []
            for _, box, x in made:
                *solvent, last = observe.dipoles(box, x, [-0.8, 0.3, 0.5])
                dipole = [sum(m[d] for m in solvent) + (1 - off) * last[d] for d in range(3)]
                of_frames.append((dipole, math.prod(box[d][d] for d in range(3))))
            self.assertAlmostEqual(found["constant"] / observe.permittivity(of_frames, 298.15), 1, delta=1e-8)
        self.assertIn("--window 3: the spec has windows 0 to 2", self.observe(spec, "a.trr", "--window", "3", code=2))

    def test_no_pairs(self):
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0))))
        for groups, keys, said in (("{atoms: '1'}, {atoms: '1'}", "", "rdf: 1, 1: not one pair; expected other groups"),
                                   ("{atoms: '1'}, {atoms: 2-3}", "within-molecules: no, ",
                                    "rdf: 1, 2-3: not one pair of different molecules; expected other groups, or within-molecules: yes")):
            self.assertIn(said, self.observe(f"- rdf: {{between: [{groups}], {keys}max: 1 nm}}\n", "a.trr", code=65))

    def test_few_atoms(self):
        """So few have positions of full precision in .xtc files."""
        draw = random.Random(2)
        made = [(time, box, [[c + draw.uniform(-5e-4, 5e-4) for c in r] for r in x[:6]]) for time, box, x in observe.frames((0, 0, 0))]
        self.write("a.top", observe.TOPOLOGY.replace("SOL 10", "SOL 2").encode())
        self.write("a.gro", observe.gro(made[:1]))
        self.write("a.xtc", xtc(made))
        spec = "- coordination: {of: {between: [OW, {name: HW*}], r0: 0.5 nm}, max: 8}\n"
        pairs = list(itertools.product((0, 3), (1, 2, 4, 5)))
        mean = sum(observe.coordination(box, x, pairs, 0.5, 0, 6, 12, math.inf) for _, box, x in made) / len(made)
        found = json.loads(self.observe(spec, "a.xtc", "--json"))["observables"][0]["value"]["mean"]
        self.assertAlmostEqual(found, mean, delta=1e-6 * mean)

    def test_no_numbers(self):
        made = observe.frames(observe.TRICLINIC)
        one = len(observe.trr(made[:1], "d"))
        none, (time, box, x) = [list(made) for _ in range(4)], made[2]
        none[0][2] = (time, box, x[:4] + [[0, math.nan, 0]] + x[5:])
        none[1][2] = (time, box, x[:4] + [[0, 0, -1e300]] + x[5:])
        none[2][2] = (time, [box[0], [math.nan, *box[1][1:]], box[2]], x)
        none[3][2] = (time, [[math.inf, 0, 0], *box[1:]], x)
        v = [[[0.1, 0.2, 0.3] for _ in x] for _ in made]
        v[2][6] = [math.inf, 0, 0]
        frame = f"frame 3, at byte {2 * one}: "  # where the second one ended
        for frames, velocities, text in ((none[0], None, "atom 5 has the position (0 nan 0); expected numbers below a million"),
                                         (none[1], None, "atom 5 has the position (0 0 -1e+300); expected numbers below a million"),
                                         (none[2], None, "a box edge leans"), (none[3], None, "it has no periodic box"),
                                         (made, v, "atom 7 has the velocity (inf 0 0); expected numbers below a million")):
            self.write("a.trr", observe.trr(frames, "d", velocities))
            self.assertIn(frame + text, self.observe(RDF, "a.trr", code=65))


if __name__ == "__main__":
    unittest.main(argv=["observe_frames.py"])
