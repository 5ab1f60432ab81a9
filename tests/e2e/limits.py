#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one client or user can do to the others through the API: connections, descriptors, followers, bodies.

Usage: limits.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import fcntl
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import sys
import termios
import threading
import time
import urllib.parse

from fake import Release, as_user, assert_whole, body_of
from scenarios import run, service
from service import Connection, Gone, until

LIVE = (200, {"ok": True})
PAUSED = "accepting connections waits: "  # for descriptors


def unread(k):
    """Bytes of memory in which the other side has not read yet what was sent."""
    return struct.unpack("i", fcntl.ioctl(k, termios.TIOCOUTQ, bytes(4)))[0]


def connect(s):
    k = socket.socket(socket.AF_UNIX)
    k.settimeout(20)
    k.connect(s.socket)
    return k


def ask(k, path="/healthz/live"):
    """The status that a connection gets."""
    k.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    answer = k.recv(1 << 16)
    return int(answer.split()[1]) if answer else None


def answers_again(s, seconds=60):
    def asked():
        try:
            return s.call("GET", "/healthz/live") == LIVE
        except Gone:
            return False

    until(asked, seconds, lambda: f"deaf {seconds} s after all connections had closed")


def accepted(s):
    """No connection waits to be accepted."""
    until(lambda: not s.connections()[1], 20, s.connections)


def close_together():
    """At a limit, one more, and far more: when they have gone the service answers."""
    limit = 256 if os.geteuid() == 0 else 192  # of one user; root may have all
    with service("close", "--connections", "256") as s:
        for n in (limit - 1, limit, limit + 1, limit + 2, 400):
            for _ in range(3):
                held = [connect(s) for _ in range(n)]
                accepted(s)
                s.process.send_signal(signal.SIGSTOP)  # it sees all of them go at once
                for k in held:
                    k.close()
                s.process.send_signal(signal.SIGCONT)
                answers_again(s)
        for n in (limit, limit + 40):
            held = [connect(s) for _ in range(n)]
            statuses = [ask(k) for k in reversed(held)]  # first those that are refused: they are closed after seconds
            assert statuses.count(200) == limit and set(statuses) <= {200, 429, 503}, statuses
            for k in held:
                k.close()
            answers_again(s)


def few_descriptors():
    """Where the process may open only so many files, those who come too late wait or are told; nobody is locked out for good."""
    for limit in (64, 96):
        s = service(f"nofile-{limit}")
        s.command = ["prlimit", f"--nofile={limit}:{limit}", *s.command]
        with s:
            for _ in range(3):
                paused = s.log_text().count(PAUSED)
                held = [connect(s) for _ in range(3 * limit)]
                until(lambda n=paused: s.log_text().count(PAUSED) > n, 20, s.connections)
                for k in held:
                    k.close()
                answers_again(s)
            assert_whole(s, s.submit("after"))


def crowd():
    """A thousand clients at once: all are answered."""
    with service("crowd") as s:
        held, statuses, lock = [], [], threading.Lock()
        for _ in range(1000):
            held.append(connect(s))

        def each(mine):
            got = [ask(k) for k in mine]
            with lock:
                statuses.extend(got)

        threads = [threading.Thread(target=each, args=(held[i::20],)) for i in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert statuses == [200] * 1000, {status: statuses.count(status) for status in set(statuses)}


def one_user_against_others():
    """A user who holds all they can get shuts out neither others nor root, and is told so."""
    if os.geteuid() != 0:
        print("one_user_against_others: skipped, needs root to be somebody else")
        return
    ann, bob = 12345, 12346
    with service("greedy", "--connections", "64", "--user-connections", "1000", "--user-followers", "8",
                 steps=100000, per_second=100) as s:
        os.chmod(s.socket, 0o666)
        status, answer = as_user(ann, lambda: s.call("POST", "/v1/ensembles", body_of("anns")))
        assert status == 201, answer
        ident = answer["id"]
        assert as_user(ann, lambda: s.call("POST", f"/v1/ensembles/{ident}/pause"))[0] == 200

        def hold():
            follow = [connect(s) for _ in range(12)]
            followed = [ask(k, f"/v1/ensembles/{ident}/events?follow=1") for k in follow]
            more = [connect(s) for _ in range(60)]
            asked = [ask(k) for k in more]
            release.wait()
            return followed, asked

        release = Release()
        holder = threading.Thread(target=lambda: release.done(as_user(ann, hold)))
        holder.start()
        release.settle()
        assert as_user(bob, lambda: s.call("GET", "/v1/ensembles")) == [200, {"ensembles": [], "next": None}]
        assert s.call("GET", f"/v1/ensembles/{ident}")[0] == 200, "root is locked out"
        release.go()
        holder.join()
        followed, asked = release.value
        assert followed.count(200) == 8 and followed.count(429) == 4, followed
        assert asked.count(200) == 36 and set(asked) == {200, 429}, asked  # three quarters of 64 for one user
        answers_again(s)
        assert as_user(ann, lambda: s.call("GET", "/v1/ensembles"))[0] == 200, "what was held is not given back"


def bodies():
    """The bytes of requests that are on their way are limited for each user."""
    if os.geteuid() != 0:
        print("bodies: skipped, needs root to be somebody else")
        return
    with service("bodies", "--user-body-bytes", "3M") as s:
        os.chmod(s.socket, 0o666)

        def send():
            head = b"POST /v1/validate HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"
            first, second = connect(s), connect(s)
            first.sendall(head + b" " * 1900000)
            until(lambda: not unread(first))
            second.sendall(head + b" " * 2000000)
            refused = second.recv(1 << 16).decode()
            first.sendall(b" " * 100000)
            answered = first.recv(1 << 16).decode()
            second.close()
            third = connect(s)
            third.sendall(head + b" " * 2000000)
            return refused, answered, third.recv(1 << 16).decode()

        refused, answered, third = as_user(12345, send)
        assert " 429 " in refused.split("\r\n")[0] and '"LIMIT"' in refused, refused
        assert " 400 " in answered.split("\r\n")[0], answered
        assert " 400 " in third.split("\r\n")[0], third


def resident(s):
    """Bytes of memory that the service has."""
    with open(f"/proc/{s.process.pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def deaf_readers():
    """Those who ask for files and results and do not read them: so much for one user, little memory for each, and it is given back."""
    if os.geteuid() != 0:
        print("deaf_readers: skipped, needs root to be somebody else")
        return
    with service("readers", "--user-answer-bytes", "8M") as s:
        os.chmod(s.socket, 0o666)
        status, answer = as_user(12345, lambda: s.call("POST", "/v1/ensembles", body_of("r")))
        assert status == 201, answer
        ident = answer["id"]
        s.wait(ident)
        fill(s, ident, 8 << 20)
        with open(os.path.join(s.folder, "state/ensembles", ident, "results.json"), "w", encoding="utf-8") as f:
            json.dump({"text": "x" * 1000000}, f)

        def hold():
            held = [connect(s) for _ in range(400)]
            path = f"/v1/ensembles/{ident}"
            statuses = [ask_deaf(k, path + ("/results" if i % 2 else "/files/lambda_00/traj.xtc")) for i, k in enumerate(held)]
            release.wait()
            return statuses

        before = resident(s)
        release = Release()
        holder = threading.Thread(target=lambda: release.done(as_user(12345, hold)))
        holder.start()
        release.settle()
        during = resident(s) - before
        others = s.raw("GET", f"/v1/ensembles/{ident}/files/lambda_00/traj.xtc")
        release.go()
        holder.join()
        assert others[0] == 200 and len(others[1]) == 8 << 20
        given = release.value.count(200)
        assert given + release.value.count(429) == 400 and 8 < given < 200, release.value
        sanitized = {"ASAN_OPTIONS", "TSAN_OPTIONS"} & set(os.environ)  # they keep what is freed
        assert sanitized or during < 60e6, f"{during} bytes for 400 connections"
        answers_again(s)
        until(lambda: sanitized or resident(s) - before < 10e6, 20, lambda: f"{resident(s) - before} bytes kept")


def ask_deaf(k, path):
    """As ask, of which no more is read than the status."""
    k.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return int(k.recv(16).split()[1])


def fill(s, ident, size, name="lambda_00/traj.xtc"):
    """What a running replica may write."""
    with open(os.path.join(s.folder, "state/ensembles", ident, name), "wb") as f:
        f.write(b"x" * size)


def stored_bytes():
    """A user whose replicas write more than they may wait at their checkpoints, and are told what to do; others go on."""
    if os.geteuid() != 0:
        print("stored_bytes: skipped, needs root to be somebody else")
        return
    ann, bob = 12345, 12346
    rules = {"steps": 300, "slots": 4}
    with service("stored", "--user-stored-bytes", "2M", **rules, per_second=150) as s:
        os.chmod(s.socket, 0o666)

        def submit(uid, name):
            status, answer = as_user(uid, lambda: s.call("POST", "/v1/ensembles", body_of(name, windows=(0, 1))))
            assert status == 201, answer
            return answer["id"]

        first = submit(ann, "first")
        s.wait_steps(first, 0)
        fill(s, first, 1300000)
        s.wait(first, "done")
        time.sleep(1.2)  # longer than a look of daemon/service/stored.c: without work it measures every half minute, and soon when there is some
        s.set_rules(**rules, per_second=30)
        second = submit(ann, "second")
        s.wait_steps(second, 0)
        fill(s, second, 1300000)

        def held_up():
            now = s.get(second)
            return now["reason"] and all(r["state"] == "queued" and r["waits"] for r in now["replicas"]) and now

        ensemble = until(held_up, 20, lambda: s.get(second))
        assert re.fullmatch(r"waits for space: 2\d{6} bytes stored are held, your limit is 2\d{6}: remove ensembles that are not "
                            "needed", ensemble["reason"]), ensemble
        assert {r["waits"]["for"] for r in ensemble["replicas"]} == {"space in its owner's quota (shoal du, shoal rm)"}, ensemble
        s.set_rules(**rules, per_second=1000)
        assert_whole(s, submit(bob, "others"), 300)
        held = s.get(second)
        assert held["state"] == "running" and re.sub(r"\d+", "N", held["reason"]) == re.sub(r"\d+", "N", ensemble["reason"]), held
        assert as_user(ann, lambda: s.call("DELETE", f"/v1/ensembles/{first}"))[0] in (200, 204)
        ensemble = assert_whole(s, second, 300)
        assert ensemble["reason"] is None and {r["attempt"] for r in ensemble["replicas"]} == {0}, ensemble


def large(name, windows, repeats=1):
    body = body_of(name, windows=(0, 1), repeats=repeats)
    ladder = "[" + ", ".join(f"{k / (windows - 1):.6f}" for k in range(windows)) + "]"
    body["spec"] = re.sub(r"(windows: \{vdw: )[^}]*", lambda m: m[1] + ladder, body["spec"])
    return body


def replicas():
    """A user may have so many replicas, an ensemble too; root's own are not limited."""
    if os.geteuid() != 0:
        print("replicas: skipped, needs root to be somebody else")
        return
    ann = 12345
    with service("replicas", "--user-replicas", "10") as s:
        os.chmod(s.socket, 0o666)

        def post(name, windows, repeats, uid=ann, path="/v1/ensembles"):
            body = large(name, windows, repeats)
            return as_user(uid, lambda: s.call("POST", path, body)) if uid else s.call("POST", path, body)

        status, answer = post("too-many", 4, 3)
        assert status == 429 and answer["error"]["message"] == "your limit of 10 replicas is reached (0 held, 12 more asked for)", answer
        status, answer = post("first", 4, 2)
        assert status == 201, answer
        first = answer["id"]
        assert post("second", 3, 1)[0] == 429
        assert as_user(ann, lambda: s.call("GET", "/v1/usage"))[1]["users"][0]["replicas"] == 8
        s.wait(first, "done")
        s.stop()
        s.start()
        os.chmod(s.socket, 0o666)
        status, answer = as_user(ann, lambda: s.call("POST", f"/v1/ensembles/{first}/extend?windows=vdw:%200.1;vdw:%200.2"))
        assert status == 429 and "(8 held, 4 more asked for)" in answer["error"]["message"], answer
        status, answer = as_user(ann, lambda: s.call("POST", f"/v1/ensembles/{first}/extend?windows=vdw:%200.1"))
        assert status == 200, answer
        assert as_user(ann, lambda: s.call("GET", "/v1/usage"))[1]["users"][0]["replicas"] == 10
        s.wait(first, "done")
        assert as_user(ann, lambda: s.call("DELETE", f"/v1/ensembles/{first}"))[0] == 200
        assert as_user(ann, lambda: s.call("GET", "/v1/usage"))[1]["users"][0]["replicas"] == 0
        assert post("again", 5, 2)[0] == 201
        _, answer = post("far-too-many", 201, 100, 0, "/v1/validate")
        assert answer["error"]["code"] == "SPEC" and "repeats: 201 windows x 100 repeats are 20100 replicas; expected at most 20000" in answer["error"]["message"], answer


def widened():
    """The rows of an ensemble that got windows are charged at once as a restart finds them; more than the owner may store is refused."""
    with service("widened", steps=10**9, per_second=10) as s:
        ident = s.submit("wide", windows=(0, 1))
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")

        def measured(since):
            """Its bytes, measured after another's end: a measurement visits all."""
            until(lambda: (s.get(ident)["bytes"] or 0) >= since, 30, lambda: s.get(ident))
            return s.get(ident)["bytes"]

        first = measured(1)
        wishes = ";".join(f"vdw: {(k + 1) / 151:.14f}" for k in range(150))
        answer = s.act(ident, "extend?" + urllib.parse.urlencode({"windows": wishes}))
        assert (answer["revision"], answer["windows"], answer["state"]) == (2, 152, "paused"), answer
        grown = measured(first + 150 * 512)
        fill(s, ident, 1 << 20, "ballast")  # by which a measurement of the folder shows that it is newer than the new windows
        grown = measured(grown + (1 << 20))
        s.stop()
        s.start()
        again = measured(1)
        assert abs(again - grown) < 600 and grown - first - (1 << 20) > 150 * (512 + 16), (first, grown, again)
    if os.geteuid() != 0:
        print("widened: refusal skipped, needs root to be somebody else")
        return
    with service("full", "--user-stored-bytes", "80000", steps=10**9, per_second=10) as s:
        os.chmod(s.socket, 0o666)
        status, answer = as_user(12345, lambda: s.call("POST", "/v1/ensembles", body_of("w", windows=(0, 1))))
        assert status == 201, answer
        ident = answer["id"]
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        error = s.act(ident, "extend?" + urllib.parse.urlencode({"windows": wishes}), 429)["error"]["message"]
        assert "bytes stored is reached" in error, error
        assert as_user(12345, lambda: s.call("GET", "/v1/usage"))[1]["users"][0]["replicas"] == 2


def long_queue():
    """As many replicas as one ensemble may have wait: whoever asks for all of them, pauses, resumes, retries or removes holds nobody up, and
    each such command is one event, which is charged."""
    with service("long", slots=2, steps=10**9, per_second=10) as s:
        status, answer = s.call("POST", "/v1/ensembles", large("long", 1000, 20))
        assert status == 201 and len(answer["replicas"]) == 20000 and answer["warnings"] is not None, status
        ident = answer["id"]
        small = s.submit("small")
        s.act(small, "cancel")
        ask = threading.Thread(target=lambda: sizes.extend(len(s.get(ident)["replicas"]) for _ in range(5)))
        sizes, worst = [], 0.0
        ask.start()
        while ask.is_alive():
            begin = time.monotonic()
            assert s.call("GET", "/healthz/live") == LIVE
            worst = max(worst, time.monotonic() - begin)
        ask.join()
        assert sizes == [20000] * 5 and worst < 2, (sizes, worst)  # one answer took 12 s, of which the service did nothing else
        places = sorted(r["waits"]["place"] for r in s.get(ident)["replicas"] if r["waits"] and r["waits"]["place"])
        assert len(places) >= 19990 and places == sorted(set(places)), places[:10]

        def used():
            return s.call("GET", "/v1/usage")[1]["users"][0]["bytes"], s.get(ident)["seq"]

        assert s.act(ident, "pause")["state"] == "paused"
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        before, seq = used()
        for _ in range(3):
            assert s.act(ident, "resume")["state"] in ("queued", "running")
            assert s.act(ident, "pause")["state"] == "paused"
            s.wait_replicas(ident, lambda r: r["state"] == "paused")
        after, _ = used()
        events = s.events(ident, since=seq)
        assert len(events) < 100 and 256 * len(events) <= after - before < 1000000, (len(events), after - before)
        assert s.act(ident, "cancel")["state"] == "cancelled"
        assert {r["state"] for r in s.act(ident, "retry")["replicas"]} == {"queued"}
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        s.stop()
        s.start()
        assert {r["state"] for r in s.get(ident)["replicas"]} == {"cancelled"}
        begin = time.monotonic()
        while s.call("DELETE", f"/v1/ensembles/{ident}")[0] != 200:
            assert time.monotonic() < begin + 20
        begin = time.monotonic()
        s.submit("meanwhile")
        assert time.monotonic() < begin + 5, "a removal held up another's submission"
        assert s.call("GET", f"/v1/ensembles/{ident}")[0] == 404


def followers():
    """Who follows an ensemble gets each of its events once and in their order, whoever else does, since whenever, and however slowly they
    read; lines of progress tell of replicas that run."""
    with service("followers", slots=3, steps=100, per_second=80) as s:
        ident = s.submit("f", windows=[k / 10 for k in range(8)])
        heard, threads = {}, []

        def follow(k):
            connection = Connection(s.socket, timeout=60)
            connection.request("GET", f"/v1/ensembles/{ident}/events?follow=1&since={since[k]}")
            answer = connection.getresponse()
            heard[k] = []
            for line in answer:
                heard[k].append(json.loads(line))
                time.sleep(0.05 if k % 5 == 0 else 0)  # some read slowly
            connection.close()

        since = {}
        for k in range(30):
            since[k] = s.get(ident)["seq"] if k % 2 else 0
            threads.append(threading.Thread(target=follow, args=(k,)))
            threads[-1].start()
            time.sleep(0.03)  # they come all along the run
            if k in (10, 20):
                s.act(ident, "pause")
                s.act(ident, "resume")
        ensemble = s.wait(ident, "done")
        for t in threads:
            t.join(timeout=60)
        kept = {since: [(e["seq"], e["kind"], e["window"]) for e in s.events(ident, since=since)] for since in set(since.values())}
        for k, lines in heard.items():
            assert [(e["seq"], e["kind"], e["window"]) for e in lines if e["kind"] != "progress"] == kept[since[k]], k
        told = [e["ensemble"]["replicas"] for lines in heard.values() for e in lines if e["kind"] == "progress"]
        assert told and all(r["state"] in ("running", "stopping", "queued") for replicas in told for r in replicas), told
        assert max(len(replicas) for replicas in told) <= 3 < ensemble["windows"], told


def trimmed():
    """Of more events than are kept the oldest go; how long the ensemble ran by them is kept."""
    with service("trimmed", per_second=20) as s:
        ident = s.submit("t", windows=(0, 1))
        s.wait_steps(ident, 0)
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        s.stop()
        db = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
        number, replica = db.execute("SELECT ensemble, min(number) FROM replica").fetchone()
        seq, time_ms = db.execute("SELECT max(seq), max(time) FROM event").fetchone()
        db.executemany("INSERT INTO event (seq, ensemble, replica, time, kind, state) VALUES (?,?,?,?,'replica',?)",
                       [(seq + k, number, replica, time_ms + 1000 * k, k % 2) for k in range(1, 14001)])  # runs every other second
        db.commit()
        s.start()
        bytes_before = s.call("GET", "/v1/usage")[1]["users"][0]["bytes"]
        assert bytes_before > 14000 * 256, bytes_before
        s.act(ident, "resume")

        def kept():
            return db.execute("SELECT count(*) FROM event").fetchone()[0]

        until(lambda: kept() <= 12000, 30, kept)
        assert 10100 <= kept() < 10500, kept()
        ran, first = db.execute("SELECT ran_ms, (SELECT min(seq) FROM event) FROM ensemble").fetchone()
        gone = (first - 1 - seq) // 2  # half of those that went were starts
        assert abs(ran - 1000 * gone) < 5000, (ran, gone)
        assert s.call("GET", "/v1/usage")[1]["users"][0]["bytes"] < bytes_before - 3000 * 256
        db.close()


def same_inputs():
    """What is charged for inputs does not tell who else has them; a user who has them twice is charged for them once."""
    if os.geteuid() != 0:
        print("same_inputs: skipped, needs root to be somebody else")
        return
    ann, bob = 12345, 12346
    with service("inputs", steps=20) as s:
        os.chmod(s.socket, 0o666)
        body = body_of("same", windows=(0, 1))  # many bytes of comments
        body["files"]["tiny.top"] += ("; " + "x" * 997 + "\n") * 900

        def measured(uid):
            """Submits; its bytes, once they are measured after its end."""
            status, answer = as_user(uid, lambda: s.call("POST", "/v1/ensembles", body))
            assert status == 201, answer
            s.wait(answer["id"], "done")
            return answer["id"], until(lambda: s.get(answer["id"])["bytes"], said=lambda: s.get(answer["id"]))

        s.act(s.submit("active"), "pause")  # while there is one folders are measured often
        _, alone = measured(bob)
        _, beside = measured(ann)
        assert abs(alone - beside) < 200000 and alone > 1800000, (alone, beside)  # on disk and in the database; results come later
        _, second = measured(bob)
        assert second < alone - 800000, (alone, second)
        removed = s.call("GET", "/v1/ensembles")[1]["ensembles"]
        for ensemble in removed:
            s.call("POST", f"/v1/ensembles/{ensemble['id']}/cancel")
            assert s.call("DELETE", f"/v1/ensembles/{ensemble['id']}")[0] == 200
        assert not [name for _, _, names in os.walk(os.path.join(s.folder, "state/inputs")) for name in names]


SCENARIOS = [close_together, few_descriptors, crowd, one_user_against_others, bodies, deaf_readers, stored_bytes, replicas, widened, long_queue, followers,
             trimmed, same_inputs]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
