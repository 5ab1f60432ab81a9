/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of a set that failed. Whose fault was it?
 *
 *   the input's       it will not change by itself: failed at once
 *   the physics'      a replica's numbers depend on its checkpoint, seed and device model alone, so the same failure
 * comes again at the same step. It is tried once as it was (the machine may have erred), then from the older checkpoint
 *                     with a salt in its noise, which the event says and the database keeps
 *   the machine's     no disk space, memory that others hold, a folder that another process holds, a device error:
 * waited out, and no retry is lost. Memory that is lacking although nothing else runs there is the set's own matter
 *   nobody knows      a worker crashed: the rules for suspects (sched.h, 3)
 */
#include "daemon/schedule/internal.h"
#include "engine/base/number.h"

#define RETRY_MS 1000 /* before the first retry of a set; doubles */
#define RETRY_MAX_MS 60000

enum fault { FAULT_INPUT, FAULT_PHYSICS, FAULT_SPACE, FAULT_MEMORY, FAULT_BUSY, FAULT_DEVICE, FAULT_OTHER };

static enum fault fault_of(int code)
{
    if (code == ERR_SPEC || code == ERR_TOPOLOGY || code == ERR_COORDINATES || code == ERR_UNSUPPORTED)
        return FAULT_INPUT;
    if (code == ERR_NONFINITE || code == ERR_CONSTRAINT || code == ERR_OVERFLOW)
        return FAULT_PHYSICS;
    if (code == ERR_NO_SPACE)
        return FAULT_SPACE;
    if (code == ERR_MEMORY)
        return FAULT_MEMORY;
    if (code == ERR_BUSY)
        return FAULT_BUSY;
    return code == ERR_DEVICE ? FAULT_DEVICE : FAULT_OTHER;
}

void note_failure(struct sched_replica *r, int code, const char *message)
{
    r->code = code;
    ensemble_string(&r->reason, message);
}

/* Said to those whose replicas crashed there. */
static void tell_sick(struct step *st, struct sched_worker *w, int worker)
{
    for (int i = 0; i < st->s->nactive; i++) {
        struct ensemble *e = st->s->active[i];
        struct sched_set *hurt = NULL;
        for (int k = 0; k < e->nsets && !hurt; k++)
            if (e->sets[k].crashed >> worker & 1 || e->sets[k].worker == worker)
                hurt = &e->sets[k];
        if (hurt)
            note(st, hurt->replicas, "device",
                 "%s is put aside after %d %s in a row (%s): tried again in %lld s, then ever more rarely", w->device,
                 w->health.strikes, number_word(w->health.strikes, "crash", "crashes"), w->health.trouble,
                 (long long)(health_pause(&w->health) / 1000));
    }
}

void strike(struct step *st, int worker, const char *message)
{
    struct sched_worker *w = &st->s->workers[worker];
    if (health_strike(&w->health, st->now, message))
        tell_sick(st, w, worker);
}

static void hold_back(struct step *st, struct sched_set *set, int64_t ms)
{
    struct ensemble *e = set->ensemble;
    set->not_before = st->now + ms;
    e->delayed = set->not_before > e->delayed ? set->not_before : e->delayed;
}

/* The replica that failed, not those that were stopped for it. */
static struct sched_replica *culprit(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].code && set->replicas[i].failed_from >= 0)
            return &set->replicas[i];
    return set->replicas;
}

static void excuse(struct step *st, struct sched_set *set)
{
    hold_back(st, set, retry_pause(RETRY_MS, RETRY_MAX_MS, ++set->excused));
    release_set(st, set);
}

/* From the older checkpoint, with other noise: the same failure does not come again. */
static void change_noise(struct step *st, struct sched_set *set, struct sched_replica *r)
{
    set->salt++;
    r->failed_alike = false;
    note(st, r, "salt", "failed twice alike at step %lld (%s): tried from the older checkpoint with noise number %d",
         (long long)r->failed_step, r->reason ? r->reason : "", set->salt);
}

static void try_set_again(struct step *st, struct sched_set *set, struct sched_replica *r, enum fault fault)
{
    bool alike = r->failed_alike;
    if (++set->failures > set->ensemble->retries) {
        fail_set(st, set);
        return;
    }
    hold_back(st, set, retry_pause(RETRY_MS, RETRY_MAX_MS, set->failures));
    release_set(st, set);
    if (fault == FAULT_PHYSICS && alike)
        change_noise(st, set, r);
    /* The folder may have been damaged: make sure of its inputs before the next start. */
    if (waiting_state(set->ensemble) == REPLICA_QUEUED && (r->code == ERR_IO || r->code == ERR_MISSING_FILE))
        prepare_input(st, set->ensemble);
}

void set_failed(struct step *st, struct sched_set *set, bool alone)
{
    struct sched_replica *r = culprit(set);
    enum fault fault = fault_of(r->code);
    switch (fault) {
    case FAULT_INPUT:
        fail_set(st, set);
        return;
    case FAULT_SPACE:
        release_set(st, set);
        wait_for_space(st, set->ensemble, r->reason);
        return;
    case FAULT_DEVICE:
        strike(st, set->worker, r->reason);
        blame_set(st, set, set->worker, alone, NULL);
        return;
    case FAULT_MEMORY:
        if (alone)
            try_set_again(st, set, r, fault);
        else
            excuse(st, set);
        return;
    case FAULT_BUSY:
        excuse(st, set);
        return;
    case FAULT_PHYSICS:
    case FAULT_OTHER:
        try_set_again(st, set, r, fault);
        return;
    }
}

void blame_set(struct step *st, struct sched_set *set, int worker, bool alone, const char *message)
{
    uint64_t bit = UINT64_C(1) << worker;
    set->crashes++;
    set->ensemble->crashed = true;
    set->crashed |= bit;
    set->alone |= alone ? bit : 0;
    for (int i = 0; i < set->nreplicas && message; i++)
        if (set->replicas[i].held)
            note_failure(&set->replicas[i], ERR_DEVICE, message);
    if (alone && set->crashes > SCHED_SUSPECT + set->ensemble->retries && !pack_has_other(st->s, set, set->alone))
        fail_set(st, set);
    else
        release_set(st, set);
}

void forgive_progress(struct sched_set *set)
{
    set->crashes = set->excused = 0;
    set->crashed = set->alone = 0;
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].failed_from >= 0 && set->replicas[i].saved_step <= set->replicas[i].failed_step)
            return;
    set->failures = 0;
}
