/* SPDX-License-Identifier: Apache-2.0
 *
 * Which waves a tiny system's mesh needs. A wave's share of the force on an atom of charge q is at most
 *   |q| sum|q| G(k) prod B_d(k_d)^2 sum_d D_d(k_d)/(w_d B_d(k_d))
 * where w_d is the distance of opposite faces, G the influence function (the largest of any signs of k), and B_d and
 * D_d bound the spline's transform along one axis and its slope, wherever the atom is: by Poisson's summation a spline
 * of order p at wave k of n has the transform sum_m s(k/n + m) with |s(f)| = |sinc(f)|^p, and its slope is the sum of 2
 * pi (k/n + m) s(k/n + m). The waves whose bounds add up to WAVES_LEFT of all waves' bounds are left out, the weakest
 * first; so what is missing of any force is less than that part of the bound of the largest force there could be. Where
 * the box may change nothing is left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/cuda/tiny/tiny.h"
#include "engine/prepare/ewald.h"

#define WAVES_LEFT 1e-6
#define ALIASES 50 /* m of the sums above on each side; the next of order 4 is 1e-9 */

enum { FUNCTIONS_MOST = 255, COLUMN_COST = 3 /* quads that a column costs besides its own */ };

/* Along one axis, for wave k of 0 .. n/2. */
struct axis_bounds {
    int32_t half;                                        /* n/2 */
    double value[FUNCTIONS_MOST], slope[FUNCTIONS_MOST]; /* slope: per fraction of the box */
    double modulus[2 * FUNCTIONS_MOST];
};

struct wave {
    double bound;
    uint8_t k[3];
};

static double sinc(double f)
{
    return f == 0 ? 1 : sin(M_PI * f) / (M_PI * f);
}

static void bound_axis(struct axis_bounds *a, int32_t points, int order)
{
    a->half = points / 2;
    mesh_modulus(a->modulus, points, order);
    for (int32_t k = 0; k <= a->half; k++) {
        a->value[k] = a->slope[k] = 0;
        for (int m = -ALIASES; m <= ALIASES; m++) {
            double f = (double)k / points + m, s = pow(fabs(sinc(f)), order);
            a->value[k] += s;
            a->slope[k] += 2 * M_PI * fabs(f) * s * points;
        }
    }
}

/* Waves of either sign along an axis. */
static int alike(int k, int32_t points)
{
    return k == 0 || 2 * k == points ? 1 : 2;
}

/* Least of the squares of the wave vectors +-k_x, +-k_y, +-k_z, 1/nm^2. */
static double least_square(const double inverse[BOX_SIZE], const int k[3])
{
    double least = INFINITY;
    for (int sign = 0; sign < 4; sign++) {
        const double g[3] = {k[0], sign & 1 ? -k[1] : k[1], sign & 2 ? -k[2] : k[2]};
        double m[3];
        box_gradient(inverse, g, m);
        least = fmin(least, vec_dot(m, m));
    }
    return least;
}

/* Relative to the others. */
static double bound_of(const struct axis_bounds axis[3], const double box[BOX_SIZE], double beta, const int32_t size[3],
                       const int k[3])
{
    double inverse[BOX_SIZE], width[3], bound = 1, slope = 0;
    box_invert(box, inverse);
    box_widths(box, width);
    for (int d = 0; d < 3; d++) {
        const double value = axis[d].value[k[d]];
        bound *= alike(k[d], size[d]) * value * value / axis[d].modulus[k[d]];
        slope += axis[d].slope[k[d]] / (value * width[d]);
    }
    const double square = least_square(inverse, k);
    return square > 0 ? bound * slope * exp(-M_PI * M_PI * square / (beta * beta)) / square : 0;
}

static int by_bound(const void *a, const void *b)
{
    const struct wave *x = a, *y = b;
    return (x->bound > y->bound) - (x->bound < y->bound);
}

/* last[kx][ky]: the largest wave along z that is needed; -1: none is. */
static void choose(int16_t *last, const struct axis_bounds axis[3], const double box[BOX_SIZE], double beta,
                   const int32_t size[3], double left)
{
    const int nx = axis[0].half + 1, ny = axis[1].half + 1, nz = axis[2].half + 1;
    size_t count = (size_t)nx * (size_t)ny * (size_t)nz, n = 0;
    struct wave *waves = xcalloc(count, sizeof *waves);
    double all = 0, out = 0;
    for (int k[3] = {0, 0, 0}; k[0] < nx; k[0]++)
        for (k[1] = 0; k[1] < ny; k[1]++)
            for (k[2] = 0; k[2] < nz; k[2]++) {
                double bound = bound_of(axis, box, beta, size, k);
                waves[n++] = (struct wave){bound, {(uint8_t)k[0], (uint8_t)k[1], (uint8_t)k[2]}};
                all += bound;
            }
    qsort(waves, n, sizeof *waves, by_bound);
    for (int i = 0; i < nx * ny; i++)
        last[i] = -1;
    for (size_t i = 0; i < n; i++) {
        out += waves[i].bound;
        int16_t *l = &last[waves[i].k[0] * ny + waves[i].k[1]];
        if (out > left * all && waves[i].k[2] > *l)
            *l = waves[i].k[2];
    }
    free(waves);
}

/* Functions of an axis up to wave k. */
static uint32_t functions_to(int k, int32_t points)
{
    return (uint32_t)(2 * k == points ? 2 * k : 2 * k + 1);
}

static uint32_t column_quads(const struct tiny_column *c)
{
    return (c->count + 3u) / 4;
}

/* Those with as many quads side by side, so that threads of a warp have as much to do; then by x, which a warp needs
 * less often than y. */
static int by_length(const void *a, const void *b)
{
    const struct tiny_column *x = a, *y = b;
    uint32_t p = column_quads(x), q = column_quads(y);
    if (x->z != y->z)
        return x->z - y->z;
    if (p != q)
        return p < q ? 1 : -1;
    return x->x != y->x ? x->x - y->x : x->y - y->y;
}

static void put_columns(struct tiny *t, const int16_t *last, const int32_t size[3], int ny)
{
    struct tiny_table *h = &t->host;
    for (uint32_t x = 0; x < h->functions[0]; x++)
        for (uint32_t y = 0; y < h->functions[1]; y++) {
            int k = last[(x + 1) / 2 * (uint32_t)ny + (y + 1) / 2];
            uint32_t count = k < 0 ? 0 : functions_to(k, size[2]);
            for (uint32_t from = 0; from < count; from += 4 * TINY_QUADS) {
                uint32_t own = count - from < 4 * TINY_QUADS ? count - from : 4 * TINY_QUADS;
                t->column[h->ncolumns++] =
                    (struct tiny_column){(uint8_t)x, (uint8_t)y, (uint8_t)(from / 4), (uint8_t)own, 0, 1};
            }
        }
    qsort(t->column, h->ncolumns, sizeof *t->column, by_length);
    for (uint32_t i = 0; i < h->ncolumns; i++) {
        t->column[i].at = (uint16_t)h->nvalues;
        h->nvalues += column_quads(&t->column[i]);
    }
    for (uint32_t i = h->ncolumns; i-- > 1;) {
        struct tiny_column *here = &t->column[i - 1], *next = &t->column[i];
        if (here->z == next->z && column_quads(here) == column_quads(next))
            here->alike = (uint16_t)(next->alike + 1);
    }
}

/* As much to do for each of the shares that have the same atoms. */
static void share_out(struct tiny *t)
{
    struct tiny_table *h = &t->host;
    const uint32_t parts = TINY_SHARES / h->groups;
    const uint64_t all = h->nvalues + COLUMN_COST * (uint64_t)h->ncolumns;
    uint64_t cost = 0;
    for (uint32_t i = 0, part = 0; i < h->ncolumns; i++) {
        cost += column_quads(&t->column[i]) + COLUMN_COST;
        while (part < parts && cost * parts >= (part + 1) * all)
            h->part[++part] = i + 1;
    }
}

/* Of a triclinic box: the products that have the same waves. */
static void put_octets(struct tiny *t)
{
    struct tiny_table *h = &t->host;
    const uint32_t ny = (h->functions[1] + 2) / 2, nz = (h->functions[2] + 2) / 2, nx = (h->functions[0] + 2) / 2;
    t->octet = xcalloc((size_t)nx * ny * nz, sizeof *t->octet);
    uint32_t *number = xcalloc((size_t)nx * ny * nz, sizeof *number); /* from 1 */
    for (uint32_t i = 0; i < h->ncolumns; i++) {
        const struct tiny_column *c = &t->column[i];
        for (uint32_t n = 0; n < c->count; n++) {
            const uint32_t function[3] = {c->x, c->y, 4u * c->z + n};
            uint32_t k[3], part = 0;
            for (int d = 0; d < 3; d++) {
                k[d] = (function[d] + 1) / 2;
                part = 2 * part + (function[d] > 0 && function[d] % 2 == 0);
            }
            uint32_t *own = &number[(k[0] * ny + k[1]) * nz + k[2]];
            if (!*own) {
                *own = ++h->noctets;
                t->octet[*own - 1] = (struct tiny_octet){.k = {(uint8_t)k[0], (uint8_t)k[1], (uint8_t)k[2]}};
                memset(t->octet[*own - 1].at, 0xff, sizeof t->octet->at);
            }
            t->octet[*own - 1].at[part] = (uint16_t)(4 * c->at + n);
        }
    }
    free(number);
}

int tiny_columns_make(struct tiny *t, const struct system *sys, const struct settings *set, const struct mesh *mesh,
                      struct err *e)
{
    struct tiny_table *h = &t->host;
    int32_t size[3];
    for (int d = 0; d < 3; d++)
        size[d] = mesh->host.axis[d].size;
    if (!mesh->meshed)
        return 0;
    if (size[0] > FUNCTIONS_MOST || size[1] > FUNCTIONS_MOST || size[2] > FUNCTIONS_MOST)
        return err_set(e, ERR_UNSUPPORTED, "a mesh of %d x %d x %d: expected at most %d along an edge", size[0],
                       size[1], size[2], FUNCTIONS_MOST);
    struct axis_bounds *axis = xcalloc(3, sizeof *axis);
    for (int d = 0; d < 3; d++)
        bound_axis(&axis[d], size[d], set->nonbonded.pme_order);
    const int nx = axis[0].half + 1, ny = axis[1].half + 1;
    int16_t *last = xcalloc((size_t)nx * (size_t)ny, sizeof *last);
    const double beta = ewald_beta(set->nonbonded.coulomb_cutoff, set->nonbonded.ewald_tolerance);
    choose(last, axis, sys->box, beta, size, set->barostat.on ? 0 : WAVES_LEFT);
    int most[3] = {0, 0, 0};
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < ny; y++)
            if (last[x * ny + y] >= 0) {
                most[0] = x > most[0] ? x : most[0];
                most[1] = y > most[1] ? y : most[1];
                most[2] = last[x * ny + y] > most[2] ? last[x * ny + y] : most[2];
            }
    for (int d = 0; d < 3; d++)
        h->functions[d] = functions_to(most[d], size[d]);
    const size_t chunks = (h->functions[2] + 4 * TINY_QUADS - 1) / (4 * TINY_QUADS);
    t->column = xcalloc(h->functions[0] * (size_t)h->functions[1] * chunks, sizeof *t->column);
    put_columns(t, last, size, ny);
    share_out(t);
    const bool fits = 4 * h->nvalues < NO_PRODUCT;
    if (fits && box_triclinic(sys->box))
        put_octets(t);
    free(last);
    free(axis);
    return fits ? 0
                : err_set(e, ERR_UNSUPPORTED, "%u waves: expected fewer than %u", 4 * h->nvalues, (unsigned)NO_PRODUCT);
}
