-- SPDX-License-Identifier: Apache-2.0
-- Labels, and ensembles that were removed.

-- The owner's own words for an ensemble, to find it by.
CREATE TABLE label (
    ensemble INTEGER NOT NULL REFERENCES ensemble (number),
    key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 63),
    value TEXT NOT NULL,
    PRIMARY KEY (ensemble, key)
) STRICT, WITHOUT ROWID;

-- Ensembles whose rows are gone, and whose folders may still be there: removing them goes on at the next start.
CREATE TABLE removal (
    id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
