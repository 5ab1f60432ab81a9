/* SPDX-License-Identifier: Apache-2.0
 *
 * The description of an ensemble that `shoal-worker estimate` reads from stdin (its help says what is in it), as
 * values.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_DESCRIPTION_H
#define SHOAL_DAEMON_WORKER_CHILDREN_DESCRIPTION_H

#include <jansson.h>

#include "daemon/spec/spec.h"
#include "daemon/worker/children/fold.h"
#include "daemon/worker/children/methods.h"
#include "daemon/worker/children/torsions.h"
#include "engine/estimate/estimate.h"

/* The request and what it borrows from. */
struct estimate_request {
    json_t *description;
    struct spec *spec;
    struct estimate_replica *replicas;
    struct estimate_label *labels;
    const char **devices;
    struct estimate_production production;
    struct estimate_held held;
    char molecule[2][64];
    struct finite_size finite_size;
    struct err remark;
    struct buf fold_remark;
    struct methods methods;
    char *split, *placed;   /* JSON */
    bool placing;           /* the windows are a pilot's, of which others come (placing.h) */
    struct watched watched; /* what frames show, looked at once */
    struct folds folds;
    struct system sys; /* empty: unknown */
    struct estimate_ensemble ensemble;
};

/* Fills what the description says: the spec, replicas, production, labels and names. ERR_SPEC: "description: key:
 * expected ..", or what is wrong with the spec. Close it in any case. */
int description_read(struct estimate_request *q, const struct buf *text, struct err *e);
void description_close(struct estimate_request *q);

#endif
