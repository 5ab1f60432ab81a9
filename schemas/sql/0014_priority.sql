-- SPDX-License-Identifier: Apache-2.0
-- Which of an owner's ensembles go first.

ALTER TABLE ensemble ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1 AND 1);
