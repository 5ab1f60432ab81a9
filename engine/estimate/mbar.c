/* SPDX-License-Identifier: Apache-2.0
 *
 * MBAR: Shirts and Chodera, J. Chem. Phys. 129, 124105 (2008), doi 10.1063/1.2978177.
 *
 * With p_nk = N_k exp(f_k - u_nk) / sum_j N_j exp(f_j - u_nj) and S_k = sum_n p_nk, eq. 11 says S_k = N_k for every
 * sampled state. That is where a convex function is least whose gradient is S - N (eq. C6) and whose Hessian is
 * diag(S) - P^T P (eq. C9); its null vector, all f shifted alike, is removed by holding the first sampled state at 0.
 * Happy path: a few Newton steps from the BAR chain. A Newton step that does not halve the residual is set against a
 * self-consistent step f_k -= ln(S_k / N_k), which always goes downhill, and the better of the two is taken.
 */
#include "engine/estimate/parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define MAX_SWEEPS 2000
#define TOLERANCE 1e-10 /* kT, of the Newton step that ends the search */
#define ROUNDING 1e-12  /* a residual below has no meaning: what it leaves open is far below the statistical error */
#define PATIENCE 50     /* steps, besides ten per state, in which a bad start must have come near enough for Newton */

/* The sampled states alone: what the equations are solved for. */
struct problem {
    const struct sampling *s;
    int n;         /* sampled states */
    int *state;    /* [n] */
    double *count; /* [n] samples, N_k */
    double *log_n; /* [n] ln N_k */
    double *p;     /* [n] work space of a sweep */
};

static void problem_init(struct problem *p, const struct sampling *s)
{
    size_t k = (size_t)s->nstates;
    *p = (struct problem){.s = s,
                          .state = xcalloc(k, sizeof *p->state),
                          .count = xcalloc(k, sizeof *p->count),
                          .log_n = xcalloc(k, sizeof *p->log_n),
                          .p = xcalloc(k, sizeof *p->p)};
    for (int i = 0; i < s->nstates; i++) {
        if (!sampling_count(s, i))
            continue;
        p->state[p->n] = i;
        p->count[p->n] = (double)sampling_count(s, i);
        p->log_n[p->n] = log(p->count[p->n]);
        p->n++;
    }
}

static void problem_close(struct problem *p)
{
    free(p->state);
    free(p->count);
    free(p->log_n);
    free(p->p);
}

/* p_nk of one sample; returns ln sum_k N_k exp(f_k - u_nk). */
static double weights(const struct problem *p, const double *f, const double *u)
{
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < p->n; i++) {
        p->p[i] = p->log_n[i] + f[i] - u[p->state[i]];
        top = fmax(top, p->p[i]);
    }
    for (int i = 0; i < p->n; i++) {
        p->p[i] = exp(p->p[i] - top);
        sum += p->p[i];
    }
    for (int i = 0; i < p->n; i++)
        p->p[i] /= sum;
    return top + log(sum);
}

/* S_k and, when not NULL, the lower triangle of P^T P. Summed window by window, so that rounding grows with the largest
 * window only. */
static void sweep(const struct problem *p, const double *f, double *sum, double *square)
{
    const struct sampling *s = p->s;
    size_t n = (size_t)p->n;
    double *part = xcalloc(n, sizeof *part);
    memset(sum, 0, n * sizeof *sum);
    if (square)
        memset(square, 0, n * n * sizeof *square);
    for (int w = 0; w < p->n; w++) {
        memset(part, 0, n * sizeof *part);
        for (size_t row = s->start[p->state[w]]; row < s->start[p->state[w] + 1]; row++) {
            weights(p, f, s->u + row * (size_t)s->nstates);
            for (size_t i = 0; i < n; i++)
                part[i] += p->p[i];
            for (size_t i = 0; square && i < n; i++)
                for (size_t j = 0; j <= i; j++)
                    square[i * n + j] += p->p[i] * p->p[j];
        }
        for (size_t i = 0; i < n; i++)
            sum[i] += part[i];
    }
    free(part);
}

static double residual(const struct problem *p, const double *sum)
{
    double most = 0;
    for (int i = 0; i < p->n; i++)
        most = fmax(most, fabs(sum[i] / p->count[i] - 1));
    return most;
}

/* Newton's step into `step` ([0] = 0). False when the Hessian is singular. `square` is used up. */
static bool newton(const struct problem *p, const double *sum, double *square, double *step)
{
    int n = p->n, m = n - 1;
    double *h = xcalloc((size_t)m * (size_t)m, sizeof *h);
    for (int i = 1; i < n; i++) {
        for (int j = 1; j <= i; j++)
            h[(i - 1) * m + j - 1] = (i == j ? sum[i] : 0) - square[i * n + j];
        step[i] = p->count[i] - sum[i];
    }
    step[0] = 0;
    bool ok = linalg_cholesky(h, step + 1, m);
    free(h);
    return ok;
}

static void self_consistent(const struct problem *p, const double *sum, double *step)
{
    for (int i = 0; i < p->n; i++)
        step[i] = -log(fmax(sum[i], DBL_MIN) / p->count[i]);
    for (int i = p->n; i-- > 0;)
        step[i] -= step[0];
}

struct search {
    double *f, *sum, *square, *step, *trial, *trial_sum, *better, *better_sum;
    int sweeps;
};

/* f + step into trial; swaps it into `better` when its residual is below *least (a NaN never is). */
static void try_step(const struct problem *p, struct search *q, double *least)
{
    for (int i = 0; i < p->n; i++)
        q->trial[i] = q->f[i] + q->step[i];
    sweep(p, q->trial, q->trial_sum, NULL);
    q->sweeps++;
    double r = residual(p, q->trial_sum);
    if (!(r < *least))
        return;
    *least = r;
    double *t = q->better;
    q->better = q->trial;
    q->trial = t;
    t = q->better_sum;
    q->better_sum = q->trial_sum;
    q->trial_sum = t;
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static int search(const struct problem *p, struct search *q, struct err *e)
{
    size_t bytes = (size_t)p->n * sizeof *q->f;
    int singular = 0; /* times in a row */
    while (q->sweeps < MAX_SWEEPS) {
        sweep(p, q->f, q->sum, q->square);
        q->sweeps++;
        double now = residual(p, q->sum), least = INFINITY;
        bool regular = newton(p, q->sum, q->square, q->step);
        bool last = regular && (largest(q->step, p->n) < TOLERANCE || now < ROUNDING);
        singular = regular ? 0 : singular + 1;
        if (singular && (now < ROUNDING || singular > PATIENCE + 10 * p->n))
            return err_set(e, ERR_ESTIMATE,
                           "MBAR: the samples do not connect all windows (no overlap between some of them)");
        if (regular)
            try_step(p, q, &least);
        if (last) {
            if (least < now)
                memcpy(q->f, q->better, bytes);
            return 0;
        }
        if (!(least < 0.5 * now)) {
            self_consistent(p, q->sum, q->step);
            try_step(p, q, &least);
        }
        if (!isfinite(least))
            break;
        memcpy(q->f, q->better, bytes);
    }
    return err_set(e, ERR_ESTIMATE, "MBAR did not converge in %d passes (residual %.2g of a window's samples)",
                   q->sweeps, residual(p, q->better_sum));
}

static int solve(const struct problem *p, double *f, int *sweeps, struct err *e)
{
    size_t n = (size_t)p->n;
    double *space = xcalloc(n * (n + 7), sizeof *space);
    struct search q = {.f = space,
                       .sum = space + n,
                       .step = space + 2 * n,
                       .trial = space + 3 * n,
                       .trial_sum = space + 4 * n,
                       .better = space + 5 * n,
                       .better_sum = space + 6 * n,
                       .square = space + 7 * n};
    memcpy(q.f, f, n * sizeof *f);
    int rc = search(p, &q, e);
    memcpy(f, q.f, n * sizeof *f);
    *sweeps = q.sweeps;
    free(space);
    return rc;
}

/* f of every state from those of the sampled ones (eq. 11): f_k = -ln sum_n exp(-u_nk) / denominator_n. */
static void extend(const struct problem *p, const double *sampled, double *f)
{
    const struct sampling *s = p->s;
    int n = s->nstates;
    double *top = xcalloc((size_t)n, sizeof *top), *sum = xcalloc((size_t)n, sizeof *sum);
    for (int k = 0; k < n; k++)
        top[k] = -INFINITY;
    for (size_t row = 0; row < s->start[n]; row++) {
        const double *u = s->u + row * (size_t)n;
        double denominator = weights(p, sampled, u);
        for (int k = 0; k < n; k++) {
            double x = -u[k] - denominator;
            if (x > top[k]) {
                sum[k] = sum[k] * exp(top[k] - x) + 1;
                top[k] = x;
            } else {
                sum[k] += exp(x - top[k]);
            }
        }
    }
    for (int k = 0; k < n; k++)
        f[k] = -(top[k] + log(sum[k]));
    free(top);
    free(sum);
}

/* Lower triangle of W^T W, mirrored; W_nk = exp(f_k - u_nk) / denominator_n over all states. */
static void weight_products(const struct problem *p, const double *sampled, const double *f, double *m)
{
    const struct sampling *s = p->s;
    size_t n = (size_t)s->nstates;
    double *w = xcalloc(n, sizeof *w);
    for (size_t row = 0; row < s->start[n]; row++) {
        const double *u = s->u + row * n;
        double denominator = weights(p, sampled, u);
        for (size_t k = 0; k < n; k++)
            w[k] = exp(f[k] - u[k] - denominator);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                m[i * n + j] += w[i] * w[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            m[i * n + j] = m[j * n + i];
    free(w);
}

/* Theta = W^T (1 - W N W^T)^+ W (eq. 8) obeys (1 - M N) Theta = M with M = W^T W. The matrix has one null vector, all
 * ones, because M N 1 = 1; adding 1 1^T N / N_total makes it regular and adds the same constant to every element of
 * Theta, which cancels from all differences. No pseudoinverse, no cut-off to choose. */
static bool covariance(struct mbar *m, const struct sampling *s, const double *products)
{
    int n = m->n;
    double *a = xcalloc((size_t)n * (size_t)n, sizeof *a), total = (double)s->start[n];
    memcpy(m->theta, products, (size_t)n * (size_t)n * sizeof *products);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double count = (double)sampling_count(s, j);
            m->overlap[i * n + j] = products[i * n + j] * count;
            a[i * n + j] = (i == j) - m->overlap[i * n + j] + count / total;
        }
    bool ok = linalg_lu(a, m->theta, n, n);
    free(a);
    return ok;
}

static int finish(struct mbar *m, const struct problem *p, const double *sampled, struct err *e)
{
    size_t n = (size_t)m->n;
    double *products = xcalloc(n * n, sizeof *products);
    m->f = xcalloc(n, sizeof *m->f);
    m->theta = xcalloc(n * n, sizeof *m->theta);
    m->overlap = xcalloc(n * n, sizeof *m->overlap);
    extend(p, sampled, m->f);
    weight_products(p, sampled, m->f, products);
    bool ok = covariance(m, p->s, products);
    free(products);
    for (int k = m->n; k-- > 0;)
        m->f[k] -= m->f[0];
    for (size_t k = 0; k < n; k++)
        ok = ok && isfinite(m->f[k]) && isfinite(m->theta[k * n + k]);
    return ok ? 0 : err_set(e, ERR_ESTIMATE, "MBAR: the covariance of the free energies is singular");
}

int mbar_solve(struct mbar *m, const struct sampling *s, const double *guess, struct err *e)
{
    struct problem p;
    double *f = xcalloc((size_t)s->nstates, sizeof *f);
    problem_init(&p, s);
    m->n = s->nstates;
    for (int i = 0; guess && i < p.n; i++)
        f[i] = guess[p.state[i]] - guess[p.state[0]];
    int rc = p.n ? 0 : err_set(e, ERR_ESTIMATE, "MBAR: no window has samples");
    if (!rc && p.n > 1)
        rc = solve(&p, f, &m->sweeps, e);
    if (!rc)
        rc = finish(m, &p, f, e);
    problem_close(&p);
    free(f);
    return rc;
}

void mbar_range(const struct mbar *m, struct range *r)
{
    int n = m->n, i = r->from, j = r->to;
    double variance = m->theta[i * n + i] + m->theta[j * n + j] - m->theta[i * n + j] - m->theta[j * n + i];
    r->ok = true;
    r->value = m->f[j] - m->f[i];
    r->error = sqrt(fmax(variance, 0));
}

void mbar_close(struct mbar *m)
{
    free(m->f);
    free(m->theta);
    free(m->overlap);
    *m = (struct mbar){0};
}

void sampling_part(struct sampling *out, const struct sampling *s, double from, double to)
{
    int n = s->nstates;
    size_t width = (size_t)n, total = 0;
    *out = (struct sampling){.nstates = n, .ncomponents = s->ncomponents, .lambda = s->lambda};
    out->start = xcalloc(width + 1, sizeof *out->start);
    out->u = xcalloc(s->start[n] * width, sizeof *out->u);
    for (int k = 0; k < n; k++) {
        double count = (double)sampling_count(s, k);
        size_t a = s->start[k] + (size_t)llround(from * count), b = s->start[k] + (size_t)llround(to * count);
        memcpy(out->u + total * width, s->u + a * width, (b - a) * width * sizeof *out->u);
        total += b - a;
        out->start[k + 1] = total;
    }
}

void sampling_close(struct sampling *s)
{
    free(s->start);
    free(s->u);
    free(s->dhdl);
    *s = (struct sampling){0};
}
