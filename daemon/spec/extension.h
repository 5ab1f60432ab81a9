/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble becomes that is extended, by its spec. This is read where submissions are (shoal-worker
 * check-submission): any spec may take long to read.
 */
#ifndef SHOAL_DAEMON_SPEC_EXTENSION_H
#define SHOAL_DAEMON_SPEC_EXTENSION_H

#include "engine/base/buf.h"

/* The body is {"spec": its text, "spec_name", and "windows" and "made": as spec_add_windows takes them, or "time": as
 * spec_production takes it, "nearest": bool, "more": bool}. Appends the answer, one line of JSON, to *out:
 *   {"error": {code, message}}, or
 *   {"steps": that are added (more), else over all stages}, or
 *   {"windows": that there are then, "origin": [which window each was, -1: new], "before": steps of stages that do not
 * produce, "sample_every", "frames_every": steps between rows and frames of production, "exchange_after": the
 * spec's, where replicas exchange windows}, then the spec with them and a
 * NUL. */
void extension_check(const char *body, size_t len, struct buf *out);

#endif
