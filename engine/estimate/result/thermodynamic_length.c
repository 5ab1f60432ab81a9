/* SPDX-License-Identifier: Apache-2.0
 *
 * Thermodynamic length of the steps of a ladder. Its element is the standard deviation of the energy change along the
 * path, dl^2 = sum_cd cov(dH/dlambda_c, dH/dlambda_d) dlambda_c dlambda_d in kT: Crooks, Phys. Rev. Lett. 99, 100602
 * (2007), doi 10.1103/PhysRevLett.99.100602; windows at equal distances cut the error of a free energy most for their
 * number: Shenfeld, Xu, Eastwood, Dror and Shaw, Phys. Rev. E 80, 046705 (2009), doi 10.1103/PhysRevE.80.046705.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/result/result.h"

/* Standard deviation, in the rows of window k, of the energy change by the step from `from` to `to` as dH/dlambda has
 * it. */
static double deviation(const struct sampling *s, int k, int from, int to)
{
    size_t nc = (size_t)s->ncomponents, n = sampling_count(s, k);
    double *x = xcalloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < nc; c++)
            x[i] += s->dhdl[(s->start[k] + i) * nc + c] *
                    (s->lambda[(size_t)to * nc + c] - s->lambda[(size_t)from * nc + c]);
    double variance = stats_variance(x, n);
    free(x);
    return sqrt(variance);
}

void result_lengths(struct result *r, const struct sampling *s)
{
    int before = -1;
    if (!s->dhdl)
        return;
    r->lengths = xcalloc((size_t)s->nstates, sizeof *r->lengths);
    for (int k = 0; k < s->nstates; k++) {
        if (!sampling_count(s, k))
            continue;
        if (before >= 0)
            r->lengths[r->nlengths++] = (struct step_length){
                .from = before,
                .to = k,
                .deviation = {deviation(s, before, before, k), deviation(s, k, before, k)},
            };
        before = k;
    }
}

/* Of the repeats that have a step like it, by mean variance. */
static double pooled(const struct report *r, const struct step_length *step, int end)
{
    double sum = 0;
    int found = 0;
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->repeats[i].nlengths; k++) {
            const struct step_length *x = r->repeats[i].lengths + k;
            if (x->from != step->from || x->to != step->to)
                continue;
            sum += x->deviation[end] * x->deviation[end];
            found++;
        }
    return sqrt(sum / found);
}

void report_lengths(struct report *r)
{
    const struct result *most = r->repeats; /* windows that only some repeats have are those of the most complete */
    for (int i = 1; i < r->nrepeats; i++)
        if (r->repeats[i].nlengths > most->nlengths)
            most = r->repeats + i;
    r->whole.nlengths = most->nlengths;
    r->whole.lengths = xcalloc((size_t)most->nlengths, sizeof *r->whole.lengths);
    for (int k = 0; k < most->nlengths; k++) {
        const struct step_length *step = most->lengths + k;
        r->whole.lengths[k] = (struct step_length){
            .from = step->from, .to = step->to, .deviation = {pooled(r, step, 0), pooled(r, step, 1)}};
    }
}
