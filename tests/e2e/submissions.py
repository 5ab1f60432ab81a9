#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a submission can do to its reader, which is a process of its own: nothing to the service and to other users.

Usage: submissions.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import json
import os
import signal
import sys
import threading
import time

from fake import Release, as_user, assert_whole, body_of
from scenarios import run, service
from service import Connection, Gone, until


def refused(s, status, code, part, body, path="/v1/validate"):
    got, answer = s.call("POST", path, body)
    assert (got, answer["error"]["code"]) == (status, code) and part in answer["error"]["message"], (got, answer)


def names():
    """Names that would be accepted, and then never written, are refused at once."""
    with service("names") as s:
        good = body_of("n")

        def named(*more):
            return {**good, "files": {**good["files"], **{name: "x" for name in more}}}

        for path in ("/v1/validate", "/v1/ensembles"):
            refused(s, 400, "USAGE", '"a" is a file', named("a", "a/b"), path)
            refused(s, 400, "USAGE", '"a/b" is a file', named("a/b/c/d", "a/b"), path)
            refused(s, 400, "USAGE", '"spec.yaml" is a file', named("spec.yaml/x"), path)
            refused(s, 400, "USAGE", '"tiny.top" is a file', named("tiny.top/x"), path)
            refused(s, 400, "USAGE", "each part at most 250", named("x" * 251), path)
            refused(s, 400, "USAGE", "each part at most 250", named("a/" + "x" * 251), path)
            refused(s, 400, "USAGE", "at most 255 bytes", named("a/" * 120 + "b" * 30), path)
        status, answer = s.call("POST", "/v1/ensembles", named("x" * 250, "a/b", "a/c", "ab", "a-b/c"))
        assert status == 201, answer
        assert_whole(s, answer["id"])


def names_are_charged():
    """What is kept of a submission counts among its owner's bytes, names too, also after a restart; no text of it is without limit."""
    with service("charged") as s:
        def stored():
            return s.call("GET", "/v1/usage")[1]["users"][0]["bytes"]

        for name in ("x" * 256, "a\nb", "\x1b[2J", "\x9b2J", "\u202eabc"):
            refused(s, 400, "USAGE", '"spec_name"', {**body_of("n"), "spec_name": name}, "/v1/ensembles")
        s.act(s.submit("few"), "pause")
        few = stored()
        body = body_of("many")
        body["files"].update({f"{i:03d}" + "x" * 237: "" for i in range(200)})
        status, answer = s.call("POST", "/v1/ensembles", body)
        assert status == 201, answer
        assert stored() - 2 * few > 200 * 240 - 20000, (stored(), few)
        s.wait(answer["id"])
        s.kill()
        s.start()
        assert stored() > 200 * 300, "the database's part is not counted before folders are measured"


def json_that_grows():
    """A body that would be a hundred times as large in memory is refused before it is made."""
    with service("grows", "--check-mib", "200") as s:
        def raw(body):
            c = Connection(s.socket)
            c.request("POST", "/v1/validate", body)
            answer = c.getresponse()
            return answer.status, json.loads(answer.read())["error"]

        status, error = raw(b"[" + b"{}," * 2700000 + b"{}]")
        assert status == 400 and "values" in error["message"], error
        status, error = raw(b"[" * 3000000)
        assert status == 400 and "nested" in error["message"], error
        status, error = raw(b'{"spec": "' + b"\\\\" * 100000 + b'", "files": {}, "x": "[[[[,,,,"}')
        assert status == 400 and 'unknown key "x"' in error["message"], error
        assert s.call("GET", "/healthz/live")[0] == 200


def too_much():
    """A reader that needs too much time or memory ends, and says so to its client alone."""
    if not {"ASAN_OPTIONS", "TSAN_OPTIONS"} & set(os.environ):  # readers with sanitizers have no limit: own_limits.c
        with service("much", "--check-mib", "30", "--check-seconds", "20") as s:
            body = body_of("m")
            body["files"]["unused"] = "x" * 20000000
            refused(s, 413, "TOO_LARGE", "more than 30 MiB", body)
            assert_whole(s, s.submit("others"))
    with service("slow", "--check-seconds", "1") as s:
        slow = slow_reader(s, "busy")
        refused(s, 413, "TOO_LARGE", "more than 1 s", body_of("m"))
        slow.off()
        assert_whole(s, s.submit("others"))


class slow_reader:
    """A reader that does something else than reading (fake_worker.py), until it is off."""

    def __init__(self, s, how):
        self.s, self.folder = s, os.path.join(s.folder, "readers")
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o777)
        with open(s.rules_path + ".check-submission", "w", encoding="utf-8") as f:
            json.dump({"how": how, "folder": self.folder}, f)

    def off(self):
        os.unlink(self.s.rules_path + ".check-submission")

    def living(self):
        return [int(pid) for pid in self.s.children() if os.path.exists(os.path.join(self.folder, str(pid)))]


def clients_leave():
    """A reader whose client has left ends; those that wait for their turn are forgotten."""
    with service("leave", "--checks", "2") as s:
        slow = slow_reader(s, "sleep")
        connections = []
        for _ in range(6):
            c = Connection(s.socket)
            c.request("POST", "/v1/validate", json.dumps(body_of("l")))
            connections.append(c)
        limit = 1  # one user has one of the two places
        until(lambda: len(slow.living()) == limit, said=lambda: "no reader")
        for c in connections:
            c.close()
        until(lambda: not slow.living(), said=lambda: "readers go on without clients")
        slow.off()
        assert_whole(s, s.submit("after"))


def service_stops():
    """SIGTERM ends the service, whatever is being read; who waits is told."""
    with service("stops") as s:
        slow = slow_reader(s, "sleep")
        answers = []

        def ask():
            try:
                answers.append(s.call("POST", "/v1/validate", body_of("l")))
            except Gone as gone:
                answers.append(gone)

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for t in threads:
            t.start()
        until(slow.living, said=lambda: "no reader")
        readers = slow.living()
        assert s.stop() == 0  # sooner than readers end
        for t in threads:
            t.join()
        assert not any(os.path.exists(f"/proc/{pid}") for pid in readers), "readers outlive the service"
        told = [a for a in answers if not isinstance(a, Gone)]
        assert all(status == 503 and answer["error"]["code"] == "BUSY" for status, answer in told), answers
    with service("dies") as s:
        slow = slow_reader(s, "sleep")
        t = threading.Thread(target=lambda: s.process.poll() is None and ask_once(s))
        t.start()
        until(slow.living, said=lambda: "no reader")
        readers = slow.living()
        s.kill()
        t.join()
        until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in readers), said=lambda: "readers outlive a killed service")


def ask_once(s):
    try:
        s.call("POST", "/v1/validate", body_of("l"))
    except Gone:
        pass


def extensions():
    """What is asked of a spec takes neither the service's threads nor its time; a thousand windows are one reading."""
    with service("extend", "--check-seconds", "1") as s:
        ladder = [i / 10 for i in range(11)]
        body = body_of("e", windows=ladder)
        status, answer = s.call("POST", "/v1/ensembles", body)
        assert status == 201, answer
        ident = answer["id"]
        s.wait(ident)
        slow = slow_reader(s, "busy")
        answers = []

        def ask(query):
            answers.append(s.call("POST", f"/v1/ensembles/{ident}/extend?{query}"))

        queries = ["windows=vdw:0.05", "time=1000+steps"] * 3
        threads = [threading.Thread(target=ask, args=(query,)) for query in queries]
        for t in threads:
            t.start()
        until(slow.living, said=lambda: "extensions are not read by a process of their own")
        began = time.monotonic()
        assert s.call("GET", f"/v1/ensembles/{ident}/files")[0] == 200
        assert time.monotonic() - began < 3, "files wait for another's extension"
        for t in threads:
            t.join()
        assert all(status == 413 and "more than 1 s" in answer["error"]["message"] for status, answer in answers), answers
        slow.off()
        status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?windows=%ff")
        assert (status, answer["error"]["code"]) == (400, "USAGE"), answer
        more = ";".join(f"vdw:{i / 1000}" for i in range(2, 1000) if i % 100)
        status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?windows={more}")
        assert status == 200 and answer["windows"] == 1000, answer


def users_in_turn():
    """One user's slow submissions hold up neither another's nor the service."""
    if os.geteuid() != 0:
        print("users_in_turn: skipped, needs root to be somebody else")
        return
    with service("turns", "--checks", "3", "--user-readings", "8") as s:
        os.chmod(s.socket, 0o666)
        slow = slow_reader(s, "named")

        def many():
            connections = []
            for _ in range(12):
                c = Connection(s.socket)
                c.request("POST", "/v1/validate", json.dumps(body_of("slow")))
                connections.append(c)
            statuses = [c.getresponse().status for c in connections[8:]]
            release.wait()
            return statuses

        release = Release()
        t = threading.Thread(target=lambda: release.done(as_user(12345, many)))
        t.start()
        try:
            until(lambda: len(slow.living()) == 2, said=lambda: "two of three places")
            readers = slow.living()
            status, answer = as_user(12346, lambda: s.call("POST", "/v1/ensembles", body_of("bobs")))
            assert status == 201 and sorted(slow.living()) == sorted(readers), (status, answer)
        finally:
            release.go()
        t.join()
        assert release.value == [429] * 4, release.value
        until(lambda: not slow.living(), said=lambda: "readers go on without clients")


def readers_die():
    """However a reader ends, its client alone is told."""
    with service("die") as s:
        for how in (f"signal-{signal.SIGSEGV}", f"signal-{signal.SIGKILL}", "exit", "nonsense", "half"):
            slow = slow_reader(s, how)
            for path in ("/v1/validate", "/v1/ensembles") if how != "half" else ("/v1/ensembles",):
                status, answer = s.call("POST", path, body_of("d"))
                assert status == 500 and answer["error"]["code"] == "INTERNAL", (how, answer)
            slow.off()
        assert s.call("GET", "/v1/ensembles")[1]["ensembles"] == []
        assert_whole(s, s.submit("after"))


SCENARIOS = [names, names_are_charged, json_that_grows, too_much, extensions, clients_leave, service_stops, users_in_turn, readers_die]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
