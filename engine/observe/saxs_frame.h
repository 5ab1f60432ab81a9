/* SPDX-License-Identifier: Apache-2.0
 *
 * Small-angle X-ray scattering of a frame: what is done to one atom and to one wave vector. With f_e the form factor of
 * element e, over all its atoms j and for wave vectors q of the cell's reciprocal lattice, F(q) = sum over e of
 * f_e(|q|) (S_e(q) - rho_e V Phi(q)),   S_e(q) = sum over j of exp(-i q r_j),   I(q) = |F(q)|^2 S_e is the transform of
 * B-splines of the atoms on a grid, divided by W(q), that of one spline. The cell is the box, or larger by a factor
 * along each edge; there rho_e (1/nm^3) fills what lies outside of the box, whose volume is V and whose transform is V
 * Phi: what is uniform over the whole cell has none. Devices bring the loops, and the transform.
 */
#ifndef SHOAL_ENGINE_OBSERVE_SAXS_FRAME_H
#define SHOAL_ENGINE_OBSERVE_SAXS_FRAME_H

#include <stdint.h>
#include <stdlib.h>

#include "engine/math/accumulate.h"
#include "engine/math/box.h"
#include "engine/math/scattering.h"

/* Of one I(q), in the table's unit. Launches that are timed add up to more than all electrons can come to. */
#define SAXS_MOST 0x1.fffffffffffffp61
#define SAXS_Q_UNIT 1048576.0 /* 2^20 per 1/nm, in sums of |q| */

struct saxs_species {
    struct form_factor factor;
    double density; /* rho_e, 1/nm^3; below zero: that of its atoms in the box */
    uint32_t first, count;
};

/* Read-only, in device memory. */
struct saxs_table {
    int32_t size[3], modes[3]; /* points of the grid; the highest wave that is held along each edge */
    int32_t order, natoms, nchains, nspecies, nbins;
    int32_t whole;         /* atoms of a chain are placed beside each other; else in the box */
    double part;           /* an edge of the box over that of the cell */
    double max, bin;       /* largest |q| and width of a bin, 1/nm */
    double unit;           /* of sums of I(q), electrons^2: a power of two */
    const int32_t *atom;   /* [natoms] the selection */
    const int32_t *chain;  /* [nchains + 1] where chains of it begin */
    const int32_t *member; /* [natoms] numbers in the selection, species after species */
    const struct saxs_species *species;
    const double *inverse_w[3]; /* [modes + 1] 1 / W along each edge */
};

/* Points of the grid, and of its transform: [x][y][size[2] / 2 + 1]. */
MATH_FN uint64_t saxs_points(const struct saxs_table *t)
{
    return (uint64_t)t->size[0] * (uint64_t)t->size[1] * (uint64_t)t->size[2];
}

MATH_FN uint64_t saxs_half_points(const struct saxs_table *t)
{
    return (uint64_t)t->size[0] * (uint64_t)t->size[1] * (uint64_t)(t->size[2] / 2 + 1);
}

/* What a frame comes to: sums over the wave vectors of each bin, and over their opposites. Bin k is k bin <= |q| < (k +
 * 1) bin. */
struct saxs_bin {
    struct fixed_sum intensity; /* in units of the table's */
    int64_t q, count;           /* of |q|, in 1 / SAXS_Q_UNIT; wave vectors */
};

/* What a block of frames holds of it: doubles, [nbins] each of the three, and the sum of the boxes' volumes, nm^3. */
enum saxs_real { SAXS_INTENSITY, SAXS_Q, SAXS_COUNT, SAXS_VOLUME };

/* A frame's cell. */
struct saxs_cell {
    double inverse[BOX_SIZE]; /* of the cell, 1/nm */
    double volume;            /* of the box */
    int32_t m[3];             /* highest waves up to `max` */
};

MATH_FN struct saxs_cell saxs_cell_of(const struct saxs_table *t, const double box[BOX_SIZE])
{
    struct saxs_cell c;
    double edge[3];
    box_edges(box, edge);
    box_invert(box, c.inverse);
    c.volume = box_volume(box);
    for (int k = 0; k < BOX_SIZE; k++)
        c.inverse[k] *= t->part;
    for (int d = 0; d < 3; d++) { /* q . edge = 2 pi m */
        const double most = floor(t->max * edge[d] / (2 * M_PI * t->part));
        c.m[d] = most > t->modes[d] ? t->modes[d] : (int32_t)most;
    }
    return c;
}

/* Wave vectors of a half of them, the other half is opposite: numbers of m[0] from -c.m[0] on, and so on. */
MATH_FN uint32_t saxs_waves(const struct saxs_cell *c)
{
    return (uint32_t)(2 * c->m[0] + 1) * (uint32_t)(2 * c->m[1] + 1) * (uint32_t)(c->m[2] + 1);
}

struct saxs_wave {
    int32_t m[3];
    double q2; /* |q|^2, 1/nm^2 */
};

MATH_FN struct saxs_wave saxs_wave_of(const struct saxs_cell *c, uint32_t i)
{
    const uint32_t nz = (uint32_t)c->m[2] + 1, ny = 2 * (uint32_t)c->m[1] + 1;
    struct saxs_wave w = {{(int32_t)(i / (ny * nz)) - c->m[0], (int32_t)(i / nz % ny) - c->m[1], (int32_t)(i % nz)}, 0};
    const double m[3] = {(double)w.m[0], (double)w.m[1], (double)w.m[2]};
    double q[3];
    box_gradient(c->inverse, m, q);
    w.q2 = 4 * M_PI * M_PI * vec_dot(q, q);
    return w;
}

/* Where the transform of the grid has it. */
MATH_FN uint64_t saxs_point(const struct saxs_table *t, const struct saxs_wave *w)
{
    const uint64_t x = (uint64_t)(w->m[0] < 0 ? w->m[0] + t->size[0] : w->m[0]);
    const uint64_t y = (uint64_t)(w->m[1] < 0 ? w->m[1] + t->size[1] : w->m[1]);
    return (x * (uint64_t)t->size[1] + y) * (uint64_t)(t->size[2] / 2 + 1) + (uint64_t)w->m[2];
}

/* One element's share of F. s: of the transform, or zeros where the element has no atoms. */
MATH_FN void saxs_share(const struct saxs_table *t, const struct saxs_cell *c, const struct saxs_species *e,
                        const struct saxs_wave *w, const double s[2], double share[2])
{
    const double f = form_factor(&e->factor, w->q2);
    const double grid = t->inverse_w[0][abs(w->m[0])] * t->inverse_w[1][abs(w->m[1])] * t->inverse_w[2][w->m[2]];
    double phi[2] = {0, 0};
    if (t->part < 1) {
        phi[0] = e->density < 0 ? e->count : e->density * c->volume;
        for (int d = 0; d < 3; d++) {
            double edge[2];
            edge_wave(w->m[d], t->part, edge);
            const double re = phi[0] * edge[0] - phi[1] * edge[1];
            phi[1] = phi[0] * edge[1] + phi[1] * edge[0];
            phi[0] = re;
        }
    }
    share[0] = f * (s[0] * grid - phi[0]);
    share[1] = f * (s[1] * grid - phi[1]);
}

/* I(q) of one wave vector, and of its opposite, into its bin. */
MATH_FN void saxs_count(const struct saxs_table *t, const struct saxs_wave *w, const double f[2], struct saxs_bin *bins)
{
    const double q = sqrt(w->q2);
    const int32_t k = (int32_t)(q / t->bin), twice = w->m[2] ? 2 : 1;
    if (w->q2 == 0 || k >= t->nbins)
        return;
    const double intensity = fmin((f[0] * f[0] + f[1] * f[1]) / t->unit, SAXS_MOST);
    acc_sum(&bins[k].intensity, twice * (int64_t)rint(intensity));
    acc_add(&bins[k].q, twice * (int64_t)rint(q * SAXS_Q_UNIT));
    acc_add(&bins[k].count, twice);
}

/* A frame's bin k to the block's sums. */
MATH_FN void saxs_keep(const struct saxs_table *t, const struct saxs_bin *bin, int32_t k, double *reals)
{
    const struct fixed_sum *i = &bin->intensity;
    reals[SAXS_INTENSITY * t->nbins + k] += t->unit * ((double)i->wraps * 18446744073709551616.0 + (double)i->low);
    reals[SAXS_Q * t->nbins + k] += (double)bin->q / SAXS_Q_UNIT;
    reals[SAXS_COUNT * t->nbins + k] += (double)bin->count;
}

/* Places the atoms of one chain, in fractions of the cell: in the box, or whole, that is each where it is nearest to
 * the one before it, and the first where it is nearest to the first of the selection. x: positions of all atoms, nm. */
MATH_FN void saxs_place_chain(const struct saxs_table *t, const double box[BOX_SIZE], const double (*x)[3],
                              int32_t chain, double (*place)[3])
{
    double inverse[BOX_SIZE], at[3], step[3];
    const double *before = x[t->atom[0]];
    box_invert(box, inverse);
    box_apply(inverse, before, at);
    for (int32_t i = t->chain[chain]; i < t->chain[chain + 1]; i++) {
        const double *here = x[t->atom[i]];
        if (t->whole) {
            box_image(here, before, box, step);
            box_apply(inverse, step, step);
            vec_add(at, 1, step);
            before = here;
        } else {
            box_apply(inverse, here, at);
        }
        for (int d = 0; d < 3; d++)
            place[i][d] = t->part * (t->whole ? at[d] : at[d] - floor(at[d]));
    }
}

/* First point of the grid that an atom touches along an edge, and how far it is beyond that, 0 to 1: the spline has its
 * middle where the atom is. */
MATH_FN int32_t saxs_first_point(const struct saxs_table *t, double place, int d, double *beyond)
{
    const double at = (place - floor(place)) * t->size[d] - 0.5 * (t->order - 2), first = floor(at);
    *beyond = at - first;
    return (int32_t)first;
}

/* first + k of size points in a circle; first from -order on, at most size. */
MATH_FN int32_t saxs_wrapped(int32_t point, int32_t size)
{
    point += point < 0 ? size : 0;
    return point >= size ? point - size : point;
}

#endif
