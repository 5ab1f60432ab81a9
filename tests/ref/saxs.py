#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""X-ray scattering by `shoal-worker observe` against the direct sums beside the repository: shells of one frame and of a trajectory of
water, |F|^2 wave vector by wave vector, and a peptide without its water against the Debye sum.

Usage: saxs.py [--device DEVICE] SHOAL_WORKER DATA
"""
import argparse
import gzip
import math
import os
import subprocess
import sys
import tempfile

ELEMENTS = {"H": (1, 1.008), "C": (6, 12.011), "N": (7, 14.007), "O": (8, 15.999), "S": (16, 32.06)}


def rows(path, opener=open):
    with opener(path, "rt", encoding="utf-8") as f:
        return [[float(w) for w in line.split()] for line in f if line[0] not in "#@"]


class Runner:
    def __init__(self, worker, device, folder):
        self.worker, self.device, self.folder, self.failed = worker, device, folder, 0

    def observe(self, system, keys, trajectory, *words):
        """Rows of q, I and its error."""
        spec = os.path.join(self.folder, "a.yaml")
        with open(spec, "w", encoding="utf-8") as f:
            f.write(f"name: a\nsystem: {{topology: {system[0]}, coordinates: {system[1]}}}\nobservables: [{{saxs: {{{keys}}}}}]\n")
        subprocess.run([self.worker, "observe", spec, "--trajectory", trajectory, "--device", self.device, "--output", self.folder, *words],
                       check=True, stdout=subprocess.DEVNULL)
        return rows(os.path.join(self.folder, "saxs.xvg"))

    def hold(self, what, found, most):
        bad = not found <= most
        self.failed += bad
        print(f"{what}: {found:.2g}, at most {most:g}{' FAILED' if bad else ''}")


def worst_shell(found, expected, most=math.inf):
    """Of bins 0.1/A wide whose middle and mean |q| are in the first two columns of `expected`."""
    assert len(found) == len(expected)
    worst = 0
    for (q, i, *_), (middle, mean, _, shell) in zip(found, expected):
        assert abs(q / 10 - mean) < 2e-7, (q, mean)
        worst = max(worst, abs(i / shell - 1) if middle < most else 0)
    return worst


def by_length(hkl, bins, width):
    """Means of |F|^2 over wave vectors of one bin of |q|, which in a cube are those of one length, or of few."""
    total = [[0.0, 0] for _ in range(bins)]
    for *_, q, i in hkl:
        at = total[min(int(10 * q / width), bins - 1)]
        at[0] += i
        at[1] += 1
    return [t[0] / t[1] for t in total if t[1]]


def check_water(run, data, full):
    water = (os.path.join(data, "observables/spce/system.top"), os.path.join(data, "saxs/water/conf.gro"))
    frame = rows(os.path.join(data, "saxs/water/I_q_frame.tsv"))
    usual = "of: {resname: SOL}, max: 4 /A, bin: 0.1 /A"
    single = run.device.startswith("cuda")
    for order, most in ((4, 1e-3), (6, 1e-3 if single else 1e-5)):
        found = run.observe(water, f"{usual}, spacing: 0.25 A, order: {order}", water[1])
        run.hold(f"shells of a frame, order {order} at 0.25 A, up to 3 /A", worst_shell(found, frame, 3), most)
    if not full:
        return
    found = run.observe(water, f"{usual}, spacing: 0.25 A, divide-by: euler", water[1])
    run.hold("the same, divided by the Euler spline", worst_shell(found, frame, 3), 1e-3)
    width, bins = 0.0125, 2000
    hkl = by_length(rows(os.path.join(data, "saxs/water/I_hkl.tsv.gz"), gzip.open), bins, width)
    found = run.observe(water, f"of: {{resname: SOL}}, max: 25 /nm, bin: {width} /nm, spacing: 0.25 A, order: 6", water[1])
    assert len(found) == len(hkl)
    run.hold(f"|F|^2 of {len(hkl)} lengths of q, order 6", max(abs(f[1] / i - 1) for f, i in zip(found, hkl)), 1e-5)
    found = run.observe(water, f"{usual}, spacing: 0.25 A", os.path.join(data, "observables/spce/traj.xtc"), "--dt", "3 ps")
    trajectory = rows(os.path.join(data, "saxs/water/I_q_traj.tsv"))
    run.hold("shells of 21 frames", worst_shell(found, trajectory, 3), 1e-3)
    assert all(0 < error < i for _, i, error in found)


def peptide_topology(gro, folder):
    """A molecule without forces, by the names of its atoms."""
    with open(gro, encoding="utf-8") as f:
        lines = f.read().split("\n")[2:-2]
    path = os.path.join(folder, "peptide.top")
    with open(path, "w", encoding="utf-8") as f:
        f.write("[ defaults ]\n1 2\n[ atomtypes ]\n")
        f.writelines(f"{name} {number} {mass} 0 A 0.3 0\n" for name, (number, mass) in ELEMENTS.items())
        f.write("[ moleculetype ]\nPEP 1\n[ atoms ]\n")
        for i, line in enumerate(lines, 1):
            name = line[10:15].strip()
            element = name.lstrip("0123456789")[0]
            f.write(f"{i} {element} {line[:5]} {line[5:10]} {name} 1 0 {ELEMENTS[element][1]}\n")
        f.write("[ system ]\npeptide\n[ molecules ]\nPEP 1\n")
    return path


def check_peptide(run, data, folder):
    """The mean over the wave vectors of a large cell tends to that over all directions: within what bins that hold N vectors leave."""
    gro = os.path.join(data, "saxs/cluster/solute.gro")
    debye = rows(os.path.join(data, "saxs/cluster/I_q_debye.tsv"))
    found = run.observe((peptide_topology(gro, folder), gro),
                        "of: {molecule: PEP}, max: 10 /nm, bin: 0.04 /nm, spacing: 0.12 nm, order: 8, padding: {factor: 8}", gro)
    ratios = []
    for q, i, _ in found:
        k = min(int(q / 0.2), len(debye) - 2)
        part = (q / 10 - debye[k][0]) / 0.02
        ratios.append((q, i / (debye[k][1] ** (1 - part) * debye[k + 1][1] ** part) - 1))
    for first in range(2, 10, 2):
        of = [r for q, r in ratios if first <= q < first + 2]
        run.hold(f"peptide, q from {first} to {first + 2} /nm, mean of {len(of)} bins", abs(sum(of) / len(of)), 3e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("worker")
    parser.add_argument("data")
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.data, "saxs")):
        print("skipped: no ../shared/data/saxs here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(args.worker, args.device, folder)
        check_water(run, args.data, not args.device.startswith("cuda"))
        if not args.device.startswith("cuda"):
            check_peptide(run, args.data, folder)
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
