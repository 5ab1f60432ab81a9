#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the reported errors hold on real dynamics? Independent runs of methane's quickstart, which differ in their seed alone (and so
in their starting velocities and noise), by a service of their own: the spread of their free energies beside the mean reported error.

Usage: methane_spread.py SHOALD WORKER [--runs N] [--seed FIRST] [--device D] [--folder DIR]
--folder keeps what was run there; started again with it, an interrupted script goes on where it was.
"""
import argparse
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from service import Service  # noqa: E402

EXAMPLE = os.path.join(HERE, "../../examples/methane")


def read(name):
    with open(os.path.join(EXAMPLE, name), encoding="utf-8") as f:
        return f.read()


def submit(service, seed):
    spec, changed = re.subn(r"seed: \d+", f"seed: {seed}", read("quickstart.yaml"))
    assert changed == 1, "quickstart.yaml has one seed"
    files = {name: read(name) for name in ("methane.top", "methane.gro")}
    status, answer = service.call("POST", "/v1/ensembles",
                                  {"spec": spec, "spec_name": "quickstart.yaml", "files": files, "id": f"seed-{seed}"})
    assert status in (200, 201), answer
    return answer["id"]


def outcome(service, ident):
    """(dG, error, verdict) of an ensemble once it has ended."""
    while True:
        status, ensemble = service.call("GET", f"/v1/ensembles/{ident}")
        assert status == 200, ensemble
        if ensemble["state"] not in ("queued", "running", "finishing"):
            break
        time.sleep(2)
    assert ensemble["state"] == "done", ensemble
    status, results = service.call("GET", f"/v1/ensembles/{ident}/results")
    assert status == 200, results
    solvation = results["solvation"]
    if not solvation:
        sys.exit(f"{ident} has no free energy: {results['reason']}")
    energy = solvation["free_energy"]["kcal/mol"]
    return energy["value"], energy["error"], solvation["verdict"]


def chi_square(z, k):
    """The value that a chi-square of k degrees exceeds as seldom as a normal deviate exceeds z (Wilson and Hilferty)."""
    return k * (1 - 2 / (9 * k) + z * math.sqrt(2 / (9 * k))) ** 3


def spread(values):
    """(mean, standard deviation without its bias, what multiplies it at the ends of its 68 % interval), of normal values."""
    n = len(values)
    mean = sum(values) / n
    s = math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1))
    bias = math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
    ends = tuple(bias * math.sqrt((n - 1) / chi_square(z, n - 1)) for z in (1, -1))
    return mean, s / bias, ends


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald")
    options.add_argument("worker")
    options.add_argument("--runs", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--device", default="cpu")
    options.add_argument("--folder")
    o = options.parse_args()
    if o.runs < 2:
        options.error("--runs: two or more have a spread")
    folder = os.path.abspath(o.folder) if o.folder else tempfile.mkdtemp(prefix="shoald-")
    service = Service(os.path.abspath(o.shoald), os.path.abspath(o.worker), folder, o.device)
    begin = time.monotonic()
    service.start()
    runs = []
    try:
        idents = [submit(service, o.seed + i) for i in range(o.runs)]
        print("   seed   dG (kcal/mol)     verdict")
        for i, ident in enumerate(idents):
            runs.append(outcome(service, ident))
            print("%7d   %6.3f +- %5.3f   %s" % (o.seed + i, *runs[-1]), flush=True)
    finally:
        service.stop()
        if not o.folder:
            shutil.rmtree(folder)
    mean, deviation, (low, high) = spread([value for value, _, _ in runs])
    told = sum(error for _, error, _ in runs) / o.runs
    rms = math.sqrt(sum(error**2 for _, error, _ in runs) / o.runs)
    print(f"{o.runs} runs in {(time.monotonic() - begin) / 60:.0f} minutes")
    print(f"mean               {mean:6.3f} +- {deviation / math.sqrt(o.runs):.3f} kcal/mol (from the spread)")
    print(f"spread             {deviation:6.3f}, 68 %: {low * deviation:.3f} to {high * deviation:.3f}")
    print(f"reported error     {told:6.3f} (mean), {rms:.3f} (root mean square)")
    print(f"reported / spread  {told / deviation:6.2f}, 68 %: {told / (high * deviation):.2f} to {told / (low * deviation):.2f}")
    # A guard, not a calibration: with the fewest runs the ratio is known to a quarter.
    z = (math.log(told / deviation)) * math.sqrt(2 * (o.runs - 1))
    if abs(z) > 4:
        print("the reported errors are not those made")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
