#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nonbonded.split: what `validate` says of it, that energies are those of its numbers, what results say, and that a
service runs an ensemble that says auto as one with the numbers, over a crash.

Usage: split.py SHOAL_WORKER WRITE_OSCILLATORS EXAMPLES SHOALD
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from service import Service
from tiny import tiny

WORKER, OSCILLATORS, EXAMPLES, SHOALD = sys.argv[1:]

ASKED = "  cutoff: 0.8 nm\n  coulomb: {cutoff: 1.0 nm, tolerance: 1e-6}\n"


def run(*arguments, stdin=None):
    ran = subprocess.run([WORKER, *arguments], input=stdin, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def numbers(split):
    return f"{{cutoff: {split['cutoff_nm']} nm, grid: {split['grid']}, order: {split['order']}, tolerance: {split['tolerance']}}}"


def check_methane(folder):
    """Methane in water: a spec that says auto is the spec with the numbers that are shown."""
    shutil.copytree(f"{EXAMPLES}/methane", f"{folder}/methane")
    with open(f"{EXAMPLES}/methane/quickstart.yaml", encoding="ascii") as f:
        text = re.sub(r"nonbonded:\n( .*\n)*", "", f.read())

    def spec(name, split):
        path = f"{folder}/methane/{name}.yaml"
        with open(path, "w", encoding="ascii") as f:
            f.write(f"{text}nonbonded:\n{ASKED}{split}")
        return path

    plain, auto = spec("plain", ""), spec("auto", "  split: auto\n")
    assert "split" not in json.loads(run("validate", plain, "--json"))
    split = json.loads(run("validate", auto, "--json"))["split"]
    assert split["cutoff_nm"] < 1.0 and 1e-6 <= split["tolerance"] <= 1e-4, split
    assert 0 < split["force_error"] <= split["force_error_asked"], split
    said = run("validate", auto)
    grid = " x ".join(str(n) for n in split["grid"])
    assert f"\nCoulomb: cut-off {split['cutoff_nm']} nm, grid {grid}, order {split['order']}, tolerance " in said, said
    assert "kJ/mol/nm (rms); " in said and "with the cut-off of 1 nm, order 4 and tolerance 1e-06 asked for\n" in said, said
    given = spec("given", f"  split: {numbers(split)}\n")
    assert json.loads(run("validate", given, "--json"))["split"] == split
    energies = [run("energy", path, "--json") for path in (plain, auto, given)]
    assert energies[1] == energies[2] and energies[0] != energies[1]
    return split


def check_results(folder, split):
    """results.json has the same, and the methods say it."""
    os.mkdir(f"{folder}/run")
    subprocess.run([OSCILLATORS, f"{folder}/run", "0.5"], check=True)
    shutil.copytree(f"{folder}/methane", f"{folder}/run/input")
    head = "name: x\nsystem: {topology: methane.top, coordinates: methane.gro}\nalchemy:\n  decouple: MET\n"
    head += "  windows: {coulomb: [0, 0.5, 1, 1, 1], vdw: [0, 0, 0, 0.5, 1]}\n"

    def results(more):
        described = {"spec": f"{head}nonbonded:\n{ASKED}{more}", "spec_name": "o.yaml",
                     "replicas": [{"state": "done", "seed": k} for k in range(5)]}
        return json.loads(run("estimate", "--ensemble", f"{folder}/run", "--output", "-", stdin=json.dumps(described)))

    found = results(f"  split: {numbers(split)}\n")
    assert found["split"].keys() == split.keys()
    for key, value in split.items():
        assert found["split"][key] == value or abs(found["split"][key] / value - 1) < 1e-3, (key, found["split"])
    said = next(one["text"] for one in found["methods"] if one["topic"] == "Electrostatics")
    assert f"cut-off of {split['cutoff_nm']} nm" in said and "; estimated error of forces " in said, said
    assert "split" not in results("")


def check_service(folder):
    spec, files = tiny("split", seed=3, steps=400, windows=(0, 1), side=4)
    asked = "  cutoff: 0.5 nm\n  coulomb: {cutoff: 0.6 nm, grid-spacing: 0.15 nm}\n  split: "
    head, tail = re.split(r"  cutoff: .*\n  coulomb: .*\n", spec)
    s = Service(SHOALD, WORKER, folder, "cpu:2")
    s.start()

    def submit(key, split):
        body = {"spec": f"{head}{asked}{split}\n{tail}", "spec_name": "tiny.yaml", "files": files, "id": key}
        status, answer = s.call("POST", "/v1/ensembles", body)
        assert status in (200, 201), answer
        return answer["id"]

    auto = submit("auto", "auto")
    assert submit("auto", "auto") == auto
    s.kill()
    s.start()
    s.wait_done(auto)
    found = s.outputs(auto)
    split = json.loads(found["results"])["split"]
    given = submit("given", numbers(split))
    s.wait_done(given)
    expected = s.outputs(given)
    for name in found.keys() - {"results"}:
        assert found[name] == expected[name], name
    assert json.loads(expected["results"])["split"] == split and split["cutoff_nm"] < 0.6, split
    assert s.stop() == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_results(folder, check_methane(folder))
        check_service(f"{folder}/service")


main()
