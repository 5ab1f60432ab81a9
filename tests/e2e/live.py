#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live estimates: made at a pace of their own, one at a time, whatever becomes of the estimator; and what an ensemble does by them.

Usage: live.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import json
import os
import sys
import time

from fake import assert_whole
from scenarios import run, service


def answers(s, *those):
    """What estimators say of ensembles that run, one after the other. Returns a function that counts how many were asked."""
    folder = os.path.join(s.folder, "asked")
    os.makedirs(folder, exist_ok=True)
    with open(s.rules_path + ".estimate", "w", encoding="utf-8") as f:
        json.dump({"how": "answer", "folder": folder, "answers": those}, f)
    return lambda: len(os.listdir(folder))


def until(test, seconds=20):
    deadline = time.monotonic() + seconds
    while not (value := test()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def estimate(s, ident):
    return s.get(ident)["estimate"]


def paced():
    """The next one is made when a tenth more was checkpointed; a paused ensemble keeps its last."""
    with service("paced", "--live-seconds", "1", steps=3000, per_second=100, segment=10) as s:
        asked = answers(s, [None, None, "failed"], [-2.5, 0.5, "unconverged"], [-2.25, 0.25, "converged"])
        ident = s.submit("p", windows=(0, 1))
        assert estimate(s, ident) is None
        first = until(lambda: estimate(s, ident))
        assert (first["value"], first["error"], first["verdict"], first["unit"]) == (None, None, "failed", "kcal/mol"), first
        second = until(lambda: asked() == 2 and estimate(s, ident)["value"] and estimate(s, ident))
        assert (second["value"], second["error"], second["verdict"]) == (-2.5, 0.5, "unconverged"), second
        until(lambda: estimate(s, ident)["value"] == -2.25)
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        time.sleep(1.5)
        n = asked()
        time.sleep(2.5)
        assert asked() == n and estimate(s, ident)["value"] == -2.25, "asked without new samples"
        s.set_rules()
        s.act(ident, "resume")
        assert s.wait(ident)["estimate"] is None, "its results say so"


def one_at_a_time():
    """Several that run share the time there is for estimates."""
    with service("several", "--live-seconds", "1", "--slots", "6", steps=2000, per_second=100, segment=10) as s:
        asked = answers(s, [1, 0.5, "unconverged"])
        idents = [s.submit(f"s{k}", windows=(0, 1)) for k in range(3)]
        until(lambda: all(estimate(s, i) for i in idents))
        assert asked() >= 3


def estimators_die():
    """Then there is no estimate, or the one before; the ensemble goes on."""
    with service("die", "--live-seconds", "1", steps=400, per_second=100, segment=10) as s:
        asked = answers(s, None)
        ident = s.submit("d", windows=(0, 1))
        until(asked)
        time.sleep(0.2)
        assert estimate(s, ident) is None
        assert_whole(s, ident, 400)


def none_unasked():
    with service("none", "--live-seconds", "0", steps=200, per_second=100, segment=10) as s:
        asked = answers(s, [1, 0.5, "unconverged"])
        ident = s.submit("n", windows=(0, 1))
        assert_whole(s, ident, 200)
        assert not asked()


SCENARIOS = [paced, one_at_a_time, estimators_die, none_unasked]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
