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
#include "engine/estimate/estimators/linear_algebra.h"
#include "engine/estimate/estimators/mbar.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define MAX_SWEEPS 2000
#define TOLERANCE 1e-10 /* kT, of the Newton step that ends the search */
#define PART 1e-5       /* the same for a part of the data, whose statistical error is far larger */
#define ROUNDING 1e-12  /* a residual below has no meaning: what it leaves open is far below the statistical error */
#define PATIENCE 50     /* steps, besides ten per state, in which a bad start must have come near enough for Newton */

/* exp(base_k - u_nk) of every row and state, over the largest of the row's sampled states: exponentials are taken once,
 * not in every sweep. `base` is near the solution, so that exp(f_k - base_k) stays in range. */
struct mbar_table {
    const struct sampling *s;
    double *base; /* [nstates] */
    double *e;    /* [rows][nstates] */
};

/* The sampled states alone, or a part of their rows: what the equations are solved for. */
struct problem {
    const struct mbar_table *table;
    int nstates, n;        /* all and sampled */
    int *state;            /* [n] */
    size_t *first, *last;  /* [n] rows taken: first .. last */
    double *count, *log_n; /* [n] N_k and its logarithm */
    double *scale;         /* [n] N_k exp(f_k - base_k), set_f */
    double *p;             /* [n] p_nk of the row last looked at */
};

#define FAR 200     /* kT from the base at which the table is made again */
#define LARGEST 700 /* exponent */

static void table_fill(struct mbar_table *t)
{
    const struct sampling *s = t->s;
    size_t n = (size_t)s->nstates;
    for (size_t row = 0; row < s->start[n]; row++) {
        double top = -INFINITY;
        for (size_t k = 0; k < n; k++)
            if (sampling_count(s, (int)k))
                top = fmax(top, t->base[k] - s->u[row * n + k]);
        for (size_t k = 0; k < n; k++)
            t->e[row * n + k] = exp(fmin(t->base[k] - s->u[row * n + k] - top, LARGEST));
    }
}

static struct mbar_table *table_new(const struct sampling *s, const double *guess)
{
    struct mbar_table *t = xcalloc(1, sizeof *t);
    size_t n = (size_t)s->nstates;
    *t = (struct mbar_table){.s = s, .base = xcalloc(n, sizeof *t->base), .e = xcalloc(s->start[n] * n, sizeof *t->e)};
    if (guess)
        memcpy(t->base, guess, n * sizeof *guess);
    table_fill(t);
    return t;
}

static void mbar_table_free(struct mbar_table *t)
{
    if (!t)
        return;
    free(t->base);
    free(t->e);
    free(t);
}

/* from and to: fractions of every window's rows, of those after the first head[window] where there is a head. */
static void problem_init(struct problem *p, const struct mbar_table *t, const size_t *head, double from, double to)
{
    const struct sampling *s = t->s;
    size_t k = (size_t)s->nstates;
    *p = (struct problem){.table = t,
                          .nstates = s->nstates,
                          .state = xcalloc(k, sizeof *p->state),
                          .first = xcalloc(k, sizeof *p->first),
                          .last = xcalloc(k, sizeof *p->last),
                          .count = xcalloc(k, sizeof *p->count),
                          .log_n = xcalloc(k, sizeof *p->log_n),
                          .scale = xcalloc(k, sizeof *p->scale),
                          .p = xcalloc(k, sizeof *p->p)};
    for (int i = 0; i < s->nstates; i++) {
        size_t start = s->start[i] + (head ? head[i] : 0);
        double count = (double)(s->start[i + 1] - start);
        size_t a = start + (size_t)llround(from * count), b = start + (size_t)llround(to * count);
        if (a == b)
            continue;
        p->state[p->n] = i;
        p->first[p->n] = a;
        p->last[p->n] = b;
        p->count[p->n] = (double)(b - a);
        p->log_n[p->n] = log((double)(b - a));
        p->n++;
    }
}

static void problem_close(struct problem *p)
{
    free(p->state);
    free(p->first);
    free(p->last);
    free(p->count);
    free(p->log_n);
    free(p->scale);
    free(p->p);
}

/* f of the sampled states, for the rows to come. */
static void set_f(const struct problem *p, const double *f)
{
    for (int i = 0; i < p->n; i++)
        p->scale[i] = exp(p->log_n[i] + f[i] - p->table->base[p->state[i]]);
}

/* p_nk of one row; returns sum_k N_k exp(f_k - u_nk) in the table's units of that row. */
static double mixture_weights(const struct problem *p, size_t row)
{
    const double *e = p->table->e + row * (size_t)p->nstates;
    double sum = 0;
    for (int i = 0; i < p->n; i++) {
        p->p[i] = p->scale[i] * e[p->state[i]];
        sum += p->p[i];
    }
    double share = 1 / sum;
    for (int i = 0; i < p->n; i++)
        p->p[i] *= share;
    return sum;
}

/* S_k and, when not NULL, the lower triangle of P^T P. Summed window by window, so that rounding grows with the largest
 * window only. */
static void sweep(const struct problem *p, const double *f, double *sum, double *square)
{
    size_t n = (size_t)p->n;
    double *part = xcalloc(n, sizeof *part);
    set_f(p, f);
    memset(sum, 0, n * sizeof *sum);
    if (square)
        memset(square, 0, n * n * sizeof *square);
    for (int w = 0; w < p->n; w++) {
        memset(part, 0, n * sizeof *part);
        for (size_t row = p->first[w]; row < p->last[w]; row++) {
            mixture_weights(p, row);
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

struct mbar_search {
    double *f, *sum, *square, *step, *trial, *trial_sum, *better, *better_sum;
    int sweeps;
};

/* f + step into trial; swaps it into `better` when its residual is below *least (a NaN never is). */
static void try_step(const struct problem *p, struct mbar_search *q, double *least)
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

/* Makes the table again around f where f has gone far from it. */
static void follow_slope(const struct problem *p, const double *f, struct mbar_table *table)
{
    double far = 0;
    for (int i = 0; i < p->n; i++)
        far = fmax(far, fabs(f[i] - table->base[p->state[i]]));
    if (far < FAR)
        return;
    for (int i = 0; i < p->n; i++)
        table->base[p->state[i]] = f[i];
    table_fill(table);
}

/* `table`: the problem's, where it may be made again; NULL: a part of the data, whose solution is near. */
static int search(const struct problem *p, struct mbar_search *q, struct mbar_table *table, struct err *e)
{
    size_t bytes = (size_t)p->n * sizeof *q->f;
    int singular = 0; /* times in a row */
    while (q->sweeps < MAX_SWEEPS) {
        if (table)
            follow_slope(p, q->f, table);
        sweep(p, q->f, q->sum, q->square);
        q->sweeps++;
        double now = residual(p, q->sum), least = INFINITY;
        bool regular = newton(p, q->sum, q->square, q->step);
        bool last = regular && (largest(q->step, p->n) < (table ? TOLERANCE : PART) || now < ROUNDING);
        singular = regular ? 0 : singular + 1;
        if (singular && (now < ROUNDING || singular > PATIENCE + 10 * p->n))
            return err_set(e, ERR_ESTIMATE,
                           "MBAR: the samples do not connect all windows (no overlap between some of them)");
        if (last && !table)
            return 0;
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

static int solve(const struct problem *p, double *f, struct mbar_table *table, int *sweeps, struct err *e)
{
    size_t n = (size_t)p->n;
    double *space = xcalloc(n * (n + 7), sizeof *space);
    struct mbar_search q = {.f = space,
                            .sum = space + n,
                            .step = space + 2 * n,
                            .trial = space + 3 * n,
                            .trial_sum = space + 4 * n,
                            .better = space + 5 * n,
                            .better_sum = space + 6 * n,
                            .square = space + 7 * n};
    memcpy(q.f, f, n * sizeof *f);
    int rc = search(p, &q, table, e);
    memcpy(f, q.f, n * sizeof *f);
    *sweeps = q.sweeps;
    free(space);
    return rc;
}

/* exp(f_k - base_k) of every state from f of the sampled ones (eq. 11): f_k = -ln sum_n exp(-u_nk) / denominator_n. */
static void extend(const struct problem *p, const double *f, double *ratio)
{
    size_t n = (size_t)p->nstates;
    set_f(p, f);
    memset(ratio, 0, n * sizeof *ratio);
    for (int w = 0; w < p->n; w++)
        for (size_t row = p->first[w]; row < p->last[w]; row++) {
            double denominator = mixture_weights(p, row);
            for (size_t k = 0; k < n; k++)
                ratio[k] += p->table->e[row * n + k] / denominator;
        }
    for (size_t k = 0; k < n; k++)
        ratio[k] = 1 / ratio[k];
}

/* W_nk = exp(f_k - u_nk) / denominator_n over all states. */
static void state_weights(const struct problem *p, const double *ratio, size_t row, double *w)
{
    size_t n = (size_t)p->nstates;
    double denominator = mixture_weights(p, row);
    for (size_t k = 0; k < n; k++)
        w[k] = ratio[k] * p->table->e[row * n + k] / denominator;
}

/* Lower triangle of W^T W, mirrored. */
static void weight_products(const struct problem *p, const double *ratio, double *m)
{
    size_t n = (size_t)p->nstates;
    double *w = xcalloc(n, sizeof *w);
    for (int i = 0; i < p->n; i++)
        for (size_t row = p->first[i]; row < p->last[i]; row++) {
            state_weights(p, ratio, row, w);
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b <= a; b++)
                    m[a * n + b] += w[a] * w[b];
        }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            m[a * n + b] = m[b * n + a];
    free(w);
}

/* The equations sum_n W_nk = 1 of all states, expanded around the solution: (1 - M N) df = -(sum_n W_n - 1) with
 * M = W^T W. So the influence of a row on f is -(1 - M N)^-1 W_n, for states without samples too. The matrix has one
 * null vector, all ones, because M N 1 = 1; adding 1 1^T N / N_total makes it regular and adds the same to every f,
 * which cancels from differences. No pseudoinverse, no cut-off to choose. For independent rows the variance that
 * follows is that of eq. 8. Into `inverse`; `overlap`, M N. */
static bool response(const struct problem *p, const double *products, double *overlap, double *inverse)
{
    int n = p->nstates;
    double *a = xcalloc((size_t)n * (size_t)n, sizeof *a), *count = xcalloc((size_t)n, sizeof *count), total = 0;
    for (int i = 0; i < p->n; i++) {
        count[p->state[i]] = p->count[i];
        total += p->count[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            overlap[i * n + j] = products[i * n + j] * count[j];
            a[i * n + j] = (i == j) - overlap[i * n + j] + count[j] / total;
            inverse[i * n + j] = i == j;
        }
    bool ok = linalg_lu(a, inverse, n, n);
    for (int i = 0; i < n * n; i++)
        ok = ok && isfinite(inverse[i]);
    free(count);
    free(a);
    return ok;
}

/* Influences of every row on the nstates of x: state k feels -columns[k] W_n. */
static void mbar_influences(const struct problem *p, const double *ratio, const double *columns, struct solution *x)
{
    size_t n = (size_t)p->nstates, m = (size_t)x->nstates;
    double *w = xcalloc(n + m, sizeof *w), *value = w + n;
    for (int i = 0; i < p->n; i++) {
        solution_begin(x, p->state[i], p->last[i] - p->first[i]);
        for (size_t row = p->first[i]; row < p->last[i]; row++) {
            state_weights(p, ratio, row, w);
            for (size_t k = 0; k < m; k++) {
                value[k] = 0;
                for (size_t j = 0; j < n; j++)
                    value[k] -= columns[k * n + j] * w[j];
            }
            solution_add(x, p->state[i], row - p->first[i], value);
        }
    }
    free(w);
}

/* What follows from f of the sampled states. ends NULL: g and influences of every state, else of the two ends alone. */
static int finish(struct mbar *m, const struct problem *p, const double *f, const struct range *ends, struct err *e)
{
    size_t n = (size_t)p->nstates;
    double *space = xcalloc(n * (n + 2), sizeof *space), *products = space, *columns = space + n * n;
    double *inverse = m->response = xcalloc(n * n, sizeof *m->response);
    double *ratio = m->ratio = xcalloc(n, sizeof *m->ratio);
    m->overlap = xcalloc(n * n, sizeof *m->overlap);
    solution_init(&m->solution, ends ? 2 : p->nstates, p->table->s);
    extend(p, f, ratio);
    weight_products(p, ratio, products);
    bool ok = response(p, products, m->overlap, inverse);
    for (size_t k = 0; k < (ends ? 2 : n); k++) {
        size_t state = !ends ? k : (size_t)(k ? ends->to : ends->from);
        m->solution.g[k] = log(ratio[state]) + p->table->base[state];
        if (ends)
            memcpy(columns + k * n, inverse + state * n, n * sizeof *columns);
        ok = ok && isfinite(m->solution.g[k]);
    }
    for (size_t k = ends ? 2 : n; k-- > 0;)
        m->solution.g[k] -= m->solution.g[0];
    if (ok)
        mbar_influences(p, ratio, ends ? columns : inverse, &m->solution);
    free(space);
    return ok ? 0 : err_set(e, ERR_ESTIMATE, "MBAR: the covariance of the free energies is singular");
}

int mbar_solve(struct mbar *m, const struct sampling *s, const double *guess, struct err *e)
{
    struct problem p;
    double *f = xcalloc((size_t)s->nstates, sizeof *f);
    m->table = table_new(s, guess);
    problem_init(&p, m->table, NULL, 0, 1);
    for (int i = 0; guess && i < p.n; i++)
        f[i] = guess[p.state[i]] - guess[p.state[0]];
    int rc = p.n ? 0 : err_set(e, ERR_ESTIMATE, "MBAR: no window has samples");
    if (!rc && p.n > 1)
        rc = solve(&p, f, m->table, &m->sweeps, e);
    if (!rc)
        rc = finish(m, &p, f, NULL, e);
    problem_close(&p);
    free(f);
    return rc;
}

void mbar_row_weights(const struct mbar *m, size_t row, double *w)
{
    const struct sampling *s = m->table->s;
    size_t n = (size_t)s->nstates;
    double denominator = 0;
    for (size_t k = 0; k < n; k++) {
        w[k] = m->ratio[k] * m->table->e[row * n + k];
        denominator += (double)sampling_count(s, (int)k) * w[k];
    }
    for (size_t k = 0; k < n; k++)
        w[k] /= denominator;
}

void mbar_part(const struct mbar *m, const size_t *head, double from, double to, struct range *r, struct err *e)
{
    struct problem p;
    struct mbar part = {0};
    struct range ends = {.from = 0, .to = 1};
    double *f = xcalloc((size_t)m->solution.nstates, sizeof *f);
    problem_init(&p, m->table, head, from, to);
    for (int i = 0; i < p.n; i++)
        f[i] = m->solution.g[p.state[i]] - m->solution.g[p.state[0]];
    if (p.n < 2)
        err_set(e, ERR_ESTIMATE, "windows with samples: %d, expected 2 or more", p.n);
    r->ok = p.n > 1 && !solve(&p, f, NULL, &part.sweeps, e) && !finish(&part, &p, f, r, e);
    if (r->ok) {
        solution_range(&part.solution, &ends);
        r->value = ends.value;
        r->error = ends.error;
    }
    mbar_close(&part);
    problem_close(&p);
    free(f);
}

void mbar_close(struct mbar *m)
{
    solution_close(&m->solution);
    free(m->overlap);
    free(m->response);
    free(m->ratio);
    mbar_table_free(m->table);
    *m = (struct mbar){0};
}
