#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoald's on-end: the command is run once for each end, knows the ensemble and its campaign, never runs for another user's ensemble, and
whatever becomes of it does the service no harm.

Usage: on_end.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import contextlib
import os
import signal
import sqlite3
import sys
import time

import fake
from fake import body_of
from scenarios import ROOT, run, service
from service import Gone, until


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def untold(s):
    """How many ended ensembles have their command yet to come, by the database."""
    with contextlib.closing(sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))) as db:
        return db.execute("SELECT count(*) FROM ensemble WHERE untold").fetchone()[0]


def config(name, command):
    path = os.path.join(ROOT, name + ".yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"on-end: '{command}'\n")
    return path


def told():
    out = os.path.join(ROOT, "told.out")
    command = 'echo "$SHOAL_ENSEMBLE/$SHOAL_NAME/$SHOAL_KEY/$SHOAL_STATE/$SHOAL_CAMPAIGN/$SHOAL_LEFT/$SHOAL_SOCKET" >> ' + out
    with service("told", "--config", config("told", command), per_second=2000) as s:
        def submit(name, key, **labels):
            status, answer = s.call("POST", "/v1/ensembles", {**body_of(name, key), "labels": labels})
            assert status == 201, answer
            return answer["id"]
        one = submit("one", "key")
        assert s.wait(one)["state"] == "done"
        until(lambda: len(lines(out)) == 1)
        assert lines(out) == [f"{one}/one/key/done///{s.socket}"], lines(out)
        s.set_rules(steps=100000, per_second=50)
        first, second, other = submit("first", "a", campaign="c"), submit("second", "b", campaign="c"), submit("other", "o", campaign="d")
        s.act(first, "cancel")
        until(lambda: len(lines(out)) == 2)
        s.act(second, "cancel")
        until(lambda: len(lines(out)) == 3)
        assert lines(out)[1:] == [f"{first}/first/a/cancelled/c/1/{s.socket}", f"{second}/second/b/cancelled/c/0/{s.socket}"], lines(out)
        assert s.get(other)["state"] in ("queued", "running")
        s.act(other, "cancel")
        until(lambda: f"{other}/other/o/cancelled/d/0/{s.socket}" in lines(out))
        assert len(lines(out)) == 4, "one end, one command"


def nobody_else_s():
    """Not even root's service runs a command for another's ensemble."""
    if os.geteuid() != 0:
        print("nobody_else_s: skipped, needs root to be two users")
        return
    out = os.path.join(ROOT, "else.out")
    with service("else", "--group", "daemon", "--on-end", f'id -u >> {out}; echo "$SHOAL_NAME" >> {out}', per_second=50) as s:
        theirs = fake.as_user(1, lambda: s.call("POST", "/v1/ensembles", body_of("theirs")))[1]["id"]
        fake.as_user(1, lambda: s.call("POST", f"/v1/ensembles/{theirs}/cancel"))
        for name in ("mine", "last"):
            s.act(s.submit(name), "cancel")
            until(lambda n=name: n in lines(out))
        assert lines(out) == ["0", "mine", "0", "last"], lines(out)


def harmless():
    """One that fails is told of; one that hangs holds neither the service nor the others up for ever, nor its stop."""
    out = os.path.join(ROOT, "harm.out")
    command = f'echo "$SHOAL_NAME" >> {out}; case $SHOAL_NAME in bad) exit 3;; killed) kill -9 $$;; slow*) exec sleep 1000;; esac'
    with service("harm", "--on-end", command, per_second=50) as s:
        for name, said in (("bad", "status 3"), ("killed", "signal 9")):
            ident = s.submit(name)
            s.act(ident, "cancel")
            until(lambda i=ident, t=said: f"on-end: the command for ensemble {i} ended with {t}" in s.log_text())
        for name in ("slow1", "slow2", "slow3", "slow4", "late"):
            s.act(s.submit(name), "cancel")
        until(lambda: len(lines(out)) == 6)
        time.sleep(0.3)  # for a fifth, which must not begin
        assert sorted(lines(out)) == ["bad", "killed", "slow1", "slow2", "slow3", "slow4"], "four at once"
        sleepers = s.children("sleep")
        assert len(sleepers) == 4
        os.kill(sleepers.pop(), signal.SIGTERM)
        until(lambda: "late" in lines(out))
        last = [s.submit("slow5"), s.submit("later")]
        for ident in last:
            s.act(ident, "cancel")
        until(lambda: "slow5" in lines(out))
        sleepers = s.children("sleep")
        begin = time.monotonic()
        assert s.stop() == 0 and time.monotonic() - begin < 20
        assert f"on-end: the service stops: the command for ensemble {last[1]} runs at the next start" in s.log_text()
        assert "later" not in lines(out)
        for process in sleepers:
            os.kill(process, signal.SIGTERM)  # they were left alone
        for _ in range(2):
            s.start()
            until(lambda: "later" in lines(out))
            until(lambda: not untold(s))
            s.kill()
        assert lines(out).count("later") == 1 and lines(out).count("slow5") == 1, lines(out)


def stopping():
    """Ends while the service is being stopped, or when it is killed: each has its command, once, now or at the next start."""
    out = os.path.join(ROOT, "stopping.out")
    with service("stopping", "--on-end", f'echo "$SHOAL_NAME" >> {out}', per_second=50, drain_seconds=0.2) as s:
        names = [f"e{i}" for i in range(40)]
        idents = {name: s.submit(name) for name in names}
        s.wait_steps(idents["e0"], 0)
        cancelled = []

        def cancel_until_gone():
            for name in names[len(cancelled):]:
                try:
                    s.act(idents[name], "cancel")
                except (Gone, AssertionError):
                    return
                cancelled.append(name)
                time.sleep(0.01)
        s.process.send_signal(signal.SIGTERM)
        cancel_until_gone()
        s.process.wait(20)
        stopped = len(cancelled)
        assert 0 < stopped < len(names), "it was stopped in the middle"
        s.start()
        s.act(idents[names[-1]], "cancel")
        s.kill()
        s.start()
        until(lambda: set(lines(out)) >= {*cancelled, names[-1]})
        until(lambda: not untold(s) and not s.children("sh"))
        told = lines(out)
        if told.count(names[-1]) == 2:  # it was killed in the moment of the command's start
            told.remove(names[-1])
        assert sorted(told) == sorted({*told}) and {*told} - {*cancelled, names[-1]} <= {names[stopped]}, (told, cancelled)


if __name__ == "__main__":
    run([told, nobody_else_s, harmless, stopping], sys.argv[2:])
