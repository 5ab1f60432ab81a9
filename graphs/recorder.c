/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's states, as a table. What holds:
 *
 *  1. cold: nothing is known of the tape. A graph of an earlier epoch may exist, to be updated instead of made.
 *  2. warm: `live` is the tape of this epoch; it has been emitted twice, equal, and run eagerly both times.
 *  3. live: the graph holds `live`, as its readback said when it was built and at every check since.
 *  4. check: as live, while a fresh tape and a fresh readback are compared with `live`.
 *  5. failed: `failure` says why, for ever. After any error it is unknown how much was submitted, so the caller goes
 * back to a checkpoint with a new recorder; nothing is patched.
 */
#include "graphs/recorder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/sm.h"

enum state { COLD, WARM, LIVE, CHECK, FAILED };

static const struct sm_state states[] = {
    [COLD] = {"cold", SM_TO(COLD) | SM_TO(WARM) | SM_TO(FAILED)},
    [WARM] = {"warm", SM_TO(COLD) | SM_TO(LIVE) | SM_TO(FAILED)},
    [LIVE] = {"live", SM_TO(COLD) | SM_TO(CHECK) | SM_TO(FAILED)},
    [CHECK] = {"check", SM_TO(LIVE) | SM_TO(FAILED)},
    [FAILED] = {"failed", 0},
};

struct recorder {
    struct recorder_setup setup;
    struct sm sm;
    struct tape live;     /* warm and later: the tape of this epoch; cold: that of its first run, if run_once */
    struct tape fresh;    /* scratch: emitted or read back */
    struct graph *graph;  /* NULL until first live */
    bool run_once;        /* cold: one eager run is done */
    uint64_t until_check; /* live: steps before the next check */
    struct err failure;
};

static bool holds(const void *owner, uint32_t state)
{
    const struct recorder *r = owner;
    switch ((enum state)state) {
    case COLD:
        return !r->run_once;
    case WARM:
        return r->live.count > 0;
    case LIVE:
    case CHECK:
        return r->graph && r->live.count > 0;
    case FAILED:
        return r->failure.code != ERR_NONE;
    }
    return false;
}

static const struct sm_kind kind = {"recorder", states, sizeof states / sizeof states[0], holds};

int recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e)
{
    if (!setup->dev || !setup->lane || !setup->emit)
        return err_set(e, ERR_INTERNAL, "recorder: needs a device, a lane and an emit function");
    struct recorder *r = xcalloc(1, sizeof *r);
    r->setup = *setup;
    sm_init(&r->sm, &kind, r, COLD);
    *out = r;
    return 0;
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    r->setup.dev->ops->drop(r->setup.dev, r->graph);
    tape_free(&r->fresh);
    tape_free(&r->live);
    free(r);
}

/* Fills r->fresh with the tape that this step would launch. */
static int emit(struct recorder *r, struct err *e)
{
    const struct recorder_setup *s = &r->setup;
    tape_clear(&r->fresh);
    s->emit(s->ctx, &r->fresh);
    if (r->fresh.count == 0)
        return err_set(e, ERR_DRIFT, "the step launches nothing");
    return check_pointers(&s->dev->kernels, &r->fresh, s->spans, s->nspans, e);
}

static int emit_same(struct recorder *r, struct err *e)
{
    int rc = emit(r, e);
    return rc ? rc : check_tapes(&r->setup.dev->kernels, &r->live, &r->fresh, e);
}

/* What the graph holds against what it was built from. */
static int check_graph(struct recorder *r, struct err *e)
{
    struct dev *d = r->setup.dev;
    int rc = d->ops->readback(d, r->graph, &r->fresh, e);
    if (rc)
        return err_prefix(e, "read back the graph");
    if (check_tapes(&d->kernels, &r->live, &r->fresh, e))
        return err_prefix(e, "the graph does not hold the tape");
    return 0;
}

/* One eager step. The second one makes the recorder warm. */
static int step_cold(struct recorder *r, struct err *e)
{
    struct dev *d = r->setup.dev;
    int rc = r->run_once ? emit_same(r, e) : emit(r, e);
    if (rc)
        return rc;
    rc = d->ops->run(d, r->setup.lane, &r->fresh, e);
    if (rc)
        return err_prefix(e, "run");
    if (!r->run_once) {
        tape_copy(&r->live, &r->fresh);
        r->run_once = true;
        return 0;
    }
    sm_move(&r->sm, WARM);
    return 0;
}

static int build(struct recorder *r, struct err *e)
{
    struct dev *d = r->setup.dev;
    int rc = emit_same(r, e);
    if (rc)
        return rc;
    if ((rc = d->ops->build(d, r->setup.lane, &r->fresh, &r->graph, e)))
        return err_prefix(e, "build the graph");
    if ((rc = check_graph(r, e)))
        return rc;
    r->until_check = r->setup.check_every;
    sm_move(&r->sm, LIVE);
    return 0;
}

static int check(struct recorder *r, struct err *e)
{
    sm_move(&r->sm, CHECK);
    int rc = emit_same(r, e);
    if (rc || (rc = check_graph(r, e)))
        return rc;
    r->until_check = r->setup.check_every;
    sm_move(&r->sm, LIVE);
    return 0;
}

/* As many steps as go without a check; *steps becomes how many were submitted. */
static int replay(struct recorder *r, uint32_t *steps, struct err *e)
{
    struct dev *d = r->setup.dev;
    bool counts = r->setup.check_every > 0;
    if (counts && r->until_check < *steps)
        *steps = (uint32_t)r->until_check;
    int rc = d->ops->replay(d, r->setup.lane, r->graph, *steps, e);
    if (rc)
        return err_prefix(e, "replay");
    if (counts)
        r->until_check -= *steps;
    return 0;
}

/* Moves towards live and submits at least one step, or none (`*done` 0) when it only built or checked. */
static int advance(struct recorder *r, uint32_t want, uint32_t *done, struct err *e)
{
    *done = 0;
    switch ((enum state)r->sm.state) {
    case COLD:
        *done = 1;
        return step_cold(r, e);
    case WARM:
        return build(r, e);
    case LIVE:
        if (r->setup.check_every && r->until_check == 0)
            return check(r, e);
        *done = want;
        return replay(r, done, e);
    case CHECK:
    case FAILED:
        break;
    }
    *e = r->failure;
    return -(int)e->code;
}

int recorder_submit(struct recorder *r, uint32_t steps, struct err *e)
{
    while (steps > 0) {
        uint32_t done;
        bool failed = r->sm.state == FAILED;
        int rc = advance(r, steps, &done, e);
        if (rc && !failed) {
            rc = err_prefix(e, "recorder (%s)", sm_name(&r->sm));
            r->failure = *e;
            sm_move(&r->sm, FAILED);
        }
        if (rc)
            return rc;
        steps -= done;
    }
    return 0;
}

void recorder_epoch(struct recorder *r)
{
    if (r->sm.state == FAILED)
        return;
    r->run_once = false;
    tape_clear(&r->live);
    sm_move(&r->sm, COLD);
}

uint32_t recorder_nodes(const struct recorder *r)
{
    return r->sm.state == LIVE ? r->live.count : 0;
}
