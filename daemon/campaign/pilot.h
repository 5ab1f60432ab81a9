/* SPDX-License-Identifier: Apache-2.0
 *
 * Pilots: short ensembles that say where the windows of a leg should be, before its repeats run.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_PILOT_H
#define SHOAL_DAEMON_CAMPAIGN_PILOT_H

#include <jansson.h>

#include "daemon/campaign/template.h"
#include "engine/base/buf.h"

/* Appends what a pilot's spec has in place of the keys that pilot_without leaves out: one repeat, and the protocol of
 * `spec` (a whole spec in one text), with production of `time` ps, 200 samples of it, and no stage of equilibration
 * longer than that. ERR_SPEC. */
int pilot_protocol(const char *file, const struct buf *spec, double time, struct buf *out, struct err *e);
/* The layer without those keys, in a copy of its root: free what *copy becomes. */
struct layer pilot_without(const struct layer *layer, struct node **copy);
/* Appends alchemy.windows. windows: {component: [numbers]}. */
void pilot_windows(const json_t *windows, struct buf *out);

#endif
