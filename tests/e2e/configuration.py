#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoald.yaml: what it says is used, is read again at SIGHUP, and a bad one changes nothing.

Usage: configuration.py SHOALD [SCENARIO]...
"""
import os
import signal
import sqlite3
import subprocess
import sys

from fake import as_user, body_of
from scenarios import ROOT, SHOALD, run, service
from service import until


def write(name, text):
    path = os.path.join(ROOT, name + ".yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def reload(s, *lines):
    """SIGHUP; the log has these lines then, in this order."""
    with open(s.log, encoding="utf-8") as f:
        begin = len(f.read())
    s.process.send_signal(signal.SIGHUP)

    def has():
        with open(s.log, encoding="utf-8") as f:
            text = f.read()[begin:]
        for line in lines:
            if line not in text:
                return False
            text = text[text.index(line) + len(line):]
        return True
    until(has, seconds=20)


def limit(s):
    status, answer = s.call("GET", "/v1/usage")
    assert status == 200, answer
    return answer["users"][0]["ensembles_limit"]


def read_again():
    path = write("again", "slots: 3\nuser-ensembles: 5\n")
    with service("again", "--config", path, "--user-readings", "9") as s:
        ident = s.submit("a", windows=(0, 1))
        assert limit(s) == 5
        write("again", "slots: 4\nuser-ensembles: 6\nuser-readings: 3\n")
        reload(s, "slots stays 3; 4 is used from the next start on", "user-ensembles was 5, is 6",
               f"{path} was read again: 2 changes")
        assert limit(s) == 6
        write("again", "user-ensembles: 7\nslice-second: 20\n")
        reload(s, f"nothing is changed: {path}:2: slice-second: unknown key; did you mean slice-seconds?")
        assert limit(s) == 6
        os.unlink(path)
        reload(s, f"nothing is changed: {path}: No such file or directory")
        assert limit(s) == 6
        assert s.wait(ident)["state"] == "done"


def users():
    """The limits of a user, which are others at once when the file is; what was used outlives the service."""
    if os.geteuid() != 0:
        print("users: skipped, needs root to be two users")
        return
    path = write("users", "limits:\n  - {user: daemon, running: 2, ensembles: 2}\n")

    def running(ident):
        return sum(r["state"] == "running" for r in s.get(ident)["replicas"])
    with service("users", "--config", path, "--group", "daemon", slots=6, steps=100000, segment=20, per_second=50) as s:
        ident = as_user(1, lambda: s.call("POST", "/v1/ensembles", body_of("a", windows=(0, 0.2, 0.4, 0.6, 0.8, 1))))[1]["id"]
        until(lambda: running(ident) == 2)
        why = [r["waits"]["for"] for r in s.get(ident)["replicas"] if r["state"] == "queued"]
        assert len(why) == 4 and all("its owner" in w for w in why), why
        write("users", "limits:\n  - {user: daemon, running: 4, ensembles: 1}\n")
        reload(s, "limits were user daemon weight 1 running 2 ensembles 2, are user daemon weight 1 running 4 ensembles 1")
        until(lambda: running(ident) == 4)
        status, answer = as_user(1, lambda: s.call("POST", "/v1/ensembles", body_of("b")))
        assert status == 429 and "limit of 1 ensemble" in answer["error"]["message"], (status, answer)
        write("users", "limits:\n  - {user: daemon, running: 1}\n")
        reload(s, "are user daemon weight 1 running 1")
        until(lambda: running(ident) == 1)
        assert s.stop() == 0
        with sqlite3.connect(os.path.join(s.folder, "state/shoald.db")) as db:
            (uid, used), = db.execute("SELECT uid, used FROM history").fetchall()
        assert uid == 1 and used > 100, (uid, used)


def priorities():
    with service("priorities", slots=1, steps=100000, per_second=50) as s:
        low, high = s.submit("low", windows=(0, 1)), s.submit("high", windows=(0, 1))
        assert s.get(low)["priority"] == "normal"
        assert s.call("POST", f"/v1/ensembles/{high}/priority?to=most")[0] == 400
        status, answer = s.call("POST", f"/v1/ensembles/{high}/priority?to=high")
        assert status == 200 and answer["priority"] == "high", (status, answer)
        assert "its priority is high" in [e["message"] for e in s.events(high)]
        status, answer = s.call("POST", "/v1/ensembles?priority=low", body_of("lowest", windows=(0, 1)))
        assert status == 201 and answer["priority"] == "low", (status, answer)
        assert s.call("POST", "/v1/ensembles?priority=most", body_of("none"))[0] == 400
        s.kill()
        s.start()
        assert [s.get(e)["priority"] for e in (low, high, answer["id"])] == ["normal", "high", "low"]


def bad_at_start():
    path = write("bad", "# a comment\nslots: none\n")
    done = subprocess.run([SHOALD, "--config", path, "--check-config"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and f"{path}:2: slots: none: expected a whole number" in done.stderr, done
    write("bad", "slots: 1\n")
    done = subprocess.run([SHOALD, "--config", path, "--check-config"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == f"{path}: it can be used\n", done


if __name__ == "__main__":
    run([read_again, users, priorities, bad_at_start], sys.argv[2:])
