/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/engine/kernels/term_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEP 1e-6L

const double term_box[BOX_SIZE] = {3, 3, 2.8, 1, -0.9, 1.1};
const double term_lambda[TERM_WINDOWS] = {0, 0.37, 1};

struct term_places term_places(int k, const double (*base)[3], double size)
{
    struct term_places p = {.lambda = 0.01 + 0.98 * formula_spread(k, 0)};
    for (int i = 0; i < TERM_ATOMS; i++) {
        const double image[3] = {(k + i) % 5 - 2, (k + 2 * i) % 5 - 2, (2 * k + i) % 5 - 2};
        box_apply(term_box, image, p.given[i]);
        for (int d = 0; d < 3; d++) {
            const double x = base[i][d] + formula_noise(k, 3 * i + d, size), sign = d == 2 && k % 2 ? -1 : 1;
            p.whole[i][d] = sign * x;
            p.given[i][d] += sign * x;
        }
    }
    return p;
}

/* The energy as a function of one coordinate of one atom. */
struct moved {
    term_energy *energy;
    const void *of;
    struct term_places at;
    int atom, axis;
};

static long double energy_of(const void *moved, long double q, long double l)
{
    const struct moved *m = moved;
    struct term_places at = m->at;
    at.whole[m->atom][m->axis] = q;
    return m->energy(m->of, (const long double(*)[3])at.whole, l);
}

struct term_sums term_expected(term_energy *energy, const void *of, const struct term_places *at, bool changes)
{
    struct moved m = {energy, of, *at, 0, 0};
    const long double q = at->whole[0][0];
    struct term_sums out = {.energy = (double)energy_of(&m, q, at->lambda)};
    if (changes)
        out.slope = (double)formula_slope_l(energy_of, &m, q, at->lambda, STEP);
    for (int w = 0; w < TERM_WINDOWS && changes; w++)
        out.windows[w] = (double)energy_of(&m, q, term_lambda[w]);
    for (m.atom = 0; m.atom < TERM_ATOMS; m.atom++)
        for (m.axis = 0; m.axis < 3; m.axis++) {
            const long double x = at->whole[m.atom][m.axis];
            const double f = -(double)formula_slope_q(energy_of, &m, x, at->lambda, STEP);
            out.f[m.atom][m.axis] = f;
            for (int row = 0; row < 3; row++)
                out.virial[3 * row + m.axis] -= 0.5 * (double)at->whole[m.atom][row] * f;
        }
    return out;
}

static void compare(const struct term_check *c, const char *what, int element, double got, double expected)
{
    if (!(fabs(got - expected) <= c->resolution * (1 + fabs(expected))))
        fail_msg("%s, place %d: %s %d is %.15g, expected %.15g", c->name, c->place, what, element, got, expected);
}

void term_compare(const struct term_check *c, const struct term_sums *got, const struct term_sums *expected)
{
    compare(c, "energy", 0, got->energy, expected->energy);
    compare(c, "dU/dlambda", 0, got->slope, expected->slope);
    for (int w = 0; w < TERM_WINDOWS; w++)
        compare(c, "energy at window", w, got->windows[w], expected->windows[w]);
    for (int i = 0; i < TERM_ATOMS * 3; i++)
        compare(c, "force", i, got->f[i / 3][i % 3], expected->f[i / 3][i % 3]);
    for (int i = 0; i < 9; i += c->diagonal ? 4 : 1)
        compare(c, "virial", i, got->virial[i], expected->virial[i]);
}
