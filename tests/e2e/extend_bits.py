#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ensemble that is extended after its end, and again on the way there with its service and worker killed, leaves the files of one
that was submitted with the longer time: byte for byte, and the same results. So does one that ended early, as its stop-when
had it, and is extended then.

Usage: extend_bits.py SHOAL SHOALD SHOAL_WORKER
"""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from service import Service, until
from tiny import tiny

WINDOWS = (0, 0.5, 1)
FIRST, SECOND, WHOLE = 400, 610, 900  # steps of production; the second is no multiple of what is written


def submit(s, key, steps, windows=WINDOWS, more=""):
    spec, files = tiny("extended", seed=5, steps=steps, windows=windows, checkpoint="70 steps")
    spec += more
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "tiny.yaml", "files": files, "id": key})
    assert status in (200, 201), answer
    return answer["id"]


def stopped_early(program, s):
    windows, stop = (0, 0.05), "stop-when: {error: 50 kJ/mol, verdict: any, after: 200 steps}\n"
    ident = submit(s, "early", 10000000, windows, stop)
    ensemble = s.wait_done(ident)
    assert ensemble["reason"].startswith("stopped early: the error is "), ensemble
    steps = [r["steps"] for r in ensemble["replicas"]]
    assert [r["step"] for r in ensemble["replicas"]] == steps and max(steps) < 10000000, ensemble
    found = s.outputs(ident)
    for window, n in enumerate(steps):
        last = found[f"{window}/dhdl.xvg"].splitlines()[-1].split()[0]
        assert abs(float(last) - (n - 500) // 20 * 20 * 2e-3) < 1e-3, (last, n)
        assert abs(float(found[f"{window}/confout.gro"].split(b"t= ")[1].split()[0]) - (n - 500) * 2e-3) < 1e-4, n
    until = max(steps) - 500 + 130
    s.shoal(program, "extend", "early", "--until", f"{until} steps")
    whole = submit(s, "late", until, windows)
    ensemble = s.wait_done(ident)
    assert ensemble["reason"] is None and ensemble["revision"] == 2, ensemble
    s.wait_done(whole)
    found, expected = s.outputs(ident), s.outputs(whole)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one that ended early differs"


def with_exchange(program, s):
    """The same of windows that exchange replicas, of which there are more than slots."""
    more = "exchange: {every: 40 steps}\n"
    short, whole = submit(s, "exchanging", FIRST // 2, more=more), submit(s, "exchanging-long", FIRST, more=more)
    s.wait_done(short)
    expected = (s.wait_done(whole), s.outputs(whole))[1]
    walks = json.loads(expected["results"])["exchange"]
    assert [w["exchanges"] for w in walks] == [FIRST // 40 - 1] and walks[0]["pairs"][0]["attempted"] > 0, walks
    s.shoal(program, "extend", "exchanging", "--until", f"{FIRST} steps")
    until(lambda: any(r["state"] == "running" for r in s.get(short)["replicas"]))
    s.kill()
    s.start()
    s.wait_done(short)
    found = s.outputs(short)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of those that exchange differs"
    assert "round trips, eigenvalue" in s.shoal(program, "results", "exchanging")


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-extend-")
    s = Service(shoald, worker, folder, "cpu:2")
    s.command += ["--live-seconds", "1"]
    s.start()
    short, whole = submit(s, "short", FIRST), submit(s, "whole", WHOLE)
    s.wait_done(short)
    expected = (s.wait_done(whole), s.outputs(whole))[1]
    assert s.outputs(short)["0/dhdl.xvg"] == expected["0/dhdl.xvg"][:len(s.outputs(short)["0/dhdl.xvg"])]
    s.shoal(program, "extend", "short", "--time", f"{SECOND - FIRST} steps")
    time.sleep(random.Random(1).random())  # workers die at any moment
    for pid in s.workers():
        with contextlib.suppress(ProcessLookupError):  # an estimator that has just ended
            os.kill(pid, signal.SIGKILL)
    longer = [program, "extend", "short", "--until", f"{WHOLE * 2e-3:.4g} ps"]
    while (code := subprocess.run(longer, env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, check=False).returncode) == 75:
        time.sleep(0.05)  # its results are being written
    assert code == 0, code
    s.kill()
    s.start()
    ensemble = s.wait_done(short)
    assert ensemble["revision"] == 3 and {r["steps"] for r in ensemble["replicas"]} == {500 + WHOLE}, ensemble
    assert "revision 3: it was extended" in s.shoal(program, "status", "short")
    found = s.outputs(short)
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
