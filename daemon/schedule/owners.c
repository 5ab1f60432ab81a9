/* SPDX-License-Identifier: Apache-2.0
 *
 * What owners ask for: pause, resume, cancel, retry. Asking for what is so already is fine.
 */
#include "daemon/schedule/internal.h"

#include <stddef.h>

static int refuse(const struct ensemble *e, const char *wish, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "ensemble %s is %s: it cannot be %s", e->id, sm_name(&e->sm), wish);
}

/* Running replicas checkpoint and leave; waiting ones move at once. */
static void withdraw(struct step *st, struct ensemble *e, enum replica_state to)
{
    forget_space(st, e);
    for (int i = 0; i < e->nsets; i++) {
        struct sched_set *set = &e->sets[i];
        if (set->worker >= 0)
            stop_set(st, set);
        for (int k = 0; k < set->nreplicas && set->worker < 0; k++)
            if (sm_may(&set->replicas[k].sm, to))
                move_replica(st, &set->replicas[k], to);
    }
}

int on_pause(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_PAUSED)
        return 0;
    if (!sm_may(&e->sm, ENSEMBLE_PAUSED))
        return refuse(e, "paused", err);
    move_ensemble(st, e, ENSEMBLE_PAUSED);
    withdraw(st, e, REPLICA_PAUSED);
    return 0;
}

int on_resume(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING)
        return 0;
    if (e->sm.state != ENSEMBLE_PAUSED)
        return refuse(e, "resumed", err);
    move_ensemble(st, e, ENSEMBLE_QUEUED);
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].sm.state == REPLICA_PAUSED)
            move_replica(st, &e->replicas[i], REPLICA_QUEUED);
    prepare(st, e);
    return 0;
}

int on_cancel(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_CANCELLED)
        return 0;
    if (!sm_may(&e->sm, ENSEMBLE_CANCELLED))
        return refuse(e, "cancelled", err);
    move_ensemble(st, e, ENSEMBLE_CANCELLED);
    withdraw(st, e, REPLICA_CANCELLED);
    return 0;
}

/* Its failed and cancelled replicas wait for another try. */
static void forgive(struct step *st, struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_FAILED && r->sm.state != REPLICA_CANCELLED)
            continue;
        set->failures = set->excused = set->crashes = r->code = 0;
        set->crashed = set->alone = 0;
        set->not_before = 0;
        r->failed_from = -1;
        ensemble_string(&r->reason, NULL);
        move_replica(st, r, REPLICA_QUEUED);
    }
}

int on_retry(struct step *st, struct ensemble *e, struct err *err)
{
    bool ended = e->sm.state == ENSEMBLE_FAILED || e->sm.state == ENSEMBLE_CANCELLED;
    bool active = e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING;
    if (!ended && !(active && ensemble_count(e, REPLICA_FAILED)))
        return refuse(e, "retried", err);
    ensemble_string(&e->reason, NULL);
    if (ended)
        move_ensemble(st, e, ENSEMBLE_QUEUED);
    for (int i = 0; i < e->nsets; i++)
        forgive(st, &e->sets[i]);
    prepare(st, e);
    finish_if_ended(st, e);
    return 0;
}
