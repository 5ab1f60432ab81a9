/* SPDX-License-Identifier: Apache-2.0
 *
 * Phases of a protocol: each has a model and a simulation of its own.
 */
#include "daemon/worker/replica/internal.h"

int replica_simulate(struct replica *r, struct err *e)
{
    models_hold(r->shared);
    r->under = r->shared;
    return sim_new(&r->sim, r->shared->model, replica_row(r), replica_random_key(r), e);
}

void replica_drop_sim(struct replica *r)
{
    sim_free(r->sim);
    r->sim = NULL;
    if (r->under)
        models_put(r->setup.models, r->under);
    r->under = NULL;
}

int CO_FN replica_enter(struct replica *r, uint64_t stage, struct err *e)
{
    struct shared_model *before = r->shared;
    if (models_fit(before, stage))
        return 0;
    replica_drop_sim(r);
    int rc = models_get(r->setup.models, r->setup.jobs, &r->job, r->directory, r->setup.ladder, stage, &r->shared, e);
    if (rc) { /* r->spec goes on being told of */
        models_put(r->setup.models, r->shared);
        r->shared = before;
        return rc;
    }
    rc = replica_take_spec(r, e);
    models_put(r->setup.models, before);
    return rc ? rc : replica_simulate(r, e);
}

int CO_FN replica_next_phase(struct replica *r, struct err *e)
{
    int rc = replica_enter(r, r->stage, e);
    if (!rc)
        rc = sim_load(r->sim, r->state.data, r->state.len, e);
    if (!rc && r->salt)
        sim_salt(r->sim, (uint32_t)r->salt);
    return rc;
}
