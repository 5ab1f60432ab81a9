#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The standard binding free energy of SAMPL6's octa-acid with 5-hexenoate (OA-G3), by a service of its own: complex and solvent legs,
windows that exchange, a sodium that gives its charge up with the guest's, three repeats: within 0.3 kcal/mol of the reference,
-6.71 +- 0.05 (Rizzi et al. 2020, doi 10.1007/s10822-020-00290-5).

The guest stays where it is by a flat-bottomed restraint between its center and that of the host's atoms around it; the wall is
beyond where it goes while it is bound. The sodium is kept away from the host.

Usage: host_guest.py SHOALD WORKER [--device D] [--data DIR] [--time NS] [--repeats N] [--folder DIR] [--limit S]
--device: one, or several with commas between. --data: reference/oa_g3 and host_guest/oa_g3 with their topologies and coordinates; beside
the repository unless given. --time: of production in each of the 24 windows, after a quarter of it for equilibration.
--folder keeps what was run; started again with it, the script goes on. --limit: stop after so many seconds, exit code 75.
Exit code 0: it agrees; 1: it does not; 77: no data.
"""
import math
import os
import re
import sys
import tempfile

from service_runs import NO_DATA, STEPS_A_NS, parser, results, run
from service_runs import submit as submit_spec

REFERENCE, BAR = -6.71, 0.3  # kcal/mol
SITE = 0.6  # nm, around the guest's center
LEGS = {"complex": ("reference/oa_g3/system.top", "reference/oa_g3/conf.gro"),
        "solvent": ("host_guest/oa_g3/solvent.top", "host_guest/oa_g3/solvent.gro")}
CHARGES = 11
VDW = [0.08, 0.16, 0.25, 0.35, 0.45, 0.54, 0.62, 0.69, 0.76, 0.83, 0.9, 0.95, 1]
SPEC = """name: {name}
system: {{topology: system.top, coordinates: conf.gro}}
nonbonded:
  vdw: {{cutoff: 1.0 nm, modifier: potential-switch, switch-start: 0.9 nm, dispersion-correction: all}}
  coulomb: {{cutoff: 1.0 nm, grid-spacing: 0.11 nm, order: 4, tolerance: 1e-5}}
constraints: h-bonds
alchemy:
  decouple: [{{molecule: GST}}, {{molecule: NA-CO, to: vdw}}]
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}}
  windows:
    coulomb: {coulomb}
    vdw: {vdw}
{restraints}exchange: {{every: 1 ps, scheme: gibbs}}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026}}
barostat: {{method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}}
repeats: {repeats}
protocol:
  - minimize: {{steps: {minimize}}}
  - equilibrate: {{time: {nvt} steps, ensemble: nvt}}
  - equilibrate: {{time: {npt} steps, ensemble: npt}}
  - produce: {{time: {steps} steps, ensemble: npt, sample-every: {sample} steps}}
"""
RESTRAINTS = """restraints:
  - {{between: [{{molecule: GST}}, {{atoms: "{site}"}}], upper: 0.35 nm, force-constant: 5000 kJ/mol/nm^2}}
  - {{between: [{{molecule: NA-CO}}, {{molecule: HST}}], lower: 1.6 nm, force-constant: 1000 kJ/mol/nm^2}}
"""


def with_own_ion(topology):
    """The first of the sodiums gets a molecule type of its own."""
    kind = re.search(r"\[ moleculetype \]\s*(?:;.*\n\s*)*Na\+ .*?(?=\[ moleculetype \])", topology, re.S)[0]
    topology, molecules = topology.replace(kind, kind + kind.replace("Na+ ", "NA-CO ", 1)).split("[ molecules ]")
    count = re.search(r"^Na\+\s+(\d+)$", molecules, re.M)
    return topology + "[ molecules ]" + molecules.replace(count[0], f"NA-CO 1\nNa+ {int(count[1]) - 1}")


def atoms(gro):
    """[(residue, name, x)] of coordinates written with any precision."""
    lines = gro.splitlines()
    first = lines[2].index(".", 20)
    width = lines[2].index(".", first + 1) - first
    return [(line[5:10].strip(), line[10:15].strip(), [float(line[20 + width * d:20 + width * (d + 1)]) for d in range(3)])
            for line in lines[2:2 + int(lines[1])]]


def site(gro):
    """Numbers of the host's heavy atoms around the guest, as a spec names them."""
    of_all = atoms(gro)
    guest = [x for residue, name, x in of_all if residue == "GST" and name[0] != "H"]
    center = [sum(x[d] for x in guest) / len(guest) for d in range(3)]
    return ", ".join(str(number) for number, (residue, name, x) in enumerate(of_all, 1)
                     if residue == "HST" and name[0] != "H" and math.dist(x, center) < SITE)


def submit(service, data, folder, leg, ns, repeats):
    topology, coordinates = (os.path.join(data, path) for path in LEGS[leg])
    with open(topology, encoding="utf-8") as f, open(os.path.join(folder, f"{leg}.top"), "w", encoding="utf-8") as own:
        own.write(with_own_ion(f.read()))
    with open(coordinates, encoding="utf-8") as f:
        around = site(f.read()) if leg == "complex" else None
    steps = max(100, round(ns * STEPS_A_NS / 500) * 500)
    spec = SPEC.format(name=leg, repeats=repeats, minimize=min(1000, steps), nvt=max(10, steps // 20), npt=max(25, steps // 5), steps=steps,
                       sample=min(100, steps // 10), coulomb=[round(k / (CHARGES - 1), 2) for k in range(CHARGES)] + [1] * len(VDW),
                       vdw=[0] * CHARGES + VDW, restraints=RESTRAINTS.format(site=around) if around else "")
    if steps < 1000:
        spec = re.sub(r"(?m)^exchange: .*\n", "", spec)
    return submit_spec(service, f"{leg}-{steps}-{repeats}", spec, {"system.top": own.name, "conf.gro": coordinates})


def report(service, idents, live):
    """How many of the one number are wrong."""
    parts = {"held": (0, 0)}
    for leg, ident in idents.items():
        found = results(service, ident, live)
        mbar = next((e for e in found["estimators"] if e["name"] == "MBAR"), {"total": None}) if found else {"total": None}
        if not mbar["total"]:
            print(f"{leg}: nothing yet")
            return 1
        value, speed = mbar["total"]["kcal/mol"], found["ensemble"]["speed"]
        parts[leg] = (value["value"], value["error"])
        print(f"{leg:<8} {value['value']:9.3f} +- {value['error']:.3f} kcal/mol, {found['verdict']['verdict']}, "
              f"{speed['magnitude'] if speed else 0:.1f} ns/day beside the other")
        if held := found["standard_state"]:
            parts["held"] = (held["correction"]["kcal/mol"]["value"], 0)
            print(f"{'1 mol/l':<8} {parts['held'][0]:9.3f}")
    binding = parts["solvent"][0] - parts["complex"][0] - parts["held"][0]
    error = math.hypot(parts["solvent"][1], parts["complex"][1])
    good = abs(binding - REFERENCE) <= BAR
    print(f"{'binding':<8} {binding:9.3f} +- {error:.3f}, reference {REFERENCE:.2f}, {binding - REFERENCE:+.3f}: {'ok' if good else 'FAIL'}")
    return not good


def main():
    o = parser("").parse_args()
    if not all(os.path.exists(os.path.join(o.data, path)) for leg in LEGS.values() for path in leg):
        print(f"no inputs of OA-G3 in {o.data}")
        return NO_DATA
    with tempfile.TemporaryDirectory() as folder:
        return run(o, lambda service: {leg: submit(service, o.data, folder, leg, o.time, o.repeats) for leg in LEGS}, report)[0]


if __name__ == "__main__":
    sys.exit(main())
