#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hydration free energies of FreeSolv's molecules with FreeSolv's own settings, three repeats, by a service of its own: each leg
(charging, vdw) within 0.15 kcal/mol or three errors of the published value, whichever is larger.

Usage: freesolv.py SHOALD WORKER [--device D] [--data DIR] [--time NS] [--molecules A,B] [--repeats N] [--folder DIR] [--limit S] [--errors FILE]
    [--mesh-every N]
--device: one, or several with commas between. --data: freesolv.tsv and a folder with system.top and conf.gro for each molecule;
beside the repository unless given.
--time: of production in each of the 20 windows, after a quarter of it for equilibration.
--mesh-every: timesteps from one with the mesh to the next (integrator.mesh-every), 1 or 2.
--errors: writes what each molecule says of its own error, mean over the repeats, for freesolv_by_need.py.
--folder keeps what was run; started again with it, the script goes on. --limit: stop after so many seconds, exit code 75.
Exit code 0: all legs agree; 1: one does not; 77: no data.
"""
import math
import os
import sys

from service_runs import NO_DATA, STEPS_A_NS, parser, results, run
from service_runs import submit as submit_spec

BAR = 0.15  # kcal/mol
COULOMB = [0, 0.25, 0.5, 0.75] + [1] * 16
VDW = [0] * 5 + [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1]
SPEC = """name: {name}
system: {{topology: system.top, coordinates: conf.gro}}
nonbonded:
  vdw: {{cutoff: 1.0 nm, modifier: potential-switch, switch-start: 0.9 nm, dispersion-correction: all}}
  coulomb: {{cutoff: 1.2 nm, modifier: none, grid-spacing: 0.10 nm, order: 6, tolerance: 1e-6}}
constraints: h-bonds
alchemy:
  decouple: MOL
  intramolecular: keep
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}}
  windows:
    coulomb: {coulomb}
    vdw: {vdw}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 0.5 /ps, seed: 2026, mesh-every: {mesh}}}
barostat: {{method: monte-carlo, pressure: 1.01325 bar, every: {move} steps}}
allocate: {allocate}
protocol:
  - minimize: {{steps: {minimize}}}
  - equilibrate: {{time: {nvt} steps, ensemble: nvt}}
  - equilibrate: {{time: {npt} steps, ensemble: npt}}
  - produce: {{time: {steps} steps, ensemble: npt, sample-every: {sample} steps}}
"""

def published(data):
    """{molecule: {"coulomb": (value, error), "vdw": ..}}, kcal/mol, as free energies of solvation; {} where there is no data."""
    if not os.path.exists(os.path.join(data, "freesolv.tsv")):
        print(f"no freesolv.tsv in {data}")
        return {}
    with open(os.path.join(data, "freesolv.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    found = {}
    for row in rows[1:]:
        fields = dict(zip(rows[0], row))
        found[fields["name"]] = {leg: (float(fields[f"dG_{key}"]), float(fields[f"dG_{key}_err"]))
                                 for leg, key in (("coulomb", "charging"), ("vdw", "vdw"))}
    return found


def spec_of(name, ns, share=1, allocate="even", mesh=1):
    """With so long a production, of which the share is made at first: the rest of the protocol is that of the whole."""
    steps = max(100, round(ns * STEPS_A_NS))
    return SPEC.format(name=name, coulomb=COULOMB, vdw=VDW, minimize=min(500, steps), nvt=max(10, steps // 20), npt=max(25, steps // 5),
                       steps=round(steps * share), sample=min(100, steps // 10), allocate=allocate, mesh=mesh, move=25 + 25 % mesh)


def submit(service, data, name, ns, repeats, mesh):
    files = {file: os.path.join(data, name, file) for file in ("system.top", "conf.gro")}
    ident = f"{name}-{ns:g}-{repeats}" + (f"-mesh-{mesh}" if mesh > 1 else "")
    return submit_spec(service, ident, spec_of(name, ns, mesh=mesh) + f"repeats: {repeats}\n", files)


def legs(found):
    """{"coulomb": (value, error), "vdw": ..} of solvation, kcal/mol, by MBAR; (None, None) where it has none."""
    mbar = next((e for e in found["estimators"] if e["name"] == "MBAR"), {"legs": []})
    parts = {"coulomb": (None, None), "vdw": (None, None)}
    for leg in mbar["legs"]:
        if leg["free_energy"]:
            energy = leg["free_energy"]["kcal/mol"]
            parts[leg["name"]] = (-energy["value"], energy["error"])
    if found["solvation"] and None not in (sums := [value for value, _ in parts.values()]):
        whole = found["solvation"]["free_energy"]["kcal/mol"]["value"]
        assert abs(sum(sums) - whole) < 1e-4, (parts, whole)
    return parts


def row(name, leg, ours, theirs):
    """Prints a line of the table; whether they agree."""
    if ours[0] is None:
        print(f"{name:<16} {leg:<8} {'none':>8} {'':>17} {theirs[0]:8.3f} +- {theirs[1]:5.3f}   FAIL")
        return False
    allowed = max(BAR, 3 * math.hypot(ours[1], theirs[1]))
    good = abs(ours[0] - theirs[0]) <= allowed
    print(f"{name:<16} {leg:<8} {ours[0]:8.3f} +- {ours[1]:5.3f}   {theirs[0]:8.3f} +- {theirs[1]:5.3f}   "
          f"{ours[0] - theirs[0]:+7.3f}   {allowed:7.3f}   {'ok' if good else 'FAIL'}")
    return good


def report(service, idents, wanted, live=False):
    """The table. How many legs disagree."""
    bad = 0
    print("kcal/mol         leg      Shoal               FreeSolv           off       allowed")
    for name, ident in idents.items():
        if not (found := results(service, ident, live)):
            continue
        ours, speed = legs(found), found["ensemble"]["speed"]
        for leg, theirs in wanted[name].items():
            bad += not row(name, leg, ours[leg], theirs)
        print(f"{'':<16} verdict {(found['verdict'] or {'verdict': 'none'})['verdict']}, "
              f"{speed['magnitude'] if speed else 0:.1f} ns/day beside the others")
    return bad


def error_of(ensembles):
    """What they say of their own errors, root mean square over all their repeats, kcal/mol."""
    energies = []
    for found in ensembles:
        energies += [found["estimators"][0]["total"]] if found["repeats"] is None else [r["free_energy"] for r in found["repeats"]]
    return math.sqrt(sum(energy["kcal/mol"]["error"] ** 2 for energy in energies) / len(energies))


def main():
    options = parser("freesolv")
    options.add_argument("--molecules")
    options.add_argument("--errors", metavar="FILE")
    options.add_argument("--mesh-every", type=int, default=1, choices=(1, 2))
    o = options.parse_args()
    wanted = published(o.data)
    if not wanted:
        return NO_DATA
    names = o.molecules.split(",") if o.molecules else list(wanted)
    if unknown := [name for name in names if name not in wanted]:
        options.error(f"--molecules {','.join(unknown)}: expected some of {', '.join(wanted)}")

    def report_all(service, idents, live):
        bad = report(service, idents, wanted, live)
        if o.errors and not live:
            with open(o.errors, "w", encoding="utf-8") as f:
                f.writelines(f"{name}\t{error_of([results(service, ident, False)]):.4f}\n" for name, ident in idents.items())
        return bad

    code, seconds = run(o, lambda service: {name: submit(service, o.data, name, o.time, o.repeats, o.mesh_every) for name in names}, report_all)
    total = len(names) * o.repeats * len(VDW) * o.time
    if code in (0, 1):
        print(f"{total:.4g} ns of production in {seconds / 60:.1f} min" + ("" if o.folder else f": {total / seconds * 86400:.0f} ns/day"))
    return code


if __name__ == "__main__":
    sys.exit(main())
