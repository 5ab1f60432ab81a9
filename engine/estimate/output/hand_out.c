/* SPDX-License-Identifier: Apache-2.0
 *
 * Production that is to be handed out: the allocator on the forecasts of all repeats.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/estimate/output/output.h"

static double mean_variance(void *arg, const double *steps)
{
    const struct report *r = arg;
    int n = r->ladder->nstates;
    double *times = xcalloc((size_t)n, sizeof *times), sum = 0;
    for (int k = 0; k < n; k++)
        times[k] = r->production->windows[k].steps ? steps[k] / (double)r->production->windows[k].steps : 0;
    for (int i = 0; i < r->nrepeats; i++)
        if (r->repeats[i].forecast)
            sum += forecast_variance(r->repeats[i].forecast, times);
    free(times);
    return sum;
}

/* Uncorrelated rows, of the repeat that has fewest. */
static double least_rows(const struct report *r, int k)
{
    double least = 0;
    for (int i = 0; i < r->nrepeats; i++) {
        const struct window_result *w = r->repeats[i].windows + k;
        if (w->used && (least == 0 || w->uncorrelated < least))
            least = w->uncorrelated;
    }
    return least;
}

bool report_allocate(struct report *r)
{
    struct estimate_production *p = r->production;
    bool known = false;
    for (int i = 0; i < r->nrepeats; i++)
        known = known || r->repeats[i].forecast;
    for (int k = 0; k < r->ladder->nstates; k++)
        p->windows[k].rows = least_rows(r, k);
    if (known)
        allocate(p->windows, r->ladder->nstates, p->share, p->budget, p->every, mean_variance, r);
    return known;
}
