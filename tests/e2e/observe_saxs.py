#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal observe: X-ray scattering of trajectories, in boxes of both shapes that breathe, beside sums over all atoms in plain Python; what is taken
off for a background; and what is said of specs and frames that do not fit.

Usage: observe_saxs.py SHOAL [DEVICE [WORKER]]
"""
import cmath
import itertools
import json
import math
import random
import statistics
import unittest

import observe

# International Tables C, table 6.1.1.4
FACTORS = {"O": ([3.0485, 2.2868, 1.5463, 0.867], [13.2771, 5.7011, 0.3239, 32.9089], 0.2508),
           "H": ([0.493002, 0.322912, 0.140191, 0.04081], [10.5109, 26.1257, 3.14236, 57.7997], 0.003038)}
MOST, WIDTH = 8, 2  # 1/nm
SAXS = f"of: {{resname: SOL}}, max: {MOST} /nm, bin: {WIDTH} /nm, order: 8"


def factor(element, q):
    a, b, c = FACTORS[element]
    return c + sum(x * math.exp(-y * (q / 10 / (4 * math.pi)) ** 2) for x, y in zip(a, b))


def waves(box):
    """Wave vectors of a box up to MOST, 1/nm."""
    (ax, _, _), (bx, by, _), (cx, cy, cz) = box
    found = []
    for h, k, m in itertools.product(range(-4, 5), repeat=3):
        x = h / ax
        y = (k - bx * x) / by
        q = [2 * math.pi * v for v in (x, y, (m - cx * x - cy * y) / cz)]
        if 0 < math.hypot(*q) < MOST:
            found.append(q)
    return found


def profile(made):
    """Of each frame, for each bin: sum of I(q), of |q|, and number."""
    of_frames = []
    for _, box, x in made:
        bins = [[0, 0, 0] for _ in range(MOST // WIDTH)]
        for q in waves(box):
            size = math.hypot(*q)
            f = {e: factor(e, size) for e in FACTORS}
            total = sum(f[element] * cmath.exp(-1j * sum(a * b for a, b in zip(q, r))) for element, r in zip(itertools.cycle("OHH"), x))
            for i, v in enumerate((abs(total) ** 2, size, 1)):
                bins[int(size / WIDTH)][i] += v
        of_frames.append(bins)
    return of_frames


def mean_of(of_frames, k):
    """I and q of bin k."""
    total = [sum(bins[k][i] for bins in of_frames) for i in range(3)]
    return total[0] / total[2], total[1] / total[2]


class Saxs(unittest.TestCase):
    setUp, path, write, observe = observe.Observe.setUp, observe.Observe.path, observe.Observe.write, observe.Observe.observe

    def test_profiles(self):
        for lean in ((0, 0, 0), observe.TRICLINIC):
            made = observe.frames(lean)[:7]
            self.write("a.gro", observe.gro(made[4:5]))
            self.write("a.trr", observe.trr(made, "d"))
            self.write("one.gro", observe.gro(made[:1]))
            printed = json.loads(self.observe(f"- saxs: {{{SAXS}}}", "a.trr", "--json"))["observables"][0]
            rows = observe.table(self.path("out/saxs.xvg"))
            expected = profile(made)
            filled = [k for k in range(MOST // WIDTH) if sum(bins[k][2] for bins in expected)]
            self.assertEqual(len(rows), len(filled))
            for row, k in zip(rows, filled):
                intensity, q = mean_of(expected, k)
                self.assertAlmostEqual(row[0], q, delta=2e-6)
                self.assertAlmostEqual(row[1] / intensity, 1, delta=1e-6)
                means = [bins[k][0] / bins[k][2] for bins in expected]
                error = statistics.stdev(means) / math.sqrt(len(means))
                self.assertAlmostEqual(row[2] / error, 1, delta=6e-3)
            self.assertEqual([f"{i:.6g}" for i in printed["intensity"]], [f"{row[1]:.6g}" for row in rows])
            volumes = [box[0][0] * box[1][1] * box[2][2] for _, box, _ in made]
            self.assertAlmostEqual(printed["mean_volume_nm3"], statistics.mean(volumes), delta=1e-6)
            self.background(made, rows)

    def test_times(self):
        """What is said of how fast it goes: every kernel of a frame once for each element it works on."""
        self.write("a.trr", observe.trr(observe.frames((0, 0, 0))[:4]))
        printed = json.loads(self.observe(f"- saxs: {{{SAXS}}}", "a.trr", "--json", "--stages"))
        launches = {stage["kernel"]: stage["launches"] for stage in printed["stages"]}
        expected = {"saxs_place": 1, "saxs_spread": 2, "saxs_forward": 2, "saxs_add": 2, "saxs_bin": 1, "saxs_keep": 1}
        expected |= {"saxs_round": 2} if observe.DEVICE.startswith("cuda") else {}
        self.assertEqual(expected, {kernel: n for kernel, n in launches.items() if kernel.startswith("saxs_")})
        self.assertTrue(all(stage["microseconds"] > 0 for stage in printed["stages"]))
        self.assertGreater(printed["frames_per_second"], 0)

    def background(self, made, rows):
        """Of one frame, taken off seven of them by volume: at other |q|, since boxes differ."""
        self.observe(f"- saxs: {{{SAXS}, name: solvent}}", "one.gro")
        solvent = observe.table(self.path("out/solvent.xvg"))
        volumes = [box[0][0] * box[1][1] * box[2][2] for _, box, _ in made]
        self.observe(f"- saxs: {{{SAXS}, background: {{file: out/solvent.xvg, scale: 0.5}}}}", "a.trr")
        left = observe.table(self.path("out/saxs.xvg"))
        self.assertTrue(left)
        scale = 0.5 * statistics.mean(volumes) / volumes[0]
        whole = {row[0]: row for row in rows}
        for q, intensity, _, sample, error in left:
            self.assertEqual([sample, error], whole[q][1:3])
            (low, below, _), (high, above, _) = next(pair for pair in itertools.pairwise(solvent) if q <= pair[1][0])
            taken = below + (above - below) * (q - low) / (high - low)
            self.assertAlmostEqual(intensity, sample - scale * taken, delta=1e-6 * sample)

    def test_whole_molecules(self):
        """A molecule of three that is broken across the box scatters in a padded cell as one that is not."""
        draw = random.Random(5)
        shape = [[draw.uniform(-0.2, 0.2) for _ in range(3)] for _ in range(3)]
        found = []
        for name, at in (("within", 1.3), ("across", 2.55)):
            x = [[at + v for v in r] for r in shape] + [[1.0, 1.0, 1.0]] * (observe.ATOMS - 3)
            x = [[round(v - 2.6 * math.floor(v / 2.6), 3) for v in r] for r in x]
            self.write(f"{name}.gro", observe.gro([(0, [[2.6, 0, 0], [0, 2.6, 0], [0, 0, 2.6]], x)]))
            self.observe(f"- saxs: {{of: {{atoms: 1-3}}, max: 20 /nm, bin: 2 /nm, order: 8, padding: {{factor: 2}}, name: {name}}}", f"{name}.gro")
            found.append([row[1] for row in observe.table(self.path(f"out/{name}.xvg"))])
        for a, b in zip(*found):
            self.assertAlmostEqual(a / b, 1, delta=0.02)  # places are rounded to 0.001 nm

    def test_errors(self):
        made = observe.frames((0, 0, 0))[:2]
        self.write("a.trr", observe.trr(made))
        wide = [(0, [[9, 0, 0], [0, 2.6, 0], [0, 0, 2.6]], made[0][2])]
        self.write("wide.gro", observe.gro(wide))
        self.write("empty.xvg", b"# mean volume 9 nm^3\n1 2 3\n")
        self.write("no_volume.xvg", b"1 2 3\n2 2 3\n")
        self.write("back.xvg", b"# mean volume 9 nm^3\n1 2 3\n1 2 3\n")
        cases = [  # keys, trajectory, code, what is said
            ("max: 3 /nm, bin: 2 /nm", "a.trr", 65, "observables[0].saxs.max: 3 /nm: expected a whole number of bins of 2 /nm"),
            ("max: 100 /nm", "a.trr", 65, "saxs: max 100 /nm: 54 points along an edge of 2.6 nm hold up to"),
            ("grid: [8, 8, 8]", "a.trr", 65, "expected at most 0.25 nm between them"),
            ("grid: [32, 32, 32], spacing: 0.1 nm", "a.trr", 65, "observables[0].saxs.grid: expected grid or spacing, not both"),
            ("padding: {factor: 2, fill: average, solvent: [{formula: H2O, density: 33 /nm^3}]}", "a.trr", 65, "fill or solvent, not both"),
            ("padding: {factor: 2, solvent: [{formula: Xx2, density: 33 /nm^3}]}", "a.trr", 65, "Xx2: there is no form factor for Xx"),
            ("order: 9", "a.trr", 65, "saxs.order: 9: out of range; expected a whole number from 2 to 8"),
            ("", "wide.gro", 65, "a box with an edge of 9 nm: its grid, by the box of the coordinates"),
            ("background: {file: none.xvg}", "a.trr", 66, "none.xvg"),
            ("background: {file: empty.xvg}", "a.trr", 65, "empty.xvg: 1 rows of q, I and its error: expected at least 2"),
            ("background: {file: back.xvg}", "a.trr", 65, "back.xvg:3: expected q, I and its error, with q larger than in the row before"),
            ("background: {file: no_volume.xvg}", "a.trr", 65, "expected a line '# mean volume V nm^3'"),
        ]
        for keys, trajectory, code, said in cases:
            with self.subTest(keys):
                self.assertIn(said, self.observe(f"- saxs: {{of: OW, {keys}}}", trajectory, code=code))
        many = "".join(f"- saxs: {{of: {{resname: SOL}}, name: n{i}}}\n" for i in range(7))
        said = self.observe(many, "a.trr", code=65)
        self.assertRegex(said, r"observables: \d+ launches for a frame: expected at most 64; have some in another spec")
        # masses that were moved leave elements as they are
        bonded = observe.TOPOLOGY.replace("[ system ]", "[ bonds ]\n1 2 1 0.1 1000\n1 3 1 0.1 1000\n[ system ]")
        self.write("a.top", bonded.encode())
        tables = []
        for masses in ("", "masses: {repartition: 3}\n"):
            self.observe(f"- saxs: {{{SAXS}}}\n{masses}", "a.trr")
            tables.append(observe.table(self.path("out/saxs.xvg")))
        self.assertEqual(*tables)
        self.write("a.top", observe.TOPOLOGY.replace("OW 1 0 16", "OW 1 0 17").encode())
        said = self.observe("- saxs: {of: OW}", "a.trr", code=65)
        self.assertIn("saxs: a.top:8: atom 1 (OW of SOL): its type X has no atomic number, and name and mass (17) are no element's", said)


if __name__ == "__main__":
    unittest.main(argv=["observe_saxs.py"])
