/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering on the CPU device: a mesh in double precision, one element after the other.
 */
#include "engine/observe/saxs_frame.h"

#include <string.h>

#include "engine/cpu/kernels.h"
#include "engine/cpu/mesh/fft.h"
#include "engine/cpu/observe/saxs.h"
#include "engine/kernels/observe.h"
#include "engine/math/spline.h"
#include "engine/observe/saxs_plan.h"
#include "engine/run/sim_parts.h"

#define INLINE static inline __attribute__((always_inline))

static const struct saxs_table *own_of(const void *table)
{
    return ((const struct observe_table *)table)->own;
}

static bool idle(const void *seen)
{
    return !((const struct observed *)seen)->now;
}

void cpu_saxs_place(const struct launch *launch, const struct args_saxs_place *a)
{
    const struct saxs_table *t = own_of(a->table);
    const struct ctl *c = a->ctl;
    if (idle(a->seen))
        return;
    for (int32_t k = 0; k < t->nchains; k++)
        saxs_place_chain(t, c->box, a->x, k, a->place);
    memset(a->bins, 0, (size_t)t->nbins * sizeof(struct saxs_bin));
}

/* Points and weights of one atom along the three edges. */
struct saxs_spot {
    int32_t point[3][SPLINE_ORDER_MAX];
    double weight[3][SPLINE_ORDER_MAX];
};

INLINE void find_spot(const struct saxs_table *t, const double place[3], const int order, struct saxs_spot *s)
{
    for (int d = 0; d < 3; d++) {
        double beyond;
        const int32_t first = saxs_first_point(t, place[d], d, &beyond);
        spline_weights(order, beyond, s->weight[d]);
        for (int k = 0; k < order; k++)
            s->point[d][k] = saxs_wrapped(first + k, t->size[d]);
    }
}

INLINE void spread(const struct saxs_table *t, const struct args_saxs_spread *a, const int order)
{
    const struct saxs_species *e = &t->species[a->species];
    const double(*place)[3] = a->place;
    const size_t ny = (size_t)t->size[1], nz = (size_t)t->size[2];
    double *mesh = a->mesh;
    for (uint32_t i = e->first; i < e->first + e->count; i++) {
        struct saxs_spot s;
        find_spot(t, place[t->member[i]], order, &s);
        for (int x = 0; x < order; x++)
            for (int y = 0; y < order; y++) {
                double *row = mesh + ((size_t)s.point[0][x] * ny + (size_t)s.point[1][y]) * nz;
                const double w = s.weight[0][x] * s.weight[1][y];
                for (int z = 0; z < order; z++)
                    row[s.point[2][z]] += w * s.weight[2][z];
            }
    }
}

void cpu_saxs_spread(const struct launch *launch, const struct args_saxs_spread *a)
{
    const struct saxs_table *t = own_of(a->table);
    if (idle(a->seen))
        return;
    memset(a->mesh, 0, saxs_points(t) * sizeof(double));
    switch (t->order) {
#define ORDER(n)                                                                                                       \
    case n:                                                                                                            \
        spread(t, a, n);                                                                                               \
        break;
        SPLINE_ORDERS(ORDER)
#undef ORDER
    }
}

void cpu_saxs_forward(const struct launch *launch, const struct args_saxs_forward *a)
{
    const struct saxs_table *t = own_of(a->table);
    if (!idle(a->seen))
        fft_forward_low(t->size, t->modes, a->mesh, a->spectrum);
}

void cpu_saxs_add(const struct launch *launch, const struct args_saxs_add *a)
{
    static const double none[2];
    const struct saxs_table *t = own_of(a->table);
    const struct saxs_species *e = &t->species[a->species];
    const struct saxs_cell c = saxs_cell_of(t, ((const struct ctl *)a->ctl)->box);
    const double(*spectrum)[2] = a->spectrum;
    double(*sum)[2] = a->sum;
    if (idle(a->seen))
        return;
    for (uint32_t i = 0, n = saxs_waves(&c); i < n; i++) {
        const struct saxs_wave w = saxs_wave_of(&c, i);
        double share[2] = {0, 0};
        if (w.q2 <= t->max * t->max)
            saxs_share(t, &c, e, &w, e->count ? spectrum[saxs_point(t, &w)] : none, share);
        for (int k = 0; k < 2; k++)
            sum[i][k] = share[k] + (a->species ? sum[i][k] : 0);
    }
}

void cpu_saxs_bin(const struct launch *launch, const struct args_saxs_bin *a)
{
    const struct saxs_table *t = own_of(a->table);
    const struct saxs_cell c = saxs_cell_of(t, ((const struct ctl *)a->ctl)->box);
    const double(*sum)[2] = a->sum;
    if (idle(a->seen))
        return;
    for (uint32_t i = 0, n = saxs_waves(&c); i < n; i++) {
        const struct saxs_wave w = saxs_wave_of(&c, i);
        saxs_count(t, &w, sum[i], a->bins);
    }
}

void cpu_saxs_keep(const struct launch *launch, const struct args_saxs_keep *a)
{
    const struct observe_table *table = a->table;
    const struct saxs_table *t = table->own;
    const struct observed *s = a->seen;
    const struct saxs_bin *bins = a->bins;
    if (idle(s))
        return;
    double *reals = observed_reals(table, s, s->blocks - 1);
    for (int32_t k = 0; k < t->nbins; k++)
        saxs_keep(t, &bins[k], k, reals);
    reals[SAXS_VOLUME * t->nbins] += box_volume(((const struct ctl *)a->ctl)->box);
}

/* ---- launches ---- */

struct saxs_work {
    double *mesh, *spectrum, *sum, *place;
    struct saxs_bin *bins;
};

static struct saxs_work lay_out(const struct saxs_plan *p, struct arena *a)
{
    const struct saxs_table *t = &p->table;
    struct saxs_work w;
    w.mesh = arena_take(a, saxs_points(t) * sizeof(double));
    w.spectrum = arena_take(a, saxs_half_points(t) * 2 * sizeof(double));
    w.sum = arena_take(a, saxs_plan_waves(p) * 2 * sizeof(double));
    w.place = arena_take(a, (size_t)t->natoms * 3 * sizeof(double));
    w.bins = arena_take(a, (size_t)t->nbins * sizeof *w.bins);
    return w;
}

uint32_t cpu_saxs_launches(const struct observable *o, const void *plan)
{
    return saxs_plan_launches(plan, 3);
}

size_t cpu_saxs_work(const struct observable *o, const void *plan)
{
    struct arena a = {0};
    lay_out(plan, &a);
    return a.used;
}

#define EMIT(kernel, ...) emit_##kernel(t, &SHAPE_CHAIN, &(struct args_##kernel){__VA_ARGS__})

void cpu_saxs_emit(const struct observe_frame *f, struct tape *t)
{
    const struct saxs_plan *p = f->plan;
    struct arena a = {.base = f->work};
    const struct saxs_work w = lay_out(p, &a);
    EMIT(saxs_place, .ctl = f->ctl, .x = f->x, .table = f->table, .seen = f->seen, .place = w.place, .bins = w.bins);
    for (uint32_t k = 0; k < (uint32_t)p->table.nspecies; k++) {
        if (p->species[k].count) {
            EMIT(saxs_spread, .table = f->table, .seen = f->seen, .place = w.place, .mesh = w.mesh, .species = k);
            EMIT(saxs_forward, .table = f->table, .seen = f->seen, .mesh = w.mesh, .spectrum = w.spectrum);
        }
        EMIT(saxs_add, .ctl = f->ctl, .table = f->table, .seen = f->seen, .spectrum = w.spectrum, .sum = w.sum,
             .species = k);
    }
    EMIT(saxs_bin, .ctl = f->ctl, .table = f->table, .seen = f->seen, .sum = w.sum, .bins = w.bins);
    EMIT(saxs_keep, .ctl = f->ctl, .table = f->table, .seen = f->seen, .bins = w.bins);
}
