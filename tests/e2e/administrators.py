#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What administrators see and do: the group that shoald.yaml names, beside root.

Usage: administrators.py SHOALD SHOAL [SCENARIO]...
"""
import json
import os
import signal
import subprocess
import sys

from fake import as_user, assert_whole, body_of
from scenarios import ROOT, run, service
from service import until

SHOAL = sys.argv[2]
ANN, BOB, ADMIN = 12345, 12346, 1  # the last is "daemon", whom every machine has, in a group of its own


def administered(name, *options, **rules):
    """A service that all may connect to, and that user 1 administrates."""
    path = os.path.join(ROOT, name + ".yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("admins: {group: daemon}\n")
    s = service(name, "--config", path, *options, **rules)
    start = s.start

    def start_open(wait=True):
        start(wait=False)
        s.wait_listening()
        os.chmod(s.socket, 0o666)
        if wait:
            s.wait_ready()
    s.start = start_open
    return s


def call(s, uid, method, path, body=None):
    return as_user(uid, lambda: s.call(method, path, body))


def submit(s, uid, name, **settings):
    status, answer = call(s, uid, "POST", "/v1/ensembles", body_of(name, **settings))
    assert status == 201, answer
    return answer["id"]


def refused(s, uid, method, path, status, *words, body=None):
    found, answer = call(s, uid, method, path, body)
    assert found == status and all(word in answer["error"]["message"] for word in words), (path, found, answer)


def shoal(s, uid, *words, code=0):
    """What the program prints for a user."""
    def said():
        done = subprocess.run([SHOAL, *words], env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    status, out, err = as_user(uid, said)
    assert status == code, (words, status, out, err)
    return out + err


def others():
    """Whose ensembles a list has, and who may act on them."""
    with administered("others", steps=100000, per_second=50, slots=2) as s:
        of_ann, of_admin = submit(s, ANN, "anns"), submit(s, ADMIN, "admins")

        def listed(uid, query=""):
            return {e["id"] for e in call(s, uid, "GET", "/v1/ensembles" + query)[1]["ensembles"]}
        assert listed(ADMIN) == {of_admin} and listed(0) == {of_ann, of_admin}
        assert listed(ADMIN, "?all_users=1") == {of_ann, of_admin}
        assert listed(ADMIN, f"?owner={ANN}") == {of_ann} and listed(0, "?owner=daemon") == {of_admin}
        assert listed(ANN, f"?owner={ANN}") == {of_ann}
        refused(s, ANN, "GET", "/v1/ensembles?all_users=1", 403, "only administrators may see what is other users'")
        refused(s, ANN, "GET", "/v1/ensembles?owner=daemon", 403, "only administrators")
        refused(s, ADMIN, "GET", "/v1/ensembles?owner=nobody-has-this-name", 404, "no user")
        assert call(s, BOB, "GET", f"/v1/ensembles/{of_ann}")[0] == 404
        assert of_ann in shoal(s, ADMIN, "list", "--owner", str(ANN)) and of_ann not in shoal(s, ADMIN, "list")
        table = shoal(s, ADMIN, "list", "--all-users")
        assert "owner" in table and of_ann in table and of_admin in table, table
        used = [line.split() for line in shoal(s, ADMIN, "du", "--all-users", "--plain", "-q").splitlines()]
        assert {(row[0], row[-1]) for row in used} == {(of_ann, str(ANN)), (of_admin, "daemon")}, used
        assert of_ann not in shoal(s, ADMIN, "du")
        assert "only administrators" in shoal(s, ANN, "list", "--all-users", code=77)
        assert shoal(s, ADMIN, "pause", "--all").split()[0] == "paused" and s.get(of_ann)["state"] != "paused"
        shoal(s, ADMIN, "cancel", "--owner", str(ANN), "-q")
        assert s.get(of_ann)["state"] == "cancelled" and s.get(of_admin)["state"] == "paused"
        acts = [e["message"] for e in s.events(of_ann) if e["kind"] == "administrator"]
        assert acts == ["cancelled by the administrator daemon"], acts
        assert not [e for e in s.events(of_admin) if e["kind"] == "administrator"]


def pauses():
    """An owner cannot undo an administrator's pause, whatever they try, also after a restart."""
    with administered("pauses", steps=1000, per_second=500) as s:
        ident = submit(s, ANN, "anns", windows=(0, 1))
        s.wait_steps(ident, 0)
        assert call(s, ADMIN, "POST", f"/v1/ensembles/{ident}/pause")[1]["reason"] == "paused by the administrator daemon"
        told = [(e["kind"], e["message"]) for e in s.events(ident)][-8:]
        assert ("ensemble", "paused by the administrator daemon") in told and ("administrator", "paused by the administrator daemon") in told, told
        s.kill()
        s.start()
        assert s.get(ident)["reason"] == "paused by the administrator daemon"
        why = f"ensemble {ident} was paused by the administrator daemon: ask daemon, or another administrator, to resume it"
        refused(s, ANN, "POST", f"/v1/ensembles/{ident}/resume", 403, why)
        assert why in shoal(s, ANN, "resume", ident, code=77)
        assert call(s, ANN, "POST", f"/v1/ensembles/{ident}/pause")[0] == 200
        assert call(s, ANN, "POST", f"/v1/ensembles/{ident}/cancel")[0] == 200
        refused(s, ANN, "POST", f"/v1/ensembles/{ident}/retry", 403, why)
        assert call(s, ADMIN, "POST", f"/v1/ensembles/{ident}/retry")[0] == 200
        assert_whole(s, ident, 1000)
        own = submit(s, ANN, "own", windows=(0, 1))
        for what in ("pause", "resume"):
            assert call(s, ANN, "POST", f"/v1/ensembles/{own}/{what}")[0] == 200
        assert_whole(s, own, 1000)


def drains():
    """A drained device is empty, what ran there ends elsewhere, and it stays drained through a restart."""
    def device(name, user=0):
        devices = call(s, user, "GET", "/v1/version")[1]["devices"]
        return next(d for d in devices if d["device"] == name)
    with administered("drains", "--device", "cpu:1", steps=1500, per_second=300, slots=3) as s:
        ident = submit(s, ANN, "anns", windows=(0, 0.2, 0.4, 0.6, 0.8, 1))
        until(lambda: device("cpu")["running"] + device("cpu:1")["running"] == 6)
        refused(s, ANN, "POST", "/v1/drain?device=cpu:1", 403, "only administrators may drain devices")
        refused(s, ADMIN, "POST", "/v1/drain?device=cpu:7", 404, 'no device "cpu:7"; there is cpu, cpu:1')
        for reason in (201 * "x", "a%0Ab"):
            refused(s, ADMIN, "POST", "/v1/drain?reason=" + reason, 400, "at most 200 bytes in one line")
        said = shoal(s, ADMIN, "drain", "cpu:1", "--reason", "the fan")
        assert "cpu up\ncpu:1 drained\n" in said, said
        until(lambda: device("cpu:1")["running"] == 0)
        drained = device("cpu:1")["drained"]
        assert (drained["by"], drained["reason"]) == ("daemon", "the fan") and device("cpu")["drained"] is None, drained
        for words in (("status", "--devices"), ("status",)):
            table = " ".join(shoal(s, ANN, *words).split())
            assert f"drained by daemon since {drained['since'][:19]}Z: the fan" in table, table
        assert "cpu:1 is drained by the administrator daemon: the fan" in [e["message"] for e in s.events(ident) if e["kind"] == "device"]
        s.kill()
        s.start()
        assert device("cpu:1")["drained"] == drained
        assert_whole(s, ident, 1500)
        assert {r["device"] for r in s.get(ident)["replicas"]} == {"cpu"}
        shoal(s, ADMIN, "drain", "--all", "-q")
        waits = submit(s, ANN, "waits", windows=(0, 1))
        until(lambda: "drained (daemon)" in ((s.get(waits)["replicas"][0]["waits"] or {}).get("for") or ""))
        assert s.get(waits)["replicas"][0]["waits"]["for"].startswith("an administrator to put a device back into use: cpu")
        assert "wants either devices" in shoal(s, ADMIN, "undrain", code=2)
        shoal(s, ADMIN, "undrain", "--all")
        assert_whole(s, waits, 1500)
        assert device("cpu")["drained"] is None and device("cpu:1")["drained"] is None
        assert 'act=drain uid=1 device=cpu:1 reason="the fan"' in s.log_text()


def quarantine():
    """Undraining lifts a quarantine: the mended device works at once."""
    with administered("quarantine", rules=[{"do": "crash"}], per_second=500) as s:
        ident = submit(s, ANN, "anns", windows=(0,), retries=0)
        until(lambda: s.call("GET", "/v1/version")[1]["devices"][0]["state"] == "sick" or s.get(ident)["state"] == "failed", 60)
        s.set_rules(per_second=500)
        status, answer = call(s, ADMIN, "POST", "/v1/undrain?device=cpu")
        assert status == 200 and answer["devices"][0]["trouble"] is None, answer
        assert_whole(s, submit(s, ANN, "after"))


def admission():
    """While admission is held administrators alone submit, and what is there goes on."""
    with administered("admission", steps=300, per_second=100) as s:
        ident = submit(s, ANN, "before", key="k")
        refused(s, ANN, "POST", "/v1/hold", 403, "only administrators may hold admission")
        assert "held" in shoal(s, ADMIN, "hold", "--reason", "new driver at noon")
        for _ in range(2):
            refused(s, ANN, "POST", "/v1/ensembles", 503, "admission is held by the administrator daemon: new driver at noon",
                    body=body_of("meanwhile"))
            assert "admission is held by daemon since" in shoal(s, ANN, "status")
            s.kill()
            s.start()
        status, answer = call(s, ANN, "POST", "/v1/ensembles", body_of("before", "k"))
        assert status == 200 and answer["id"] == ident, answer
        submit(s, ADMIN, "trial")
        refused(s, ANN, "POST", "/v1/release", 403)
        held = json.loads(shoal(s, ADMIN, "release", "--json", "-q"))["held"]
        assert held is None and call(s, ANN, "GET", "/v1/version")[1]["held"] is None
        submit(s, ANN, "after")
        assert_whole(s, ident, 300)


def reload():
    """Who administrates is read again at SIGHUP."""
    with administered("reload") as s:
        assert call(s, ADMIN, "POST", "/v1/hold")[0] == 200
        with open(os.path.join(ROOT, "reload.yaml"), "w", encoding="utf-8") as f:
            f.write("slice-seconds: 60\n")
        s.process.send_signal(signal.SIGHUP)
        until(lambda: "admins were daemon, are none" in s.log_text())
        refused(s, ADMIN, "POST", "/v1/release", 403, "only administrators may release admission")
        assert s.call("POST", "/v1/release")[0] == 200, "root administrates always"


def urgent():
    """An administrator's priority: it has the slots of another user at the next checkpoint, and is an administrator's to give."""
    with administered("urgent", "--slice-seconds", "1000", slots=2, steps=100000, per_second=100, segment=50) as s:
        of_bob = submit(s, BOB, "bobs", windows=(0, 0.5, 1))
        s.wait_steps(of_bob, 0, 1)
        s.set_rules(slots=2, steps=200, per_second=100, segment=50)
        ident = submit(s, ANN, "anns", windows=(0, 1))
        refused(s, ANN, "POST", f"/v1/ensembles/{ident}/priority?to=urgent", 403, "only administrators give the priority urgent")
        refused(s, ANN, "POST", "/v1/ensembles?priority=urgent", 403, "only administrators", body=body_of("more"))
        assert "queued" in shoal(s, ADMIN, "priority", ident, "--to", "urgent") or s.get(ident)["state"] == "running"
        assert s.get(ident)["priority"] == "urgent"
        assert_whole(s, ident, 200)
        told = [e["message"] for e in s.events(ident) if e["kind"] in ("priority", "administrator")]
        assert told == ["its priority is urgent", "given the priority urgent by the administrator daemon"], told
        status, answer = call(s, ADMIN, "POST", "/v1/ensembles?priority=urgent", body_of("first", windows=(0,)))
        assert status == 201 and answer["priority"] == "urgent", answer
        assert call(s, BOB, "POST", f"/v1/ensembles/{of_bob}/priority?to=high")[1]["priority"] == "high"


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("administrators: skipped, needs root to be several users")
    else:
        run([others, pauses, drains, quarantine, admission, reload, urgent], sys.argv[3:])
