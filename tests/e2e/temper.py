#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A molecule whose torsion has two states and a barrier of 20 kT at its own temperature, and one of 2 kT where it is hottest. The
topology has no B states: `temper` makes them. Replicas that exchange windows have the torsion cross in the first window, which is the
molecule itself, and both states are there as its potential has them, which is known; without exchange it stays where it began.

Usage: temper.py SHOAL_WORKER [--device D] [--ps PS]
"""
import argparse
import math
import os
import shutil
import tempfile

import exchange

T, TO = 298.15, 2981.5
LADDER = (0, 0.4, 0.8, 1)
CHAIN = (exchange.CHAIN.replace(f"180 {exchange.TWOFOLD} 2 180 0 2", f"180 {exchange.TWOFOLD} 2")
         .replace(f"0 {exchange.ONEFOLD} 1 0 {exchange.ONEFOLD} 1", f"0 {exchange.ONEFOLD} 1"))
TEMPER = f"temper: {{molecule: CHN, to: {TO} K}}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu:2")
    options.add_argument("--ps", type=int, default=400)
    o = options.parse_args()
    assert all(len(line.split()) == 8 for line in CHAIN.splitlines() if line.startswith("1 2 3 4")), CHAIN
    folder = tempfile.mkdtemp(prefix="shoal-temper-")
    run = dict(ps=o.ps, change=TEMPER, ladder=LADDER, chain=CHAIN)
    plain, _ = exchange.run_chain(o.worker, o.device, folder, "plain", "", **run)
    assert plain[0] == 0, f"a barrier of {2 * exchange.TWOFOLD / exchange.KT:.0f} kT was crossed"
    found, results = exchange.run_chain(o.worker, o.device, folder, "tempered", "exchange: {every: 0.4 ps}", **run)
    scales = [1 - hot * (1 - T / TO) for hot in LADDER]
    weights = [(exchange.integral(s, lambda c: c < 0, onefold=s), exchange.integral(s, onefold=s)) for s in scales]
    expected = [some / every for some, every in weights]
    print(f"trans {[round(f, 3) for f in found]}, expected {[round(x, 3) for x in expected]}", flush=True)
    for window, (share, exact) in enumerate(zip(found, expected)):
        assert abs(share - exact) < 3 * math.sqrt(0.25 * 8 / o.ps), (window, share, exact)
    total, free_energy = results["estimators"][0]["total"]["kT"], -math.log(weights[-1][1] / weights[0][1])
    assert abs(total["value"] - free_energy) < 4 * total["error"] < 1, (total, free_energy)
    assert results["exchange"][0]["round_trips"] > 3, results["exchange"]
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
