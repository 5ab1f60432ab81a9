#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extensions and retries: ensembles that have ended, run, wait or lack a window go on to a later target, and nothing is lost or doubled.

Usage: extend.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import json
import os
import random
import sys
import threading
import time
import urllib.parse

from fake import assert_whole, body_of
from scenarios import run, service
from service import Gone


def extend(s, ident, expect=200, **how):
    return s.act(ident, "extend?" + urllib.parse.urlencode(how), expect)


def kinds(s, ident):
    return [e["kind"] for e in s.events(ident)]


def done_goes_on():
    """By so much and to so much; what was submitted stays the same ensemble, results are of the newest revision."""
    with service("done") as s:
        ident = s.submit("d", key="mine")
        first = assert_whole(s, ident)
        assert first["revision"] == 1 and {r["steps"] for r in first["replicas"]} == {1500}, first
        path = os.path.join(s.folder, "state/ensembles", ident, "results.json")
        with open(path, encoding="utf-8") as f:
            assert json.load(f)["ensemble"]["revision"] == 1
        s.set_rules(per_second=20)
        second = extend(s, ident, time="40 steps")
        assert second["revision"] == 2 and second["state"] == "queued" and second["progress"] < 1, second
        assert s.call("GET", f"/v1/ensembles/{ident}/results")[0] == 409
        deadline = time.monotonic() + 20
        while len(s.steps(ident, 0)) <= 100:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not os.path.exists(path), "results of the first end"
        s.set_rules()
        second = assert_whole(s, ident, 140)
        assert second["revision"] == 2 and {r["steps"] for r in second["replicas"]} == {1540}, second
        with open(path, encoding="utf-8") as f:
            assert json.load(f)["ensemble"]["revision"] == 2
        extend(s, ident, until="2.12 ps")  # 1060 steps of production
        third = assert_whole(s, ident, 160)
        assert third["revision"] == 3, third
        again = extend(s, ident, until="1060 steps")
        assert again["revision"] == 3 and again["state"] == "done", again
        said = [e["message"] for e in s.events(ident) if e["kind"] == "extend"]
        assert said == ["revision 2: production longer by 40 steps", "revision 3: production of 2.12 ps"], said
        status, same = s.call("POST", "/v1/ensembles", body_of("d", "mine"))
        assert status == 200 and same["id"] == ident and same["revision"] == 3, same
        assert s.stop() == 0
        s.start()
        assert s.get(ident)["revision"] == 3


def on_the_way():
    """Running, waiting and paused replicas take a later target up; one that reaches the earlier one meanwhile goes on."""
    with service("running", per_second=25) as s:
        ident = s.submit("r", windows=(0, 0.3, 0.6, 0.9))
        s.wait_steps(ident, 0, 1)
        changed = extend(s, ident, time="30 steps")
        assert changed["state"] == "running" and changed["revision"] == 2, changed
        s.wait_replicas(ident, lambda r: r["window"] > 1 or r["step"] > 20)
        extend(s, ident, time="30 steps")
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        paused = extend(s, ident, time="30 steps")
        assert paused["state"] == "paused" and {r["state"] for r in paused["replicas"]} == {"paused"}, paused
        s.set_rules()
        s.act(ident, "resume")
        ensemble = assert_whole(s, ident, 190)
        assert ensemble["revision"] == 4, ensemble
        # Some are done, others run.
        s.set_rules(per_second=50)
        ident = s.submit("half")
        deadline = time.monotonic() + 20
        while s.get(ident)["done"] not in (1, 2):
            assert time.monotonic() < deadline, s.get(ident)
            time.sleep(0.01)
        assert extend(s, ident, time="10 steps")["done"] == 0
        assert_whole(s, ident, 110)


def lacking_a_window():
    """Those that are done go on; the failed one takes its target up when it is retried."""
    with service("lacking", rules=[{"window": 1, "at": 50, "do": "fail", "code": 4}]) as s:
        ident = s.submit("l")
        assert s.wait(ident)["state"] == "failed"
        extended = extend(s, ident, time="25 steps")
        assert [r["state"] for r in extended["replicas"]] == ["queued", "failed", "queued"], extended
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and ensemble["reason"].startswith("1 of 3 windows failed"), ensemble
        assert [len(s.steps(ident, k)) for k in range(3)] == [125, 50, 125]
        assert {r["steps"] for r in ensemble["replicas"]} == {1525}
        s.set_rules()
        s.act(ident, "retry")
        assert_whole(s, ident, 125)


def retried_alone():
    """One failed window of two, while the others go on and when they are done; a paused ensemble's wait until it is resumed."""
    with service("alone", "--slots", "3", per_second=15, rules=[{"window": k, "at": 30, "do": "fail", "code": 4} for k in (0, 1)]) as s:
        ident = s.submit("a")
        s.wait_replicas(ident, lambda r: r["state"] == "failed" or r["window"] == 2)
        assert "has not failed" in s.act(ident, "retry?window=2", 409)["error"]["message"]
        assert "has windows 0 to 2" in s.act(ident, "retry?window=3", 400)["error"]["message"]
        s.set_rules(per_second=60)
        retried = s.act(ident, "retry?window=1")
        assert retried["state"] == "running" and [r["state"] for r in retried["replicas"]][0] == "failed", retried
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and [r["state"] for r in ensemble["replicas"]] == ["failed", "done", "done"], ensemble
        before = os.stat(os.path.join(s.folder, "state/ensembles", ident, "lambda_02/steps")).st_mtime_ns
        assert s.act(ident, "retry?window=0")["state"] == "queued"
        assert_whole(s, ident)
        assert os.stat(os.path.join(s.folder, "state/ensembles", ident, "lambda_02/steps")).st_mtime_ns == before, "run again"
        s.set_rules(per_second=15, rules=[{"window": 0, "at": 30, "do": "fail", "code": 4}])
        ident = s.submit("p")
        s.wait_replicas(ident, lambda r: r["state"] == "failed" or r["window"] > 0)
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] in ("failed", "paused"))
        s.set_rules()
        assert {r["state"] for r in s.act(ident, "retry")["replicas"]} == {"paused"}
        s.act(ident, "retry", 409)
        s.act(ident, "resume")
        assert_whole(s, ident)


def refused():
    with service("refused", per_second=50) as s:
        ident = s.submit("x")
        for how in ({}, {"time": "1 ns", "until": "2 ns"}, {"time": "2"}, {"time": "1 nm"}, {"time": "-1 ps"}, {"until": "0 ps"},
                    {"time": "3 fs"}, {"time": "1e30 ps"}, {"time": ""}, {"times": "1 ps"}):
            error = extend(s, ident, 400, **how)["error"]
            assert error["code"] == "USAGE", (how, error)
        error = extend(s, ident, 409, until="1 ps")["error"]
        assert "production of 1 ps: window 0 is to make 1500 steps over all stages, of which that would be 1000" in error["message"], error
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        assert extend(s, ident, 409, time="1 ps")["error"]["code"] == "CONFLICT"
        assert s.get(ident)["revision"] == 1 and "extend" not in kinds(s, ident)
        body = body_of("minimizes-last")
        body["spec"] = body["spec"].replace("\nrun:", "\n  - minimize: {steps: 5}\nrun:")
        status, last = s.call("POST", "/v1/ensembles", body)
        assert status == 201, last
        assert "does not produce" in extend(s, last["id"], 409, time="1 ps")["error"]["message"]


def nearest():
    """A time that need not be whole timesteps: the nearest number of them is added, of less than one none."""
    with service("nearest") as s:
        ident = s.submit("n")
        assert_whole(s, ident)
        for time_, steps, revision in (("3.1 fs", 2, 2), ("1.9 fs", 2, 2), ("41 fs", 22, 3)):
            ensemble = extend(s, ident, time=time_, nearest=1)
            assert ensemble["revision"] == revision, (time_, ensemble)
            assert_whole(s, ident, 100 + steps)
        said = [e["message"] for e in s.events(ident) if e["kind"] == "extend"]
        assert said == ["revision 2: production longer by 2 steps", "revision 3: production longer by 20 steps"], said
        extend(s, ident, 400, time="3 fs", nearest=0)
        extend(s, ident, 400, time="3 ft", nearest=1)
        assert "nearest only with time" in extend(s, ident, 400, until="3 fs", nearest=1)["error"]["message"]


def killed():
    """kill -9 at any moment of an extension, which is asked for again until it is answered: it is there once, whole."""
    rng = random.Random(7)
    with service("killed", slots=3) as s:
        ident = s.submit("k")
        assert_whole(s, ident)
        for revision in range(2, 8):
            until = f"{1000 + 20 * (revision - 1)} steps"
            answered = False
            while not answered:
                killer = threading.Timer(rng.random() * 0.03, s.kill)
                killer.start()
                try:
                    status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?" + urllib.parse.urlencode({"until": until}))
                    assert status in (200, 503), answer  # 503: it was extended unanswered, and writes its results already
                    answered = status == 200
                except Gone:
                    pass
                killer.join()
                s.start()
                ensemble = s.get(ident)
                assert ensemble["revision"] in ((revision,) if answered else (revision - 1, revision)), (revision, ensemble)
                assert len({r["steps"] for r in ensemble["replicas"]}) == 1, ensemble
            ensemble = assert_whole(s, ident, 100 + 20 * (revision - 1))
            assert ensemble["revision"] == revision, ensemble


SCENARIOS = [done_goes_on, on_the_way, lacking_a_window, retried_alone, refused, nearest, killed]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
