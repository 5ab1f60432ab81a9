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
from service import Connection, Gone, until


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
        slow = slow_estimator(s, "hold")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(results, s, ident) for _ in range(8)]
            until(lambda: s.connections()[0] == len(answers))
            assert s.call("GET", "/healthz/live")[0] == 200
            slow.let_go()
            answers = [a.result() for a in answers]
        assert slow.count() == 1, f"{slow.count()} estimates for 8 who asked"
        assert all(a == answers[0] for a in answers)


def moved():
    """Who asks for results of an ensemble that goes on while they are made is told to try again, and nothing of the service's folders."""
    with service("moved", steps=100000, per_second=300, slots=3) as s:
        ident = s.submit("moved")
        s.wait_steps(ident, 0)
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        slow = slow_estimator(s, "hold")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(results, s, ident, expect=503)
            until(slow.count)
            s.act(ident, "retry")
            slow.let_go()
            error = asked.result()["error"]
        assert error["code"] == "BUSY" and "try again" in error["message"] and s.folder not in error["message"], error


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


def estimators_fail():
    """Why an estimator gave no results is what it says as JSON; words in a message mean nothing."""
    with service("fail", "--estimate-mib", "77", steps=100000, per_second=300, slots=3) as s:
        ident = s.submit("f")
        s.wait_steps(ident, 0, 1, 2)
        named = "lambda_00/No space left on device, out of memory: x"
        for how, status, code, message in (("IO", 500, "ESTIMATE", named), ("NO_SPACE", 507, "NO_SPACE", named),
                                           ("BUSY", 503, "BUSY", named), ("MEMORY", 500, "ESTIMATE", "takes more than 77 MiB")):
            slow = slow_estimator(s, f"error-{how}")
            error = results(s, ident, live=1, expect=status)["error"]
            assert error["code"] == code and message in error["message"], error
            slow.off()
        slow = slow_estimator(s, "exit")
        assert "the estimator ended with 3: " in results(s, ident, live=1, expect=500)["error"]["message"]
        slow.off()
        results(s, ident, live=1)


def service_stops():
    """A stop does not wait for estimates; the next service makes them."""
    with service("stops") as s:
        slow = slow_estimator(s, "sleep")
        ident = s.submit("e")
        s.wait(ident, "finishing")
        until(slow.count, 10)
        answers = []

        def ask():
            try:
                answers.append(s.call("GET", f"/v1/ensembles/{ident}/results?live=1")[0])
            except Gone:
                answers.append(None)

        waiting = threading.Thread(target=ask)
        waiting.start()
        until(lambda: s.connections()[0])
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


def again():
    """Results are computed again from the rows there are: once, whoever asks how often, also after a kill; no replica runs."""
    with service("again") as s:
        slow = slow_estimator(s, "exit")
        ident = s.submit("a")
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and ensemble["done"] == 3, ensemble
        slow.off()
        s.act(ident, "reestimate")
        assert_whole(s, ident)
        path = os.path.join(s.folder, "state/ensembles", ident, "results.json")
        with open(path, encoding="utf-8") as f:
            good = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write("{}")
        slow = slow_estimator(s, "hold")
        begun = slow.count()
        first = s.act(ident, "reestimate")
        assert (first["state"], first["reason"]) == ("finishing", "its results are computed again"), first
        assert s.act(ident, "reestimate")["seq"] == first["seq"], "asked for twice"
        results(s, ident, expect=409)
        while slow.count() == begun:
            time.sleep(0.02)
        assert not os.path.exists(path), "results of before"
        s.kill()
        s.start()
        assert s.get(ident)["state"] == "finishing"
        slow.let_go()
        ensemble = assert_whole(s, ident)  # a replica that had run again would have other steps
        assert ensemble["reason"] is None
        with open(path, encoding="utf-8") as f:
            assert f.read() == good
        # One that was cancelled has its results made when they are asked for.
        s.set_rules(steps=100000, per_second=300)
        other = s.submit("c")
        assert s.act(other, "reestimate", 409)["error"]["code"] == "CONFLICT"
        s.wait_steps(other, 0)
        s.act(other, "cancel")
        s.wait_replicas(other, lambda r: r["state"] == "cancelled")
        results(s, other)
        begun = slow.count()
        results(s, other)
        assert slow.count() == begun, "made again for nothing"
        assert s.act(other, "reestimate")["state"] == "cancelled"
        results(s, other)
        assert slow.count() == begun + 1
        if os.geteuid() == 0:
            os.chmod(s.socket, 0o666)
            assert as_user(12345, lambda: s.call("POST", f"/v1/ensembles/{ident}/reestimate"))[0] == 404


def again_behind():
    """Results that are computed again wait for those of ensembles that end, and leave them a place, also after a restart."""
    with service("behind", slots=40, steps=20, per_second=2000) as s:
        many = [s.submit(f"m{k}", windows=(0, 1)) for k in range(8)]
        for ident in many:
            s.wait(ident, "done")
        slow = slow_estimator(s, "wait")
        for ident in many:
            s.act(ident, "reestimate")

        def left():
            return [s.get(ident)["state"] for ident in many].count("finishing")

        for name in ("first", "second"):
            before = left()
            s.wait(s.submit(name, windows=(0, 1)), "done")
            assert left() >= before - 2 > 0, (name, before, left())
            if name == "first":
                s.kill()
                s.start()
        for ident in many:
            s.wait(ident, "done")
        assert 10 <= slow.count() <= 11  # one more for that which was killed


SCENARIOS = [again, again_behind, fair, not_stale, shared, moved, removed, live, estimators_die, estimators_fail, service_stops, downloads]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
