/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/observe/observe.h"

#include "engine/cpu/biases/cells.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/observe/saxs.h"
#include "engine/run/sim_parts.h"

#define EMIT(kernel, ...) emit_##kernel(t, &SHAPE_CHAIN, &(struct args_##kernel){__VA_ARGS__})

static void emit_rdf(const struct observe_frame *f, struct tape *t)
{
    EMIT(observe_rdf, .ctl = f->ctl, .x = f->x, .table = f->table, .seen = f->seen);
}

static void emit_lags(const struct observe_frame *f, struct tape *t)
{
    EMIT(observe_lags, .ctl = f->ctl, .x = f->x, .v = f->v, .table = f->table, .seen = f->seen);
}

static void emit_coordination(const struct observe_frame *f, struct tape *t)
{
    EMIT(observe_coordination, .ctl = f->ctl, .x = f->x, .table = f->table, .seen = f->seen, .work = f->work);
}

static size_t coordination_work(const struct observable *o, const void *plan)
{
    const struct coordination c = coordination_sized(o->coordination.of, (const int[2]){o->group[0].n, o->group[1].n});
    return cells_bytes(&c);
}

static const struct observe_launches rdf_launches = {.emit = emit_rdf}, lags_launches = {.emit = emit_lags},
                                     coordination_launches = {.emit = emit_coordination, .work = coordination_work},
                                     saxs_launches = {
                                         .emit = cpu_saxs_emit, .count = cpu_saxs_launches, .work = cpu_saxs_work};

#define EMIT_BLOCK EMIT
#include "engine/kernels/observe_launches.h"

uint32_t cpu_observe_launches(const struct model *m)
{
    uint32_t n = 1;
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct observe_launches *of = launches_of(m, i);
        n += 1 + (of->count ? of->count(&m->sys->observables[i], m->observe_plan[i]) : 1);
    }
    return n;
}

/* One computes after the other, in the same memory. */
size_t cpu_observe_work(const struct model *m)
{
    size_t most = 0;
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct observe_launches *of = launches_of(m, i);
        const size_t bytes = of->work ? of->work(&m->sys->observables[i], m->observe_plan[i]) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

void cpu_observe(const struct sim *s, struct tape *t)
{
    for (int i = 0; i < s->model->sys->nobservables; i++) {
        const struct observe_frame f = sim_observe_frame(s, i, s->d.observe_work);
        EMIT(observe_begin, .ctl = f.ctl, .table = f.table, .seen = f.seen);
        launches_of(s->model, i)->emit(&f, t);
    }
    EMIT(observe_end, .ctl = s->d.ctl);
}
