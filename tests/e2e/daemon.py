#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoald with a worker that computes nothing (fake_worker.py): the API, supervision, retries, pauses, users, restarts.

Usage: daemon.py SHOALD OPENAPI.yaml [NAME...]    only the scenarios with one of the names
"""
import concurrent.futures
import fcntl
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import fake
from fake import as_user, assert_whole, body_of, s_running
from scenarios import SHOALD, run, service
from service import AS_IS, Connection, Gone, until

OPENAPI = sys.argv[2]


# ---- requests ----

def bad_requests():
    with service("bad", steps=100000) as s:
        good = body_of("good")

        def expect(status, code, part, method, path, body=None):
            got, answer = s.call(method, path, body)
            assert got == status and answer["error"]["code"] == code and part in answer["error"]["message"], (got, answer)
            return answer["error"]

        post = ("POST", "/v1/ensembles")
        expect(400, "USAGE", "expected a JSON object", *post, [])
        expect(400, "USAGE", 'unknown key "colour"', *post, {**good, "colour": "red"})
        expect(400, "USAGE", '"spec" is missing', *post, {"files": {}})
        expect(400, "USAGE", '"spec": expected text', *post, {**good, "spec": 3})
        expect(400, "USAGE", '"id" of a request): expected', *post, {**good, "id": "no spaces"})
        expect(400, "USAGE", '"files": expected an object', *post, {"spec": good["spec"]})
        for name in ("..", "/", "/etc/..", "../../", "a/../b", "./a", "a//b", "", "spec.yaml", "a\nb"):
            expect(400, "USAGE", "expected a path", *post, {**good, "files": {**good["files"], name: "x"}})
        error = expect(422, "SPEC", "my.yaml:1: ", *post, {**good, "spec": good["spec"].replace("name:", "nmae:")})
        assert '"name"' in error["message"] or "'name'" in error["message"] or "name" in error["message"], error
        error = expect(422, "MISSING_FILE", "tiny.top", *post, {**good, "files": {}})
        assert error["files"] == [["tiny.top"], ["tiny.gro"]], error
        error = expect(422, "MISSING_FILE", "tiny.gro", *post, {**good, "files": {"tiny.top": good["files"]["tiny.top"]}})
        assert error["files"] == [["tiny.gro"]], error
        broken = {**good["files"], "tiny.top": good["files"]["tiny.top"].replace("OW 8 15.9994", "OW 8 heavy")}
        expect(422, "TOPOLOGY", "tiny.top:", *post, {**good, "files": broken})
        expect(404, "NOT_FOUND", "no such path", "GET", "/v2/ensembles")
        expect(404, "NOT_FOUND", "nosuch", "GET", "/v1/ensembles/nosuchid")
        expect(405, "METHOD", "does not take DELETE but GET, HEAD, POST", "DELETE", "/v1/ensembles")
        expect(400, "USAGE", 'no parameter "stat"', "GET", "/v1/ensembles?stat=done")
        expect(400, "USAGE", "state=dead", "GET", "/v1/ensembles?state=dead")
        status, answer = s.call("POST", "/v1/validate", good)
        assert status == 200 and answer["ok"] and answer["windows"] == 3 and answer["steps_per_window"] == 1500, answer
        assert s.call("GET", "/v1/ensembles")[1]["ensembles"] == [], "something bad was stored"
        outside = {**good, "id": "outside", "files": {**good["files"], "/etc/passwd": "absolute", "../../up.top": "above"}}
        status, answer = s.call(*post, outside)
        assert status == 201, answer
        s.wait(answer["id"], "running")  # so its inputs are written, below its own folder
        s.act(answer["id"], "cancel")
        for name, text in (("@root/etc/passwd", "absolute"), ("@up2/up.top", "above")):
            with open(os.path.join(s.folder, "state/ensembles", answer["id"], "input", name), encoding="ascii") as f:
                assert f.read() == text
        assert not os.path.exists(os.path.join(s.folder, "state/ensembles/up.top")) and not os.path.exists(os.path.join(s.folder, "state/up.top"))
        ident = s.submit("good")
        expect(400, "USAGE", "since=-1", "GET", f"/v1/ensembles/{ident}/events?since=-1")
        expect(400, "USAGE", "follow=2", "GET", f"/v1/ensembles/{ident}/events?follow=2")
        for method, path in (("DELETE", f"{ident}%00zzz"), ("GET", f"{ident}%00"), ("GET", f"{ident}/files/input/tiny.top%00x")):
            expect(404, "NOT_FOUND", "", method, f"/v1/ensembles/{path}")
        assert s.call("GET", f"/v1/ensembles?name={ident}%00x")[1]["ensembles"] == []
        for path in ("../../shoald.db", "..%2f..%2fshoald.db", "input/../../../shoald.db", "input", "nothing", "input//tiny.top"):
            expect(404, "NOT_FOUND", "no file", "GET", f"/v1/ensembles/{ident}/files/{path}")
        status, data = s.raw("GET", f"/v1/ensembles/{ident[:4]}/files/input/tiny.top")
        assert status in (200, 404)  # 404: not written yet
        expect(409, "CONFLICT", "no results yet", "GET", f"/v1/ensembles/{ident}/results")


def raw_bytes(s, data, shut=True, seconds=60):
    """What the service says to bytes as they are; nothing, where it waits for more until its own time is up."""
    with socket.socket(socket.AF_UNIX) as k:
        k.settimeout(seconds)
        k.connect(s.socket)
        try:
            k.sendall(data)
            if shut:
                k.shutdown(socket.SHUT_WR)
            return k.recv(1 << 16)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            return b""


def malformed_and_oversize():
    with service("oversize") as s:
        assert b" 400 " in raw_bytes(s, b"POST /v1/ensembles HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{]")
        raw_bytes(s, b"\0\xff\r\n\r\n" * 100, seconds=2)
        raw_bytes(s, b"GET /" + b"a" * 1000000 + b" HTTP/1.1\r\n\r\n", seconds=2)
        raw_bytes(s, b"POST /v1/ensembles HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf", seconds=2)
        answer = raw_bytes(s, b"POST /v1/ensembles HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", shut=False)
        assert b" 413 " in answer.split(b"\r\n")[0], answer
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        answer = raw_bytes(s, b"POST /v1/ensembles HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                           chunk * 65 + b"0\r\n\r\n", shut=False)
        assert b" 413 " in answer.split(b"\r\n")[0], answer[:200]
        deep = b"[" * 100000
        head = b"POST /v1/ensembles HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(deep)
        assert b" 400 " in raw_bytes(s, head + deep)
        idle = [socket.socket(socket.AF_UNIX) for _ in range(50)]  # nobody waits for a client that says nothing
        for k in idle:
            k.connect(s.socket)
        assert s.call("GET", "/healthz/live") == (200, {"ok": True})
        assert_whole(s, s.submit("still-alive"))


def same_key():
    with service("key") as s:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: s.call("POST", "/v1/ensembles", body_of("a", "key")), range(8)))
        assert sorted(a[0] for a in answers) == [200] * 7 + [201], [a[0] for a in answers]
        assert len({a[1]["id"] for a in answers}) == 1
        assert answers[0][1]["key"] == "key"
        status, answer = s.call("POST", "/v1/ensembles", body_of("b", "key"))
        assert status == 409 and answers[0][1]["id"] in answer["error"]["message"], answer
        assert s.submit("a") != s.submit("a"), "without a key every submission is a new one"
        listed = s.call("GET", "/v1/ensembles")[1]["ensembles"]
        assert len(listed) == 3 and [e["created"] for e in listed] == sorted((e["created"] for e in listed), reverse=True)


def events():
    with service("events", per_second=100) as s:
        ident = s.submit("e")
        lines = s.events(ident, follow=1)  # returns when the ensemble has ended
        stored = [e for e in lines if "seq" in e]
        assert any(e["kind"] == "progress" and e["ensemble"]["replicas"] for e in lines), lines
        assert [e["seq"] for e in stored] == sorted({e["seq"] for e in stored})
        moves = [e["state"] for e in stored if e["kind"] == "ensemble"]
        assert moves == ["queued", "running", "finishing", "done"], moves
        assert stored[-1]["ensemble"]["state"] == "done"
        for window in range(3):
            moves = [e["state"] for e in stored if e["kind"] == "replica" and e["window"] == window]
            assert moves == ["running", "done"], moves
        middle = stored[3]["seq"]
        plain = [e["seq"] for e in s.events(ident, since=middle)]
        assert plain == [e["seq"] for e in stored if e["seq"] > middle], plain
        assert s.events(ident, since=stored[-1]["seq"], follow=1) == []
        # A reader that leaves is forgotten; the service minds neither.
        other = s.submit("f")
        for _ in range(20):
            c = Connection(s.socket)
            c.request("GET", f"/v1/ensembles/{other}/events?follow=1")
            c.getresponse().read(10)
            c.close()
        assert_whole(s, other)


def files():
    with service("files") as s:
        ident = s.submit("f")
        assert_whole(s, ident)
        listed = s.call("GET", f"/v1/ensembles/{ident}/files")[1]["files"]
        paths = [f["path"] for f in listed]
        assert paths == sorted(paths) and {"input/spec.yaml", "input/tiny.top", "lambda_02/steps", "results.json"} <= set(paths)
        for f in listed:
            status, data = s.raw("GET", f"/v1/ensembles/{ident}/files/{f['path']}")
            assert status == 200 and len(data) == f["bytes"], f
        folder = os.path.join(s.folder, "state/ensembles", ident)
        os.symlink("/etc/passwd", os.path.join(folder, "lambda_00/link"))
        assert s.raw("GET", f"/v1/ensembles/{ident}/files/lambda_00/link")[0] == 404
        with open(os.path.join(folder, "lambda_00/large"), "wb") as f:
            f.write(os.urandom(3000000))
        status, data = s.raw("GET", f"/v1/ensembles/{ident}/files/lambda_00/large")
        with open(os.path.join(folder, "lambda_00/large"), "rb") as f:
            assert status == 200 and data == f.read()
        status, before = s.raw("GET", f"/v1/ensembles/{ident}/results")
        assert status == 200
        os.unlink(os.path.join(folder, "results.json"))
        assert s.raw("GET", f"/v1/ensembles/{ident}/results") == (200, before), "results made again differ"


# ---- workers ----

def crashes():
    """Every way in which a worker can end, once each: nothing is lost, nothing is done twice."""
    for what in ("crash", "exit", "nonsense", "stray", "close"):
        with service(f"crash-{what}", rules=[{"window": 1, "at": 50, "times": 1, "do": what}]) as s:
            ident = s.submit("c")
            ensemble = assert_whole(s, ident)
            assert [r["reason"] for r in ensemble["replicas"]] == [None] * 3, ensemble
            with open(s.rules_path + ".0", encoding="utf-8") as f:
                assert f.read() == "."


def poison():
    """One window kills every worker that runs it. It alone fails; its ensemble and its neighbours' go on."""
    with service("poison", slots=4, rules=[{"name": "bad", "window": 1, "at": 30, "do": "crash"}]) as s:
        bad, good = s.submit("bad", retries=1), s.submit("good")
        ensemble = s.wait(bad, seconds=60)
        assert ensemble["state"] == "failed" and ensemble["done"] == 2 and ensemble["failed"] == 1, ensemble
        assert "1 of 3 windows failed; window 1: worker died of signal 11" in ensemble["reason"], ensemble
        assert_whole(s, good)
        assert s.raw("GET", f"/v1/ensembles/{bad}/results")[0] == 200, "a result is always written"


def failures():
    with service("failures", rules=[{"window": 2, "at": 30, "times": 2, "do": "fail", "message": "NaN in atom 7"}]) as s:
        ident = s.submit("twice", retries=2)
        ensemble = assert_whole(s, ident)
        assert ensemble["replicas"][2]["attempt"] == 0, "what it got beyond is forgiven"
        messages = [e["message"] for e in s.events(ident) if e["kind"] == "replica" and e["window"] == 2]
        assert messages.count("NaN in atom 7") >= 2, messages
        s.set_rules(rules=[{"window": 2, "at": 30, "do": "fail", "message": "NaN in atom 7"}])
        ident = s.submit("always", retries=1)
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and ensemble["done"] == 2, ensemble
        assert ensemble["reason"] == "1 of 3 windows failed; window 2: NaN in atom 7", ensemble
        s.act(ident, "pause", 409)
        s.set_rules()
        s.act(ident, "retry")
        assert_whole(s, ident)
        s.act(ident, "retry", 409)
        s.act(ident, "cancel", 409)


def no_worker():
    s = service("no-worker")
    with open(s.rules_path + ".refuse", "w", encoding="utf-8"):
        pass
    s.start(wait=False)
    with s_running(s):
        s.wait_listening()
        status, answer = s.call("GET", "/healthz/ready")
        assert status == 503 and answer["error"]["message"] == "no worker is up", answer
        ident = s.submit("patient")
        os.unlink(s.rules_path + ".refuse")
        assert_whole(s, ident)


# ---- owners ----

def pause_resume_cancel():
    with service("pause", steps=100000, per_second=200, slots=2) as s:
        ident = s.submit("p")
        s.wait_steps(ident, 0, 1)
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        before = [len(s.steps(ident, w)) for w in range(2)]
        time.sleep(0.2)  # that of 40 steps
        assert before == [len(s.steps(ident, w)) for w in range(2)], "it goes on while paused"
        s.act(ident, "pause")
        s.act(ident, "retry", 409)
        assert s.stop() == 0
        s.start()
        assert s.get(ident)["state"] == "paused"
        shutil.rmtree(os.path.join(s.folder, "state/ensembles", ident, "input"))  # the database has it all
        s.set_rules(steps=1000, per_second=5000)
        s.act(ident, "resume")
        s.act(ident, "resume")
        assert_whole(s, ident, 1000)
        assert os.path.exists(os.path.join(s.folder, "state/ensembles", ident, "input/tiny.gro"))
        s.set_rules(steps=100000, per_second=200)
        other = s.submit("q")
        s.wait(other, "running")
        s.act(other, "cancel")
        s.wait_replicas(other, lambda r: r["state"] == "cancelled")
        s.act(other, "resume", 409)
        assert s.raw("GET", f"/v1/ensembles/{other}/results")[0] == 200
        s.set_rules(steps=1000, per_second=5000)
        s.act(other, "retry")
        assert_whole(s, other, 1000)


def two_users():
    if os.geteuid() != 0:
        print("two_users: skipped, needs root to be somebody else")
        return
    with service("users", per_second=100) as s:
        os.chmod(s.socket, 0o666)
        ann, bob = 12345, 12346
        status, answer = as_user(ann, lambda: s.call("POST", "/v1/ensembles", body_of("anns", "key")))
        assert status == 201 and answer["owner"] == ann, answer
        ident = answer["id"]
        for method, path in (("GET", ""), ("GET", "/events"), ("GET", "/results"), ("GET", "/files"),
                             ("GET", "/files/input/tiny.top"), ("POST", "/cancel"), ("POST", "/pause")):
            status, answer = as_user(bob, lambda m=method, p=path: s.call(m, f"/v1/ensembles/{ident}{p}"))
            assert status == 404 and answer["error"]["code"] == "NOT_FOUND", (path, status, answer)
        assert as_user(bob, lambda: s.call("GET", "/v1/ensembles")) == [200, {"ensembles": [], "next": None}]
        status, answer = as_user(bob, lambda: s.call("POST", "/v1/ensembles", body_of("bobs", "key")))
        assert status == 201 and answer["id"] != ident, "keys are each owner's own"
        assert len(as_user(ann, lambda: s.call("GET", "/v1/ensembles"))[1]["ensembles"]) == 1
        assert len(s.call("GET", "/v1/ensembles")[1]["ensembles"]) == 2, "root sees all"
        assert as_user(ann, lambda: s.call("POST", f"/v1/ensembles/{ident}/cancel"))[0] == 200


# ---- stopping and starting ----

def follow_until_gone(s, ident, lines):
    """Adds the lines of an event stream, until the service ends it."""
    c = Connection(s.socket)
    c.request("GET", f"/v1/ensembles/{ident}/events?follow=1")
    try:
        for line in c.getresponse():
            lines.append(json.loads(line))
    except (OSError, http.client.HTTPException):
        pass
    c.close()


def is_draining(s):
    return s.call("GET", "/healthz/ready")[0] == 503


def drain():
    with service("drain", steps=1000, per_second=800, drain_seconds=5) as s:
        ident = s.submit("d")
        s.wait_steps(ident, 0, 1)
        lines = []
        follower = concurrent.futures.ThreadPoolExecutor(1).submit(follow_until_gone, s, ident, lines)
        until(lambda: len(lines) > 2)
        s.process.send_signal(signal.SIGHUP)
        s.process.send_signal(signal.SIGTERM)
        until(lambda: is_draining(s))
        status, answer = s.call("POST", "/v1/ensembles", body_of("late"))
        assert status == 503 and answer["error"]["code"] == "BUSY", answer
        assert is_draining(s) and s.call("GET", "/healthz/live")[0] == 200
        assert s.process.wait(timeout=20) == 0
        assert not os.path.exists(s.socket)
        follower.result(timeout=5)  # a reader that waits is let go
        for window in range(2):
            with open(os.path.join(s.folder, f"state/ensembles/{ident}/lambda_{window:02d}/checkpoint"), encoding="utf-8") as f:
                assert json.load(f)[0] == len(s.steps(ident, window)), "drained without a checkpoint"
        s.start()
        assert_whole(s, ident, 1000)
        s.set_rules(steps=100000, drain_seconds=30)
        ident = s.submit("twice")
        s.wait_steps(ident, 0, 1)
        s.process.send_signal(signal.SIGTERM)
        until(lambda: is_draining(s))
        begin = time.monotonic()
        s.process.send_signal(signal.SIGTERM)
        assert s.process.wait(timeout=10) == 1 and time.monotonic() - begin < 3


def killed():
    """kill -9 of the service at random moments around submissions: what was acknowledged is there and comes to its end."""
    rng = random.Random(int(os.environ.get("SHOAL_TEST_SEED", "1")))
    with service("killed", slots=4, per_second=1000) as s:
        acknowledged = {}
        for round_number in range(12):
            deadline = time.monotonic() + rng.uniform(0, 0.25)
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                def one(k):
                    key = f"r{round_number}-{k}"
                    status, answer = s.call("POST", "/v1/ensembles", body_of(key, key, windows=(0, 0.5)))
                    assert status == 201, answer
                    return key, answer["id"]
                jobs = [pool.submit(one, k) for k in range(6)]
                time.sleep(max(0, deadline - time.monotonic()))
                s.kill()
                for job in jobs:
                    try:
                        key, ident = job.result()
                        acknowledged[key] = ident
                    except Gone:
                        pass
            s.start()
        assert acknowledged, "nothing was ever acknowledged"
        for key, ident in acknowledged.items():
            assert s.submit(key, key, windows=(0, 0.5), expect=200) == ident
            assert_whole(s, ident)
        print(f"killed: {len(acknowledged)} acknowledged ensembles survived 12 kills")
        assert s.stop() == 0
        db = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT clean FROM service").fetchone() == (1,)
        db.close()


def two_services():
    with service("lock") as s:
        def start(state, path):
            return subprocess.run([SHOALD, "--state", os.path.join(s.folder, state), "--socket", path, "--worker", fake.FAKE, *AS_IS],
                                  capture_output=True, text=True, timeout=20, check=False)

        for name in os.listdir(os.path.join(s.folder, "state")):
            if name not in ("ensembles", "inputs") and not name.startswith("shoald.db"):
                os.unlink(os.path.join(s.folder, "state", name))  # no file of it is what keeps others out
        other = start("state", s.socket + "2")
        assert other.returncode == 1 and "another shoald uses" in other.stderr, other
        other = start("state2", s.socket)
        assert other.returncode == 1 and "another service listens" in other.stderr, other
        assert s.call("GET", "/healthz/live")[0] == 200, "the first one's socket was taken away"
        s.kill()
        s.start()  # over the socket file that was left behind
        assert s.stop() == 0
        db = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
        db.execute("PRAGMA user_version = 99")
        db.close()
        newer = subprocess.run([*s.command, "--worker", fake.FAKE], capture_output=True, text=True, timeout=20, check=False)
        assert newer.returncode == 1 and "a newer one" in newer.stderr, newer
        for wrong in (["--slots", "0"], ["--slots", "many"], ["--colour"], ["extra"], ["--device", "cuda:0", "--device", "cuda:0:eager"]):
            assert subprocess.run([SHOALD, *wrong], capture_output=True, timeout=20, check=False).returncode == 2


def leftovers():
    """A child of a service that was killed may hold its lock and its socket for a moment longer: the next service waits."""
    with service("leftovers") as s:
        s.kill()
        os.unlink(s.socket)
        lock = os.open(os.path.join(s.folder, "state"), os.O_DIRECTORY)
        with socket.socket(socket.AF_UNIX) as listening:
            fcntl.flock(lock, fcntl.LOCK_EX)
            listening.bind(s.socket)
            listening.listen()
            s.start(wait=False)
            time.sleep(0.5)  # it goes on waiting for the lock
            assert s.process.poll() is None, s.log_text()
            listening.close()
            time.sleep(0.5)  # the lock is still held
            assert s.process.poll() is None and s.log_text().count("worker started") == 1, s.log_text()
        os.close(lock)
        s.wait_ready()
        assert_whole(s, s.submit("after"))


def service_manager():
    """NOTIFY_SOCKET, WATCHDOG_USEC and LISTEN_FDS."""
    s = service("manager")
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(os.path.join(s.folder, "notify"))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(s.socket)
    listening.listen()

    environment = dict(s.environment, NOTIFY_SOCKET=os.path.join(s.folder, "notify"), WATCHDOG_USEC="200000", LISTEN_FDS="1")
    # The process id must be in the environment and the socket descriptor 3: a shell arranges that and becomes shoald.
    command = ["/bin/sh", "-c", f'exec 3<&{listening.fileno()}; LISTEN_PID=$$ exec "$0" "$@"', SHOALD,
               "--state", os.path.join(s.folder, "state"), "--device", "cpu", *AS_IS]
    with open(s.log, "ab") as log:
        s.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, pass_fds=(listening.fileno(),))
    with s_running(s):
        seen = []

        def listen():
            while True:
                try:
                    seen.append(notes.recv(4096).decode())
                except OSError:
                    return

        def until_told(text):
            deadline = time.monotonic() + 20
            while not any(text in note for note in seen):
                assert time.monotonic() < deadline, (text, seen)
                time.sleep(0.02)

        threading.Thread(target=listen, daemon=True).start()
        until_told("READY=1")
        until_told("WATCHDOG=1")
        until_told("STATUS=1 of 1 worker up, 0 replicas running, 0 ensembles active")
        s.wait_ready()
        assert_whole(s, s.submit("handed-over"))
        s.process.send_signal(signal.SIGTERM)
        until_told("STOPPING=1")
        until_told("EXTEND_TIMEOUT_USEC=")
        assert s.process.wait(timeout=20) == 0
        assert os.path.exists(s.socket), "a socket that was handed over is not ours to remove"


def deaf_manager():
    """A service manager that does not read what it is told holds nothing up."""
    s = service("deaf")
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(os.path.join(s.folder, "notify"))
    s.environment.update(NOTIFY_SOCKET=os.path.join(s.folder, "notify"), WATCHDOG_USEC="2000")
    with s:
        assert_whole(s, s.submit("unheard"))
        time.sleep(1)  # that of a thousand messages to the manager
        assert s.call("GET", "/healthz/live")[0] == 200


# ---- the description ----

def check(schema, value, root, where):
    """The part of JSON Schema that openapi.yaml uses."""
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
        return check(target, value, root, where)
    if "anyOf" in schema:
        return check(next((one for one in schema["anyOf"] if fits(one, value, root)), schema["anyOf"][0]), value, root, where)
    types = schema.get("type", [])
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
             "null": type(None)}
    if types:
        types = types if isinstance(types, list) else [types]
        assert any(isinstance(value, kinds[t]) and not (t in ("integer", "number") and isinstance(value, bool))
                   for t in types), f"{where}: {value!r} is not {types}"
    assert "enum" not in schema or value in schema["enum"], f"{where}: {value!r} not in {schema['enum']}"
    assert "const" not in schema or value == schema["const"], f"{where}: {value!r}"
    assert value is None or "maximum" not in schema or value <= schema["maximum"], where
    if isinstance(value, dict) and "properties" in schema:
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, f"{where}: lacks {missing}"
        unknown = set(value) - set(schema["properties"])
        assert not unknown, f"{where}: {unknown} are not described"
        for key, item in value.items():
            check(schema["properties"][key], item, root, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(schema["items"], item, root, f"{where}[{i}]")
    return None


def fits(schema, value, root):
    try:
        check(schema, value, root, "")
    except AssertionError:
        return False
    return True


def description():
    try:
        import yaml
    except ImportError:
        print("description: skipped, python3-yaml is not installed")
        return
    with open(OPENAPI, encoding="utf-8") as f:
        root = yaml.safe_load(f)
    with service("description", per_second=100) as s:
        def holds(method, path, concrete, body=None):
            status, data = s.raw(method, concrete, body)
            answer = root["paths"][path][method.lower()]["responses"].get(str(status))
            assert answer, f"{method} {path}: status {status} is not described"
            if "$ref" in answer:
                answer = root["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
            content = answer["content"]
            if "application/json" in content:
                check(content["application/json"]["schema"], json.loads(data), root, f"{method} {concrete}")
            elif "application/x-ndjson" in content:
                for line in data.decode().splitlines():
                    check(content["application/x-ndjson"]["schema"], json.loads(line), root, f"{method} {concrete}")
            return status, data

        holds("GET", "/v1/version", "/v1/version")
        holds("GET", "/healthz/live", "/healthz/live")
        holds("GET", "/healthz/ready", "/healthz/ready")
        status, data = holds("POST", "/v1/ensembles", "/v1/ensembles", body_of("d", "key"))
        assert status == 201
        assert holds("POST", "/v1/ensembles", "/v1/ensembles", body_of("d", "key"))[0] == 200
        assert holds("POST", "/v1/ensembles", "/v1/ensembles", body_of("e", "key"))[0] == 409
        assert holds("POST", "/v1/ensembles", "/v1/ensembles", {**body_of("e"), "files": {}})[0] == 422
        assert holds("POST", "/v1/ensembles", "/v1/ensembles", {})[0] == 400
        assert holds("POST", "/v1/validate", "/v1/validate", body_of("e"))[0] == 200
        ident = json.loads(data)["id"]
        base = "/v1/ensembles/{id}"
        here = f"/v1/ensembles/{ident}"
        holds("GET", "/v1/ensembles", "/v1/ensembles")
        s.wait(ident, "running")
        holds("GET", base, here)
        deadline = time.monotonic() + 60
        while not any(d.get("replicas") for d in json.loads(holds("GET", "/v1/version", "/v1/version")[1])["devices"]):
            assert time.monotonic() < deadline
        shares = [r for d in s.call("GET", "/v1/version")[1]["devices"] for r in d["replicas"]]
        assert {(r["ensemble"], r["repeat"]) for r in shares} == {(ident, 0)} and len({r["window"] for r in shares}) == len(shares), shares
        assert holds("GET", base + "/results", here + "/results")[0] == 409
        for what in ("pause", "resume"):
            assert holds("POST", f"{base}/{what}", f"{here}/{what}")[0] == 200
        assert holds("POST", base + "/retry", here + "/retry")[0] == 409
        holds("GET", base + "/events", here + "/events?follow=1")
        holds("GET", base + "/files", here + "/files")
        holds("GET", base + "/files/{path}", here + "/files/results.json")
        assert holds("GET", base + "/results", here + "/results")[0] == 200
        assert holds("POST", base + "/cancel", here + "/cancel")[0] == 409
        for by in ("user", "ensemble", "campaign", "device", "day"):
            assert holds("GET", "/v1/accounting", f"/v1/accounting?by={by}")[0] == 200
        for what in ("drain", "hold", "undrain", "release"):
            assert holds("POST", f"/v1/{what}", f"/v1/{what}")[0] == 200
        holds("GET", "/v1/version", "/v1/version")
        assert holds("GET", base, "/v1/ensembles/zzzzzzzz")[0] == 404
        for path, methods in root["paths"].items():
            for method in {"get", "post", "delete"} & set(methods) if path not in ("/v1/ensembles", "/v1/validate") else {"get"} & set(methods):
                concrete = path.replace("{id}", ident).replace("{path}", "results.json")
                assert holds(method.upper(), path, concrete + "?unheard-of=1")[0] == 400, path


SCENARIOS = [bad_requests, malformed_and_oversize, same_key, events, files, crashes, poison, failures, no_worker,
             pause_resume_cancel, two_users, drain, killed, two_services, leftovers, service_manager, deaf_manager, description]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[3:])
