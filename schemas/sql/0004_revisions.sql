-- SPDX-License-Identifier: Apache-2.0
-- An ensemble may be extended after it was submitted: its replicas then have later targets, and it another revision. What was
-- submitted, and its hash, stay as they are.

ALTER TABLE ensemble ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0);

-- A done replica is one whose last checkpoint is at its target.
UPDATE replica SET step = steps WHERE state = 4;
