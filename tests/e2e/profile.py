#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench --profile`: launches of all families add up to what a step takes, and what a spec lacks is absent.

Processor time of the CPU device's launches, or of kernels emulated on it, is held against that of the program in the same run, of which the host's
part is the rest: they are to be LEAST of it and never more than all. (Against another run they cannot be held: who else uses the machine's cores makes
a third.) Of a GPU the launches take less than the run does.

Usage: profile.py SHOAL_WORKER [--device D] [--steps N] [--gpu]
"""
import argparse
import json
import subprocess
import tempfile

from worker import make

LEAST, MOST = 0.8, 1.02  # of what the timed run takes
FORCES = {"pairs", "lists", "terms", "motion"}
RARELY = {"samples", "volume moves", "reports"}


def write(folder, name, change=lambda spec: spec, **settings):
    path = f"{make(folder, name, seed=3, **settings)}/input/spec.yaml"
    with open(path, encoding="utf-8") as f:
        spec = f.read().replace("minimize: {steps: 100}", "minimize: {steps: 20}")
    assert name == "water" or change(spec) != spec, spec
    with open(path, "w", encoding="utf-8") as f:
        f.write(change(spec))
    return path


def profiled(o, spec, *options):
    command = [o.worker, "bench", spec, "--profile", "--device", o.device, "--steps", str(o.steps), "--warm-up", "2", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run
    return json.loads(run.stdout) if "--json" in options else run.stdout


def held(o, run):
    """The figures of one profile fit each other; family -> its figures."""
    p = run["profile"]
    families = {family["family"]: family for family in p["families"]}
    assert len(families) == len(p["families"]) and "other" not in families, p
    for key in "us_alone", "us_of_device":
        assert all(family[key] > 0 or o.gpu and name in RARELY for name, family in families.items()), p
        assert abs(sum(family[key] for family in families.values()) - p[key]) < 1e-3 * p[key], p
        for family in families.values():
            assert abs(sum(kernel[key] for kernel in family["kernels"]) - family[key]) < 1e-3 * family[key], family
    if o.gpu:
        assert 0 < p["us_of_device"] < p["us_alone"], p
    else:  # a launch is on one of the device's threads; an emulated card has one
        threads = int(o.device.split(":")[1]) if o.device.startswith("cpu") else 1
        assert abs(p["us_of_device"] * threads - p["us_alone"]) < 1e-3 * p["us_alone"], p
    assert p["us_alone"] < MOST * p["us_per_step_timed"], p
    assert abs(p["us_rest_alone"] - p["us_per_step_alone"] + p["us_alone"]) < 1e-3 * p["us_per_step_alone"], p
    assert abs(p["us_rest"] - run["us_per_replica_step"] + p["us_of_device"]) < 1e-3 * run["us_per_replica_step"], p
    if not o.gpu:
        step = p["us_per_step_timed"] * p["cpu_s_per_wall_s_timed"]
        assert LEAST * step < p["us_alone"] < MOST * step, (p["us_alone"], step)
    return families


def launches(family):
    return {kernel["kernel"]: kernel["launches_per_step"] for kernel in family["kernels"]}


def with_mesh(o, folder):
    run = profiled(o, write(folder, "water"), "--replicas", "2", "--json")
    families = held(o, run)
    assert run["replicas"] == 2 and {*FORCES, "mesh"} <= set(families) <= {*FORCES, "mesh", "perturbed pairs", *RARELY}, families
    assert ("perturbed pairs" in families) == (o.device.startswith("cpu")), families  # a GPU has them among its terms
    assert launches(families["motion"])["langevin"] == 1, families["motion"]
    assert run["profile"]["steps"] >= o.steps, run


def seldom_mesh(o, folder):
    """The mesh in every second timestep: one tape holds both."""
    spec = write(folder, "seldom", lambda spec: spec.replace("{timestep: 2 fs", "{mesh-every: 2, timestep: 2 fs").replace("every: 25", "every: 26"))
    families = held(o, profiled(o, spec, "--json"))
    assert launches(families["motion"])["langevin"] == 1, families["motion"]
    assert all(0.45 < n < 0.55 for n in launches(families["mesh"]).values()), families["mesh"]


def without_mesh(o, folder):
    spec = write(folder, "field", lambda spec: spec.replace("{grid-spacing: 0.15 nm}", "{method: reaction-field}"))
    families = held(o, profiled(o, spec, "--json"))
    assert FORCES <= set(families) and "mesh" not in families, families


def whole_steps(o, folder):
    """A tiny system on a GPU: one launch does many steps."""
    spec = write(folder, "tiny", lambda spec: spec.replace("cutoff: 0.6 nm", "cutoff: 0.45 nm"), side=3)
    families = held(o, profiled(o, spec, "--json"))
    assert "whole steps" in families and not FORCES & set(families), families
    assert list(launches(families["whole steps"])) == ["tiny"] and launches(families["whole steps"])["tiny"] < 1, families


def printed(o, folder):
    """A table for each number of replicas, with the families of --json."""
    text = profiled(o, write(folder, "printed", lambda spec: spec.replace("every: 25 steps", "every: 5 steps")), "--sweep", "1,2")
    assert text.count("family ") == 2 and ", 1 at once" in text and ", 2 at once" in text, text
    for name in (*FORCES, "mesh", "volume moves", "rest", "step, by graphs"):
        assert text.count(f"\n{name} ") == 2, (name, text)


def refused(o, folder):
    spec = write(folder, "refused", lambda spec: spec + "\n")
    run = subprocess.run([o.worker, "bench", spec, spec, "--profile"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "--profile of several specs: expected --each" in run.stderr, run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("--device", default="cpu:2")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--gpu", action="store_true", help="the device is a real card")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shoal-profile-") as folder:
        with_mesh(o, folder)
        without_mesh(o, folder)
        if o.device.startswith("cpu"):
            seldom_mesh(o, folder)
            printed(o, folder)
            refused(o, folder)
        else:
            whole_steps(o, folder)


main()
