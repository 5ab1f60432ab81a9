/* SPDX-License-Identifier: Apache-2.0
 *
 * What owners ask for: pause, resume, cancel, another priority, another device, retry, extend. Asking for what is so
 * already is fine. Administrators may ask for the same. A pause of theirs is kept with the ensemble, whatever its owner
 * does to it, until an administrator has it go on: api/owner.c refuses the owner's wish.
 */
#include <stdio.h>

#include "daemon/schedule/internal.h"

static int refuse(const struct ensemble *e, const char *wish, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "ensemble %s is %s: it cannot be %s", e->id, sm_name(&e->sm), wish);
}

/* Running replicas checkpoint and leave; waiting ones move at once. */
static void withdraw(struct step *st, struct ensemble *e, enum replica_state to)
{
    forget_space(st, e);
    for (int i = 0; i < e->nsets; i++)
        if (e->sets[i].worker >= 0)
            stop_set(st, &e->sets[i]);
    move_all(st, e, REPLICA_QUEUED, to);
    if (to == REPLICA_CANCELLED)
        move_all(st, e, REPLICA_PAUSED, to);
}

static void note_administrator(struct step *st, struct ensemble *e, const char *by)
{
    char text[200];
    snprintf(text, sizeof text, "paused by the administrator %s", by);
    ensemble_string(&e->paused_by, by);
    set_reason(st, e, text);
}

/* The next state that is saved is without it. */
static void forget_administrator(struct ensemble *e)
{
    if (e->paused_by)
        ensemble_string(&e->reason, NULL);
    ensemble_string(&e->paused_by, NULL);
}

int on_pause(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    const bool paused = e->sm.state == ENSEMBLE_PAUSED;
    if (!paused && !sm_may(&e->sm, ENSEMBLE_PAUSED))
        return refuse(e, "paused", err);
    forget_space(st, e);
    if (ev->by)
        note_administrator(st, e, ev->by);
    if (paused)
        return 0;
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
    forget_administrator(e);
    move_ensemble(st, e, ENSEMBLE_QUEUED);
    move_all(st, e, REPLICA_PAUSED, REPLICA_QUEUED);
    prepare_input(st, e);
    return 0;
}

int on_cancel(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_CANCELLED)
        return 0;
    if (!sm_may(&e->sm, ENSEMBLE_CANCELLED))
        return refuse(e, "cancelled", err);
    if (e->paused_by)
        ensemble_string(&e->reason, NULL);
    move_ensemble(st, e, ENSEMBLE_CANCELLED);
    withdraw(st, e, REPLICA_CANCELLED);
    return 0;
}

int on_priority(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    if (ensemble_ended(e))
        return refuse(e, "given another priority", err);
    if (e->priority == ev->priority)
        return 0;
    e->priority = ev->priority;
    note_ensemble(st, e, "priority", "its priority is %s", ensemble_priority(e));
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    return 0;
}

/* ---- move ---- */

/* Whether the set's bits depend on the device that it goes on on: it has a checkpoint, or makes one when it stops. */
static bool has_bits(const struct sched_set *set)
{
    return set_saved(set) > 0 || set->worker >= 0;
}

static int check_home(const struct sched_set *set, const struct sched_worker *w, enum pack_refusal why, struct err *err)
{
    const char *id = set->ensemble->id, *device = w->device;
    switch (why) {
    case PACK_FITS:
        return 0;
    case PACK_SLOTS:
        return err_set(err, ERR_CONFLICT,
                       "ensemble %s cannot be moved to %s: %d replicas run together, and that device has %d slots", id,
                       device, set_open(set), w->slots);
    case PACK_MEMORY:
        return err_set(err, ERR_CONFLICT, "ensemble %s cannot be moved to %s: that device has no memory for it", id,
                       device);
    case PACK_MODEL:
        return err_set(err, ERR_CONFLICT,
                       "ensemble %s cannot be moved to %s (%s): window %d goes on from a checkpoint of %s (%s), whose "
                       "numbers differ in their last bits, and a device like that is in use",
                       id, device, w->model, set->replicas->window, set->device, set->model);
    }
    return 0;
}

/* That the device can be counted on, and takes all sets of the ensemble that have not ended. */
static int check_move(const struct sched *s, const struct sched_event *ev, struct err *err)
{
    const struct sched_worker *w = &s->workers[ev->worker];
    if (health_is_drained(&w->health))
        return err_set(err, ERR_CONFLICT, "%s is drained by the administrator %s: it takes no ensembles", ev->device,
                       w->health.drained.by);
    if (!health_is_up(&w->health))
        return err_set(err, ERR_BUSY, "%s is not up: try again when `shoal status --devices` shows it", ev->device);
    if (health_is_sick(&w->health))
        return err_set(err, ERR_CONFLICT, "%s is put aside after crashes: it takes no ensembles until it is well",
                       ev->device);
    for (int i = 0; i < ev->ensemble->nsets; i++) {
        const struct sched_set *set = &ev->ensemble->sets[i];
        enum pack_refusal why = set_open(set) ? pack_refusal(s, ev->worker, set) : PACK_FITS;
        if (why == PACK_MODEL && !has_bits(set))
            why = PACK_FITS;
        if (check_home(set, w, why, err))
            return -ERR_CONFLICT;
    }
    return 0;
}

/* Whoever is at work elsewhere makes a checkpoint and leaves. */
static void leave_for(struct step *st, struct sched_set *set, int home)
{
    if (home < 0 || set->worker == home)
        return;
    if (set->worker >= 0)
        stop_set(st, set);
    else if (!has_bits(set))
        ensemble_string(&set->model, NULL);
}

int on_move(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    if (ensemble_ended(e) || e->sm.state == ENSEMBLE_FINISHING)
        return refuse(e, "moved", err);
    if (ev->worker >= 0 && check_move(st->s, ev, err))
        return -(int)err->code;
    e->home = ev->worker;
    ensemble_string(&e->moved_to, ev->worker >= 0 ? ev->device : NULL);
    note_ensemble(st, e, "move", "moved to %s by %s%s", ev->worker >= 0 ? ev->device : "any device",
                  ev->by ? "the administrator " : "its owner", ev->by ? ev->by : "");
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    for (int i = 0; i < e->nsets; i++)
        leave_for(st, &e->sets[i], e->home);
    return 0;
}

/* ---- retry ---- */

/* Of a set all go on together: a retry of one of them is meant for all that have failed with it. */
static bool is_meant(const struct sched_event *ev, const struct sched_replica *r)
{
    for (int i = 0; i < r->set->nreplicas && ev->one; i++)
        if (r->set->replicas[i].window == ev->window)
            return r->sm.state == REPLICA_FAILED;
    if (ev->one)
        return false;
    return r->sm.state == REPLICA_FAILED || r->sm.state == REPLICA_CANCELLED;
}

/* Whether a replica was cancelled before anything of it failed: nothing of it or its set is to be reset. */
static bool is_clean(const struct sched_replica *r)
{
    const struct sched_set *set = r->set;
    return r->sm.state == REPLICA_CANCELLED && !set->failures && !set->crashes && !set->excused && !r->code &&
           !r->reason;
}

/* Those of its replicas that are meant wait for another try. Clean ones are moved by move_all. */
static void forgive(struct step *st, const struct sched_event *ev, struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (!is_meant(ev, r) || is_clean(r))
            continue;
        set->failures = set->excused = set->crashes = r->code = 0;
        set->crashed = set->alone = 0;
        set->not_before = 0;
        r->failed_from = -1;
        ensemble_string(&r->reason, NULL);
        move_replica(st, r, REPLICA_QUEUED);
        if (waiting_state(r->ensemble) != REPLICA_QUEUED)
            move_replica(st, r, waiting_state(r->ensemble));
    }
}

/* From its state, or of a window that has not failed. */
static int check_retry(const struct sched_event *ev, struct err *err)
{
    const struct ensemble *e = ev->ensemble;
    bool over = e->sm.state == ENSEMBLE_FAILED || (e->sm.state == ENSEMBLE_CANCELLED && !ev->one);
    bool open = e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING || e->sm.state == ENSEMBLE_PAUSED;
    int n = 0;
    for (int i = 0; i < e->nreplicas; i++)
        n += is_meant(ev, &e->replicas[i]);
    if (ev->one && (over || open) && !n)
        return err_set(err, ERR_CONFLICT, "ensemble %s: window %d has not failed", e->id, ev->window);
    return over || (open && n) ? 0 : refuse(e, "retried", err);
}

int on_retry(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    if (check_retry(ev, err))
        return -ERR_CONFLICT;
    if (e->sm.state != ENSEMBLE_PAUSED)
        ensemble_string(&e->paused_by, NULL);
    if (!e->paused_by)
        ensemble_string(&e->reason, NULL);
    if (ensemble_ended(e))
        move_ensemble(st, e, ENSEMBLE_QUEUED);
    for (int i = 0; i < e->nsets; i++)
        forgive(st, ev, &e->sets[i]);
    move_all(st, e, REPLICA_CANCELLED, REPLICA_QUEUED);
    for (int i = 0; i < e->nsets; i++)
        reopen_set(st, &e->sets[i]);
    if (e->sm.state != ENSEMBLE_PAUSED)
        prepare_input(st, e);
    finish_if_ended(st, e);
    return 0;
}

/* ---- extend ---- */

static int64_t later_target(const struct sched_replica *r, const struct sched_event *ev)
{
    return ev->more ? r->steps + ev->step : ev->step;
}

/* What even sampling is to give each replica. */
static int64_t later_share(const struct sched_event *ev)
{
    const struct ensemble *e = ev->ensemble;
    return ev->more ? allocation_share(e) + ev->step : ev->step - e->allocation.before;
}

/* How many replicas get a later target, or may; ERR_CONFLICT: one would have to go back. */
static int count_later(const struct sched_event *ev, struct err *err)
{
    const struct ensemble *e = ev->ensemble;
    int64_t share = e->allocation.share;
    int n = 0;
    if (share && !ev->more && later_share(ev) < share)
        return err_set(err, ERR_CONFLICT,
                       "%s: windows are to make %lld steps of production on average, of which that would be %lld: "
                       "production can only become longer",
                       ev->message, (long long)share, (long long)later_share(ev));
    if (share)
        return (ev->more ? ev->step : later_share(ev) - share) > 0 ? e->nreplicas : 0;
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        if (later_target(r, ev) < r->steps)
            return err_set(
                err, ERR_CONFLICT,
                "%s: window %d is to make %lld steps over all stages, of which that would be %lld: production "
                "can only become longer",
                ev->message, r->window, (long long)r->steps, (long long)later_target(r, ev));
        n += later_target(r, ev) > r->steps;
    }
    return n;
}

int on_extend(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    if (e->sm.state == ENSEMBLE_CANCELLED)
        return refuse(e, "extended", err);
    if (e->sm.state == ENSEMBLE_FINISHING)
        return err_set(err, ERR_BUSY, "ensemble %s is finishing: its results are being written, try again", e->id);
    if (e->pilot)
        return err_set(err, ERR_CONFLICT, "ensemble %s runs the pilot that places its windows: extend it when it has",
                       e->id);
    int n = count_later(ev, err);
    if (n <= 0)
        return n;
    if (e->allocation.share)
        e->allocation.share = later_share(ev);
    e->revision++;
    for (int i = 0; i < e->nreplicas && !e->allocation.share; i++) {
        e->replicas[i].steps = later_target(&e->replicas[i], ev);
        decide(st, (struct decision){.kind = DECIDE_TARGET, .ensemble = e, .replica = &e->replicas[i], .worker = -1});
    }
    note_ensemble(st, e, "extend", "revision %d: %s", e->revision, ev->message);
    const bool ended = queue_again(st, e);
    if (!ended)
        decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    for (int i = 0; i < e->nsets; i++)
        reopen_set(st, &e->sets[i]);
    if (ended)
        prepare_input(st, e);
    finish_if_ended(st, e);
    return 0;
}
