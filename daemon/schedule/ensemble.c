/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/ensemble.h"

#include <stdlib.h>

#include "engine/base/buf.h"

#define E(state) SM_TO(ENSEMBLE_##state)
#define R(state) SM_TO(REPLICA_##state)

static const struct sm_state ensemble_table[] = {
    [ENSEMBLE_QUEUED] = {"queued", E(RUNNING) | E(PAUSED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_RUNNING] = {"running", E(PAUSED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_PAUSED] = {"paused", E(QUEUED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_FINISHING] = {"finishing", E(DONE) | E(FAILED) | E(CANCELLED)},
    [ENSEMBLE_DONE] = {"done", 0},
    [ENSEMBLE_FAILED] = {"failed", E(QUEUED)},
    [ENSEMBLE_CANCELLED] = {"cancelled", E(QUEUED)},
};

static const struct sm_state replica_table[] = {
    [REPLICA_QUEUED] = {"queued", R(RUNNING) | R(PAUSED) | R(CANCELLED)},
    [REPLICA_RUNNING] = {"running", R(QUEUED) | R(STOPPING) | R(DONE) | R(FAILED)},
    [REPLICA_STOPPING] = {"stopping", R(QUEUED) | R(PAUSED) | R(CANCELLED) | R(DONE) | R(FAILED)},
    [REPLICA_PAUSED] = {"paused", R(QUEUED) | R(CANCELLED)},
    [REPLICA_DONE] = {"done", 0},
    [REPLICA_FAILED] = {"failed", R(QUEUED)},
    [REPLICA_CANCELLED] = {"cancelled", R(QUEUED)},
};

/* Only a replica that holds a slot has a worker. (One that was loaded from the database may still be called running after its
 * worker is gone; the scheduler's first act is to put that right.) */
static bool replica_holds(const void *owner, uint32_t state)
{
    const struct replica *r = owner;
    return r->worker < 0 || state == REPLICA_RUNNING || state == REPLICA_STOPPING;
}

const struct sm_kind ensemble_states = {"ensemble", ensemble_table, 7, NULL};
const struct sm_kind replica_states = {"replica", replica_table, 7, replica_holds};

struct ensemble *ensemble_new(int nreplicas, int64_t first_replica)
{
    struct ensemble *e = xcalloc(1, sizeof *e);
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_QUEUED);
    e->nreplicas = nreplicas;
    e->replicas = xcalloc((size_t)nreplicas, sizeof *e->replicas);
    for (int i = 0; i < nreplicas; i++) {
        struct replica *r = &e->replicas[i];
        *r = (struct replica){.number = first_replica + i, .ensemble = e, .window = i, .worker = -1};
        sm_init(&r->sm, &replica_states, r, REPLICA_QUEUED);
    }
    return e;
}

void ensemble_free(struct ensemble *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->nreplicas; i++) {
        free(e->replicas[i].reason);
        free(e->replicas[i].device);
        free(e->replicas[i].model);
    }
    free(e->replicas);
    free(e->key);
    free(e->name);
    free(e->spec_name);
    free(e->reason);
    free(e);
}

bool ensemble_ended(const struct ensemble *e)
{
    uint32_t s = e->sm.state;
    return s == ENSEMBLE_DONE || s == ENSEMBLE_FAILED || s == ENSEMBLE_CANCELLED;
}

int ensemble_count(const struct ensemble *e, enum replica_state state)
{
    int n = 0;
    for (int i = 0; i < e->nreplicas; i++)
        n += e->replicas[i].sm.state == state;
    return n;
}

void ensemble_string(char **slot, const char *value)
{
    char *copy = value ? xstrdup(value) : NULL;
    free(*slot);
    *slot = copy;
}
