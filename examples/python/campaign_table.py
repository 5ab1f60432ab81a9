#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign from its file to a table beside experiment; examples/campaign/campaign.yaml takes days on two cores.

    python3 examples/python/campaign_table.py examples/campaign/campaign.yaml
"""
import argparse
import sys

import shoal


def cell(energy: shoal.MolarEnergy | None) -> str:
    if energy is None:
        return "             none"
    value = energy.kcal_mol
    return f"{value.value:8.2f} +- {value.error:5.2f}" if value.error is not None else f"{value.value:8.2f}         "


def line(name: str, of: shoal.SystemSum | shoal.EdgeSum) -> str:
    legs = ", ".join(f"{leg.leg} {leg.repeats} of {leg.planned}" for leg in of.legs)
    return f"{name:22} {cell(of.free_energy)}  {cell(of.experiment)}  {of.verdict or '-':11}  {legs}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("campaign", help="campaign.yaml")
    parser.add_argument("--timeout", type=float, help="s; ensembles that have not ended then are left out")
    args = parser.parse_args()

    campaign = shoal.Campaign(args.campaign)
    plan = campaign.plan()
    for error in plan.errors:
        print(error, file=sys.stderr)
    if plan.errors:
        return 1
    print(f"{plan.name}: {plan.count} ensembles, {plan.ns:.4g} ns of all replicas")
    made = campaign.submit()
    print(f"{len(made.submitted)} submitted, {made.present} were there")
    try:
        campaign.wait(args.timeout)
    except shoal.OutOfTime as late:
        print(late)

    table = campaign.gather()
    print(f"\n{'kcal/mol':22} {'free energy':>17}  {'experiment':>17}")
    for system in table.systems:
        print(line(system.system, system))
    for edge in table.edges:
        print(line(f"{edge.ligand_i} to {edge.ligand_j}", edge))
    for loop in table.loops:
        print(f"{' - '.join(loop.systems)}: does not close by {cell(loop.closure).strip()}")
    beside = table.experiment.values
    if beside and beside.rmse.value is not None:
        print(f"RMSE of {beside.pairs} values beside experiment: {beside.rmse.value:.2f} kcal/mol")
    return 0


if __name__ == "__main__":
    sys.exit(main())
