#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drift of the total energy of SOLVENT, velocity Verlet of 2 fs, in windows from coupled to decoupled: less than 1e-3 kT per ns and
degree of freedom in each.

Usage: drift.py SHOALD WORKER [--device D] [--time NS] [--windows N] [--rest PS]
--rest: Langevin dynamics before, from which coordinates and velocities come.
(tests/physics/validate.c has the same of pure water, for a device alone.)
"""
import argparse
import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bench"))
from first_step import Service, prepare, until, with_protocol, with_windows  # noqa: E402

MOST = 1e-3
REST = """protocol:
  - minimize: {{steps: 100}}
  - equilibrate: {{time: {rest} ps, ensemble: nvt}}
  - produce: {{time: 200 steps, ensemble: nvt}}
"""
NVE = """protocol:
  - produce: {{time: {time} ns, ensemble: nve, sample-every: {sample} ps}}
"""
ROWS = 10000  # of energies, about


def columns(text):
    """{legend: values} of an .xvg; the times as "time"."""
    legends = ["time"] + [m.group(1) for m in re.finditer(r'^@ s\d+ legend "(.*)"$', text, re.M)]
    rows = [[float(x) for x in line.split()] for line in text.splitlines() if line and line[0] not in "#@"]
    return dict(zip(legends, zip(*rows)))


def slope(t, u):
    """Of the straight line of least squares, and how far u is from it (root mean square)."""
    n = len(t)
    mt, mu = sum(t) / n, sum(u) / n
    rise = sum((a - mt) * (b - mu) for a, b in zip(t, u)) / sum((a - mt) ** 2 for a in t)
    return rise, (sum((b - mu - rise * (a - mt)) ** 2 for a, b in zip(t, u)) / n) ** 0.5


def drift(text):
    """Prints a line of one window; its drift in kT per ns and degree of freedom."""
    table = columns(text)
    per_ns, spread = slope([x * 1e-3 for x in table["time"]], table["Total Energy"])
    kinetic = sum(table["Kinetic En."]) / len(table["Kinetic En."])
    temperature = sum(table["Temperature"]) / len(table["Temperature"])
    found = per_ns / (2 * kinetic)  # 2 K is kT times the degrees of freedom
    print(f"{found:12.2e}   {spread:14.3g}   {temperature:9.2f} K   {'ok' if abs(found) < MOST else 'FAIL'}", flush=True)
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald", type=os.path.abspath)
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu")
    options.add_argument("--time", type=float, default=1, metavar="NS")
    options.add_argument("--windows", type=int, default=4)
    options.add_argument("--rest", type=float, default=20, metavar="PS")
    o = options.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spec = prepare(folder, o.shoald, o.worker, o.device, REST.format(rest=o.rest))
        steps = max(1, round(o.time * 1e3 / 0.002 / ROWS))
        spec = with_protocol(with_windows(spec, o.windows), NVE.format(time=o.time, sample=0.002 * steps))
        spec = re.sub(r"integrator: .*", "integrator: {method: velocity-verlet, timestep: 2 fs, seed: 2026}", spec)
        files = {}
        for name in ("solvent.top", "solvent.gro"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                files[name] = f.read()
        service = Service(o.shoald, o.worker, os.path.join(folder, "service"), o.device)
        service.start()
        try:
            status, answer = service.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "nve.yaml", "files": files})
            assert status == 201, answer
            until(service, answer["id"], "done", 7200)
            print("window   drift (kT/ns/dof)   off (kJ/mol)   temperature")
            found = []
            for window in range(o.windows):
                status, text = service.raw("GET", f"/v1/ensembles/{answer['id']}/files/lambda_{window:02d}/energy.xvg")
                assert status == 200, text
                print(f"{window:6d}   ", end="")
                found.append(drift(text.decode()))
        finally:
            service.stop()
    print(f"{o.windows} x {o.time} ns in {time.monotonic() - begun:.0f} s on {o.device}, expected below {MOST}")
    return any(abs(x) >= MOST for x in found)


if __name__ == "__main__":
    sys.exit(main())
