#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A state folder of every earlier schema: what had ended is there with its results, what had not goes on, and a copy of the database
is kept.

Usage: upgrade.py SHOALD SCHEMAS    SCHEMAS: the folder of migrations, NNNN_*.sql
"""
import glob
import os
import shutil
import sqlite3
import sys

import fake
import scenarios

APPLICATION = 0x53686F61
# What the first schema said in other tables.
OF_ENSEMBLE = {"steps": "(SELECT max(steps) FROM now.replica r WHERE r.ensemble = t.number)"}
OF_REPLICA = {name: f"(SELECT {name} FROM now.replica_set s WHERE s.number = t.in_set)"
              for name in ("failures", "crashes", "device", "model")}
WINDOWS = "SELECT ensemble, window, 0, window / 10.0, 0, 0 FROM now.replica"
INPUTS = "SELECT i.ensemble, i.name, c.data FROM now.input_file i JOIN now.content c ON c.hash = i.hash"


def columns(db, table, of="main"):
    return [row[1] for row in db.execute(f"PRAGMA {of}.table_info({table})")]


def fill(db, version, table):
    """The statement that puts what the database of now has into columns of the same names; None: it has none of them."""
    if table == "window":
        return f"INSERT INTO window {WINDOWS}"
    if table == "input_file" and version < 6:
        return f"INSERT INTO input_file {INPUTS}"
    here, there = columns(db, table), columns(db, table, "now")
    other = {} if version > 1 else OF_ENSEMBLE if table == "ensemble" else OF_REPLICA if table == "replica" else {}
    names = [name for name in here if name in there or name in other]
    values = ", ".join(other.get(name, f"t.{name}") for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM now.{table} t" if names else None


def write_earlier(path, now, version, schemas):
    """A database of that version, with what is in the one of now."""
    db = sqlite3.connect(path)
    for migration in sorted(glob.glob(os.path.join(schemas, "*.sql")))[:version]:
        with open(migration, encoding="utf-8") as f:
            db.executescript(f.read())
    db.execute("ATTACH ? AS now", (now,))
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('service', 'segment', 'sample_file')"
    for (table,) in db.execute(tables).fetchall():
        statement = fill(db, version, table)
        if statement:
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {version}")
    db.commit()
    db.close()


def make(folder):
    """One that is done, and one that is paused on the way."""
    with scenarios.service("now", per_second=400) as s:
        done = s.submit("done")
        fake.assert_whole(s, done)
        results = s.raw("GET", f"/v1/ensembles/{done}/results")
        s.set_rules(per_second=20)
        paused = s.submit("paused")
        s.wait_steps(paused, 0)
        s.act(paused, "pause")
        s.wait_replicas(paused, lambda r: r["state"] == "paused")
        assert s.stop() == 0
    shutil.copytree(os.path.join(folder, "now/state"), os.path.join(folder, "kept"))
    return done, paused, results


def upgrade(folder, version, schemas, done, paused, results):
    s = scenarios.service(f"of-{version}", per_second=2000)
    state = os.path.join(s.folder, "state")
    shutil.copytree(os.path.join(folder, "kept"), state)
    for name in glob.glob(os.path.join(state, "shoald.db*")):
        os.unlink(name)
    write_earlier(os.path.join(state, "shoald.db"), os.path.join(folder, "kept/shoald.db"), version, schemas)
    with s:
        assert {e["id"]: e["state"] for e in s.call("GET", "/v1/ensembles")[1]["ensembles"]} == {done: "done", paused: "paused"}
        assert s.raw("GET", f"/v1/ensembles/{done}/results") == results
        assert s.events(done)[-1]["seq"] == s.get(done)["seq"]
        s.act(paused, "resume")
        fake.assert_whole(s, paused)
        fake.assert_whole(s, s.submit("new"))
        assert os.path.exists(os.path.join(state, f"shoald.db.v{version}.bak"))
        assert s.stop() == 0


def main():
    schemas, folder = sys.argv[2], scenarios.ROOT
    latest = len(glob.glob(os.path.join(schemas, "*.sql")))
    assert latest > 1, schemas
    about = make(folder)
    for version in range(1, latest):
        upgrade(folder, version, schemas, *about)
    shutil.rmtree(folder)
    print(f"schemas 1 to {latest - 1}: ok")


if __name__ == "__main__":
    main()
