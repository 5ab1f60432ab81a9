/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/observe/observe.h"

#include "engine/cuda/biases/tiles.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/observe/saxs.h"
#include "engine/run/sim_parts.h"

/* Its transform, made before its first replica; NULL: it is another kind. */
static struct saxs_plan *plan_of(const struct model *m, int i)
{
    return m->sys->observables[i].kind == OBSERVE_SAXS ? m->observe_plan[i] : NULL;
}

static void close_plan(struct saxs_plan *p)
{
    if (p->has_fft)
        saxs_fft_free(p->fft);
    p->has_fft = false;
}

static int open_plan(struct model *m, int i, struct lane *lane, struct err *e)
{
    struct saxs_plan *p = plan_of(m, i);
    int rc = saxs_fft_new(m->dev, &p->fft, p->table.size, &p->fft_bytes, e);
    if (rc)
        return rc;
    p->has_fft = true;
    rc = cuda_saxs_warm(m->dev, lane, p, m->observed[i], e);
    if (rc)
        close_plan(p);
    return rc;
}

int cuda_observe_open(struct model *m, struct lane *lane, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < m->sys->nobservables && rc == 0; i++) {
        if (plan_of(m, i) && !plan_of(m, i)->has_fft && (rc = open_plan(m, i, lane, e)))
            err_prefix(e, "%s", m->sys->observables[i].name);
    }
    return rc;
}

void cuda_observe_close(struct model *m)
{
    for (int i = 0; i < m->sys->nobservables; i++)
        if (plan_of(m, i))
            close_plan(plan_of(m, i));
}

/* The pairs of a coordination; none of another kind. */
static struct coordination pairs_of(const struct observable *o)
{
    const struct coordination none = {.count = {0, 0}};
    return o->kind == OBSERVE_COORDINATION
               ? coordination_sized(o->coordination.of, (const int[2]){o->group[0].n, o->group[1].n})
               : none;
}

uint32_t cuda_observe_launches(const struct model *m)
{
    uint32_t n = 1;
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct coordination c = pairs_of(&m->sys->observables[i]);
        const uint32_t others = coordination_ordered(&c) ? 3 : 2;
        n += 1 + (plan_of(m, i) ? saxs_plan_launches(plan_of(m, i), 4) : others);
    }
    return n;
}

/* Bytes that observable i computes in. */
static size_t work_of(const struct model *m, int i)
{
    const struct coordination c = pairs_of(&m->sys->observables[i]);
    return plan_of(m, i) ? cuda_saxs_work(plan_of(m, i)) : coordination_order_bytes(&c);
}

size_t cuda_observe_work(const struct model *m)
{
    size_t bytes = 0;
    for (int i = 0; i < m->sys->nobservables; i++)
        bytes += work_of(m, i);
    return bytes;
}

#define EMIT_GRID(kernel, across, down, threads, ...)                                                                  \
    emit_##kernel(t, &(struct shape){.grid = {across, down, 1}, .block = {threads, 1, 1}, .after = AFTER_PREVIOUS},    \
                  &(struct args_##kernel){__VA_ARGS__})
#define EMIT_BLOCK(kernel, ...) EMIT_GRID(kernel, 1, 1, CUDA_ONE_BLOCK, __VA_ARGS__)
/* Of few threads, for which room is found beside other replicas' blocks. */
#define EMIT_SMALL(kernel, ...) EMIT_GRID(kernel, 1, 1, 2 * CUDA_BLOCK, __VA_ARGS__)

/* work: where the observable computes, of those that need memory for that. */
static void observe_one(const struct sim *s, int number, void *work, const void *table, void *seen, struct tape *t)
{
    const struct observable *o = &s->model->sys->observables[number];
    const struct coordination c = pairs_of(o);
    const struct center_rule center = s->model->center;
    EMIT_SMALL(observe_begin, .ctl = s->d.ctl, .table = table, .seen = seen);
    switch (o->kind) {
    case OBSERVE_RDF:
        EMIT_GRID(observe_rdf, blocks_of((uint64_t)o->group[0].n, CUDA_BLOCK),
                  blocks_of((uint64_t)o->group[1].n, RDF_PIECE), CUDA_BLOCK, .ctl = s->d.ctl, .x = s->d.x,
                  .table = table, .seen = seen);
        break;
    case OBSERVE_MSD:
    case OBSERVE_VACF:
        EMIT_SMALL(observe_lags_move, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .table = table, .seen = seen);
        EMIT_GRID(observe_lags_add, LAG_BLOCKS, 1, CUDA_BLOCK, .ctl = s->d.ctl, .table = table, .seen = seen);
        break;
    case OBSERVE_COORDINATION:
        if (coordination_ordered(&c))
            EMIT_GRID(observe_order_coordination, 1, 1, ORDER_THREADS, .ctl = s->d.ctl, .x = s->d.x, .table = table,
                      .seen = seen, .work = work);
        EMIT_GRID(observe_coordination, blocks_of(WARP * coordination_tiles(&c), CUDA_BLOCK), 1, CUDA_BLOCK,
                  .ctl = s->d.ctl, .x = s->d.x, .table = table, .seen = seen, .work = work,
                  .tiles = coordination_tiles(&c));
        EMIT_GRID(observe_coordination_end, 1, 1, WARP, .ctl = s->d.ctl, .table = table, .seen = seen);
        break;
    case OBSERVE_SAXS:
        cuda_saxs_emit(s, s->model->observe_plan[number], work, table, seen, t);
        break;
    case OBSERVE_DIELECTRIC:
        EMIT_BLOCK(observe_dielectric, .ctl = s->d.ctl, .x = s->d.x, .table = table, .seen = seen);
        break;
    case OBSERVE_PRESSURE:
        EMIT_BLOCK(observe_pressure, .ctl = s->d.ctl, .v = s->d.v_out, .motion = s->model->motion, .table = table,
                   .seen = seen, .freedom = center.freedom, .kt = center.kt, .regain = center.regain,
                   .every = center.every);
        break;
    case OBSERVE_KINDS:
        break;
    }
}

void cuda_observe(const struct sim *s, struct tape *t)
{
    const struct model *m = s->model;
    size_t at = 0;
    for (int i = 0; i < m->sys->nobservables; i++) {
        observe_one(s, i, (unsigned char *)s->d.observe_work + at, m->observed[i], sim_observed(s, i), t);
        at += work_of(m, i);
    }
    EMIT_SMALL(observe_end, .ctl = s->d.ctl);
}
