-- SPDX-License-Identifier: Apache-2.0
-- What administrators decide outlives the service.

ALTER TABLE ensemble ADD COLUMN paused_by TEXT; -- the administrator who paused it and whom nobody has undone; NULL: none
ALTER TABLE ensemble ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1)); -- before those of all users

CREATE TABLE hold ( -- what is out of use
  what TEXT PRIMARY KEY NOT NULL, -- a device's name, or "admission"
  administrator TEXT NOT NULL,
  reason TEXT,
  since INTEGER NOT NULL          -- ms since 1970
) STRICT;
