-- SPDX-License-Identifier: Apache-2.0
-- Results of an ensemble that has ended can be computed again. While they wait, results that were never written and live
-- estimates come first.

ALTER TABLE ensemble ADD COLUMN again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)); -- while finishing
