#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FreeSolv's molecules as a campaign whose time goes where it is needed, among molecules and among the windows of each (`budget`,
`allocate: adaptive`), beside even sampling: in how much of its time it has its error.

Usage: freesolv_by_need.py SHOALD WORKER SHOAL EVEN [--part P] [--alike A] [--seed N] [--device D] [--data DIR] [--time NS] [--repeats N] [--folder DIR]
       [--limit S]
EVEN: errors of even sampling by freesolv.py --errors, which says the molecules; --time and --repeats are to be as they were there.
--part: of the time of even sampling, 0.7 unless given. --alike: of that, what all windows get alike before the rest goes where it is
needed, 0.5 unless given. The rest as for freesolv.py.
Exit code 0: the table was made and all legs agree with the published values; 1: one does not; 77: no data.
"""
import math
import os
import subprocess
import sys
import tempfile

from freesolv import VDW, error_of, legs, published, row, spec_of
from service_runs import NO_DATA, parser, results, run

CAMPAIGN = """name: need
inputs: {data}
systems: {{list: [{systems}]}}
legs:
  - name: hydration
    spec: {spec}
    sign: -1
    override: {{system: {{topology: $(system)/system.top, coordinates: $(system)/conf.gro}}}}
repeats: {repeats}
budget: {{time: {budget:.12g} ns, rounds: 3}}
"""


def read_errors(path):
    with open(path, encoding="utf-8") as f:
        return {name: float(error) for name, error in (line.split() for line in f)}


def write_campaign(o, names):
    """The file."""
    path, spec = (os.path.join(o.folder, name) for name in ("campaign.yaml", "hydration.yaml"))
    with open(spec, "w", encoding="utf-8") as f:
        f.write(spec_of("hydration", o.time, o.part * o.alike, "adaptive").replace("seed: 2026", f"seed: {o.seed}"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(CAMPAIGN.format(data=os.path.abspath(o.data), systems=", ".join(f"{{name: {name}}}" for name in names), spec=spec,
                                repeats=o.repeats, budget=o.time * o.part * len(VDW) * o.repeats * len(names)))
    return path


def keys(name, repeats):
    return [f"need.{name}.hydration.{k + 1}" for k in range(repeats)]


def time_of(ensembles):
    """Production of a window, mean over all of them, ns."""
    sampled = [window["sampled"]["magnitude"] for found in ensembles for window in found["windows"]]
    return sum(sampled) / len(sampled)


def report(service, o, even, wanted, live):
    """The tables; live: of the molecules that have numbers so far. How many legs disagree."""
    bad, parts = 0, []
    print("kcal/mol         leg      Shoal               FreeSolv           off       allowed")
    for name, error in even.items():
        found = [results(service, key, live) for key in keys(name, o.repeats)]
        if not all(one and one["estimators"] and one["estimators"][0]["total"] for one in found):
            print(f"{name:<16} has no numbers yet")
            continue
        for leg, theirs in wanted[name].items():
            of_all = [legs(one)[leg] for one in found]
            bad += sum(not row(name, leg, ours, theirs) for ours in of_all)
        parts.append((name, error, error_of(found), time_of(found) / o.time))
    n = len(parts)
    if not n:
        return bad
    parts.append(("root mean square", *(math.sqrt(sum(p[k] ** 2 for p in parts) / n) for k in (1, 2)), sum(p[3] for p in parts) / n))
    rows = [f"{name:<16} {error:11.3f}   {need:7.3f}   {part:14.3f}   {part * (need / error) ** 2:.3f}" for name, error, need, part in parts]
    print("kcal/mol         error, even   by need, in of its time   so much time has the error of even sampling", *rows, sep="\n")
    return bad


def main():
    options = parser("freesolv")
    options.add_argument("shoal", type=os.path.abspath)
    options.add_argument("even")
    options.add_argument("--part", type=float, default=0.7)
    options.add_argument("--alike", type=float, default=0.5)
    options.add_argument("--seed", type=int, default=2026)
    o = options.parse_args()
    wanted, even = published(o.data), read_errors(o.even)
    if not wanted:
        return NO_DATA
    o.folder = o.folder or tempfile.mkdtemp(prefix="shoal-gpu-")
    campaign = None

    def submit_all(service):
        nonlocal campaign
        file = write_campaign(o, list(even))
        command, where = [o.shoal, "campaign"], [file, "--socket", service.socket]
        subprocess.run([*command, "submit", *where], check=True)
        campaign = subprocess.Popen([*command, "run", *where, "--output", os.path.join(o.folder, "table")])
        return {key: key for name in even for key in keys(name, o.repeats)}

    def report_all(service, _, live):
        if live:
            campaign.terminate()
        return report(service, o, even, wanted, live)

    code, seconds = run(o, submit_all, report_all, lambda: campaign.poll() is None)
    print(f"{seconds:.0f} s; what was made is in {o.folder}")
    return code or campaign.wait()


if __name__ == "__main__":
    sys.exit(main())
