/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs with a perturbed atom: those inside the cut-off are gathered into batches, then computed eight at a time; at a
 * sample and in a switch also at other rows of lambda.
 */
#include <math.h>

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/cpu/isa.h"
#include "engine/run/program.h"
#include "engine/cpu/nonbonded_tables.h"

#define BATCH 8
#define INLINE static inline __attribute__((always_inline))

/* Pairs waiting to be computed, field by field so that loops over them vectorise. */
struct pair_batch {
    int count;
    int32_t atom[BATCH][2];
    double d[3][BATCH], r2[BATCH], in_coulomb[BATCH]; /* in_coulomb: 1 inside the Coulomb cut-off, else 0 */
    double c6[2][BATCH], c12[2][BATCH], reach[2][BATCH], reach_coulomb[2][BATCH], qq[2][BATCH], cross[2][BATCH];
    double v[2][BATCH], dv[2][BATCH], fr[BATCH]; /* results: LJ, Coulomb */
};

struct perturbed_pass {
    const struct args_pairs_perturbed *a;
    const struct nb_params *p;
    struct accumulate acc;
    struct pair_batch b;
};

INLINE struct soft_pair soft_of(const struct pair_batch *b, int l)
{
    return (struct soft_pair){{b->c6[0][l], b->c6[1][l]},       {b->c12[0][l], b->c12[1][l]},
                              {b->reach[0][l], b->reach[1][l]}, {b->reach_coulomb[0][l], b->reach_coulomb[1][l]},
                              {b->qq[0][l], b->qq[1][l]},       {b->cross[0][l], b->cross[1][l]}};
}

INLINE void compute(struct pair_batch *b, const struct nb_params *p, double lambda_coulomb, double lambda_vdw,
                    const enum soft_function function, const enum vdw_modifier modifier)
{
#pragma omp simd simdlen(8)
    for (int l = 0; l < BATCH; l++) {
        struct soft_pair s = soft_of(b, l);
        double r2 = b->r2[l], in = b->in_coulomb[l];
        struct soft_result lj = soft_lj(function, modifier, &p->lj_rule, p->soft.power, &s, lambda_vdw, r2);
        struct soft_result qq =
            soft_coulomb(function, &p->soft, &s, p->coulomb_shift, lambda_coulomb, r2,
                         ewald_long_v(&p->ewald, EWALD_TERMS, r2), ewald_long_f(&p->ewald, EWALD_TERMS, r2));
        b->v[0][l] = lj.v;
        b->dv[0][l] = lj.dv;
        b->v[1][l] = in * qq.v;
        b->dv[1][l] = in * qq.dv;
        b->fr[l] = lj.fr + in * qq.fr;
    }
}

INLINE void compute_by(struct pair_batch *b, const struct nb_params *p, const double lambda[LAMBDA_COUNT],
                       const enum soft_function function)
{
    double coulomb = lambda[LAMBDA_COULOMB], vdw = lambda[LAMBDA_VDW];
    switch (p->modifier) {
#define VDW(name, ...)                                                                                                 \
    case VDW_##name:                                                                                                   \
        compute(b, p, coulomb, vdw, function, VDW_##name);                                                             \
        break;
#include "engine/math/vdw_modifiers.def"
    }
}

static void compute_at(struct pair_batch *b, const struct nb_params *p, const double lambda[LAMBDA_COUNT])
{
    switch (p->soft.function) {
    case SOFT_BEUTLER:
        compute_by(b, p, lambda, SOFT_BEUTLER);
        break;
    case SOFT_GAPSYS:
        compute_by(b, p, lambda, SOFT_GAPSYS);
        break;
    case SOFT_BEUTLER_FIELD:
        compute_by(b, p, lambda, SOFT_BEUTLER_FIELD);
        break;
    }
}

static void flush(struct perturbed_pass *pass)
{
    struct pair_batch *b = &pass->b;
    const struct ctl *c = pass->a->ctl;
    int64_t(*f)[3] = pass->a->f;
    struct fixed_sum *energy_at_window = pass->a->energy_at_window;
    int count = b->count;
    for (int l = count; l < BATCH && count; l++) { /* idle lanes repeat a pair; their results are not read */
        b->r2[l] = b->r2[0];
        for (int k = 0; k < 2; k++)
            b->c6[k][l] = b->c12[k][l] = b->reach[k][l] = b->reach_coulomb[k][l] = b->qq[k][l] = b->cross[k][l] = 0;
    }
    b->count = 0;
    if (!count)
        return;
    compute_at(b, pass->p, c->lambda);
    for (int l = 0; l < count; l++) {
        double d[3], force[3], minus[3];
        for (int k = 0; k < 3; k++) {
            d[k] = b->d[k][l];
            force[k] = b->fr[l] * d[k];
            minus[k] = -force[k];
        }
        acc_force(&pass->acc, f[b->atom[l][0]], force);
        acc_force(&pass->acc, f[b->atom[l][1]], minus);
        if (!evaluates_energies(pass->a->mode))
            continue;
        acc_energy(&pass->acc, TERM_LJ, b->v[0][l]);
        acc_energy(&pass->acc, TERM_COULOMB, b->v[1][l]);
        acc_dvdl(&pass->acc, LAMBDA_VDW, b->dv[0][l]);
        acc_dvdl(&pass->acc, LAMBDA_COULOMB, b->dv[1][l]);
        acc_virial(&pass->acc, d, force);
    }
    const struct foreign_rows rows = foreign_rows_of(pass->a->mode, c, pass->p->window, (uint32_t)pass->p->nwindows);
    for (uint32_t w = 0; w < rows.n; w++) {
        compute_at(b, pass->p, rows.lambda[w]);
        for (int l = 0; l < count; l++)
            acc_window(&energy_at_window[w], b->v[0][l] + b->v[1][l], FIXED_ENERGY_LIMIT);
    }
}

static void add_pair(struct perturbed_pass *pass, int32_t i, int32_t j, const double d[3], double r2)
{
    const struct nb_params *p = pass->p;
    struct pair_batch *b = &pass->b;
    int l = b->count++;
    double c6[2], c12[2], q[2], o[2];
    for (int k = 0; k < 2; k++) {
        const struct lj *lj = &p->lj[(size_t)p->type[k][i] * (size_t)p->ntypes + (size_t)p->type[k][j]];
        c6[k] = lj->c6;
        c12[k] = lj->c12;
        q[k] = p->charge[i] + (k ? p->change[i] : 0);
        o[k] = p->charge[j] + (k ? p->change[j] : 0);
    }
    struct soft_pair s = soft_pair_make(&p->soft, c6, c12, q, o, UNIT_COULOMB);
    b->atom[l][0] = i;
    b->atom[l][1] = j;
    b->r2[l] = r2;
    b->in_coulomb[l] = b->r2[l] < p->coulomb_cutoff * p->coulomb_cutoff;
    for (int k = 0; k < 3; k++)
        b->d[k][l] = d[k];
    for (int k = 0; k < 2; k++) {
        b->c6[k][l] = s.c6[k];
        b->c12[k][l] = s.c12[k];
        b->reach[k][l] = s.reach[k];
        b->reach_coulomb[k][l] = s.reach_coulomb[k];
        b->qq[k][l] = s.qq[k];
        b->cross[k][l] = s.cross[k];
    }
    if (b->count == BATCH)
        flush(pass);
}

ISA_FN(pairs_perturbed)
{
    struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    const struct nb_list *list = a->list;
    const int32_t(*pairs)[2] = a->pairs;
    const double *grid = a->grid;
    size_t n = (size_t)p->natoms;
    struct perturbed_pass pass = {.a = a, .p = p};
    if (c->halt)
        return;
    double nm[BOX_SIZE];
    bool triclinic = box_triclinic(c->box);
    nb_grid_scale(c->box, nm);
    for (uint32_t k = 0; k < list->pairs; k++) {
        int32_t i = pairs[k][0], j = pairs[k][1];
        double du[3], dx[3];
        for (size_t d = 0; d < 3; d++)
            du[d] = grid[d * n + (size_t)i] - grid[d * n + (size_t)j];
        double r2 = nb_shortest(nm, triclinic, du, dx);
        if (r2 < p->cutoff * p->cutoff)
            add_pair(&pass, i, j, dx, r2);
    }
    flush(&pass);
    acc_finish(&pass.acc, &c->sum);
}
