#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a free energy has converged: from growing parts of the rows, first to last and last to first.

    python3 examples/python/convergence.py methane-from-python

The service's own answer, and, where alchemlyb is installed, alchemlyb's from the same rows.
"""
import argparse

import shoal

Table = dict[float, tuple[float | None, float | None]]  # share of the rows -> forward, backward (kcal/mol)


def services(results: shoal.Results) -> Table:
    def value(energy: shoal.Energy | None) -> float | None:
        return energy.kcal_mol.value if energy else None

    return {round(point.data_fraction, 6): (value(point.forward), value(point.backward)) for point in results.convergence}


def alchemlybs(service: shoal.Service, which: str, windows: list[shoal.results.Window], temperature: float) -> Table:
    """All rows are taken, those too that the service leaves out because they drift."""
    from alchemlyb.convergence import forward_backward_convergence
    from alchemlyb.postprocessors.units import R_kJmol

    frame = forward_backward_convergence([service.u_nk(which, one.window, one.repeat) for one in windows], "MBAR")
    kT = R_kJmol * temperature / 4.184  # kcal/mol
    return {round(row.data_fraction, 6): (kT * row.Forward, kT * row.Backward) for row in frame.itertuples()}


def show(title: str, table: Table) -> None:
    print(f"{title}\n   rows    forward   backward  (kcal/mol)")
    for share, values in sorted(table.items()):
        print(f"{share:6.0%}  " + "  ".join("     none" if x is None else f"{x:9.3f}" for x in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("ensemble", help="id, key or name")
    parser.add_argument("--repeat", type=int, default=0)
    args = parser.parse_args()

    service = shoal.Service()
    results = service.results(args.ensemble, live=True)
    show(f"{results.ensemble.name}, by the service: {results}", services(results))
    windows = [window for window in results.windows if window.repeat == args.repeat and window.status != "failed"]
    empty = [str(window.window) for window in windows if not window.samples]
    if empty:
        print(f"not by alchemlyb: windows {', '.join(empty)} have no samples yet")
        return
    try:
        show("by alchemlyb", alchemlybs(service, args.ensemble, windows, results.temperature.magnitude))
    except ImportError as error:
        print(f"not by alchemlyb: {error}")


if __name__ == "__main__":
    main()
