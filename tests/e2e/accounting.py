#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was used: sums that agree with each other and with what the windows did, whatever happens to ensembles and to the service.

Usage: accounting.py SHOALD SHOAL [SCENARIO]...
"""
import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
import time

from fake import as_user, assert_whole, body_of
from scenarios import run, service
from service import until

SHOAL = sys.argv[2]
ANN, BOB = 12345, 12346
STEPS = 1500  # of each replica, as its spec says


def rows(s, by, query="", uid=None):
    def asked():
        return s.call("GET", f"/v1/accounting?by={by}{query}")
    status, answer = asked() if uid is None else as_user(uid, asked)
    assert status == 200, answer
    return answer["rows"]


def total(found, what):
    return sum(row[what] for row in found)


def alike(a, b):
    assert abs(a - b) <= 1e-6 * max(a, b, 1), (a, b)


def removed(s, ident):
    until(lambda: s.call("DELETE", f"/v1/ensembles/{ident}")[0] == 200, 20)


def shoal(s, *words):
    done = subprocess.run([SHOAL, "usage", *words], env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=True)
    return done.stdout


def sums():
    """Of users, ensembles, campaigns, devices and days; ensembles that were removed stay in them."""
    if os.geteuid() != 0:
        print("sums: skipped, needs root to be several users")
        return
    begun = time.monotonic()
    with service("sums", "--device", "cpu:1", steps=0, per_second=STEPS / 2, slots=2) as s:
        os.chmod(s.socket, 0o666)
        idents = {}
        for name, uid, labels in (("one", ANN, {"campaign": "net, of two"}), ("two", ANN, {"pilot": "net, of two"}), ("three", BOB, {})):
            status, answer = as_user(uid, lambda n=name, l=labels: s.call("POST", "/v1/ensembles", {**body_of(n), "labels": l}))
            assert status == 201, answer
            idents[name] = answer["id"]
        for ident in idents.values():
            assert_whole(s, ident, STEPS)
        wall = time.monotonic() - begun
        by_ensemble = {row["name"]: row for row in rows(s, "ensemble")}
        assert {name: row["id"] for name, row in by_ensemble.items()} == idents
        for name, row in by_ensemble.items():
            assert row["steps"] == sum(r["step"] for r in s.get(idents[name])["replicas"]) == 3 * STEPS, row
            alike(row["device_seconds"], s.get(idents[name])["device_seconds"])
            assert row["device"] is None and row["day"] is None and row["campaign"] == (None if name == "three" else "net, of two"), row
        by_device = {row["device"]: row for row in rows(s, "device")}
        assert set(by_device) == {"cpu", "cpu:1"} and all(0 < row["device_seconds"] < wall for row in by_device.values()), by_device
        assert total(by_device.values(), "device_seconds") > 9 * 2 / 2 * 0.9, by_device  # two slots of a device share its time
        by_user = {row["owner"]: row for row in rows(s, "user")}
        assert by_user[ANN]["steps"] == 6 * STEPS and by_user[BOB]["steps"] == 3 * STEPS and by_user[ANN]["user"] == str(ANN), by_user
        assert [(row["campaign"], row["steps"]) for row in rows(s, "campaign", uid=ANN)] == [("net, of two", 6 * STEPS)]
        days = rows(s, "day")
        assert days[-1]["day"] == time.strftime("%Y-%m-%d", time.gmtime()) or len(days) == 2, days
        assert all(row["energy_joules"] is None for by in ("user", "ensemble", "campaign", "device", "day") for row in rows(s, by))
        for what in ("device_seconds", "steps", "ns"):
            for by in ("user", "campaign", "device", "day"):
                alike(total(rows(s, by), what), total(by_ensemble.values(), what))
        alike(total(days, "ns"), 9 * STEPS * 2e-6)
        assert total(rows(s, "user", uid=BOB), "steps") == 3 * STEPS and len(rows(s, "ensemble", uid=ANN)) == 2
        assert as_user(BOB, lambda: s.call("GET", "/v1/accounting?all_users=1"))[0] == 403
        assert total(rows(s, "user", f"&owner={BOB}"), "steps") == 3 * STEPS
        assert s.call("GET", "/v1/accounting?by=colour")[0] == 400
        removed(s, idents["one"])
        assert s.stop() == 0
        s.start()
        alike(total(rows(s, "user"), "device_seconds"), total(by_ensemble.values(), "device_seconds"))
        assert {row["name"] for row in rows(s, "ensemble")} == {"one", "two", "three"}
        table = list(csv.reader(io.StringIO(shoal(s, "--by", "campaign", "--csv"))))
        assert table[0] == ["campaign", "user", "device_seconds", "steps", "ns", "energy_joules"] and ["net, of two", str(ANN)] in [r[:2] for r in table], table
        assert all(row[-1] == "" for row in table[1:]), table
        assert [line.split()[0] for line in shoal(s, "--by", "device", "-q").splitlines()][0] == "device"
        assert json.loads(shoal(s, "--json", "--since", "1d", "--owner", str(BOB)))["rows"][0]["steps"] == 3 * STEPS


def killed():
    """After every kill -9 what was counted is what checkpoints hold: nothing twice, nothing lost."""
    begun = time.monotonic()
    with service("killed", steps=0, per_second=STEPS / 3, segment=STEPS / 15, slots=3) as s:
        ident = s.submit("k")
        counted = 0
        for _ in range(4):
            until(lambda n=counted: total(rows(s, "ensemble"), "steps") > n)  # a checkpoint later
            s.kill()
            s.start()
            counted, held = total(rows(s, "ensemble"), "steps"), sum(r["step"] for r in s.get(ident)["replicas"])
            assert 0 < counted == held, (counted, held)
        assert_whole(s, ident, STEPS)
        (row,) = rows(s, "ensemble")
        assert row["steps"] == 3 * STEPS, row
        assert 3 * 0.9 < row["device_seconds"] < time.monotonic() - begun, row
        alike(row["device_seconds"], s.get(ident)["device_seconds"])


def joules(s):
    """Of each user of whom it is known."""
    return {row["owner"]: row["energy_joules"] for row in rows(s, "user") if row["energy_joules"] is not None}


def has_come(s, uid, energy):
    until(lambda: abs(joules(s).get(uid, 0) - energy) < 1e-6, 20, lambda: f"{joules(s)}, expected {uid}: {energy}")


def energy():
    """Of a device that three replicas of a user and one of another share, 3:1. What a counter that goes back, or is not there, and a service
    that is not there have missed is nobody's, and nothing counts twice."""
    if os.geteuid() != 0:
        print("energy: skipped, needs root to be several users")
        return
    with service("energy", steps=0, per_second=20, segment=2, slots=4) as s:
        os.chmod(s.socket, 0o666)
        idents = [as_user(uid, lambda w=windows: s.call("POST", "/v1/ensembles", body_of("e", windows=w)))[1]["id"]
                  for uid, windows in ((ANN, (0, 0.5, 0.9)), (BOB, (0,)))]

        def all_run():
            until(lambda: all(r["state"] == "running" and r["step"] for i in idents for r in s.get(i)["replicas"]), 20)

        def used(millijoules, ann, bob):
            s.set_energy(cpu=millijoules)
            has_come(s, ANN, ann)
            has_come(s, BOB, bob)
            for by in ("device", "day"):
                alike(total(rows(s, by), "energy_joules"), ann + bob)

        def passes(millijoules=None):
            """Nobody has more of it."""
            before = joules(s)
            s.set_energy(**({"cpu": millijoules} if millijoules else {}))
            steps = total(rows(s, "user"), "steps")
            until(lambda: total(rows(s, "user"), "steps") > steps + 8, 20)
            assert joules(s) == before, (joules(s), before)

        all_run()
        passes(1000000)  # the first reading
        assert not joules(s)
        used(5000000, 3000, 1000)
        passes(500)  # the driver was loaded again
        used(8500, 3006, 1002)
        passes()  # nothing is told
        passes(1000000)
        used(1400000, 3306, 1102)
        s.set_energy(cpu=1450000)
        s.kill()
        s.set_energy(cpu=9000000)
        s.start()
        os.chmod(s.socket, 0o666)
        all_run()
        before = joules(s)
        assert 3306 <= before[ANN] <= 3306 + 37.5 + 1e-6 and 1102 <= before[BOB] <= 1102 + 12.5 + 1e-6, before
        passes(600)  # once more: a reading while all of them run
        used(1000, before[ANN] + 0.3, before[BOB] + 0.1)
        for ident in idents:
            s.act(ident, "cancel")
        until(lambda: not any(r["state"] == "stopping" for i in idents for r in s.get(i)["replicas"]))
        removed(s, idents[0])
        s.set_energy(cpu=500000)  # nothing runs
        assert s.stop() == 0
        s.start()
        after = joules(s)
        alike(after[ANN], before[ANN] + 0.3)
        alike(after[BOB], before[BOB] + 0.1)


def added():
    """Windows go on from what they had sampled before others were added, also where the service was restarted in between: that counts once."""
    with service("added", steps=0, per_second=STEPS * 4, segment=STEPS // 15, slots=4) as s:
        ident = s.submit("a", windows=(0, 0.5))
        assert_whole(s, ident, STEPS)
        s.act(ident, "extend?time=100%20steps")
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] in ("paused", "done"))
        before = total(rows(s, "ensemble"), "steps")
        assert before >= 2 * STEPS
        until(lambda: s.call("POST", f"/v1/ensembles/{ident}/extend?windows=vdw:%200.25")[0] == 200)
        assert [r["step"] for r in s.get(ident)["replicas"]] == [0, 0, 0]
        s.kill()
        s.start()
        s.act(ident, "resume")
        assert_whole(s, ident, STEPS + 100)
        (row,) = rows(s, "ensemble")
        assert row["steps"] == 3 * (STEPS + 100), (row, before)
        alike(row["ns"], row["steps"] * 2e-6)


def trimmed():
    """What is older than --accounting-days goes."""
    with service("trimmed", "--accounting-days", "7") as s:
        s.wait(s.submit("t"))
        assert s.stop() == 0
        with sqlite3.connect(os.path.join(s.folder, "state/shoald.db")) as db:
            db.execute("INSERT INTO account SELECT ensemble, day - 8, device, uid, id, name, campaign, 7000, steps, ps, joules FROM account")
            db.execute("INSERT INTO account SELECT ensemble, day - 6, device, uid, id, name, campaign, 5000, steps, ps, joules FROM account"
                       " WHERE device_ms <> 7000")
        s.start()
        s.wait(s.submit("again"))
        found = [row["device_seconds"] for row in rows(s, "day", "&since=86400000")]
        assert len(found) == 2 and found[0] == 5 and found[1] < 5, found


if __name__ == "__main__":
    run([sums, killed, energy, added, trimmed], sys.argv[3:])
