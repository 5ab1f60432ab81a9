#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's programs read our files: `gmx bar` and alchemlyb the dhdl.xvg of every window, `gmx check` the trajectory
and the final coordinates, and what they make of them is what we make of them.

Usage: formats.py SHOAL_WORKER. SHOAL_TEST_PYTHON: a python3 that has alchemlyb (skipped without).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from worker import Worker, make

# Close together: without overlap of the samples, gmx bar looks for the answer in too small a bracket.
WINDOWS = (0, 0.15, 0.3, 0.45)
STEPS = 1000

# alchemlyb's own parsers and estimators over the files given: prints rows, columns, and dG in kT by BAR, MBAR and TI.
ALCHEMLYB = """
import sys
from alchemlyb.parsing.gmx import extract_dHdl, extract_u_nk
from alchemlyb import concat
from alchemlyb.estimators import BAR, MBAR, TI
u = concat([extract_u_nk(f, T=298.15) for f in sys.argv[1:]])
d = concat([extract_dHdl(f, T=298.15) for f in sys.argv[1:]])
print(len(u), len(u.columns), len(d), ",".join(d.columns), *(fit.delta_f_.iloc[0, -1]
      for fit in (BAR().fit(u), MBAR().fit(u), TI().fit(d))))
"""


def gmx(*arguments, **options):
    run = subprocess.run(["gmx", *arguments], capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def check_bar(files):
    text = gmx("bar", "-f", *files, "-temp", "298.15")
    total = re.search(r"total +0 - +%d, +DG +(-?[\d.]+)" % (len(WINDOWS) - 1), text)
    assert total, text
    print("gmx bar:", total.group(0))
    return float(total.group(1))


def check_alchemlyb(files, rows, bar):
    python = os.environ.get("SHOAL_TEST_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import alchemlyb"], capture_output=True, check=False).returncode:
        print("skipped: alchemlyb is not importable by", python)
        return
    run = subprocess.run([python, "-W", "ignore", "-c", ALCHEMLYB, *files], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    samples, states, derivatives, names, *estimates = run.stdout.split()
    print("alchemlyb:", run.stdout.strip())
    assert int(samples) == int(derivatives) == rows * len(WINDOWS), run.stdout
    assert int(states) == len(WINDOWS) and names == "vdw", run.stdout
    # The same estimator over the same samples; gmx prints two decimals for each of the pairs.
    kt = 0.00831446261815324 * 298.15
    assert abs(float(estimates[0]) * kt - bar) < 0.005 * len(WINDOWS) + 0.005, (estimates, bar)


def main():
    if not shutil.which("gmx"):
        print("skipped: gmx is not installed")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="shoal-formats-")
    directory = make(folder, "formats", seed=7, steps=STEPS, windows=WINDOWS)
    worker = Worker(sys.argv[1])
    for window in range(len(WINDOWS)):
        worker.start(window, directory, window, len(WINDOWS))
    ended, _ = worker.until_ended(len(WINDOWS))
    assert all(m["type"] == "done" for m in ended.values()), ended
    worker.drain()

    files = [f"{directory}/lambda_{window:02d}/dhdl.xvg" for window in range(len(WINDOWS))]
    rows = STEPS // 20 + 1
    for file in files:
        with open(file, encoding="utf-8") as f:
            times = [float(line.split()[0]) for line in f if line[0] not in "#@"]
        assert len(times) == rows and times[0] == 0 and abs(times[-1] - STEPS * 0.002) < 1e-9, (file, times)
    bar = check_bar(files)
    check_alchemlyb(files, rows, bar)
    text = gmx("check", "-f", f"{directory}/lambda_01/traj.xtc")
    assert re.search(r"Coords +%d +0\.4" % (STEPS // 200 + 1), text), text
    text = gmx("check", "-c", f"{directory}/lambda_01/confout.gro")
    assert "373 atoms" in text or "373" in text, text
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
