#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does exchange between windows pay? The error of a leg with exchange and without it at equal cost, as the scatter of its free energy over
runs that differ in their seed alone.

All runs of one way go at once, on a service of their own with nothing beside them, then all of the other way: the time that each way takes
on the device is its cost. The error at equal cost is the scatter times the root of that time over the time without exchange.

Usage: exchange_cost.py SHOAL SHOALD WORKER SPEC... [--runs N] [--seed FIRST] [--time '1 ns'] [--every '2 ps'] [--scheme gibbs]
                        [--device D] [--folder DIR] [--minutes M] [--json FILE]
SPEC: a leg, whose own `exchange`, `repeats`, `allocate` and `stop-when` are left out; --time: production of a window.
--folder keeps what was run there. --minutes: what is not done after so long is stopped at its checkpoints, exit code 75; started again
with the same folder and options the script goes on. Time in which nothing runs is not counted.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from methane_spread import spread  # noqa: E402
from service import Service  # noqa: E402

WAYS = ("without", "with")
LOOK = 1.0  # s between looks at what runs
AGAIN = 75
OTHER_KEYS = ("exchange", "repeats", "allocate", "stop-when", "seed")


def without_keys(text, keys):
    """A spec without these keys of its first level, each with the lines that belong to it."""
    kept, drop = [], False
    for line in text.splitlines():
        if line[:1] not in ("", " ", "#", "-"):
            drop = line.split(":")[0] in keys
        kept += [] if drop else [line]
    return "\n".join(kept) + "\n"


def variant(text, name, way, seed, options):
    text = without_keys(text, OTHER_KEYS)
    text, named = re.subn(r"(?m)^name:.*$", f"name: {name}", text)
    text, seeded = re.subn(r"\bseed: *\w+", f"seed: {seed}", text)
    assert named == 1 and seeded == 1, "expected a spec with one name and one integrator.seed"
    if options.time:
        text, produced = re.subn(r"(- produce: *\{[^}]*\btime: *)[^,}]+", lambda m: m[1] + options.time, text)
        assert produced == 1, "expected one line '- produce: {time: ..}'"
    return text + (f"exchange: {{every: {options.every}, scheme: {options.scheme}}}\n" if way == "with" else "")


class Study:
    """Legs, ways and seeds in a folder; what took how long is kept in cost.json."""

    def __init__(self, options):
        self.options = options
        self.folder = os.path.abspath(options.folder) if options.folder else tempfile.mkdtemp(prefix="shoal-exchange-")
        self.service = Service(os.path.abspath(options.shoald), os.path.abspath(options.worker), self.folder, options.device)
        self.costs = os.path.join(self.folder, "cost.json")
        self.seconds = {}
        if os.path.exists(self.costs):
            with open(self.costs, encoding="utf-8") as f:
                self.seconds = json.load(f)
        self.deadline = time.monotonic() + 60 * options.minutes if options.minutes else math.inf

    def shoal(self, *words):
        done = subprocess.run([os.path.abspath(self.options.shoal), *words], env=dict(os.environ, SHOAL_SOCKET=self.service.socket),
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def submit(self, leg, spec, way):
        """Ids of all runs of one way; those that there are already stay as they are."""
        inputs = os.path.join(self.folder, leg)
        if not os.path.isdir(inputs):
            shutil.copytree(os.path.dirname(os.path.abspath(spec)), inputs, ignore=shutil.ignore_patterns(".*"))
        with open(spec, encoding="utf-8") as f:
            text = f.read()
        idents = []
        for seed in range(self.options.seed, self.options.seed + self.options.runs):
            name = f"{leg}.{way}.{seed}"
            path = os.path.join(inputs, f"{name}.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(variant(text, name, way, seed, self.options))
            idents.append(json.loads(self.shoal("submit", path, "--key", name, "--json"))["id"])
        return idents

    def count(self, key, seconds):
        self.seconds[key] = self.seconds.get(key, 0) + seconds
        with open(self.costs + ".new", "w", encoding="utf-8") as f:
            json.dump(self.seconds, f)
        os.replace(self.costs + ".new", self.costs)

    def run(self, leg, spec, way):
        """True once all runs of the way are done."""
        idents, before = self.submit(leg, spec, way), None
        while True:
            states = [self.service.get(ident)["state"] for ident in idents]
            now = time.monotonic()
            if before is not None:
                self.count(f"{leg} {way}", now - before)
            before = now if any(state in ("running", "finishing") for state in states) else None
            if all(state not in ("queued", "running", "finishing") for state in states):
                assert set(states) == {"done"}, dict(zip(idents, states))
                return True
            if now > self.deadline:
                return False
            time.sleep(LOOK)

    def outcomes(self, leg, way):
        found = []
        for seed in range(self.options.seed, self.options.seed + self.options.runs):
            results = json.loads(self.shoal("results", f"{leg}.{way}.{seed}", "--json"))
            estimate = results["estimate"] or sys.exit(f"{leg}.{way}.{seed} has no free energy: {results['reason']}")
            found.append({"seed": seed, "estimate": estimate["magnitude"], "error": results["uncertainty"]["magnitude"],
                          "verdict": results["verdict"]["verdict"],
                          "round_trips": sum(of["round_trips"] for of in results["exchange"]),
                          "eigenvalue": max((of["eigenvalue"] or 0 for of in results["exchange"]), default=None)})
        return found


def tell(leg, way, runs, seconds, reference):
    values = [run["estimate"] for run in runs]
    mean, deviation, (low, high) = spread(values)
    told = math.sqrt(sum(run["error"]**2 for run in runs) / len(runs))
    factor = math.sqrt(seconds / reference)
    print(f"{leg}, {way} exchange: {len(runs)} runs in {seconds / 60:.1f} minutes of the device")
    print("  kcal/mol:", " ".join(f"{run['estimate']:.3f}({run['error']:.3f}){'' if run['verdict'] == 'converged' else '*'}" for run in runs),
          "  (* not converged)")
    print(f"  mean {mean:.3f}, scatter {deviation:.3f} (68 %: {low * deviation:.3f} to {high * deviation:.3f}), reported error {told:.3f}")
    print(f"  at equal cost: scatter {factor * deviation:.3f} ({factor * low * deviation:.3f} to {factor * high * deviation:.3f}), "
          f"reported error {factor * told:.3f}")
    if way == "with":
        print("  round trips:", *(run["round_trips"] for run in runs), "  eigenvalues:", *(f"{run['eigenvalue']:.3f}" for run in runs))
    return {"mean": mean, "scatter": deviation, "interval": [low * deviation, high * deviation], "reported": told, "seconds": seconds,
            "equal_cost_scatter": factor * deviation, "equal_cost_reported": factor * told, "runs": runs}


def compare(leg, found):
    """What exchange does to the error at equal cost; scatters of n runs are known to 1 / sqrt(2 (n - 1))."""
    plain, other = found["without"], found["with"]
    n = len(plain["runs"])
    unsure = math.sqrt(2 / (2 * (n - 1)))
    ratio = other["equal_cost_scatter"] / plain["equal_cost_scatter"]
    apart = other["mean"] - plain["mean"]
    error = math.hypot(plain["scatter"], other["scatter"]) / math.sqrt(n)
    print(f"{leg}: error with exchange over error without, at equal cost: {ratio:.2f} by scatter (68 %: {ratio * math.exp(-unsure):.2f} to "
          f"{ratio * math.exp(unsure):.2f}), {other['equal_cost_reported'] / plain['equal_cost_reported']:.2f} by reported errors")
    print(f"{leg}: means differ by {apart:.3f} +- {error:.3f} kcal/mol\n")
    found["ratio"], found["ratio_interval"] = ratio, [ratio * math.exp(-unsure), ratio * math.exp(unsure)]


def read_options():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shoal", "shoald", "worker"):
        options.add_argument(name)
    options.add_argument("specs", nargs="+")
    options.add_argument("--runs", type=int, default=4)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--time")
    options.add_argument("--every", default="2 ps")
    options.add_argument("--scheme", default="gibbs", choices=["neighbours", "gibbs"])
    options.add_argument("--device", default="cpu")
    options.add_argument("--folder")
    options.add_argument("--minutes", type=float)
    options.add_argument("--json")
    o = options.parse_args()
    if o.runs < 2:
        options.error("--runs: two or more have a scatter")
    if o.minutes and not o.folder:
        options.error("--minutes: what is stopped goes on in a --folder")
    return o


def main():
    o = read_options()
    study, found = Study(o), {}
    legs = [f"{number}-{os.path.splitext(os.path.basename(spec))[0]}" for number, spec in enumerate(o.specs, 1)]
    study.service.start()
    try:
        for leg, spec in zip(legs, o.specs):
            for way in WAYS:
                if not study.run(leg, spec, way):
                    print(f"stopped after {o.minutes:g} minutes, in {leg} {way} exchange: start again with the same folder")
                    return AGAIN
            found[leg] = {way: tell(leg, way, study.outcomes(leg, way), study.seconds[f"{leg} {way}"], study.seconds[f"{leg} without"])
                          for way in WAYS}
            compare(leg, found[leg])
    finally:
        study.service.stop(600)
        if not o.folder:
            shutil.rmtree(study.folder)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
