#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Energies and forces of the bench's systems, in rectangular and triclinic boxes, whole, cut into regions, or with a cut-off longer than half from face to face (far), on a device beside the CPU
device's (`energy --check`), also with reaction field and with Gapsys' soft core.

usage: energies.py WORKER DEVICE
"""
import os
import re
import subprocess
import sys
import tempfile

MAKE_INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/make_inputs.py")
SYSTEMS = "solvent", "peptide", "vacuum", "complex", "dodecahedron", "regions-dodecahedron", "far"
VARIANTS = {"reaction-field": (r"coulomb: \{cutoff: 0.9 nm, .*\}", "coulomb: {cutoff: 0.9 nm, method: reaction-field}"),
            "gapsys": (r"soft-core: \{.*\}", "soft-core: {function: gapsys}")}


def vary(folder, name, pattern, by):
    with open(os.path.join(folder, "solvent.yaml"), encoding="utf-8") as f:
        text, count = re.subn(pattern, by, f.read())
    assert count == 1, (name, text)
    with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as f:
        f.write(text)


def main():
    worker, device = os.path.abspath(sys.argv[1]), sys.argv[2]
    off = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, MAKE_INPUTS, folder, "usual", "small"], check=True, stdout=subprocess.DEVNULL)
        for name, (pattern, by) in VARIANTS.items():
            vary(folder, name, pattern, by)
        for name in (*SYSTEMS, *VARIANTS):
            done = subprocess.run([worker, "energy", f"{name}.yaml", "--device", device, "--check"], cwd=folder, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            lines = [line for line in done.stdout.splitlines() if done.returncode or "forces:" in line or "OFF" in line]
            print(*(f"{name}: {line}" for line in lines), sep="\n")
            off += done.returncode != 0
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
