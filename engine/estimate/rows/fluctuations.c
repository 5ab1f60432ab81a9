/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of matter from how far energy and volume of one window go from their means (M. P. Allen and D. J.
 * Tildesley, Computer Simulation of Liquids, 2nd ed. (2017), sections 2.5 and 2.6). At constant volume, of the total
 * energy E,
 *
 *   C_V = var(E) / (R T^2)
 *
 * and at constant pressure, of the enthalpy H = E + p V and the volume V,
 *
 *   C_p = var(H) / (R T^2),  kappa_T = var(V) / (R T <V>),  alpha_p = cov(V, H) / (R T^2 <V>)
 *
 * Heat capacities are those of a mole of boxes, classical, without what is frozen by constraints.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/statistics/stats.h"
#include "engine/base/units.h"
#include "engine/estimate/rows/rows.h"
#include "engine/series/legends.h"

/* n times the covariance of the means of n correlated members each. */
static double covariance_of_means(const double *a, const double *b, size_t n, double *work)
{
    double sum[2];
    for (int sign = 0; sign < 2; sign++) {
        for (size_t i = 0; i < n; i++)
            work[i] = a[i] + (sign ? -b[i] : b[i]);
        sum[sign] = stats_longrun(work, n).variance;
    }
    return 0.25 * (sum[0] - sum[1]);
}

/* Of two series without their means: squares about a mean that was found from the same rows lack what that mean is off.
 */
static struct average covariance(const double *a, const double *b, size_t n, double scale, const char *name,
                                 const char *unit)
{
    double *x = xcalloc(n, sizeof *x);
    const double lacks = covariance_of_means(a, b, n, x) / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] = scale * a[i] * b[i];
    const struct average found = {.name = xstrdup(name),
                                  .unit = unit,
                                  .value = stats_mean(x, n) + scale * lacks,
                                  .error = stats_mean_error(x, n)};
    free(x);
    return found;
}

/* of + pressure * volume; its mean is taken off, and is *mean. */
static double *deviations(const struct xvg *x, size_t first, size_t of, double pressure, size_t volume, double *mean)
{
    const size_t width = (size_t)x->nlegends + 1, n = x->nrows - first;
    double *v = xcalloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        const double *row = x->v + (first + i) * width;
        v[i] = row[of] + (pressure != 0 ? pressure * row[volume] : 0);
    }
    *mean = stats_mean(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] -= *mean;
    return v;
}

void fluctuations_find(struct window_result *w, const struct ladder *l, const struct bath *bath, const struct xvg *x,
                       size_t first)
{
    const size_t energy = xvg_column(x, ENERGY_TOTAL), volume = xvg_column(x, ENERGY_VOLUME), n = x->nrows - first;
    const bool pressure = !isnan(bath->pressure);
    const double rt = 1 / l->beta, rt2 = rt * l->temperature;
    double mean_energy, mean_volume;
    if (!bath->thermostat || !energy || !volume || n < ESTIMATE_FEWEST_ROWS)
        return;
    double *h = deviations(x, first, energy, pressure ? bath->pressure / UNIT_BAR : 0, volume, &mean_energy);
    double *v = deviations(x, first, volume, 0, volume, &mean_volume);
    w->fluctuations = xcalloc(3, sizeof *w->fluctuations);
    w->fluctuations[w->nfluctuations++] = covariance(
        h, h, n, 1 / rt2, pressure ? "Heat capacity at constant pressure" : "Heat capacity at constant volume",
        "kilojoule_per_mole / kelvin");
    if (pressure) {
        w->fluctuations[w->nfluctuations++] =
            covariance(v, v, n, 1 / (rt * mean_volume * UNIT_BAR), "Isothermal compressibility", "1 / bar");
        w->fluctuations[w->nfluctuations++] =
            covariance(v, h, n, 1 / (rt2 * mean_volume), "Thermal expansion", "1 / kelvin");
    }
    free(h);
    free(v);
}
