-- SPDX-License-Identifier: Apache-2.0
-- Results of an ensemble that has ended can be computed again; while that waits, other users' results and live estimates come first.

ALTER TABLE ensemble ADD COLUMN again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)); -- while finishing: its owner asked for new results
