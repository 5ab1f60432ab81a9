/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/service/stored.h"

#include <stdlib.h>

#include "daemon/host/folder.h"

/* Between two rounds over all ensembles; while some are active ten times as long as the last one took, looked at so
 * often. */
#define ROUND_MS 30000
#define LOOK_MS 1000

static void on_timer(uv_timer_t *t);

/* The index of the first ensemble with a larger number; they are in the order of their numbers. */
static int after(const struct sched *s, int64_t number)
{
    int low = 0, high = s->nensembles;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->ensembles[middle]->number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether its folder may have grown since it was measured. */
static bool may_differ(const struct ensemble *en)
{
    return en->measured <= en->changed || !ensemble_ended(en);
}

static void choose_measured(struct stored *u)
{
    const struct sched *s = &u->service->sched;
    u->n = 0;
    for (int i = after(s, u->after); i < s->nensembles && u->n < USAGE_AT_ONCE; i++) {
        const struct ensemble *en = s->ensembles[i];
        u->after = en->number;
        if (!may_differ(en))
            continue;
        u->number[u->n] = en->number;
        u->path[u->n++] = service_path(u->service, en, NULL);
    }
}

int64_t stored_rows(const struct ensemble *en)
{
    return en->row_bytes + (int64_t)en->nreplicas * USAGE_REPLICA + en->nevents * USAGE_EVENT;
}

static void measure_folders(void *arg)
{
    struct stored *u = arg;
    for (int i = 0; i < u->n; i++)
        u->bytes[i] = folder_bytes(u->path[i]);
}

void stored_changed(struct service *sv, struct ensemble *en)
{
    struct err over = {0}, e = {0};
    bool exceeded = quota_exceeded(sv->config.quota, en->owner, QUOTA_STORED_BYTES, &over);
    struct sched_event ev = {.kind = SCHED_STORED, .ensemble = en, .ok = !exceeded, .message = over.msg};
    if (exceeded || sv->sched.users[en->user].over)
        service_step(sv, &ev, &e);
}

/* It may have been removed meanwhile. */
static void take_bytes(struct stored *u, int i)
{
    const struct sched *s = &u->service->sched;
    int at = after(s, u->number[i] - 1);
    if (at == s->nensembles || s->ensembles[at]->number != u->number[i])
        return;
    quota_set(&s->ensembles[at]->stored, u->bytes[i] + stored_rows(s->ensembles[at]));
    s->ensembles[at]->measured = service_now();
    stored_changed(u->service, s->ensembles[at]);
}

static void measured(void *arg)
{
    struct stored *u = arg;
    for (int i = 0; i < u->n; i++) {
        take_bytes(u, i);
        free(u->path[i]);
    }
    u->measuring = false;
    if (!u->stopped)
        uv_timer_start(&u->timer, on_timer, 1, 0);
}

/* Whether another round is to begin. */
static bool due(const struct stored *u)
{
    const int64_t since = service_clock() - u->ended;
    return since >= ROUND_MS || (u->service->sched.nactive && since >= 10 * u->took);
}

static void on_timer(uv_timer_t *t)
{
    struct stored *u = t->data;
    if (u->measuring)
        return;
    if (u->after == 0) {
        if (!due(u)) {
            uv_timer_start(&u->timer, on_timer, LOOK_MS, 0);
            return;
        }
        u->began = service_clock();
    }
    choose_measured(u);
    if (u->n == 0) {
        u->after = 0;
        u->ended = service_clock();
        u->took = u->ended - u->began;
        uv_timer_start(&u->timer, on_timer, LOOK_MS, 0);
        return;
    }
    u->measuring = true;
    service_offload(u->service, measure_folders, measured, u);
}

void stored_start(struct stored *u, struct service *sv)
{
    *u = (struct stored){.service = sv};
    uv_timer_init(sv->loop, &u->timer);
    u->timer.data = u;
    uv_timer_start(&u->timer, on_timer, LOOK_MS, 0);
}

void stored_stop(struct stored *u)
{
    u->stopped = true;
    uv_close((uv_handle_t *)&u->timer, NULL);
}
