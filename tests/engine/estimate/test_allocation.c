/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether production that is handed out by what windows need (engine/base/statistics/allocate.h) keeps its promises:
 * many ensembles of correlated samples with known free energies, in the rounds of daemon/schedule/allocation.c and
 * beside even sampling. The estimate is not biased, its error is the one told, and so much time makes the error of even
 * sampling.
 *
 * The windows are modelled on FreeSolv's ladder: 5 that take charges off, 15 that take van der Waals' interactions off.
 * Window k's energy is u(x) = a (x - c)^2 / 2 in kT: dH to the next window fluctuates by about as much as its c is
 * away, and x is autoregressive with the window's own g. Both are as 16 to 20 ps of methane and methanol in water have
 * them, with rows of 0.1 ps; g is smoothed, and methanol's van der Waals part is methane's.
 *
 * Arguments, by hand: MOLECULE [ENSEMBLES ROWS TIME]: rows of even sampling in each window, and the part of its time
 * that is given.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/statistics/allocate.h"
#include "engine/estimate/estimators/forecast.h"
#include "engine/estimate/estimators/mbar.h"
#include "tests/lib/oscillators.h"

enum { WINDOWS = 20, MOST = 12 /* times an even share that a window may get */ };

struct molecule {
    const char *name;
    double step[WINDOWS - 1]; /* standard deviation of dH to the next window, kT */
    double g[WINDOWS];        /* in rows */
};
static const struct molecule molecules[] = {
    {"methane",
     {0.03, 0.03, 0.03, 0.03, 0.24, 0.28, 0.57, 0.56, 0.64, 0.69, 0.85, 0.57, 0.55, 0.46, 0.33, 0.21, 0.16, 0.12, 0.09},
     {1.2, 1.2, 1.2, 1.2, 1.6, 2.2, 2.4, 2.5, 2.7, 3.2, 4.5, 6, 10, 20, 18, 7, 4.5, 3.5, 3, 2.7}},
    {"methanol",
     {1.43, 1.26, 1.05, 0.92, 0.24, 0.28, 0.57, 0.56, 0.64, 0.69, 0.85, 0.57, 0.55, 0.46, 0.33, 0.21, 0.16, 0.12, 0.09},
     {6, 4, 3, 1.5, 1.4, 2.2, 2.4, 2.5, 2.7, 3.2, 4.5, 6, 10, 20, 18, 7, 4.5, 3.5, 3, 2.7}},
};

static double stiffness(int k)
{
    return 1 + 1.0 * k / (WINDOWS - 1);
}

static double center(const struct molecule *m, int k)
{
    double c = 0;
    for (int i = 0; i < k; i++)
        c += m->step[i];
    return c;
}

static double exact(void)
{
    return 0.5 * log(stiffness(WINDOWS - 1) / stiffness(0));
}

/* x of every window: [WINDOWS][MOST * rows] */
static void sample(const struct molecule *m, int rows, uint64_t seed, double *x)
{
    for (int k = 0; k < WINDOWS; k++) {
        const double memory = (m->g[k] - 1) / (m->g[k] + 1), a = stiffness(k), c = center(m, k);
        double y = random_normal(&seed);
        for (int i = 0; i < MOST * rows; i++) {
            *x++ = c + y / sqrt(a);
            y = memory * y + sqrt(1 - memory * memory) * random_normal(&seed);
        }
    }
}

/* The estimate of the first rows of every window; `forecast`: NULL, or what more would bring. */
static struct range estimate(const struct molecule *m, const double *x, int rows, const struct allocate_window *w,
                             struct forecast **forecast)
{
    struct sampling s = {.nstates = WINDOWS};
    struct mbar mbar = {0};
    struct err e = {0};
    struct range r = {.from = 0, .to = WINDOWS - 1};
    double c[WINDOWS];
    s.start = xcalloc(WINDOWS + 1, sizeof *s.start);
    for (int k = 0; k < WINDOWS; k++) {
        s.start[k + 1] = s.start[k] + (size_t)w[k].steps;
        c[k] = center(m, k);
    }
    s.u = xcalloc(s.start[WINDOWS] * WINDOWS, sizeof *s.u);
    double *u = s.u;
    for (int k = 0; k < WINDOWS; k++)
        for (int64_t i = 0; i < w[k].steps; i++) {
            double at = x[(int64_t)k * MOST * rows + i], own = stiffness(k) * (at - c[k]) * (at - c[k]);
            for (int j = 0; j < WINDOWS; j++)
                *u++ = 0.5 * (stiffness(j) * (at - c[j]) * (at - c[j]) - own);
        }
    assert(mbar_solve(&mbar, &s, NULL, &e) == 0);
    solution_range(&mbar.solution, &r);
    struct longrun part[WINDOWS];
    solution_parts(&mbar.solution, 0, WINDOWS - 1, part);
    if (forecast)
        *forecast = forecast_new(&s, mbar.solution.g, part, 0, WINDOWS - 1);
    mbar_close(&mbar);
    sampling_close(&s);
    return r;
}

static struct range even(const struct molecule *m, const double *x, int rows)
{
    struct allocate_window w[WINDOWS];
    for (int k = 0; k < WINDOWS; k++)
        w[k] = (struct allocate_window){.steps = rows};
    return estimate(m, x, rows, w, NULL);
}

/* What was forecast, and the steps that it was made from. */
struct view {
    struct forecast *forecast;
    const struct allocate_window *w;
};

static double variance(void *arg, const double *steps)
{
    const struct view *v = arg;
    double times[WINDOWS];
    for (int k = 0; k < WINDOWS; k++)
        times[k] = steps[k] / (double)v->w[k].steps;
    return forecast_variance(v->forecast, times);
}

/* In rounds: a floor, then as much as to half of all, then the rest. `share`: rows of a window on average. */
static struct range adaptive(const struct molecule *m, const double *x, int rows, int share, double *got)
{
    struct allocate_window w[WINDOWS];
    for (int k = 0; k < WINDOWS; k++)
        w[k] = (struct allocate_window){.steps = share / ALLOCATE_FLOOR, .replicas = 1};
    for (double part = 0.5; part <= 1; part *= 2) {
        struct view v = {.w = w};
        estimate(m, x, rows, w, &v.forecast);
        allocate(w, WINDOWS, share, (int64_t)(part * share * WINDOWS), 1, variance, &v);
        forecast_free(v.forecast);
        for (int k = 0; k < WINDOWS; k++) {
            assert(w[k].target <= MOST * rows);
            w[k].steps = w[k].target;
        }
    }
    for (int k = 0; k < WINDOWS; k++)
        got[k] += (double)w[k].steps / share;
    return estimate(m, x, rows, w, NULL);
}

/* Over all ensembles. */
struct tally {
    double sum, square, told;
};

static void count(struct tally *t, const struct range *r)
{
    double off = r->value - exact();
    assert(r->ok && r->error > 0);
    t->sum += off;
    t->square += off * off;
    t->told += r->error;
}

/* Prints a line of the table; whether the estimate is not biased and its error the one told. */
static bool line(const char *name, const struct tally *t, int n)
{
    double made = sqrt(t->square / n), told = t->told / n, bias = t->sum / n;
    bool ok = fabs(bias) < 3 * made / sqrt(n) && told / made >= 0.9 && told / made <= 1.15;
    printf("%-10s %9d %9.4f %8.4f %9.4f %6.2f %s\n", name, n, made, told, bias, told / made, ok ? "" : "<- wrong");
    return ok;
}

int main(int argc, char **argv)
{
    const struct molecule *m = molecules + (argc > 1 && !strcmp(argv[1], molecules[1].name));
    int n = argc > 2 ? atoi(argv[2]) : 60, rows = argc > 3 ? atoi(argv[3]) : 400;
    double time = argc > 4 ? atof(argv[4]) : 0.7, got[WINDOWS] = {0};
    double *x = xcalloc((size_t)WINDOWS * MOST * (size_t)rows, sizeof *x);
    struct tally alike = {0}, shared = {0};
    for (int i = 0; i < n; i++) {
        sample(m, rows, (uint64_t)i * 1000003 + 17, x);
        struct range a = even(m, x, rows), b = adaptive(m, x, rows, (int)(time * rows), got);
        count(&alike, &a);
        count(&shared, &b);
    }
    printf("%s, 20 windows of %d rows, and %.0f %% of them handed out by need; kT\n", m->name, rows, 100 * time);
    printf("%-10s %9s %9s %8s %9s %6s\n", "", "ensembles", "made", "told", "bias", "ratio");
    bool ok = line("even", &alike, n);
    ok &= line("adaptive", &shared, n);
    printf("time for the error of even sampling: %.2f of its; shares:", time * shared.square / alike.square);
    for (int k = 0; k < WINDOWS; k++)
        printf(" %.2f", got[k] / n);
    printf("\n");
    free(x);
    return ok && shared.square <= alike.square ? 0 : 1;
}
