/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=dev_open,--wrap=recorder_new into a worker: launches of timesteps change under it. SHOAL_TEST_PLANTS names a
 * folder; a file there is something to plant, in it the number of the window, whoever comes first to where it can be planted takes the
 * file away:
 *
 *   argument grid edge   what a step would launch, once the replica has gone PLANT_AFTER steps
 *   graph                what its next graph is made of
 *   behind               what its next graph is replayed as: it shows what it was asked for
 *   row                  what a gang's block reads
 *   launch               the launch of a gang that it is in; stays until somebody else takes it away
 *   lost                 the device is lost with its next call, once the replica has gone so far
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"

enum { PLANT_AFTER = 250, BUILDS_AT = 3 /* emission of a recorder at which its first graph is made */ };

static struct dev *device, *inner;

static bool wanted(const char *kind, uint32_t window, bool take)
{
    const char *folder = getenv("SHOAL_TEST_PLANTS");
    char path[4096];
    unsigned which;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", kind);
    FILE *f = folder ? fopen(path, "r") : NULL;
    if (!f)
        return false;
    bool it = fscanf(f, "%u", &which) == 1 && which == window;
    fclose(f);
    return it && (!take || unlink(path) == 0);
}

/* Where the field begins; -1: there is none. `name` NULL: the first of type F64. */
static long offset_of(const struct field *fields, uint32_t nfields, const char *name)
{
    long at = 0;
    for (uint32_t i = 0; i < nfields; at += field_size(fields[i++].type))
        if (name ? !strcmp(fields[i].name, name) : fields[i].type == FIELD_F64)
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

/* The first double among the arguments of a tape. */
static unsigned char *first_double(const struct tape *t, uint32_t *launch, uint32_t *byte)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct kernel *k = &device->kernels.kernels[t->launches[i].kernel];
        const long at = offset_of(k->fields, k->nfields, NULL);
        if (at < 0)
            continue;
        *launch = i;
        *byte = (uint32_t)at;
        return t->args + t->launches[i].args_offset + at;
    }
    abort();
}

static void change_argument(struct tape *t)
{
    uint32_t launch, byte;
    twice(first_double(t, &launch, &byte));
}

/* ---- recorders ---- */

struct planted {
    struct planted *next;
    void (*emit)(void *ctx, struct tape *t);
    struct sim_recorder *ctx;
    unsigned emissions;
};

static struct planted *all;

static void plant_fresh(struct tape *t, uint32_t window)
{
    if (wanted("argument", window, true))
        change_argument(t);
    if (wanted("grid", window, true))
        t->launches[0].grid[0]++;
    if (wanted("edge", window, true))
        t->launches[t->count - 1].after = 0;
    if (wanted("lost", window, true))
        dev_fault_lose(device, 0);
}

static void plant_graph(const struct tape *t, uint32_t window)
{
    uint32_t launch, byte;
    if (wanted("graph", window, true)) {
        first_double(t, &launch, &byte);
        dev_fault_flip(device, launch, byte);
    }
    if (wanted("behind", window, true))
        dev_fault_behind(device, change_argument);
}

static void emit(void *ctx, struct tape *t)
{
    struct planted *p = ctx;
    const struct sim *s = p->ctx->sim;
    const uint32_t window = sim_heard(s)->ctl.window;
    p->emit(p->ctx, t);
    if (p->ctx->work != SIM_STEP)
        return;
    if (++p->emissions == BUILDS_AT)
        plant_graph(t, window);
    if (s->clock.steps >= PLANT_AFTER)
        plant_fresh(t, window);
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

/* ---- gangs, on a device whose memory is the host's ---- */

static void change_gang(struct tape *t)
{
    const struct gang_kind *gang = program_of(device)->gang;
    struct launch *l = t->launches;
    const struct kernel *k = &device->kernels.kernels[l->kernel];
    if (!gang || strcmp(k->name, gang->row.name) != 0)
        return;
    unsigned char *row = pointer_at(t->args + l->args_offset + offset_of(k->fields, k->nfields, "rows"));
    for (uint32_t i = 0; i < l->grid[0]; i++, row += gang->row.bytes) {
        const struct ctl *ctl = pointer_at(row + offset_of(gang->row.fields, gang->row.nfields, "ctl"));
        if (wanted("row", ctl->window, true))
            twice(row + offset_of(gang->row.fields, gang->row.nfields, NULL));
        if (wanted("launch", ctl->window, false))
            l->shared_bytes += 64;
    }
}

/* ---- the device ---- */

int __real_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);
int __wrap_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);

static void close_inner(void)
{
    dev_close(inner);
}

int __wrap_dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    int rc = __real_dev_open(&inner, name, kernels, e);
    if (rc)
        return rc;
    *out = device = dev_fault_new(inner);
    dev_fault_change(device, change_gang);
    atexit(close_inner);
    return 0;
}
