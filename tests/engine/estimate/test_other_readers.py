#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results.json against alchemlyb (MBAR, BAR, TI, errors, overlap) and `gmx bar` on the same rows, and against
its schema. Arguments: write_oscillators, schemas/results.schema.json. Runs itself with SHOAL_TEST_PYTHON where that is set
(a virtual environment made from tests/requirements.txt); what is not installed is skipped and named; exit code 77 when
nothing is."""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

KT = 0.00831446261815324 * 298.15  # kJ/mol
done = []


# Our errors of independent rows are 5 to 10 % larger than those that take rows for independent: the largest over lengths of parts counts, the
# variance is taken for as uncertain as it is, and what may be slow is in it (docs/theory.md, Errors).
ALLOWANCE = 1.07


def near(what, value, expected, tolerance):
    if not abs(value - expected) <= tolerance:
        sys.exit(f"{what}: {value!r}, expected {expected!r} within {tolerance}")


def keep_used_rows(folder, results):
    """Copies of the files that hold the rows that our estimators used, and no others."""
    files = []
    for w in results["windows"]:
        with open(f"{folder}/lambda_{w['window']:02d}/dhdl.xvg", encoding="ascii") as f:
            lines = f.readlines()
        header = [l for l in lines if l[0] in "#@"]
        rows = [l for l in lines if l[0] not in "#@"]
        s = w["samples"]
        if len(rows) != s["discarded"] + s["used"]:
            sys.exit(f"window {w['window']}: {len(rows)} rows, but {s['discarded']} discarded and {s['used']} used")
        files.append(f"{folder}/used_{w['window']}.xvg")
        with open(files[-1], "w", encoding="ascii") as f:
            f.writelines(header + rows[s["discarded"]:])
    return files


def against_alchemlyb(files, results, independent):
    from alchemlyb import concat
    from alchemlyb.estimators import BAR, MBAR, TI
    from alchemlyb.parsing.gmx import extract_dHdl, extract_u_nk

    by_name = {e["name"]: e for e in results["estimators"]}
    u_nk = concat([extract_u_nk(f, T=298.15) for f in files])
    dhdl = concat([extract_dHdl(f, T=298.15) for f in files])
    mbar = MBAR(relative_tolerance=1e-12).fit(u_nk)
    bar = BAR(relative_tolerance=1e-12).fit(u_nk)
    ti = TI().fit(dhdl)
    for k in range(1, len(files)):
        for name, theirs in (("MBAR", mbar), ("BAR", bar), ("TI", ti)):
            ours = by_name[name]["cumulative"][k]["free_energy"]["kT"]["value"]
            near(f"{name} to window {k}", ours, theirs.delta_f_.iloc[0, k], 1e-6)
        if independent:  # their errors take the rows as such; ours are worked out from 600 of them
            ours = by_name["MBAR"]["cumulative"][k]["free_energy"]["kT"]["error"]
            near(f"MBAR error of window {k}", ours, ALLOWANCE * mbar.d_delta_f_.iloc[0, k], 0.15 * ours)
    if independent:
        ours = math.hypot(*(step["free_energy"]["kT"]["error"] for step in by_name["BAR"]["steps"]))
        theirs = math.hypot(*(bar.d_delta_f_.iloc[k - 1, k] for k in range(1, len(files))))
        near("BAR errors of the steps", ours, ALLOWANCE * theirs, 0.15 * ours)
    for i, row in enumerate(mbar.overlap_matrix):
        for j, o in enumerate(row):
            near(f"overlap {i} {j}", results["overlap"]["matrix"][i][j], o, 1e-6)


def against_gmx(files, results, gmx):
    folder = os.path.dirname(files[0])
    text = subprocess.run([gmx, "bar", "-f", *files, "-prec", "8", "-o", f"{folder}/bar.xvg"], cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    values = [float(v) for v in re.findall(r"^point +\d+ - +\d+, +DG +(\S+) ", text, re.M)]
    bar = next(e for e in results["estimators"] if e["name"] == "BAR")
    if len(values) != len(files) - 1:
        sys.exit(f"gmx bar printed {len(values)} differences, expected {len(files) - 1}:\n{text}")
    for k, value in enumerate(values):
        near(f"gmx bar, step {k}", bar["steps"][k]["free_energy"]["kJ/mol"]["value"], value, 2e-5)


def compare(folder, memory):
    subprocess.run([sys.argv[1], folder, memory], check=True)
    with open(f"{folder}/results.json", encoding="utf-8") as f:
        results = json.load(f)
    files = keep_used_rows(folder, results)
    done.clear()
    try:
        import alchemlyb
        against_alchemlyb(files, results, memory == "0")
        done.append(f"alchemlyb {alchemlyb.__version__}")
    except ModuleNotFoundError as e:
        print(f"skipped: no {e.name}")
    try:
        import jsonschema
        with open(sys.argv[2], encoding="utf-8") as f:
            jsonschema.validate(results, json.load(f), cls=jsonschema.Draft7Validator)
        done.append("schema")
    except ModuleNotFoundError as e:
        print(f"skipped: no {e.name}")
    gmx = shutil.which("gmx")
    if gmx:
        against_gmx(files, results, gmx)
        done.append("gmx bar")
    else:
        print("skipped: no gmx")


def main():
    python = os.environ.get("SHOAL_TEST_PYTHON")
    if python and "SHOAL_TEST_INSIDE" not in os.environ:
        os.execve(python, [python, *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))
    for memory in ("0", "0.5"):
        with tempfile.TemporaryDirectory() as folder:
            compare(folder, memory)
    print("agreed with:", ", ".join(done) or "nothing")
    return 0 if done else 77


if __name__ == "__main__":
    sys.exit(main())
