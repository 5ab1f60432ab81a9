#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""4 fs with repartitioned masses conserve energy: liquid methanol (all atoms, h-bonds), velocity Verlet. Held to the same at 2 fs
with the topology's masses, whose deviations it may have fourfold as the square of the timestep, and to 4 fs with those, which it
must be better than.

Usage: heavy_hydrogens.py SHOAL_WORKER EXAMPLES PICOSECONDS [DEVICE]
"""
import math
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from tiny import random_rotation  # noqa: E402
from worker import Worker  # noqa: E402

SIDE, EDGE = 4, 1.66  # nm; 64 molecules at about the liquid's density
FREEDOM = SIDE**3 * (18 - 4) - 3
DRIFT = 1e-3  # kT per ns and degree of freedom; shared with `validate nve`
SPEC = """name: methanol
system: {{topology: methanol.top, coordinates: {gro}}}
nonbonded:
  cutoff: 0.75 nm
  vdw: {{modifier: potential-switch, switch-start: 0.6 nm}}
  coulomb: {{grid-spacing: 0.1 nm, tolerance: 1e-6}}
constraints: h-bonds
masses: {{repartition: {factor}}}
integrator: {{method: {method}, timestep: {timestep} fs, temperature: 298.15 K, seed: 5, com-removal: no}}
protocol:
{protocol}"""
RELAX = """  - minimize: {{steps: 300}}
  - equilibrate: {{time: 1 ps, timestep: 1 fs}}
  - produce: {{time: {} ps, sample-every: 2 ps}}
"""


def lattice(examples):
    """Copies of the example's methanol, turned at random."""
    with open(os.path.join(examples, "methanol/methanol.gro"), encoding="utf-8") as f:
        rows = f.read().split("\n")[2:8]
    atoms = [(row[10:15].strip(), [float(word) for word in row[20:].split()[:3]]) for row in rows]
    center = [sum(x[d] for _, x in atoms) / len(atoms) for d in range(3)]
    rng, lines = random.Random(3), []
    for m in range(SIDE**3):
        turn, at = random_rotation(rng), [(m // SIDE**k % SIDE + 0.5) * EDGE / SIDE for k in range(3)]
        for name, x in atoms:
            new = [at[d] + sum(turn[d][e] * (x[e] - center[e]) for e in range(3)) for d in range(3)]
            lines.append("%5d%-5s%5s%5d%12.7f%12.7f%12.7f" % (m + 1, "MOH", name, len(lines) + 1, *new))
    return "\n".join(["methanol", str(len(lines)), *lines, f"{EDGE} {EDGE} {EDGE}", ""])


def topology(examples):
    with open(os.path.join(examples, "methanol/methanol.top"), encoding="utf-8") as f:
        return f.read().split("[ molecules ]")[0] + f"[ molecules ]\nMOH {SIDE**3}\n"


def run(program, folder, name, files):
    os.makedirs(os.path.join(folder, name, "input"))
    for file, text in files.items():
        with open(os.path.join(folder, name, "input", file), "w", encoding="utf-8") as f:
            f.write(text)
    worker = Worker(program, "--device", sys.argv[4] if len(sys.argv) > 4 else "cpu:2")
    worker.socket.settimeout(None)
    worker.start(1, os.path.join(folder, name), 0, 1)
    ended, _ = worker.until_ended(1)
    worker.drain()
    return ended[1], os.path.join(folder, name, "lambda_00")


def inefficiency(x):
    """By how much fewer of these deviations are independent than there are: what an integrator conserves is not the energy but
    something near it, and the difference wanders with the liquid."""
    n, g = len(x), 1.0
    square = sum(a * a for a in x) / n
    for lag in range(1, n // 2):
        c = sum(a * b for a, b in zip(x, x[lag:])) / ((n - lag) * square)
        if c <= 0:
            break
        g += 2 * c * (1 - lag / n)
    return g


def trend(path, freedom=FREEDOM):
    """Slope (kT per ns and degree of freedom) of the total energy, its deviation about the trend (kJ/mol), and the slope's error."""
    with open(path, encoding="utf-8") as f:
        rows = [[float(word) for word in line.split()] for line in f if line[0] not in "#@"]
    t, u = [row[0] * 1e-3 for row in rows], [row[3] for row in rows]
    n, kt = len(rows), 8.314462618e-3 * sum(row[4] for row in rows) / len(rows)
    mean_t, mean_u = sum(t) / n, sum(u) / n
    width = sum((a - mean_t)**2 for a in t)
    slope = sum((a - mean_t) * (b - mean_u) for a, b in zip(t, u)) / width
    left = [b - mean_u - slope * (a - mean_t) for a, b in zip(t, u)]
    about = math.sqrt(sum(a * a for a in left) / n)
    return slope / kt / freedom, about, about * math.sqrt(inefficiency(left) / width) / kt / freedom


def main():
    program, examples, picoseconds = os.path.abspath(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    found = {}
    with tempfile.TemporaryDirectory(prefix="shoal-masses-") as folder:
        for factor in (1, 3):
            spec = SPEC.format(gro="start.gro", factor=factor, method="langevin-middle", timestep=2,
                               protocol=RELAX.format(max(2, picoseconds // 5)))
            files = {"spec.yaml": spec, "methanol.top": topology(examples), "start.gro": lattice(examples)}
            end, where = run(program, folder, f"relax-{factor}", files)
            assert end["type"] == "done", end
            with open(os.path.join(where, "confout.gro"), encoding="utf-8") as f:
                files["start.gro"] = f.read()
            for timestep in (2, 4) if factor == 1 else (4,):
                protocol = f"  - produce: {{time: {picoseconds} ps, sample-every: 0.02 ps}}\n"
                files["spec.yaml"] = SPEC.format(gro="start.gro", factor=factor, method="velocity-verlet", timestep=timestep,
                                                 protocol=protocol)
                end, where = run(program, folder, f"nve-{factor}-{timestep}", files)
                if end["type"] == "done":
                    found[factor, timestep] = trend(os.path.join(where, "energy.xvg"))
                    print("masses x %d, %d fs: drift %.2g +- %.1g kT/ns/dof, %.3g kJ/mol about the trend"
                          % (factor, timestep, found[factor, timestep][0], found[factor, timestep][2], found[factor, timestep][1]))
                else:
                    assert (factor, timestep) == (1, 4), end
                    print(f"masses x 1, 4 fs: {end['message']}")
    plain, heavy = found[1, 2], found[3, 4]
    assert heavy[1] < 4 * plain[1], "4 fs with heavy hydrogens are worse than the square of the timestep says"
    assert (1, 4) not in found or heavy[1] < 0.8 * found[1, 4][1], "heavy hydrogens change nothing"
    assert abs(heavy[0]) < DRIFT + 3 * heavy[2], "energy drifts"


if __name__ == "__main__":
    main()
