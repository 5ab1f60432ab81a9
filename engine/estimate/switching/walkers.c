/* SPDX-License-Identifier: Apache-2.0
 *
 * Works of several walkers of each end, which share nothing but where they began. To first order BAR is the sum of what
 * every work adds (its Fermi weight over the mean of these, less 1, over the number of works), so the sums of walkers
 * are independent numbers: their spread is an error that needs to know nothing of how long snapshots remember each
 * other, the error by clusters. Of few walkers it is known badly (of 6 of each end to 22 %), and what stops when the
 * error is small enough stops where it happens to be too small. So it is never below that of as many works that share
 * nothing and, where walkers are few, that of the works in order.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/estimate/switching/switching.h"

enum {
    FEWEST_WALKERS = 4,  /* of each end, for an error from their spread */
    ENOUGH_WALKERS = 12, /* the same, for it to be known to 15 %: better than that of the works in order */
};

/* What works of one way add to BAR: in all, and the later half of them less the earlier one, of each walker. */
struct walker_sums {
    double *whole, *later; /* [walkers] */
    size_t *n;             /* [walkers] works */
};

/* The Fermi weight of each work, over the mean, less 1. */
static double *influences(const struct switching *s, enum switch_way way)
{
    const struct switch_works *w = s->works + way;
    const double sign = way == SWITCH_FORWARD ? 1 : -1;
    const double m = log((double)s->works[0].n / (double)s->works[1].n);
    double *phi = xcalloc(w->n, sizeof *phi), sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum += phi[i] = 1 / (1 + exp(w->w[i] + sign * (m - s->bar.value)));
    for (size_t i = 0; i < w->n; i++)
        phi[i] = phi[i] * (double)w->n / sum - 1;
    return phi;
}

static void sum_up(struct walker_sums *x, const struct switch_works *w, const double *phi)
{
    size_t *seen = xcalloc((size_t)w->walkers, sizeof *seen);
    for (size_t i = 0; i < w->n; i++)
        x->n[w->walker[i] - 1]++;
    for (size_t i = 0; i < w->n; i++) {
        const int k = w->walker[i] - 1;
        const size_t half = x->n[k] / 2, at = seen[k]++;
        x->whole[k] += phi[i] / (double)w->n;
        if (at < half)
            x->later[k] -= phi[i] / (double)half;
        if (at >= x->n[k] - half)
            x->later[k] += phi[i] / (double)half;
    }
    free(seen);
}

/* Mean, and the square of its error, of what all walkers have. */
static double mean_of(const double *x, int n, double *square)
{
    double mean = 0, sum = 0;
    for (int k = 0; k < n; k++)
        mean += x[k] / n;
    for (int k = 0; k < n; k++)
        sum += (x[k] - mean) * (x[k] - mean);
    *square = sum / n / (n - 1);
    return mean;
}

struct walker_totals {
    double variance, alone; /* by walkers; as if every work were on its own */
    double drift, drift_variance;
};

static void add_way(const struct switching *s, enum switch_way way, struct walker_totals *out)
{
    const struct switch_works *w = s->works + way;
    const size_t n = (size_t)w->walkers;
    struct walker_sums x = {xcalloc(n, sizeof *x.whole), xcalloc(n, sizeof *x.later), xcalloc(n, sizeof *x.n)};
    double *phi = influences(s, way), square = NAN, sum = 0;
    sum_up(&x, w, phi);
    int halved = 0; /* walkers whose works have two halves */
    for (int k = 0; k < w->walkers; k++) {
        sum += x.whole[k] * x.whole[k];
        if (x.n[k] >= 2)
            x.later[halved++] = x.later[k];
    }
    out->variance += sum * w->walkers / (w->walkers - 1);
    for (size_t i = 0; i < w->n; i++)
        out->alone += phi[i] * phi[i] / (double)w->n / (double)w->n;
    out->drift += (way == SWITCH_FORWARD ? -1 : 1) * (halved ? mean_of(x.later, halved, &square) : NAN);
    out->drift_variance += square;
    free(phi);
    free(x.whole);
    free(x.later);
    free(x.n);
}

/* Whether all works of a way are of known walkers, and enough of these have works. */
static bool known(const struct switch_works *w)
{
    int with_works = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!w->walker[i])
            return false;
        with_works += !i || w->walker[i] != w->walker[i - 1];
    }
    return with_works == w->walkers && w->walkers >= FEWEST_WALKERS;
}

void switching_walkers(struct switching *s)
{
    const struct switch_works *f = s->works + SWITCH_FORWARD, *b = s->works + SWITCH_BACKWARD;
    struct walker_spread *x = &s->spread;
    struct walker_totals t = {0};
    *x = (struct walker_spread){.error = NAN, .drift = NAN};
    if (!s->bar.ok || !known(f) || !known(b))
        return;
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++)
        add_way(s, way, &t);
    x->walkers = f->walkers + b->walkers;
    x->error = sqrt(t.variance);
    x->inefficiency = t.variance / t.alone;
    x->drift = fabs(t.drift) / sqrt(t.drift_variance);
    if (f->walkers < ENOUGH_WALKERS || b->walkers < ENOUGH_WALKERS)
        s->bar.error = fmax(s->bar.error, x->error);
    else
        s->bar.error = fmax(sqrt(t.alone), x->error);
    s->bar.drift = isfinite(x->drift) ? x->drift : 0;
}
