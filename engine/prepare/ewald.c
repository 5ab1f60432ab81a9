/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/ewald.h"

#include <assert.h>
#include <complex.h>
#include <math.h>

#include "engine/math/box.h"
#include "engine/math/spline.h"

#define NODES 64        /* Chebyshev nodes of the fit */
#define FIT_ERROR 3e-11 /* of the largest force that the mesh takes over at short distance */

double ewald_beta(double cutoff, double tolerance)
{
    double low = 0, high = 1 / cutoff;
    while (erfc(high * cutoff) > tolerance)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (erfc(middle * cutoff) > tolerance)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* erf(z)/z and its derivative with respect to s = z^2; near zero by the power series of erf. */
static void entire(double s, double *value, double *slope)
{
    const double c = M_2_SQRTPI;
    if (s < 0.5) {
        double term = 1, v = 0, d = 0;
        for (int k = 0; k < 20; k++) {
            v += term / (2 * k + 1); /* (-s)^k / k! / (2k+1) */
            d -= term / (2 * k + 3); /* derivative of the next term */
            term *= -s / (k + 1);
        }
        *value = c * v;
        *slope = c * d;
    } else {
        double z = sqrt(s);
        *value = erf(z) / z;
        *slope = (c * exp(-s) - *value) / (2 * s);
    }
}

static double chebyshev(const double samples[NODES], int j)
{
    double c = 0;
    for (int k = 0; k < NODES; k++)
        c += samples[k] * cos(j * M_PI * (k + 0.5) / NODES);
    return c * (j ? 2.0 : 1.0) / NODES;
}

/* Chebyshev coefficients of samples at the nodes, turned into powers of t. */
static void powers(double *out, int terms, const double samples[NODES], double factor)
{
    double was[EWALD_TERMS] = {1}, is[EWALD_TERMS] = {0, 1};
    for (int k = 0; k < EWALD_TERMS; k++)
        out[k] = 0;
    for (int j = 0; j < terms; j++) {
        double c = factor * chebyshev(samples, j);
        for (int k = 0; k < EWALD_TERMS; k++)
            out[k] += c * was[k];
        double next[EWALD_TERMS]; /* T(j+2) = 2 t T(j+1) - T(j) */
        for (int k = 0; k < EWALD_TERMS; k++)
            next[k] = (k ? 2 * is[k - 1] : 0) - was[k];
        for (int k = 0; k < EWALD_TERMS; k++) {
            was[k] = is[k];
            is[k] = next[k];
        }
    }
}

void ewald_fit_make(struct ewald_fit *fit, double beta, double cutoff)
{
    double s_max = beta * beta * cutoff * cutoff * (1 + 1e-9);
    double value[NODES], slope[NODES];
    for (int k = 0; k < NODES; k++)
        entire(0.5 * s_max * (1 + cos(M_PI * (k + 0.5) / NODES)), &value[k], &slope[k]);
    fit->beta = beta;
    fit->r2_max = s_max / (beta * beta);
    fit->scale = 2 / fit->r2_max;
    /* what the usual degree leaves out, relative to the largest slope; the value's share is always smaller */
    double left = 0;
    for (int j = EWALD_TERMS_USUAL; j < NODES / 2; j++)
        left += fabs(chebyshev(slope, j));
    fit->terms = left > FIT_ERROR * fabs(slope[NODES - 1]) ? EWALD_TERMS : EWALD_TERMS_USUAL;
    powers(fit->v, fit->terms, value, beta);
    powers(fit->f, fit->terms, slope, -2 * beta * beta * beta);
}

struct reaction_field reaction_field_of(const struct nonbonded_settings *set)
{
    double rc = set->coulomb_cutoff, eps = set->epsilon_rf * coulomb_screening(set);
    double k = (eps > 0 ? (eps - 1) / (2 * eps + 1) : 0.5) / (rc * rc * rc);
    return (struct reaction_field){k, 1 / rc + k * rc * rc};
}

void coulomb_fit_make(struct ewald_fit *fit, const struct nonbonded_settings *set)
{
    if (set->coulomb_method == COULOMB_PME) {
        ewald_fit_make(fit, ewald_beta(set->coulomb_cutoff, set->ewald_tolerance), set->coulomb_cutoff);
        return;
    }
    double k = reaction_field_of(set).k;
    *fit = (struct ewald_fit){.scale = 1, .r2_max = INFINITY, .terms = EWALD_TERMS_USUAL};
    fit->v[0] = fit->v[1] = -k; /* t = r^2 - 1 */
    fit->f[0] = 2 * k;
}

double coulomb_shift_of(const struct nonbonded_settings *set)
{
    double rc = set->coulomb_cutoff;
    if (set->coulomb_method == COULOMB_REACTION_FIELD)
        return reaction_field_of(set).c;
    return set->coulomb_modifier == COULOMB_POTENTIAL_SHIFT ? erfc(ewald_beta(rc, set->ewald_tolerance) * rc) / rc : 0;
}

int mesh_size(double edge, double spacing, int order)
{
    static const int small[] = {6, 8, 10, 12, 14, 16, 20, 24, 25, 28, 32, 36, 40, 42, 44};
    static const int base[] = {48, 50, 52, 54, 56, 60, 64, 70, 72, 75, 80, 81, 84}; /* times a power of two */
    double wanted = edge / spacing + 0.999;
    if (!(wanted < MESH_EDGE_MAX + 1))
        return MESH_EDGE_MAX + 1;
    int least = (int)wanted;
    if (least < 2 * (order - 1))
        least = 2 * (order - 1);
    for (unsigned i = 0; i < sizeof small / sizeof *small; i++)
        if (small[i] >= least)
            return small[i];
    int factor = 1;
    while (factor * 84 < least)
        factor *= 2;
    for (unsigned i = 0; i < sizeof base / sizeof *base; i++) {
        int n = factor * base[i];
        if (n >= least && n % 4 == 0 && n != 140)
            return n;
    }
    return factor * 84;
}

int mesh_sizes(int32_t size[3], const double box[BOX_SIZE], const struct nonbonded_settings *set, struct err *e)
{
    double edge[3];
    box_edges(box, edge);
    if (set->pme_order < 4 || set->pme_order > 6)
        return err_set(e, ERR_SPEC, "nonbonded.coulomb.order: %d: expected 4 to 6", set->pme_order);
    for (int d = 0; d < 3 && set->coulomb_method != COULOMB_PME; d++)
        size[d] = mesh_size(0, 1, set->pme_order);
    for (int d = 0; d < 3 && set->coulomb_method == COULOMB_PME; d++) {
        size[d] = set->pme_grid[d] > 0 ? set->pme_grid[d] : mesh_size(edge[d], set->pme_spacing, set->pme_order);
        if (size[d] < 2 * (set->pme_order - 1))
            return err_set(e, ERR_SPEC, "nonbonded.coulomb.grid: %d: expected at least %d points for order %d", size[d],
                           2 * (set->pme_order - 1), set->pme_order);
        if (size[d] > MESH_EDGE_MAX)
            return err_set(e, ERR_SPEC,
                           "nonbonded.coulomb: an edge of %g nm at %g nm between points: at most %d are computed",
                           edge[d], set->pme_grid[d] > 0 ? edge[d] / size[d] : set->pme_spacing, MESH_EDGE_MAX);
    }
    long points = (long)size[0] * size[1] * size[2];
    if (points > MESH_POINTS_MAX)
        return err_set(e, ERR_SPEC, "nonbonded.coulomb: a mesh of %d x %d x %d points: at most %ld are computed",
                       size[0], size[1], size[2], MESH_POINTS_MAX);
    return 0;
}

void mesh_modulus(double *out, int size, int order)
{
    double w[SPLINE_ORDER_MAX];
    assert(order <= SPLINE_ORDER_MAX);
    spline_weights(order, 0, w); /* M(order - 1), .., M(1), M(0) = 0 */
    for (int i = 0; i < size; i++) {
        double complex sum = 0;
        for (int k = 0; k < order; k++)
            sum += w[order - 1 - k] * cexp(2 * M_PI * I * (double)((long)i * k % size) / size);
        out[i] = creal(sum * conj(sum));
    }
    for (int i = 1; i + 1 < size; i++) /* odd orders vanish at half the sampling frequency */
        if (out[i] < 1e-7)
            out[i] = 0.5 * (out[i - 1] + out[i + 1]);
}
