#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pair of atoms whose masses, spring, restraints or constraint differ between the states, beside what is known: masses are in no free
energy, however often the motion of the center of mass is removed and samples are taken, and that motion stays where atoms are held in
space; where a constraint changes its length TI alone has a number; a bond that is twice among the constraints takes one degree of freedom.

Usage: states.py SHOAL_WORKER [--device D] [--seeds N] [--ps PS]
Of 60 seeds or more the errors are held to those really made: the root mean square of (found - exact)/error is 0.8 to 1.2, and 2 % at
most are beyond 4 errors.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from exchange import start, write  # noqa: E402
from worker import Worker  # noqa: E402

T = 300
KT = 0.00831446261815324 * T
MANY = 60

TOPOLOGY = """[ defaults ]
1 2
[ atomtypes ]
C 6 12.011 0 A 0.3 0
[ moleculetype ]
TWO 1
[ atoms ]
1 C 1 TWO C1 1 0 {masses[0]} C 0 {masses[1]}
2 C 1 TWO {name} 1 0 {masses[0]} C 0 {masses[1]}
{terms}
[ system ]
a pair
[ molecules ]
TWO 1
"""
COORDINATES = """a pair
2
    1TWO     C1    1   1.000   1.000   1.000
    1TWO  {name:>5s}    2   {x:.3f}   1.000   1.000
2.0 2.0 2.0
"""
SPEC = """name: states
system: {{topology: a.top, coordinates: a.gro}}
nonbonded: {{cutoff: 0.8 nm, vdw: {{modifier: none, dispersion-correction: no}}, coulomb: {{method: reaction-field}}}}
constraints: {constraints}
{alchemy}
integrator: {{timestep: 1 fs, temperature: 300 K, friction: 5 /ps, seed: {seed}, com-removal: {removal}}}
protocol:
  - equilibrate: {{time: 5 ps, ensemble: nvt}}
  - produce: {{time: {ps} ps, ensemble: nvt, sample-every: {every} steps}}
"""


def harmonic(r0, k):
    """The integral over the vector between two atoms on a spring."""
    steps, wide = 4000, 10 * math.sqrt(KT / k)
    r = [r0 + wide * (2 * (i + 0.5) / steps - 1) for i in range(steps)]
    return sum(x * x * math.exp(-k * (x - r0) ** 2 / (2 * KT)) for x in r if x > 0) / steps * wide


def evaluate(o, folder, name, seed, ladder=None, constraints="none", masses=(12, 12), terms="", atom="C2", x=1.12, removal="100 steps",
             every=50):
    windows = len(next(iter(ladder.values()))) if ladder else 1
    alchemy = f"alchemy: {{perturb: b-states, soft-core: {{alpha: 0}}, windows: {json.dumps(ladder)}}}" if ladder else ""
    spec = SPEC.format(alchemy=alchemy, constraints=constraints, seed=seed, removal=removal, ps=o.ps, every=every)
    directory = write(folder, f"{name}-{seed}", spec, {"a.top": TOPOLOGY.format(masses=masses, name=atom, terms=terms),
                                                       "a.gro": COORDINATES.format(x=x, name=atom)})
    worker = Worker(o.worker, "--device", o.device)
    start(worker, 0, directory, range(windows), windows)
    ended, _ = worker.until_ended(windows)
    assert all(m["type"] == "done" for m in ended.values()), ended
    worker.drain()
    description = {"spec": spec, "spec_name": "a.yaml", "replicas": [{"state": "done"}] * windows}
    done = subprocess.run([o.worker, "estimate", "--ensemble", directory, "--output", "-"], input=json.dumps(description), text=True,
                          check=True, stdout=subprocess.PIPE)
    files = [os.path.join(directory, f"lambda_{w:02d}", "dhdl.xvg") for w in range(windows)]
    return json.loads(done.stdout), files


def score(number, exact):
    """Found less exact, in errors."""
    return (number["kJ/mol"]["value"] - exact) / number["kJ/mol"]["error"]


def hold(what, scores):
    assert scores, what
    rms, far = math.sqrt(sum(z * z for z in scores) / len(scores)), sum(abs(z) > 4 for z in scores)
    print(f"{what}: {len(scores)} converged, root mean square of (found - exact)/error {rms:.2f}, {far} beyond 4", flush=True)
    assert far <= 0.02 * len(scores), scores
    assert len(scores) < MANY or 0.8 < rms < 1.2, scores


def converged(number):
    return number["verdict"]["verdict"] == "converged"


def hold_masses(o, folder):
    """Both atoms get heavier while their spring weakens; removal of the center's motion and sampling as different as can be."""
    exact = -KT * math.log(harmonic(0.12, 1e5) / harmonic(0.12, 2e5))
    ladder = {"bonded": [0, 0.5, 1], "mass": [0, 0.5, 1]}
    scores = []
    for seed in range(o.seeds):
        how = [("100 steps", 50), ("no", 50), ("100 steps", 100), ("30 steps", 45)][seed % 4]
        results, _ = evaluate(o, folder, "mass", seed, ladder, masses=(12, 36), terms="[ bonds ]\n1 2 1 0.12 200000 0.12 100000",
                              removal=how[0], every=how[1])
        mbar, ti = results["estimators"][0], results["estimators"][2]
        assert all(w["dhdl"]["mass"]["value"] == 0 for w in results["windows"]), results["windows"]
        assert any("without the kinetic part" in text for text in results["warnings"]), results["warnings"]
        scores += [score(x["total"], exact) for x in (mbar, ti) if converged(x)]
    hold("masses", scores)


def hold_restraints(o, folder):
    """Both atoms are held more tightly in space, while their center's motion would be removed were they free."""
    exact, ladder = 3 * KT * math.log(4), {"restraint": [0, 0.33, 0.67, 1]}
    terms = "[ position_restraints ]\n" + "".join(f"{atom} 1 1000 1000 1000 4000 4000 4000\n" for atom in (1, 2))
    scores = []
    for seed in range(o.seeds):
        results, _ = evaluate(o, folder, "held", seed, ladder, terms=terms, removal=["100 steps", "no"][seed % 2])
        scores += [score(x["total"], exact) for x in results["estimators"][:3] if converged(x)]
    hold("position restraints", scores)


def hold_length(o, folder):
    """A constraint from 0.12 to 0.15 nm: the surface of a sphere of its radius."""
    exact, ladder = -2 * KT * math.log(0.15 / 0.12), {"bonded": [0, 0.25, 0.5, 0.75, 1]}
    scores = []
    for seed in range(o.seeds):
        terms = ["[ bonds ]\n1 2 1 0.12 200000 0.15 200000", "[ constraints ]\n1 2 1 0.12 0.15"][seed % 2]
        results, files = evaluate(o, folder, "length", seed, ladder, "h-bonds", terms=terms, atom="H2")
        mbar, bar, ti = results["estimators"][:3]
        for none in (mbar, bar):
            assert none["total"] is None and none["verdict"]["reasons"][0]["code"] == "constraint", none
            assert "molecule TWO, atoms 1 (C1) and 2 (H2), from 0.12 nm in state A to 0.15 nm" in none["reason"], none
        assert results["estimator"] == "TI" and results["verdict"] == ti["verdict"], results
        assert abs(results["estimate"]["magnitude"] * 4.184 - ti["total"]["kJ/mol"]["value"]) < 1e-9
        alone = subprocess.run([o.worker, "estimate", *files], text=True, check=True, stdout=subprocess.PIPE)
        assert json.loads(alone.stdout)["estimators"] == results["estimators"]
        scores += [score(ti["total"], exact)] if converged(ti) else []
    hold("length of a constraint", scores)


def hold_twins(o, folder):
    """One bond, three times a constraint: five degrees of freedom."""
    terms = "[ bonds ]\n1 2 1 0.12 200000\n2 1 1 0.12 200000\n[ constraints ]\n2 1 2 0.12"
    scores = []
    for seed in range(o.seeds):
        results, _ = evaluate(o, folder, "twins", seed, None, "h-bonds", terms=terms, atom="H2", removal="no")
        temperature = results["windows"][0]["averages"]["Temperature"]
        scores.append((temperature["value"] - T) / temperature["error"])
    hold("temperature of a bond that is three constraints", scores)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu:2")
    options.add_argument("--seeds", type=int, default=4)
    options.add_argument("--ps", type=int, default=60)
    o = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="shoal-states-") as folder:
        hold_masses(o, folder)
        hold_restraints(o, folder)
        hold_length(o, folder)
        hold_twins(o, folder)


if __name__ == "__main__":
    main()
