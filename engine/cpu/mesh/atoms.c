/* SPDX-License-Identifier: Apache-2.0
 *
 * Smooth particle-mesh Ewald (Essmann et al. 1995, doi 10.1063/1.470117): charges to the mesh and forces from it.
 * Charges on the mesh are multiples of 2^-40 e, held as doubles, so that their order does not matter.
 */
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/math/spline.h"
#include "engine/cpu/isa.h"
#include "engine/run/program.h"
#include "engine/cpu/nonbonded_tables.h"

#define MAX_ORDER 6
#define INLINE static inline __attribute__((always_inline))

/* One atom's place on the mesh: first point and spline weights per dimension, weights' derivatives per point. */
struct spline_spot {
    int32_t point[3][MAX_ORDER];
    double w[3][MAX_ORDER], dw[3][MAX_ORDER];
};

INLINE void find_spot(const struct nb_params *p, const double *grid, size_t atom, const int order,
                      struct spline_spot *s)
{
    for (size_t d = 0; d < 3; d++) {
        double f = grid[d * (size_t)p->natoms + atom] * (1 / NB_GRID);
        int32_t size = p->mesh.size[d];
        double t = (f - floor(f)) * size, at = floor(t);
        int32_t first = (int32_t)at;
        spline_weights_and_slopes(order, t - at, s->w[d], s->dw[d]);
        for (int k = 0; k < order; k++) {
            s->point[d][k] = first;
            first = first + 1 < size ? first + 1 : 0;
            if (s->point[d][k] >= size) /* t rounded up to the edge */
                s->point[d][k] -= size, first = s->point[d][k] + 1;
        }
    }
}

static double charge_of(const struct nb_params *p, const struct ctl *c, uint32_t change, size_t atom)
{
    return change ? p->change[atom] : MATH_FMA(c->lambda[LAMBDA_COULOMB], p->change[atom], p->charge[atom]);
}

INLINE void spread(const struct args_mesh_spread *a, const int order)
{
    const double magic = 6144.0; /* 1.5 * 2^12, where the last bit of a double is 2^-40 */
    const struct nb_params *p = a->params;
    const size_t ny = (size_t)p->mesh.size[1], nz = (size_t)p->mesh.size[2];
    double *mesh = a->mesh;
    for (int32_t i = 0; i < p->natoms; i++) {
        struct spline_spot s;
        double q = charge_of(p, a->ctl, a->change, (size_t)i);
        if (q == 0)
            continue;
        find_spot(p, a->grid, (size_t)i, order, &s);
        for (int x = 0; x < order; x++)
            for (int y = 0; y < order; y++) {
                double *row = mesh + ((size_t)s.point[0][x] * ny + (size_t)s.point[1][y]) * nz;
                double qxy = q * s.w[0][x] * s.w[1][y];
                for (int z = 0; z < order; z++)
                    row[s.point[2][z]] += (qxy * s.w[2][z] + magic) - magic;
            }
    }
}

ISA_FN(mesh_spread)
{
    const struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    if (c->halt)
        return;
    memset(a->mesh, 0, (size_t)p->mesh.size[0] * (size_t)p->mesh.size[1] * (size_t)p->mesh.size[2] * sizeof(double));
    switch (p->mesh.order) {
    case 4:
        spread(a, 4);
        break;
    case 5:
        spread(a, 5);
        break;
    default:
        spread(a, 6);
        break;
    }
}

/* Potential (kJ/mol/e) and force per charge of the mesh at one atom. */
INLINE double sample_mesh(const struct nb_params *p, const double *mesh, const struct spline_spot *s, const int order,
                          double f[3])
{
    const size_t ny = (size_t)p->mesh.size[1], nz = (size_t)p->mesh.size[2];
    double potential = 0, g[3] = {0, 0, 0};
    for (int x = 0; x < order; x++)
        for (int y = 0; y < order; y++) {
            const double *row = mesh + ((size_t)s->point[0][x] * ny + (size_t)s->point[1][y]) * nz;
            double v = 0, dv = 0;
            for (int z = 0; z < order; z++) {
                double m = row[s->point[2][z]];
                v = MATH_FMA(m, s->w[2][z], v);
                dv = MATH_FMA(m, s->dw[2][z], dv);
            }
            double wy = s->w[1][y] * v;
            potential = MATH_FMA(s->w[0][x], wy, potential);
            g[0] = MATH_FMA(s->dw[0][x], wy, g[0]);
            g[1] = MATH_FMA(s->w[0][x] * s->dw[1][y], v, g[1]);
            g[2] = MATH_FMA(s->w[0][x] * s->w[1][y], dv, g[2]);
        }
    for (int d = 0; d < 3; d++)
        f[d] = -g[d];
    return potential;
}

INLINE void gather(const struct args_mesh_gather *a, struct accumulate *acc, const int order)
{
    const struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    int64_t(*f)[3] = a->f;
    const double times = evaluates_energies(a->mode) ? 1 : p->mesh.impulse;
    double slope = 0, inverse[BOX_SIZE];
    box_invert(c->box, inverse);
    for (int32_t i = 0; i < p->natoms; i++) {
        struct spline_spot s;
        double force[3], q = charge_of(p, c, 0, (size_t)i);
        if (q == 0 && p->change[i] == 0)
            continue;
        find_spot(p, a->grid, (size_t)i, order, &s);
        double potential = sample_mesh(p, a->mesh, &s, order, force);
        for (int d = 0; d < 3; d++)
            force[d] *= times * q * p->mesh.size[d];
        box_gradient(inverse, force, force);
        acc_force(acc, f[i], force);
        slope += p->change[i] * potential;
    }
    if (p->nperturbed == 0)
        return;
    if (evaluates_energies(a->mode))
        acc_dvdl_within(acc, LAMBDA_COULOMB, slope, FIXED_TOTAL_LIMIT);
    struct fixed_sum *energy_at_window = a->energy_at_window;
    const struct foreign_rows rows = foreign_rows_of(a->mode, c, p->window, (uint32_t)p->nwindows);
    for (uint32_t w = 0; w < rows.n; w++)
        acc_window(&energy_at_window[w], (rows.lambda[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB]) * slope,
                   FIXED_TOTAL_LIMIT);
}

ISA_FN(mesh_gather)
{
    struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    struct accumulate acc = {0};
    if (c->halt)
        return;
    switch (p->mesh.order) {
    case 4:
        gather(a, &acc, 4);
        break;
    case 5:
        gather(a, &acc, 5);
        break;
    default:
        gather(a, &acc, 6);
        break;
    }
    acc_finish(&acc, &c->sum);
}
