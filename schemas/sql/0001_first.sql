-- SPDX-License-Identifier: Apache-2.0
-- The first schema. Times are milliseconds since 1970 in UTC; state numbers are those of schemas/states.def, error codes those
-- of schemas/errors.def. Samples are not here: they are rows of the files in an ensemble's folder.

-- One row: was the database closed in order?
CREATE TABLE service (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    clean INTEGER NOT NULL CHECK (clean IN (0, 1))
) STRICT;
INSERT INTO service (one, clean) VALUES (1, 1);

CREATE TABLE ensemble (
    number INTEGER PRIMARY KEY,                          -- submission order
    id TEXT NOT NULL UNIQUE CHECK (length(id) >= 4),     -- what users see
    owner INTEGER NOT NULL CHECK (owner >= 0),           -- uid
    key TEXT CHECK (length(key) BETWEEN 1 AND 64),       -- the owner's own name for the submission
    hash TEXT NOT NULL CHECK (length(hash) = 64),        -- SHA-256 of everything submitted
    name TEXT NOT NULL,
    spec_name TEXT NOT NULL,                             -- only for messages
    spec TEXT NOT NULL,
    atoms INTEGER NOT NULL CHECK (atoms > 0),
    stages INTEGER NOT NULL CHECK (stages > 0),
    steps INTEGER NOT NULL CHECK (steps >= 0),           -- of one replica over all stages
    retries INTEGER NOT NULL CHECK (retries >= 0),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    reason TEXT,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (owner, key)
) STRICT;

CREATE TABLE input_file (
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (ensemble, name)
) STRICT;

CREATE TABLE window (
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    window INTEGER NOT NULL CHECK (window >= 0),
    coulomb REAL NOT NULL, vdw REAL NOT NULL, bonded REAL NOT NULL, mass REAL NOT NULL, -- lambda
    PRIMARY KEY (ensemble, window)
) STRICT;

CREATE TABLE replica (
    number INTEGER PRIMARY KEY,
    ensemble INTEGER NOT NULL,
    window INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    failures INTEGER NOT NULL CHECK (failures >= 0),     -- counted against the retries of the spec
    crashes INTEGER NOT NULL CHECK (crashes >= 0),       -- worker crashes in a row, without a checkpoint between
    device TEXT, model TEXT,                             -- where it ran last
    stage INTEGER NOT NULL, step INTEGER NOT NULL, time_ps REAL NOT NULL, -- at the last checkpoint
    code INTEGER NOT NULL,                               -- of the last failure, 0: none
    reason TEXT,
    FOREIGN KEY (ensemble, window) REFERENCES window (ensemble, window)
) STRICT;
CREATE INDEX replica_of_ensemble ON replica (ensemble, window);

CREATE TABLE segment (
    replica INTEGER NOT NULL REFERENCES replica (number),
    number INTEGER NOT NULL CHECK (number >= 0),
    stage INTEGER NOT NULL,
    step INTEGER NOT NULL,                               -- at its end
    time INTEGER NOT NULL,
    PRIMARY KEY (replica, number)
) STRICT;

-- Outputs in the replica's folder and how much of each the last checkpoint vouches for.
CREATE TABLE sample_file (
    replica INTEGER NOT NULL REFERENCES replica (number),
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (replica, name)
) STRICT;

CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    replica INTEGER REFERENCES replica (number),
    time INTEGER NOT NULL,
    kind TEXT NOT NULL,                                  -- ensemble, replica: state moves; else as a worker named it
    state INTEGER,                                       -- the new state, for state moves
    message TEXT
) STRICT;
CREATE INDEX event_of_ensemble ON event (ensemble, seq);
