-- SPDX-License-Identifier: Apache-2.0
-- What was used, also by ensembles that are removed: no reference leads to them.

CREATE TABLE account (
  ensemble INTEGER NOT NULL, -- its number
  day INTEGER NOT NULL,      -- since 1970, UTC
  device TEXT NOT NULL,
  uid INTEGER NOT NULL,
  id TEXT NOT NULL,          -- of the ensemble, as its name
  name TEXT NOT NULL,
  campaign TEXT,             -- its label, or that of the campaign whose pilot it is
  device_ms REAL NOT NULL CHECK (device_ms >= 0), -- replicas that share a device have equal parts of its time
  steps INTEGER NOT NULL CHECK (steps >= 0),      -- that checkpoints hold, of all replicas
  ps REAL NOT NULL CHECK (ps >= 0),               -- likewise
  PRIMARY KEY (ensemble, day, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_of_day ON account (day);
