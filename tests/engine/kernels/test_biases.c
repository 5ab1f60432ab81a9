/* SPDX-License-Identifier: Apache-2.0
 *
 * Biases along the coordination of two groups, at FORMULA_POINTS places of their atoms and steps of a schedule: energy,
 * energies at windows, forces, dU/dlambda and virial.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/kernels/biases.h"
#include "tests/engine/kernels/term_check.h"
#include "tests/lib/places.h"
#include "tests/lib/term_definitions.h"

enum { FIRST = 2, SECOND = TERM_ATOMS - FIRST, BIASES = 4, SCHEDULED = BIASES - 1 };
#define R0 0.3
#define D0 0.05

/* Group by group, as gradients are. */
static const int32_t atoms[TERM_ATOMS] = {4, 1, 0, 2, 3, 5};

/* The last follows a schedule, and no lambda. */
static const struct bias biases[BIASES] = {{0, BIAS_HARMONIC, 0, 0, {{3, 20}, {5, 35}}},
                                           {0, BIAS_LOWER, 0, 0, {{4, 20}, {5, 35}}},
                                           {0, BIAS_LINEAR, 0, 0, {{3, -7}, {2, 11}}},
                                           {0, BIAS_HARMONIC, 0, 3, {{0}}}};
static const struct bias_knot knots[] = {{50, 1, 10}, {100, 3, 30}, {150, 2, 90}};

/* ---- by definition ---- */

static long double between_knots(uint64_t step, double first, double second, double third)
{
    if (step <= 50)
        return first;
    if (step < 100)
        return first + (second - first) * (step - 50) / 50.0L;
    return step < 150 ? second + (third - second) * (step - 100) / 50.0L : third;
}

static long double coordination_of_atoms(const long double (*x)[3])
{
    long double q = 0;
    for (int i = 0; i < FIRST; i++)
        for (int j = FIRST; j < TERM_ATOMS; j++) {
            const long double y = (place_distance(x, atoms[i], atoms[j]) - D0) / R0;
            q += y > 0 ? (1 - powl(y, 6)) / (1 - powl(y, 10)) : 1;
        }
    return q;
}

static long double scheduled_energy(uint64_t step, const long double (*x)[3])
{
    const long double d = coordination_of_atoms(x) - between_knots(step, knots[0].at, knots[1].at, knots[2].at);
    return between_knots(step, knots[0].k, knots[1].k, knots[2].k) / 2 * d * d;
}

static long double energy(const void *step, const long double (*x)[3], long double l)
{
    long double u = scheduled_energy(*(const uint64_t *)step, x);
    for (int b = 0; b < SCHEDULED; b++) {
        struct potential p = {(int)biases[b].kind, {{0}}};
        for (int n = 0; n < 4; n++)
            p.c[n / 2][n % 2] = biases[b].c[n / 2][n % 2];
        u += define_bias(&p, coordination_of_atoms(x), l);
    }
    return u;
}

/* ---- by the kernels, one after the other as a device calls them ---- */

/* A replica with its sums. */
struct replica {
    struct ctl c;
    struct accumulate sum;
    struct fixed_sum virial[1][9], windows[TERM_WINDOWS];
    int64_t gradient[TERM_ATOMS][3], f[TERM_ATOMS][3];
};

static void add_pairs(struct replica *r, const struct coordination *c, const double (*x)[3])
{
    for (int i = 0; i < FIRST; i++)
        for (int j = FIRST; j < TERM_ATOMS; j++) {
            double apart[3], g[3], back[3];
            if (!coordination_reaches(c, r->c.box, x, atoms[i], atoms[j], apart))
                continue;
            coordination_add(&r->c.coordination[0], coordination_of(c, apart, g));
            for (int d = 0; d < 3; d++)
                back[d] = -g[d];
            gradient_add(&r->sum, r->gradient[i], g);
            gradient_add(&r->sum, r->gradient[j], back);
            for (int e = 0; e < 9; e++)
                gradient_virial_add(&r->sum, &r->virial[0][e], 0.5 * apart[e / 3] * g[e % 3]);
        }
}

static void add_biases(struct replica *r, const struct bias_table *t)
{
    const struct bias_sums sums = {r->virial, r->gradient};
    const double slope = bias_slope(t, &r->c, 0);
    for (uint32_t k = 0; k < TERM_ATOMS; k++) {
        double g[3];
        for (int d = 0; d < 3; d++)
            g[d] = fixed_value(r->gradient[k][d]) / GRADIENT_UNITS;
        bias_pull(t, k, slope, g, r->f, &r->sum);
    }
    bias_virial(&sums, 0, slope, &r->sum);
    bias_energies(t, &r->c, EVALUATE_SAMPLE, &r->sum, r->windows);
}

static struct term_sums run(const struct term_places *at, uint64_t step)
{
    const struct coordination c = {
        {0, FIRST}, {FIRST, SECOND}, COORDINATION_BETWEEN, 1, rational_make(R0, D0, 6, 10, 1.3, 0)};
    double lambda[TERM_WINDOWS][LAMBDA_COUNT] = {{0}};
    for (int w = 0; w < TERM_WINDOWS; w++)
        lambda[w][LAMBDA_RESTRAINT] = term_lambda[w];
    const struct bias_table t = {&c,           atoms, biases, knots,     (const double(*)[LAMBDA_COUNT])lambda,
                                 TERM_WINDOWS, 1,     BIASES, TERM_ATOMS};
    struct replica r = {.c = {.step = step, .lambda = {[LAMBDA_RESTRAINT] = at->lambda}}};
    struct term_sums out = {0};
    for (int k = 0; k < BOX_SIZE; k++)
        r.c.box[k] = term_box[k];
    add_pairs(&r, &c, (const double(*)[3])at->given);
    add_biases(&r, &t);
    assert_int_equal(r.sum.overflow, 0);
    out.energy = fixed_total(r.sum.energy[TERM_BIAS]);
    out.slope = fixed_total(r.sum.dvdl[LAMBDA_RESTRAINT]);
    for (int w = 0; w < TERM_WINDOWS; w++)
        out.windows[w] = fixed_total(r.windows[w]);
    for (int i = 0; i < 3 * TERM_ATOMS; i++)
        out.f[i / 3][i % 3] = fixed_value(r.f[i / 3][i % 3]);
    for (int i = 0; i < 9; i++)
        out.virial[i] = fixed_total(r.sum.virial[i]);
    return out;
}

/* Energies at windows are of what differs between them. */
static void test_biases(void **state)
{
    static const double base[TERM_ATOMS][3] = {{0.3, 0.1, 0.2}, {0.5, 0.4, 0.3}, {0.7, 0.2, 0.5},
                                               {0.4, 0.7, 0.1}, {0.2, 0.4, 0.6}, {0.6, 0.6, 0.6}};
    if (!formula_precise())
        skip();
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const uint64_t step = (uint64_t)k;
        const struct term_places at = term_places(k, base, 0.08);
        const struct term_sums got = run(&at, step);
        struct term_sums expected = term_expected(energy, &step, &at, true);
        for (int w = 0; w < TERM_WINDOWS; w++)
            expected.windows[w] -= (double)scheduled_energy(step, (const long double(*)[3])at.whole);
        term_compare(&(struct term_check){"biases", k, 1e-8, false}, &got, &expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_biases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
