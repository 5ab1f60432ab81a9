/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/usage.h"

#include <stdlib.h>

#include "daemon/tree.h"

#define ROUND_MS 30000 /* between two rounds over all ensembles */

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

static void choose(struct usage *u)
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

static void measure(void *arg)
{
    struct usage *u = arg;
    for (int i = 0; i < u->n; i++)
        u->bytes[i] = tree_bytes(u->path[i]);
}

/* It may have been removed meanwhile. */
static void take(struct usage *u, int i)
{
    const struct sched *s = &u->service->sched;
    int at = after(s, u->number[i] - 1);
    if (at == s->nensembles || s->ensembles[at]->number != u->number[i])
        return;
    quota_set(&s->ensembles[at]->stored, u->bytes[i]);
    s->ensembles[at]->measured = service_now();
}

static void measured(void *arg)
{
    struct usage *u = arg;
    for (int i = 0; i < u->n; i++) {
        take(u, i);
        free(u->path[i]);
    }
    u->measuring = false;
    if (!u->stopped)
        uv_timer_start(&u->timer, on_timer, 1, 0);
}

static void on_timer(uv_timer_t *t)
{
    struct usage *u = t->data;
    if (u->measuring)
        return;
    choose(u);
    if (u->n == 0) {
        u->after = 0;
        uv_timer_start(&u->timer, on_timer, ROUND_MS, 0);
        return;
    }
    u->measuring = true;
    service_job(u->service, measure, measured, u);
}

void usage_start(struct usage *u, struct service *sv)
{
    *u = (struct usage){.service = sv};
    uv_timer_init(sv->loop, &u->timer);
    u->timer.data = u;
    uv_timer_start(&u->timer, on_timer, 1000, 0);
}

void usage_stop(struct usage *u)
{
    u->stopped = true;
    uv_close((uv_handle_t *)&u->timer, NULL);
}
