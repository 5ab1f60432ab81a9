#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of worker and daemon at random moments: every acknowledged ensemble is there, goes on, and its final files are
byte for byte those of a run that nobody disturbed. An ensemble that blows up beside them fails alone, with its reason.

Usage: crash.py SHOALD SHOAL_WORKER [--device D] [--longer N] [--pace X]
--longer: N times as many steps, for a device on which they would be done before anything is killed. --pace: X times as long from
one kill to the next, for one that takes its time to open.
SHOAL_TEST_SEED: of the random moments (default 1); SHOAL_TEST_CRASH_ROUNDS: disturbed runs (default 1, a long test: 50).
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import tempfile
import time

from service import Gone, Service
from tiny import tiny

FILES = ["dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"]
ENDED = ("done", "failed", "cancelled")
BLOWS_UP = tiny("blows-up", seed=33, timestep="20 fs", windows=(0, 1), retries=1)
RUN_SECONDS = 300  # no run takes so long, unless something hangs


def ensembles(longer):
    """{name: spec and files}. Different seeds, ladders and lengths, so that nothing can be taken for something else. One makes
    its checkpoints by the clock, so at other steps in every run."""
    return {
        "one": tiny("one", seed=11, steps=1000 * longer, windows=(0, 0.5, 1), checkpoint=f"{100 * longer} steps"),
        "two": tiny("two", seed=22, steps=600 * longer, windows=(0, 0.3, 0.6, 1), checkpoint="0.1 s"),
    }


def submit(service, key, ensemble):
    """The ensemble's id once it is acknowledged; None when the service went away before it said so."""
    spec, files = ensemble
    try:
        status, answer = service.call("POST", "/v1/ensembles",
                                      {"spec": spec, "spec_name": "tiny.yaml", "files": files, "id": key})
    except Gone:
        return None
    assert status in (200, 201), answer
    return answer["id"]


def outputs(service, ident):
    """{path: bytes} of the final files of an ensemble."""
    status, ensemble = service.call("GET", f"/v1/ensembles/{ident}")
    assert status == 200 and ensemble["state"] == "done", ensemble
    found = {}
    for window in range(ensemble["windows"]):
        for name in FILES:
            path = f"lambda_{window:02d}/{name}"
            status, found[path] = service.raw("GET", f"/v1/ensembles/{ident}/files/{path}")
            assert status == 200 and found[path], f"{ident}/{path}: {status}"
    status, results = service.call("GET", f"/v1/ensembles/{ident}/results")
    assert status == 200 and results["ensemble"].pop("id") == ident, results  # drawn by the service
    for key in ("speed", "running"):  # of the clock
        results["ensemble"].pop(key)
    found["results.json"] = json.dumps(results)
    return found


def all_ended(service, idents):
    for ident in idents:
        status, ensemble = service.call("GET", f"/v1/ensembles/{ident}")
        assert status == 200, f"acknowledged ensemble {ident} is lost: {ensemble}"
        if ensemble["state"] not in ENDED:
            return False
    return True


def undisturbed(service, wanted):
    service.start()
    idents = {key: submit(service, key, ensemble) for key, ensemble in wanted.items()}
    deadline = time.monotonic() + RUN_SECONDS
    while not all_ended(service, idents.values()):
        assert time.monotonic() < deadline, "the undisturbed run hangs"
        time.sleep(0.1)
    found = {key: outputs(service, ident) for key, ident in idents.items()}
    assert service.stop() == 0
    return found


def disturb(service, rng):
    """Kills the daemon or a worker. Returns what was killed."""
    workers = service.workers()
    if workers and rng.random() < 0.5:
        with contextlib.suppress(ProcessLookupError):  # one that has just ended
            os.kill(rng.choice(workers), signal.SIGKILL)
            return "worker"
    service.kill()
    service.start(wait=rng.random() < 0.7)
    return "daemon"


def disturbed(service, wanted, rng, pace):
    """Runs the ensembles, and the one that blows up, under random kills. Returns {key: outputs} and what was killed."""
    service.start()
    idents, kills = {}, {"worker": 0, "daemon": 0}
    deadline = time.monotonic() + RUN_SECONDS
    while True:
        assert time.monotonic() < deadline, f"the disturbed run hangs after {kills}"
        for key, ensemble in wanted.items():
            if key not in idents:
                ident = submit(service, key, ensemble)
                if ident:
                    idents[key] = ident
                break
        time.sleep(rng.choice([0.02, 0.2, 0.5, 1.0]) * rng.random() * 2 * pace)
        try:
            if len(idents) == len(wanted) and all_ended(service, idents.values()) and all(kills.values()):
                break
        except Gone:
            pass
        kills[disturb(service, rng)] += 1
    return idents, kills


def check_blown_up(service, ident):
    _, ensemble = service.call("GET", f"/v1/ensembles/{ident}")
    assert ensemble["state"] == "failed", ensemble
    for replica in ensemble["replicas"]:
        assert replica["state"] == "failed" and replica["reason"], replica
    print("blown up, as it should:", ensemble["replicas"][0]["reason"])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald")
    options.add_argument("worker")
    options.add_argument("--device", default="cpu")
    options.add_argument("--longer", type=int, default=1)
    options.add_argument("--pace", type=float, default=1)
    o = options.parse_args()
    wanted = ensembles(o.longer)
    seed = int(os.environ.get("SHOAL_TEST_SEED", "1"))
    rounds = int(os.environ.get("SHOAL_TEST_CRASH_ROUNDS", "1"))
    folder = tempfile.mkdtemp(prefix="shoal-crash-")
    begun = time.monotonic()
    expected = undisturbed(Service(o.shoald, o.worker, os.path.join(folder, "undisturbed"), o.device), wanted)
    print(f"undisturbed: {time.monotonic() - begun:.1f} s, {sum(map(len, expected.values()))} files")
    for number in range(seed, seed + rounds):
        begun = time.monotonic()
        service = Service(o.shoald, o.worker, os.path.join(folder, f"disturbed{number}"), o.device)
        idents, kills = disturbed(service, dict(wanted, **{"blows-up": BLOWS_UP}), random.Random(number), o.pace)
        for key, files in expected.items():
            found = outputs(service, idents[key])
            for path, data in files.items():
                assert found[path] == data, f"seed {number}: {key}/{path} differs; see {folder}"
        check_blown_up(service, idents["blows-up"])
        assert service.stop() == 0
        print(f"seed {number}: {time.monotonic() - begun:.1f} s, killed {kills}: every byte as undisturbed")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
