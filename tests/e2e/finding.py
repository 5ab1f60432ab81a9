#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists and their filters, the words that stand for an ensemble, labels, removal, what users have stored.

Usage: finding.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import os
import socket
import sqlite3
import sys
import time
import urllib.parse

from fake import as_user, assert_whole, body_of
from scenarios import run, service
from service import Connection, until


def submit(s, name, key=None, **labels):
    status, answer = s.call("POST", "/v1/ensembles", {**body_of(name, key), "labels": labels})
    assert status == 201 and answer["labels"] == labels, answer
    return answer["id"]


def listed(s, **query):
    """(ids, next) of a page."""
    status, answer = s.call("GET", "/v1/ensembles?" + urllib.parse.urlencode(query, doseq=True))
    assert status == 200, answer
    return [e["id"] for e in answer["ensembles"]], answer["next"]


def pages():
    with service("pages", steps=100000, per_second=100) as s:
        ids = [submit(s, f"p{i % 3}") for i in range(11)][::-1]
        assert listed(s) == (ids, None)
        seen, after = [], {}
        for expected in (4, 4, 3):
            page, cursor = listed(s, limit=4, **after)
            assert len(page) == expected, page
            seen += page
            after = {"after": cursor}
        assert seen == ids and cursor is None
        assert listed(s, limit=11) == (ids, None)
        page, cursor = listed(s, limit=10)
        assert cursor and listed(s, limit=10, after=cursor) == (ids[10:], None)
        page, cursor = listed(s, limit=2, name="p0")  # the last that was submitted is p1
        assert page == [ids[1], ids[4]] and listed(s, limit=2, name="p0", after=cursor) == ([ids[7], ids[10]], None)
        s.act(page[1], "cancel")
        s.wait_replicas(page[1], lambda r: r["state"] == "cancelled")
        assert s.call("DELETE", f"/v1/ensembles/{page[1]}")[0] == 200
        assert listed(s, limit=2, name="p0", after=cursor) == ([ids[7], ids[10]], None), "a cursor whose ensemble is gone"
        for query in ("limit=x", "after=abc", "limit=-1", "label=", "colour=red"):
            assert s.call("GET", "/v1/ensembles?" + query)[0] == 400, query


def filters():
    with service("filters") as s:
        a = submit(s, "one", "k1", project="water", team="x")
        b = submit(s, "one", "k2", project="water", team="y")
        c = submit(s, "two", None, project="oil")
        for ident in (a, b, c):
            assert_whole(s, ident)

        def find(**query):
            return set(listed(s, **query)[0])

        assert find(label="project=water") == {a, b}
        assert find(label=["project=water", "team=y"]) == {b}
        assert find(label="project") == {a, b, c} and find(label="team") == {a, b} and find(label="nothing") == set()
        assert find(label="project=") == set()
        assert find(label=["project=water", "project=oil"]) == {a, b, c}, "values of one key are alternatives"
        assert find(label=["project=water", "project=oil", "team=y"]) == {b} and find(label=["project=oil", "team=y"]) == set()
        assert find(label=["team=x", "team"]) == {a, b} and find(label=["project=none", "project=oil"]) == {c}
        assert find(name="one") == {a, b} and find(name="on") == set()
        assert find(key="k2") == {b}
        assert find(state="done") == {a, b, c} and find(state="running") == set()
        assert find(state="done", label="project=oil") == {c}
        assert find(state="queued,done") == find(state=["queued", "done"]) == find(state="done") != set()
        assert find(state="queued,paused") == set()
        for query in ("state=done,", "state=,done", "state=done,dead", "state="):
            assert s.call("GET", "/v1/ensembles?" + query)[0] == 400, query
        assert find(owner=os.geteuid()) == {a, b, c} and find(owner=54321) == set()
        assert find(older_than=3600) == set()
        until(lambda: find(older_than=1) == {a, b, c})
        s.kill()
        s.start()
        assert s.get(b)["labels"] == {"project": "water", "team": "y"}, "labels are lost"
        assert find(label="team=x") == {a}
        status, answer = s.call("POST", "/v1/ensembles", {**body_of("one", "k1"), "labels": {"project": "other"}})
        assert status == 200 and answer["labels"]["project"] == "water", "the same content is the same ensemble"


def words():
    """An id, else a key, else a name, else the beginning of an id."""
    with service("words") as s:
        a, b, c = submit(s, "solo", "key-a"), submit(s, "twin", "key-b"), submit(s, "twin")

        def finds(word):
            status, answer = s.call("GET", "/v1/ensembles/" + urllib.parse.quote(word))
            return answer["id"] if status == 200 else (status, answer["error"])

        assert finds(a) == finds("key-a") == finds("solo") == finds(a[:6]) == a
        assert finds("key-b") == b
        status, error = finds("twin")
        assert status == 409 and error["code"] == "CONFLICT", error
        assert {e["id"] for e in error["candidates"]} == {b, c} and b in error["message"] and c in error["message"], error
        assert all(e["name"] == "twin" for e in error["candidates"])
        d = submit(s, "key-a", "solo")  # whose key is a name, and whose name is a key
        assert finds("key-a") == a and finds("solo") == d, "a key comes before a name"
        e = submit(s, a[:5], a)
        assert finds(a) == a and finds(a[:5]) == e, "an id comes before all, its beginning after all"
        assert finds("no such thing")[0] == 404 and finds(a[:3])[0] == 404
        status, data = s.raw("GET", "/v1/ensembles/key-a/events")
        assert status == 200
        assert_whole(s, a)
        assert s.raw("GET", "/v1/ensembles/key-a/files/input/tiny.top")[0] == 200
        assert s.call("POST", "/v1/ensembles/key-a/cancel")[0] == 409
        if os.geteuid() == 0:
            os.chmod(s.socket, 0o666)
            mine = as_user(12345, lambda: s.call("POST", "/v1/ensembles", body_of("twin", "key-a")))
            assert mine[0] == 201, mine
            assert as_user(12345, lambda: s.call("GET", "/v1/ensembles/key-a"))[1]["id"] == mine[1]["id"]
            assert as_user(12345, lambda: s.call("GET", "/v1/ensembles/twin"))[1]["id"] == mine[1]["id"]
            assert as_user(12345, lambda: s.call("GET", "/v1/ensembles/solo"))[0] == 404
            assert finds("key-a") == a, "one's own comes first"
            assert as_user(12345, lambda: s.call("DELETE", f"/v1/ensembles/{a}"))[0] == 404


def removal():
    with service("removal", steps=100000, per_second=200) as s:
        ident = submit(s, "r", "rkey", a="b")
        s.wait_steps(ident, 0, 1)
        status, answer = s.call("DELETE", f"/v1/ensembles/{ident}")
        assert status == 409 and "cancel it first" in answer["error"]["message"], answer
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        folder = os.path.join(s.folder, "state/ensembles", ident)
        with open(os.path.join(folder, "lambda_00/large"), "wb") as f:
            f.write(bytes(3000000))
        os.symlink("/etc", os.path.join(folder, "lambda_00/link"))
        follower = Connection(s.socket)
        follower.request("GET", f"/v1/ensembles/{ident}/events?follow=1&since=10000")
        status, answer = s.call("DELETE", f"/v1/ensembles/{ident}")
        assert status == 200 and answer["id"] == ident and answer["bytes"] > 3000000, answer
        assert not os.path.exists(folder) and os.path.exists("/etc/passwd")
        assert follower.getresponse().read() == b""
        assert s.call("GET", f"/v1/ensembles/{ident}")[0] == 404 and s.call("GET", "/v1/ensembles/rkey")[0] == 404
        assert s.call("DELETE", f"/v1/ensembles/{ident}")[0] == 404
        assert listed(s) == ([], None)
        s.set_rules()
        again = submit(s, "r", "rkey")
        assert again != ident, "the key is free again"
        assert_whole(s, again)
        kept = submit(s, "kept")
        assert_whole(s, kept)
        assert s.call("DELETE", f"/v1/ensembles/{again}")[0] == 200
        s.kill()
        # As a crash between the rows and the folder leaves it.
        database = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
        for table in ("event", "replica", "replica_set", "input_file", "label"):
            assert database.execute(f"SELECT count(DISTINCT ensemble) FROM {table}").fetchone()[0] <= 1, table
        database.execute("INSERT INTO removal (id) VALUES ('halfgone')")
        database.commit()
        database.close()
        half = os.path.join(s.folder, "state/ensembles/halfgone")
        os.makedirs(os.path.join(half, "lambda_00"))
        s.start()
        deadline = time.monotonic() + 60
        while os.path.exists(half):
            assert time.monotonic() < deadline, "a removal that was interrupted does not go on"
            time.sleep(0.02)
        assert listed(s) == ([kept], None)
        assert s.stop() == 0
        database = sqlite3.connect(os.path.join(s.folder, "state/shoald.db"))
        assert database.execute("SELECT count(*) FROM removal").fetchone() == (0,)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        database.close()


def usage():
    """Ensembles and bytes count against their owner, until they are removed."""
    with service("usage", "--user-ensembles", "3", "--user-stored-bytes", "2M") as s:
        if os.geteuid() == 0:
            os.chmod(s.socket, 0o666)

        def call(*request):
            return as_user(12345, lambda: s.call(*request)) if os.geteuid() == 0 else s.call(*request)

        ids = [call("POST", "/v1/ensembles", body_of(f"u{i}"))[1]["id"] for i in range(3)]
        status, answer = call("POST", "/v1/ensembles", body_of("one-more"))
        assert status == 429 and answer["error"]["code"] == "LIMIT" and "3 ensembles" in answer["error"]["message"], answer
        for ident in ids:
            assert_whole(s, ident)
        folder = os.path.join(s.folder, "state/ensembles", ids[0])
        with open(os.path.join(folder, "lambda_00/large"), "wb") as f:
            f.write(os.urandom(3000000))
        assert call("DELETE", f"/v1/ensembles/{ids[1]}")[0] == 200
        s.kill()
        s.start()  # what is there is measured again
        if os.geteuid() == 0:
            os.chmod(s.socket, 0o666)
        deadline = time.monotonic() + 60
        while True:
            mine = call("GET", "/v1/usage")[1]["users"][0]
            if mine["bytes"] > 3000000:
                break
            assert time.monotonic() < deadline, mine
            time.sleep(0.05)
        assert mine["limited"] and mine["ensembles"] == 2 and mine["ensembles_limit"] == 3 and mine["bytes_limit"] == 2000000, mine
        assert call("GET", f"/v1/ensembles/{ids[0]}")[1]["bytes"] > 3000000
        status, answer = call("POST", "/v1/ensembles", body_of("one-more"))
        assert status == 429 and "2000000 bytes stored" in answer["error"]["message"], answer
        assert call("DELETE", f"/v1/ensembles/{ids[0]}")[1]["bytes"] > 3000000
        status, answer = call("POST", "/v1/ensembles", body_of("one-more"))
        assert status == 201, answer
        if os.geteuid() == 0:
            users = {u["owner"]: u for u in s.call("GET", "/v1/usage")[1]["users"]}
            assert set(users) == {0, 12345} and users[12345]["ensembles"] == 2, users
            assert [users[uid]["limited"] for uid in (0, 12345)] == [False, True], users


def methods():
    with service("methods") as s:
        ident = submit(s, "m")
        assert_whole(s, ident)
        for method, path, allow in (("DELETE", "/v1/ensembles", "GET, HEAD, POST"), ("PUT", "/v1/version", "GET, HEAD"),
                                    ("GET", "/v1/validate", "POST"), ("POST", f"/v1/ensembles/{ident}", "GET, HEAD, DELETE"),
                                    ("GET", f"/v1/ensembles/{ident}/cancel", "POST")):
            c = Connection(s.socket)
            c.request(method, path)
            answer = c.getresponse()
            assert (answer.status, answer.getheader("Allow")) == (405, allow), (method, path, answer.status, answer.headers)
        wide = s.submit("wide", windows=[k / 600 for k in range(600)])  # whose status comes in pieces
        s.act(wide, "cancel")
        streams = [f"/v1/ensembles/{wide}", f"/v1/ensembles/{ident}/events"]
        for path in ("/healthz/live", "/v1/ensembles", f"/v1/ensembles/{ident}", f"/v1/ensembles/{ident}/files/input/tiny.top",
                     "/v1/nothing", *streams):
            c = Connection(s.socket)
            c.request("GET", path)
            get = c.getresponse()
            body = get.read()
            c.request("HEAD", path)  # on the same connection: a body would be in the way
            head = c.getresponse()
            assert head.status == get.status and head.read() == b"", path
            told = (head.getheader("Content-Length"), head.getheader("Transfer-Encoding"))
            assert told == ((None, None) if path in streams else (str(len(body)), None)), (path, told)
            assert head.getheader("Content-Type") == get.getheader("Content-Type"), path
            k = socket.socket(socket.AF_UNIX)
            k.connect(s.socket)
            k.sendall(f"HEAD {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            assert b"".join(iter(lambda: k.recv(1 << 16), b"")).endswith(b"\r\n\r\n"), path
            k.close()
            c.request("GET", "/healthz/live")
            assert c.getresponse().read() == b'{"ok":true}\n'


SCENARIOS = [pages, filters, words, removal, usage, methods]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
