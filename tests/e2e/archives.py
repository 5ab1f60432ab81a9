#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What shoald imports and exports: archives that are damaged, cut short, hostile or newer are refused with a sentence and leave nothing
behind; limits of users hold; nobody exports what is another's, and an ensemble stays as it is while it is exported.

Usage: archives.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import ctypes
import ctypes.util
import hashlib
import http.client
import io
import json
import os
import re
import sys
import tarfile
import time

import fake
from fake import assert_whole, body_of
from scenarios import ROOT, run, service
from service import Connection, until

HEAD, SUMS = "shoal-ensemble.json", "shoal-checksums.json"
LIBZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
for _name in ("ZSTD_compress", "ZSTD_decompress", "ZSTD_compressBound"):
    getattr(LIBZSTD, _name).restype = ctypes.c_size_t


def compress(data):
    room = ctypes.create_string_buffer(LIBZSTD.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    n = LIBZSTD.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 3)
    return room.raw[:n]


def decompress(data, most=64 << 20):
    room = ctypes.create_string_buffer(most)
    n = LIBZSTD.ZSTD_decompress(room, ctypes.c_size_t(most), data, ctypes.c_size_t(len(data)))
    assert n <= most, "not zstd"
    return room.raw[:n]


def members_of(archive):
    """[[name, bytes]] without the folder in it."""
    with tarfile.open(fileobj=io.BytesIO(decompress(archive))) as tar:
        return [[m.name.split("/", 1)[1], tar.extractfile(m).read()] for m in tar]


def pack(members, folder="abcdefghjk", change=lambda info: None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in members:
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(data)
            change(info)
            tar.addfile(info, io.BytesIO(data))
    return compress(out.getvalue())


def upload(s, archive, chunked=False):
    """(status, answer)"""
    connection = Connection(s.socket)
    try:
        try:
            connection.request("POST", "/v1/import", iter([archive]) if chunked else archive, encode_chunked=chunked)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service has answered before it had all of it
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def export(s, ident):
    status, data = s.raw("GET", f"/v1/ensembles/{ident}/export")
    assert status == 200, data
    return data


def files_below(s):
    return sorted(os.path.join(at, name) for top in ("imports", "ensembles")
                  for at, _, names in os.walk(os.path.join(s.folder, "state", top)) for name in names)


def ended_archive(s, key="kept"):
    """Of an ensemble that has ended, and is here no more."""
    ident = s.submit("source", key)
    assert_whole(s, ident)
    archive = export(s, ident)
    assert s.call("DELETE", f"/v1/ensembles/{ident}")[0] == 200, "with its last byte an export is over"
    return ident, archive


def with_head(members, change):
    head = json.loads(members[0][1])
    change(head)
    return [[HEAD, json.dumps(head).encode()], *members[1:]]


def with_file(members, name, data, listed=True, at=-1):
    """One more, or in place of one: of so many bytes, and listed so, with a checksum of nobody."""
    def change(head):
        head["files"].insert(at if at >= 0 else len(head["files"]), [name, len(data)])
    out = with_head(members, change) if listed else list(members)
    out.insert(at + 1 if at >= 0 else len(out) - 1, [name, data])
    return out


def replaced(members, name, data):
    return [[n, data if n == name else d] for n, d in members]


def summed(members):
    """With the checksums that it should have."""
    listed = [name for name, _ in json.loads(members[0][1])["files"]]
    sums = [hashlib.sha256(dict(members)[name]).hexdigest() for name in listed]
    return replaced(members, SUMS, json.dumps({"sha256": sums}).encode())


def with_spec(members, spec):
    def change(head):
        for file in head["files"]:
            file[1] = len(spec) if file[0] == "input/spec.yaml" else file[1]
    return summed(replaced(with_head(members, change), "input/spec.yaml", spec))


def hostile(members):
    """(what, archive, code, words of the refusal)"""
    def head(what, change, code="ARCHIVE", words="head"):
        return what, pack(with_head(members, change)), code, words

    def of(part, **values):
        return lambda h: (h[part] if isinstance(h[part], dict) else h[part][0]).update(values)

    def member(what, words, wanted=None, **values):
        name = wanted or "lambda_00/steps"

        def change(info):
            if info.name.endswith("/" + name):
                for key, value in values.items():
                    setattr(info, key, value)
        return what, pack(members, change=change), "ARCHIVE", words
    yield "text", b"this is no archive" * 100, "ARCHIVE", "shoal export"
    yield "nothing", b"", "ARCHIVE", "shoal export"
    yield "another tar", pack([["a", b"b"]]), "ARCHIVE", "shoal export"
    yield head("newer", lambda h: h.update(version=2, program="9.9"), "UNSUPPORTED", "by Shoal 9.9")
    yield head("another format", lambda h: h.update(format="zip"))
    for path in ("../x", "a/../../x", "/etc/x", "lambda_00//x", ".hidden", "a/.ssh/x", "x.tmp", "a\nb", "x" * 600, ""):
        yield f"the path {path[:20]!r}", pack(with_file(members, path, b"x")), "ARCHIVE", "lists a file"
    yield "not listed", pack(with_file(members, "lambda_00/more", b"x", listed=False)), "ARCHIVE", "does not list"
    yield "not there", pack([m for m in members if m[0] != "lambda_00/steps"]), "ARCHIVE", "where its head lists"
    yield "twice", pack(with_file(members, "lambda_00/steps", b"x")), "ARCHIVE", "twice"
    yield "file and folder", pack(with_file(members, "lambda_00/steps/x", b"x")), "ARCHIVE", "as a folder"
    yield member("a symbolic link", "is a link", type=tarfile.SYMTYPE, linkname="/etc/passwd", size=0)
    yield member("a hard link", "is a link", type=tarfile.LNKTYPE, linkname="abcdefghjk/" + HEAD, size=0)
    yield member("a device", "is a link", type=tarfile.CHRTYPE, size=0)
    yield "longer than listed", pack(replaced(members, "lambda_00/steps", b"1\n" * 1000)), "ARCHIVE", "where its head lists"
    steps = dict(members)["lambda_00/steps"]
    yield "other bytes", pack(replaced(members, "lambda_00/steps", steps[:-1] + b"9")), "ARCHIVE", "is not what was written"
    yield "no checksums", pack(members[:-1]), "ARCHIVE", "cut short"
    yield "more behind", pack([*members, ["x", b"x"]]), "ARCHIVE", "goes on behind"
    spec = dict(members)["input/spec.yaml"]
    yield "a spec that is none", pack(with_spec(members, b"steps: many\n")), "SPEC", "steps"
    yield "a spec with another ladder", pack(with_spec(members, re.sub(rb"vdw: .*}", b"vdw: [0, 0.5]}", spec))), "ARCHIVE", '"windows"'
    yield "a spec that is no text", pack(with_spec(members, b"\xff\xfe")), "ARCHIVE", "UTF-8"
    yield "a file of the spec's is missing", pack(with_spec(members, spec.replace(b"tiny.gro", b"other.gro"))), "MISSING_FILE", "other.gro"
    yield head("another id", of("ensemble", id="../../../x"), words="has no id")
    yield head("another hash", of("ensemble", hash="x" * 64), words='"hash"')
    yield head("a state that is none", of("ensemble", state="running"), words='"state"')
    yield head("windows", of("ensemble", windows=2), words='"windows"')
    yield head("too few replicas", lambda h: h["replicas"].pop(), words='"replicas"')
    yield head("no sets", lambda h: h.pop("sets"), words='"sets"')
    yield head("steps below zero", of("replicas", steps=-1), words='"steps"')
    yield head("beyond its target", of("replicas", step=1 << 40), words='"step"')
    yield head("less used than made", of("replicas", used_step=3), words='"used_step"')
    yield head("a stream twice", of("replicas", stream=1), words='"stream"')
    yield head("time that is none", of("replicas", time_ps="x"), words='"time_ps"')
    yield head("a replica's state", of("replicas", state="paused"), words='"state"')
    yield head("an event of no window", lambda h: h["events"].append(dict(h["events"][0], window=99, repeat=0)), words='"events"')
    yield head("events that are none", lambda h: h.update(events=3), words='"events"')
    yield head("labels", of("ensemble", labels={"a b": "c"}), "USAGE", "labels")


def refused(s, what, archive, code, words, before):
    status, answer = upload(s, archive)
    error = answer.get("error", {})
    assert status >= 400 and error.get("code") == code and (words is None or words in error["message"]), (what, status, answer)
    assert files_below(s) == before and s.call("GET", "/v1/ensembles")[1]["ensembles"] == [], what


def refusals():
    with service("refusals", per_second=5000) as s:
        ident, archive = ended_archive(s)
        members, before = members_of(archive), files_below(s)
        assert members[0][0] == HEAD and members[-1][0] == SUMS and before == []
        assert json.loads(members[0][1])["ensemble"]["id"] == ident
        n = 0
        for n, (what, made, code, words) in enumerate(hostile(members), 1):
            refused(s, what, made, code, words, before)
        for part in [len(archive) * k // 8 for k in range(8)] + [len(archive) - 1]:
            refused(s, f"{part} bytes of {len(archive)}", archive[:part], "ARCHIVE", None, before)
        bad = bytearray(archive)
        bad[len(bad) // 2] ^= 0x55
        refused(s, "a flipped bit", bytes(bad), "ARCHIVE", None, before)
        assert upload(s, pack(members, ident), chunked=True)[0] == 201, "what was taken apart and put together is taken"
        assert s.get(ident)["state"] == "done"
        status, answer = upload(s, archive)
        assert status == 409 and "is here already" in answer["error"]["message"], answer
        assert os.listdir(os.path.join(s.folder, "state/imports")) == []
        print(f"{n} ways to be refused")


def keys():
    """An ensemble keeps its key: another ensemble's is not taken from it."""
    with service("keys", per_second=5000) as s:
        ident, archive = ended_archive(s)
        other = s.submit("other", "kept")
        status, answer = upload(s, archive)
        assert status == 409 and f"key \"kept\" is that of your ensemble {other}" in answer["error"]["message"], answer
        s.wait(other)
        until(lambda: s.call("DELETE", f"/v1/ensembles/{other}")[0] == 200)
        until(lambda: upload(s, archive)[0] == 201)
        assert s.call("POST", "/v1/ensembles", body_of("source", "kept")) [1]["id"] == ident, "said again it is the same"
        for act in ("import", "export"):
            lines = [line for line in s.log_text().splitlines() if f"act={act} " in line]
            assert len(lines) == 1 and f"uid={os.geteuid()} ensemble={ident} owner=" in lines[0], lines


def limits():
    """Of the user who imports: how many bytes, how many ensembles; and an archive that says it is small."""
    if os.geteuid() != 0:
        print("limits: skipped, needs root to be two users")
        return
    with service("limits", "--group", "daemon", "--user-stored-bytes", "1000k", "--user-ensembles", "1", per_second=5000) as s:
        ident, archive = ended_archive(s)
        members = members_of(archive)

        def as_daemon(made):
            return fake.as_user(1, lambda: upload(s, made))
        huge = with_head(members, lambda h: h["files"].append(["lambda_00/huge", 1 << 50]))
        status, answer = as_daemon(pack(huge))
        assert status == 429 and "you may store 1.0 MB more" in answer["error"]["message"], answer
        bomb = with_file(members, "lambda_00/zeros", bytes(50 << 20))
        status, answer = as_daemon(pack(bomb))
        assert len(pack(bomb)) < 200000 and status == 429 and "LIMIT" == answer["error"]["code"], answer
        lie = with_head(bomb, lambda h: h["files"][-1].__setitem__(1, 10))
        status, answer = as_daemon(pack(lie))
        assert status == 422 and "where its head lists 10" in answer["error"]["message"], answer
        assert files_below(s) == []
        status, answer = as_daemon(archive)
        assert status == 201 and answer["owner"] == 1 and answer["id"] == ident, answer
        usage = fake.as_user(1, lambda: s.call("GET", "/v1/usage"))[1]["users"][0]
        assert usage["ensembles"] == 1 and usage["bytes"] > 0, usage
        status, answer = fake.as_user(1, lambda: s.call("POST", "/v1/ensembles", body_of("more")))
        assert status == 429, answer
        assert fake.as_user(2, lambda: s.call("GET", f"/v1/ensembles/{ident}/export"), [1])[0] == 404


def still():
    """One that runs is not exported; while one is, it stays as it is."""
    with service("still", per_second=50) as s:
        ident = s.submit("slow")
        s.wait_steps(ident, 0)
        status, answer = s.call("GET", f"/v1/ensembles/{ident}/export")
        assert status == 409 and "pause it first" in answer["error"]["message"], answer
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        folder = os.path.join(s.folder, "state/ensembles", ident, "lambda_00")
        with open(os.path.join(folder, "large"), "wb") as f:
            f.write(os.urandom(8 << 20))
        connection = Connection(s.socket)
        connection.request("GET", f"/v1/ensembles/{ident}/export")
        answer = connection.getresponse()
        first = answer.read(1000)
        for what in ("resume", "cancel", "extend?time=2%20ps"):
            status, said = s.call("POST", f"/v1/ensembles/{ident}/{what}")
            assert status == 503 and "is being exported" in said["error"]["message"], (what, said)
        members = dict(members_of(first + answer.read()))
        assert len(members["lambda_00/large"]) == 8 << 20
        connection.close()
        until(lambda: s.call("POST", f"/v1/ensembles/{ident}/resume")[0] == 200)
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        with open(os.path.join(folder, "large"), "wb") as f:
            f.write(os.urandom(8 << 20))
        whole = export(s, ident)
        connection = Connection(s.socket)
        connection.request("GET", f"/v1/ensembles/{ident}/export")
        answer = connection.getresponse()
        os.truncate(os.path.join(folder, "large"), 10)  # somebody's hand in the folder
        try:
            whole = answer.read()
            raise AssertionError(f"a file that became shorter: {len(whole)} bytes")
        except (http.client.IncompleteRead, ConnectionError):
            pass
        until(lambda: "it is not what it was when it was listed" in s.log_text())
        connection.close()
        until(lambda: s.call("DELETE", f"/v1/ensembles/{ident}")[0] == 200)
        assert upload(s, whole)[0] == 201, "longer than what waits for its reader"
        assert os.path.getsize(os.path.join(folder, "large")) == 8 << 20


def interrupted():
    """A client that leaves; a service that is killed or stopped in the middle: nothing stays."""
    with service("interrupted", per_second=5000) as s:
        ident, archive = ended_archive(s)
        imports = os.path.join(s.folder, "state/imports")
        os.makedirs(imports)

        def half():
            connection = Connection(s.socket)
            connection.putrequest("POST", "/v1/import")
            connection.putheader("Content-Length", str(len(archive)))
            connection.endheaders()
            connection.send(archive[:len(archive) // 2])
            until(lambda: os.listdir(imports))
            return connection
        half().close()
        until(lambda: os.listdir(imports) == [])
        connection = half()
        status, answer = upload(s, archive)
        assert status == 503 and "another import of yours" in answer["error"]["message"], answer
        s.kill()
        connection.close()
        os.makedirs(os.path.join(imports, ident))
        s.start()
        assert os.listdir(imports) == []
        connection = half()
        begin = time.monotonic()
        assert s.stop() == 0 and time.monotonic() - begin < 10
        connection.close()
        s.start()
        assert os.listdir(imports) == [] and files_below(s) == []
        assert upload(s, archive)[0] == 201
        s.kill()  # as if it had died between the commit and the move of the folder
        os.rename(os.path.join(s.folder, "state/ensembles", ident), os.path.join(imports, ident))
        s.start()
        assert s.steps(ident, 0) and s.get(ident)["state"] == "done" and os.listdir(imports) == []


if __name__ == "__main__":
    assert ROOT
    run([refusals, keys, limits, still, interrupted], sys.argv[2:])
