/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/observe/saxs.h"

#include "engine/base/arena.h"
#include "engine/cuda/kernels.h"
#include "engine/observe/saxs_plan.h"
#include "engine/run/sim_parts.h"

enum { BLOCKS_MAX = 2048, BIN_BLOCKS = 256 };

struct work {
    int32_t *mesh;
    float (*spectrum)[2];
    double (*sum)[2], (*place)[3];
    struct saxs_bin *bins;
    void *fft;
};

/* What a transform needs. */
static struct work lay_out_transform(const struct saxs_plan *p, struct arena *a)
{
    struct work w = {0};
    w.spectrum = arena_take(a, saxs_half_points(&p->table) * sizeof *w.spectrum);
    w.fft = p->fft_bytes ? arena_take(a, p->fft_bytes) : NULL;
    return w;
}

static struct work lay_out(const struct saxs_plan *p, struct arena *a)
{
    const struct saxs_table *t = &p->table;
    struct work w = lay_out_transform(p, a);
    w.mesh = arena_take(a, saxs_points(t) * sizeof *w.mesh);
    w.sum = arena_take(a, saxs_plan_waves(p) * sizeof *w.sum);
    w.place = arena_take(a, (size_t)t->natoms * sizeof *w.place);
    w.bins = arena_take(a, (size_t)t->nbins * sizeof *w.bins);
    return w;
}

uint32_t cuda_saxs_launches(const struct observable *o, const void *plan)
{
    return saxs_plan_launches(plan, 4);
}

size_t cuda_saxs_work(const struct observable *o, const void *plan)
{
    struct arena a = {0};
    lay_out(plan, &a);
    return a.used;
}

static uint32_t blocks_for(uint64_t threads, uint32_t block, uint32_t most)
{
    const uint64_t blocks = (threads + block - 1) / block;
    return blocks < 1 ? 1 : blocks < most ? (uint32_t)blocks : most;
}

#define EMIT(kernel, blocks, threads, shared, ...)                                                                     \
    emit_##kernel(t,                                                                                                   \
                  &(struct shape){.grid = {blocks, 1, 1},                                                              \
                                  .block = {threads, 1, 1},                                                            \
                                  .shared_bytes = (uint32_t)(shared),                                                  \
                                  .after = AFTER_PREVIOUS},                                                            \
                  &(struct args_##kernel){__VA_ARGS__})

/* The first transform of a plan that has just been made: work on the lane, of nothing. table: a device address.
 * The module that a transform's kernels come from is loaded by their first launch, which cannot happen in a capture.
 * Its memory is the pool's, and nobody waits: what goes wrong on the GPU is met by poll, as of any work. (Loading a
 * module, cuFFT's tables of a plan and their end may hold up the GPU once for a model: that is how the driver and cuFFT
 * do it.) */
static int warm(struct dev *dev, struct lane *lane, const struct saxs_plan *p, const void *table, struct err *e)
{
    struct tape tape = {0}, *t = &tape;
    struct arena size = {0}, at = {0};
    void *memory;
    lay_out_transform(p, &size);
    int rc = dev->ops->alloc(dev, lane, DEV_MEMORY, size.used, &memory, NULL, e);
    if (rc)
        return err_prefix(e, "%zu bytes for a transform", size.used);
    at.base = memory;
    const struct work w = lay_out_transform(p, &at);
    EMIT(saxs_forward, 1, 1, 0, .table = table, .spectrum = w.spectrum, .work = w.fft, .fft = p->fft);
    rc = dev->ops->run(dev, lane, t, e);
    tape_free(t);
    dev->ops->free(dev, DEV_MEMORY, memory);
    return rc;
}

int cuda_saxs_open(struct dev *dev, struct lane *lane, void *plan, const void *table, struct err *e)
{
    struct saxs_plan *p = plan;
    int rc = p->has_fft ? 0 : saxs_fft_new(dev, &p->fft, p->table.size, &p->fft_bytes, e);
    if (rc || p->has_fft)
        return rc;
    p->has_fft = true;
    rc = warm(dev, lane, p, table, e);
    if (rc)
        cuda_saxs_close(p);
    return rc;
}

void cuda_saxs_close(void *plan)
{
    struct saxs_plan *p = plan;
    if (p->has_fft)
        saxs_fft_free(p->fft);
    p->has_fft = false;
}

static void emit_species(const struct observe_frame *f, uint32_t k, const struct work *w, struct tape *t)
{
    const struct saxs_plan *p = f->plan;
    const struct saxs_table *own = &p->table;
    const uint64_t threads = (uint64_t)p->species[k].count * (uint64_t)own->order;
    if (!threads)
        return;
    EMIT(saxs_spread, blocks_for(threads, SAXS_BLOCK, BLOCKS_MAX), SAXS_BLOCK, 0, .table = f->table, .seen = f->seen,
         .place = w->place, .mesh = w->mesh, .species = k);
    EMIT(saxs_round, blocks_for((uint64_t)own->size[0] * (uint64_t)own->size[1], 1, BLOCKS_MAX), SAXS_BLOCK, 0,
         .table = f->table, .seen = f->seen, .mesh = w->mesh, .spectrum = w->spectrum);
    EMIT(saxs_forward, 1, 1, 0, .table = f->table, .spectrum = w->spectrum, .work = w->fft, .fft = p->fft);
}

void cuda_saxs_emit(const struct observe_frame *f, struct tape *t)
{
    const struct saxs_plan *p = f->plan;
    struct arena a = {.base = f->work};
    const struct work w = lay_out(p, &a);
    const struct saxs_table *own = &p->table;
    const uint64_t waves = saxs_plan_waves(p);
    EMIT(saxs_place,
         blocks_for((uint64_t)(own->nchains > own->nbins ? own->nchains : own->nbins), CUDA_BLOCK, BLOCKS_MAX),
         CUDA_BLOCK, 0, .ctl = f->ctl, .x = f->x, .table = f->table, .seen = f->seen, .place = w.place, .bins = w.bins);
    for (uint32_t k = 0; k < (uint32_t)own->nspecies; k++) {
        emit_species(f, k, &w, t);
        EMIT(saxs_add, blocks_for(waves, SAXS_BLOCK, BLOCKS_MAX), SAXS_BLOCK, 0, .ctl = f->ctl, .table = f->table,
             .seen = f->seen, .spectrum = w.spectrum, .sum = w.sum, .species = k);
    }
    EMIT(saxs_bin, blocks_for(waves, SAXS_BLOCK, BIN_BLOCKS), SAXS_BLOCK, (size_t)own->nbins * sizeof(struct saxs_bin),
         .ctl = f->ctl, .table = f->table, .seen = f->seen, .sum = w.sum, .bins = w.bins);
    EMIT(saxs_keep, 1, CUDA_ONE_BLOCK, 0, .ctl = f->ctl, .table = f->table, .seen = f->seen, .bins = w.bins);
}
