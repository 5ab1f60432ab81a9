-- SPDX-License-Identifier: Apache-2.0
-- Energy that the device took for the ensemble on that day, where the device tells.

ALTER TABLE account ADD COLUMN joules REAL CHECK (joules > 0); -- NULL: none is known
