-- SPDX-License-Identifier: Apache-2.0
-- A window may have several replicas (repeats), a replica has its own target of steps, and replicas run in sets. No table limits
-- the numbers of states any more: the program knows them. Tables that nothing read go.

CREATE TABLE new_ensemble (
    number INTEGER PRIMARY KEY,                          -- submission order
    id TEXT NOT NULL UNIQUE CHECK (length(id) >= 4),     -- what users see
    owner INTEGER NOT NULL CHECK (owner >= 0),           -- uid
    key TEXT CHECK (length(key) BETWEEN 1 AND 64),       -- the owner's own name for the submission
    hash TEXT NOT NULL CHECK (length(hash) = 64),        -- SHA-256 of everything submitted
    name TEXT NOT NULL,
    spec_name TEXT NOT NULL,                             -- only for messages
    spec TEXT NOT NULL,
    atoms INTEGER NOT NULL CHECK (atoms > 0),
    windows INTEGER NOT NULL CHECK (windows > 0),
    repeats INTEGER NOT NULL CHECK (repeats > 0),        -- replicas of every window
    stages INTEGER NOT NULL CHECK (stages > 0),
    retries INTEGER NOT NULL CHECK (retries >= 0),
    state INTEGER NOT NULL,
    reason TEXT,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (owner, key)
) STRICT;
INSERT INTO new_ensemble
    SELECT number, id, owner, key, hash, name, spec_name, spec, atoms,
        (SELECT count(*) FROM window WHERE window.ensemble = ensemble.number), 1,
        stages, retries, state, reason, created, changed FROM ensemble;

CREATE TABLE replica_set (
    number INTEGER PRIMARY KEY,                          -- that of its first replica
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    failures INTEGER NOT NULL CHECK (failures >= 0),     -- counted against the retries of the spec
    crashes INTEGER NOT NULL CHECK (crashes >= 0),       -- worker crashes in a row, without a checkpoint between
    salt INTEGER NOT NULL CHECK (salt >= 0),             -- of its noise; 0: none
    device TEXT, model TEXT                              -- where it ran last
) STRICT;
INSERT INTO replica_set SELECT number, ensemble, failures, crashes, 0, device, model FROM replica;

CREATE TABLE new_replica (
    number INTEGER PRIMARY KEY,
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    in_set INTEGER NOT NULL REFERENCES replica_set (number),
    window INTEGER NOT NULL CHECK (window >= 0),
    repeat INTEGER NOT NULL CHECK (repeat >= 0),
    steps INTEGER NOT NULL CHECK (steps >= 0),           -- its target, over all stages
    state INTEGER NOT NULL,
    stage INTEGER NOT NULL, step INTEGER NOT NULL, time_ps REAL NOT NULL, -- at the last checkpoint
    code INTEGER NOT NULL,                               -- of the last failure, 0: none
    failed_step INTEGER NOT NULL,                        -- where that was
    reason TEXT
) STRICT;
INSERT INTO new_replica
    SELECT replica.number, replica.ensemble, replica.number, window, 0, ensemble.steps, replica.state, stage, step, time_ps,
        code, 0, replica.reason
    FROM replica JOIN ensemble ON ensemble.number = replica.ensemble;

DROP TABLE sample_file;
DROP TABLE segment;
DROP TABLE replica;
DROP TABLE window;
DROP TABLE ensemble;
ALTER TABLE new_ensemble RENAME TO ensemble;
ALTER TABLE new_replica RENAME TO replica;
CREATE INDEX replica_of_ensemble ON replica (ensemble);
CREATE INDEX set_of_ensemble ON replica_set (ensemble);
