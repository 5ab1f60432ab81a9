/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/observe/observe.h"

#include "engine/cuda/biases/tiles.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/observe/saxs.h"
#include "engine/run/sim_parts.h"

#define EMIT_GRID(kernel, across, down, threads, ...)                                                                  \
    emit_##kernel(t, &(struct shape){.grid = {across, down, 1}, .block = {threads, 1, 1}, .after = AFTER_PREVIOUS},    \
                  &(struct args_##kernel){__VA_ARGS__})
#define EMIT_BLOCK(kernel, ...) EMIT_GRID(kernel, 1, 1, CUDA_ONE_BLOCK, __VA_ARGS__)
/* Of few threads, for which room is found beside other replicas' blocks. */
#define EMIT_SMALL(kernel, ...) EMIT_GRID(kernel, 1, 1, 2 * CUDA_BLOCK, __VA_ARGS__)

static void emit_rdf(const struct observe_frame *f, struct tape *t)
{
    EMIT_GRID(observe_rdf, blocks_of((uint64_t)f->o->group[0].n, CUDA_BLOCK),
              blocks_of((uint64_t)f->o->group[1].n, RDF_PIECE), CUDA_BLOCK, .ctl = f->ctl, .x = f->x, .table = f->table,
              .seen = f->seen);
}

static void emit_lags(const struct observe_frame *f, struct tape *t)
{
    EMIT_SMALL(observe_lags_move, .ctl = f->ctl, .x = f->x, .v = f->v, .table = f->table, .seen = f->seen);
    EMIT_GRID(observe_lags_add, LAG_BLOCKS, 1, CUDA_BLOCK, .ctl = f->ctl, .table = f->table, .seen = f->seen);
}

static struct coordination pairs_of(const struct observable *o)
{
    return coordination_sized(o->coordination.of, (const int[2]){o->group[0].n, o->group[1].n});
}

static void emit_coordination(const struct observe_frame *f, struct tape *t)
{
    const struct coordination c = pairs_of(f->o);
    if (coordination_ordered(&c))
        EMIT_GRID(observe_order_coordination, 1, 1, ORDER_THREADS, .ctl = f->ctl, .x = f->x, .table = f->table,
                  .seen = f->seen, .work = f->work);
    EMIT_GRID(observe_coordination, blocks_of(WARP * coordination_tiles(&c), CUDA_BLOCK), 1, CUDA_BLOCK, .ctl = f->ctl,
              .x = f->x, .table = f->table, .seen = f->seen, .work = f->work, .tiles = coordination_tiles(&c));
    EMIT_GRID(observe_coordination_end, 1, 1, WARP, .ctl = f->ctl, .table = f->table, .seen = f->seen);
}

static uint32_t coordination_count(const struct observable *o, const void *plan)
{
    const struct coordination c = pairs_of(o);
    return coordination_ordered(&c) ? 3 : 2;
}

static size_t coordination_work(const struct observable *o, const void *plan)
{
    const struct coordination c = pairs_of(o);
    return coordination_order_bytes(&c);
}

static const struct observe_launches rdf_launches = {.emit = emit_rdf}, lags_launches = {.emit = emit_lags},
                                     coordination_launches = {.emit = emit_coordination,
                                                              .count = coordination_count,
                                                              .work = coordination_work},
                                     saxs_launches = {.emit = cuda_saxs_emit,
                                                      .count = cuda_saxs_launches,
                                                      .work = cuda_saxs_work,
                                                      .open = cuda_saxs_open,
                                                      .close = cuda_saxs_close};

#include "engine/kernels/observe_launches.h"

int cuda_observe_open(struct model *m, struct lane *lane, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < m->sys->nobservables && rc == 0; i++)
        if (launches_of(m, i)->open &&
            (rc = launches_of(m, i)->open(m->dev, lane, m->observe_plan[i], m->observed[i], e)))
            err_prefix(e, "%s", m->sys->observables[i].name);
    return rc;
}

void cuda_observe_close(struct model *m)
{
    for (int i = 0; i < m->sys->nobservables; i++)
        if (m->observe_plan[i] && launches_of(m, i)->close)
            launches_of(m, i)->close(m->observe_plan[i]);
}

uint32_t cuda_observe_launches(const struct model *m)
{
    uint32_t n = 1;
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct observe_launches *of = launches_of(m, i);
        n += 1 + (of->count ? of->count(&m->sys->observables[i], m->observe_plan[i]) : 2);
    }
    return n;
}

/* Bytes that observable i computes in. */
static size_t work_of(const struct model *m, int i)
{
    const struct observe_launches *of = launches_of(m, i);
    return of->work ? of->work(&m->sys->observables[i], m->observe_plan[i]) : 0;
}

size_t cuda_observe_work(const struct model *m)
{
    size_t bytes = 0;
    for (int i = 0; i < m->sys->nobservables; i++)
        bytes += work_of(m, i);
    return bytes;
}

void cuda_observe(const struct sim *s, struct tape *t)
{
    const struct model *m = s->model;
    size_t at = 0;
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct observe_frame f = sim_observe_frame(s, i, (unsigned char *)s->d.observe_work + at);
        EMIT_SMALL(observe_begin, .ctl = f.ctl, .table = f.table, .seen = f.seen);
        launches_of(m, i)->emit(&f, t);
        at += work_of(m, i);
    }
    EMIT_SMALL(observe_end, .ctl = s->d.ctl);
}
