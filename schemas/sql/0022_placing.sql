-- SPDX-License-Identifier: Apache-2.0
-- A pilot of the windows of a spec may place others, once. Replicas of the pilot keep their rows, which events refer to.

ALTER TABLE ensemble ADD COLUMN pilot INTEGER NOT NULL DEFAULT 0 CHECK (pilot IN (0, 1)); -- its windows are a pilot's, the ladder is yet to be placed
ALTER TABLE ensemble ADD COLUMN placed TEXT; -- the windows that one placed, JSON; null: the spec gave them
ALTER TABLE replica ADD COLUMN retired INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1)); -- it was the pilot's
