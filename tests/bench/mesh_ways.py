#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a worker finds the cheaper way of the mesh: replicas of a spec, of which fewer and fewer are in flight, as at the end of an
ensemble, and beside what the worker measured what `shoal bench` does by either way. Fails where the worker keeps one that bench
finds dearer by more than a tenth.

Usage: mesh_ways.py WORKER SPEC.yaml [--device D] [--in-flight N,N,...] [--steps S]
--in-flight: numbers from many to few, each at most half of the one before, so that each is a choice of its own.
--steps: of bench; 0: without it.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from worker import Worker  # noqa: E402

LINE = re.compile(r"mesh ensemble=([\w-]+): (by one block|over the card), ([\d.e+]+) us a step of a replica; "
                  r"(by one block|over the card), ([\d.e+]+); with (\d+) in flight")
WAYS = {"by one block": "block", "over the card": "card"}
LIMIT = 240  # s for the measurements of one number


def ensembles(folder, spec, replicas):
    """[(directory, window, windows)] for each replica: as many ensembles of the spec's windows as it takes."""
    with open(spec, encoding="utf-8") as f:
        text = f.read()
    windows = len(re.search(r"windows:\s*\{?\s*\w+: \[(.*?)\]", text)[1].split(","))
    text = re.sub(r"produce: \{time: [^,}]*", "produce: {time: 1000 ns", text)
    found = []
    for k in range(-(-replicas // windows)):
        directory = os.path.join(folder, f"mesh-{k}")
        os.makedirs(os.path.join(directory, "input"))
        with open(os.path.join(directory, "input/spec.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        for name in re.search(r"topology: ([\w.]+), coordinates: ([\w.]+)", text).groups():
            shutil.copy(os.path.join(os.path.dirname(spec), name), os.path.join(directory, "input"))
        found += [(directory, window, windows) for window in range(windows)]
    return found[:replicas]


def measured(log, names, running):
    """What the worker says of each of the ensembles with so many in flight: {name: (way, {way: us})}"""
    for _ in range(5 * LIMIT):
        with open(log, encoding="utf-8") as f:
            found = {m[1]: (WAYS[m[2]], {WAYS[m[2]]: float(m[3]), WAYS[m[4]]: float(m[5])})
                     for m in LINE.finditer(f.read()) if int(m[6]) == running}
        if names <= set(found):
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing was measured in {LIMIT} s: {found}")


def bench(args, replicas):
    us = {}
    for way in ("block", "card"):
        run = subprocess.run([args.worker, "bench", args.spec, "--replicas", str(replicas), "--steps", str(args.steps), "--pme", way,
                              "--device", args.device, "--json"], capture_output=True, text=True, check=True)
        us[way] = json.loads(run.stdout)["us_per_replica_step"]
    return us


def show(running, found, us):
    """Returns whether what was kept is right."""
    good = True
    for name, (way, costs) in sorted(found.items()):
        other = "card" if way == "block" else "block"
        right = not us or us[way] < 1.1 * us[other]
        told = f"; bench {us['block']:.5g}, {us['card']:.5g}" if us else ""
        print(f"{running:3d} in flight, {name}: block {costs['block']:.5g}, card {costs['card']:.5g} us: {way}{told}"
              f"{'' if right else '  WRONG'}", flush=True)
        good &= right
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("spec")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--in-flight", default="24,8,3")
    parser.add_argument("--steps", type=int, default=3000)
    args = parser.parse_args()
    numbers = [int(n) for n in args.in_flight.split(",")]
    good, found = True, {}
    with tempfile.TemporaryDirectory(prefix="shoal-mesh-") as folder, tempfile.NamedTemporaryFile() as log:
        replicas = ensembles(folder, args.spec, numbers[0])
        with open(log.name, "w", encoding="utf-8") as stderr:
            worker = Worker(args.worker, "--device", args.device, "--slots", str(numbers[0]), stderr=stderr)
        for number, (directory, window, windows) in enumerate(replicas):
            worker.start(number, directory, window, windows)
        for running in numbers:
            for number in range(running, len(replicas)):
                worker.send(type="stop", set=number)
            replicas = replicas[:running]
            found[running] = measured(log.name, {os.path.basename(r[0]) for r in replicas}, running)
        for number in range(len(replicas)):
            worker.send(type="stop", set=number)
        worker.drain()
    for running in numbers:
        good &= show(running, found[running], bench(args, running) if args.steps else None)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
