# SPDX-License-Identifier: Apache-2.0
"""Free energies from a Shoal service.

    import shoal

    service = shoal.Service()
    ensemble = service.submit("methane.yaml", key="methane-1")
    service.wait(ensemble)
    results = service.results(ensemble)
    print(results)  # 2.05 +- 0.25 kcal/mol, converged
    gradients = service.dhdl(ensemble)  # a DataFrame for alchemlyb; needs pandas

Dataclasses have the keys of the JSON that they are made of (schemas/), written as Python writes names: `from_`, `lambda_`, `kcal_mol`.
"""
from shoal.campaigns import Campaign, EdgeSum, Gathered, Plan, SystemSum
from shoal.ensembles import Ensemble, Event, Ladder
from shoal.errors import (BadSpec, Busy, Conflict, Forbidden, Malformed, MissingFile, NotFound, OutOfTime, Problem, ShoalError,
                          Unreachable)
from shoal.offline import Imported, estimate, estimate_switches, import_mdp, observe, suggest_restraint
from shoal.results import Energy, MolarEnergy, Quantity, Results, Value, Verdict
from shoal.rows import Rows
from shoal.service import Service

__version__ = "0.1.0"
__all__ = ["BadSpec", "Busy", "Campaign", "Conflict", "EdgeSum", "Energy", "Ensemble", "Event", "Forbidden", "Gathered", "Imported", "Ladder",
           "Malformed", "MissingFile", "MolarEnergy", "NotFound", "OutOfTime", "Plan", "Problem", "Quantity", "Results", "Rows", "Service",
           "ShoalError", "SystemSum", "Unreachable", "Value", "Verdict", "estimate", "estimate_switches", "import_mdp", "observe", "suggest_restraint"]
