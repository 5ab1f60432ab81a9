/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

#define PREPARE_RETRY_MS 10000 /* before the input folder is tried again */

void sched_init(struct sched *s, int nworkers)
{
    assert(nworkers > 0 && nworkers <= 64);
    *s = (struct sched){.slice_ms = SCHED_SLICE_MS,
                        .stall_ms = SCHED_STALL_MS,
                        .half_life_ms = SCHED_HALF_LIFE_MS,
                        .nworkers = nworkers,
                        .workers = xcalloc((size_t)nworkers, sizeof *s->workers)};
    for (int i = 0; i < nworkers; i++)
        device_health_init(&s->workers[i].health);
}

void sched_close(struct sched *s)
{
    for (int i = 0; i < s->nensembles; i++)
        ensemble_free(s->ensembles[i]);
    free(s->ensembles);
    free(s->active);
    free(s->users);
    for (int i = 0; i < s->nworkers; i++) {
        free(s->workers[i].sets);
        free(s->workers[i].device);
        free(s->workers[i].model);
        free(s->workers[i].limits);
        device_health_close(&s->workers[i].health);
        energy_close(&s->workers[i].energy);
    }
    free(s->workers);
    *s = (struct sched){0};
}

/* All ensembles of the owner wait at their checkpoints, or go on. */
static void on_stored(struct step *st, const struct sched_event *ev)
{
    char text[1200];
    snprintf(text, sizeof text, "waits for space: %s", ev->ok ? "" : ev->message);
    user_over(st->s, ev->ensemble->user, !ev->ok);
    for (int i = 0; i < st->s->nactive; i++) {
        struct ensemble *e = st->s->active[i];
        if (e->user != ev->ensemble->user)
            continue;
        if (ev->ok && !st->s->full)
            forget_space(st, e);
        if (ev->ok || !ensemble_wants(e))
            continue;
        e->wants_space = true;
        if (!e->reason || strcmp(e->reason, text) != 0)
            set_reason(st, e, text);
        for (int k = 0; k < e->nsets; k++)
            if (e->sets[k].worker >= 0)
                stop_set(st, &e->sets[k]);
    }
}

/* Who has more in slots than they may makes room at once. */
static void on_user(struct step *st, const struct sched_event *ev)
{
    struct sched *s = st->s;
    const int user = user_index(s, ev->uid);
    s->users[user].weight = ev->weight;
    s->users[user].most = ev->most;
    int64_t surplus = s->users[user].running - ev->most;
    for (int w = 0; w < s->nworkers; w++)
        for (int i = 0; i < s->workers[w].nsets && surplus > 0; i++)
            if (s->workers[w].sets[i]->ensemble->user == user) {
                surplus -= set_open(s->workers[w].sets[i]);
                stop_set(st, s->workers[w].sets[i]);
            }
}

static void on_space(struct step *st)
{
    st->s->full = false;
    for (int i = 0; i < st->s->nactive; i++) {
        struct ensemble *e = st->s->active[i];
        if (!st->s->users[e->user].over)
            forget_space(st, e);
        if (e->finish_after)
            finish_again(st, e);
        if (ensemble_wants(e) && !e->prepared)
            prepare_input(st, e);
    }
}

static void on_add(struct step *st, struct ensemble *e)
{
    struct sched *s = st->s;
    s->ensembles = sched_grown(s->ensembles, s->nensembles, &s->cap, sizeof *s->ensembles);
    s->ensembles[s->nensembles++] = e;
    e->user = user_index(s, e->owner);
    e->sched = s;
    ensemble_count_waiting(e);
    if (!ensemble_ended(e))
        sched_activate(s, e);
    if (ensemble_wants(e))
        user_wants(s, e, true);
    /* One loaded from the database may have had replicas in slots of a service that is no more. */
    for (int i = 0; i < e->nsets; i++)
        release_set(st, &e->sets[i]);
    if (e->sm.state == ENSEMBLE_FINISHING)
        finish_again(st, e);
    else if (!ensemble_ended(e) && e->sm.state != ENSEMBLE_PAUSED)
        prepare_input(st, e);
    finish_if_ended(st, e);
}

static void on_prepared(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->preparing = false;
    e->prepared = ev->ok;
    if (ev->ok && ensemble_wants(e) && !e->wants_space && e->reason)
        set_reason(st, e, NULL);
    if (ev->ok) {
        fail_too_large(st, e);
        return;
    }
    e->prepare_after = st->now + PREPARE_RETRY_MS;
    if (ensemble_ended(e))
        return;
    if (ev->code == ERR_NO_SPACE)
        wait_for_space(st, e, ev->message);
    else
        set_reason(st, e, ev->message);
}

static void on_tick(struct step *st)
{
    for (int i = 0; i < st->s->nactive; i++) {
        struct ensemble *e = st->s->active[i];
        if (ensemble_wants(e) && !e->prepared && !e->preparing && e->prepare_after <= st->now)
            prepare_input(st, e);
        if (e->finish_after && e->finish_after <= st->now)
            finish_again(st, e);
    }
}

/* ---- all events ---- */

static void on_drain(struct step *st)
{
    if (st->s->draining)
        return;
    st->s->draining = true;
    for (int w = 0; w < st->s->nworkers; w++)
        if (health_is_up(&st->s->workers[w].health))
            decide(st, (struct decision){.kind = DECIDE_DRAIN, .worker = w});
}

/* What a revision is to be is found out off the loop: its ensemble may be removed meanwhile. */
static int check_there(const struct ensemble *e, struct err *err)
{
    return e->removed ? err_set(err, ERR_NOT_FOUND, "no ensemble %s: it was removed", e->id) : 0;
}

/* While an archive of it is being written, nobody has it go on or changes its results. */
static int check_exported(const struct ensemble *e, struct err *err)
{
    if (!e->exports)
        return 0;
    return err_set(err, ERR_BUSY, "ensemble %s is being exported: try again when that is over", e->id);
}

static bool changes_files(enum sched_kind kind)
{
    return kind == SCHED_RESUME || kind == SCHED_CANCEL || kind == SCHED_RETRY || kind == SCHED_REESTIMATE ||
           kind == SCHED_EXTEND || kind == SCHED_ADD_WINDOWS;
}

static int dispatch(struct step *st, const struct sched_event *ev, struct err *err)
{
    if (changes_files(ev->kind) && check_exported(ev->ensemble, err))
        return -(int)err->code;
    switch (ev->kind) {
    case SCHED_ADD:
        on_add(st, ev->ensemble);
        return 0;
    case SCHED_PREPARED:
        on_prepared(st, ev);
        return 0;
    case SCHED_ESTIMATED:
        on_estimated(st, ev);
        return 0;
    case SCHED_PAUSE:
        return on_pause(st, ev, err);
    case SCHED_RESUME:
        return on_resume(st, ev->ensemble, err);
    case SCHED_CANCEL:
        return on_cancel(st, ev->ensemble, err);
    case SCHED_RETRY:
        return on_retry(st, ev, err);
    case SCHED_PRIORITY:
        return on_priority(st, ev, err);
    case SCHED_MOVE:
        return on_move(st, ev, err);
    case SCHED_REESTIMATE:
        return on_reestimate(st, ev->ensemble, err);
    case SCHED_EXTEND:
        return check_there(ev->ensemble, err) ? -(int)err->code : on_extend(st, ev, err);
    case SCHED_ADD_WINDOWS:
        return check_there(ev->ensemble, err) ? -(int)err->code : on_add_windows(st, ev, err);
    case SCHED_LIVE:
        on_live(st, ev);
        return 0;
    case SCHED_LOOKED:
        on_look(st, ev);
        return 0;
    case SCHED_WORKER_UP:
        return on_worker_up(st, ev, err);
    case SCHED_SLOTS:
        return on_worker_slots(st, ev, err);
    case SCHED_WORKER_DOWN:
        on_worker_down(st, ev);
        return 0;
    case SCHED_PROGRESS:
    case SCHED_SEGMENT:
    case SCHED_DONE:
    case SCHED_STOPPED:
    case SCHED_FAILED:
        return on_replica(st, ev, err);
    case SCHED_SPACE:
        on_space(st);
        return 0;
    case SCHED_STORED:
        on_stored(st, ev);
        return 0;
    case SCHED_USER:
        on_user(st, ev);
        return 0;
    case SCHED_DRAINED:
        on_device_drained(st, ev);
        return 0;
    case SCHED_UNDRAINED:
        on_device_undrained(st, ev);
        return 0;
    case SCHED_DRAIN:
        on_drain(st);
        return 0;
    case SCHED_TICK:
        on_tick(st);
        return 0;
    }
    return err_set(err, ERR_INTERNAL, "no such event: %d", (int)ev->kind);
}

int sched_step(struct sched *s, const struct sched_event *ev, struct decisions *out, struct err *e)
{
    struct step st = {s, ev->now, ev->time, out};
    account(s, ev->now);
    int rc = dispatch(&st, ev, e);
    if (rc)
        return rc;
    end_stuck(&st);
    fill_slots(&st);
    if (!s->draining)
        end_slices(&st);
    return 0;
}

static void sooner(int64_t *wake, int64_t now, int64_t at)
{
    if (at < now)
        at = now;
    if (at < *wake)
        *wake = at;
}

/* When a running set is stuck, or makes room. */
static void wake_for_running(const struct sched *s, const struct sched_set *set, bool anybody_waits, bool anybody_comes,
                             int64_t now, int64_t *wake)
{
    if (set_moved(set) > INT64_MIN && s->workers[set->worker].health.life.state != LIFE_ENDING)
        sooner(wake, now, set_moved(set) + s->stall_ms);
    if (!anybody_waits)
        return;
    if (anybody_comes && set->began + SCHED_FIRST_MS > now)
        sooner(wake, now, set->began + SCHED_FIRST_MS);
    /* After its slice others deserve the slots once it has used more than they have: looked at again now and then. */
    if (set->ensemble->nwaiting)
        sooner(wake, now, turn_wake(s, set, now));
    int64_t slice = pack_slice(s, set), end = set->began + slice;
    sooner(wake, now, end > now ? end : now + slice / 4 + 1);
}

int64_t sched_wake(const struct sched *s, int64_t now)
{
    int64_t wake = INT64_MAX;
    bool anybody_waits = false, anybody_comes = false;
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *e = s->active[i];
        if (e->finish_after)
            sooner(&wake, now, e->finish_after);
        if (!ensemble_wants(e))
            continue;
        if (!e->prepared && !e->preparing)
            sooner(&wake, now, e->prepare_after);
        anybody_waits |= e->prepared && e->nwaiting;
        anybody_comes |= e->prepared && e->nwaiting && user_comes(s, e);
        for (int k = 0; k < e->nsets && e->prepared && e->delayed > now; k++)
            if (set_waits(&e->sets[k]) && e->sets[k].not_before > now)
                sooner(&wake, now, e->sets[k].not_before);
    }
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (anybody_waits && health_is_up(&k->health) && k->health.trust.state == TRUST_SICK && !k->nsets &&
            k->health.probe_at > now)
            sooner(&wake, now, k->health.probe_at);
        for (int i = 0; i < k->nsets; i++)
            wake_for_running(s, k->sets[i], anybody_waits && !s->draining, anybody_comes, now, &wake);
    }
    return wake;
}

/* Whether a worker, an estimate or the thread pool has it. */
static bool is_worked_on(const struct ensemble *en)
{
    bool busy = en->estimating || en->preparing;
    for (int i = 0; i < en->nreplicas; i++)
        busy |= en->replicas[i].held || en->replicas[i].sm.state == REPLICA_STOPPING;
    return busy;
}

int sched_check_still(const struct ensemble *en, struct err *e)
{
    if (en->sm.state != ENSEMBLE_PAUSED && en->sm.state != ENSEMBLE_FINISHING && !ensemble_ended(en))
        return err_set(e, ERR_CONFLICT, "ensemble %s is %s: pause it first", en->id, sm_name(&en->sm));
    if (en->sm.state == ENSEMBLE_FINISHING || en->looking || is_worked_on(en))
        return err_set(e, ERR_BUSY, "ensemble %s is %s, and not all of it has come to rest: try again in some seconds",
                       en->id, sm_name(&en->sm));
    return 0;
}

int sched_remove(struct sched *s, struct ensemble *en, struct err *e)
{
    if (!ensemble_ended(en))
        return err_set(e, ERR_CONFLICT, "ensemble %s is %s: cancel it first", en->id, sm_name(&en->sm));
    if (check_exported(en, e))
        return -(int)e->code;
    if (is_worked_on(en))
        return err_set(e, ERR_CONFLICT, "ensemble %s is still stopping: try again", en->id);
    int at = 0;
    while (s->ensembles[at] != en)
        at++;
    memmove(&s->ensembles[at], &s->ensembles[at + 1], (size_t)(s->nensembles - at - 1) * sizeof(struct ensemble *));
    s->nensembles--;
    for (int w = 0; w < s->nworkers; w++)
        energy_forget(&s->workers[w].energy, en);
    en->removed = true;
    return 0;
}
