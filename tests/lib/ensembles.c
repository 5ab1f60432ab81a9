/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/ensembles.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "engine/estimate/analysis.h"
#include "engine/estimate/rows/rows.h"
#include "tests/lib/oscillators.h"

#define TEMPERATURE 300

double known_exact(const struct known_ensemble *m)
{
    double g = m->mean - 0.5 * m->variance;
    if (m->k1 > 0)
        g += 0.5 * log(m->k1);
    if (m->hops > 0)
        g -= log(cosh(m->bias + m->step) / cosh(m->bias));
    return g;
}

/* What is sampled in one window, row by row. */
struct motion {
    const struct known_ensemble *m;
    double lambda, k;
    double slow, y[2]; /* the slow part of D, the oscillator now and before, both of variance 1 */
    int s, hops, rows;
    double stay, share; /* of s: chance to forget is 1 - stay; of s = 1 */
    uint64_t seed;
};

/* The next value of x sqrt(k), autoregressive of second order. */
static double oscillate(struct motion *w)
{
    double r = exp(-1 / w->m->decay), cosine = cos(2 * acos(-1) / w->m->period);
    double a = 2 * r * cosine, b = r * r;
    double noise = sqrt((1 - b) * ((1 + b) * (1 + b) - a * a) / (1 + b));
    double next = a * w->y[0] - b * w->y[1] + noise * random_normal(&w->seed);
    w->y[1] = w->y[0];
    return w->y[0] = next;
}

static void hop(struct motion *w)
{
    if (random_uniform(&w->seed) < w->stay)
        return;
    int next = random_uniform(&w->seed) < w->share ? 1 : -1;
    w->hops += next != w->s;
    w->s = next;
}

static void begin(struct motion *w, const struct known_ensemble *m, double lambda, int rows, uint64_t seed)
{
    *w = (struct motion){
        .m = m, .lambda = lambda, .k = m->k1 > 0 ? 1 + lambda * (m->k1 - 1) : 1, .rows = rows, .seed = seed};
    w->slow = random_normal(&w->seed);
    for (int i = 0; m->k1 > 0 && i < 20 * m->decay; i++)
        oscillate(w);
    double a = m->bias + lambda * m->step;
    w->share = exp(-a) / (2 * cosh(a));
    w->stay = 1 - m->hops / (2 * w->share * (1 - w->share) * rows);
    w->s = random_uniform(&w->seed) < w->share ? 1 : -1;
}

/* D, x and s of row i. */
static void advance(struct motion *w, int i, double *d, double *x)
{
    const struct known_ensemble *m = w->m;
    double tau = m->uneven ? m->tau * w->lambda : m->tau, memory = tau > 0 ? exp(-1 / tau) : 0, t = (double)i / w->rows;
    w->slow = memory * w->slow + sqrt(1 - memory * memory) * random_normal(&w->seed);
    double y = sqrt(m->slow) * w->slow + sqrt(1 - m->slow) * random_normal(&w->seed) + m->trend * (t - 0.5);
    if (m->relax_share > 0)
        y += m->relax * exp(-t / m->relax_share);
    *d = m->mean - w->lambda * m->variance + sqrt(m->variance) * y;
    *x = m->k1 > 0 ? oscillate(w) / sqrt(w->k) : 0;
    if (m->hops > 0)
        hop(w);
}

/* Of which window the samples in window k are. */
static int source(const struct known_ensemble *m, int k)
{
    int middle = m->windows / 2, last = m->windows - 1;
    if (m->labels == LABELS_ALL_ONE)
        return middle;
    if (m->labels == LABELS_ENDS)
        return k == 0 ? last : k == last ? 0 : k;
    if (k == middle && (m->labels == LABELS_NEIGHBOUR || m->labels == LABELS_EXCHANGED))
        return middle - 1;
    return k == middle - 1 && m->labels == LABELS_EXCHANGED ? middle : k;
}

static double factor(const struct known_ensemble *m, int k)
{
    const double kt = UNIT_R * TEMPERATURE;
    return m->labels == LABELS_SIGN                             ? -kt
           : m->labels == LABELS_UNIT                           ? 1
           : m->labels == LABELS_DOUBLED && k == m->windows / 2 ? 2 * kt
                                                                : kt;
}

static double lambda_of(const struct known_ensemble *m, int k)
{
    return (double)k / (m->windows - 1);
}

static int sample(struct dhdl *d, const struct known_ensemble *m, int k, uint64_t seed)
{
    struct motion w;
    int n = k == m->long_window && m->long_rows ? m->long_rows : m->rows;
    double scale = factor(m, k), own = lambda_of(m, k);
    size_t ns = (size_t)m->windows;
    *d = (struct dhdl){.temperature = TEMPERATURE,
                       .state = k,
                       .ncomponents = 1,
                       .component = {LAMBDA_VDW},
                       .lambda = {own},
                       .nstates = m->windows,
                       .states = xcalloc(ns, sizeof *d->states),
                       .seen = (size_t)n,
                       .stride = 1,
                       .n = (size_t)n,
                       .derivatives = true,
                       .time = xcalloc((size_t)n, sizeof *d->time),
                       .dhdl = xcalloc((size_t)n, sizeof *d->dhdl),
                       .dh = xcalloc((size_t)n * ns, sizeof *d->dh)};
    for (int j = 0; j < m->windows; j++)
        d->states[j] = lambda_of(m, j);
    begin(&w, m, lambda_of(m, source(m, k)), n, seed);
    for (int i = 0; i < n; i++) {
        double energy, x;
        advance(&w, i, &energy, &x);
        double slope = energy + 0.5 * (m->k1 > 0 ? m->k1 - 1 : 0) * x * x + m->step * w.s;
        d->time[i] = i;
        d->dhdl[i] = scale * slope;
        for (size_t j = 0; j < ns; j++)
            d->dh[(size_t)i * ns + j] = scale * slope * (d->states[j] - own);
    }
    return w.hops;
}

void known_estimate(const struct known_ensemble *m, uint64_t seed, struct ladder *l, struct result *r, int *hopped)
{
    struct sampling s;
    *hopped = 0;
    for (int k = 0; k < m->windows; k++) {
        struct dhdl d;
        *hopped += sample(&d, m, k, seed * 1000003 + (uint64_t)k * 7919) > 0;
        if (!k) {
            ladder_of_file(l, &d);
            result_init(r, l);
            sampling_init(&s, l);
        }
        s.start[k + 1] = s.start[k];
        window_take(r, "known", &d, k, &s);
        dhdl_close(&d);
    }
    result_analyse(r, &s);
    sampling_close(&s);
}
