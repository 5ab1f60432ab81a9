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
#include "engine/estimate/estimators/mbar_weights.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define MAX_SWEEPS 2000
#define TOLERANCE 1e-10 /* kT, of the Newton step that ends the search */
#define PART 1e-5       /* the same for a part of the data, whose statistical error is far larger */
#define ROUNDING 1e-12  /* a residual below has no meaning: what it leaves open is far below the statistical error */
#define FAR 200         /* kT from the base at which the table is made again */
#define PATIENCE 50     /* steps, besides ten per state, in which a bad start must have come near enough for Newton */

/* S_k and the lower triangle of P^T P. Summed window by window, so that rounding grows with the largest
 * window only. */
static void sweep(const struct mbar_problem *p, const double *f, double *sum, double *square)
{
    size_t n = (size_t)p->n;
    double *part = xcalloc(n, sizeof *part);
    mbar_set_f(p, f);
    memset(sum, 0, n * sizeof *sum);
    memset(square, 0, n * n * sizeof *square);
    for (int w = 0; w < p->n; w++) {
        memset(part, 0, n * sizeof *part);
        for (size_t row = p->first[w], rows; row < p->last[w]; row += rows) {
            rows = mbar_rows_at(p, w, row);
            mbar_mixture_weights(p, row, rows);
            for (size_t i = 0; i < n; i++)
                for (size_t r = 0; r < rows; r++)
                    part[i] += p->p[i * MBAR_ROWS + r];
            mbar_add_products(p->p, n, rows, square);
        }
        for (size_t i = 0; i < n; i++)
            sum[i] += part[i];
    }
    free(part);
}

static double residual(const struct mbar_problem *p, const double *sum)
{
    double most = 0;
    for (int i = 0; i < p->n; i++)
        most = fmax(most, fabs(sum[i] / p->count[i] - 1));
    return most;
}

/* Newton's step into `step` ([0] = 0). False when the Hessian is singular. */
static bool newton(const struct mbar_problem *p, const double *sum, const double *square, double *step)
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

static void self_consistent(const struct mbar_problem *p, const double *sum, double *step)
{
    for (int i = 0; i < p->n; i++)
        step[i] = -log(fmax(sum[i], DBL_MIN) / p->count[i]);
    for (int i = p->n; i-- > 0;)
        step[i] -= step[0];
}

/* Free energies with what a sweep finds of them. */
struct mbar_point {
    double *f, *sum, *square;
};

struct mbar_search {
    struct mbar_point now, trial, better;
    double *step;
    int sweeps;
};

static struct mbar_point point_new(int nstates)
{
    size_t n = (size_t)nstates;
    double *space = xcalloc(n * (n + 2), sizeof *space);
    return (struct mbar_point){space, space + n, space + 2 * n};
}

static void point_free(struct mbar_point *x)
{
    free(x->f);
}

static void swap_points(struct mbar_point *a, struct mbar_point *b)
{
    struct mbar_point t = *a;
    *a = *b;
    *b = t;
}

static void sweep_point(const struct mbar_problem *p, struct mbar_search *q, struct mbar_point *x)
{
    sweep(p, x->f, x->sum, x->square);
    q->sweeps++;
}

/* now + step into trial; swaps it into `better` when its residual is below *least (a NaN never is). */
static void try_step(const struct mbar_problem *p, struct mbar_search *q, double *least)
{
    for (int i = 0; i < p->n; i++)
        q->trial.f[i] = q->now.f[i] + q->step[i];
    sweep_point(p, q, &q->trial);
    double r = residual(p, q->trial.sum);
    if (!(r < *least))
        return;
    *least = r;
    swap_points(&q->better, &q->trial);
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Makes the table again around f where f has gone far from it: true. */
static bool follow_slope(const struct mbar_problem *p, const double *f, struct mbar_table *table)
{
    double far = 0;
    for (int i = 0; i < p->n; i++)
        far = fmax(far, fabs(f[i] - table->base[p->state[i]]));
    if (far < FAR)
        return false;
    for (int i = 0; i < p->n; i++)
        table->base[p->state[i]] = f[i];
    mbar_table_fill(table);
    return true;
}

/* `table`: the problem's, where it may be made again; NULL: a part of the data, whose solution is near. */
static int search(const struct mbar_problem *p, struct mbar_search *q, struct mbar_table *table, struct err *e)
{
    int singular = 0; /* times in a row */
    if (table)
        follow_slope(p, q->now.f, table);
    sweep_point(p, q, &q->now);
    while (q->sweeps < MAX_SWEEPS) {
        double now = residual(p, q->now.sum), least = INFINITY;
        bool regular = newton(p, q->now.sum, q->now.square, q->step);
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
                swap_points(&q->now, &q->better);
            return 0;
        }
        if (!(least < 0.5 * now)) {
            self_consistent(p, q->now.sum, q->step);
            try_step(p, q, &least);
        }
        if (!isfinite(least))
            break;
        swap_points(&q->now, &q->better);
        if (table && follow_slope(p, q->now.f, table))
            sweep_point(p, q, &q->now);
    }
    return err_set(e, ERR_ESTIMATE, "MBAR did not converge in %d passes (residual %.2g of a window's samples)",
                   q->sweeps, residual(p, q->now.sum));
}

/* From x->f on, to where x is the solution. */
static int solve(const struct mbar_problem *p, struct mbar_point *x, struct mbar_table *table, int *sweeps,
                 struct err *e)
{
    struct mbar_search q = {
        .now = *x, .trial = point_new(p->n), .better = point_new(p->n), .step = xcalloc((size_t)p->n, sizeof *q.step)};
    int rc = search(p, &q, table, e);
    *x = q.now;
    *sweeps = q.sweeps;
    point_free(&q.trial);
    point_free(&q.better);
    free(q.step);
    return rc;
}

/* exp(f_k - base_k) of every state from f of the sampled ones (eq. 11): f_k = -ln sum_n exp(-u_nk) / mixture_n. */
static void extend(const struct mbar_problem *p, const double *f, double *ratio)
{
    size_t n = (size_t)p->nstates;
    mbar_set_f(p, f);
    memset(ratio, 0, n * sizeof *ratio);
    for (int w = 0; w < p->n; w++)
        for (size_t row = p->first[w], rows; row < p->last[w]; row += rows) {
            rows = mbar_rows_at(p, w, row);
            mbar_mixture_weights(p, row, rows);
            for (size_t r = 0; r < rows; r++) {
                double share = 1 / p->mixture[r];
                for (size_t k = 0; k < n; k++)
                    ratio[k] += p->table->e[(row + r) * n + k] * share;
            }
        }
    for (size_t k = 0; k < n; k++)
        ratio[k] = 1 / ratio[k];
}

/* W_nk = exp(f_k - u_nk) / mixture_n over all states, of so many rows: w[nstates][MBAR_ROWS]. */
static void state_weights(const struct mbar_problem *p, const double *ratio, size_t row, size_t rows, double *w)
{
    size_t n = (size_t)p->nstates;
    mbar_mixture_weights(p, row, rows);
    for (size_t r = 0; r < rows; r++) {
        double share = 1 / p->mixture[r];
        for (size_t k = 0; k < n; k++)
            w[k * MBAR_ROWS + r] = ratio[k] * p->table->e[(row + r) * n + k] * share;
    }
}

/* Lower triangle of W^T W, mirrored. */
static void weight_products(const struct mbar_problem *p, const double *ratio, double *m)
{
    size_t n = (size_t)p->nstates;
    double *w = xcalloc(n * MBAR_ROWS, sizeof *w);
    for (int i = 0; i < p->n; i++)
        for (size_t row = p->first[i], rows; row < p->last[i]; row += rows) {
            rows = mbar_rows_at(p, i, row);
            state_weights(p, ratio, row, rows, w);
            mbar_add_products(w, n, rows, m);
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
static bool response(const struct mbar_problem *p, const double *products, double *overlap, double *inverse)
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
static void mbar_influences(const struct mbar_problem *p, const double *ratio, const double *columns,
                            struct solution *x)
{
    size_t n = (size_t)p->nstates, m = (size_t)x->nstates;
    double *w = xcalloc(n * MBAR_ROWS + m, sizeof *w), *value = w + n * MBAR_ROWS;
    for (int i = 0; i < p->n; i++) {
        solution_begin(x, p->state[i], p->first[i], p->last[i] - p->first[i]);
        for (size_t row = p->first[i]; row < p->last[i]; row++) {
            size_t r = (row - p->first[i]) % MBAR_ROWS;
            if (r == 0)
                state_weights(p, ratio, row, mbar_rows_at(p, i, row), w);
            for (size_t k = 0; k < m; k++) {
                value[k] = 0;
                for (size_t j = 0; j < n; j++)
                    value[k] -= columns[k * n + j] * w[j * MBAR_ROWS + r];
            }
            solution_add(x, p->state[i], row - p->first[i], value);
        }
    }
    free(w);
}

/* Both where all states are sampled, whose last sweep has their sums: S_k = N_k exp(f_k - base_k) / ratio_k. */
static void from_sweep(const struct mbar_problem *p, const struct mbar_point *x, double *ratio, double *products)
{
    int n = p->n;
    mbar_set_f(p, x->f);
    for (int a = 0; a < n; a++) {
        ratio[a] = p->scale[a] / x->sum[a];
        for (int b = 0; b <= a; b++)
            products[a * n + b] = products[b * n + a] = x->square[a * n + b] / (x->sum[a] * x->sum[b]);
    }
}

/* What follows from a solution for the sampled states. ends NULL: g and influences of every state, else of the two ends
 * alone. */
static int finish(struct mbar *m, const struct mbar_problem *p, const struct mbar_point *x, const struct range *ends,
                  struct err *e)
{
    size_t n = (size_t)p->nstates;
    double *space = xcalloc(n * (n + 2), sizeof *space), *products = space, *columns = space + n * n;
    double *inverse = m->response = xcalloc(n * n, sizeof *m->response);
    double *ratio = m->ratio = xcalloc(n, sizeof *m->ratio);
    m->overlap = xcalloc(n * n, sizeof *m->overlap);
    solution_init(&m->solution, ends ? 2 : p->nstates, p->table->s);
    solution_part(&m->solution, p->place, p->run);
    if (p->n == p->nstates) {
        from_sweep(p, x, ratio, products);
    } else {
        extend(p, x->f, ratio);
        weight_products(p, ratio, products);
    }
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
    struct mbar_problem p;
    m->table = mbar_table_new(s, guess);
    mbar_problem_init(&p, m->table, NULL, 0, 1);
    struct mbar_point x = point_new(p.n);
    for (int i = 0; guess && i < p.n; i++)
        x.f[i] = guess[p.state[i]] - guess[p.state[0]];
    int rc = p.n ? 0 : err_set(e, ERR_ESTIMATE, "MBAR: no window has samples");
    if (p.n > 1)
        rc = solve(&p, &x, m->table, &m->sweeps, e);
    else
        sweep(&p, x.f, x.sum, x.square);
    if (!rc)
        rc = finish(m, &p, &x, NULL, e);
    mbar_problem_close(&p);
    point_free(&x);
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
    struct mbar_problem p;
    struct mbar part = {0};
    struct range ends = {.from = 0, .to = 1};
    mbar_problem_init(&p, m->table, head, from, to);
    struct mbar_point x = point_new(p.n);
    for (int i = 0; i < p.n; i++)
        x.f[i] = m->solution.g[p.state[i]] - m->solution.g[p.state[0]];
    if (p.n < 2)
        err_set(e, ERR_ESTIMATE, "windows with samples: %d, expected 2 or more", p.n);
    r->ok = p.n > 1 && !solve(&p, &x, NULL, &part.sweeps, e) && !finish(&part, &p, &x, r, e);
    if (r->ok) {
        solution_range(&part.solution, &ends);
        r->value = ends.value;
        r->error = ends.error;
    }
    mbar_close(&part);
    mbar_problem_close(&p);
    point_free(&x);
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
