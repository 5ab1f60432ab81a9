#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The log of shoald can be audited: each command of openapi.yaml that changes something leaves exactly one line that says who did what to
which ensemble, one that changes nothing leaves none, and every move of an ensemble leaves a line.

Usage: audit.py SHOALD OPENAPI.yaml [NAME...]    only the scenarios with one of the names
"""
import json
import os
import re
import sys

import yaml

import fake
from fake import body_of
from scenarios import run, service
from service import until

OPENAPI = sys.argv[2]
CHANGES_NOTHING = {("POST", "/v1/validate")}
ELSEWHERE = {("POST", "/v1/import")}  # archives.py
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)')


def commands():
    """(method, path) of all that may change something."""
    with open(OPENAPI, encoding="utf-8") as f:
        paths = yaml.safe_load(f)["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods
            if method in ("post", "put", "patch", "delete")} - CHANGES_NOTHING - ELSEWHERE


def fields(line):
    return {name: json.loads(value) if value.startswith('"') else value for name, value in FIELD.findall(line)}


def lines(s, word):
    """Fields of the lines that begin with `word`."""
    return [fields(line) for line in s.log_text().splitlines() if re.match(rf"\S+ info shoald: {word}=", line)]


def paused(s):
    ident = s.submit("audit", windows=(0, 1))
    s.act(ident, "pause")
    return ident


def ended(s):
    ident = s.submit("audit", windows=(0, 1))
    s.act(ident, "cancel")
    return ident


def done(s):
    s.set_rules(per_second=5000)
    ident = s.submit("audit", windows=(0, 1))
    s.wait(ident, "done")
    s.set_rules(per_second=50)
    return ident


def running(s):
    ident = s.submit("audit", windows=(0, 1))
    s.wait(ident, "running")
    return ident


# How each is done with success: what makes its ensemble, what stands behind its path, its body, and what the line has more.
TRIES = {
    ("POST", "/v1/ensembles"): (None, "?priority=low", lambda: body_of("audit", "key"), {"act": "submit", "priority": "low", "key": "key"}),
    ("POST", "/v1/drain"): (None, "?device=cpu&reason=the%20fan", None, {"act": "drain", "device": "cpu", "reason": "the fan"}),
    ("POST", "/v1/undrain"): (None, "?device=cpu", None, {"act": "undrain", "device": "cpu"}),
    ("POST", "/v1/hold"): (None, "?reason=noon", None, {"act": "hold", "reason": "noon"}),
    ("POST", "/v1/release"): (None, "", None, {"act": "release"}),
    ("DELETE", "/v1/ensembles/{id}"): (ended, "", None, {"act": "remove"}),
    ("POST", "/v1/ensembles/{id}/cancel"): (running, "", None, {"act": "cancel"}),
    ("POST", "/v1/ensembles/{id}/pause"): (running, "", None, {"act": "pause"}),
    ("POST", "/v1/ensembles/{id}/resume"): (paused, "", None, {"act": "resume"}),
    ("POST", "/v1/ensembles/{id}/retry"): (ended, "", None, {"act": "retry"}),
    ("POST", "/v1/ensembles/{id}/priority"): (running, "?to=high", None, {"act": "priority", "to": "high"}),
    ("POST", "/v1/ensembles/{id}/move"): (running, "?to=cpu", None, {"act": "move", "to": "cpu"}),
    ("POST", "/v1/ensembles/{id}/reestimate"): (done, "", None, {"act": "reestimate"}),
    ("POST", "/v1/ensembles/{id}/extend"): (running, "?until=20%20ps", None, {"act": "extend", "until": "20 ps"}),
}


def each_command():
    assert commands() == set(TRIES), f"tried and described differ: {commands() ^ set(TRIES)}"
    with service("each", per_second=50, slots=40) as s:
        for (method, path), (make, rest, body, more) in TRIES.items():
            ident = make(s) if make else None
            begin = len(lines(s, "act"))
            def call():  # 409: it is still stopping
                status, answer = s.call(method, path.replace("{id}", ident or "") + rest, body and body())
                return status != 409 and (status, answer)
            status, answer = until(call, seconds=20)
            assert status in (200, 201), (method, path, status, answer)
            until(lambda n=begin: len(lines(s, "act")) > n)
            found = lines(s, "act")[begin:]
            about = {"owner": str(os.geteuid()), "ensemble": answer["id"], "name": "audit"} if "/ensembles" in path else {}
            wanted = {"uid": str(os.geteuid()), **about, **more}
            assert found == [wanted], (method, path, found, wanted)


def nothing_changed():
    with service("nothing", per_second=50) as s:
        ident = s.submit("a", key="key")
        s.wait(ident, "running")
        begin = len(lines(s, "act"))
        assert begin == 1
        assert s.call("POST", "/v1/validate", body_of("b"))[0] == 200
        assert s.call("POST", "/v1/ensembles", body_of("a", "key"))[0] == 200  # it was there
        assert s.call("POST", "/v1/ensembles", body_of("c", "key"))[0] == 409
        assert s.call("POST", f"/v1/ensembles/{ident}/retry")[0] == 409
        assert s.call("DELETE", f"/v1/ensembles/{ident}")[0] == 409
        assert s.call("POST", f"/v1/ensembles/{ident}/priority?to=most")[0] == 400
        assert s.call("POST", f"/v1/ensembles/{ident}/extend?until=soon")[0] >= 400
        for path in ("/v1/ensembles", f"/v1/ensembles/{ident}", f"/v1/ensembles/{ident}/events", "/v1/usage", "/metrics"):
            assert s.raw("GET", path)[0] == 200
        assert len(lines(s, "act")) == begin


def moves():
    """As the events have them."""
    with service("moves", per_second=200, rules=[{"window": 0, "do": "fail", "code": 4, "message": 'line "1"\nline = 2'}]) as s:
        ident = s.submit("m", windows=(0, 1))
        s.wait(ident, "running")
        s.act(ident, "pause")
        s.act(ident, "resume")
        assert s.wait(ident)["state"] == "failed"
        states = [e["state"] for e in s.events(ident) if e["kind"] == "ensemble"]
        found = lines(s, "move")
        assert [f["move"] for f in found] == states and states[:3] == ["queued", "running", "paused"], (found, states)
        assert [f.get("from") for f in found] == [None, *states[:-1]]
        assert all(f["ensemble"] == ident and f["name"] == "m" and f["owner"] == str(os.geteuid()) for f in found)
        assert 'line "1"' in found[-1]["reason"] and s.log_text().count("shoald: move=") == len(states), found[-1]


def administrators():
    if os.geteuid() != 0:
        print("administrators: skipped, needs root to be two users")
        return
    with service("admin", "--group", "daemon", per_second=50) as s:
        ident = fake.as_user(1, lambda: s.call("POST", "/v1/ensembles", body_of("theirs")))[1]["id"]
        s.act(ident, "cancel")
        found = lines(s, "act")
        assert [(f["act"], f["uid"], f["owner"], f["ensemble"]) for f in found] == [("submit", "1", "1", ident), ("cancel", "0", "1", ident)], found


def as_json():
    with service("json", "--log", "json", per_second=2000) as s:
        ident = s.submit("j", key="key")
        s.wait(ident)
        assert s.stop() == 0
        found = [json.loads(line) for line in s.log_text().splitlines()]
    assert len(found) > 5 and all({"time", "level", "program"} <= set(f) and f["program"] == "shoald" for f in found)
    act, = [f for f in found if "act" in f]
    assert {**act, "time": 0} == {"time": 0, "level": "info", "program": "shoald", "act": "submit", "uid": os.geteuid(), "ensemble": ident,
                                 "owner": os.geteuid(), "name": "j", "key": "key"}, act
    assert [f["move"] for f in found if "move" in f][-1] == "done" and any(f.get("message", "").startswith("listening socket=") for f in found)


if __name__ == "__main__":
    run([each_command, nothing_changed, moves, administrators, as_json], sys.argv[3:])
