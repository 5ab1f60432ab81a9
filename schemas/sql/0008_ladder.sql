-- SPDX-License-Identifier: Apache-2.0
-- A revision may have more windows than the ones before. Replicas are in the order of repeats and windows, not of their numbers, then.

ALTER TABLE ensemble ADD COLUMN ladder INTEGER NOT NULL DEFAULT 1 CHECK (ladder > 0); -- the revision that made the windows what they are
ALTER TABLE replica ADD COLUMN stream INTEGER NOT NULL DEFAULT 0 CHECK (stream >= 0); -- of the random numbers of its repeat
ALTER TABLE replica ADD COLUMN origin INTEGER NOT NULL DEFAULT -1 CHECK (origin >= -1); -- its window before that revision; -1: it has nothing from there
UPDATE replica SET stream = window;
