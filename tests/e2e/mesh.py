#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker on a GPU measures both ways of the mesh while a replica runs, says what each costs, and keeps what costs less. `bench` does what it is
told to, says so, and refuses a gang of what is none.

Usage: mesh.py SHOAL_WORKER [--device D]
"""
import argparse
import json
import re
import subprocess
import tempfile
import time

from worker import Worker, make

LINE = re.compile(r"mesh ensemble=(\w+): (by one block|over the card), ([\d.e+]+) us a step of a replica; "
                  r"(by one block|over the card), ([\d.e+]+); with 1 in flight")


def measured(program, device, directory):
    """(what the worker said, how many steps the replica had done then)"""
    with tempfile.NamedTemporaryFile() as log:
        worker = Worker(program, "--device", device, stderr=log)
        worker.start(1, directory, 0, 1)
        for _ in range(600):
            time.sleep(0.2)
            with open(log.name, encoding="utf-8") as f:  # its own place in the file
                said = f.read()
            if "mesh " in said:
                break
        worker.send(type="stop", set=1)
        ended, others = worker.until_ended(1)
        assert ended[1]["type"] == "stopped", (ended, others)
        worker.drain()
    return said, ended[1]["step"]


def bench(program, device, directory):
    spec = f"{directory}/input/spec.yaml"
    command = [program, "bench", spec, "--steps", "4", "--device", device, "--json"]
    run = subprocess.run([*command, "--form", "graph", "--pme", "block"], capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert (told["form"], told["pme"]) == ("graph", "block"), told
    run = subprocess.run([*command, "--form", "gang"], capture_output=True, text=True, check=False)
    assert run.returncode == 65 and "form gang: 373 atoms: expected at most 128" in run.stderr, run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shoal-mesh-") as folder:
        directory = make(folder, "changing", seed=3, windows=(0.5,), steps=1000000)
        bench(args.worker, args.device, directory)
        said, steps = measured(args.worker, args.device, directory)
        found = LINE.search(said)
        assert found, said
        kept, given_up = float(found[3]), float(found[5])
        assert found[1] == "changing" and found[2] != found[4], said
        assert 0 < kept < given_up / 0.949, said  # the other way has to be better by more than that
        print(found[0], f"after {steps} steps")


main()
