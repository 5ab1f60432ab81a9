-- SPDX-License-Identifier: Apache-2.0
-- Of an ensemble that switches: its windows are so many walkers of each end, those of end A first.

ALTER TABLE ensemble ADD COLUMN walkers INTEGER NOT NULL DEFAULT 0 CHECK (walkers >= 0); -- 0: windows are windows
ALTER TABLE ensemble ADD COLUMN switching REAL NOT NULL DEFAULT 0 CHECK (switching >= 0); -- timesteps of switches for each of production
