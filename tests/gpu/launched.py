#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tools of compute-sanitizer look at (tests/gpu/sanitized) launches every kernel there is: of engine/cuda/kernels.def, as a worker
with emulated kernels says that does the same, but for a shorter warm-up; of the graph tests, by their sources.

usage: launched.py EMULATED_WORKER
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKER = os.path.abspath(sys.argv[1])


def kernels(path, row=r"[KVL]\((\w+),"):
    return set(re.findall("^" + row, (ROOT / path).read_text(), re.M))


def rows():
    lines = (ROOT / "tests/gpu/sanitized").read_text().splitlines()
    return [line.split(": ", 1) for line in lines if not line.startswith("#")]


def launches(folder, name, command):
    told = Path(folder, name)
    words = [*shlex.split(command), *(["--warm-up", "1"] if command.startswith("bench") else [])]
    done = subprocess.run([WORKER, *words, "--device", "cuda:0"], cwd=folder, env={**os.environ, "SHOAL_TEST_LAUNCHED": told},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return set(told.read_text().split())


def main():
    steps = kernels("engine/system/integrators.def", r'INTEGRATOR\(\w+, "[\w-]+", (\w+),')
    frames = {f"observe_{block}" for block in kernels("engine/system/observables.def", r"OBSERVABLE\(\w+, \w+, BLOCK\((\w+), F")}
    declared, toys = kernels("engine/cuda/kernels.def") | steps | frames, kernels("tests/graphs/toy_kernels.def")
    assert steps and frames and toys and declared > steps | frames
    sources = "".join(path.read_text() for path in (ROOT / "tests/graphs").glob("*.c"))
    missing = {f"toy {kernel}" for kernel in toys if f" emit_{kernel}(" not in sources}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        subprocess.run([sys.executable, ROOT / "tests/bench/make_inputs.py", folder, "usual", "small"], check=True, stdout=subprocess.DEVNULL)
        found = dict(zip((name for name, _ in rows()), pool.map(lambda row: launches(folder, *row), rows())))
    for name, launched in found.items():
        others = set().union(*(these for other, these in found.items() if other != name))
        print(f"{name}: {len(launched)} kernels, alone here: {' '.join(sorted(launched - others)) or 'none'}")
    missing |= declared - set().union(*found.values())
    assert not missing, f"launched by none of tests/gpu/sanitized: {' '.join(sorted(missing))}"


if __name__ == "__main__":
    main()
