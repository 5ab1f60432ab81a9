/* SPDX-License-Identifier: Apache-2.0
 *
 * Workers come and go; health/device_health.h draws when their devices are up, and when they can be trusted.
 * Administrators take devices out of use; sets there stop as at the end of their slices. Sets that
 * crashed there are tried elsewhere first (pack.c), so a sick device takes no retries from anybody while there is a
 * healthy one. Sets that no device will ever have memory for fail.
 */
#include "daemon/schedule/internal.h"

#include "engine/base/buf.h"
#include "engine/base/number.h"

/* There may be as many sets as slots; the one that needs more is alone. */
static void set_slots(struct sched_worker *w, int slots)
{
    w->slots = slots;
    if (slots <= w->sets_cap)
        return;
    w->sets_cap = slots;
    w->sets = xrealloc(w->sets, (size_t)slots, sizeof *w->sets);
}

static void read_energy(struct sched_worker *w, const struct sched_event *ev)
{
    for (int i = 0; i < w->nsets; i++)
        claim_energy(w, w->sets[i]);
    energy_read(&w->energy, ev->now, ev->millijoules);
}

int on_worker_slots(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    const bool up = health_is_up(&w->health);
    if (!up || ev->slots < 1)
        return err_set(err, ERR_PROTOCOL, "worker %d: %d slots %s", ev->worker, ev->slots,
                       up ? "wanted" : "before its hello");
    set_slots(w, ev->slots);
    w->room = ev->room;
    read_energy(w, ev);
    return 0;
}

/* ---- too large ---- */

static void add_need(struct buf *out, const struct sched *s, int worker, const struct sched_set *set)
{
    const struct sched_worker *w = &s->workers[worker];
    buf_printf(out, "%s%s: it needs ", worker ? "; " : "", w->device);
    number_bytes(out, (double)pack_alone(s, worker, set));
    buf_printf(out, ", of ");
    number_bytes(out, (double)room_usable(w->room.total));
    if (w->room.joined > 1)
        buf_printf(out, " on each of %d cards", w->room.joined);
}

static void fail_set_too_large(struct step *st, struct sched_set *set)
{
    struct buf text = {0};
    buf_printf(&text, "no device has memory for it: ");
    for (int w = 0; w < st->s->nworkers; w++)
        add_need(&text, st->s, w, set);
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_QUEUED) {
            note_failure(&set->replicas[i], ERR_TOO_LARGE, text.data);
            move_replica(st, &set->replicas[i], REPLICA_FAILED);
        }
    buf_free(&text);
}

void fail_too_large(struct step *st, struct ensemble *e)
{
    bool any = false;
    for (int i = 0; i < e->nsets; i++)
        if (set_waits(&e->sets[i]) && pack_too_large(st->s, &e->sets[i])) {
            fail_set_too_large(st, &e->sets[i]);
            any = true;
        }
    if (any)
        finish_if_ended(st, e);
}

int on_worker_up(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    const bool may = health_may_say_hello(&w->health);
    if (!may || ev->slots < 1)
        return err_set(err, ERR_PROTOCOL, "worker %d: hello %s", ev->worker, may ? "without slots" : "twice");
    health_hello(&w->health);
    set_slots(w, ev->slots);
    ensemble_string(&w->device, ev->device);
    ensemble_string(&w->model, ev->model);
    ensemble_string(&w->limits, ev->limits);
    if (room_cards(&w->room) != room_cards(&ev->room))
        w->energy.millijoules = 0; /* what counters of other cards say cannot be compared */
    w->room = ev->room;
    read_energy(w, ev);
    if (st->s->draining)
        decide(st, (struct decision){.kind = DECIDE_DRAIN, .worker = ev->worker});
    for (int i = 0; i < st->s->nactive; i++)
        fail_too_large(st, st->s->active[i]);
    return 0;
}

void on_device_drained(struct step *st, const struct sched_event *ev)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    const char *reason = ev->hold->reason;
    health_drain(&w->health, ev->hold);
    for (int i = 0; i < w->nsets; i++) {
        note(st, w->sets[i]->replicas, "device", "%s is drained by the administrator %s%s%s", w->device, ev->hold->by,
             reason ? ": " : "", reason ? reason : "");
        stop_set(st, w->sets[i]);
    }
}

void on_device_undrained(struct step *st, const struct sched_event *ev)
{
    health_undrain(&st->s->workers[ev->worker].health);
}

static bool any_stuck(const struct sched_worker *w, bool *all)
{
    int n = 0;
    for (int i = 0; i < w->nsets; i++)
        n += w->sets[i]->stuck;
    *all = n == w->nsets;
    return n > 0;
}

void on_worker_down(struct step *st, const struct sched_event *ev)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    bool alone = w->nsets == 1, all, stuck = any_stuck(w, &all);
    health_ended(&w->health, ev->ok, ev->message);
    /* Where only some were stuck while others went on, it is theirs, not the device's. */
    if (!ev->ok && w->nsets && (!stuck || all))
        strike(st, ev->worker, ev->message);
    while (w->nsets) {
        struct sched_set *set = w->sets[w->nsets - 1];
        if (ev->ok || (stuck && !set->stuck))
            release_set(st, set);
        else
            blame_set(st, set, ev->worker, alone || (stuck && !all), ev->message);
        set->stuck = false;
        finish_if_ended(st, set->ensemble);
    }
    forget_models(st->s, ev->worker);
}

/* Of a set in which nobody gets on: replicas that exchange windows wait for each other. */
static struct sched_replica *stuck_replica(const struct sched *s, const struct sched_set *set, int64_t now)
{
    if (now - set_moved(set) < s->stall_ms)
        return NULL;
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held && now - set->replicas[i].moved >= s->stall_ms)
            return &set->replicas[i];
    return NULL;
}

void end_stuck(struct step *st)
{
    for (int i = 0; i < st->s->nworkers; i++) {
        struct sched_worker *w = &st->s->workers[i];
        struct sched_replica *first = NULL;
        for (int k = 0; k < w->nsets && w->health.life.state != LIFE_ENDING; k++) {
            struct sched_replica *r = stuck_replica(st->s, w->sets[k], st->now);
            w->sets[k]->stuck = r != NULL;
            first = first ? first : r;
        }
        if (!first)
            continue;
        health_ending(&w->health);
        struct buf text = {0};
        buf_printf(&text, "ensemble %s, window %d has made no step for %lld s", first->ensemble->id, first->window,
                   (long long)((st->now - first->moved) / 1000));
        decide(st, (struct decision){.kind = DECIDE_KILL, .worker = i, .text = text.data});
    }
}
