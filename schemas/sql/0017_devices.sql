-- SPDX-License-Identifier: Apache-2.0
-- Where an ensemble was moved to outlives the service.

ALTER TABLE ensemble ADD COLUMN moved_to TEXT; -- name of the device; NULL: it runs on any
