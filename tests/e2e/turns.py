#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows that take turns on few slots: a number stands there early, and the files are those of windows that ran without a break.

Usage: turns.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import shutil
import sys
import tempfile
import time

from service import Service
from tiny import tiny

WINDOWS = (0, 0.5, 0.8, 1)
STEPS = 10000
SHOWN = 0.5  # of all steps, by which there is a number; without turns there is none before 0.75


def submit(s):
    spec, files = tiny("turns", seed=11, steps=STEPS, windows=WINDOWS, checkpoint="1 h")
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "tiny.yaml", "files": files})
    assert status == 201, answer
    return answer["id"]


def starts(s, ident):
    """Of each window."""
    status, data = s.raw("GET", f"/v1/ensembles/{ident}/events?since=0")
    assert status == 200, data
    events = [e for e in map(json.loads, data.decode().splitlines()) if e["kind"] == "replica" and e["state"] == "running"]
    return [sum(e["window"] == k for e in events) for k in range(len(WINDOWS))]


def until_number(s, ident):
    """The ensemble as it is when it first has a free energy."""
    deadline = time.monotonic() + 200
    while not ((ensemble := s.get(ident))["estimate"] or {}).get("value"):
        assert time.monotonic() < deadline and ensemble["state"] in ("queued", "running"), ensemble
        time.sleep(0.1)
    return ensemble


def in_turns(program, s):
    """The files, of one slot for all."""
    s.command += ["--slots", "1", "--slice-seconds", "1", "--live-seconds", "1"]
    s.start()
    ident = submit(s)
    ensemble = until_number(s, ident)
    assert ensemble["progress"] < SHOWN and not any(r["state"] == "done" for r in ensemble["replicas"]), ensemble
    text = s.shoal(program, "status", ident)
    assert "so far " in text and "no free energy" not in text and "kcal/mol" in text, text
    s.wait_done(ident)
    assert min(starts(s, ident)) > 1, starts(s, ident)
    return s.outputs(ident)


def without(s):
    """The files, of a slot for each."""
    s.command += ["--slots", str(len(WINDOWS)), "--slice-seconds", "1"]
    s.start()
    ident = submit(s)
    s.wait_done(ident)
    assert starts(s, ident) == [1] * len(WINDOWS), starts(s, ident)
    return s.outputs(ident)


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-turns-")
    first, second = (Service(shoald, worker, os.path.join(folder, name), device)
                     for name, device in (("turns", "cpu:1"), ("all", "cpu:2")))
    try:
        found = in_turns(program, first)
        first.stop()
        expected = without(second)
        for name, data in expected.items():
            assert found[name] == data, f"{name} of windows that took turns differs"
        second.stop()
    finally:
        for s in (first, second):
            if s.process and s.process.poll() is None:
                s.process.kill()
                s.process.wait()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
