#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stops and starts of the service when something is wrong: a job that hangs, estimates that die, a database that is damaged.

Usage: stopping.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import termios
import time

import fake
from scenarios import run, service
from service import Connection, until


def stopped_within(s, seconds):
    begun = time.monotonic()
    s.process.send_signal(signal.SIGTERM)
    assert s.process.wait(timeout=60) == 0
    assert time.monotonic() - begun < seconds, f"{time.monotonic() - begun:.1f} s"
    db = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
    assert db.execute("SELECT clean FROM service").fetchone() == (1,)
    db.close()


def hanging_job():
    """A job that waits for a disk for ever does not hold up the end of the service."""
    with service("hanging", "--drain-seconds", "2", steps=100000, per_second=100) as s:
        ident = s.submit("h")
        s.wait_steps(ident, 0, 1)
        assert s.stop() == 0
        folder = os.path.join(s.folder, "state/ensembles", ident, "input")
        os.unlink(os.path.join(folder, "tiny.top"))
        shutil.rmtree(os.path.join(s.folder, "state/inputs"))  # it would only be linked
        os.mkfifo(os.path.join(folder, "tiny.top.tmp"))  # who writes to it waits for a reader
        s.start()
        assert s.get(ident)["replicas"][0]["waits"]["for"] == "its input folder"
        stopped_within(s, 10)
        assert "1 background job is still running after 2 s" in s.log_text()
        os.unlink(os.path.join(folder, "tiny.top.tmp"))
        s.set_rules(steps=200)
        s.start()
        assert s.wait(ident)["state"] == "done"


def unread(sock):
    """Bytes that the other end has not taken yet."""
    return int.from_bytes(fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0" * 4), sys.byteorder)


def late_commit():
    """What follows a commit is done, and its owner is told, though the service has drained meanwhile."""
    with service("late", steps=100000, per_second=100) as s:
        ident = s.submit("late")
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        db = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"), isolation_level=None)
        db.execute("BEGIN IMMEDIATE")  # commits wait
        connection = Connection(s.socket)
        connection.request("POST", f"/v1/ensembles/{ident}/resume")
        until(lambda: not unread(connection.sock))
        s.get(ident)  # who comes later is answered: that one was heard
        s.process.send_signal(signal.SIGTERM)
        until(lambda: ": stopped" in s.log_text(), 60, s.log_text)
        db.close()
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["state"]) == (200, "queued")
        assert s.process.wait(timeout=20) == 0, s.process.returncode


def estimates(s, how=None):
    """What the making of results does (fake_worker.py); None: as it should."""
    path = s.rules_path + ".estimate"
    if how:
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"how": how, "folder": s.folder}, f)
    else:
        os.unlink(path)


def hanging_estimate():
    """An estimate that takes its time ends with the service; the next start does it again."""
    with service("estimate", "--drain-seconds", "20") as s:
        estimates(s, "sleep")
        ident = s.submit("e")
        s.wait(ident, "finishing")
        stopped_within(s, 5)
        estimates(s)
        s.start()
        fake.assert_whole(s, ident)


def dying_estimate():
    """It is tried again; when it goes on dying the ensemble has failed with the reason, and the service lives."""
    with service("dying") as s:
        estimates(s, "signal-11")
        ident = s.submit("d")
        ensemble = s.wait(ident)
        assert ensemble["state"] == "failed" and ensemble["done"] == 3, ensemble
        assert ensemble["reason"] == "the estimator died of signal 11, 3 times", ensemble
        estimates(s)
        s.act(ident, "retry")
        fake.assert_whole(s, ident)


def set_limit(s, name, limit):
    """Of the running service; a soft one."""
    subprocess.run(["prlimit", "--pid", str(s.process.pid), f"--{name}={limit}:"], check=True)


def lacking_descriptors():
    """Where no estimator can be started for want of descriptors the ensemble says so and waits, and ends by itself when there are some."""
    with service("lacking", per_second=50) as s:
        ident = s.submit("l")
        s.wait_steps(ident, 0, 1)
        opened = sorted(map(int, os.listdir(f"/proc/{s.process.pid}/fd")))
        limit = next(n for n in range(3, 1000) if n - sum(fd < n for fd in opened) == 3)  # for a connection, not for a child's pipes
        set_limit(s, "nofile", limit)
        ensemble = s.wait(ident, "finishing")
        deadline = time.monotonic() + 10
        while not (ensemble := s.get(ident))["reason"]:
            assert time.monotonic() < deadline and ensemble["state"] == "finishing", ensemble
            time.sleep(0.02)
        assert ensemble["reason"].endswith("worker.sh: too many open files"), ensemble
        assert s.get(ident)["state"] == "finishing"
        set_limit(s, "nofile", 1024)
        assert fake.assert_whole(s, ident)["reason"] is None


def small_files():
    """Where files may not become larger the service lives and says so, and goes on when they may."""
    with service("small", per_second=50) as s:
        ident = s.submit("before")
        s.wait_steps(ident, 0, 1)
        set_limit(s, "fsize", 4096)
        wait_health(s, 503, "takes no writes")
        set_limit(s, "fsize", "unlimited")
        wait_health(s, 200, "ok")
        fake.assert_whole(s, ident)
        fake.assert_whole(s, s.submit("after"))


def damaged_database():
    """Damage is said with the path, whether or not the last stop was clean; nothing is overwritten."""
    with service("damaged") as s:
        for k in range(40):
            s.submit(f"e{k}", windows=(0,))
        assert s.stop() == 0
        path = os.path.join(s.folder, "state/shoald.db")
        with open(path, "rb") as f:
            whole = f.read()
        for clean in (True, False):
            with open(path, "wb") as f:
                f.write(whole)
            if not clean:
                db = sqlite3.connect(path)
                db.execute("UPDATE service SET clean = 0")
                db.commit()
                db.close()
            with open(path, "r+b") as f:
                f.seek(12 * 4096)
                f.write(b"\xa5" * (len(whole) - 12 * 4096))
            run = subprocess.run(s.command, env=s.environment, capture_output=True, text=True, timeout=30, check=False)
            assert run.returncode == 1, run
            assert path in run.stderr and ("malformed" in run.stderr or "damaged" in run.stderr), run.stderr


def removed_database():
    """A database that was removed under the service: nothing more is answered as stored."""
    with service("removed") as s:
        fake.assert_whole(s, s.submit("before"))
        for name in ("shoald.db", "shoald.db-wal", "shoald.db-shm"):
            os.unlink(os.path.join(s.folder, "state", name))
        connection = Connection(s.socket, timeout=2)
        connection.request("POST", "/v1/ensembles", json.dumps(fake.body_of("after")), {"Content-Type": "application/json"})
        try:
            status = connection.getresponse().status
        except TimeoutError:
            status = None  # it is not answered at all
        assert status in (None, 503), status
        assert s.call("GET", "/healthz/ready")[0] == 503
        connection.close()


def wait_health(s, status, part):
    deadline = time.monotonic() + 60
    while True:
        got = s.call("GET", "/healthz/ready")
        if got[0] == status and part in json.dumps(got[1]):
            return
        assert time.monotonic() < deadline, got
        time.sleep(0.05)


def replaced_database():
    """Noticed within seconds by a service that writes nothing: in health, log and exit code. One that comes back is no loss; replicas
    that ran have made their checkpoints."""
    with service("replaced", steps=100000, per_second=100) as s:
        ident = s.submit("runs", windows=(0,))
        s.wait_steps(ident, 0)
        path = os.path.join(s.folder, "state/shoald.db")
        os.rename(path, path + ".away")
        wait_health(s, 503, "removed or replaced")
        os.rename(path + ".away", path)
        wait_health(s, 200, "ok")
        assert "back in its place" in s.log_text()
        shutil.copy(path, path + ".copy")
        os.rename(path + ".copy", path)
        wait_health(s, 503, "removed or replaced")
        assert s.process.wait(timeout=20) == 70, s.process.returncode
        assert "did not come back: draining" in s.log_text()
        written = s.steps(ident, 0)
        assert written == list(range(len(written))) and written, written


def lost_log():
    """The write-ahead log removed, or the database cut short, is noticed as a removed database is. What was answered is in the database
    when the service has ended."""
    with service("log") as s:
        path = os.path.join(s.folder, "state/shoald.db")
        fake.assert_whole(s, s.submit("before"))
        os.rename(path + "-wal", path + ".away")
        wait_health(s, 503, "removed or replaced")
        os.rename(path + ".away", path + "-wal")
        wait_health(s, 200, "ok")
        fake.assert_whole(s, s.submit("after"))
        os.unlink(path + "-wal")
        wait_health(s, 503, "removed or replaced")
        assert s.process.wait(timeout=20) == 70, s.process.returncode
        s.start()
        names = {e["name"] for e in s.call("GET", "/v1/ensembles")[1]["ensembles"]}
        assert names == {"before", "after"}, names
        os.truncate(path, 0)
        wait_health(s, 503, "removed or replaced")
        assert s.process.wait(timeout=20) == 70, s.process.returncode


SCENARIOS = [hanging_job, late_commit, hanging_estimate, dying_estimate, lacking_descriptors, small_files, damaged_database,
             removed_database, replaced_database, lost_log]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
