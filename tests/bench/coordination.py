#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a coordination costs as a bias, value and derivatives: timesteps of atoms that feel nothing else, with it less without it.
Beside PLUMED's COORDINATION on the same atoms where `plumed` is installed, and beside what its own documents say for such input.

    free     one group, R_0 = 1 nm, NN = 6, MM = 12, no periodic box; D_MAX is the short form's own, 6.8 nm. The input of PLUMED's benchmarks
    near     the same in a periodic box with D_MAX = 2.5 nm, so that lists pay

Atoms are on a simple cubic lattice of 1 nm, shaken by 0.1 nm.

Usage: coordination.py SHOAL_WORKER [--device cpu:1] [--atoms N]... [--pairs N]     prints a table
       --pairs: about so many a run, from which the number of steps follows"""
import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOPOLOGY = """[ defaults ]
1 2
[ atomtypes ]
X 18 40 0 A 0.3 0.0
[ moleculetype ]
X 1
[ atoms ]
1 X 1 X X 1 0 4000
[ system ]
lattice
[ molecules ]
X {atoms}
"""
# Bare atoms: without Lennard-Jones, charges and mesh a step costs next to nothing.
SPEC = """name: lattice
system: {{topology: x.top, coordinates: x.gro}}
nonbonded: {{cutoff: 0.2 nm, vdw: {{dispersion-correction: no}}, coulomb: {{method: reaction-field}}}}
integrator: {{timestep: 2 fs, temperature: 10 K, friction: 1 /ps}}
protocol:
  - produce: {{time: 1 ns, sample-every: 2 ps}}
{bias}"""
BIAS = """biases:
  - coordination: {{within: X, r0: 1 nm, nn: 6, mm: 12{more}}}
    harmonic: {{at: 0, force-constant: 1e-9 kJ/mol}}
"""
PLUMED = """c: COORDINATION GROUPA=1-{atoms} {more}
RESTRAINT ARG=c AT=0 KAPPA=1e-9
"""
CASES = {  # name -> (of the spec, of PLUMED)
    "free": (", d-max: automatic, periodic: no", "R_0=1 NN=6 MM=12 NOPBC"),
    "near": (", d-max: 2.5 nm", "SWITCH={RATIONAL R_0=1 NN=6 MM=12 D_MAX=2.5} NLIST NL_CUTOFF=3 NL_STRIDE=20"),
}
# ns a pair of COORDINATION GROUPA=@mdatoms R_0=1 NOPBC, 500 atoms, one thread: "4 Calculating (forward loop)" over 124,750 pairs.
DOCUMENTED = {
    "PLUMED 2.10-dev, an output that plumed-bench-pp keeps among its tests (1.574 ms)": 1.574e6 / 124750,
    "PLUMED's lesson 24.003, its first output (2.470 ms)": 2.470e6 / 124750,
}


def lattice(atoms):
    """Positions, and the edge of their cube; nm."""
    draw, points = random.Random(7), math.ceil(atoms ** (1 / 3) - 1e-9)
    return [[n // points ** k % points + 0.5 + draw.uniform(-0.1, 0.1) for k in range(3)] for n in range(atoms)], float(points)


def write(folder, atoms):
    x, edge = lattice(atoms)
    lines = ["%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % (i % 100000, "X", "X", i % 100000, *r) for i, r in enumerate(x, 1)]
    (folder / "x.gro").write_text("\n".join(["lattice", str(atoms), *lines, "%10.5f%10.5f%10.5f" % (edge, edge, edge)]) + "\n")
    (folder / "x.top").write_text(TOPOLOGY.format(atoms=atoms))
    (folder / "x.xyz").write_text("\n".join([str(atoms), f"{edge} {edge} {edge}", *("X %.3f %.3f %.3f" % tuple(r) for r in x)]) + "\n")
    for name, (more, _) in CASES.items():
        (folder / f"{name}.yaml").write_text(SPEC.format(bias=BIAS.format(more=more)))
    (folder / "none.yaml").write_text(SPEC.format(bias=""))


def step(worker, folder, name, device, steps):
    """Microseconds: of the clock, or of a processor where that is the device, since others may be at work on it."""
    done = subprocess.run([worker, "bench", f"{name}.yaml", "--device", device, "--steps", str(steps), "--json"], cwd=folder, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"bench {name}.yaml: exit code {done.returncode}\n{done.stderr}")
    told = json.loads(done.stdout)
    return told["us_per_replica_step"] * (told["cpu_s_per_wall_s"] if device.startswith("cpu") else 1)


def forward(told):
    """Microseconds a step from the timers that PLUMED prints at its end."""
    found = re.search(r"4 Calculating \(forward loop\) +(\d+) +([\d.]+)", told)
    return float(found[2]) / int(found[1]) * 1e6 if found else None


def plumed_step(folder, name, atoms, steps):
    """The same of `plumed driver`, one thread; None where there is no plumed."""
    program = shutil.which("plumed")
    if not program:
        return None
    (folder / "plumed.dat").write_text(PLUMED.format(atoms=atoms, more=CASES[name][1]))
    frame = (folder / "x.xyz").read_text()
    (folder / "frames.xyz").write_text(frame * steps)
    done = subprocess.run([program, "driver", "--plumed", "plumed.dat", "--ixyz", "frames.xyz", "--length-units", "nm"], cwd=folder,
                          env=dict(os.environ, PLUMED_NUM_THREADS="1"), text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"plumed driver: exit code {done.returncode}\n{done.stderr}")
    return forward(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("worker")
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--atoms", type=int, action="append")
    parser.add_argument("--pairs", type=float, default=2e8)
    args = parser.parse_args()
    worker, has_plumed = os.path.abspath(args.worker), shutil.which("plumed")
    print(f"{args.device}; a step with the bias less one without it" + ("" if has_plumed else "; no plumed here"))
    print(f"{'case':<6}{'atoms':>8}{'pairs':>12}{'us':>12}{'ns a pair':>12}{'pairs/s':>12}{'PLUMED, ns':>12}")
    measured = {}
    for atoms in args.atoms or [500, 2000, 8000]:
        pairs = atoms * (atoms - 1) // 2
        steps = max(20, min(20000, round(args.pairs / pairs)))
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            write(folder, atoms)
            bare = step(worker, folder, "none", args.device, steps)
            for name in CASES:
                us = step(worker, folder, name, args.device, steps) - bare
                measured[name, atoms] = ns = 1e3 * us / pairs
                theirs = plumed_step(folder, name, atoms, min(steps, 200))
                beside = f"{1e3 * theirs / pairs:>12.3f}" if theirs else f"{'-':>12}"
                print(f"{name:<6}{atoms:>8}{pairs:>12}{us:>12.1f}{ns:>12.4f}{1e9 / ns:>12.3g}{beside}", flush=True)
    for source, ns in DOCUMENTED.items():
        ours = measured.get(("free", 500))
        print(f"documented, free, 500 atoms, one thread: {ns:.1f} ns a pair" + (f", {ns / ours:.1f} times ours" if ours else "") + f": {source}")


if __name__ == "__main__":
    main()
