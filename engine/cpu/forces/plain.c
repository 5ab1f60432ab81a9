/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain pairs: both atoms unperturbed, not excluded. One atom against eight at a time, along its entries of the cluster
 * list. Each pair's force, energy and virial is rounded to a multiple of 2^-32, as doubles; sums of those are exact.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/isa.h"
#include "engine/base/units.h"
#include "engine/run/program.h"
#include "engine/math/fixed.h"
#include "engine/cpu/nonbonded_tables.h"

#define W NB_WIDTH
#define INLINE static inline __attribute__((always_inline))
#define ALIGNED(p) __builtin_assume_aligned(p, NB_ALIGN)

static const uint64_t lane_bit[W] = {1, 2, 4, 8, 16, 32, 64, 128};

/* There is a loop for each combination. The general loops work for every box and tolerance and give the same bits. */
struct variant {
    enum vdw_modifier modifier;
    int terms;    /* of the Ewald polynomial */
    bool general; /* the box may be triclinic, entries may be masked */
};

/* One i atom: what it needs of its own, and its sums, eight of each; as aligned as slots are, else a compiler does some
 * of the eight one by one to get to where vectors are. */
struct one {
    _Alignas(NB_ALIGN) double f[3][W];
    double lj[W], coulomb[W], virial[6][W];
    double beyond[W], beyond_lj[W], beyond_coulomb[W]; /* clamped forces and energies */
    double x[3], charge;
    const struct lj *row;
};

struct plain_pass {
    const struct nb_params *p;
    struct nb_slots s;
    double nm[BOX_SIZE];     /* nm per grid position */
    double box_shift[27][3]; /* grid positions */
    double coulomb2, vdw2;   /* squared cut-offs, nm^2 */
};

/* An energy in the range that fixed_round() takes. */
INLINE double clamp(double e, double *beyond)
{
    double clamped = e < FIXED_FORCE_LIMIT ? e : FIXED_FORCE_LIMIT;
    clamped = clamped > -FIXED_FORCE_LIMIT ? clamped : -FIXED_FORCE_LIMIT;
    *beyond += e != clamped ? 1.0 : 0.0;
    return clamped;
}

/* One entry: the eight pairs of an atom with a cluster. */
INLINE void entry_pairs(const struct plain_pass *pass, struct one *one, uint32_t entry, const bool masked,
                        const bool has_lj, const bool energy, const struct variant kind)
{
    const struct nb_params *p = pass->p;
    const struct nb_slots *s = &pass->s;
    const size_t first = (size_t)(entry >> 13) * W;
    const double *shift = pass->box_shift[entry >> 8 & 31];
    const double x = one->x[0] + shift[0], y = one->x[1] + shift[1], z = one->x[2] + shift[2];
    const double coulomb2 = pass->coulomb2, vdw2 = pass->vdw2;
    const double xx = pass->nm[BOX_XX], yy = pass->nm[BOX_YY], zz = pass->nm[BOX_ZZ];
    const double yx = pass->nm[BOX_YX], zx = pass->nm[BOX_ZX], zy = pass->nm[BOX_ZY];
    const double *sx = ALIGNED(s->x[0] + first), *sy = ALIGNED(s->x[1] + first), *sz = ALIGNED(s->x[2] + first);
    const double *sq = ALIGNED(s->charge + first);
    double *fx = ALIGNED(s->f[0] + first), *fy = ALIGNED(s->f[1] + first), *fz = ALIGNED(s->f[2] + first);
    const int64_t *type = ALIGNED(s->type + first);
    const uint64_t mask = entry;
#pragma omp simd simdlen(8)
    for (int l = 0; l < W; l++) {
        double dx = x - sx[l], dy = y - sy[l], dz = z - sz[l];
        dx = kind.general ? MATH_FMA(dx, xx, MATH_FMA(dy, yx, dz * zx)) : dx * xx;
        dy = kind.general ? MATH_FMA(dy, yy, dz * zy) : dy * yy;
        dz = dz * zz;
        double r2 = pair_distance2(dx, dy, dz);
        double ri = root_inverse(r2), qq = one->charge * sq[l];
        bool on = masked ? (mask & lane_bit[l]) != 0 : true;
        bool in = on & (r2 < coulomb2);
        double fr = qq * (ri * ri * ri - ewald_long_f(&p->ewald, kind.terms, r2));
        fr = in ? fr : 0.0;
        if (energy) {
            double e = qq * (ri - p->coulomb_shift - ewald_long_v(&p->ewald, kind.terms, r2));
            e = in ? e : 0.0; /* not before: what only some of the pairs read keeps the loop from being vectorized */
            one->coulomb[l] += fixed_round(clamp(e, &one->beyond_coulomb[l]));
        }
        if (has_lj) {
            double v, c6 = one->row[type[l]].c6, c12 = one->row[type[l]].c12;
            double flj = lj_pair(kind.modifier, &p->lj_rule, c6, c12, r2, ri, &v);
            in = on & (r2 < vdw2);
            fr += in ? flj : 0.0;
            if (energy) {
                one->lj[l] += fixed_round(clamp(in ? v : 0.0, &one->beyond_lj[l]));
            }
        }
        double limit = FIXED_FORCE_LIMIT * ri;
        double clamped = fr < limit ? fr : limit;
        clamped = clamped > -limit ? clamped : -limit;
        one->beyond[l] += fr != clamped ? 1.0 : 0.0;
        double px = fixed_round(clamped * dx), py = fixed_round(clamped * dy), pz = fixed_round(clamped * dz);
        one->f[0][l] += px;
        one->f[1][l] += py;
        one->f[2][l] += pz;
        fx[l] -= px;
        fy[l] -= py;
        fz[l] -= pz;
        if (energy) {
            one->virial[0][l] += fixed_round(-0.5 * dx * px);
            one->virial[1][l] += fixed_round(-0.5 * dx * py);
            one->virial[2][l] += fixed_round(-0.5 * dx * pz);
            one->virial[3][l] += fixed_round(-0.5 * dy * py);
            one->virial[4][l] += fixed_round(-0.5 * dy * pz);
            one->virial[5][l] += fixed_round(-0.5 * dz * pz);
        }
    }
}

INLINE void one_slot(const struct plain_pass *pass, struct one *one, const struct nb_range *r, const uint32_t *entries,
                     const bool has_lj, const bool energy, const struct variant kind)
{
    const uint32_t masked = kind.general ? r->end : r->full;
    for (uint32_t k = r->start; k < masked; k++)
        entry_pairs(pass, one, entries[k], true, has_lj, energy, kind);
    for (uint32_t k = masked; k < r->end && !kind.general; k++)
        entry_pairs(pass, one, entries[k], false, has_lj, energy, kind);
}

static double total(const double v[W])
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Exact, unless contributions were clamped. */
static void add_energies(struct accumulate *sum, const struct one *one)
{
    static const int place[6][2] = {{0, 0}, {1, 3}, {2, 6}, {4, 4}, {5, 7}, {8, 8}};
    acc_energy_within(sum, TERM_LJ, total(one->lj), FIXED_TOTAL_LIMIT);
    acc_energy_within(sum, TERM_COULOMB, total(one->coulomb), FIXED_TOTAL_LIMIT);
    acc_clamped(sum, TERM_LJ, (uint32_t)total(one->beyond_lj));
    acc_clamped(sum, TERM_COULOMB, (uint32_t)total(one->beyond_coulomb));
    for (int k = 0; k < 6; k++) {
        double v = total(one->virial[k]);
        acc_virial_within(sum, place[k][0], v, FIXED_TOTAL_LIMIT);
        if (place[k][0] != place[k][1])
            acc_virial_within(sum, place[k][1], v, FIXED_TOTAL_LIMIT);
    }
}

INLINE void all_slots(struct plain_pass *pass, const struct args_pairs *a, const bool energy, const struct variant kind)
{
    const struct nb_params *p = pass->p;
    const struct nb_range *ranges = a->ranges;
    struct ctl *c = a->ctl;
    struct one one;
    for (int32_t slot = 0; slot < p->nplain; slot++) {
        const struct nb_range *r = &ranges[slot];
        int64_t type = pass->s.type[slot];
        memset(&one, 0, sizeof one);
        for (int d = 0; d < 3; d++)
            one.x[d] = pass->s.x[d][slot];
        one.charge = UNIT_COULOMB * pass->s.charge[slot];
        one.row = p->lj + (size_t)type * (size_t)p->ntypes;
        if (p->has_lj[type])
            one_slot(pass, &one, r, a->entries, true, energy, kind);
        else
            one_slot(pass, &one, r, a->entries, false, energy, kind);
        for (int d = 0; d < 3; d++)
            pass->s.f[d][slot] += total(one.f[d]);
        acc_clamped(&c->sum, CLAMPED_FORCE, (uint32_t)total(one.beyond));
        if (energy)
            add_energies(&c->sum, &one);
    }
}

#define BY_ENERGY(with, without)                                                                                       \
    energy ? all_slots(pass, a, true, (struct variant){with, terms, general})                                          \
           : all_slots(pass, a, false, (struct variant){without, terms, general})

INLINE void all_kinds(struct plain_pass *pass, const struct args_pairs *a, const int terms, const bool general)
{
    bool energy = a->mode != EVALUATE_STEP;
    switch (pass->p->modifier) {
#define VDW(name, word, start, force, ...)                                                                             \
    case VDW_##name:                                                                                                   \
        BY_ENERGY(VDW_##name, VDW_##force);                                                                            \
        break;
#include "engine/math/vdw_modifiers.def"
    }
}

/* Positions into the slots, forces there to zero. */
static void refresh(const struct plain_pass *pass, const double *grid)
{
    const struct nb_params *p = pass->p;
    for (int d = 0; d < 3; d++) {
        const double *ud = grid + (size_t)d * (size_t)p->natoms;
        for (int32_t slot = 0; slot < p->nplain; slot++)
            pass->s.x[d][slot] = ud[pass->s.atom[slot]] + pass->s.wrap[d][slot];
        memset(pass->s.f[d], 0, (size_t)p->nslots * sizeof(double));
    }
}

ISA_FN(pairs)
{
    const struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    int64_t *f = a->f;
    if (c->halt)
        return;
    struct plain_pass pass = {.p = p,
                              .s = nb_slots_at(a->slots, p->nslots),
                              .coulomb2 = p->coulomb_cutoff * p->coulomb_cutoff,
                              .vdw2 = p->vdw_cutoff * p->vdw_cutoff};
    nb_grid_scale(c->box, pass.nm);
    for (int k = 0; k < 27; k++) {
        pass.box_shift[k][0] = (k / 9 - 1) * NB_GRID;
        pass.box_shift[k][1] = (k / 3 % 3 - 1) * NB_GRID;
        pass.box_shift[k][2] = (k % 3 - 1) * NB_GRID;
    }
    refresh(&pass, a->grid);
    if (p->ewald.terms > EWALD_TERMS_USUAL || box_triclinic(c->box))
        all_kinds(&pass, a, EWALD_TERMS, true);
    else
        all_kinds(&pass, a, EWALD_TERMS_USUAL, false);
    for (int32_t slot = 0; slot < p->nplain; slot++)
        for (int d = 0; d < 3; d++)
            f[3 * pass.s.atom[slot] + d] += fixed_clamped(pass.s.f[d][slot], FIXED_TOTAL_LIMIT);
}
