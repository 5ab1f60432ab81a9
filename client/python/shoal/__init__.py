# SPDX-License-Identifier: Apache-2.0
"""Free energies from a Shoal service.

    import shoal

    service = shoal.Service()
    ensemble = service.submit("methane.yaml", key="methane-1")
    service.wait(ensemble)
    results = service.results(ensemble)
    print(results.estimate, results.uncertainty, results.verdict)
    gradients = service.dhdl(ensemble)  # a DataFrame for alchemlyb; needs pandas

Dataclasses have the keys of the JSON that they are made of (schemas/), written as Python writes names: `from_`, `lambda_`, `kcal_mol`.
"""
from shoal.campaigns import Campaign, EdgeSum, Gathered, Plan, SystemSum
from shoal.ensembles import Ensemble, Event
from shoal.errors import Malformed, OutOfTime, Problem, ShoalError, Unreachable
from shoal.results import Energy, MolarEnergy, Quantity, Results, Value, Verdict
from shoal.service import Service

__all__ = ["Campaign", "EdgeSum", "Energy", "Ensemble", "Event", "Gathered", "Malformed", "MolarEnergy", "OutOfTime", "Plan", "Problem",
           "Quantity", "Results", "Service", "ShoalError", "SystemSum", "Unreachable", "Value", "Verdict"]
