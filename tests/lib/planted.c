/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=dev_open,--wrap=recorder_new into a worker: launches of timesteps change under it.
 * SHOAL_TEST_PLANTS names a folder; a file there is something to plant, in it the number of the window and how many
 * steps the replica has gone before; whoever comes first to where it can be planted takes the file away:
 *
 *   argument grid edge   what a step would launch
 *   graph                what the next graph of its steps is made of
 *   behind               what the next graph of its steps is replayed as: it shows what it was asked for
 *   row                  what a gang's block reads
 *   launch               the launch of a gang that it is in; stays until somebody else takes it away
 *   lost                 the device is lost with its next call
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"

static struct dev *device, *inner;
static const struct dev_ops *theirs; /* of `device`, which has ours */
static struct dev_ops ours;
static struct lane *lane; /* of the inner device, for ourselves */

static bool wanted(const char *kind, uint32_t window, int64_t steps, bool take)
{
    const char *folder = getenv("SHOAL_TEST_PLANTS");
    char path[4096];
    unsigned which, after;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", kind);
    FILE *f = folder ? fopen(path, "r") : NULL;
    if (!f)
        return false;
    bool it = fscanf(f, "%u %u", &which, &after) == 2 && which == window && steps >= after;
    fclose(f);
    return it && (!take || unlink(path) == 0);
}

/* Where the field begins; -1: there is none. */
static long offset_of(const struct field *fields, uint32_t nfields, const char *name)
{
    long at = 0;
    for (uint32_t i = 0; i < nfields; at += fields[i].count * field_size(fields[i].type), i++)
        if (!strcmp(fields[i].name, name))
            return at;
    return -1;
}

static void *pointer_at(const unsigned char *at)
{
    void *p;
    memcpy(&p, at, sizeof p);
    return p;
}

static void twice(unsigned char *at)
{
    double v;
    memcpy(&v, at, sizeof v);
    v *= 2;
    memcpy(at, &v, sizeof v);
}

/* The launch of a tape that moves atoms; NULL: it is no timestep. */
static const struct launch *move_of(const struct tape *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!strcmp(device->kernels.kernels[t->launches[i].kernel].name, "langevin"))
            return &t->launches[i];
    return NULL;
}

static long timestep_of(const struct launch *l)
{
    const struct kernel *k = &device->kernels.kernels[l->kernel];
    return offset_of(k->fields, k->nfields, "timestep");
}

static void change_argument(struct tape *t)
{
    const struct launch *l = move_of(t);
    twice(t->args + l->args_offset + timestep_of(l));
}

/* Of the replica whose control block, which is the device's alone, is among the fields. */
static uint32_t window_of(const struct field *fields, uint32_t nfields, const unsigned char *at)
{
    const struct ctl *ctl = pointer_at(at + offset_of(fields, nfields, "ctl"));
    struct err e;
    uint32_t window;
    if (inner->ops->copy(inner, lane, &window, &ctl->window, sizeof window, &e))
        abort();
    return window;
}

/* ---- graphs ---- */

static void plant_graph(const struct tape *t, const struct launch *l)
{
    const struct kernel *k = &device->kernels.kernels[l->kernel];
    const uint32_t window = window_of(k->fields, k->nfields, t->args + l->args_offset);
    if (wanted("graph", window, 0, true))
        dev_fault_flip(device, (uint32_t)(l - t->launches), (uint32_t)timestep_of(l));
    if (wanted("behind", window, 0, true))
        dev_fault_behind(device, change_argument);
}

static int build(struct dev *d, struct lane *at, const struct tape *t, uint32_t repeat, struct graph **out,
                 struct err *e)
{
    const struct launch *l = move_of(t);
    if (l)
        plant_graph(t, l);
    return theirs->build(d, at, t, repeat, out, e);
}

/* ---- recorders ---- */

struct planted {
    struct planted *next;
    void (*emit)(void *ctx, struct tape *t);
    struct sim_recorder *ctx;
};

static struct planted *all;

static void plant_fresh(struct tape *t, uint32_t window, int64_t steps)
{
    if (wanted("argument", window, steps, true))
        change_argument(t);
    if (wanted("grid", window, steps, true))
        t->launches[0].grid[0]++;
    if (wanted("edge", window, steps, true))
        t->launches[t->count - 1].after = 0;
    if (wanted("lost", window, steps, true))
        dev_fault_lose(device, 0);
}

static void emit(void *ctx, struct tape *t)
{
    struct planted *p = ctx;
    const struct sim *s = p->ctx->sim;
    p->emit(p->ctx, t);
    if (p->ctx->work == SIM_STEP)
        plant_fresh(t, sim_heard(s)->ctl.window, s->clock.steps);
}

int __real_recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e);
int __wrap_recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e);

int __wrap_recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e)
{
    struct planted *p = xcalloc(1, sizeof *p);
    struct recorder_setup mine = *setup;
    *p = (struct planted){.next = all, .emit = setup->emit, .ctx = setup->ctx};
    all = p;
    mine.emit = emit;
    mine.ctx = p;
    return __real_recorder_new(out, &mine, e);
}

/* ---- gangs; their rows are mapped memory, which a GPU has under the host's address ---- */

static void change_gang(struct tape *t)
{
    const struct gang_kind *gang = program_of(device)->gang;
    struct launch *l = t->launches;
    const struct kernel *k = &device->kernels.kernels[l->kernel];
    if (!gang || strcmp(k->name, gang->row.name) != 0)
        return;
    unsigned char *row = pointer_at(t->args + l->args_offset + offset_of(k->fields, k->nfields, "rows"));
    for (uint32_t i = 0; i < l->grid[0]; i++, row += gang->row.bytes) {
        const uint32_t window = window_of(gang->row.fields, gang->row.nfields, row);
        if (wanted("row", window, 0, true))
            twice(row + offset_of(gang->row.fields, gang->row.nfields, "timestep"));
        if (wanted("launch", window, 0, false))
            l->shared_bytes += 64;
    }
}

/* ---- the device ---- */

int __real_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);
int __wrap_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);

static void close_inner(void)
{
    inner->ops->lane_free(inner, lane);
    dev_close(inner);
}

int __wrap_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    int rc = __real_dev_open(&inner, name, kernels, e);
    if (!rc)
        rc = inner->ops->lane_new(inner, &lane, e);
    if (rc)
        return rc;
    *out = device = dev_fault_new(inner);
    dev_fault_change(device, change_gang);
    theirs = device->ops;
    ours = *theirs;
    ours.build = build;
    device->ops = &ours;
    atexit(close_inner);
    return 0;
}
