/* SPDX-License-Identifier: Apache-2.0
 *
 * What the works of one way tell: Jarzynski, Phys. Rev. Lett. 78, 2690 (1997), doi 10.1103/PhysRevLett.78.2690:
 * exp(-dG) = <exp(-W)> in kT. The logarithm of a mean over few works is too high in its way, to second order by half
 * the square of its error (Gore, Ritort and Bustamante, Proc. Natl. Acad. Sci. 100, 12564 (2003), doi
 * 10.1073/pnas.1635159100), and the mean rests on the lowest works, of which few are seen.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/switching/switching.h"

/* exp(-w) over its mean, of each work; returns -ln of the mean. */
static double jarzynski_weights(const struct switch_works *w, double *phi)
{
    double least = INFINITY, sum = 0;
    for (size_t i = 0; i < w->n; i++)
        least = fmin(least, w->w[i]);
    for (size_t i = 0; i < w->n; i++)
        sum += phi[i] = exp(least - w->w[i]);
    for (size_t i = 0; i < w->n; i++)
        phi[i] *= (double)w->n / sum;
    return least - log(sum / (double)w->n);
}

/* (sum phi)^2 / sum phi^2, over the inefficiency of the weights. */
static double effective_number(const double *phi, size_t n)
{
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += phi[i] * phi[i];
    return (double)n * (double)n / square / stats_inefficiency(phi, n);
}

static void jarzynski(struct one_way *x, const struct switch_works *w, enum switch_way way)
{
    double *phi = xcalloc(w->n, sizeof *phi), value = jarzynski_weights(w, phi);
    x->jarzynski.value = way == SWITCH_FORWARD ? value : -value;
    x->jarzynski.error = stats_mean_error(phi, w->n);
    x->jarzynski.ok = true;
    x->bias = (way == SWITCH_FORWARD ? 0.5 : -0.5) * x->jarzynski.error * x->jarzynski.error;
    x->effective = effective_number(phi, w->n);
    free(phi);
}

void switching_one_way(struct switching *s, enum switch_way way)
{
    const struct switch_works *w = s->works + way;
    struct one_way *x = s->way + way;
    x->jarzynski = (struct range){.from = 0, .to = 1};
    x->dissipated = x->dissipated_error = NAN;
    if (!switching_has(s, way))
        return;
    x->mean = stats_mean(w->w, w->n);
    x->mean_error = stats_mean_error(w->w, w->n);
    x->deviation = sqrt(stats_variance(w->w, w->n));
    x->inefficiency = stats_inefficiency(w->w, w->n);
    jarzynski(x, w, way);
    const struct range *best = s->bar.ok ? &s->bar : &x->jarzynski;
    x->dissipated = x->mean - (way == SWITCH_FORWARD ? best->value : -best->value);
    x->dissipated_error = hypot(x->mean_error, best->error);
}
