/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels add of one bonded term, at FORMULA_POINTS places of its atoms in a slanted box: energy and energies at
 * windows against the definition in long double, forces, dU/dlambda and virial against differences of it.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/math/philox.h"
#include "tests/engine/kernels/defined_terms.h"
#include "tests/lib/formulas.h"

/* Sums are in units of 2^-32. */
#define RESOLUTION 1e-9
#define STEP 1e-6L

static const double box[BOX_SIZE] = {3, 3, 2.8, 1, -0.9, 1.1};

/* The k-th places, every other one a mirror image: whole, and as they are given, each atom in an image of its own. */
struct places {
    long double whole[DEFINED_ATOMS][3];
    double given[DEFINED_ATOMS][3];
    double lambda;
};

static struct places places_of(int k)
{
    static const double base[DEFINED_ATOMS][3] = {
        {0.11, 0.02, 0.03}, {0.20, 0.13, 0.02}, {0.34, 0.11, 0.08}, {0.38, 0.18, 0.22}, {0.52, 0.20, 0.15}};
    struct places p = {.lambda = 0.01 + 0.98 * formula_spread(k, 0)};
    for (uint32_t i = 0; i < DEFINED_ATOMS; i++) {
        const struct philox r = philox_at(1, (uint32_t)k, 0, 0, i);
        const double whole[3] = {r.word[3] % 5 - 2.0, r.word[3] / 5 % 5 - 2.0, r.word[3] / 25 % 5 - 2.0};
        box_apply(box, whole, p.given[i]);
        for (int d = 0; d < 3; d++) {
            const double x = (base[i][d] + 0.06 * (philox_uniform(r.word[d], 0) - 0.5)) * (d == 2 && k % 2 ? -1 : 1);
            p.whole[i][d] = x;
            p.given[i][d] += x;
        }
    }
    return p;
}

/* What the kernel adds, kJ/mol and nm. */
struct added {
    double energy, slope, windows[DEFINED_WINDOWS], f[DEFINED_ATOMS][3], virial[9];
};

static struct added run(const struct defined_term *t, const struct places *at)
{
    const struct bonded_table table = defined_table(t->components != 0);
    int64_t f[DEFINED_ATOMS][3] = {{0}};
    struct fixed_sum windows[DEFINED_WINDOWS] = {{0, 0}};
    struct ctl c = {0};
    struct bonded_pass p = {.ctl = &c,
                            .t = &table,
                            .x = (const double(*)[3])at->given,
                            .f = f,
                            .energy_at_window = windows,
                            .lambda = at->lambda,
                            .energies = true,
                            .sample = true,
                            .soft = table.soft.function};
    struct added sum = {0};
    memcpy(c.box, box, sizeof box);
    for (int k = 0; k < LAMBDA_COUNT; k++)
        c.lambda[k] = at->lambda;
    for (uint32_t i = t->first; i < t->first + t->count; i++)
        t->kernel(&p, i);
    for (int k = 0; k < LAMBDA_COUNT; k++) {
        sum.slope += fixed_total(p.sum.dvdl[k]);
        assert_true(t->components & 1u << k || fixed_total(p.sum.dvdl[k]) == 0);
    }
    sum.energy = acc_potential(&p.sum);
    assert_true(t->term == TERM_COUNT || fixed_total(p.sum.energy[t->term]) == sum.energy);
    for (int k = 0; k < 9; k++)
        sum.virial[k] = fixed_total(p.sum.virial[k]);
    for (int w = 0; w < DEFINED_WINDOWS; w++)
        sum.windows[w] = fixed_total(windows[w]);
    for (int i = 0; i < DEFINED_ATOMS * 3; i++)
        sum.f[i / 3][i % 3] = fixed_value(f[i / 3][i % 3]);
    if (p.sum.overflow)
        fail_msg("%s: %d contributions are too large", t->name, (int)p.sum.overflow);
    return sum;
}

/* A term's energy as a function of one coordinate of one atom. */
struct moved {
    const struct defined_term *term;
    struct bonded_table table;
    struct places at;
    int atom, axis;
};

static long double energy_of(const void *moved, long double q, long double l)
{
    const struct moved *m = moved;
    struct places at = m->at;
    at.whole[m->atom][m->axis] = q;
    return m->term->energy(&m->table, m->term->first, (const long double(*)[3])at.whole, l);
}

static void expect(const struct defined_term *t, const struct places *at, struct added *out)
{
    struct moved m = {t, defined_table(false), *at, 0, 0};
    const long double q = at->whole[0][0];
    *out = (struct added){.energy = (double)energy_of(&m, q, at->lambda)};
    if (t->components)
        out->slope = (double)formula_slope_l(energy_of, &m, q, at->lambda, STEP);
    for (int w = 0; w < DEFINED_WINDOWS && t->components; w++)
        out->windows[w] = (double)energy_of(&m, q, defined_lambda[w][0]);
    for (m.atom = 0; m.atom < DEFINED_ATOMS; m.atom++)
        for (m.axis = 0; m.axis < 3; m.axis++) {
            const double x = (double)at->whole[m.atom][m.axis];
            const double f = -(double)formula_slope_q(energy_of, &m, x, at->lambda, STEP);
            out->f[m.atom][m.axis] = f;
            for (int row = 0; row < 3; row++)
                out->virial[3 * row + m.axis] -= 0.5 * (double)at->whole[m.atom][row] * f;
        }
}

static void compare(const struct defined_term *t, int k, const char *what, int element, double got, double expected)
{
    if (!(fabs(got - expected) <= RESOLUTION * (1 + fabs(expected))))
        fail_msg("%s, place %d: %s %d is %.15g, expected %.15g", t->name, k, what, element, got, expected);
}

static void check(const struct defined_term *t, int k)
{
    const struct places at = places_of(k);
    const struct added got = run(t, &at);
    struct added expected;
    expect(t, &at, &expected);
    compare(t, k, "energy", 0, got.energy, expected.energy);
    compare(t, k, "dU/dlambda", 0, got.slope, expected.slope);
    for (int w = 0; w < DEFINED_WINDOWS; w++)
        compare(t, k, "energy at window", w, got.windows[w], expected.windows[w]);
    for (int i = 0; i < DEFINED_ATOMS * 3; i++)
        compare(t, k, "force", i, got.f[i / 3][i % 3], expected.f[i / 3][i % 3]);
    for (int i = 0; i < 9; i += t->placed ? 4 : 1)
        compare(t, k, "virial", i, got.virial[i], expected.virial[i]);
}

static void test_terms(void **state)
{
    if (!formula_precise())
        skip();
    for (size_t i = 0; i < defined_count; i++)
        for (int k = 0; k < FORMULA_POINTS; k++)
            check(&defined_terms[i], k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_terms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
