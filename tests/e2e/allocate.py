#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Production that is handed out by what windows need: as much in all as even sampling, in rounds, shown as it goes. The service and
its worker killed at any moment change no byte; an extension and repeats are handed out likewise; who exchanges windows is refused.

Usage: allocate.py SHOAL SHOALD SHOAL_WORKER
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

import pair
from service import Service, until
from verdicts import beyond_chance

WINDOWS = (0, 0.03, 0.06, 0.4, 1)  # the first are too close: what they know of each other is cheap
BEFORE, SHARE, EVERY = 1000, 16000, 25  # steps

BOND = ((0.2, 500.0), (0.3, 1000.0))  # nm, kJ/mol/nm^2: it becomes longer and stiffer


def body(key, more=""):
    spec = pair.spec(WINDOWS, BEFORE, SHARE, EVERY, "1000 steps") + "allocate: adaptive\n"
    return {"spec": spec + more, "spec_name": "pair.yaml", "files": pair.files(BOND), "id": key}


def submit(s, key, more=""):
    status, answer = s.call("POST", "/v1/ensembles", body(key, more))
    assert status in (200, 201), answer
    return answer["id"]


def production(ensemble):
    return [r["steps"] - BEFORE for r in ensemble["replicas"]]


def events(s, ident, kind):
    status, data = s.raw("GET", f"/v1/ensembles/{ident}/events")
    assert status == 200
    return [e["message"] for e in map(json.loads, data.decode().splitlines()) if e["kind"] == kind]


def assert_handed_out(ensemble, share):
    """All of it, but for less than a sample's steps of every repeat; no window less than its floor."""
    given = production(ensemble)
    whole = share * len(given)
    assert whole - EVERY * ensemble["repeats"] < sum(given) <= whole, given
    assert min(given) >= share // 4 and all(n % EVERY == 0 for n in given), given
    assert abs(ensemble["allocate"]["handed_out"] * whole - sum(given)) < 1, ensemble["allocate"]
    assert [r["step"] for r in ensemble["replicas"]] == [r["steps"] for r in ensemble["replicas"]]
    return given


def undisturbed(program, s):
    ident = submit(s, "quiet")
    first = s.get(ident)
    assert production(first) == [SHARE // 4] * len(WINDOWS), first
    assert first["allocate"] == {"before": BEFORE, "share": SHARE, "handed_out": 0.25}, first["allocate"]
    seen = []
    ensemble = s.wait_done(ident, lambda e: seen.append((e["progress"], sum(production(e)))))
    assert [p for p, _ in seen] == sorted(p for p, _ in seen) and seen[-1][0] <= 1, "progress goes back"
    given = assert_handed_out(ensemble, SHARE)
    assert max(given) > min(given), given
    said = events(s, ident, "allocate")
    assert len(said) == 2 and said[0].startswith("50 % of production handed out: windows get 0."), said
    assert said[1].startswith("100 % of production handed out"), said
    found = s.outputs(ident)
    windows = json.loads(found["results"])["windows"]
    assert [w["samples"]["read"] for w in windows] == [n // EVERY + 1 for n in given], windows
    assert all(w["samples"]["variance"] >= 0 for w in windows), windows
    total = [x for x in json.loads(found["results"])["estimators"] if x["name"] == "MBAR"][0]["total"]["kT"]["error"]
    assert abs(sum(w["samples"]["variance"] for w in windows) / total ** 2 - 1) < 1e-3, (windows, total)
    status = s.shoal(program, "status", "quiet")
    assert "100 % of it handed out" in status and f"{given[0] / SHARE:.2f}" in status, status
    assert "error/%" in s.shoal(program, "results", "quiet")
    page = os.path.join(os.path.dirname(s.socket), "report.html")
    s.shoal(program, "report", "quiet", "-o", page)
    assert os.path.getsize(page) > 1000
    results = json.loads(found["results"])
    off = results["estimate"]["magnitude"] - pair.exact(BOND)
    assert abs(off) < 3 * results["uncertainty"]["magnitude"] and not beyond_chance(results["verdict"]), (off, results)
    return ident, found, given


def killed(s, expected):
    """kill -9 of the service or its worker at random moments, looks among them."""
    rng = random.Random(3)
    ident = submit(s, "killed")
    for k in range(12):
        time.sleep(rng.random() * 0.3)
        if k % 3 == 0:
            for pid in s.workers():
                with contextlib.suppress(ProcessLookupError):  # an estimator that has just ended
                    os.kill(pid, signal.SIGKILL)
        else:
            s.kill()
            s.start()
    s.wait_done(ident)
    found = s.outputs(ident)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one that was killed differs"
    assert len(events(s, ident, "allocate")) == 2


def longer(program, s, ident, given):
    s.shoal(program, "extend", "quiet", "--until", f"{SHARE + 3000} steps")
    ensemble = s.wait_done(ident)
    assert ensemble["revision"] == 2, ensemble
    more = assert_handed_out(ensemble, SHARE + 3000)
    assert all(b >= a for a, b in zip(given, more)), (given, more)
    status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?time=3%20fs&nearest=1")
    assert (status, answer["revision"], answer["state"]) == (200, 2, "done"), answer
    status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?until=10%20ps")
    assert status == 409 and "can only become longer" in answer["error"]["message"], answer


def repeated(s):
    """Repeats of a window get alike."""
    ensemble = s.wait_done(submit(s, "twice", "repeats: 2\n"))
    given = assert_handed_out(ensemble, SHARE)
    assert given[:len(WINDOWS)] == given[len(WINDOWS):] and max(given) > min(given), given


def several(program, s):
    """As much as two would get alike goes to the one that lacks it; the other gets a quarter of its part."""
    production = {"rough": 2000, "fine": SHARE}
    for name, share in production.items():
        spec = body(name)
        spec["spec"] = spec["spec"].replace("allocate: adaptive", "allocate: even").replace(f"time: {SHARE} steps", f"time: {share} steps")
        status, answer = s.call("POST", "/v1/ensembles", spec)
        assert status == 201 and answer["allocate"] is None, answer
        s.wait_done(answer["id"])
    assert json.loads(s.shoal(program, "extend", "rough", "fine", "--time", "8 ps", "--by-need", "--json"))["errors"] == []
    rough, fine = (s.wait_done(name) for name in ("rough", "fine"))
    assert rough["revision"] == fine["revision"] == 2
    assert {r["steps"] for r in rough["replicas"]} == {BEFORE + 2000 + 3500} and {r["steps"] for r in fine["replicas"]} == {BEFORE + SHARE + 500}
    run = subprocess.run([program, "extend", "rough", "fine", "--time", "800 steps", "--by-need"], env={**os.environ, "SHOAL_SOCKET": s.socket},
                         capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "--time 800 steps: expected, with --by-need, a time above 0 in fs, ps, ns or us" in run.stderr, run
    assert "a step of one may be longer than that of another" in run.stderr, run


def of_other_kinds(program, s):
    """Shares are whole timesteps of each, less than one is nothing; who has no number gets an even share, who failed nothing."""
    torn = ((0.2, 500.0), (0.9, 9000.0))
    kinds = {"long-step": (BOND, "4 fs"), "short-step": (BOND, "2 fs"), "no-overlap": (torn, "2 fs"), "fails": (((0.2, 5e6), (0.2, 6e6)), "4 fs")}
    for name, (bond, step) in kinds.items():
        windows = (0, 1) if bond is torn else WINDOWS
        spec = pair.spec(windows, 100, 4000, EVERY).replace("timestep: 4 fs", f"timestep: {step}").replace("retries: 100", "retries: 0")
        status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "pair.yaml", "files": pair.files(bond), "id": f"k.{name}",
                                                          "labels": {"of": "kinds"}})
        assert status == 201, answer
    ids = {name: wait_ended(s, f"k.{name}")["id"] for name in kinds}
    said = by_need(program, s, "25 ps", "--label", "of=kinds")
    assert f"k.fails ({ids['fails']}) has failed: it gets nothing" in said, said
    assert f"k.no-overlap ({ids['no-overlap']}) has no free energy yet" in said, said
    ended = {name: wait_ended(s, f"k.{name}") for name in kinds}
    assert {name: e["revision"] for name, e in ended.items()} == {"long-step": 2, "short-step": 2, "no-overlap": 2, "fails": 1}, ended
    more = {name: e["replicas"][0]["steps"] - 4100 for name, e in ended.items()}
    assert more["no-overlap"] == 12500, more
    assert abs(more["long-step"] * 4 + more["short-step"] * 2 - 50000) <= 3, more
    said = by_need(program, s, "3 fs", "k.long-step", "k.no-overlap")
    assert "nothing: 3 fs is less than a timestep" in said and "3 fs more for each window" in said, said
    assert [wait_ended(s, f"k.{name}")["revision"] for name in ("long-step", "no-overlap")] == [2, 3]
    assert "all of them have failed or were cancelled" in by_need(program, s, "1 ps", "k.fails", code=3)


def by_need(program, s, time_, *chosen, code=0):
    run = subprocess.run([program, "extend", *chosen, "--time", time_, "--by-need"], env={**os.environ, "SHOAL_SOCKET": s.socket},
                         capture_output=True, text=True, check=False)
    assert run.returncode == code, run
    return run.stderr


def wait_ended(s, key):
    return until(lambda: (ensemble := s.get(key))["state"] in ("done", "failed") and ensemble)


def refused(s):
    status, answer = s.call("POST", "/v1/ensembles", body("no", "exchange: {every: 50 steps}\n"))
    assert status == 422 and "expected even, or no exchange" in answer["error"]["message"], answer


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-allocate-")
    s = Service(shoald, worker, folder, "cpu:2")
    s.start()
    refused(s)
    ident, expected, given = undisturbed(program, s)
    killed(s, expected)
    longer(program, s, ident, given)
    repeated(s)
    several(program, s)
    of_other_kinds(program, s)
    assert s.stop() == 0
    shutil.rmtree(folder)
    print(f"{len(expected)} files as undisturbed; production of windows: {given}")


if __name__ == "__main__":
    main()
