#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results: never those of an earlier end, made once for all who ask, by a process whose death is an answer; live ones.

Usage: results.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import concurrent.futures
import json
import os
import sys
import threading
import time

from fake import as_user, assert_whole, body_of
from scenarios import run, service
from service import Connection, Gone


def results(s, ident, live=0, expect=200):
    status, answer = s.call("GET", f"/v1/ensembles/{ident}/results" + ("?live=1" if live else ""))
    assert status == expect, (status, answer)
    return answer


class slow_estimator:
    """An estimator that waits, or ends badly (fake_worker.py), until it is off; it counts itself."""

    def __init__(self, s, how):
        self.s, self.folder = s, os.path.join(s.folder, "estimators")
        os.makedirs(self.folder, exist_ok=True)
        with open(s.rules_path + ".estimate", "w", encoding="utf-8") as f:
            json.dump({"how": how, "folder": self.folder}, f)

    def off(self):
        os.unlink(self.s.rules_path + ".estimate")

    def let_go(self):
        """Those that are held."""
        with open(self.s.rules_path + ".go", "w", encoding="utf-8"):
            pass

    def count(self):
        return len(os.listdir(self.folder))


def not_stale():
    """Cancelled, asked, tried again, cancelled, asked: the second answer is of the second end."""
    with service("stale", steps=100000, per_second=300, slots=3) as s:
        ident = s.submit("stale")

        def cancel():
            s.wait_steps(ident, 0, 1, 2)
            s.act(ident, "cancel")
            s.wait_replicas(ident, lambda r: r["state"] == "cancelled")

        def rows():
            """A window's rows, which the estimator reads."""
            folder = os.path.join(s.folder, "state/ensembles", ident, "lambda_00")
            with open(os.path.join(folder, "dhdl.xvg"), "w", encoding="utf-8") as f:
                f.write("@ s0 legend \"x\"\nnot a row\n")

        cancel()
        first = results(s, ident)
        path = os.path.join(s.folder, "state/ensembles", ident, "results.json")
        with open(path, encoding="utf-8") as f:
            assert json.load(f) == first
        before = os.stat(path)
        assert results(s, ident) == first and os.stat(path).st_mtime_ns == before.st_mtime_ns, "made again for nothing"
        s.act(ident, "retry")
        results(s, ident, expect=409)
        cancel()
        rows()
        second = results(s, ident)
        assert second != first and os.stat(path).st_mtime_ns > before.st_mtime_ns, "the results of the first end"
        s.set_rules(steps=100)
        s.kill()
        s.start()
        assert results(s, ident) == second


def shared():
    """Who asks for results that are being made waits for them: one estimate."""
    with service("shared", steps=100000, per_second=300, slots=3) as s:
        ident = s.submit("shared")
        s.wait_steps(ident, 0)
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        slow = slow_estimator(s, "wait")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(results, s, ident) for _ in range(8)]
            time.sleep(0.3)
            assert s.call("GET", "/healthz/live")[0] == 200
            answers = [a.result() for a in answers]
        assert slow.count() == 1, f"{slow.count()} estimates for 8 who asked"
        assert all(a == answers[0] for a in answers)


def removed():
    """Who asks for results of an ensemble that is removed while they wait is told so, and nothing of its folder comes back."""
    with service("removed", steps=100000, per_second=300, slots=3) as s:
        idents = [s.submit(f"removed{k}") for k in range(3)]
        for ident in idents:
            s.act(ident, "cancel")
            s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        slow = slow_estimator(s, "hold")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(results, s, ident) for ident in idents[:2]]
            while slow.count() < 2:
                time.sleep(0.02)
            late = Connection(s.socket)
            late.request("GET", f"/v1/ensembles/{idents[2]}/results")
            s.get(idents[2])  # who comes later is answered: that one was heard
            assert s.call("DELETE", f"/v1/ensembles/{idents[2]}")[0] == 200
            slow.let_go()
            answer = late.getresponse()
            message = json.loads(answer.read())["error"]["message"]
            assert answer.status == 404 and "it was removed" in message, (answer.status, message)
            for answer in asked:
                answer.result()
        assert sorted(os.listdir(os.path.join(s.folder, "state/ensembles"))) == sorted(idents[:2])


def live():
    """What there is so far, marked as such; nothing is written."""
    with service("live", steps=100000, per_second=300, slots=2) as s:
        ident = s.submit("live")
        s.wait_steps(ident, 0, 1)
        results(s, ident, expect=409)
        answer = results(s, ident, live=1)
        assert answer["status"] == "failed", answer["status"]  # the fake writes no samples
        assert answer["ensemble"]["id"] == ident and len(answer["windows"]) == 3, answer
        assert not os.path.exists(os.path.join(s.folder, "state/ensembles", ident, "results.json"))
        s.set_rules()
        s.act(ident, "pause")
        results(s, ident, live=1)
        assert s.call("GET", f"/v1/ensembles/{ident}/results?live=2")[0] == 400


def estimators_die():
    """An estimator that ends badly fails that ensemble's results with a reason; the service goes on."""
    with service("die") as s:
        slow = slow_estimator(s, "signal-11")
        ident = s.submit("d")
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and "died of signal 11" in ensemble["reason"], ensemble
        assert results(s, ident, expect=500)["error"]["code"] == "ESTIMATE"
        slow.off()
        results(s, ident)
        assert_whole(s, s.submit("after"))


def service_stops():
    """A stop does not wait for estimates; the next service makes them."""
    with service("stops") as s:
        slow = slow_estimator(s, "sleep")
        ident = s.submit("e")
        s.wait(ident, "finishing")
        deadline = time.monotonic() + 10
        while not slow.count():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        answers = []

        def ask():
            try:
                answers.append(s.call("GET", f"/v1/ensembles/{ident}/results?live=1")[0])
            except Gone:
                answers.append(None)

        waiting = threading.Thread(target=ask)
        waiting.start()
        time.sleep(0.3)
        assert s.stop() == 0  # sooner than estimators end
        waiting.join()
        assert answers[0] in (503, None), answers
        slow.off()
        s.start()
        assert_whole(s, ident)
        results(s, ident)


def downloads():
    """A file that becomes shorter, or a read that fails, while it is sent breaks the connection off."""
    with service("downloads") as s:
        ident = s.submit("f")
        assert_whole(s, ident)
        path = os.path.join(s.folder, "state/ensembles", ident, "lambda_00/large")
        with open(path, "wb") as f:
            f.write(os.urandom(40000000))
        c = Connection(s.socket)
        c.request("GET", f"/v1/ensembles/{ident}/files/lambda_00/large")
        answer = c.getresponse()
        assert answer.getheader("Content-Length") == "40000000"
        got = len(answer.read(1000000))
        os.truncate(path, 20000000)
        try:
            while piece := answer.read(1000000):
                got += len(piece)
            whole = got == 40000000
        except OSError:
            whole = False
        except Exception as error:  # http.client.IncompleteRead
            assert "IncompleteRead" in repr(error), error
            whole = False
        assert not whole, "a half was taken for the whole"
        assert s.call("GET", "/healthz/live")[0] == 200


def fair():
    """One user's many ends do not hold up another's: users take turns at estimators."""
    if os.geteuid() != 0:
        print("fair: skipped, needs root to be somebody else")
        return
    with service("fair", slots=40, steps=20, per_second=2000) as s:
        os.chmod(s.socket, 0o666)
        slow = slow_estimator(s, "wait")

        def submit(uid, name):
            status, answer = as_user(uid, lambda: s.call("POST", "/v1/ensembles", body_of(name, windows=(0, 1))))
            assert status == 201, answer
            return answer["id"]

        many = [submit(21001, f"a{k}") for k in range(10)]
        while any(s.get(ident)["state"] in ("queued", "running") for ident in many):
            time.sleep(0.02)
        other = submit(21002, "b")
        s.wait(other, "done")
        states = [s.get(ident)["state"] for ident in many]
        assert states.count("finishing") >= 2, states
        for ident in many:
            s.wait(ident, "done")
        assert slow.count() == 11


SCENARIOS = [fair, not_stale, shared, removed, live, estimators_die, service_stops, downloads]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
