#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from `shoal submit` of SOLVENT with 24 windows to the first steps of production of the first and of the last window, by
a service of its own that has just started. It is Shoal's overhead that counts, so the protocol begins with produce, from
coordinates that another service has minimized and equilibrated before. Submitted twice: the second time all is warm.

Usage: first_step.py SHOALD SHOAL WORKER [--device D] [--windows N] [--most SECONDS]
--device: cpu:N (a slot for each window) unless given. --most: fail where the last window of either takes longer.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from service import Service  # noqa: E402

REST = """protocol:
  - minimize: {steps: 100}
  - produce: {time: 200 steps, ensemble: nvt}
"""
PRODUCE = """protocol:
  - produce: {time: 1 ns, ensemble: nvt, sample-every: 0.2 ps}
"""
LIMIT = 600  # s, for anything


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def with_protocol(spec, protocol):
    return re.sub(r"protocol:\n(  - .*\n)+", protocol, spec)


def with_windows(spec, n):
    """Charges go in the first third of the ladder, then Lennard-Jones."""
    third = max(1, n // 3)
    coulomb = [round(min(1, k / third), 4) for k in range(n)]
    vdw = [round(max(0, k - third) / max(1, n - 1 - third), 4) for k in range(n)]
    return re.sub(r"vdw: \[.*\]", f"vdw: {vdw}", re.sub(r"coulomb: \[.*\]", f"coulomb: {coulomb}", spec))


def until(service, ident, state, seconds=LIMIT):
    """Waits until the ensemble is in this state."""
    deadline = time.monotonic() + seconds
    while True:
        status, found = service.call("GET", f"/v1/ensembles/{ident}")
        assert status == 200, found
        if found["state"] == state:
            return
        if found["state"] == "failed" or time.monotonic() > deadline:
            sys.exit(f"{ident} is {found['state']}, expected {state}: {found['reason']}; see {service.log}")
        time.sleep(0.1)


def prepare(folder, shoald, worker, device="cpu", rest=REST):
    """Writes SOLVENT into the folder, with coordinates and velocities after the protocol `rest`. Returns the spec."""
    subprocess.run([sys.executable, os.path.join(HERE, "make_inputs.py"), folder], check=True, stdout=subprocess.DEVNULL)
    spec = read(os.path.join(folder, "solvent.yaml"))
    files = {name: read(os.path.join(folder, name)) for name in ("solvent.top", "solvent.gro")}
    service = Service(shoald, worker, os.path.join(folder, "prepare"), device)
    service.start()
    try:
        status, answer = service.call("POST", "/v1/ensembles", {"spec": with_protocol(with_windows(spec, 1), rest),
                                                                "spec_name": "solvent.yaml", "files": files})
        assert status == 201, answer
        until(service, answer["id"], "done")
        _, rested = service.raw("GET", f"/v1/ensembles/{answer['id']}/files/lambda_00/confout.gro")
    finally:
        service.stop()
    with open(os.path.join(folder, "solvent.gro"), "wb") as f:
        f.write(rested)
    return spec


def started(service, ident, begun):
    """{window: seconds from `begun` to its first steps of production}, of those that have got there."""
    status, lines = service.raw("GET", f"/v1/ensembles/{ident}/events")
    assert status == 200, lines
    found = {}
    for event in map(json.loads, lines.splitlines()):
        if event["state" if "state" in event else "kind"] == "failed":
            sys.exit(f"{ident}: {event}")
        if event["kind"] == "produces":
            found.setdefault(event["window"], datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp() - begun)
    return found


def first_steps(service, shoal, path, windows):
    """(seconds that `shoal submit` took, until the first window produced, until the last did)."""
    begun = time.time()
    ident = subprocess.run([shoal, "submit", path, "--socket", service.socket], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.strip()
    submitted = time.time() - begun
    while len(found := started(service, ident, begun)) < windows:
        if time.time() - begun > LIMIT:
            sys.exit(f"{len(found)} of {windows} windows produce after {LIMIT} s; see {service.log}")
        time.sleep(0.5)
    service.call("POST", f"/v1/ensembles/{ident}/cancel")
    return submitted, min(found.values()), max(found.values())


def main():
    options = argparse.ArgumentParser()
    for name in ("shoald", "shoal", "worker"):
        options.add_argument(name, type=os.path.abspath)
    options.add_argument("--device")
    options.add_argument("--windows", type=int, default=24)
    options.add_argument("--most", type=float)
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spec = with_protocol(with_windows(prepare(folder, o.shoald, o.worker), o.windows), PRODUCE)
        path = os.path.join(folder, "solvent.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(spec)
        service = Service(o.shoald, o.worker, os.path.join(folder, "service"), o.device or f"cpu:{o.windows}")
        service.start()
        slow = False
        try:
            print("seconds from submit to   its answer   first window   last window   (steps of production)")
            for name in ("a new service", "the same, warm"):
                submitted, first, last = first_steps(service, o.shoal, path, o.windows)
                print(f"{name:<24} {submitted:10.2f}   {first:12.2f}   {last:11.2f}", flush=True)
                slow |= o.most is not None and last > o.most
        finally:
            service.stop(LIMIT)
    return slow


if __name__ == "__main__":
    sys.exit(main())
