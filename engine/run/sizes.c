/* SPDX-License-Identifier: Apache-2.0
 *
 * What a model and its replicas take of a device that nobody opened. The model is made as on the device, by one that
 * has the device's limits and program and hands out addresses; what is copied there goes nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/run/sim_parts.h"

struct paper {
    struct dev base;
    size_t tables; /* bytes handed out to no lane */
};

struct lane {
    char none;
};

/* Zeroed pages that nobody writes to take no memory of the host. */
static int paper_alloc(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                       struct err *e)
{
    (void)kind, (void)host, (void)e;
    *device = xcalloc(bytes ? bytes : 1, 1);
    if (!lane)
        ((struct paper *)d)->tables += bytes;
    return 0;
}

static void paper_free(struct dev *d, enum dev_memory kind, void *device)
{
    (void)d, (void)kind;
    free(device);
}

static int paper_lane_new(struct dev *d, struct lane **out, struct err *e)
{
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void paper_lane_free(struct dev *d, struct lane *lane)
{
    (void)d;
    free(lane);
}

static int paper_copy(struct dev *d, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    (void)d, (void)lane, (void)to, (void)from, (void)bytes, (void)e;
    return 0;
}

static const struct dev_ops paper_ops = {.alloc = paper_alloc,
                                         .free = paper_free,
                                         .lane_new = paper_lane_new,
                                         .lane_free = paper_lane_free,
                                         .copy = paper_copy};

/* As sim_new lays it out, before anything has grown. */
static size_t replica_bytes(struct model *m)
{
    struct sim s = {.model = m};
    struct arena a = {0};
    m->program->caps_guess(m->nonbonded, &s.caps);
    sim_lay_out(&s, &a);
    return a.used + sim_mapped_bytes(&s);
}

int model_sizes(const char *device, const struct dev_limits *limits, const struct system *sys,
                const struct settings *set, struct model_sizes *out, struct err *e)
{
    const struct program *program = program_named(device);
    struct paper paper = {.base = {.ops = &paper_ops, .kernels = *program->kernels, .model = "", .limits = *limits}};
    struct model *m;
    if (!program->nonbonded_new)
        return err_set(e, ERR_DEVICE, "%s: this program was built without such devices", device);
    int rc = model_new(&m, &paper.base, sys, set, e);
    if (rc)
        return rc;
    *out = (struct model_sizes){.tables = paper.tables, .replica = replica_bytes(m)};
    model_free(m);
    return 0;
}
