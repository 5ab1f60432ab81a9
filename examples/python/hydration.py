#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hydration free energy of methane, from a spec that Python writes to a number: three minutes on two cores.

    python3 examples/python/hydration.py
"""
import argparse
import pathlib

import shoal

SYSTEM = pathlib.Path(__file__).parent.parent / "methane"
VDW = [0, 0, 0.2, 0.42, 0.56, 0.65, 0.76, 1]
SPEC = """
name: methane-from-python
system: {{topology: methane.top, coordinates: methane.gro}}
nonbonded:
  cutoff: 0.9 nm
  vdw: {{modifier: potential-shift, dispersion-correction: energy-pressure}}
  coulomb: {{grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}}
constraints: h-bonds
masses: {{repartition: 3}}
alchemy:
  decouple: MET
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}}
  windows: {{coulomb: {coulomb}, vdw: {vdw}}}
integrator: {{method: langevin-middle, timestep: 4 fs, temperature: 298.15 K, friction: 1 /ps, seed: {seed}}}
barostat: {{method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}}
protocol:
  - minimize: {{steps: {minimization}}}
  - equilibrate: {{time: {equilibration}, ensemble: nvt}}
  - equilibrate: {{time: {equilibration}, ensemble: npt}}
  - produce: {{time: {production}, ensemble: npt, sample-every: {sample_every}}}
"""


def with_error(value: shoal.Value) -> str:
    return f"{value.value:7.2f} +- {value.error or 0:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minimization", type=int, default=200, help="steps")
    parser.add_argument("--equilibration", default="5 ps", help="of each of two stages")
    parser.add_argument("--production", default="100 ps", help="of every window")
    parser.add_argument("--sample-every", default="0.2 ps")
    parser.add_argument("--seed", type=int, default=2026)
    args = parser.parse_args()

    service = shoal.Service()
    coulomb = [0] + [1] * (len(VDW) - 1)  # methane is all but unpolar: its charges go in one step
    spec = SPEC.format(coulomb=coulomb, vdw=VDW, **vars(args))
    files = {name: (SYSTEM / name).read_text() for name in ("methane.top", "methane.gro")}
    # One key for one set of settings: said again, this finds the ensemble that was submitted first.
    key = "-".join(("python", *" ".join(map(str, vars(args).values())).split()))
    ensemble = service.submit_text(spec, files, key=key, labels={"example": "python"})
    print(f"{ensemble.name} is {ensemble.id}, {ensemble.windows} windows")

    for event in service.watch(ensemble):
        if event.kind == "ensemble":
            print(f"{event.time}  {event.state} {event.message or ''}")
    results = service.results(ensemble)

    for estimator in results.estimators:
        total = with_error(estimator.total.kcal_mol) if estimator.total else "none"
        print(f"{estimator.name:9} {total} kcal/mol, {estimator.verdict.verdict}")
    if results.solvation:
        print(f"hydration {with_error(results.solvation.free_energy.kcal_mol)} kcal/mol; published: 2.45")
    for reason in results.verdict.reasons if results.verdict else ():
        print(f"not to be believed: {reason.text}")


if __name__ == "__main__":
    main()
