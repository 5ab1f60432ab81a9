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
import argparse
import math
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from freesolv import AGAIN, NO_DATA, STEPS_A_NS, wait  # noqa: E402
from service import Service  # noqa: E402

DATA = os.path.join(HERE, "../../../shared/data")
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


def submit(service, data, leg, ns, repeats):
    files = {}
    for name, path in zip(("system.top", "conf.gro"), LEGS[leg]):
        with open(os.path.join(data, path), encoding="utf-8") as f:
            files[name] = f.read()
    files["system.top"] = with_own_ion(files["system.top"])
    steps = max(100, round(ns * STEPS_A_NS / 500) * 500)
    spec = SPEC.format(name=leg, repeats=repeats, minimize=min(1000, steps), nvt=max(10, steps // 20), npt=max(25, steps // 5), steps=steps,
                       sample=min(100, steps // 10), coulomb=[round(k / (CHARGES - 1), 2) for k in range(CHARGES)] + [1] * len(VDW),
                       vdw=[0] * CHARGES + VDW, restraints=RESTRAINTS.format(site=site(files["conf.gro"])) if leg == "complex" else "")
    if steps < 1000:
        spec = re.sub(r"(?m)^exchange: .*\n", "", spec)
    status, answer = service.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": f"{leg}.yaml", "files": files,
                                                            "id": f"{leg}-{steps}-{repeats}"})
    assert status in (200, 201), answer
    return answer["id"]


def report(service, idents):
    """True: it agrees."""
    parts = {}
    for leg, ident in idents.items():
        status, results = service.call("GET", f"/v1/ensembles/{ident}/results")
        assert status == 200, results
        mbar = next(e for e in results["estimators"] if e["name"] == "MBAR")
        value, speed = mbar["total"]["kcal/mol"], results["ensemble"]["speed"]
        parts[leg] = (value["value"], value["error"])
        print(f"{leg:<8} {value['value']:9.3f} +- {value['error']:.3f} kcal/mol, {results['verdict']['verdict']}, "
              f"{speed['magnitude'] if speed else 0:.1f} ns/day beside the other")
        if held := results["standard_state"]:
            parts["held"] = (held["correction"]["kcal/mol"]["value"], 0)
            print(f"{'1 mol/l':<8} {parts['held'][0]:9.3f}")
    binding = parts["solvent"][0] - parts["complex"][0] - parts["held"][0]
    error = math.hypot(parts["solvent"][1], parts["complex"][1])
    good = abs(binding - REFERENCE) <= BAR
    print(f"{'binding':<8} {binding:9.3f} +- {error:.3f}, reference {REFERENCE:.2f}, {binding - REFERENCE:+.3f}: {'ok' if good else 'FAIL'}")
    return good


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald", type=os.path.abspath)
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu")
    options.add_argument("--data", default=DATA)
    options.add_argument("--time", type=float, default=1, metavar="NS")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--folder", type=os.path.abspath)
    options.add_argument("--limit", type=float)
    o = options.parse_args()
    if not all(os.path.exists(os.path.join(o.data, path)) for leg in LEGS.values() for path in leg):
        print(f"no inputs of OA-G3 in {o.data}")
        return NO_DATA
    folder = o.folder or tempfile.mkdtemp(prefix="shoal-host-guest-")
    service = Service(o.shoald, o.worker, folder, o.device)
    service.start()
    try:
        idents = {leg: submit(service, o.data, leg, o.time, o.repeats) for leg in LEGS}
        if not wait(service, idents, o.limit):
            print(f"go on with --folder {folder}")
            return AGAIN
        good = report(service, idents)
    finally:
        service.stop(300)
    if not o.folder:
        shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
