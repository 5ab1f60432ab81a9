/* SPDX-License-Identifier: Apache-2.0
 *
 * A slot is a lane, a table and an echo. It is free when everybody of its last launch has listened; then nothing of
 * that launch runs any more, since every block is somebody's. There are as many as members, up to SLOTS: so many
 * launches can be on their way. Launches of one slot differ in their shapes (struct gang_shape); all else of one is as
 * it was in the one before, or those that wait for it fail, and the slot begins anew.
 */
#include "engine/run/gang.h"

#include <stdlib.h>
#include <string.h>

#include "engine/run/sim_parts.h"

enum { SLOTS = 16, MEMBERS = 64 /* of a launch, at most */ };

struct gang_slot {
    struct lane *lane;
    unsigned char *host; /* mapped: MEMBERS rows to read, then MEMBERS that were read; NULL: not needed so far */
    void *device;
    uint32_t busy;           /* members of the last launch that have not listened yet */
    struct tape live;        /* the last launch; empty: there was none, or it failed */
    struct gang_shape shape; /* what that was emitted for */
    struct tape fresh;       /* scratch */
    struct echo *echo;
    uint32_t awaiting; /* members of the last launch that was heard, who do not know yet what became of it */
    struct err drift;  /* code ERR_NONE, or what was wrong with that one */
};

struct gang {
    struct dev *dev;
    const struct gang_kind *kind;
    uint32_t members;
    struct sim *first, **last; /* that wait */
    struct gang_slot slots[SLOTS];
};

#define MEMBER(state) SM_TO(MEMBER_##state)
#define ECHO(state) SM_TO(ECHO_##state)

static const struct sm_state member_table[] = {
    [MEMBER_OUT] = {"out", MEMBER(RESTING)},                        /* join */
    [MEMBER_RESTING] = {"resting", MEMBER(WAITING) | MEMBER(OUT)},  /* wants steps; leave */
    [MEMBER_WAITING] = {"waiting", MEMBER(LAUNCHED) | MEMBER(OUT)}, /* flush; leave */
    [MEMBER_LAUNCHED] = {"launched", MEMBER(RESTING)},              /* it has ended, or will never begin */
};

static const struct sm_state echo_table[] = {
    [ECHO_DUE] = {"due", ECHO(DUE) | ECHO(AWAITED)},                     /* due again; heard */
    [ECHO_AWAITED] = {"awaited", ECHO(AWAITED_DUE) | ECHO(QUIET)},       /* due; known */
    [ECHO_AWAITED_DUE] = {"awaited+due", ECHO(AWAITED_DUE) | ECHO(DUE)}, /* due again; known */
    [ECHO_QUIET] = {"quiet", ECHO(DUE) | ECHO(AWAITED)},                 /* due; heard for another's sake */
};

static bool member_holds(const void *owner, uint32_t state)
{
    const struct gang_member *m = owner;
    return (m->gang == NULL) == (state == MEMBER_OUT) && (m->slot != NULL) == (state == MEMBER_LAUNCHED);
}

static bool echo_holds(const void *owner, uint32_t state)
{
    const struct gang_member *m = owner;
    return (m->heard_in != NULL) == (state == ECHO_AWAITED || state == ECHO_AWAITED_DUE);
}

const struct sm_kind gang_member_states = {"member of gang", member_table, 4, member_holds};
const struct sm_kind gang_echo_states = {"echo of member", echo_table, 4, echo_holds};

/* Its next launch is to be heard. */
static void set_due(struct gang_member *m)
{
    sm_move(&m->echo, m->heard_in ? ECHO_AWAITED_DUE : ECHO_DUE);
}

static size_t table_bytes(const struct gang *g)
{
    return (size_t)MEMBERS * g->kind->row.bytes;
}

static void gang_free(struct gang *g)
{
    const struct dev_ops *ops = g->dev->ops;
    for (struct gang_slot *slot = g->slots; slot < g->slots + SLOTS; slot++) {
        echo_free(slot->echo);
        tape_free(&slot->live);
        tape_free(&slot->fresh);
        if (slot->lane)
            ops->lane_free(g->dev, slot->lane);
        if (slot->host)
            ops->free(g->dev, DEV_MAPPED, slot->device);
    }
    g->dev->collector = NULL;
    free(g);
}

static void emit_launch(const struct gang *g, const struct gang_slot *slot, struct tape *t)
{
    tape_clear(t);
    t->echo = echo_ring(slot->echo);
    t->work = sim_work_label(SIM_STEP);
    g->kind->emit(slot->device, (unsigned char *)slot->device + table_bytes(g), &slot->shape, t);
}

/* With all that its launches take, the host's memory for their tapes and echo too. */
static int open_slot(struct gang *g, struct gang_slot *slot, struct err *e)
{
    const struct dev_ops *ops = g->dev->ops;
    void *host;
    int rc = slot->lane ? 0 : ops->lane_new(g->dev, &slot->lane, e);
    if (rc || slot->host)
        return rc;
    if (!slot->echo && (rc = echo_new(&slot->echo, g->dev, slot->lane, e)))
        return rc;
    rc = ops->alloc(g->dev, slot->lane, DEV_MAPPED, 2 * table_bytes(g), &slot->device, &host, e);
    if (rc)
        return rc;
    slot->host = host;
    emit_launch(g, slot, &slot->fresh);
    emit_launch(g, slot, &slot->live);
    rc = echo_reserve(slot->echo, &slot->live, 1, e);
    tape_clear(&slot->live);
    return rc;
}

int gang_join(struct sim *s, struct err *e)
{
    const struct gang_kind *kind = s->model->program->gang;
    struct dev *dev = s->model->dev;
    if (kind->row.bytes > GANG_ROW_BYTES)
        return err_set(e, ERR_INTERNAL, "rows of a gang of %u bytes: expected at most %d", kind->row.bytes,
                       GANG_ROW_BYTES);
    if (!dev->collector) {
        struct gang *g = dev->collector = xcalloc(1, sizeof *g);
        *g = (struct gang){.dev = dev, .kind = kind, .last = &g->first};
    }
    struct gang *g = dev->collector;
    s->gang = (struct gang_member){0};
    sm_init(&s->gang.sm, &gang_member_states, &s->gang, MEMBER_OUT);
    sm_init(&s->gang.echo, &gang_echo_states, &s->gang, ECHO_DUE);
    s->gang.gang = g;
    sm_move(&s->gang.sm, MEMBER_RESTING);
    g->members++;
    int rc = g->members > SLOTS ? 0 : open_slot(g, &g->slots[g->members - 1], e);
    if (!rc)
        return 0;
    gang_leave(s);
    return err_prefix(e, "memory of a gang");
}

static void stop_waiting(struct gang *g, struct sim *s)
{
    for (struct sim **at = &g->first; *at; at = &(*at)->gang.next)
        if (*at == s) {
            *at = s->gang.next;
            if (!*at)
                g->last = at;
            return;
        }
}

/* For all that was submitted to it. */
static int wait_for(const struct sim *s, struct gang_slot *slot, struct err *e)
{
    unsigned char byte;
    return s->model->dev->ops->copy(s->model->dev, slot->lane, &byte, s->d.x, 1, e);
}

/* It has come to its end, or will never. */
static void end_launch(struct gang_member *m)
{
    m->slot->busy--;
    m->slot = NULL;
    sm_move(&m->sm, MEMBER_RESTING);
}

void gang_leave(struct sim *s)
{
    struct gang *g = s->gang.gang;
    struct err none = {0};
    if (!g)
        return;
    struct gang_member *m = &s->gang;
    if (m->sm.state == MEMBER_WAITING)
        stop_waiting(g, s);
    if (m->sm.state == MEMBER_LAUNCHED) {
        wait_for(s, m->slot, &none);
        end_launch(m);
    }
    if (m->heard_in)
        m->heard_in->awaiting--;
    m->gang = NULL;
    sm_move(&m->sm, MEMBER_OUT);
    if (--g->members == 0)
        gang_free(g);
}

uint32_t gang_lanes(const struct dev *dev)
{
    uint32_t n = 0;
    const struct gang *g = dev->collector;
    for (int i = 0; g && i < SLOTS; i++)
        n += g->slots[i].lane != NULL;
    return n;
}

void gang_epoch(struct sim *s)
{
    s->gang.live = false;
    if (s->gang.gang)
        set_due(&s->gang);
}

/* What would be written now for the last launch is what was. */
static int check_live(const struct sim *s, struct err *e)
{
    const struct gang_member *m = &s->gang;
    alignas(8) unsigned char fresh[GANG_ROW_BYTES] = {0};
    if (!m->live)
        return 0;
    const struct gang_kind *kind = m->gang->kind;
    const uint32_t shared = kind->shared_bytes(s);
    if (shared != m->shared_bytes)
        return err_set(e, ERR_DRIFT, "%s (%s); shared bytes was %u, is %u", kind->row.what, kind->row.name,
                       m->shared_bytes, shared);
    kind->fill(s, m->steps, fresh);
    return check_rows(&kind->row, m->row, fresh, e);
}

static int listen_and_check(struct sim *s, struct err *e)
{
    int rc = gang_listen(s, e);
    return rc ? rc : check_live(s, e);
}

int gang_check(struct sim *s, struct err *e)
{
    struct gang_member *m = &s->gang;
    if (m->gang)
        set_due(m);
    int rc = m->heard_in ? echo_wait(m->heard_in->echo, e) : 0; /* others in it may have more steps to do */
    return rc ? rc : listen_and_check(s, e);
}

int gang_want(struct sim *s, uint32_t steps, struct err *e)
{
    struct gang_member *m = &s->gang;
    struct gang *g = m->gang;
    int rc = listen_and_check(s, e);
    if (rc)
        return rc;
    memset(m->row, 0, sizeof m->row);
    g->kind->fill(s, steps, m->row);
    m->steps = steps;
    m->shared_bytes = g->kind->shared_bytes(s);
    if (s->clock.check_every && s->clock.steps - m->heard_at >= s->clock.check_every)
        set_due(m);
    m->live = true;
    if ((rc = check_row_pointers(&g->kind->row, m->row, s->spans, SPAN_COUNT, e)))
        return rc;
    sm_move(&m->sm, MEMBER_WAITING);
    m->next = NULL;
    *g->last = s;
    g->last = &m->next;
    return 0;
}

/* What became of the launch that it was in when that was heard; 0 too while it runs. */
static int hear_echo(struct gang_member *m, struct err *e)
{
    struct gang_slot *slot = m->heard_in;
    if (!slot)
        return 0;
    if (!echo_check(slot->echo, &slot->drift) && !echo_idle(slot->echo))
        return 0;
    m->heard_in = NULL;
    slot->awaiting--;
    sm_move(&m->echo, m->echo.state == ECHO_AWAITED_DUE ? ECHO_DUE : ECHO_QUIET);
    if (!slot->drift.code)
        return 0;
    *e = slot->drift;
    return err_prefix(e, "launch of a gang");
}

int gang_listen(struct sim *s, struct err *e)
{
    struct gang_member *m = &s->gang;
    int rc = hear_echo(m, e);
    if (rc || m->sm.state != MEMBER_LAUNCHED)
        return rc;
    end_launch(m);
    return check_rows(&m->gang->kind->row, m->row, m->heard, e) ? err_prefix(e, "what ran is not what was launched")
                                                                : 0;
}

/* ---- launching ---- */

/* Into slot->live, once the launch before would still be what it was. */
static int record(const struct gang *g, struct gang_slot *slot, const struct gang_shape *shape, struct err *e)
{
    const struct kernel_table *kernels = &g->dev->kernels;
    const struct span table = {slot->device, 2 * table_bytes(g)};
    int rc = 0;
    if (slot->live.count) {
        emit_launch(g, slot, &slot->fresh);
        rc = check_tapes(kernels, &slot->live, &slot->fresh, e);
    }
    slot->shape = *shape;
    emit_launch(g, slot, &slot->live);
    if (!rc)
        rc = check_pointers(kernels, &slot->live, &table, 1, e);
    return rc ? err_prefix(e, "launch of a gang") : 0;
}

/* Writes the rows of those that wait longest. */
static uint32_t fill_slot(struct gang *g, struct gang_slot *slot, struct sim **first)
{
    const size_t bytes = g->kind->row.bytes;
    unsigned char *row = slot->host, *heard = slot->host + table_bytes(g);
    memset(heard, 0, table_bytes(g));
    *first = g->first;
    for (; g->first && slot->busy < MEMBERS; slot->busy++, row += bytes, heard += bytes) {
        struct gang_member *m = &g->first->gang;
        memcpy(row, m->row, bytes);
        m->slot = slot;
        m->heard = heard;
        sm_move(&m->sm, MEMBER_LAUNCHED);
        g->first = m->next;
    }
    if (!g->first)
        g->last = &g->first;
    return slot->busy;
}

/* `first` and those behind it, `count` in all, will not go. */
static void fail(struct sim *first, uint32_t count, const struct err *why)
{
    for (uint32_t k = 0; k < count; k++, first = first->gang.next) {
        if (first->gang.sm.state == MEMBER_LAUNCHED)
            end_launch(&first->gang);
        sim_fail(first, why);
    }
}

/* Of members whose own lanes have yet to send something. */
static int follow_lanes(const struct gang *g, struct gang_slot *slot, struct sim *first, uint32_t count, struct err *e)
{
    int rc = 0;
    for (uint32_t k = 0; k < count && !rc; k++, first = first->gang.next) {
        rc = first->gang.behind_lane ? g->dev->ops->follow(g->dev, slot->lane, first->lane, e) : 0;
        first->gang.behind_lane = false;
    }
    return rc;
}

/* Somebody's turn has come to be heard, and nobody waits for what this slot heard before. */
static bool echo_due(struct gang_slot *slot, const struct sim *first, uint32_t count)
{
    struct err nobody = {0};
    if (slot->awaiting || echo_check(slot->echo, &nobody) || !echo_idle(slot->echo))
        return false;
    for (; count; count--, first = first->gang.next)
        if (first->gang.echo.state == ECHO_DUE)
            return true;
    return false;
}

/* All but those who still wait for another. */
static void await_echo(struct gang_slot *slot, struct sim *s, uint32_t count)
{
    slot->drift = (struct err){0};
    for (; count; count--, s = s->gang.next) {
        struct gang_member *m = &s->gang;
        if (m->heard_in)
            continue;
        m->heard_in = slot;
        m->heard_at = s->clock.steps;
        slot->awaiting++;
        sm_move(&m->echo, ECHO_AWAITED);
    }
}

/* Once it is under way those in it are told what is wrong with it when it has ended, and not before. */
static int run_heard(const struct gang *g, struct gang_slot *slot, struct sim *first, uint32_t count, struct err *e)
{
    int rc = echo_begin(slot->echo, &slot->live, 1, e);
    if (!rc)
        rc = g->dev->ops->run(g->dev, slot->lane, &slot->live, e);
    if (rc)
        return rc;
    await_echo(slot, first, count);
    (void)echo_end(slot->echo, 1, &slot->drift);
    return 0;
}

static int run(const struct gang *g, struct gang_slot *slot, struct sim *first, uint32_t count, struct err *e)
{
    int rc = follow_lanes(g, slot, first, count, e);
    if (rc == 0)
        rc = echo_reserve(slot->echo, &slot->live, 1, e);
    if (rc)
        return rc;
    if (echo_due(slot, first, count))
        return run_heard(g, slot, first, count, e);
    return g->dev->ops->run(g->dev, slot->lane, &slot->live, e);
}

static void launch(struct gang *g, struct gang_slot *slot)
{
    struct sim *first;
    struct err e = {0};
    const uint32_t count = fill_slot(g, slot, &first);
    struct gang_shape shape = {.count = count, .crowded = g->members > g->dev->limits.processors};
    uint32_t k = 0, steps = 0;
    for (const struct sim *s = first; k < count; s = s->gang.next, k++) {
        shape.shared_bytes = s->gang.shared_bytes > shape.shared_bytes ? s->gang.shared_bytes : shape.shared_bytes;
        steps += s->gang.steps;
    }
    slot->live.pieces = steps;
    if (record(g, slot, &shape, &e) || run(g, slot, first, count, &e)) {
        fail(first, count, &e);
        tape_clear(&slot->live);
    }
}

void engine_flush(struct dev *dev)
{
    struct gang *g = dev->collector;
    for (struct gang_slot *slot = g ? g->slots : NULL; g && g->first && slot < g->slots + SLOTS; slot++)
        if (slot->host && !slot->busy)
            launch(g, slot);
}
