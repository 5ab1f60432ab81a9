-- SPDX-License-Identifier: Apache-2.0
-- How many replicas of an ensemble a device holds is said while it waits, also after a restart of the service.

ALTER TABLE ensemble ADD COLUMN sizes TEXT; -- JSON: what devices would have to hold, [{"kind", "limits", "tables", "replica"}]; NULL: not known
