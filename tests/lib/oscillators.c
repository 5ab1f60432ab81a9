/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/oscillators.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "engine/series/dhdl.h"

double random_uniform(uint64_t *state)
{
    /* splitmix64 (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195) */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

double random_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(random_uniform(state)));
    return radius * cos(2 * M_PI * random_uniform(state));
}

static void shape(const struct ladder_of_oscillators *o, int k, double *a, double *c)
{
    *a = o->a0;
    *c = o->c0;
    for (int i = 0; i < o->ncomponents; i++) {
        *a += o->da[i] * o->lambda[k * o->ncomponents + i];
        *c += o->dc[i] * o->lambda[k * o->ncomponents + i];
    }
}

static double reduced(const struct ladder_of_oscillators *o, int k, double x)
{
    double a, c;
    shape(o, k, &a, &c);
    return 0.5 * a * (x - c) * (x - c);
}

static double derivative(const struct ladder_of_oscillators *o, int k, int component, double x)
{
    double a, c;
    shape(o, k, &a, &c);
    return 0.5 * o->da[component] * (x - c) * (x - c) - a * (x - c) * o->dc[component];
}

double oscillators_exact(const struct ladder_of_oscillators *o, int k)
{
    double a, a0, c;
    shape(o, k, &a, &c);
    shape(o, 0, &a0, &c);
    return 0.5 * log(a / a0);
}

/* The next x of state k; *y is the normal deviate before it. */
static double next_x(const struct ladder_of_oscillators *o, int k, double *y, uint64_t *state)
{
    double a, c;
    *y = o->memory * *y + sqrt(1 - o->memory * o->memory) * random_normal(state);
    shape(o, k, &a, &c);
    return c + *y / sqrt(a);
}

void oscillators_sample(struct sampling *s, const struct ladder_of_oscillators *o, const int *count, uint64_t seed)
{
    size_t n = (size_t)o->nstates, nc = (size_t)o->ncomponents, row = 0;
    *s = (struct sampling){.nstates = o->nstates, .ncomponents = o->ncomponents, .lambda = o->lambda};
    s->start = xcalloc(n + 1, sizeof *s->start);
    for (int k = 0; k < o->nstates; k++)
        s->start[k + 1] = s->start[k] + (size_t)count[k];
    s->u = xcalloc(s->start[n] * n, sizeof *s->u);
    s->dhdl = xcalloc(s->start[n] * nc, sizeof *s->dhdl);
    for (int k = 0; k < o->nstates; k++) {
        double y = random_normal(&seed);
        for (; row < s->start[k + 1]; row++) {
            double x = next_x(o, k, &y, &seed);
            for (int j = 0; j < o->nstates; j++)
                s->u[row * n + (size_t)j] = reduced(o, j, x) - reduced(o, k, x);
            for (int c = 0; c < o->ncomponents; c++)
                s->dhdl[row * nc + (size_t)c] = derivative(o, k, c, x);
        }
    }
}

/* The settings under which the service would write such files; lambda is [nstates]. */
static struct settings settings_of(const struct ladder_of_oscillators *o, double temperature,
                                   double (*lambda)[LAMBDA_COUNT])
{
    struct settings set = {.integrator.temperature = temperature, .barostat = {.on = true, .pressure = 1}};
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE, .nwindows = o->nstates, .lambda = lambda};
    for (int c = 0; c < o->ncomponents; c++) {
        set.alchemy.given[o->component[c]] = true;
        for (int k = 0; k < o->nstates; k++)
            lambda[k][o->component[c]] = o->lambda[k * o->ncomponents + c];
    }
    return set;
}

void oscillators_header(struct buf *out, const struct ladder_of_oscillators *o, int k, double temperature)
{
    double(*lambda)[LAMBDA_COUNT] = xcalloc((size_t)o->nstates, sizeof *lambda);
    struct settings set = settings_of(o, temperature, lambda);
    dhdl_header(out, &set, k, true);
    free(lambda);
}

void oscillators_file_of(struct buf *out, const struct ladder_of_oscillators *o,
                         const struct ladder_of_oscillators *sampled, int k, int n, double temperature, uint64_t seed)
{
    double kt = UNIT_R * temperature, y = random_normal(&seed);
    double(*lambda)[LAMBDA_COUNT] = xcalloc((size_t)o->nstates, sizeof *lambda);
    struct settings set = settings_of(o, temperature, lambda);
    struct sample s = {.delta_u = xcalloc((size_t)o->nstates, sizeof *s.delta_u), .box = {UNIT_BAR, 1, 1}};
    dhdl_header(out, &set, k, true);
    for (int i = 0; i < n; i++) {
        double x = next_x(sampled, k, &y, &seed);
        s.time = i;
        s.box[1] = 0.75 + 0.01 * x; /* pV in kJ/mol, at 1 bar */
        for (int c = 0; c < o->ncomponents; c++)
            s.dvdl[o->component[c]] = kt * derivative(o, k, c, x);
        for (int j = 0; j < o->nstates; j++)
            s.delta_u[j] = kt * (reduced(o, j, x) - reduced(o, k, x));
        dhdl_row(out, &set, true, &s);
    }
    free(s.delta_u);
    free(lambda);
}

void oscillators_file(struct buf *out, const struct ladder_of_oscillators *o, int k, int n, double temperature,
                      uint64_t seed)
{
    oscillators_file_of(out, o, o, k, n, temperature, seed);
}
