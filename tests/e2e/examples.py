#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example is a good submission, its coordinates are what make_box.py makes, and gmx grompp (where it is installed)
takes its topology without a warning. Arguments: shoal-worker, the examples folder."""
import os
import shutil
import subprocess
import sys
import tempfile

BOXES = {  # coordinates -> solute, lattice points
    "methane/methane.gro": ("methane", "7"),
    "methanol/methanol.gro": ("methanol", "9"),
    "ethane/ethane.gro": ("ethane", "7"),
    "water/water.gro": ("water", "900"),
    **{f"{pair}/{leg}.gro": (pair, points) for pair in ("methane-to-methanol", "methane-to-ethane", "methanol-to-ethane")
       for leg, points in (("water", "8"), ("vacuum", "0"))},
}
MDP = """define = {define}
integrator = sd
nsteps = 10
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
rlist = 1.0
constraints = h-bonds
tc-grps = System
tau-t = 1
ref-t = 298.15
free-energy = yes
init-lambda-state = 0
coul-lambdas = 0 1
vdw-lambdas = 0 1
bonded-lambdas = 0 1
"""


def output(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def grompp(gmx, examples, coordinates, scratch):
    """Takes the topologies beside the coordinates."""
    folder = os.path.abspath(os.path.dirname(f"{examples}/{coordinates}"))
    with open(f"{scratch}/run.mdp", "w", encoding="ascii") as f:
        f.write(MDP.format(define="-DVACUUM" if coordinates.endswith("vacuum.gro") else ""))
    for top in (name for name in os.listdir(folder) if name.endswith(".top")):
        said = output(gmx, "grompp", "-f", "run.mdp", "-p", f"{folder}/{top}", "-c", os.path.abspath(f"{examples}/{coordinates}"),
                      "-o", "run.tpr", "-maxwarn", "0", cwd=scratch)
        if "WARNING" in said:
            sys.exit(f"{top} with {coordinates}: gmx grompp warns:\n{said}")


def main():
    worker, examples = sys.argv[1:]
    specs = sorted(os.path.join(folder, f) for folder, _, files in os.walk(examples) for f in files if f.endswith(".yaml")
                   and os.path.basename(folder) not in ("campaign", "freesolv")) # no specs by themselves: campaign.py, freesolv_example.py
    if not specs:
        sys.exit(f"no specs in {examples}")
    gmx = shutil.which("gmx")
    with tempfile.TemporaryDirectory() as scratch:
        for name, (solute, points) in BOXES.items():
            output(sys.executable, f"{examples}/make_box.py", solute, points, f"{scratch}/box.gro")
            with open(f"{scratch}/box.gro", "rb") as made, open(f"{examples}/{name}", "rb") as kept:
                if made.read() != kept.read():
                    sys.exit(f"{name} is not what make_box.py {solute} {points} makes")
            if gmx:
                grompp(gmx, examples, name, scratch)
        if gmx:
            grompp(gmx, examples, "acid-dimer/dimer.gro", scratch)
        for spec in specs:
            print(output(worker, "validate", spec).strip())
    print(f"{len(specs)} specs; grompp {'agrees' if gmx else 'skipped: no gmx'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
