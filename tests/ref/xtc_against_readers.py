#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames of our .xtc writer as `gmx check`, `gmx dump` and MDAnalysis read them.

    xtc_against_readers.py WRITE_FRAMES WORK_FOLDER

Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment made from tests/requirements.txt); what is not
installed is skipped and named; exit code 77 when nothing is."""
import os
import re
import shutil
import subprocess
import sys


def frames_of(text):
    frames = []
    for line in text.splitlines():
        words = line.split()
        if words[0] == "frame":
            frames.append(([float(w) for w in words[1:]], []))
        else:
            frames[-1][1].append([int(w) for w in words])
    return frames


# Up to nine atoms are written unrounded.
def same(reader, number, expected, step, time, box, x_nm):
    head, coordinates = expected
    if [step, time] != head[:2] or any(abs(a - b) > 1e-6 for a, b in zip(box, head[2:])):
        sys.exit(f"{reader}: frame {number}: step {step}, time {time}, box {box}, expected {head}")
    if len(x_nm) != len(coordinates):
        sys.exit(f"{reader}: frame {number}: {len(x_nm)} atoms, expected {len(coordinates)}")
    for i, (got, want) in enumerate(zip(x_nm, coordinates)):
        if any(abs(1000 * g - w) > (0.51 if len(coordinates) <= 9 else 0.01) for g, w in zip(got, want)):
            sys.exit(f"{reader}: frame {number}, atom {i}: {got} nm, expected {want} pm")


def against_gmx(gmx, path, frames):
    out = subprocess.run([gmx, "check", "-f", path], capture_output=True, text=True)
    counted = re.search(r"^Coords\s+(\d+)", out.stderr + out.stdout, re.M)
    if out.returncode or not counted or int(counted[1]) != len(frames):
        sys.exit("gmx check: " + out.stderr[-500:])
    text = subprocess.run([gmx, "dump", "-f", path], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^.* frame \d+:\n", text, flags=re.M)[1:]
    if len(parts) != len(frames):
        sys.exit(f"gmx dump: {len(parts)} frames, expected {len(frames)}")
    for number, (part, expected) in enumerate(zip(parts, frames)):
        head = re.search(r"step=\s*(\d+)\s+time=(\S+)", part)
        vectors = re.findall(r"(box|x)\[\s*\d+\]=\{\s*(\S+),\s*(\S+),\s*(\S+)\}", part)
        box = [[float(v) for v in row[1:]] for row in vectors if row[0] == "box"]
        x = [[float(v) for v in row[1:]] for row in vectors if row[0] == "x"]
        same("gmx dump", number, expected, float(head[1]), float(head[2]), [box[d][d] for d in range(3)], x)


def against_mdanalysis(path, frames):
    from MDAnalysis.coordinates.XTC import XTCReader

    reader = XTCReader(path)
    if len(reader) != len(frames):
        sys.exit(f"MDAnalysis: {len(reader)} frames, expected {len(frames)}")
    for number, (ts, expected) in enumerate(zip(reader, frames)):
        same("MDAnalysis", number, expected, ts.data["step"], ts.time, [d / 10 for d in ts.dimensions[:3]],
             [[c / 10 for c in row] for row in ts.positions.tolist()])


def main():
    python = os.environ.get("SHOAL_TEST_PYTHON")
    if python and "SHOAL_TEST_INSIDE" not in os.environ:
        os.execve(python, [python, *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))
    gmx = shutil.which("gmx") or shutil.which("gmx_d")
    try:
        import MDAnalysis
    except ImportError:
        MDAnalysis = None
    for name, there in (("gmx", gmx), ("MDAnalysis", MDAnalysis)):
        print(f"{name}: " + ("used" if there else "SKIP, not installed"))
    os.makedirs(sys.argv[2], exist_ok=True)
    for atoms in (1, 9, 10, 11, 3000):
        path = os.path.join(sys.argv[2], f"frames_{atoms}.xtc")
        text = subprocess.run([sys.argv[1], path, str(atoms)], capture_output=True, text=True, check=True).stdout
        if gmx:
            against_gmx(gmx, path, frames_of(text))
        if MDAnalysis:
            against_mdanalysis(path, frames_of(text))
    return 0 if gmx or MDAnalysis else 77


sys.exit(main())
