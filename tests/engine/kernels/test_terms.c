/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels add of one bonded term, at FORMULA_POINTS places of its atoms: energy, energies at windows, forces,
 * dU/dlambda and virial.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/engine/kernels/defined_terms.h"

static struct term_sums run(const struct defined_term *t, const struct bonded_table *table,
                            const struct term_places *at)
{
    int64_t f[TERM_ATOMS][3] = {{0}};
    struct fixed_sum windows[TERM_WINDOWS] = {{0, 0}};
    struct ctl c = {0};
    struct bonded_pass p = {.ctl = &c,
                            .t = table,
                            .x = (const double(*)[3])at->given,
                            .f = f,
                            .energy_at_window = windows,
                            .lambda = at->lambda,
                            .mode = EVALUATE_SAMPLE,
                            .soft = table->soft.function};
    struct term_sums sum = {0};
    memcpy(c.box, term_box, sizeof c.box);
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
    for (int w = 0; w < TERM_WINDOWS; w++)
        sum.windows[w] = fixed_total(windows[w]);
    for (int i = 0; i < TERM_ATOMS * 3; i++)
        sum.f[i / 3][i % 3] = fixed_value(f[i / 3][i % 3]);
    if (p.sum.overflow)
        fail_msg("%s: %d contributions are too large", t->name, (int)p.sum.overflow);
    return sum;
}

/* A term with its table. */
struct tabled {
    const struct defined_term *term;
    struct bonded_table table;
};

static long double energy_of(const void *tabled, const long double (*x)[3], long double l)
{
    const struct tabled *t = tabled;
    return t->term->energy(&t->table, t->term->first, x, l);
}

/* No three atoms in a row come to lie on a line, nor do four in a plane. */
static void check(const struct defined_term *term, int k)
{
    static const double base[TERM_ATOMS][3] = {{0.11, 0.02, 0.03}, {0.20, 0.13, 0.02}, {0.34, 0.11, 0.08},
                                               {0.38, 0.18, 0.22}, {0.52, 0.20, 0.15}, {0.6, 0.6, 0.6}};
    const bool changes = term->components != 0;
    const struct tabled t = {term, defined_table(changes)};
    const struct term_places at = term_places(k, base, 0.03);
    const struct term_sums got = run(term, &t.table, &at), expected = term_expected(energy_of, &t, &at, changes);
    term_compare(&(struct term_check){term->name, k, 1e-9, term->placed}, &got, &expected);
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
