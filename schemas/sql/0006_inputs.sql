-- SPDX-License-Identifier: Apache-2.0
-- Input files are kept once, however many ensembles have them.

CREATE TABLE content (
    hash TEXT PRIMARY KEY CHECK (length(hash) = 64),     -- SHA-256, hex; of what is older than this table, a number
    data BLOB NOT NULL
) STRICT;

CREATE TABLE new_input_file (
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    name TEXT NOT NULL,
    hash TEXT NOT NULL REFERENCES content (hash) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (ensemble, name)
) STRICT;
INSERT INTO new_input_file
    SELECT ensemble, name, printf('%064x', min(rowid) OVER (PARTITION BY content)) FROM input_file;
INSERT INTO content
    SELECT printf('%064x', rowid), content FROM input_file
    WHERE printf('%064x', rowid) IN (SELECT hash FROM new_input_file);
DROP TABLE input_file;
ALTER TABLE new_input_file RENAME TO input_file;
CREATE INDEX input_of_content ON input_file (hash);
