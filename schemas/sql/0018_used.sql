-- SPDX-License-Identifier: Apache-2.0
-- What a replica's accounts hold: its last checkpoint may be an older one, or, after windows were added, none yet.

ALTER TABLE replica ADD COLUMN used_step INTEGER NOT NULL DEFAULT 0 CHECK (used_step >= 0); -- steps that were counted as used go up to here
ALTER TABLE replica ADD COLUMN used_ps REAL NOT NULL DEFAULT 0;                             -- and simulated time to here
UPDATE replica SET used_step = step, used_ps = time_ps;
