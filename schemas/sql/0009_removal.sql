-- SPDX-License-Identifier: Apache-2.0
-- Rows of an ensemble that is removed go a few at a time, and none of it scans a table: every reference has an index. An ensemble may have
-- more events than are kept.

CREATE INDEX event_of_replica ON event (replica);
CREATE INDEX replica_of_set ON replica (in_set);
ALTER TABLE ensemble ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1)); -- its rows are going
CREATE INDEX removed_ensemble ON ensemble (number) WHERE removed = 1;
ALTER TABLE ensemble ADD COLUMN ran_ms INTEGER NOT NULL DEFAULT 0 CHECK (ran_ms >= 0); -- any replica had a slot, by events that are not kept
