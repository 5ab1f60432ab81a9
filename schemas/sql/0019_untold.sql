-- SPDX-License-Identifier: Apache-2.0
-- The command of on-end runs once for each end, also where the service stopped before it could.

ALTER TABLE ensemble ADD COLUMN untold INTEGER NOT NULL DEFAULT 0 CHECK (untold IN (0, 1)); -- it has ended, and the command was not started yet
