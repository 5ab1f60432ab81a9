/* SPDX-License-Identifier: Apache-2.0
 *
 * How an ensemble is simulated, in sentences for the methods section of a paper: the `methods` of results.json.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_METHODS_H
#define SHOAL_DAEMON_WORKER_CHILDREN_METHODS_H

#include "daemon/spec/spec.h"
#include "engine/base/json/json_writer.h"

enum { METHODS_MOST = 20 };

/* Zeroed is empty. */
struct methods {
    struct method {
        const char *topic; /* static */
        struct buf text;
    } line[METHODS_MOST];
    int n;
};

/* What the spec says, and what its input files hold. `sys` is empty where these cannot be
 * read. */
void methods_take(struct methods *m, const struct spec *s, const struct system *sys);
/* The elements of the list in results.json. */
void methods_json(const struct methods *m, struct writer *w);
void methods_close(struct methods *m);

#endif
