/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/observe.h"

#include "engine/cuda/biases.h"
#include "engine/cuda/kernels.h"
#include "engine/run/sim_parts.h"

#define EMIT_GRID(kernel, across, down, threads, ...)                                                                  \
    emit_##kernel(t, &(struct shape){.grid = {across, down, 1}, .block = {threads, 1, 1}, .after = AFTER_PREVIOUS},    \
                  &(struct args_##kernel){__VA_ARGS__})
#define EMIT_BLOCK(kernel, ...) EMIT_GRID(kernel, 1, 1, CUDA_ONE_BLOCK, __VA_ARGS__)

static uint32_t pieces(int n, int piece)
{
    return (uint32_t)((n + piece - 1) / piece);
}

static void observe_one(const struct sim *s, const struct observable *o, void *table, void *seen, struct tape *t)
{
    struct coordination sized;
    EMIT_BLOCK(observe_begin, .ctl = s->d.ctl, .table = table, .seen = seen);
    switch (o->kind) {
    case OBSERVE_RDF:
        EMIT_GRID(observe_rdf, pieces(o->group[0].n, CUDA_BLOCK), pieces(o->group[1].n, RDF_PIECE), CUDA_BLOCK,
                  .ctl = s->d.ctl, .x = s->d.x, .table = table, .seen = seen);
        break;
    case OBSERVE_MSD:
        EMIT_BLOCK(observe_msd_move, .ctl = s->d.ctl, .x = s->d.x, .table = table, .seen = seen);
        EMIT_GRID(observe_msd_lags, MSD_BLOCKS, 1, CUDA_BLOCK, .ctl = s->d.ctl, .table = table, .seen = seen);
        break;
    case OBSERVE_COORDINATION:
        sized = coordination_sized(o->coordination.of, (const int[2]){o->group[0].n, o->group[1].n});
        EMIT_GRID(observe_coordination, pieces((int)(32 * coordination_tiles(&sized)), CUDA_BLOCK), 1, CUDA_BLOCK,
                  .ctl = s->d.ctl, .x = s->d.x, .table = table, .seen = seen, .tiles = coordination_tiles(&sized));
        EMIT_GRID(observe_coordination_end, 1, 1, 32, .ctl = s->d.ctl, .table = table, .seen = seen);
        break;
    case OBSERVE_KINDS:
        break;
    }
}

void cuda_observe(const struct sim *s, struct tape *t)
{
    const struct model *m = s->model;
    for (int i = 0; i < m->sys->nobservables; i++)
        observe_one(s, &m->sys->observables[i], (void *)(uintptr_t)m->observed[i], sim_observed(s, i), t);
    EMIT_BLOCK(observe_end, .ctl = s->d.ctl);
}
