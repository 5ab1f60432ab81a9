/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/replica/exchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/swaps.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/units.h"

struct exchange {
    int members, joined;
    int arrived, left;       /* at the meeting; for good */
    uint64_t meetings;       /* that are over */
    struct replica **member; /* [members], by window once all have joined; NULL: has left */
    struct seat {
        uint32_t window, key;
        int origin;  /* the window that it was before windows were added; -1: it was none */
        bool before; /* it has an origin */
    } * seat;        /* [members], of each, also when it has left */
    /* of one exchange: */
    double *delta_u;             /* [members][members] */
    int *from;                   /* [members] window that the replica which comes into this one was in */
    struct sim **sim;            /* [members] that were in them */
    uint32_t *walker;            /* [members] and whose they are, */
    struct shared_model **under; /* [members] and on whose devices */
};

struct exchange *exchange_new(int members)
{
    struct exchange *x = xcalloc(1, sizeof *x);
    const size_t n = (size_t)members;
    x->members = members;
    x->member = xcalloc(n, sizeof *x->member);
    x->seat = xcalloc(n, sizeof *x->seat);
    x->delta_u = xcalloc(n * n, sizeof *x->delta_u);
    x->from = xcalloc(n, sizeof *x->from);
    x->sim = xcalloc(n, sizeof *x->sim);
    x->walker = xcalloc(n, sizeof *x->walker);
    x->under = xcalloc(n, sizeof *x->under);
    return x;
}

/* In the order of windows, whatever that of the message was. */
void exchange_join(struct exchange *x, struct replica *r)
{
    int at = x->joined++;
    for (; at > 0 && x->member[at - 1]->setup.window > r->setup.window; at--) {
        x->member[at] = x->member[at - 1];
        x->seat[at] = x->seat[at - 1];
    }
    x->member[at] = r;
    x->seat[at] = (struct seat){(uint32_t)r->setup.window, r->setup.replica, -1, r->origin != NULL};
}

void exchange_leave(struct exchange *x, const struct replica *r)
{
    for (int i = 0; i < x->members; i++)
        if (x->member[i] == r)
            x->member[i] = NULL;
    if (++x->left < x->members)
        return;
    free(x->member);
    free(x->seat);
    free(x->delta_u);
    free(x->from);
    free(x->sim);
    free(x->walker);
    free(x->under);
    free(x);
}

bool exchange_on(const struct replica *r)
{
    return r->setup.exchange && r->spec && r->spec->settings.exchange;
}

bool replica_exchanging(const struct replica *r, uint64_t step)
{
    return exchange_on(r) && r->stage < (uint64_t)r->spec->nstages && r->spec->stages[r->stage].exchange_every &&
           timeline_together(r->spec, r->stage, step);
}

int exchange_members(const struct replica *r)
{
    return r->setup.exchange->members;
}

/* Of one that is not in the set the keys follow each other. */
uint32_t replica_random_key(const struct replica *r)
{
    const struct exchange *x = r->setup.exchange;
    for (int i = 0; x && i < x->members; i++)
        if (x->seat[i].window == r->walker)
            return x->seat[i].key;
    return r->setup.replica - (uint32_t)r->setup.window + r->walker;
}

void replica_place(struct replica *r)
{
    sim_place(r->sim, r->setup.window, replica_random_key(r));
}

int exchange_moved(const struct replica *r, uint64_t before)
{
    const struct exchange *x = r->setup.exchange;
    for (int i = 0; i < x->members; i++)
        if (x->seat[i].origin >= 0 && (uint64_t)x->seat[i].origin == before)
            return (int)x->seat[i].window;
    return -1;
}

bool exchange_has_origins(const struct replica *r)
{
    const struct exchange *x = r->setup.exchange;
    for (int i = 0; i < x->members; i++)
        if (x->seat[i].before)
            return true;
    return false;
}

bool exchange_waits(const struct replica *r)
{
    const struct exchange *x = r->setup.exchange;
    return r->meeting && x->meetings < r->meeting && !x->left;
}

/* All come to the same meetings in the same order. The last to come calls act, if there is one, before anybody goes on.
 */
static int CO_FN meet(struct replica *r, int (*act)(struct exchange *x, struct err *e), struct err *e)
{
    struct exchange *x = r->setup.exchange;
    r->meeting = x->meetings + 1;
    if (++x->arrived == x->members) {
        if (act && act(x, e)) {
            r->meeting = 0;
            return -(int)e->code; /* and leaves, so the others will */
        }
        x->arrived = 0;
        x->meetings++;
    }
    while (exchange_waits(r))
        co_pause();
    bool over = x->meetings >= r->meeting;
    r->meeting = 0;
    return over ? 0 : REPLICA_STOPPED;
}

/* ---- exchanges ---- */

static int all_here(const struct exchange *x, struct err *e)
{
    const struct replica *first = x->member[0];
    for (int w = 0; w < x->members; w++) {
        const struct replica *r = x->member[w];
        if (!r || r->setup.window != w || r->shared->phase != first->shared->phase || r->stage != first->stage ||
            r->stage_step != first->stage_step)
            return err_set(e, ERR_INTERNAL, "window %d is not where the others exchange", w);
    }
    return 0;
}

/* Simulations, whose they are, and the models that they keep, into the windows that were drawn for them. */
static int hand_out(struct exchange *x, struct err *e)
{
    for (int w = 0; w < x->members; w++) {
        x->sim[w] = x->member[w]->sim;
        x->walker[w] = x->member[w]->walker;
        x->under[w] = x->member[w]->under;
    }
    int rc = sim_hand_observed(x->sim, x->from, x->members, e);
    for (int w = 0; w < x->members; w++) {
        x->member[w]->sim = x->sim[x->from[w]];
        x->member[w]->walker = x->walker[x->from[w]];
        x->member[w]->under = x->under[x->from[w]];
        if (x->from[w] != w)
            replica_place(x->member[w]);
    }
    return rc;
}

/* Checkpoints are made at exchanges only: at the first when it is time for one. */
static bool is_due(const struct replica *r)
{
    uint64_t since = r->stage_step - (r->kept_stage == r->stage ? r->kept_step : 0);
    return r->spec->checkpoint_every ? since >= r->spec->checkpoint_every : replica_save_due(r, r->stage_step);
}

static int exchange(struct exchange *x, struct err *e)
{
    int rc = all_here(x, e);
    if (rc)
        return rc;
    const struct replica *first = x->member[0];
    const struct settings *set = &first->shared->settings;
    const struct swaps s = {.scheme = set->exchange,
                            .windows = x->members,
                            .seed = set->integrator.seed,
                            .set = first->setup.replica,
                            .beta = 1 / (UNIT_R * set->integrator.temperature)};
    const size_t n = (size_t)x->members;
    bool keep = false, stop = false;
    for (size_t w = 0; w < n; w++) {
        memcpy(x->delta_u + w * n, x->member[w]->delta_u, n * sizeof *x->delta_u);
        stop |= x->member[w]->stop;
        keep |= is_due(x->member[w]);
    }
    swaps_draw(&s, timeline_exchanges(first->spec, first->stage, first->stage_step, true) - 1, x->delta_u, x->from);
    rc = hand_out(x, e);
    for (size_t w = 0; w < n; w++)
        x->member[w]->agreed = (struct agreed){.keep = keep || stop, .stop = stop};
    return rc;
}

int CO_FN exchange_meet(struct replica *r, struct err *e)
{
    return meet(r, exchange, e);
}

int CO_FN exchange_kept(struct replica *r, struct err *e)
{
    return meet(r, NULL, e);
}

/* ---- where to begin ---- */

static bool offers(const struct replica *r, uint64_t meetings)
{
    bool found = meetings == 0; /* the beginning everybody has */
    for (int i = 0; i < r->noffered; i++)
        found |= r->offered[i] == meetings;
    return found;
}

static int find_common(struct exchange *x, struct err *e)
{
    uint64_t common = 0;
    (void)e;
    for (int k = 0; k < x->member[0]->noffered; k++) {
        uint64_t meetings = x->member[0]->offered[k];
        bool all = true;
        for (int w = 0; w < x->members; w++)
            all = all && offers(x->member[w], meetings);
        if (all && meetings > common)
            common = meetings;
    }
    for (int w = 0; w < x->members; w++)
        x->member[w]->common = common;
    return 0;
}

/* The latest step that all with an origin offer. */
static int find_origin(struct exchange *x, struct err *e)
{
    uint64_t at = 0;
    bool any = false, found = false;
    for (int w = 0; w < x->members; w++)
        for (int k = 0; k < x->member[w]->noffered; k++) {
            const uint64_t step = x->member[w]->offered[k];
            bool all = true;
            any = true;
            for (int v = 0; v < x->members; v++)
                all = all && (!x->member[v]->noffered || offers(x->member[v], step));
            found |= all;
            at = all && step > at ? step : at;
        }
    if (any && !found)
        return err_set(e, ERR_CHECKPOINT,
                       "replicas exchange windows, but there is no step at which every window has a checkpoint from "
                       "before windows were added: submit the ensemble anew with all windows");
    for (int w = 0; w < x->members; w++) {
        x->member[w]->origin_at = at;
        x->seat[w].origin = x->member[w]->origin_window;
    }
    return 0;
}

static int CO_FN meet_with(struct replica *r, const uint64_t *offered, int n,
                           int (*act)(struct exchange *x, struct err *e), struct err *e)
{
    r->offered = offered;
    r->noffered = n;
    int rc = meet(r, act, e);
    r->offered = NULL;
    r->noffered = 0;
    return rc;
}

int CO_FN exchange_common(struct replica *r, const uint64_t *offered, int n, struct err *e)
{
    return meet_with(r, offered, n, find_common, e);
}

int CO_FN exchange_origin(struct replica *r, const uint64_t *offered, int n, struct err *e)
{
    return meet_with(r, offered, n, find_origin, e);
}
