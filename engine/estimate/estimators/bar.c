/* SPDX-License-Identifier: Apache-2.0
 *
 * Bennett, J. Comput. Phys. 22, 245 (1976), doi 10.1016/0021-9991(76)90078-4, in the form of Shirts et al., Phys. Rev.
 * Lett. 91, 140601 (2003), doi 10.1103/PhysRevLett.91.140601: with M = ln(nF/nR) and f(x) = 1/(1 + e^x), the free
 * energy d solves sum_F f(M + w - d) = sum_R f(-M + w + d). Logarithms of sums: distant states give small ones, not
 * zeros.
 */
#include "engine/estimate/estimators/bar.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"

/* Work of so many rows, and what all f are taken over: e^-least, so that those of distant states do not vanish. */
struct works {
    const double *w;
    size_t n;
    double least;
};

static struct works works_of(const double *w, size_t n)
{
    struct works x = {w, n, INFINITY};
    for (size_t i = 0; i < n; i++)
        x.least = w[i] < x.least ? w[i] : x.least;
    return x;
}

/* f(x) e^least, where least is 0 or more. */
static double scaled_fermi(double x, double least, double scale)
{
    return 1 / (scale + exp(x - least));
}

/* ln sum_i f(w_i + shift); *slope its derivative by shift. */
static double log_sum(const struct works *x, double shift, double *slope)
{
    double least = fmax(x->least + shift, 0), scale = exp(-least), sum = 0, square = 0;
    for (size_t i = 0; i < x->n; i++) {
        double f = scaled_fermi(x->w[i] + shift, least, scale);
        sum += f;
        square += f * f;
    }
    *slope = scale * square / sum - 1;
    return log(sum) - least;
}

/* f of every row over their mean. */
static void bar_weights(const struct works *x, double shift, double *phi)
{
    double least = fmax(x->least + shift, 0), scale = exp(-least), sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += phi[i] = scaled_fermi(x->w[i] + shift, least, scale);
    for (size_t i = 0; i < x->n; i++)
        phi[i] *= (double)x->n / sum;
}

/* Of the work that is finite. */
static double finite_mean(const double *w, size_t n)
{
    double sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(w[i])) {
            sum += w[i];
            finite++;
        }
    return finite ? sum / (double)finite : 0;
}

int bar_pair(const double *wf, size_t nf, const double *wr, size_t nr, double *df, double *phi_f, double *phi_r,
             struct err *e)
{
    const double m = log((double)nf / (double)nr), tolerance = 1e-13;
    const struct works f = works_of(wf, nf), r = works_of(wr, nr);
    double d = 0.5 * (finite_mean(wf, nf) - finite_mean(wr, nr)), lo = -INFINITY, hi = INFINITY, stride = 1;
    /* the difference of the two logarithms grows strictly with d: Newton's steps, kept inside what is known to hold it
     */
    for (int pass = 0; isfinite(d) && pass < 500; pass++) {
        double slope_f, slope_r;
        double excess = log_sum(&f, m - d, &slope_f) - log_sum(&r, d - m, &slope_r);
        if (excess > 0)
            hi = d;
        else
            lo = d;
        double next = d + excess / (slope_f + slope_r);
        if (!(next > lo && next < hi)) { /* NaN and infinity too */
            next = isinf(lo) ? hi - stride : isinf(hi) ? lo + stride : 0.5 * (lo + hi);
            stride *= 2;
        }
        bool done = fabs(next - d) <= tolerance * fmax(1, fabs(d));
        d = next;
        if (!done)
            continue;
        *df = d;
        bar_weights(&f, m - d, phi_f);
        bar_weights(&r, d - m, phi_r);
        return 0;
    }
    return err_set(e, ERR_ESTIMATE, "BAR did not converge");
}

/* u(to) of the samples of state `of`: the work from one to the other. */
static double *work(const struct sampling *s, int of, int to)
{
    size_t n = sampling_count(s, of);
    double *w = xcalloc(n, sizeof *w);
    for (size_t i = 0; i < n; i++)
        w[i] = s->u[(s->start[of] + i) * (size_t)s->nstates + (size_t)to];
    return w;
}

/* f(x) f(-x) */
static double both_ways(double x)
{
    double e = exp(-fabs(x));
    return e / ((1 + e) * (1 + e));
}

/* What the row weights of a pair tell: with p = f(...) the chance that a row came from the other state, the overlap
 * matrix of the two states alone has sum p (1 - p) / N; as of MBAR's, the mean of both entries. */
static double overlap_of(const double *wf, size_t nf, const double *wr, size_t nr, double df)
{
    const double m = log((double)nf / (double)nr);
    double sum = 0;
    for (size_t i = 0; i < nf; i++)
        sum += both_ways(m + wf[i] - df);
    for (size_t i = 0; i < nr; i++)
        sum += both_ways(wr[i] + df - m);
    return 0.5 * (sum / (double)nf + sum / (double)nr);
}

double bar_overlap(const struct sampling *s, int i, int j, double df)
{
    double *wf = work(s, i, j), *wr = work(s, j, i);
    double overlap = overlap_of(wf, sampling_count(s, i), wr, sampling_count(s, j), df);
    free(wf);
    free(wr);
    return overlap;
}

/* Pair p of the chain. To first order d = const - ln mean(phi_F) + ln mean(phi_R): each forward row adds -phi_F / n to
 * everything above, each reverse row +phi_R / n, and rows of a window between two pairs do both. For independent rows
 * the variance of a pair is that of Shirts et al. (eq. 10). `shared`: phi_R of the pair before, of this one's window.
 */
static int pair(struct bar *b, const struct sampling *s, int p, double **shared, struct err *e)
{
    int i = b->state[p], j = b->state[p + 1];
    size_t nf = sampling_count(s, i), nr = sampling_count(s, j);
    double *wf = work(s, i, j), *wr = work(s, j, i);
    double *phi_f = xcalloc(nf, sizeof *phi_f), *phi_r = xcalloc(nr, sizeof *phi_r);
    int rc = bar_pair(wf, nf, wr, nr, &b->df[p], phi_f, phi_r, e);
    if (rc)
        err_prefix(e, "windows %d and %d", i, j);
    else
        b->overlap[p] = overlap_of(wf, nf, wr, nr, b->df[p]);
    solution_begin(&b->solution, i, s->start[i], nf);
    for (size_t n = 0; !rc && n < nf; n++)
        solution_add_chain(&b->solution, i, n, *shared ? (*shared)[n] / (double)nf : 0, -phi_f[n] / (double)nf);
    free(wf);
    free(wr);
    free(phi_f);
    free(*shared);
    *shared = phi_r;
    return rc;
}

/* The last window of the chain, which has no pair above. */
static void last_window(struct bar *b, const double *phi_r)
{
    int window = b->state[b->npairs];
    size_t n = b->solution.influence[window].rows;
    for (size_t i = 0; i < n; i++)
        solution_add_chain(&b->solution, window, i, phi_r[i] / (double)n, 0);
}

static void sum_pairs(struct bar *b)
{
    double *g = b->solution.g;
    for (int k = 0; k < b->solution.nstates; k++)
        g[k] = NAN;
    g[b->state[0]] = 0;
    for (int p = 0; p < b->npairs; p++)
        g[b->state[p + 1]] = g[b->state[p]] + b->df[p];
}

int bar_solve(struct bar *b, const struct sampling *s, struct err *e)
{
    size_t n = (size_t)s->nstates;
    int sampled = 0, rc = 0;
    double *shared = NULL;
    b->state = xcalloc(n, sizeof *b->state);
    b->df = xcalloc(n, sizeof *b->df);
    b->overlap = xcalloc(n, sizeof *b->overlap);
    solution_init(&b->solution, s->nstates, s);
    for (int k = 0; k < s->nstates; k++)
        if (sampling_count(s, k))
            b->state[sampled++] = k;
    if (sampled < 2)
        return err_set(e, ERR_ESTIMATE, "BAR: windows with samples: %d, expected 2 or more", sampled);
    b->npairs = sampled - 1;
    for (int p = 0; !rc && p < b->npairs; p++)
        rc = pair(b, s, p, &shared, e);
    if (!rc) {
        solution_begin(&b->solution, b->state[b->npairs], s->start[b->state[b->npairs]],
                       sampling_count(s, b->state[b->npairs]));
        last_window(b, shared);
        sum_pairs(b);
        solution_twins(&b->solution, s);
    }
    free(shared);
    return rc;
}

void bar_guess(const struct bar *b, double *guess)
{
    const double *g = b->solution.g;
    for (int k = 0; k < b->solution.nstates; k++)
        guess[k] = isfinite(g[k]) ? g[k] : k ? guess[k - 1] : 0;
}

void bar_close(struct bar *b)
{
    solution_close(&b->solution);
    free(b->state);
    free(b->df);
    free(b->overlap);
    *b = (struct bar){0};
}
