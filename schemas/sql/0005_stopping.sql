-- SPDX-License-Identifier: Apache-2.0
-- An ensemble may end when its free energy is good enough.

ALTER TABLE ensemble ADD COLUMN stop_error REAL NOT NULL DEFAULT 0 CHECK (stop_error >= 0); -- kJ/mol; 0: it runs to its end
ALTER TABLE ensemble ADD COLUMN stop_converged INTEGER NOT NULL DEFAULT 0 CHECK (stop_converged IN (0, 1));
ALTER TABLE ensemble ADD COLUMN stop_after INTEGER NOT NULL DEFAULT 0 CHECK (stop_after >= 0); -- steps of each replica
ALTER TABLE ensemble ADD COLUMN stopped TEXT;                                               -- why it ended so; NULL: it has not
ALTER TABLE ensemble ADD COLUMN stopped_revision INTEGER NOT NULL DEFAULT 0;                -- the revision that did
