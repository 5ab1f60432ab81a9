#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who runs where and when, with a worker that computes nothing (fake_worker.py).

Usage: scheduling.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import hashlib
import os
import struct
import subprocess
import sys
import time

import fake
from scenarios import ROOT, run, service
from service import until

NO_SPACE = 25  # of schemas/errors.def


def repeats():
    """Several replicas of every window, each in a folder of its own, also after a restart."""
    with service("repeats", slots=4, per_second=200) as s:
        ident = s.submit("r", windows=(0, 1), repeats=3)
        ensemble = s.get(ident)
        assert ensemble["windows"] == 2 and ensemble["repeats"] == 3, ensemble
        assert [(r["repeat"], r["window"]) for r in ensemble["replicas"]] == [(k, w) for k in range(3) for w in range(2)]
        until(lambda: any(s.steps(ident, w, k) for w in range(2) for k in range(3)))
        s.kill()
        s.start()
        assert {r["state"] for r in s.wait(ident)["replicas"]} == {"done"}
        for repeat in range(3):
            for window in range(2):
                assert s.steps(ident, window, repeat) == list(range(100)), (repeat, window)
        status, results = s.call("GET", f"/v1/ensembles/{ident}/results")
        assert status == 200 and results["ensemble"]["spec_hash"] == content_hash(
            fake.body_of("r", windows=(0, 1), repeats=3)), results
        told = {(e["repeat"], e["window"]) for e in s.events(ident) if e["kind"] == "replica" and e["state"] == "done"}
        assert len(told) == 6, told
        assert not os.path.exists(os.path.join(s.folder, "state/ensembles", ident, "lambda_00"))


def content_hash(body):
    """SHA-256 of all that was sent, each text after its length in eight bytes, files in the order of their names."""
    h = hashlib.sha256()
    for text in [body["spec"], *(part for name in sorted(body["files"]) for part in (name, body["files"][name]))]:
        data = text.encode()
        h.update(struct.pack("<Q", len(data)) + data)
    return h.hexdigest()


def protocol():
    """A worker of another version is not spoken to, and the log says why."""
    with service("protocol") as s:
        s.set_rules(protocol=1)
        os.kill(s.fakes()[0], 9)
        deadline = time.monotonic() + 20
        while "speaks protocol 1 of version fake, expected" not in s.log_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert s.call("GET", "/healthz/ready")[0] == 503
        s.set_rules()
        s.wait_ready()


def sick_device():
    """One of two devices crashes whatever is started on it: it is put aside, and nobody loses a retry to it."""
    sick = [{"device": "cpu:1", "do": "crash"}]
    with service("sick", "--device", "cpu:1", rules=sick, per_second=150) as s:
        idents = [s.submit(f"innocent{k}", retries=0, windows=(0, 0.3, 0.6, 1)) for k in range(4)]
        for ident in idents:
            ensemble = fake.assert_whole(s, ident)
            assert {r["attempt"] for r in ensemble["replicas"]} == {0}, ensemble
            assert {r["device"] for r in ensemble["replicas"]} == {"cpu"}, ensemble
        told = [e["message"] for ident in idents for e in s.events(ident) if e["kind"] == "device"]
        assert told and "cpu:1 is put aside after 3 crashes in a row (worker died of signal 11" in told[0], told
        device = s.call("GET", "/v1/version")[1]["devices"][1]
        assert device["state"] in ("sick", "down") and "signal 11" in device["trouble"], device
        # Mended, it is tried with one set, and then has its share again.
        s.set_rules(per_second=150)
        deadline = time.monotonic() + 60
        while s.call("GET", "/v1/version")[1]["devices"][1]["state"] != "up":
            assert time.monotonic() < deadline, s.call("GET", "/v1/version")
            fake.assert_whole(s, s.submit("probe", windows=(0, 0.3, 0.6, 1)))
        ensemble = fake.assert_whole(s, s.submit("after", windows=(0, 0.3, 0.6, 1)))
        assert {r["device"] for r in ensemble["replicas"]} == {"cpu", "cpu:1"}, ensemble


def poison_on_two_devices():
    """A window that kills every worker is found although each device is tried; the others do not suffer."""
    with service("poison2", "--device", "cpu:1", rules=[{"name": "bad", "window": 1, "at": 30, "do": "crash"}]) as s:
        bad, good = s.submit("bad", retries=0), s.submit("good", retries=0)
        fake.assert_whole(s, good)
        ensemble = s.wait(bad, seconds=60)
        assert [r["state"] for r in ensemble["replicas"]] == ["done", "failed", "done"], ensemble


def disk_full():
    """No space left: nothing is lost, no retry is used up, status and list say so, and all goes on by itself."""
    full = {"do": "fail", "code": NO_SPACE, "times": 3, "message": "write /state/lambda_00/dhdl.xvg: No space left on device"}
    with service("full", rules=[{"at": 30, **full}], per_second=200) as s:
        ident = s.submit("f", retries=0)
        deadline = time.monotonic() + 20
        while not s.get(ident)["reason"]:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for ensemble in (s.get(ident), s.call("GET", "/v1/ensembles")[1]["ensembles"][0]):
            assert ensemble["reason"] in (None, "waits for space on the disk: " + full["message"]), ensemble
        ensemble = fake.assert_whole(s, ident)
        assert ensemble["reason"] is None and {r["attempt"] for r in ensemble["replicas"]} == {0}, ensemble


def tmpfs_full():
    """The same with a real disk, as small as can be: also the results wait for space."""
    if os.geteuid() != 0:
        print("tmpfs_full: skipped, needs root to mount")
        return
    folder = os.path.join(ROOT, "tmpfs")
    os.makedirs(os.path.join(folder, "state"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "none", os.path.join(folder, "state")],
                      capture_output=True, check=False).returncode != 0:
        print("tmpfs_full: skipped, cannot mount a tmpfs here")
        return
    try:
        with service("tmpfs", per_second=50) as s:
            old = s.submit("old", windows=(0, 1), retries=0)
            s.wait(old)
            asleep = s.submit("asleep", windows=(0, 1), retries=0)
            assert s.call("POST", f"/v1/ensembles/{asleep}/pause")[0] == 200
            ident = s.submit("t", windows=(0, 1), retries=0)
            s.wait_steps(ident, 0, 1)
            ballast = os.path.join(folder, "state/ballast")
            with open(ballast, "wb", buffering=0) as f:
                try:
                    while f.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            deadline = time.monotonic() + 30
            while "waits for space" not in (s.get(ident)["reason"] or ""):
                assert time.monotonic() < deadline, s.get(ident)
                time.sleep(0.05)
            assert s.get(ident)["state"] in ("running", "finishing")
            time.sleep(3)  # it goes on waiting
            assert s.get(ident)["state"] in ("running", "finishing"), s.get(ident)
            for _ in range(100):  # more than fits into what the database has
                for what in ("resume", "pause"):
                    assert s.call("POST", f"/v1/ensembles/{asleep}/{what}")[0] == 200, what
            assert s.call("DELETE", f"/v1/ensembles/{old}")[0] == 200
            os.unlink(ballast)
            assert s.wait(ident)["state"] == "done", s.get(ident)
            assert s.raw("GET", f"/v1/ensembles/{ident}/results")[0] == 200
            s.stop()
    finally:
        subprocess.run(["umount", "-l", os.path.join(folder, "state")], check=False)


def fair_turns():
    """More users than slots, and one of them wants no checkpoint ever: everybody gets on within a few slices."""
    if os.geteuid() != 0:
        print("fair_turns: skipped, needs root to be somebody else")
        return
    with service("fair", "--slice-seconds", "1", slots=1, steps=100000, per_second=500, segment=10**9) as s:
        os.chmod(s.socket, 0o666)
        users = [21001, 21002, 21003]
        idents = []
        for uid in users:
            status, answer = fake.as_user(uid, lambda u=uid: s.call("POST", "/v1/ensembles", fake.body_of(f"of{u}")))
            assert status == 201, answer
            idents.append(answer["id"])
        begun = time.monotonic()
        while not all(any(s.steps(ident, w) for w in range(3)) for ident in idents):
            assert time.monotonic() - begun < 12, [[len(s.steps(i, w)) for w in range(3)] for i in idents]
            time.sleep(0.05)

        def queued():
            return [r["waits"] for ident in idents for r in s.get(ident)["replicas"] if r["state"] == "queued"]

        while len(waits := queued()) != 8 or not all(waits):  # a replica writes before the service has heard of it
            assert time.monotonic() - begun < 60, waits
            time.sleep(0.05)
        assert all(w["for"] in ("its turn", "others to make room") for w in waits), waits
        assert all(w["place"] >= 1 and w["expected_seconds"] >= 0 for w in waits), waits
        time.sleep(9)  # shares show over turns of a second
        done = [sum(len(s.steps(ident, w)) for w in range(3)) for ident in idents]
        assert min(done) > max(done) / 4, f"shares of three users: {done}"


def short_behind_long():
    """A short ensemble of the same user does not wait for the end of long ones."""
    with service("short", "--slice-seconds", "1", slots=2, steps=100000, per_second=500, segment=10**9) as s:
        long = s.submit("long", windows=(0, 0.3, 0.6, 1))
        s.wait_steps(long, 0, 1)
        s.set_rules(slots=2, steps=200, per_second=500)
        begun = time.monotonic()
        fake.assert_whole(s, s.submit("short", windows=(0, 1)), 200)
        assert time.monotonic() - begun < 12
        assert s.get(long)["state"] == "running"


def stuck():
    """One replica makes no step while others do: its worker is killed within the limit, and it alone is blamed."""
    rules = [{"window": 1, "at": 30, "times": 1, "do": "hang"}]
    with service("stuck", "--stall-seconds", "4", slots=4, steps=400, per_second=80, rules=rules) as s:
        ident = s.submit("s")
        ensemble = fake.assert_whole(s, ident, 400)
        assert "has made no step for 4 s" in s.log_text()
        told = [(e["window"], e["message"]) for e in s.events(ident) if e["kind"] == "replica" and e["message"]]
        assert told and all(w == 1 and "window 1 has made no step" in m for w, m in told), told
        assert {r["attempt"] for r in ensemble["replicas"]} == {0}, ensemble


def same_failure():
    """A failure that comes again at the same step: from the older checkpoint, with other noise, and an event says so."""
    rules = [{"window": 1, "at": 50, "salt": 0, "do": "fail", "message": "NaN in atom 7"}]
    with service("salt", rules=rules) as s:
        ident = s.submit("s", retries=2)
        fake.assert_whole(s, ident)
        told = [e["message"] for e in s.events(ident) if e["kind"] == "salt"]
        assert told == ["failed twice alike at step 50 (NaN in atom 7): tried from the older checkpoint with noise number 1"]
        s.set_rules(rules=[{"window": 1, "at": 50, "do": "fail", "message": "NaN in atom 7"}])
        ensemble = s.wait(s.submit("t", retries=2))
        assert ensemble["state"] == "failed" and ensemble["replicas"][1]["attempt"] == 3, ensemble


def other_model():
    """A device of another model: the event says that the numbers go on elsewhere."""
    with service("model", steps=4000, per_second=200, model="A") as s:
        ident = s.submit("m", windows=(0,))
        until(lambda: s.get(ident)["replicas"][0]["step"])
        s.set_rules(steps=4000, per_second=4000, model="B")
        s.stop()
        s.start()
        fake.assert_whole(s, ident, 4000)
        told = [e["message"] for e in s.events(ident) if e["kind"] == "model"]
        assert told == ["goes on on cpu (B) after cpu (A): its numbers differ in their last bits"], told


SCENARIOS = [repeats, protocol, sick_device, poison_on_two_devices, disk_full, tmpfs_full, fair_turns, short_behind_long,
             stuck, same_failure, other_model]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
