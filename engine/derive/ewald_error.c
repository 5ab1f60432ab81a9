/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/ewald_error.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/math/box.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/ewald.h"

#define DISTANCE 0.01    /* nm, a bin of excluded pairs */
#define LEAST_SHARE 0.02 /* of the charges, in which excluded pairs never screen all of them */
#define ALIASES 2        /* images of a wave on the mesh, to either side, that count */
#define POINTS_MOST 32   /* along an edge; an error depends on the distance of points, not on how many there are */
#define WAVES 256        /* lengths of waves at which charges are looked at */

/* ---- charges ---- */

static double distance_of(const struct system *sys, int i, int j)
{
    double d[3];
    box_image(sys->x[i], sys->x[j], sys->box, d);
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static void add_excluded(struct ewald_charges *c, const struct system *sys, const struct alchemy_settings *al, int end,
                         int i)
{
    double own[2], other[2];
    alchemy_charges(sys, al, i, own);
    for (int k = sys->exclusion_start[i]; k < sys->exclusion_start[i + 1]; k++) {
        const double r = distance_of(sys, i, sys->exclusion[k]);
        alchemy_charges(sys, al, sys->exclusion[k], other);
        if (r < EWALD_DISTANCES * DISTANCE)
            c->excluded[(int)(r / DISTANCE)] += own[end] * other[end];
    }
}

void ewald_charges_of(struct ewald_charges *c, const struct system *sys, const struct alchemy_settings *al)
{
    double square[2] = {0, 0}, q[2];
    int charged[2] = {0, 0};
    *c = (struct ewald_charges){.natoms = sys->natoms, .bare = 2 * sys->nsettles};
    memcpy(c->box, sys->box, sizeof c->box);
    for (int i = 0; i < sys->natoms; i++) {
        alchemy_charges(sys, al, i, q);
        for (int end = 0; end < 2; end++) {
            square[end] += q[end] * q[end];
            charged[end] += q[end] != 0;
        }
    }
    const int end = square[1] > square[0];
    c->square = square[end];
    c->mean = charged[end] ? square[end] / charged[end] : 0;
    for (int i = 0; i < sys->natoms && c->square > 0; i++)
        add_excluded(c, sys, al, end, i);
}

/* ---- direct space ---- */

/* Within 1 / (2 beta^2 cut-off) of the cut-off pairs that are left out have their force: an average over waves of the
 * width of that shell. */
static double direct_error(const struct ewald_charges *c, double cutoff, double beta)
{
    const double steep = 2 * beta * beta * cutoff;
    double felt = c->square;
    for (int k = 0; k < EWALD_DISTANCES; k++) {
        const double z = steep * (k + 0.5) * DISTANCE;
        felt += c->excluded[k] * -expm1(-z) / z;
    }
    felt = fmax(felt, LEAST_SHARE * c->square);
    return 2 * exp(-beta * beta * cutoff * cutoff) * sqrt(c->mean * felt / (cutoff * box_volume(c->box)));
}

/* ---- the mesh ---- */

/* An axis of the mesh: of each wave n = 0 .. size / 2, by which the waves -n are like it. */
struct error_axis {
    int waves;
    double weight[POINTS_MOST]; /* 2: there is one of -n, too */
    double k2[POINTS_MOST];     /* squared length, 1/nm^2 */
    double modulus[POINTS_MOST];
    double first[POINTS_MOST];  /* squared amplitude of the spline */
    double sum[POINTS_MOST];    /* squared amplitudes of the spline and its aliases, added up */
    double sum_k2[POINTS_MOST]; /* the same, each times its squared length */
};

static double sinc(double x)
{
    return x == 0 ? 1 : sin(x) / x;
}

static void axis_make(struct error_axis *a, int points, double apart, int order)
{
    double modulus[POINTS_MOST];
    mesh_modulus(modulus, points, order);
    a->waves = points / 2 + 1;
    assert(a->waves <= POINTS_MOST);
    for (int n = 0; n < a->waves; n++) {
        a->weight[n] = n == 0 || 2 * n == points ? 1 : 2;
        a->modulus[n] = modulus[n];
        a->sum[n] = a->sum_k2[n] = 0;
        for (int m = -ALIASES; m <= ALIASES; m++) {
            const double turns = (double)n / points + m, k = 2 * M_PI * turns / apart;
            const double u = pow(sinc(M_PI * turns), order), u2 = u * u;
            a->sum[n] += u2;
            a->sum_k2[n] += u2 * k * k;
            if (m == 0) {
                a->first[n] = u2;
                a->k2[n] = k * k;
            }
        }
    }
}

/* Squared charge that a wave sees, by its length in steps of `step`. */
struct charges_seen {
    double step, square[WAVES + 1];
};

static void seen_make(struct charges_seen *s, const struct ewald_charges *c, double longest)
{
    s->step = longest / (WAVES - 1);
    for (int w = 0; w <= WAVES; w++) {
        s->square[w] = c->square;
        for (int k = 0; k < EWALD_DISTANCES; k++)
            s->square[w] += c->excluded[k] * sinc(w * s->step * (k + 0.5) * DISTANCE);
        s->square[w] = fmax(s->square[w], LEAST_SHARE * c->square);
    }
}

static double seen_at(const struct charges_seen *s, double k)
{
    const int w = (int)(k / s->step);
    return s->square[w] + (k / s->step - w) * (s->square[w + 1] - s->square[w]);
}

/* What one wave adds: the difference of its field on the mesh to the true one, and what its aliases do. */
static double wave_error(const struct error_axis a[3], const int n[3], double beta, const struct charges_seen *seen,
                         double all)
{
    const struct error_axis *x = &a[0], *y = &a[1], *z = &a[2];
    const double k2 = x->k2[n[0]] + y->k2[n[1]] + z->k2[n[2]];
    const double field = 4 * M_PI / k2 * exp(-k2 / (4 * beta * beta));
    const double meshed = field / (x->modulus[n[0]] * y->modulus[n[1]] * z->modulus[n[2]]);
    const double first = x->first[n[0]] * y->first[n[1]] * z->first[n[2]];
    const double sum = x->sum[n[0]] * y->sum[n[1]] * z->sum[n[2]];
    const double sum_k2 = x->sum_k2[n[0]] * y->sum[n[1]] * z->sum[n[2]] +
                          x->sum[n[0]] * y->sum_k2[n[1]] * z->sum[n[2]] + x->sum[n[0]] * y->sum[n[1]] * z->sum_k2[n[2]];
    const double own = field * field * k2 + meshed * meshed * first * sum_k2 - 2 * meshed * field * first * k2;
    return seen_at(seen, sqrt(k2)) * own + all * meshed * meshed * (sum - first) * sum_k2;
}

static double mesh_error(const struct ewald_charges *c, const int32_t size[3], int order, double beta)
{
    struct error_axis a[3];
    struct charges_seen seen;
    double edge[3], volume = 1, longest2 = 0, sum = 0;
    int n[3];
    box_edges(c->box, edge);
    for (int d = 0; d < 3; d++) {
        const double apart = edge[d] / size[d];
        const int points = size[d] < POINTS_MOST ? size[d] : POINTS_MOST;
        axis_make(&a[d], points, apart, order);
        volume *= points * apart;
        longest2 += a[d].k2[a[d].waves - 1];
    }
    seen_make(&seen, c, sqrt(longest2));
    for (n[0] = 0; n[0] < a[0].waves; n[0]++)
        for (n[1] = 0; n[1] < a[1].waves; n[1]++)
            for (n[2] = !n[0] && !n[1]; n[2] < a[2].waves; n[2]++)
                sum += a[0].weight[n[0]] * a[1].weight[n[1]] * a[2].weight[n[2]] *
                       wave_error(a, n, beta, &seen, c->square);
    return sqrt(c->mean * fmax(sum, 0) / (volume * box_volume(c->box)));
}

struct ewald_error ewald_error_of(const struct ewald_charges *c, const struct nonbonded_settings *set)
{
    const double beta = ewald_beta(set->coulomb_cutoff, set->ewald_tolerance);
    const double unit = UNIT_COULOMB * coulomb_screening(set);
    int32_t size[3];
    struct err e = {0};
    if (c->square == 0 || mesh_sizes(size, c->box, set, &e))
        return (struct ewald_error){0, 0, 0};
    struct ewald_error out = {.direct = unit * direct_error(c, set->coulomb_cutoff, beta),
                              .mesh = unit * mesh_error(c, size, set->pme_order, beta)};
    out.total = hypot(out.direct, out.mesh);
    return out;
}
