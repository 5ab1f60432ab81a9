-- SPDX-License-Identifier: Apache-2.0
-- Production may be handed out by what windows need, in rounds: the replicas' targets.

ALTER TABLE ensemble ADD COLUMN allocate_share INTEGER NOT NULL DEFAULT 0 CHECK (allocate_share >= 0);   -- steps of production that even sampling gives each replica; 0: sampling is even
ALTER TABLE ensemble ADD COLUMN allocate_before INTEGER NOT NULL DEFAULT 0 CHECK (allocate_before >= 0); -- steps of the stages before it
ALTER TABLE ensemble ADD COLUMN allocate_every INTEGER NOT NULL DEFAULT 0 CHECK (allocate_every >= 0);   -- steps between two samples
