/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/oscillators.h"

#include <math.h>

#include "engine/base/units.h"

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
    return radius * cos(2 * acos(-1) * random_uniform(state));
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

static void vector(struct buf *out, const struct ladder_of_oscillators *o, int k)
{
    const double *l = o->lambda + k * o->ncomponents;
    if (o->ncomponents == 1)
        buf_printf(out, "%.4f", l[0]);
    else
        buf_printf(out, "(%.4f, %.4f)", l[0], l[1]);
}

void oscillators_header(struct buf *out, const struct ladder_of_oscillators *o, int k, double temperature)
{
    int column = 0;
    buf_printf(out,
               "# oscillators\n@    title \"dH/d\\xl\\f{} and \\xD\\f{}H\"\n@    xaxis  label \"Time (ps)\"\n"
               "@    yaxis  label \"dH/d\\xl\\f{} and \\xD\\f{}H (kJ/mol [\\xl\\f{}]\\S-1\\N)\"\n@TYPE xy\n");
    buf_printf(out, "@ subtitle \"T = %g (K) \\xl\\f{} state %d: ", temperature, k);
    for (int c = 0; c < o->ncomponents; c++)
        buf_printf(out, "%s%s", c ? ", " : o->ncomponents > 1 ? "(" : "", dhdl_component_names[o->component[c]]);
    buf_printf(out, "%s = ", o->ncomponents > 1 ? ")" : "");
    vector(out, o, k);
    buf_printf(out, "\"\n@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend length 2\n");
    for (int c = 0; c < o->ncomponents; c++)
        buf_printf(out, "@ s%d legend \"dH/d\\xl\\f{} %s = %.4f\"\n", column++, dhdl_component_names[o->component[c]],
                   o->lambda[k * o->ncomponents + c]);
    for (int j = 0; j < o->nstates; j++) {
        buf_printf(out, "@ s%d legend \"\\xD\\f{}H \\xl\\f{} to ", column++);
        vector(out, o, j);
        buf_printf(out, "\"\n");
    }
    buf_printf(out, "@ s%d legend \"pV (kJ/mol)\"\n", column);
}

void oscillators_file(struct buf *out, const struct ladder_of_oscillators *o, int k, int n, double temperature,
                      uint64_t seed)
{
    double kt = UNIT_R * temperature, y = random_normal(&seed);
    oscillators_header(out, o, k, temperature);
    for (int i = 0; i < n; i++) {
        double x = next_x(o, k, &y, &seed);
        buf_printf(out, "%.4f", (double)i);
        for (int c = 0; c < o->ncomponents; c++)
            buf_printf(out, " %#.8g", kt * derivative(o, k, c, x));
        for (int j = 0; j < o->nstates; j++)
            buf_printf(out, " %#.8g", kt * (reduced(o, j, x) - reduced(o, k, x)));
        buf_printf(out, " %#.8g\n", 0.75 + 0.01 * x);
    }
}
