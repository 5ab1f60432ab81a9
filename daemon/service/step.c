/* SPDX-License-Identifier: Apache-2.0
 *
 * A step of the scheduler: an event goes in, what is decided is carried out (service.c), and the clock is set for the
 * next.
 */
#include <stdio.h>
#include <time.h>

#include "daemon/service/service.h"
#include "engine/base/number.h"

#define SAVE_MS 60000 /* between two times that what was used is saved */
#define DAY_MS 86400000

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t service_now(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t service_clock(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

void service_tell_status(struct service *sv)
{
    if (!sv->on_status)
        return;
    int running = 0, up = 0, active = sv->sched.nactive;
    for (int w = 0; w < sv->sched.nworkers; w++) {
        up += health_is_up(&sv->sched.workers[w].health);
        running += sv->sched.workers[w].nrunning;
    }
    char text[160];
    snprintf(text, sizeof text, "%s%d of %d %s up, %d %s running, %d %s active", sv->draining ? "draining: " : "", up,
             sv->sched.nworkers, number_word(sv->sched.nworkers, "worker", "workers"), running,
             number_word(running, "replica", "replicas"), active, number_word(active, "ensemble", "ensembles"));
    sv->on_status(sv->on_stopped_arg, text);
}

static void on_tick(uv_timer_t *t);

static void set_tick(struct service *sv)
{
    int64_t now = service_clock(), wake = sched_wake(&sv->sched, now);
    if (wake == INT64_MAX || sv->stopped)
        uv_timer_stop(&sv->tick);
    else
        uv_timer_start(&sv->tick, on_tick, wake > now ? (uint64_t)(wake - now) : 1, 0);
}

/* In the batch of the sums: neither is there without the other. */
static void save_used(struct service *sv, struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->used_step == r->used_saved)
            continue;
        store_save_used(sv->store, r);
        r->used_saved = r->used_step;
    }
}

static void add_account(struct service *sv, const struct ensemble *en, int worker, const struct sched_use *use)
{
    store_add_account(sv->store, en, supervisor_device(sv->supervisor, worker), service_now() / DAY_MS, use);
}

void service_account(struct service *sv, struct sched_set *set, int worker)
{
    if (worker < 0)
        return;
    struct sched_use use = sched_take_use(set);
    use.joules = energy_take(&sv->sched.workers[worker].energy, set->ensemble);
    if (use.device_ms > 0 || use.steps > 0 || use.joules > 0)
        add_account(sv, set->ensemble, worker, &use);
    save_used(sv, set);
}

/* Of ensembles that have left the device, too. */
void service_save_energy(struct service *sv)
{
    for (int w = 0; w < sv->sched.nworkers; w++) {
        struct energy_meter *m = &sv->sched.workers[w].energy;
        for (struct ensemble *en; (en = energy_next(m));)
            add_account(sv, en, w, &(struct sched_use){.joules = energy_take(m, en)});
    }
}

void service_save_use(struct service *sv)
{
    int64_t now = service_now();
    for (int w = 0; w < sv->sched.nworkers; w++)
        for (int i = 0; i < sv->sched.workers[w].nsets; i++)
            service_account(sv, sv->sched.workers[w].sets[i], w);
    service_save_energy(sv);
    store_trim_accounts(sv->store, now / DAY_MS - sv->tuning.accounting_days);
    for (int i = 0; i < sv->sched.nusers; i++) {
        struct sched_user *u = &sv->sched.users[i];
        if (u->unsaved)
            store_put_history(sv->store, u->uid, u->history, now);
        u->unsaved = false;
    }
    sv->use_saved = service_clock();
}

int service_step(struct service *sv, struct sched_event *ev, struct err *e)
{
    struct decisions out = {0};
    ev->now = service_clock();
    ev->time = service_now();
    int rc = sched_step(&sv->sched, ev, &out, e);
    for (int i = 0; i < out.n; i++)
        sv->carry_out(sv, &out.item[i]);
    if (out.n || ev->kind == SCHED_WORKER_UP || ev->kind == SCHED_WORKER_DOWN)
        service_tell_status(sv);
    decisions_free(&out);
    if (ev->now - sv->use_saved >= SAVE_MS)
        service_save_use(sv);
    if (ev->kind != SCHED_PROGRESS)
        set_tick(sv);
    return rc;
}

static void on_tick(uv_timer_t *t)
{
    struct err e = {0};
    service_step(t->data, &(struct sched_event){.kind = SCHED_TICK}, &e);
}

void service_stop_if_drained(struct service *sv)
{
    if (!sv->draining || sv->stopped || supervisor_alive(sv->supervisor))
        return;
    sv->stopped = true; /* the limit goes on: jobs may be at work */
    sv->on_stopped(sv->on_stopped_arg);
}
