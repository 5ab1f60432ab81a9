-- SPDX-License-Identifier: Apache-2.0
-- Numbers of ensembles, replicas and events are never given twice, also where the rows that had the largest are gone.

CREATE TABLE gone ( -- the largest numbers that removed rows had; one row
  ensemble INTEGER NOT NULL,
  replica INTEGER NOT NULL,
  event INTEGER NOT NULL
);
INSERT INTO gone VALUES (0, 0, 0);
CREATE TRIGGER ensemble_gone AFTER DELETE ON ensemble WHEN OLD.number > (SELECT ensemble FROM gone)
BEGIN UPDATE gone SET ensemble = OLD.number; END;
CREATE TRIGGER replica_gone AFTER DELETE ON replica WHEN OLD.number > (SELECT replica FROM gone)
BEGIN UPDATE gone SET replica = OLD.number; END;
CREATE TRIGGER event_gone AFTER DELETE ON event WHEN OLD.seq > (SELECT event FROM gone)
BEGIN UPDATE gone SET event = OLD.seq; END;
