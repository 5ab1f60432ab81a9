/* SPDX-License-Identifier: Apache-2.0
 *
 * `estimate --forward PATTERN --backward PATTERN`: free energies from works of switches.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_SWITCHES_H
#define SHOAL_DAEMON_WORKER_CHILDREN_SWITCHES_H

#include "daemon/worker/command/line.h"
#include "engine/base/buf.h"

struct switches_options {
    struct args_list forward, backward; /* names of files, or patterns */
    const char *temperature, *unit;     /* K; NULL: not given */
};

/* Whether works of switches are asked for. */
bool switches_asked(const struct switches_options *o);
/* results.json's text. *answered: there is a free energy. ERR_USAGE, ERR_MISSING_FILE, ERR_UNSUPPORTED. */
int switches_estimate(const struct switches_options *o, struct buf *json, bool *answered, struct err *e);

/* Whether a file is one of works of a walker (work.tsv). */
bool switches_of_walkers(char *const *paths, int n);
/* The same from such files alone, in natural order; each says which way its works are of. */
int switches_of_tables(char *const *paths, int n, struct buf *json, bool *answered, struct err *e);

#endif
