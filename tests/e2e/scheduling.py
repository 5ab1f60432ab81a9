#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who runs where and when, with a worker that computes nothing (fake_worker.py).

Usage: scheduling.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import os
import shutil
import sys
import tempfile
import time

import fake

SHOALD = sys.argv[1]


class Fake(fake.Fake):
    """In a folder of its own."""

    def __init__(self, name, options=(), **rules):
        super().__init__(SHOALD, os.path.join(ROOT, name), options, **rules)


def repeats():
    """Several replicas of every window, each in a folder of its own, also after a restart."""
    with Fake("repeats", slots=4, per_second=200) as s:
        ident = s.submit("r", windows=(0, 1), repeats=3)
        ensemble = s.get(ident)
        assert ensemble["windows"] == 2 and ensemble["repeats"] == 3, ensemble
        assert [(r["repeat"], r["window"]) for r in ensemble["replicas"]] == [(k, w) for k in range(3) for w in range(2)]
        time.sleep(0.2)
        s.kill()
        s.start()
        assert {r["state"] for r in s.wait(ident)["replicas"]} == {"done"}
        for repeat in range(3):
            for window in range(2):
                assert s.steps(ident, window, repeat) == list(range(100)), (repeat, window)
        told = {(e["repeat"], e["window"]) for e in s.events(ident) if e["kind"] == "replica" and e["state"] == "done"}
        assert len(told) == 6, told
        assert not os.path.exists(os.path.join(s.folder, "state/ensembles", ident, "lambda_00"))


def protocol():
    """A worker of another version is not spoken to, and the log says why."""
    with Fake("protocol") as s:
        s.set_rules(protocol=1)
        os.kill(s.fakes()[0], 9)
        deadline = time.monotonic() + 20
        while "speaks protocol 1 of version fake, expected" not in s.log_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert s.call("GET", "/healthz/ready")[0] == 503
        s.set_rules()
        s.wait_ready()


SCENARIOS = [repeats, protocol]


def main():
    for scenario in SCENARIOS:
        if sys.argv[2:] and scenario.__name__ not in sys.argv[2:]:
            continue
        begin = time.monotonic()
        scenario()
        print(f"{scenario.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    shutil.rmtree(ROOT)


ROOT = tempfile.mkdtemp(prefix="shoald-")
if __name__ == "__main__":
    main()
