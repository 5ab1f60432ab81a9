#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live estimates: made at a pace of their own, one at a time, whatever becomes of the estimator; and what an ensemble does by them.

Usage: live.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import json
import os
import sys
import time

from fake import as_user, assert_whole, body_of
from scenarios import run, service
from service import until


def answers(s, *those, held=0):
    """What estimators say of ensembles that run, one after the other, the first `held` not before they are let (let_answer). Returns a
    function that counts how many were asked."""
    folder = os.path.join(s.folder, "asked")
    os.makedirs(folder, exist_ok=True)
    with open(s.rules_path + ".estimate", "w", encoding="utf-8") as f:
        json.dump({"how": "answer", "folder": folder, "answers": those, "held": held}, f)
    return lambda: len(os.listdir(folder))


def let_answer(s, number):
    with open(f"{s.rules_path}.answer-{number}", "w", encoding="utf-8"):
        pass


def estimate(s, ident):
    return s.get(ident)["estimate"]


def paced():
    """The next one is made when a tenth more was checkpointed; a paused ensemble keeps its last. However long an estimate takes: the
    ensemble goes on until it is told otherwise, and the next answer comes when the one before was looked at."""
    with service("paced", "--live-seconds", "1", steps=1000000, per_second=100, segment=10) as s:
        asked = answers(s, [None, None, "failed"], [-2.5, 0.5, "unconverged"], [-2.25, 0.25, "converged"], held=3)
        ident = s.submit("p", windows=(0, 1))
        assert estimate(s, ident) is None
        let_answer(s, 0)
        first = until(lambda: estimate(s, ident))
        assert (first["value"], first["error"], first["verdict"], first["unit"]) == (None, None, "failed", "kcal/mol"), first
        let_answer(s, 1)
        until(lambda: estimate(s, ident)["value"])
        second = estimate(s, ident)
        assert (second["value"], second["error"], second["verdict"]) == (-2.5, 0.5, "unconverged") and 2 <= asked() <= 3, second
        let_answer(s, 2)
        until(lambda: estimate(s, ident)["value"] == -2.25)
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        n = asked()
        time.sleep(4)  # that of several estimates, a second apart
        assert asked() <= n + 1 and estimate(s, ident)["value"] == -2.25, "asked without new samples"
        s.set_rules()
        s.act(ident, "resume")
        assert s.wait(ident)["estimate"] is None, "its results say so"


def waiting_puts_off_nothing():
    """An estimate that takes long by the clock and little of a processor: the next one comes soon, not after 20 times as long."""
    with service("waiting", "--live-seconds", "1", steps=1000000, per_second=100, segment=10) as s:
        asked = answers(s, [1, 0.5, "unconverged"], held=1)
        s.submit("w", windows=(0, 1))
        until(asked)
        time.sleep(8)
        let_answer(s, 0)
        until(lambda: asked() > 1)


def one_at_a_time():
    """Several that run share the time there is for estimates."""
    with service("several", "--live-seconds", "1", "--slots", "6", steps=1000000, per_second=100, segment=10) as s:
        asked = answers(s, [1, 0.5, "unconverged"])
        idents = [s.submit(f"s{k}", windows=(0, 1)) for k in range(3)]
        until(lambda: all(estimate(s, i) for i in idents))
        assert asked() >= 3


def estimators_die():
    """Then there is no estimate, or the one before; the ensemble goes on."""
    with service("die", "--live-seconds", "1", steps=900, per_second=100, segment=10) as s:
        asked = answers(s, None)
        ident = s.submit("d", windows=(0, 1))
        until(lambda: asked() and not {int(pid) for pid in os.listdir(os.path.join(s.folder, "asked"))} & set(s.fakes()))
        assert estimate(s, ident) is None
        assert_whole(s, ident, 900)


def none_unasked():
    with service("none", "--live-seconds", "0", steps=200, per_second=100, segment=10) as s:
        asked = answers(s, [1, 0.5, "unconverged"])
        ident = s.submit("n", windows=(0, 1))
        assert_whole(s, ident, 200)
        assert not asked()


def nobody_knows():
    """Production that is to go where it is needed, and an estimator that dies whenever it is asked: it goes to all alike, in rounds."""
    with service("alike", "--live-seconds", "0", steps=0, per_second=5000, segment=100) as s:
        asked = answers(s, None)
        body = body_of("a", windows=(0, 1))
        body["spec"] += "allocate: adaptive\n"
        status, answer = s.call("POST", "/v1/ensembles", body)
        assert status == 201 and {r["steps"] for r in answer["replicas"]} == {500 + 260}, answer  # a quarter, in whole samples
        ensemble = s.wait(answer["id"])
        assert ensemble["state"] == "done" and {r["steps"] for r in ensemble["replicas"]} == {500 + 1000}, ensemble
        said = [e["message"] for e in s.events(answer["id"]) if e["kind"] == "allocate"]
        assert len(said) == 2 and all("goes to all alike, for nobody knows what they need: " in text for text in said), said
        assert asked() >= 2
        for window in range(2):
            assert s.steps(answer["id"], window) == list(range(1500))


def submit(s, name, stop, windows=(0, 1)):
    body = body_of(name, windows=windows)
    body["spec"] = body["spec"].replace("time: 1000 steps", "time: 100000 steps") + f"stop-when: {stop}\n"
    status, answer = s.call("POST", "/v1/ensembles", body)
    assert status == 201, answer
    return answer["id"]


def stops(s, ident):
    return [e["message"] for e in s.events(ident) if e["kind"] == "stop"]


GOOD, BAD = [1.5, 0.09, "converged"], [1.5, 0.2, "converged"]


def good_enough():
    """Two good estimates in a row, no earlier than asked for, end it where it is, done; an extension goes on from there."""
    with service("enough", "--live-seconds", "1", steps=0, per_second=600, segment=10) as s:
        asked = answers(s, GOOD, BAD, [1.5, 0.01, "unconverged"], GOOD, GOOD)
        ident = submit(s, "e", "{error: 0.1 kcal/mol, after: 10 steps}")
        shown = s.get(ident)["stop_when"]
        assert abs(shown.pop("error") - 0.1) < 1e-9 and shown == {"unit": "kcal/mol", "verdict": "converged", "after": 510}, shown
        until(lambda: asked() == 4)
        assert not stops(s, ident)
        ensemble = s.wait(ident, seconds=90)
        assert ensemble["state"] == "done" and ensemble["progress"] == 1, ensemble
        assert ensemble["reason"] == "stopped early: the error is 0.09 kcal/mol (stop-when: 0.1), verdict converged", ensemble
        assert stops(s, ident) == [ensemble["reason"]] and asked() >= 5
        for window in range(2):
            written = s.steps(ident, window)
            assert len(written) > 510 and written == list(range(len(written))), written
        assert s.call("GET", f"/v1/ensembles/{ident}/results")[0] == 200
        assert s.stop() == 0
        s.start()
        assert s.get(ident)["reason"] == ensemble["reason"]


def not_before():
    with service("before", "--live-seconds", "1", steps=0, per_second=600, segment=10) as s:
        asked = answers(s, GOOD)
        ident = submit(s, "b", "{error: 0.1 kcal/mol, after: 1500 steps}")
        until(lambda: stops(s, ident))
        assert asked() > 2 and all(r["step"] > 2000 for r in s.get(ident)["replicas"]), s.get(ident)


def any_verdict_unasked():
    """Where no estimates are made for people to look at, those that may end by them have them."""
    with service("any", "--live-seconds", "0", steps=0, per_second=600, segment=10) as s:
        answers(s, [1.5, 0.3, "unconverged"])
        ident = submit(s, "a", "{error: 2 kJ/mol, verdict: any, after: 10 steps}")
        assert s.wait(ident, seconds=90)["state"] == "done"
        assert "the error is 0.3 kcal/mol (stop-when: 0.478), verdict unconverged" in stops(s, ident)[0]


def killed_while_it_stops():
    """kill -9 on the way from good enough to done: it is done, once, with every step. Three windows share two slots until then."""
    with service("killed", "--live-seconds", "1", "--slice-seconds", "1", steps=0, per_second=600, segment=10) as s:
        answers(s, GOOD)
        ident = submit(s, "k", "{error: 0.1 kcal/mol, after: 10 steps}", windows=(0, 0.5, 1))
        kills = 0
        until(lambda: stops(s, ident))
        while (now := s.get(ident))["state"] != "done":
            assert now["state"] != "failed", now
            if kills < 4:
                s.kill()
                s.start()
                kills += 1
            time.sleep(0.1 * kills)  # each farther on its way than the one before
        assert kills and len(stops(s, ident)) == 1 and s.get(ident)["reason"] == stops(s, ident)[0], s.get(ident)
        for window in range(3):
            written = s.steps(ident, window)
            assert written == list(range(len(written))) and len(written) > 510, written


def alike():
    """Where replicas outnumber slots the windows of an ensemble are sampled alike, so that it is stopped long before its windows, one after
    the other, would have got anywhere."""
    with service("windows", "--live-seconds", "3", "--slice-seconds", "2", steps=0, per_second=2000, segment=10) as s:
        answers(s, GOOD)
        ident = submit(s, "a", "{error: 0.1 kcal/mol, after: 10 steps}", windows=(0, 0.25, 0.5, 0.75, 1))
        until(lambda: stops(s, ident))  # a window alone takes 50 s; here are five for two slots
        sampled = [r["step"] for r in s.get(ident)["replicas"]]
        assert min(sampled) > 510 and max(sampled) < 4 * min(sampled), sampled


def fair():
    """Users take turns at live estimates: one user's many ensembles do not keep another's from its own."""
    if os.geteuid() != 0:
        print("fair: skipped, needs root to be somebody else")
        return
    with service("users", "--live-seconds", "1", "--slots", "40", steps=0, per_second=200, segment=10) as s:
        os.chmod(s.socket, 0o666)
        answers(s, BAD)
        stop = "{error: 0.1 kcal/mol, after: 10 steps}"
        many = as_user(22001, lambda: [submit(s, f"a{k}", stop) for k in range(16)])
        one = as_user(22002, lambda: submit(s, "b", stop))
        until(lambda: estimate(s, one))
        without = sum(estimate(s, ident) is None for ident in many)
        assert without >= 6, f"{16 - without} ensembles of the other user came first"


SCENARIOS = [alike, fair, paced, waiting_puts_off_nothing, one_at_a_time, estimators_die, none_unasked, nobody_knows, good_enough, not_before, any_verdict_unasked, killed_while_it_stops]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
