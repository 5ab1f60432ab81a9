#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ensemble that is extended after its end, and again on the way there with its service and worker killed, leaves the files of one
that was submitted with the longer time: byte for byte, and the same results. So does one that ended early, as its stop-when
had it, and is extended then.

Usage: extend_bits.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from service import Service
from tiny import tiny

FILES = ["dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"]
WINDOWS = (0, 0.5, 1)
FIRST, SECOND, WHOLE = 400, 610, 900  # steps of production; the second is no multiple of what is written


def submit(s, key, steps, windows=WINDOWS, more=""):
    spec, files = tiny("extended", seed=5, steps=steps, windows=windows, checkpoint="70 steps")
    spec += more
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "tiny.yaml", "files": files, "id": key})
    assert status in (200, 201), answer
    return answer["id"]


def get(s, ident):
    status, ensemble = s.call("GET", f"/v1/ensembles/{ident}")
    assert status == 200, ensemble
    return ensemble


def wait_done(s, ident):
    deadline = time.monotonic() + 120
    while (ensemble := get(s, ident))["state"] != "done":
        assert time.monotonic() < deadline and ensemble["state"] not in ("failed", "cancelled"), ensemble
        time.sleep(0.05)
    return ensemble


def outputs(s, ident):
    found = {}
    for window in range(get(s, ident)["windows"]):
        for name in FILES:
            status, found[f"{window}/{name}"] = s.raw("GET", f"/v1/ensembles/{ident}/files/lambda_{window:02d}/{name}")
            assert status == 200, (window, name)
    status, results = s.call("GET", f"/v1/ensembles/{ident}/results")
    assert status == 200, results
    for name in ("id", "key", "speed", "spec_hash", "revision"):  # what is its own
        del results["ensemble"][name]
    return {**found, "results": json.dumps(results)}


def shoal(program, s, *words):
    run = subprocess.run([program, *words], env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, (words, run.stdout, run.stderr)
    return run.stdout


def stopped_early(program, s):
    windows, stop = (0, 0.05), "stop-when: {error: 50 kJ/mol, verdict: any, after: 200 steps}\n"
    ident = submit(s, "early", 10000000, windows, stop)
    ensemble = wait_done(s, ident)
    assert ensemble["reason"].startswith("stopped early: the error is "), ensemble
    steps = [r["steps"] for r in ensemble["replicas"]]
    assert [r["step"] for r in ensemble["replicas"]] == steps and max(steps) < 10000000, ensemble
    found = outputs(s, ident)
    for window, n in enumerate(steps):
        last = found[f"{window}/dhdl.xvg"].splitlines()[-1].split()[0]
        assert abs(float(last) - (n - 500) // 20 * 20 * 2e-3) < 1e-3, (last, n)
        assert abs(float(found[f"{window}/confout.gro"].split(b"t= ")[1].split()[0]) - (n - 500) * 2e-3) < 1e-4, n
    until = max(steps) - 500 + 130
    shoal(program, s, "extend", "early", "--until", f"{until} steps")
    whole = submit(s, "late", until, windows)
    ensemble = wait_done(s, ident)
    assert ensemble["reason"] is None and ensemble["revision"] == 2, ensemble
    wait_done(s, whole)
    found, expected = outputs(s, ident), outputs(s, whole)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one that ended early differs"


def with_exchange(program, s):
    """The same of windows that exchange replicas, of which there are more than slots."""
    more = "exchange: {every: 40 steps}\n"
    short, whole = submit(s, "exchanging", FIRST // 2, more=more), submit(s, "exchanging-long", FIRST, more=more)
    wait_done(s, short)
    expected = (wait_done(s, whole), outputs(s, whole))[1]
    walks = json.loads(expected["results"])["exchange"]
    assert [w["exchanges"] for w in walks] == [FIRST // 40 - 1] and walks[0]["pairs"][0]["attempted"] > 0, walks
    shoal(program, s, "extend", "exchanging", "--until", f"{FIRST} steps")
    time.sleep(0.3)
    s.kill()
    s.start()
    wait_done(s, short)
    found = outputs(s, short)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of those that exchange differs"
    assert "round trips, eigenvalue" in shoal(program, s, "results", "exchanging")


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-extend-")
    s = Service(shoald, worker, folder, "cpu:2")
    s.command += ["--live-seconds", "1"]
    s.start()
    short, whole = submit(s, "short", FIRST), submit(s, "whole", WHOLE)
    wait_done(s, short)
    expected = (wait_done(s, whole), outputs(s, whole))[1]
    assert outputs(s, short)["0/dhdl.xvg"] == expected["0/dhdl.xvg"][:len(outputs(s, short)["0/dhdl.xvg"])]
    shoal(program, s, "extend", "short", "--time", f"{SECOND - FIRST} steps")
    time.sleep(random.Random(1).random())
    for pid in s.workers():
        os.kill(pid, signal.SIGKILL)
    shoal(program, s, "extend", "short", "--until", f"{WHOLE * 2e-3:.4g} ps")
    s.kill()
    s.start()
    ensemble = wait_done(s, short)
    assert ensemble["revision"] == 3 and {r["steps"] for r in ensemble["replicas"]} == {500 + WHOLE}, ensemble
    assert "revision 3: it was extended" in shoal(program, s, "status", "short")
    found = outputs(s, short)
    for name, data in expected.items():
        assert found[name] == data, f"{name} differs; see {folder}"
    assert submit(s, "short", FIRST) == short
    stopped_early(program, s)
    with_exchange(program, s)
    assert s.stop() == 0
    shutil.rmtree(folder)
    print(f"{len(expected)} files as in one go")


if __name__ == "__main__":
    main()
