/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs outside the lists: excluded ones, from which the mesh's share -qq erf(beta r)/r is taken, and those that
 * interact by plain LJ + 1/r at every distance and lambda. Their energies belong to LJ and Coulomb (short range).
 */
#include <math.h>

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/cpu/isa.h"
#include "engine/run/program.h"
#include "engine/cpu/nonbonded_tables.h"

#define W 8

struct unlisted_pass {
    const struct args_pairs_apart *a;
    const struct nb_params *p;
    struct accumulate acc;
    double nm[BOX_SIZE];
    bool triclinic;
};

/* Vector from atom 1 to atom 0; returns its squared length. */
static double separation(const struct unlisted_pass *pass, const int32_t atom[2], int32_t whole, double d[3])
{
    const double *grid = pass->a->grid;
    size_t n = (size_t)pass->p->natoms;
    double du[3];
    for (size_t k = 0; k < 3; k++)
        du[k] = grid[k * n + (size_t)atom[0]] - grid[k * n + (size_t)atom[1]];
    if (!whole)
        return nb_shortest(pass->nm, pass->triclinic, du, d);
    box_apply(pass->nm, du, d);
    return pair_distance2(d[0], d[1], d[2]);
}

static void apply(struct unlisted_pass *pass, const int32_t atom[2], const double d[3], double fr)
{
    int64_t(*f)[3] = pass->a->f;
    double force[3] = {fr * d[0], fr * d[1], fr * d[2]}, minus[3] = {-force[0], -force[1], -force[2]};
    acc_force(&pass->acc, f[atom[0]], force);
    acc_force(&pass->acc, f[atom[1]], minus);
    if (evaluates_energies(pass->a->mode))
        acc_virial(&pass->acc, d, force);
}

/* Excluded pairs of constant charge: v and f of eight at a time, then one by one into the sums. */
static void constant_pairs(struct unlisted_pass *pass)
{
    const struct nb_params *p = pass->p;
    double d[W][3], r2[W], v[W], f[W];
    for (int32_t first = 0; first < p->nexcluded; first += W) {
        int count = p->nexcluded - first < W ? p->nexcluded - first : W;
        double farthest = 0;
        for (int l = 0; l < W; l++) {
            const struct nb_excluded *e = &p->excluded[first + (l < count ? l : 0)];
            r2[l] = separation(pass, e->atom, e->whole, d[l]);
            farthest = r2[l] > farthest ? r2[l] : farthest;
        }
#pragma omp simd simdlen(8)
        for (int l = 0; l < W; l++) {
            v[l] = ewald_long_v(&p->ewald, EWALD_TERMS, r2[l]);
            f[l] = ewald_long_f(&p->ewald, EWALD_TERMS, r2[l]);
        }
        for (int l = 0; l < count; l++) {
            const struct nb_excluded *e = &p->excluded[first + l];
            double qq = UNIT_COULOMB * p->charge[e->atom[0]] * p->charge[e->atom[1]];
            if (farthest > p->ewald.r2_max)
                ewald_long_any(&p->ewald, r2[l], &v[l], &f[l]);
            apply(pass, e->atom, d[l], -qq * f[l]);
            if (evaluates_energies(pass->a->mode))
                acc_energy(&pass->acc, TERM_COULOMB, -qq * v[l]);
        }
    }
}

/* Excluded pairs whose charge product depends on lambda. */
static void perturbed_exclusions(struct unlisted_pass *pass)
{
    const struct nb_params *p = pass->p;
    const struct ctl *c = pass->a->ctl;
    struct fixed_sum *energy_at_window = pass->a->energy_at_window;
    const struct foreign_rows rows = foreign_rows_of(pass->a->mode, c, p->window, (uint32_t)p->nwindows);
    for (int32_t k = 0; k < p->nexcluded_perturbed; k++) {
        const struct nb_excluded *e = &p->excluded_perturbed[k];
        int32_t i = e->atom[0], j = e->atom[1];
        double d[3], v, f, l = c->lambda[LAMBDA_COULOMB], r2 = separation(pass, e->atom, e->whole, d);
        double qi = p->charge[i], qj = p->charge[j], di = p->change[i], dj = p->change[j];
        double q = MATH_FMA(l, di, qi), o = MATH_FMA(l, dj, qj);
        ewald_long_any(&p->ewald, r2, &v, &f);
        apply(pass, e->atom, d, -UNIT_COULOMB * q * o * f);
        if (evaluates_energies(pass->a->mode)) {
            acc_energy(&pass->acc, TERM_COULOMB, -UNIT_COULOMB * q * o * v);
            acc_dvdl(&pass->acc, LAMBDA_COULOMB, -UNIT_COULOMB * (di * o + q * dj) * v);
        }
        for (uint32_t w = 0; w < rows.n; w++) {
            double lw = rows.lambda[w][LAMBDA_COULOMB];
            acc_window(&energy_at_window[w], -UNIT_COULOMB * MATH_FMA(lw, di, qi) * MATH_FMA(lw, dj, qj) * v,
                       FIXED_ENERGY_LIMIT);
        }
    }
}

static void always_pairs(struct unlisted_pass *pass)
{
    static const struct lj_rule none; /* a plain cut-off uses nothing of the rule */
    for (int32_t k = 0; k < pass->p->nalways; k++) {
        const struct nb_always *e = &pass->p->always[k];
        double d[3], v, r2 = separation(pass, e->atom, e->whole, d), ri = root_inverse(r2);
        double fr = lj_pair(VDW_CUTOFF, &none, e->c6, e->c12, r2, ri, &v);
        apply(pass, e->atom, d, fr + e->qq * ri * ri * ri);
        if (!evaluates_energies(pass->a->mode))
            continue;
        acc_energy(&pass->acc, TERM_LJ, v);
        acc_energy(&pass->acc, TERM_COULOMB, e->qq * ri);
    }
}

ISA_FN(pairs_apart)
{
    struct ctl *c = a->ctl;
    struct unlisted_pass pass = {.a = a, .p = a->params};
    if (c->halt)
        return;
    nb_grid_scale(c->box, pass.nm);
    pass.triclinic = box_triclinic(c->box);
    constant_pairs(&pass);
    perturbed_exclusions(&pass);
    always_pairs(&pass);
    acc_finish(&pass.acc, &c->sum);
}
