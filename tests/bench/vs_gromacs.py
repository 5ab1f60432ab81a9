#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One core of Shoal beside one core of `gmx mdrun -nt 1`, on the same 3,000-atom box: methanol in TIP3P, PME, cut-off 1.0 nm, h-bonds,
2 fs. Then all cores with several replicas. Prints a table; exit code 1 when Shoal is slower than the allowed ratio.

Usage: vs_gromacs.py SHOAL_WORKER [--steps N] [--gmx-steps N] [--allowed RATIO]"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "examples", "methanol", "methanol.top")
POINTS = 10  # waters on each edge of the lattice

SPEC = """name: bench
system: {topology: system.top, coordinates: conf.gro}
nonbonded:
  cutoff: 1.0 nm
  vdw: {modifier: potential-shift, dispersion-correction: energy-pressure}
  coulomb: {modifier: potential-shift, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}
constraints: h-bonds
integrator: {method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 1}
protocol:
  - produce: {time: 1 ns, ensemble: nvt, sample-every: 0.2 ps}
"""

MDP = """integrator = {integrator}
nsteps = {steps}
dt = 0.002
cutoff-scheme = Verlet
nstcalcenergy = 100
coulombtype = PME
rcoulomb = 1.0
rvdw = 1.0
fourierspacing = 0.12
pme-order = 4
ewald-rtol = 1e-5
DispCorr = EnerPres
constraints = {constraints}
tcoupl = {tcoupl}
tc-grps = System
tau-t = 1
ref-t = 298.15
gen-vel = yes
gen-temp = 298.15
"""


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def mdrun(folder, name, **mdp):
    with open(os.path.join(folder, name + ".mdp"), "w", encoding="utf-8") as f:
        f.write(MDP.format(**mdp))
    run("gmx", "grompp", "-f", name + ".mdp", "-c", "conf.gro", "-p", "system.top", "-o", name + ".tpr", "-maxwarn", "3",
        cwd=folder)
    return run("gmx", "mdrun", "-nt", "1", "-deffnm", name, cwd=folder)


def make_system(folder):
    """system.top and a minimized conf.gro that both programs start from."""
    printed = run(sys.executable, os.path.join(ROOT, "examples", "make_box.py"), "methanol", str(POINTS),
                  os.path.join(folder, "conf.gro"))
    waters = re.search(r"\d+", printed).group()
    with open(EXAMPLE, encoding="utf-8") as f:
        topology = re.sub(r"^(SOL\s+)\d+", r"\g<1>" + waters, f.read(), flags=re.M)
    with open(os.path.join(folder, "system.top"), "w", encoding="utf-8") as f:
        f.write(topology)
    with open(os.path.join(folder, "spec.yaml"), "w", encoding="utf-8") as f:
        f.write(SPEC)
    mdrun(folder, "em", integrator="steep", steps=300, constraints="none", tcoupl="no")
    shutil.copy(os.path.join(folder, "em.gro"), os.path.join(folder, "conf.gro"))
    mdrun(folder, "eq", integrator="md", steps=1000, constraints="h-bonds", tcoupl="v-rescale")
    shutil.copy(os.path.join(folder, "eq.gro"), os.path.join(folder, "conf.gro"))


def gmx_us_per_step(folder, steps):
    printed = mdrun(folder, "md", integrator="md", steps=steps, constraints="h-bonds", tcoupl="v-rescale")
    ns_per_day = float(re.search(r"Performance:\s+([\d.]+)", printed).group(1))
    return 86400e6 * 2e-6 / ns_per_day


def shoal(worker, folder, replicas, steps, device):
    return json.loads(run(worker, "bench", os.path.join(folder, "spec.yaml"), "--replicas", str(replicas), "--steps",
                          str(steps), "--device", device, "--json"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--gmx-steps", type=int, default=1000)
    parser.add_argument("--allowed", type=float, default=4.0)
    args = parser.parse_args()
    if not shutil.which("gmx"):
        print("skipped: gmx is not installed")
        return 77
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        make_system(folder)
        gmx = gmx_us_per_step(folder, args.gmx_steps)
        one = shoal(args.worker, folder, 1, args.steps, "cpu:1")
        again = gmx_us_per_step(folder, args.gmx_steps)
        gmx = min(gmx, again)
        many = shoal(args.worker, folder, 2 * cores, args.steps // 2, f"cpu:{cores}")
    ratio = one["us_per_replica_step"] / gmx
    busy = many["cpu_s_per_wall_s"]
    print(f"{one['atoms']} atoms                         us per replica-step")
    print(f"gmx mdrun -nt 1 (better of two)     {gmx:10.0f}")
    print(f"shoal, 1 replica, 1 thread          {one['us_per_replica_step']:10.0f}   {ratio:.2f} of gmx, allowed {args.allowed:.2f}")
    print(f"shoal, {2 * cores:2d} replicas, {cores:2d} threads      {many['us_per_replica_step']:10.0f}   {busy:.2f} of {cores} cores busy")
    return 0 if ratio <= args.allowed and busy > 0.8 * cores else 1


if __name__ == "__main__":
    sys.exit(main())
