#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do several GPUs of a node do together what each does alone, with systems of three sizes from three users at once?

One user has SOLVENT (5,166 atoms), one COMPLEX (36,492), one a molecule in vacuum, each as many replicas as fill every device. First each
device has a service of its own, all at the same time; then one service has all devices. Steps of each load are counted for a while. What is
compared is the mean over the loads of steps by one service over the sum of steps by single ones: where device time moves from one load to
another, one gains what the other loses.

Usage: mixed.py SHOALD WORKER [--device A,B,..] [--settle S] [--count S] [--least RATIO]
As root, who can be three users. --device: cuda:0,cuda:1 unless given. --settle: seconds until steps are counted (40), --count: for so long
(40). --least: of that mean (0.95); exit code 1: it is less.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "bench")]
from fake import as_user  # noqa: E402
from service import Service  # noqa: E402

LOADS = {"solvent": (3001, 2), "complex": (3002, 1), "vacuum": (3003, 4)}  # user, ensembles of twelve windows for each device
STEPS = 10000000  # of production: more than anybody waits for


class Mix:
    """A service of some devices, full of all loads."""

    def __init__(self, o, folder, devices):
        self.folder, self.devices = folder, devices
        self.service = Service(o.shoald, o.worker, str(folder), ",".join(devices))

    def start(self, bodies):
        self.service.start()
        os.chmod(self.folder, 0o755)  # for the other users
        os.chmod(self.service.socket, 0o666)
        for load, (uid, ensembles) in LOADS.items():
            for _ in range(ensembles * len(self.devices)):
                status, answer = as_user(uid, lambda body=bodies[load]: self.service.call("POST", "/v1/ensembles", body))
                assert status == 201, answer

    def steps(self):
        """{load: steps so far}, of a window of its ensembles."""
        status, answer = self.service.call("GET", "/v1/ensembles?all_users=1&limit=1000")
        assert status == 200, answer
        done = dict.fromkeys(LOADS, 0)
        for one in answer["ensembles"]:
            done[one["name"]] += one["progress"] * STEPS
        return done


def body_of(folder, load):
    """What is submitted of a load."""
    spec = (folder / f"{load}.yaml").read_text(encoding="utf-8")
    spec = re.sub(r"(produce: \{time: )[^,]*", rf"\g<1>{STEPS} steps", spec)
    files = {name: (folder / name).read_text(encoding="utf-8") for name in (f"{load}.top", f"{load}.gro")}
    return {"spec": spec, "spec_name": f"{load}.yaml", "files": files}


def counted(o, mixes, bodies):
    """{load: steps a second} of all services together, once they have settled."""
    try:
        for mix in mixes:
            mix.start(bodies)
        time.sleep(o.settle)
        before, begun = [mix.steps() for mix in mixes], time.monotonic()
        time.sleep(o.count)
        after, seconds = [mix.steps() for mix in mixes], time.monotonic() - begun
    finally:
        for mix in mixes:
            if mix.service.process:
                mix.service.stop()
    return {load: sum(b[load] - a[load] for a, b in zip(before, after)) / seconds for load in LOADS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("shoald", type=os.path.abspath)
    parser.add_argument("worker", type=os.path.abspath)
    parser.add_argument("--device", default="cuda:0,cuda:1")
    parser.add_argument("--settle", type=float, default=40)
    parser.add_argument("--count", type=float, default=40)
    parser.add_argument("--least", type=float, default=0.95)
    o = parser.parse_args()
    if os.geteuid():
        parser.error("started by an ordinary user, expected root, who can be three users")
    devices = o.device.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chmod(folder, 0o755)
        subprocess.run([sys.executable, HERE.parent / "bench/make_inputs.py", folder, "usual"], check=True, stdout=subprocess.DEVNULL)
        bodies = {load: body_of(folder, load) for load in LOADS}
        single = counted(o, [Mix(o, folder / f"single{k}", [device]) for k, device in enumerate(devices)], bodies)
        together = counted(o, [Mix(o, folder / "together", devices)], bodies)
    ratios = {load: together[load] / single[load] if single[load] else float("nan") for load in LOADS}
    for load in LOADS:
        print(f"{load:8} {single[load]:10.0f} steps/s by {len(devices)} services, {together[load]:10.0f} by one, {ratios[load]:.3f} of it")
    mean = sum(ratios.values()) / len(ratios)
    print(f"mean {mean:.3f}, at least {o.least} is wanted")
    return 0 if mean >= o.least else 1


if __name__ == "__main__":
    sys.exit(main())
