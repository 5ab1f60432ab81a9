/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's states, as a table. What holds:
 *
 *  1. cold: nothing is known of the tape, or on an eager device that it was as `live` says each time it ran. A graph of
 * an earlier epoch may exist, to be updated instead of made.
 *  2. warm: `live` is the tape of this epoch; it has been emitted twice, equal, and run eagerly both times.
 *  3. live: every built graph holds `live`, as its readback said when it was built and at every check since. One at
 * least is built. The first replay of each is heard: until it can be, its steps are run eagerly.
 *  4. check: as live, while a fresh tape and fresh readbacks are compared with `live`.
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

/* Executables: of one tape and of setup.repeat of them. */
enum { ONE, MANY, GRAPHS };

struct recorded {
    struct graph *graph; /* of this epoch if built, else of an earlier one or NULL */
    bool built;
    bool echo_due; /* its next replay is to be heard */
    bool heard;    /* one of its replays was, or is on its way */
};

struct recorder {
    struct recorder_setup setup;
    struct sm sm;
    struct tape live;  /* warm and later: the tape of this epoch; cold: that of its first run, if run_once */
    struct tape fresh; /* scratch: emitted or read back */
    struct recorded graphs[GRAPHS];
    bool run_once;       /* cold: one eager run at least is done */
    uint64_t checked_at; /* live: the clock at the last check */
    struct err failure;
};

static uint32_t tapes_of(const struct recorder *r, int which)
{
    return which == ONE ? 1 : r->setup.repeat;
}

static bool holds(const void *owner, uint32_t state)
{
    const struct recorder *r = owner;
    switch ((enum state)state) {
    case COLD:
        return !r->run_once; /* when it becomes so */
    case WARM:
        return r->live.count > 0;
    case LIVE:
    case CHECK:
        return (r->graphs[ONE].built || r->graphs[MANY].built) && r->live.count > 0;
    case FAILED:
        return r->failure.code != ERR_NONE;
    }
    return false;
}

static const struct sm_kind kind = {"recorder", states, sizeof states / sizeof states[0], holds};

int recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e)
{
    if (!setup->dev || !setup->lane || !setup->emit || !setup->clock)
        return err_set(e, ERR_INTERNAL, "recorder: needs a device, a lane, an emit function and a clock");
    struct recorder *r = xcalloc(1, sizeof *r);
    r->setup = *setup;
    r->setup.repeat = setup->repeat ? setup->repeat : RECORDER_REPEAT;
    sm_init(&r->sm, &kind, r, COLD);
    *out = r;
    return 0;
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    for (int which = 0; which < GRAPHS; which++)
        r->setup.dev->ops->drop(r->setup.dev, r->graphs[which].graph);
    tape_free(&r->fresh);
    tape_free(&r->live);
    free(r);
}

int recorder_reserve(struct recorder *r, struct err *e)
{
    const struct recorder_setup *s = &r->setup;
    r->fresh.echo = s->echo ? echo_ring(s->echo) : NULL;
    s->emit(s->ctx, &r->fresh);
    tape_copy(&r->live, &r->fresh);
    int rc = s->echo ? echo_reserve(s->echo, &r->fresh, s->repeat, e) : 0;
    tape_clear(&r->live);
    return rc ? err_prefix(e, "memory for the echo") : 0;
}

/* Fills r->fresh with the tape that this step would launch. */
static int emit(struct recorder *r, struct err *e)
{
    const struct recorder_setup *s = &r->setup;
    tape_clear(&r->fresh);
    r->fresh.echo = s->echo ? echo_ring(s->echo) : NULL;
    s->emit(s->ctx, &r->fresh);
    if (r->fresh.count == 0)
        return err_set(e, ERR_DRIFT, "the step recorded no launches");
    int rc = check_pointers(&s->dev->kernels, &r->fresh, s->spans, s->nspans, e);
    if (rc || !tape_has_library(&r->fresh))
        return rc;
    return s->dev->ops->trace(s->dev, s->lane, &r->fresh, e);
}

static int emit_same(struct recorder *r, struct err *e)
{
    int rc = emit(r, e);
    return rc ? rc : check_tapes(&r->setup.dev->kernels, &r->live, &r->fresh, e);
}

/* What a graph holds against what it was built from, step by step. */
static int check_graph(struct recorder *r, int which, struct err *e)
{
    struct dev *d = r->setup.dev;
    for (uint32_t step = 0; step < tapes_of(r, which); step++) {
        int rc = d->ops->readback(d, r->graphs[which].graph, step, &r->fresh, e);
        if (rc)
            return err_prefix(e, "read back the graph");
        if (check_tapes(&d->kernels, &r->live, &r->fresh, e))
            return err_prefix(e, "the graph does not hold the tape (step %u of %u)", step, tapes_of(r, which));
    }
    return 0;
}

/* One eager step. The second one makes the recorder warm, where there are to be graphs. */
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
    if (!d->eager)
        sm_move(&r->sm, WARM);
    return 0;
}

static int build(struct recorder *r, int which, struct err *e)
{
    struct dev *d = r->setup.dev;
    struct recorded *g = &r->graphs[which];
    int rc = emit_same(r, e);
    if (rc)
        return rc;
    if ((rc = d->ops->build(d, r->setup.lane, &r->fresh, tapes_of(r, which), &g->graph, e)))
        return err_prefix(e, "build the graph");
    if ((rc = check_graph(r, which, e)))
        return rc;
    g->built = true;
    g->echo_due = r->setup.echo;
    g->heard = false;
    return 0;
}

static int check(struct recorder *r, struct err *e)
{
    sm_move(&r->sm, CHECK);
    int rc = emit_same(r, e);
    for (int which = 0; which < GRAPHS && !rc; which++)
        if (r->graphs[which].built) {
            rc = check_graph(r, which, e);
            r->graphs[which].echo_due = r->setup.echo;
        }
    if (rc)
        return rc;
    r->checked_at = r->setup.clock->steps;
    sm_move(&r->sm, LIVE);
    return 0;
}

/* Steps before the next check; UINT64_MAX: there is none. */
static uint64_t until_check(const struct recorder *r)
{
    const struct recorder_clock *c = r->setup.clock;
    uint64_t since = c->steps - r->checked_at;
    if (!c->check_every)
        return UINT64_MAX;
    return since < c->check_every ? c->check_every - since : 0;
}

/* One replay between the two ends of an echo. */
static int replay_heard(struct recorder *r, int which, struct err *e)
{
    struct dev *d = r->setup.dev;
    struct recorded *g = &r->graphs[which];
    int rc = echo_begin(r->setup.echo, &r->live, tapes_of(r, which), e);
    if (!rc)
        rc = d->ops->replay(d, r->setup.lane, g->graph, 1, e);
    if (!rc)
        rc = echo_end(r->setup.echo, tapes_of(r, which), e);
    g->echo_due = false;
    g->heard = true;
    return rc;
}

/* As many of `want` tapes as go by whole graphs without a check; *done becomes how many were submitted. */
static int replay(struct recorder *r, int which, uint32_t want, uint32_t *done, struct err *e)
{
    struct dev *d = r->setup.dev;
    const struct recorded *g = &r->graphs[which];
    uint32_t tapes = tapes_of(r, which), times = want / tapes;
    uint64_t checked = until_check(r);
    bool heard = g->echo_due && echo_idle(r->setup.echo);
    if (g->echo_due && !g->heard && !heard) {
        *done = 1; /* the echo is out for another, and nothing is known of what this graph runs */
        return d->ops->run(d, r->setup.lane, &r->live, e) ? err_prefix(e, "run") : 0;
    }
    if ((checked - 1) / tapes + 1 < times)
        times = (uint32_t)((checked - 1) / tapes + 1);
    if (heard)
        times = 1;
    int rc = heard ? replay_heard(r, which, e) : d->ops->replay(d, r->setup.lane, g->graph, times, e);
    if (rc)
        return err_prefix(e, "replay");
    *done = times * tapes;
    return 0;
}

/* Moves towards live and submits at least one tape, or none (`*done` 0) when it only built or checked. */
static int advance(struct recorder *r, uint32_t want, uint32_t *done, struct err *e)
{
    int rc, which = want >= r->setup.repeat && r->setup.repeat > 1 ? MANY : ONE;
    *done = 0;
    switch ((enum state)r->sm.state) {
    case COLD:
        *done = 1;
        return step_cold(r, e);
    case WARM:
        if ((rc = build(r, which, e)))
            return rc;
        r->checked_at = r->setup.clock->steps;
        sm_move(&r->sm, LIVE);
        return 0;
    case LIVE:
        if (until_check(r) == 0)
            return check(r, e);
        if (!r->graphs[which].built)
            return build(r, which, e);
        return replay(r, which, want, done, e);
    case CHECK:
    case FAILED:
        break;
    }
    *e = r->failure;
    return -(int)e->code;
}

static int fail(struct recorder *r, struct err *e)
{
    int rc = err_prefix(e, "recorder (%s)", sm_name(&r->sm));
    r->failure = *e;
    sm_move(&r->sm, FAILED);
    return rc;
}

/* 0, or the failure that r has had before or has now. */
static int listen(struct recorder *r, struct err *e)
{
    if (r->sm.state == FAILED) {
        *e = r->failure;
        return -(int)e->code;
    }
    return r->setup.echo && echo_check(r->setup.echo, e) ? fail(r, e) : 0;
}

int recorder_submit(struct recorder *r, uint32_t times, struct err *e)
{
    int rc = times ? listen(r, e) : 0;
    while (!rc && times > 0) {
        uint32_t done;
        if (advance(r, times, &done, e))
            return fail(r, e);
        times -= done;
        r->setup.clock->steps += done;
    }
    return rc;
}

int recorder_check_now(struct recorder *r, struct err *e)
{
    int rc = listen(r, e);
    if (rc || r->sm.state != LIVE)
        return rc;
    return check(r, e) ? fail(r, e) : 0;
}

void recorder_epoch(struct recorder *r)
{
    if (r->sm.state == FAILED)
        return;
    r->run_once = false;
    for (int which = 0; which < GRAPHS; which++)
        r->graphs[which].built = r->graphs[which].echo_due = false;
    tape_clear(&r->live);
    sm_move(&r->sm, COLD);
}

uint32_t recorder_nodes(const struct recorder *r)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; r->sm.state == LIVE && i < r->live.count; i++)
        nodes += r->live.launches[i].kind == LAUNCH_LIBRARY ? r->live.launches[i].nodes : 1;
    return nodes;
}
