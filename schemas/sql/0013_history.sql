-- SPDX-License-Identifier: Apache-2.0
-- What users have used outlives the service: who had much lately gets less.

CREATE TABLE history (
  uid INTEGER PRIMARY KEY,
  used REAL NOT NULL CHECK (used >= 0), -- slots x ms, halved every half-life
  at INTEGER NOT NULL                   -- when it was that, ms since 1970
) STRICT;
