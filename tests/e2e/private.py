#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose the state is, who may connect, and starts that must be refused with a sentence.

Usage: private.py SHOALD [NAME...]    only the scenarios with one of the names
"""
import grp
import os
import pwd
import shutil
import stat
import subprocess
import sys

from fake import FAKE, as_user, assert_whole
from scenarios import run, service
from service import AS_IS, Gone


def refused(s, *parts, seconds=20):
    """It does not start, says why in one line, and dies of no signal."""
    done = subprocess.run(s.command, env=s.environment, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 1, done
    for part in parts:
        assert part in done.stderr, (part, done.stderr)
    assert done.stderr.count("\n") == 1, done.stderr


def open_to_others(folder):
    """What somebody else could read or enter below a folder."""
    found = []
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            if os.lstat(path).st_mode & 0o077 and not stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
    return found


def files_are_private():
    os.umask(0)
    with service("files") as s:
        ident = s.submit("f")
        assert_whole(s, ident)
        state = os.path.join(s.folder, "state")
        assert stat.S_IMODE(os.stat(state).st_mode) == 0o700
        assert open_to_others(state) == []
        assert stat.S_IMODE(os.stat(s.socket).st_mode) == 0o600
        assert s.stop() == 0
        os.chmod(state, 0o755)
        s.start()
        assert stat.S_IMODE(os.stat(state).st_mode) == 0o700, "an open state folder stays open"
        assert s.get(ident)["state"] == "done"


def somebody_elses_folder():
    if os.geteuid() != 0:
        print("somebody_elses_folder: skipped, needs root to make one")
        return
    s = service("elses")
    os.mkdir(os.path.join(s.folder, "state"))
    os.chown(os.path.join(s.folder, "state"), 12345, 12345)
    refused(s, "belongs to user 12345", "--state")


def drops_root():
    """Started by root, service and workers run as the user it is told, with files and socket of that user's."""
    if os.geteuid() != 0:
        print("drops_root: skipped, needs root")
        return
    nobody, group = pwd.getpwnam("nobody"), grp.getgrnam("daemon")
    s = service("drop", steps=100000, per_second=100)
    os.chown(s.folder, nobody.pw_uid, nobody.pw_gid)
    # nobody must be able to reach the worker, and the Python that runs it.
    shutil.copy(os.path.join(os.path.dirname(FAKE), "fake_worker.py"), s.folder)
    s.environment.update(SHOAL_WORKER=shutil.copy(FAKE, s.folder), PATH="/usr/bin:/bin",
                         FAKE_REAL_WORKER=shutil.copy(s.environment["FAKE_REAL_WORKER"], s.folder))
    s.command = [word for word in s.command if word not in AS_IS] + ["--user", "nobody", "--group", "daemon"]
    with s:
        for pid in [s.process.pid, *s.children()]:
            with open(f"/proc/{pid}/status", encoding="ascii") as f:
                lines = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
            assert lines["Uid"].split() == [str(nobody.pw_uid)] * 4, lines["Uid"]
            assert lines["Gid"].split() == [str(nobody.pw_gid)] * 4 and lines["Groups"].split() == [], lines
        state = os.stat(os.path.join(s.folder, "state"))
        assert state.st_uid == nobody.pw_uid and stat.S_IMODE(state.st_mode) == 0o700
        made = os.stat(s.socket)
        assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (nobody.pw_uid, group.gr_gid, 0o660)
        assert s.call("GET", "/v1/ensembles")[0] == 200, "root cannot connect"

        def outside():
            try:
                return s.call("GET", "/v1/ensembles")[0]
            except Gone as gone:
                return str(gone)

        assert "Permission denied" in as_user(12345, outside)
        assert as_user(12345, outside, groups=[group.gr_gid]) == 200
        s.submit("as-nobody")
        assert s.stop() == 0
        assert not os.path.exists(s.socket), "its own socket is left behind"
    s.command = s.command[:-4]
    try:
        pwd.getpwnam("shoal")
    except KeyError:
        refused(s, 'no user "shoal"', "--user root")


def socket_is_a_file():
    s = service("file")
    with open(s.socket, "w", encoding="utf-8") as f:
        f.write("precious")
    refused(s, s.socket, "no socket")
    with open(s.socket, encoding="utf-8") as f:
        assert f.read() == "precious"


def no_standard_descriptors():
    """Descriptors 0 to 2 closed by whoever starts it: it works, and the worker too."""
    s = service("closed")
    s.command = ["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *s.command]
    with s:
        assert_whole(s, s.submit("c"))
        for fd in (0, 1, 2):
            assert os.readlink(f"/proc/{s.process.pid}/fd/{fd}") == "/dev/null"


def database_gone():
    """A database that is missing or empty beside ensembles is not taken for a new beginning."""
    with service("gone") as s:
        ident = s.submit("g")
        assert_whole(s, ident)
        assert s.stop() == 0
        database = os.path.join(s.folder, "state/shoald.db")
        os.rename(database, database + ".copy")
        refused(s, database, "is missing", "put the database back")
        with open(database, "wb"):
            pass
        refused(s, database, "is empty")
        os.rename(database + ".copy", database)
        s.start()
        assert s.get(ident)["state"] == "done"
        assert s.stop() == 0
        os.unlink(database)
        os.rename(os.path.join(s.folder, "state/ensembles"), os.path.join(s.folder, "state/old"))  # the way out
        s.start()
        assert s.call("GET", "/v1/ensembles")[1]["ensembles"] == []


def database_damaged():
    with service("damaged") as s:
        for i in range(3):
            s.submit(f"d{i}")
        assert s.stop() == 0
        database = os.path.join(s.folder, "state/shoald.db")
        with open(database, "rb") as f:
            whole = f.read()

        def holding(data):
            for suffix in ("-wal", "-shm"):
                if os.path.exists(database + suffix):
                    os.unlink(database + suffix)
            with open(database, "wb") as f:
                f.write(data)

        holding(b"not a database" + whole[14:])
        refused(s, database, "not a database")
        size = int.from_bytes(whole[16:18], "big")
        holding(whole[:size] + b"\xff" * (len(whole) - size))
        refused(s, database, "malformed")
        holding(whole[:len(whole) // 2 // size * size])
        refused(s, database, "malformed")
        holding(whole)
        s.start()
        assert len(s.call("GET", "/v1/ensembles")[1]["ensembles"]) == 3


def database_behind():
    """A database that is older than its folders, since its log was lost, is not taken for all there is."""
    with service("behind") as s:
        state = os.path.join(s.folder, "state")
        log = os.path.join(state, "shoald.db-wal")
        assert_whole(s, s.submit("a"))
        s.kill()
        os.rename(log, log + ".copy")
        refused(s, "shoald.db has no ensembles", "holds 1 ensemble (", "put the database back", "shoald.db-wal")
        for suffix in ("-wal", "-shm"):
            if os.path.exists(os.path.join(state, "shoald.db" + suffix)):
                os.unlink(os.path.join(state, "shoald.db" + suffix))
        os.rename(log + ".copy", log)
        s.start()
        first = s.call("GET", "/v1/ensembles")[1]["ensembles"][0]["id"]
        assert s.stop() == 0 and "knows nothing" not in s.log_text()
        s.start()
        second = s.submit("b")
        assert_whole(s, second)
        s.kill()
        os.unlink(log)
        s.start()
        assert [e["id"] for e in s.call("GET", "/v1/ensembles")[1]["ensembles"]] == [first]
        assert f"holds 1 ensemble ({second}) of which" in s.log_text() and "older than they are" in s.log_text(), s.log_text()


def full_disk():
    """A start without space says where and why. What a running service keeps is enough for a start, and to make room."""
    if os.geteuid() != 0:
        print("full_disk: skipped, needs root to mount a small one")
        return
    s = service("full")
    state = os.path.join(s.folder, "state")
    os.mkdir(state)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", state], capture_output=True, check=False).returncode:
        print("full_disk: skipped, nothing can be mounted here")
        return
    def fill():
        with open(os.path.join(state, "filler"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass

    try:
        fill()
        refused(s, state, "full")
        os.unlink(os.path.join(state, "filler"))
        subprocess.run(["mount", "-o", "remount,size=12m", state], check=True)
        with s:
            ids = [s.submit(f"f{i}") for i in range(2)]
            assert_whole(s, ids[0])
            assert s.stop() == 0
            fill()
            s.start()
            assert "opened again in what was kept for it" in s.log_text(), s.log_text()
            assert s.call("DELETE", f"/v1/ensembles/{ids[0]}")[0] == 200
            os.unlink(os.path.join(state, "filler"))
            assert s.stop() == 0
            assert os.path.getsize(os.path.join(state, "shoald.db-reserve")) == 2 << 20, "the reserve is not kept again"
    finally:
        subprocess.run(["umount", state], check=True)


SCENARIOS = [files_are_private, somebody_elses_folder, drops_root, socket_is_a_file, no_standard_descriptors, database_gone,
             database_damaged, database_behind, full_disk]

if __name__ == "__main__":
    run(SCENARIOS, sys.argv[2:])
