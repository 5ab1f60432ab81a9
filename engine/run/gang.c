/* SPDX-License-Identifier: Apache-2.0
 *
 * A slot is a lane and a table. It is free when everybody of its last launch has listened; then nothing of that launch runs any
 * more, since every block is somebody's.
 */
#include "engine/run/gang.h"

#include <stdlib.h>
#include <string.h>

#include "engine/run/sim_parts.h"

enum { SLOTS = 16, MEMBERS = 64 /* of a launch, at most */ };

struct gang_slot {
    struct lane *lane;
    unsigned char *host; /* mapped: MEMBERS rows to read, then MEMBERS that were read; NULL: the slot was never used */
    void *device;
    uint32_t busy; /* members of the last launch that have not listened yet */
};

struct gang {
    struct dev *dev;
    const struct gang_kind *kind;
    uint32_t members;
    struct sim *first, **last; /* that wait */
    struct gang_slot slots[SLOTS];
};

static size_t table_bytes(const struct gang *g)
{
    return (size_t)MEMBERS * g->kind->row.bytes;
}

static void gang_free(struct gang *g)
{
    const struct dev_ops *ops = g->dev->ops;
    for (struct gang_slot *slot = g->slots; slot < g->slots + SLOTS; slot++) {
        if (slot->lane)
            ops->lane_free(g->dev, slot->lane);
        if (slot->host)
            ops->free(g->dev, DEV_MAPPED, slot->device);
    }
    g->dev->gang = NULL;
    free(g);
}

int gang_join(struct sim *s, struct err *e)
{
    const struct gang_kind *kind = s->model->program->gang;
    struct dev *dev = s->model->dev;
    if (kind->row.bytes > GANG_ROW_BYTES)
        return err_set(e, ERR_INTERNAL, "rows of a gang of %u bytes: expected at most %d", kind->row.bytes,
                       GANG_ROW_BYTES);
    if (!dev->gang) {
        struct gang *g = dev->gang = xcalloc(1, sizeof *g);
        *g = (struct gang){.dev = dev, .kind = kind, .last = &g->first};
    }
    s->gang = (struct gang_member){.gang = dev->gang};
    dev->gang->members++;
    return 0;
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

/* It has come to its end, or will never. */
static void end_launch(struct gang_member *m)
{
    m->slot->busy--;
    m->slot = NULL;
}

void gang_leave(struct sim *s)
{
    struct gang *g = s->gang.gang;
    struct err none = {0};
    unsigned char byte;
    if (!g)
        return;
    stop_waiting(g, s);
    if (s->gang.slot) {
        g->dev->ops->copy(g->dev, s->gang.slot->lane, &byte, s->d.x, 1, &none); /* waits */
        end_launch(&s->gang);
    }
    s->gang.gang = NULL;
    if (--g->members == 0)
        gang_free(g);
}

void gang_epoch(struct sim *s)
{
    s->gang.live = false;
}

/* What would be written now for the last launch is what was. */
static int check_live(const struct sim *s, struct err *e)
{
    const struct gang_member *m = &s->gang;
    alignas(8) unsigned char fresh[GANG_ROW_BYTES] = {0};
    if (!m->live)
        return 0;
    m->gang->kind->fill(s, m->steps, fresh);
    return check_rows(&m->gang->kind->row, m->row, fresh, e);
}

int gang_check(struct sim *s, struct err *e)
{
    int rc = gang_listen(s, e);
    return rc ? rc : check_live(s, e);
}

int gang_want(struct sim *s, uint32_t steps, struct err *e)
{
    struct gang_member *m = &s->gang;
    struct gang *g = m->gang;
    int rc = gang_check(s, e);
    if (rc)
        return rc;
    memset(m->row, 0, sizeof m->row);
    g->kind->fill(s, steps, m->row);
    m->steps = steps;
    m->live = true;
    if ((rc = check_row_pointers(&g->kind->row, m->row, s->spans, SPAN_COUNT, e)))
        return rc;
    m->next = NULL;
    *g->last = s;
    g->last = &m->next;
    return 0;
}

int gang_listen(struct sim *s, struct err *e)
{
    struct gang_member *m = &s->gang;
    if (!m->slot)
        return 0;
    end_launch(m);
    return check_rows(&m->gang->kind->row, m->row, m->heard, e) ? err_prefix(e, "what ran is not what was launched")
                                                                : 0;
}

/* ---- launching ---- */

static int open_slot(struct gang *g, struct gang_slot *slot, struct err *e)
{
    const struct dev_ops *ops = g->dev->ops;
    void *host;
    int rc = slot->lane ? 0 : ops->lane_new(g->dev, &slot->lane, e);
    if (rc || slot->host)
        return rc;
    rc = ops->alloc(g->dev, slot->lane, DEV_MAPPED, 2 * table_bytes(g), &slot->device, &host, e);
    if (rc == 0)
        slot->host = host;
    return rc;
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
        if (first->gang.slot)
            end_launch(&first->gang);
        sim_fail(first, why);
    }
}

static void launch(struct gang *g, struct gang_slot *slot)
{
    struct sim *first;
    struct tape t = {0};
    struct err e = {0};
    const uint32_t count = fill_slot(g, slot, &first);
    uint32_t shared = 0, k = 0;
    for (const struct sim *s = first; k < count; s = s->gang.next, k++) {
        uint32_t own = g->kind->shared_bytes(s);
        shared = own > shared ? own : shared;
    }
    g->kind->emit(slot->device, (unsigned char *)slot->device + table_bytes(g), count, shared, &t);
    if (g->dev->ops->run(g->dev, slot->lane, &t, &e))
        fail(first, count, &e);
    tape_free(&t);
}

void engine_flush(struct dev *dev)
{
    struct gang *g = dev->gang;
    struct err e = {0};
    for (struct gang_slot *slot = g ? g->slots : NULL; g && g->first && slot < g->slots + SLOTS; slot++) {
        if (slot->busy)
            continue;
        if (!open_slot(g, slot, &e))
            launch(g, slot);
        else if (slot == g->slots) /* else there are some, and they come free */
            for (struct sim *s = g->first; s; s = g->first) {
                stop_waiting(g, s);
                fail(s, 1, &e);
            }
    }
}
