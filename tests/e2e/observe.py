#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal observe: what comes out of trajectories of all formats, beside what a few lines of Python make of the same frames; and what is
said of frames and specs that do not fit.

Usage: observe.py SHOAL [DEVICE [WORKER]]
"""
import itertools
import json
import math
import os
import pty
import random
import struct
import subprocess
import sys
import tempfile
import unittest

SHOAL, DEVICE, WORKER = (sys.argv[1:] + ["cpu:1", ""][len(sys.argv) - 2:])[:3]
ATOMS, FRAMES = 30, 19  # waters of three atoms; more frames than blocks hold at first
TOPOLOGY = """[ defaults ]
1 2
[ atomtypes ]
X 12 0 A 0.3 0.0
[ moleculetype ]
SOL 1
[ atoms ]
1 X 1 SOL OW 1 0 16
2 X 1 SOL HW1 1 0 1
3 X 1 SOL HW2 1 0 1
[ system ]
water
[ molecules ]
SOL 10
"""
SPEC = """name: water
system: {topology: a.top, coordinates: a.gro}
observables:
"""
TRICLINIC = (0.7, -0.6, 0.9)  # b_x, c_x, c_y, nm


def frames(lean, seed=7):
    """(time, box as three edge vectors, positions) with a box that breathes."""
    made = []
    for k in range(FRAMES):
        draw = random.Random(seed * 1000 + k)
        edge = 2.6 + 0.05 * (k % 5)
        box = [[edge, 0, 0], [lean[0], edge, 0], [lean[1], lean[2], edge]]
        # as they are in a file of three decimals, and some of them outside of the box
        made.append((0.5 * k, box, [[round(draw.uniform(-3, 5), 3) for _ in range(3)] for _ in range(ATOMS)]))
    return made


def gro(made):
    text = ""
    for time, box, x in made:
        text += f"water t= {time:.5f} step= 0\n{len(x)}\n"
        for i, (name, r) in enumerate(zip(itertools.cycle(["OW", "HW1", "HW2"]), x)):
            text += f"{i // 3 + 1:5d}SOL  {name:>5}{i + 1:5d}" + "".join(f"{c:8.3f}" for c in r) + "\n"
        numbers = [box[0][0], box[1][1], box[2][2], 0, 0, box[1][0], 0, box[2][0], box[2][1]]
        text += " ".join(f"{b:.5f}" for b in numbers) + "\n"
    return text.encode()


def trr(made, kind="f", v=None):
    """Positions and velocities (of each frame; zero if there are none) in single or double precision; between them a frame of velocities
    alone."""
    width, data = struct.calcsize(kind), b""
    for k, (time, box, x) in enumerate(made):
        for positions in (True, False) if k == 1 else (True,):
            vectors = 3 * len(x) * width
            sizes = [0, 0, 9 * width, 0, 0, 0, 0, vectors * positions, vectors, 0]
            data += struct.pack(">3i12s13i", 1993, 13, 12, b"GMX_trn_file", *sizes, len(x), k, 0)
            data += struct.pack(f">2{kind}", time, 0) + struct.pack(f">9{kind}", *itertools.chain(*box))
            if positions:
                data += struct.pack(f">{3 * len(x)}{kind}", *itertools.chain(*x))
            data += struct.pack(f">{3 * len(x)}{kind}", *itertools.chain(*v[k])) if v else bytes(vectors)
    return data


def shortest(box, d):
    """The length of the shortest image, from all images near it."""
    best = math.inf
    for n in itertools.product(range(-1, 2), repeat=3):
        best = min(best, sum((d[k] + sum(n[v] * box[v][k] for v in range(3))) ** 2 for k in range(3)))
    return math.sqrt(best)


def wrapped(box, d):
    d = list(d)
    for v in (2, 1, 0):
        n = round(d[v] / box[v][v])
        d = [d[k] - n * box[v][k] for k in range(3)]
    return d


def histogram(made, pairs, most, width):
    """Of each frame: pairs per bin, and 1 / volume."""
    of_frames = []
    for _, box, x in made:
        counts = [0] * round(most / width)
        for i, j in pairs:
            r = shortest(box, wrapped(box, [x[i][k] - x[j][k] for k in range(3)]))
            if r < most:
                counts[min(int(r / width), len(counts) - 1)] += 1
        of_frames.append((counts, 1 / (box[0][0] * box[1][1] * box[2][2])))
    return of_frames


def coordination(box, x, pairs, r0, d0, n, m, far):
    """As PLUMED's COORDINATION with a rational switch that is stretched."""
    def switch(r):
        ratio = (r - d0) / r0
        return 1 if ratio <= 0 else (1 - ratio**n) / (1 - ratio**m)
    end = 0 if far == math.inf else switch(far)
    distances = (shortest(box, wrapped(box, [x[i][k] - x[j][k] for k in range(3)])) for i, j in pairs)
    return sum((switch(r) - end) / (1 - end) for r in distances if r < far)


def nearest(box, d):
    """The shortest image, from all images near it."""
    d = wrapped(box, d)
    images = ([d[k] + sum(n[v] * box[v][k] for v in range(3)) for k in range(3)] for n in itertools.product(range(-1, 2), repeat=3))
    return min(images, key=lambda r: sum(c * c for c in r))


def dipoles(box, x, charge):
    """Of molecules of so many atoms each, made whole atom after atom."""
    for first in range(0, len(x), len(charge)):
        at, sums = [0, 0, 0], [0, 0, 0]
        for k in range(1, len(charge)):
            step = nearest(box, [b - a for a, b in zip(x[first + k - 1], x[first + k])])
            at = [a + s for a, s in zip(at, step)]
            sums = [m + charge[k] * a for m, a in zip(sums, at)]
        yield sums


def permittivity(of_frames, temperature):
    """Of (dipole in e nm, volume in nm^3) of each frame, in SI units."""
    n, unit = len(of_frames), 1.602176634e-19 * 1e-9
    mean = [sum(m[d] for m, _ in of_frames) / n for d in range(3)]
    fluctuation = sum(sum(c * c for c in m) for m, _ in of_frames) / n - sum(c * c for c in mean)
    volume = sum(v for _, v in of_frames) / n
    return 1 + fluctuation * unit**2 / (3 * 8.8541878128e-12 * volume * 1e-27 * 1.380649e-23 * temperature)


def added(of_frames):
    return [sum(column) for column in zip(*(counts for counts, _ in of_frames))], sum(inverse for _, inverse in of_frames)


def table(path):
    with open(path, encoding="utf-8") as f:
        return [[float(w) for w in line.split()] for line in f if line[0] not in "#@"]


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("a.top", TOPOLOGY.encode())
        self.write("a.gro", gro(frames((0, 0, 0))[:1]))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def observe(self, spec, trajectory, *words, code=0):
        self.write("a.yaml", (SPEC + spec).encode())
        command = [SHOAL, "observe", self.path("a.yaml"), "--trajectory", self.path(trajectory), "--output", self.path("out"),
                   "--device", DEVICE, *words]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "SHOAL_WORKER": WORKER})
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertTrue(code or not run.stderr, run.stderr)
        return run.stdout if not code else run.stderr


class Observe(Files):
    def test_coordination(self):
        water = [range(k, ATOMS, 3) for k in range(3)]
        cases = {"between: [OW, HW1], r0: 0.5 nm": ([(i, j) for i in water[0] for j in water[1]], 0.5, 0, 6, 12, math.inf),
                 "within: OW, r0: 0.4 nm, d0: 0.1 nm, nn: 4, mm: 10, d-max: 1.1 nm":
                     (list(itertools.combinations(water[0], 2)), 0.4, 0.1, 4, 10, 1.1),
                 "between: [HW2, OW], paired: yes, r0: 0.6 nm, d-max: 1.2 nm": (list(zip(water[2], water[0])), 0.6, 0, 6, 12, 1.2)}
        spec = "".join(f"- coordination: {{of: {{{of}}}, max: 40, bin: 0.5}}\n" for of in cases)
        for lean in ((0, 0, 0), TRICLINIC):
            made = frames(lean)
            self.write("c.gro", gro(made))
            found = json.loads(self.observe(spec, "c.gro", "--json"))["observables"]
            for one, case in zip(found, cases.values()):
                values = [coordination(box, x, *case) for _, box, x in made]
                mean = sum(values) / FRAMES
                self.assertAlmostEqual(one["value"]["mean"], mean, delta=1e-8 * mean)
                deviation = math.sqrt(sum((v - mean)**2 for v in values) / FRAMES)
                self.assertAlmostEqual(one["value"]["deviation"], deviation, delta=1e-5 * mean)
                self.assertEqual([n for _, _, _, n in table(self.path(f"out/{one['name']}.xvg"))],
                                 [sum(0.5 * k <= v < 0.5 * (k + 1) for v in values) for k in range(80)])

    def test_rdf(self):
        oxygens = range(0, ATOMS, 3)
        hydrogens = [i for i in range(ATOMS) if i % 3]
        cases = [  # groups, other keys, pairs, ordered pairs for each one, atoms of the first group
            ("OW, OW", "", list(itertools.combinations(oxygens, 2)), 2, 10),
            ("OW, {name: HW*}", "", list(itertools.product(oxygens, hydrogens)), 1, 10),
            ("OW, {name: HW*}", ", within-molecules: no", [(i, j) for i in oxygens for j in hydrogens if i // 3 != j // 3], 1, 10),
            ("{name: OW HW1}, {name: HW*}", "", [(i, j) for i in range(ATOMS) if i % 3 != 2 for j in hydrogens if i != j], 1, 20),
        ]
        spec = "".join(f"- rdf: {{between: [{groups}], max: 1 nm, bin: 0.05 nm{more}}}\n" for groups, more, *_ in cases)
        for lean in ((0, 0, 0), TRICLINIC):
            made = frames(lean)
            self.write("a.trr", trr(made, "d"))
            answer = json.loads(self.observe(spec, "a.trr", "--json"))
            for observable, (groups, more, pairs, factor, first) in zip(answer["observables"], cases):
                with self.subTest(lean=lean, groups=groups, more=more):
                    of_frames = histogram(made, pairs, 1, 0.05)
                    counts, inverse = added(of_frames)
                    self.assertEqual(observable["pairs"], counts)
                    self.assertEqual(observable["frames"], FRAMES)
                    rows = table(self.path(f"out/{observable['name']}.xvg"))
                    for k, row in enumerate(rows):
                        shell = 4 / 3 * math.pi * 0.05**3 * ((k + 1) ** 3 - k**3)
                        g, n = counts[k] / (len(pairs) * shell * inverse), factor * sum(counts[:k + 1]) / first / FRAMES
                        self.assertAlmostEqual(observable["g"][k], g, delta=1e-11 * (1 + g))
                        self.assertAlmostEqual(observable["coordination"][k], n, delta=1e-11 * (1 + n))
                        self.assertAlmostEqual(row[0], 0.05 * (k + 0.5), delta=1e-6)
                        self.assertAlmostEqual(row[1], g, delta=1e-7 * (1 + g))
                        self.assertAlmostEqual(row[3], n, delta=1e-7 * (1 + n))
                        self.assertEqual(row[5], counts[k])
                    # at first blocks of one frame, from the 17th on of two; the last has one frame and is none for errors
                    self.assertEqual((observable["frames_per_block"], observable["blocks"]), (2, 9))
                    blocks = [added(of_frames[b:b + 2]) for b in range(0, 18, 2)]
                    shell = 4 / 3 * math.pi * 0.05**3 * (20**3 - 19**3)
                    of = [c[19] / (len(pairs) * shell * i) for c, i in blocks]
                    error = math.sqrt(sum((v - sum(of) / 9) ** 2 for v in of) / 8 / 9)
                    self.assertAlmostEqual(observable["g_error"][19], error, delta=1e-11)

    def test_any_box(self):
        """Nothing is computed of a spec's mesh and cut-off, so they need not fit the box."""
        spec = "- rdf: {between: [OW, OW], max: 0.5 nm, bin: 0.05 nm}\n"
        for edge in (60, 1.5):
            made = [(time, [[edge, 0, 0], [0, edge, 0], [0, 0, edge]], x) for time, _, x in frames((0, 0, 0))]
            self.write("a.gro", gro(made[:1]))
            self.write("c.gro", gro(made))
            self.observe(spec, "c.gro")

    def test_dielectric(self):
        charge, debye = [-0.8, 0.3, 0.5], 48.03204712
        charged = TOPOLOGY.replace("OW 1 0 16", "OW 1 -0.8 16").replace("HW1 1 0 1", "HW1 1 0.3 1").replace("HW2 1 0 1", "HW2 1 0.5 1")
        self.write("a.top", charged.encode())
        spec = "- dielectric: {}\n- dielectric: {of: {atoms: 1-12}, name: four}\n"
        judged = set()
        for lean in ((0, 0, 0), TRICLINIC):
            made = frames(lean)
            self.write("a.trr", trr(made, "d"))
            found = json.loads(self.observe(spec, "a.trr", "--json"))["observables"]
            self.assertEqual([o["groups"][0]["selection"] for o in found], ["all atoms", "1-12"])
            for one, atoms in zip(found, (ATOMS, 12)):
                of_frames, absolute = [], 0
                for _, box, x in made:
                    each = list(dipoles(box, x[:atoms], charge))
                    absolute += sum(math.hypot(*m) for m in each) / len(each) / FRAMES
                    of_frames.append(([sum(m[d] for m in each) for d in range(3)], box[0][0] * box[1][1] * box[2][2]))
                d, constant = one["dielectric"], permittivity(of_frames, 298.15)
                self.assertAlmostEqual(d["constant"], constant, delta=1e-8 * constant)
                self.assertAlmostEqual(d["molecule_dipole_debye"], absolute * debye, delta=1e-7 * absolute * debye)
                for k, mean in enumerate(d["mean_dipole_debye"]):
                    self.assertAlmostEqual(mean, sum(m[k] for m, _ in of_frames) / FRAMES * debye, delta=1e-6)
                # 9 full blocks of two frames, without the last one
                without = [permittivity(of_frames[:2 * b] + of_frames[2 * b + 2:18], 298.15) for b in range(9)]
                error = math.sqrt(8 / 9 * sum((v - sum(without) / 9) ** 2 for v in without))
                square = sum(v * v for m, _ in of_frames for v in m) / FRAMES
                mean = sum((sum(m[k] for m, _ in of_frames) / FRAMES) ** 2 for k in range(3))
                few = (constant - 1) / (square - mean) * square * math.sqrt(2 / 3 * mean / square)
                self.assertAlmostEqual(d["error"], max(error, few), delta=1e-8 * constant)
                few_dipoles = any("fewer than 30 independent dipoles" in reason["text"] for reason in one["verdict"]["reasons"])
                self.assertEqual(few_dipoles, square / mean < 30)
                judged.add(few_dipoles)
                rows = table(self.path(f"out/{one['name']}.xvg"))
                self.assertEqual([r[0] for r in rows], [*range(2, 19, 2), 19])
                for row in rows:
                    so_far = permittivity(of_frames[:int(row[0])], 298.15)
                    self.assertAlmostEqual(row[1], so_far, delta=1e-7 * so_far)
        self.assertIn(True, judged)
        self.assertRegex(self.observe(spec, "a.trr"), r"dielectric: 19 frames; dielectric constant \d+")
        self.assertIn("dielectric: OW: the atoms of molecule 1 (SOL, from atom 1 on) in it have a charge of -0.8 e: their dipole has no "
                      "value of its own; expected whole molecules without a charge",
                      self.observe("- dielectric: {of: OW}\n", "a.trr", code=65))

    def test_many(self):
        """More atoms than one block of a GPU takes of a group."""
        draw, edge, waters = random.Random(5), 2.5, 345
        box = [[edge, 0, 0], [0, edge, 0], [0, 0, edge]]
        x = [[round(draw.uniform(0, edge), 3) for _ in range(3)] for _ in range(3 * waters)]
        made = [(0, box, x)]
        self.write("a.top", TOPOLOGY.replace("SOL 10", f"SOL {waters}").encode())
        self.write("a.gro", gro(made))
        self.write("a.trr", trr(made, "d"))
        spec = "".join(f"- rdf: {{between: [{group}, {{resname: SOL}}], max: 1.2 nm, bin: 0.1 nm}}\n" for group in ("{resname: SOL}", "OW"))
        expected = [[0] * 12, [0] * 12]
        for i, j in itertools.combinations(range(3 * waters), 2):
            d = wrapped(box, [x[i][k] - x[j][k] for k in range(3)])
            bin_of = int(math.sqrt(sum(c * c for c in d)) / 0.1)
            if bin_of < 12:
                expected[0][bin_of] += 1
                expected[1][bin_of] += (i % 3 == 0) + (j % 3 == 0)
        found = json.loads(self.observe(spec, "a.trr", "--json"))["observables"]
        self.assertEqual([o["pairs"] for o in found], expected)

    def walk(self, lean):
        """Frames of a random walk, wrapped into the box at random, and where atoms are without it."""
        draw, edge, made, free = random.Random(11), 2.0, [], []
        box = [[edge, 0, 0], [lean[0], edge, 0], [lean[1], lean[2], edge]]
        x = [[draw.uniform(0, edge) for _ in range(3)] for _ in range(ATOMS)]
        for k in range(40):
            x = [[c + draw.gauss(0.02, 0.15) for c in r] for r in x]
            free.append(x)
            images = [[draw.randint(-2, 2) for _ in range(3)] for _ in range(ATOMS)]
            wrapped_x = [[r[d] + sum(n[v] * box[v][d] for v in range(3)) for d in range(3)] for r, n in zip(x, images)]
            made.append((0.2 * k + 100, box, wrapped_x))
        return made, free

    def test_msd(self):
        spec = ("- msd: {of: OW, max: 3 ps, fit: [0.4 ps, 2 ps], viscosity: 0.7 mPa s}\n"
                "- msd: {of: {resname: SOL}, max: 3 ps, by: molecule, restart: 0.6 ps, remove-center: yes, name: molecules}\n")
        mass = [16, 1, 1]
        for lean in ((0, 0, 0), (0.7, -0.6, 0.9)):
            with self.subTest(lean=lean):
                made, free = self.walk(lean)
                self.write("a.trr", trr(made, "d"))
                if lean[0]:
                    self.assertIn("a.trr: frame 1, at 100 ps: msd: viscosity: the correction to an infinite box is that of a cubic one",
                                  self.observe(spec, "a.trr", code=65))
                    spec = spec.replace(", viscosity: 0.7 mPa s", "")
                oxygens, molecules = json.loads(self.observe(spec, "a.trr", "--json"))["observables"]
                paths = [x[::3] for x in free]
                self.compare_msd(oxygens, paths, 1)
                centers = [[[sum(mass[k] * x[3 * m + k][d] for k in range(3)) / 18 for d in range(3)] for m in range(ATOMS // 3)]
                           for x in free]
                middle = [[sum(c[d] for c in x) / len(x) for d in range(3)] for x in centers]
                self.compare_msd(molecules, [[[c[d] - m[d] for d in range(3)] for c in x] for x, m in zip(centers, middle)], 3)
                self.check_fit(oxygens, cubic=not lean[0])

    def compare_msd(self, observable, paths, restart):
        self.assertEqual(len(observable["msd_nm2"]), 16)
        for lag in range(16):
            ends = [k for k in range(len(paths)) if k >= lag and (k - lag) % restart == 0]
            squares = [sum((b[d] - a[d]) ** 2 for d in range(3)) for k in ends for a, b in zip(paths[k - lag], paths[k])]
            msd = sum(squares) / len(squares)
            self.assertEqual(observable["origins"][lag], len(ends))
            self.assertAlmostEqual(observable["msd_nm2"][lag], msd, delta=1e-9 * (msd + 1e-3))

    def check_fit(self, observable, cubic):
        t = [0.2 * k for k in range(2, 11)]
        y = observable["msd_nm2"][2:11]
        mean_t, mean_y = sum(t) / 9, sum(y) / 9
        slope = sum((a - mean_t) * (b - mean_y) for a, b in zip(t, y)) / sum((a - mean_t) ** 2 for a in t)
        d = observable["diffusion"]
        self.assertAlmostEqual(d["slope_nm2_per_ps"], slope, delta=1e-9)
        self.assertAlmostEqual(d["value_cm2_per_s"], slope / 6 * 1e-2, delta=1e-11)
        self.assertAlmostEqual(d["intercept_nm2"], mean_y - slope * mean_t, delta=1e-9)
        # 40 frames in blocks of 4 (10 of them), joined to 12 frames, which are longer than 2 ps: 3 blocks
        self.assertEqual((observable["frames_per_block"], d["blocks"]), (4, 3))
        self.assertTrue(0 < d["error_cm2_per_s"] < d["value_cm2_per_s"])
        self.assertEqual("infinite_box" in d, cubic)
        if not cubic:
            return
        kt, xi, edge = 1.380649e-23 * 298.15, 2.837297, d["infinite_box"]["mean_edge_nm"] * 1e-9
        self.assertAlmostEqual(edge, 2e-9, delta=1e-16)
        added = kt * xi / (6 * math.pi * 0.7e-3 * edge) * 1e4
        self.assertAlmostEqual(d["infinite_box"]["added_cm2_per_s"], added, delta=1e-6 * added)

    def test_vacf(self):
        draw, mass = random.Random(3), [16, 1, 1]
        v = [[[draw.gauss(0, 0.5) for _ in range(3)] for _ in range(ATOMS)]]
        for _ in range(39):
            v.append([[0.8 * c + draw.gauss(0.01, 0.3) for c in r] for r in v[-1]])
        made = [(0.02 * k + 5, box, x) for k, (_, box, x) in enumerate(3 * frames(TRICLINIC)) if k < 40]
        self.write("a.trr", trr(made, "d", v))
        spec = ("- vacf: {of: OW, max: 0.3 ps, restart: no}\n"
                "- vacf: {of: {resname: SOL}, max: 0.3 ps, by: molecule, restart: 60 fs, remove-center: yes, name: molecules}\n"
                "- vacf: {of: OW, max: 0.3 ps, name: apart}\n")
        found = json.loads(self.observe(spec, "a.trr", "--json"))["observables"]
        centers = [[[sum(mass[k] * of[3 * m + k][d] for k in range(3)) / 18 for d in range(3)] for m in range(ATOMS // 3)] for of in v]
        middle = [[sum(c[d] for c in of) / len(of) for d in range(3)] for of in centers]
        paths = [of[::3] for of in v], [[[c[d] - m[d] for d in range(3)] for c in of] for of, m in zip(centers, middle)]
        for one, path, restart in zip(found, (*paths, paths[0]), (1, 3, 5)):
            ends = [[k for k in range(lag, 40) if (k - lag) % restart == 0] for lag in range(16)]
            of_frame = [{k: sum(a[d] * b[d] for a, b in zip(path[k - lag], path[k]) for d in range(3)) / len(path[k]) for k in ends[lag]}
                        for lag in range(16)]
            c = [sum(of.values()) / len(of) for of in of_frame]
            integral = [sum(0.02 * (a + b) / 2 for a, b in itertools.pairwise(c[:k + 1])) / 3 for k in range(16)]
            self.assertEqual(one["origins"], [len(e) for e in ends])
            for key, expected in (("vacf_nm2_per_ps2", c), ("integral_nm2_per_ps", integral)):
                self.assertEqual(len(one[key]), 16)
                for a, b in zip(one[key], expected):
                    self.assertAlmostEqual(a, b, delta=1e-10)
            # 10 blocks of 4 frames, joined to 16 frames, which are longer than 0.3 ps: 2 blocks
            blocks = [[sum(n) / len(n) for n in ([f[k] for k in f if b <= k < b + 16] for f in of_frame)] for b in (0, 16)]
            of_block = [sum(0.02 * (a + b) / 2 for a, b in itertools.pairwise(of)) / 3 for of in blocks]
            kubo = one["green_kubo"]
            self.assertEqual((one["frames_per_block"], kubo["blocks"]), (4, 2))
            self.assertAlmostEqual(kubo["to_ps"], 0.3, delta=1e-9)
            self.assertAlmostEqual(kubo["value_cm2_per_s"], integral[-1] * 1e-2, delta=1e-11)
            self.assertAlmostEqual(kubo["error_cm2_per_s"], abs(of_block[0] - of_block[1]) / 2 * 1e-2, delta=1e-11)
            self.assertAlmostEqual(kubo["mean_square_velocity_nm2_per_ps2"], c[0], delta=1e-10)
            for k, row in enumerate(table(self.path(f"out/{one['name']}.xvg"))):
                for a, b in zip([row[0], row[1], row[3], row[4], row[6]], [0.02 * k, c[k], c[k] / c[0], 1e3 * integral[k], len(ends[k])]):
                    self.assertAlmostEqual(a, b, delta=1e-6 * (1 + abs(b)))
        self.write("a.xtc.gro", gro(made))
        self.assertIn("a.xtc.gro: frame 1, at 5 ps: vacf: no velocities; expected a .trr or .gro file that has them",
                      self.observe(spec, "a.xtc.gro", code=65))
        site = TOPOLOGY.replace("HW1 1 0 1", "MW 1 0 0").replace("[ system ]", "[ virtual_sites2 ]\n2 1 3 1 0.3\n[ system ]")
        self.write("a.top", site.encode())
        self.write("a.gro", gro(made[:1]).replace(b"  HW1", b"   MW"))
        self.assertIn("vacf: SOL: atom 2 (MW SOL1) has no mass, and so no velocity of its own; expected a group without such atoms, or "
                      "one by molecule", self.observe("- vacf: {of: {resname: SOL}, max: 0.3 ps}\n", "a.trr", code=65))
        self.observe(spec.replace(", name: molecules", ""), "a.trr")

    def test_msd_errors(self):
        made, _ = self.walk((0, 0, 0))
        self.write("a.trr", trr(made, "d"))
        self.write("one.trr", trr(made[:1], "d"))
        self.write("gap.trr", trr(made[:5] + made[6:], "d"))
        for keys, name, text in (
                ("max: 3 ps", "one.trr", "msd: expected two frames or more with known times"),
                ("max: 3 ps", "gap.trr", "gap.trr: frame 6 is at 101.2 ps, expected 101 ps: msd needs frames at equal times"),
                ("max: 0.1 ps", "a.trr", "msd: max 0.1 ps: expected at least the time between frames, 0.2 ps"),
                ("max: 3 ps, restart: 0.5 ps", "a.trr",
                 "msd: restart 0.5 ps: expected a whole multiple of the time between frames, 0.2 ps"),
                ("max: 1 ms", "a.trr", "unknown unit"),
                ("max: 900 us", "a.trr", "GB for the origins of 900000000 ps of 10 atoms: expected a shorter max"),
                ("max: 900 us, restart: 450 us", "a.trr", "msd: max 900000000 ps: 4.5e+09 times the time between frames, 0.2 ps"),
                ("max: 3 ps, fit: [2 ps, 1 ps]", "a.trr", "observables[0].msd.fit: from 2 to 1 ps: expected a shorter lag")):
            with self.subTest(keys=keys, name=name):
                self.assertIn(text, self.observe(f"- msd: {{of: OW, {keys}}}\n", name, code=65))

    def test_formats(self):
        made = frames(TRICLINIC)
        spec = "- rdf: {between: [OW, OW], max: 1 nm, bin: 0.05 nm, name: oo}\n"
        answers = []
        for name, data in (("a.gro2", gro(made)), ("a.trr", trr(made)), ("b.trr", trr(made, "d"))):
            self.write(name, data)
            answers.append(json.loads(self.observe(spec, name, "--json"))["observables"][0])
        self.assertEqual(answers[0]["pairs"], answers[2]["pairs"])
        for a, b in zip(answers[0]["pairs"], answers[1]["pairs"]):
            self.assertLessEqual(abs(a - b), 2)  # single precision, at the edge of a bin
        self.assertIn("oo: 19 frames; highest g(r)", self.observe(spec, "a.trr"))
        told = self.observe(spec, "b.trr", "--json", "--begin", "2 ps", "--end", "6000 fs", "--dt", "1 ps")
        picked = json.loads(told)["observables"][0]
        pairs = list(itertools.combinations(range(0, ATOMS, 3), 2))
        self.assertEqual((picked["frames"], picked["pairs"]), (5, added(histogram(made[4:13:2], pairs, 1, 0.05))[0]))

    def test_progress(self):
        """On a terminal it says how far it is."""
        self.write("a.trr", trr(frames((0, 0, 0))))
        self.write("a.yaml", (SPEC + "- rdf: {between: [OW, OW], max: 1 nm}\n").encode())
        reader, terminal = pty.openpty()
        command = [SHOAL, "observe", self.path("a.yaml"), "--trajectory", self.path("a.trr"), "--output", self.path("out"),
                   "--device", DEVICE]
        environment = {**os.environ, "SHOAL_WORKER": WORKER}
        for words, expected in ([], b"100 %  19 frames  9 ps"), (["--quiet"], b""):
            subprocess.run([*command, *words], stderr=terminal, stdout=subprocess.DEVNULL, check=True, env=environment)
            os.write(terminal, b"end")
            said = b""
            while not said.endswith(b"end"):  # a terminal hands on what it has so far
                said += os.read(reader, 65536)
            self.assertIn(expected + b"\x1b[K" if expected else b"", said)
            self.assertTrue(expected or said == b"end", said)

    def test_errors(self):
        made = frames((0, 0, 0))
        spec = "- rdf: {between: [OW, OW], max: 1 nm, bin: 0.05 nm}\n"
        whole = trr(made)
        one = len(trr(made[:1]))
        self.write("a.trr", whole)
        self.write("cut.trr", whole[:2 * one - 5])
        self.write("cut.gro", gro(made)[:-30])
        self.write("other.trr", whole.replace(struct.pack(">i", ATOMS), struct.pack(">i", ATOMS - 1), 1))
        self.write("narrow.trr", trr(made[:3] + [(1.5, [[1.9, 0, 0], [0, 3, 0], [0, 0, 3]], made[3][2])]))
        self.write("boxless.trr", trr([(0, [[0, 0, 0]] * 3, made[0][2])]))
        self.write("timeless.gro", gro(made).replace(b"t=", b""))
        self.write("empty.xtc", b"")
        for name, words, code, text in (
                ("cut.trr", [], 65, f"cut.trr: frame 2, at byte {one}: not a whole .trr frame"),
                ("cut.gro", [], 65, "cut.gro:"),
                ("narrow.trr", [], 65, "narrow.trr: frame 4, at 1.5 ps: rdf: a box 1.9 nm wide: expected at least twice max, 2 nm"),
                ("boxless.trr", [], 65, "frame 1, at byte 0: it has no periodic box"),
                ("timeless.gro", ["--dt", "1 ps"], 65, "frame 1: its title says no time"),
                ("empty.xtc", [], 65, "empty.xtc: it is empty"),
                ("none.xtc", [], 66, "none.xtc: No such file or directory"),
                ("a.top", [], 65, "a.top:2: read '1 2', expected the number of atoms"),
                ("a.trr", ["--begin", "100 ps"], 2, "none of its frames is between --begin and --end; the last one read is at 9 ps"),
                ("a.trr", ["--begin", "5"], 2, "--begin 5: expected a time (units: fs, ps, ns, us), such as")):
            with self.subTest(name=name, words=words):
                self.assertIn(text, self.observe(spec, name, *words, code=code))
        other = trr(made[:1]).replace(struct.pack(">3i", 3 * ATOMS * 4, 0, ATOMS), struct.pack(">3i", 3 * ATOMS * 4, 0, 29))
        self.write("other.trr", other.replace(struct.pack(">i", 12 * ATOMS), struct.pack(">i", 12 * 29)))
        self.assertIn("other.trr: frame 1 has 29 atoms; expected 30, as in the topology", self.observe(spec, "other.trr", code=65))
        self.assertIn("pressure: a trajectory lacks the forces of its frames; expected observables of positions and velocities alone, and "
                      "pressure in a run", self.observe("- pressure: {}\n", "a.trr", code=65))
        self.assertIn("expected observables, such as", self.observe("  []\n", "a.trr", code=65))


if __name__ == "__main__":
    unittest.main(argv=["observe.py"])
