#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Position restraints that are weakened by position-restraint-scale: the files of a run are, byte for byte, those of one whose topology has
the weaker force constants, in minimization and at constant pressure, of harmonic and of flat-bottomed restraints; and 0 is none.

Usage: held.py SHOAL_WORKER [--device D]
"""
import os
import re
import sys
import tempfile

from tiny import tiny
from worker import Worker, outputs

PROTOCOL = """protocol:
  - minimize: {{steps: 10, {first}}}
  - equilibrate: {{time: 40 steps, ensemble: nvt, sample-every: 20 steps, {first}}}
  - equilibrate: {{time: 50 steps, ensemble: npt, sample-every: 25 steps, {second}}}
  - equilibrate: {{time: 50 steps, ensemble: npt, sample-every: 25 steps, {third}}}
  - produce: {{time: 50 steps, ensemble: npt, sample-every: 25 steps, frames-every: 50 steps}}
"""
KINDS = {"harmonic": "1 1 HOLD HOLD HOLD", "flat": "1 2 1 0.00001 HOLD"}
METHANE = "1 C4 1 MET C 1 0.0 16.043\n"


def make(folder, name, kind, **stages):
    spec, files = tiny("held", seed=5, side=4, windows=(0, 1))
    spec = re.sub(r"(?s)protocol:.*", PROTOCOL.format(**stages), spec)
    hold = f"#ifdef HOLD\n[ position_restraints ]\n{KINDS[kind]}\n#endif\n"
    files["tiny.top"] = files["tiny.top"].replace(METHANE, METHANE + hold)
    directory = os.path.join(folder, name)
    os.makedirs(os.path.join(directory, "input"))
    for file, text in {"spec.yaml": spec, **files}.items():
        with open(os.path.join(directory, "input", file), "w", encoding="utf-8") as f:
            f.write(text)
    return directory


def restraint_energies(directory):
    with open(os.path.join(directory, "lambda_00/energy.xvg"), encoding="utf-8") as f:
        text = f.read()
    at = 1 + re.findall(r'@ s\d+ legend "(.*)"', text).index("Restraints")
    return [float(line.split()[at]) for line in text.splitlines() if line[0] not in "#@"]


def main(program, device):
    options = ["--device", device] if device else ["--device", "cpu:2"]
    with tempfile.TemporaryDirectory(prefix="shoal-held-") as folder:
        runs = {}
        for kind in KINDS:
            runs[kind] = (
                make(folder, kind + "-scaled", kind, first="defines: [HOLD=4000]",
                     second="defines: [HOLD=4000], position-restraint-scale: 0.25",
                     third="defines: [HOLD=4000], position-restraint-scale: 0"),
                make(folder, kind + "-own", kind, first="defines: [HOLD=4000]", second="defines: [HOLD=1000]", third="defines: [HOLD=0]"))
        worker = Worker(program, *options)
        places = [directory for pair in runs.values() for directory in pair]
        for number, directory in enumerate(places):
            for window in range(2):
                worker.start(2 * number + window, directory, window, 2)
        ended, _ = worker.until_ended(2 * len(places))
        assert all(last["type"] == "done" for last in ended.values()), ended
        worker.drain()
        for kind, (scaled, own) in runs.items():
            assert outputs(scaled, 2) == outputs(own, 2), kind
            energies = restraint_energies(scaled)
            assert min(energies[1:5]) > 0 and not any(energies[5:]), (kind, energies)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[3] if sys.argv[2:3] == ["--device"] else None)
