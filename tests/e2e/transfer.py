#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ensemble that is exported half way and imported into another service ends there with the files of one that nobody disturbed, byte
for byte, with its past; one that has ended has its results there, and goes on as it would have.

Usage: transfer.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from service import Service, until
from tiny import tiny

WINDOWS = (0, 0.5, 1)
SHORT, WHOLE = 160, 320  # steps of production
EXCHANGE = "exchange: {every: 40 steps}\n"


def submit(s, key, steps, more=""):
    spec, files = tiny("moved", seed=7, steps=steps, windows=WINDOWS, checkpoint="50 steps")
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec + more, "spec_name": "tiny.yaml", "files": files, "id": key,
                                                      "labels": {"project": "moves"}})
    assert status == 201, answer
    return answer["id"]


def refused(s, program, code, *words):
    run = subprocess.run([program, *words], env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=False)
    assert run.returncode == code, (words, run)
    return run.stderr


def pause_half_way(program, s, ident):
    """Paused when a window has a checkpoint of its production and not all have come to their ends."""
    until(lambda: max(r["step"] for r in s.get(ident)["replicas"]) >= 500 + SHORT // 3)
    assert "pause it first" in refused(s, program, 3, "export", ident, "-o", "no")
    s.shoal(program, "pause", ident)
    steps = [r["step"] for r in s.get(ident)["replicas"]]
    assert min(steps) < 500 + WHOLE, steps


def events_of(s, ident):
    status, data = s.raw("GET", f"/v1/ensembles/{ident}/events")
    assert status == 200
    told = [json.loads(line) for line in data.decode().splitlines()]
    return [{k: v for k, v in event.items() if k != "ensemble"} for event in told]


def hold_past(first, second, ident):
    """Its events came along, with their times, and then what was done to it."""
    there, here = events_of(first, ident), events_of(second, ident)
    known = [{k: v for k, v in e.items() if k != "seq"} for e in there if e["kind"] != "export"]
    came = [{k: v for k, v in e.items() if k != "seq"} for e in here[:len(known)]]
    assert came == known, [(a, b) for a, b in zip(came, known) if a != b]
    assert here[len(known)]["kind"] == "import" and "imported by" in here[len(known)]["message"], here[len(known)]
    assert any(e["kind"] == "export" for e in there)
    assert [e["seq"] for e in here] == sorted(e["seq"] for e in here)


def moved(program, first, second, ident, folder):
    """Over a pipe, as between two nodes."""
    archive = os.path.join(folder, ident + ".tar.zst")
    pause_half_way(program, first, ident)
    first.shoal(program, "export", ident, "--output", archive)
    before = first.get(ident)
    said = json.loads(second.shoal(program, "import-ensemble", archive, "--json"))
    assert (said["id"], said["state"], said["key"], said["labels"]) == (ident, "paused", before["key"], {"project": "moves"}), said
    after = second.get(ident)
    for name in ("created", "name", "windows", "revision"):
        assert after[name] == before[name], name
    kept = ("window", "repeat", "state", "step", "steps", "stage")
    assert [[r[k] for k in kept] for r in after["replicas"]] == [[r[k] for k in kept] for r in before["replicas"]]
    hold_past(first, second, ident)
    assert "is here already" in refused(second, program, 3, "import-ensemble", archive)
    second.shoal(program, "resume", ident)
    second.wait_done(ident)
    used = json.loads(second.shoal(program, "usage", "--by", "ensemble", "--json"))["rows"]
    left = sum(r["steps"] - r["step"] for r in before["replicas"])
    assert [row["steps"] for row in used if row["id"] == ident] == [left], (used, left)
    first.shoal(program, "cancel", ident)
    first.shoal(program, "rm", ident)
    return second.outputs(ident)


def ended(program, first, second, ident):
    """One with a window that was added, through standard output and standard input, whose length nobody knows."""
    first.shoal(program, "extend", ident, "--add-window", "vdw: 0.25", "--yes")
    first.wait_done(ident)
    whole = first.outputs(ident)
    archive = subprocess.run([program, "export", ident, "-o", "-"], env={**os.environ, "SHOAL_SOCKET": first.socket}, capture_output=True,
                             check=True).stdout
    run = subprocess.run([program, "import-ensemble", "-"], env={**os.environ, "SHOAL_SOCKET": second.socket}, input=archive,
                         capture_output=True, check=True)
    assert run.stdout.decode() == ident + "\n", run
    assert second.get(ident)["state"] == "done" and second.outputs(ident) == whole
    for s in (first, second):
        s.shoal(program, "extend", ident, "--time", "60 steps")
        s.wait_done(ident)
    for name, data in first.outputs(ident).items():
        assert second.outputs(ident)[name] == data, f"{name} of the one that was extended there differs"


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-move-")
    first, second = (Service(shoald, worker, os.path.join(folder, name), "cpu:2") for name in ("first", "second"))
    first.start()
    second.start()
    for more in (EXCHANGE, ""):
        expected = submit(first, f"whole{len(more)}", WHOLE, more)
        first.wait_done(expected)
        half = submit(first, f"half{len(more)}", SHORT, more)
        first.shoal(program, "extend", half, "--until", f"{WHOLE} steps")
        found, whole = moved(program, first, second, half, folder), first.outputs(expected)
        assert sorted(found) == sorted(whole)
        for name, data in whole.items():
            assert found[name] == data, f"{name} of the moved one differs; see {folder}"
        print(f"{len(whole)} files as of one that stayed", flush=True)
    ended(program, first, second, expected)
    second.kill()
    second.start()
    assert second.get(half)["state"] == "done" and second.get(expected)["revision"] == 3
    assert os.listdir(os.path.join(folder, "second/state/imports")) == []
    assert first.stop() == 0 and second.stop() == 0
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
