-- SPDX-License-Identifier: Apache-2.0
-- Switches may become longer: how often they are twice as long as the first of every walker.

ALTER TABLE ensemble ADD COLUMN doublings INTEGER NOT NULL DEFAULT 0 CHECK (doublings >= 0);
