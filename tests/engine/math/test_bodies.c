/* SPDX-License-Identifier: Apache-2.0
 *
 * Rigid waters, stars of constraints and virtual sites: against Lagrange multipliers that are found by iteration in
 * long double, and against the definitions of the places of sites and differences of them.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/math/bodies/center.h"
#include "engine/math/bodies/settle.h"
#include "engine/math/bodies/sites.h"
#include "engine/math/bodies/star.h"
#include "tests/lib/formulas.h"
#include "tests/lib/near.h"
#include "tests/lib/places.h"

/* ---- rigid water ---- */

#define MASS_O 15.9994
#define MASS_H 1.008
#define R_OH 0.1
#define R_HH 0.16329931618554521
static const int side[3][2] = {{0, 1}, {0, 2}, {1, 2}};
static const double mass[3] = {MASS_O, MASS_H, MASS_H};

static double side_length(int k)
{
    return k < 2 ? R_OH : R_HH;
}

/* The rigid triangle somewhere, turned by three angles. */
static void triangle(int k, double x[3][3])
{
    const double half = R_HH / 2, height = sqrt(R_OH * R_OH - half * half);
    const double flat[3][3] = {{0, 0, 0}, {half, height, 0}, {-half, height, 0}};
    memcpy(x, flat, sizeof flat);
    for (int axis = 0; axis < 3; axis++) {
        const double angle = formula_noise(k, axis, 3.14159), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 3; i++) {
            const double a = x[i][axis], b = x[i][(axis + 1) % 3];
            x[i][axis] = c * a - s * b;
            x[i][(axis + 1) % 3] = s * a + c * b;
        }
    }
    for (int i = 0; i < 9; i++)
        x[i / 3][i % 3] += 0.5 + 0.1 * (i % 3);
}

/* SHAKE along the sides of `old`, until nothing changes. */
static void shake(const double old[3][3], long double x[3][3])
{
    for (int round = 0; round < 400; round++)
        for (int s = 0; s < 3; s++) {
            const int i = side[s][0], j = side[s][1];
            long double now[3], was[3];
            place_between(x[i], x[j], now);
            for (int d = 0; d < 3; d++)
                was[d] = (long double)old[j][d] - old[i][d];
            const long double off = place_dot(now, now) - (long double)side_length(s) * side_length(s);
            const long double g = off / (2 * place_dot(now, was) * (1 / mass[i] + 1 / mass[j]));
            for (int d = 0; d < 3; d++) {
                x[i][d] += g * was[d] / mass[i];
                x[j][d] -= g * was[d] / mass[j];
            }
        }
}

/* RATTLE: no velocity along a side. */
static void rattle(const double x[3][3], long double v[3][3])
{
    for (int round = 0; round < 400; round++)
        for (int s = 0; s < 3; s++) {
            const int i = side[s][0], j = side[s][1];
            long double apart[3], speed[3];
            place_between(v[i], v[j], speed);
            for (int d = 0; d < 3; d++)
                apart[d] = (long double)x[j][d] - x[i][d];
            const long double g = place_dot(speed, apart) / (place_dot(apart, apart) * (1 / mass[i] + 1 / mass[j]));
            for (int d = 0; d < 3; d++) {
                v[i][d] += g * apart[d] / mass[i];
                v[j][d] -= g * apart[d] / mass[j];
            }
        }
}

static void test_settle(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        double old[3][3], x[3][3], v[3][3];
        long double expected[3][3], speeds[3][3];
        triangle(k, old);
        for (int i = 0; i < 9; i++) {
            expected[i / 3][i % 3] = x[i / 3][i % 3] = old[i / 3][i % 3] + formula_noise(k, 3 + i, 0.015);
            speeds[i / 3][i % 3] = v[i / 3][i % 3] = formula_noise(k, 12 + i, 3);
        }
        shake((const double(*)[3])old, expected);
        rattle((const double(*)[3])old, speeds);
        const struct water_shape shape = water_shape_of(R_OH, R_HH, MASS_O, MASS_H);
        assert_true(settle_positions(&shape, (const double(*)[3])old, x));
        settle_velocities(&shape, (const double(*)[3])old, v);
        for (int i = 0; i < 9; i++) {
            near(x[i / 3][i % 3], (double)expected[i / 3][i % 3], 1e-13);
            near(v[i / 3][i % 3], (double)speeds[i / 3][i % 3], 1e-12);
        }
    }
}

/* ---- stars ---- */

/* The pulls solve sum over l of (r_k . arm_l / m_0 + (k == l) r_k . arm_k / m_k) pull_l = scale off_k. */
static void test_stars(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const uint32_t arms = (uint32_t)k % STAR_ARMS + 1;
        double r[STAR_ARMS][3] = {{0}}, arm[STAR_ARMS][3] = {{0}}, off[STAR_ARMS] = {0}, pull[STAR_ARMS];
        double inverse_mass[STAR_ARMS + 1] = {1 / 12.011}, inverse[STAR_ARMS][STAR_ARMS];
        for (uint32_t a = 0; a < arms; a++) {
            inverse_mass[a + 1] = 1 / (1.008 + a);
            off[a] = formula_noise(k, (int)a, 1);
            for (int d = 0; d < 3; d++) { /* towards the corners of a tetrahedron */
                arm[a][d] = (a == 3 || (int)a == d ? 0.06 : -0.06) + formula_noise(k, 4 + 3 * (int)a + d, 0.01);
                r[a][d] = arm[a][d] + formula_noise(k, 16 + 3 * (int)a + d, 0.01);
            }
        }
        star_couplings(arms, r, arm, inverse_mass, inverse);
        star_pulls(inverse, off, 0.7, pull);
        for (uint32_t a = 0; a < arms; a++) {
            long double sum = 0;
            for (uint32_t b = 0; b < arms; b++) {
                const long double both = vec_dot(r[a], arm[b]);
                sum += both * (inverse_mass[0] + (a == b ? inverse_mass[a + 1] : 0)) * pull[b];
            }
            near((double)sum, 0.7 * off[a], 1e-12);
        }
    }
}

/* ---- virtual sites ---- */

/* A site's place by its definition; q: r[atom][axis] of it, if atom is not negative. */
struct site {
    enum site_kind kind;
    double c[3];
    long double r[3][3];
    int atom, axis, out;
};

static void unit(long double v[3])
{
    const long double size = place_length(v);
    for (int d = 0; d < 3; d++)
        v[d] /= size;
}

static void site_defined(const struct site *s, const long double r[3][3], long double out[3])
{
    long double a[3], b[3], across[3], along = 0;
    for (int d = 0; d < 3; d++) {
        a[d] = s->kind == SITE_3FD    ? r[0][d] + s->c[0] * (r[1][d] - r[0][d])
               : s->kind == SITE_4FDN ? s->c[0] * r[1][d] - r[0][d]
                                      : r[0][d];
        b[d] = s->kind == SITE_4FDN ? s->c[1] * r[2][d] - r[0][d] : r[1][d] - r[0][d];
    }
    if (s->kind != SITE_3OUT && s->kind != SITE_4FDN)
        unit(a);
    if (s->kind == SITE_3FAD) {
        along = place_dot(a, b);
        for (int d = 0; d < 3; d++)
            b[d] -= along * a[d];
        unit(b);
    }
    place_cross(s->kind == SITE_3OUT ? r[0] : a, s->kind == SITE_3OUT ? r[1] : b, across);
    for (int d = 0; d < 3; d++)
        out[d] = s->kind == SITE_2FD    ? s->c[0] * a[d]
                 : s->kind == SITE_3FD  ? s->c[1] * a[d]
                 : s->kind == SITE_3FAD ? s->c[0] * a[d] + s->c[1] * b[d]
                 : s->kind == SITE_3OUT ? s->c[0] * r[0][d] + s->c[1] * r[1][d] + s->c[2] * across[d]
                                        : across[d];
    if (s->kind == SITE_4FDN) {
        unit(out);
        for (int d = 0; d < 3; d++)
            out[d] *= s->c[2];
    }
}

static long double site_moved(const void *site, long double q, long double l)
{
    const struct site *s = site;
    long double r[3][3], out[3];
    memcpy(r, s->r, sizeof r);
    r[s->atom][s->axis] = q;
    site_defined(s, (const long double(*)[3])r, out);
    return out[s->out];
}

/* A force on the site does on an atom what it does along the change of the site's place with the atom's. */
static void check_site(struct site *s, int k)
{
    static const int others[SITE_KINDS] = {
        [SITE_2FD] = 1, [SITE_3FD] = 2, [SITE_3FAD] = 2, [SITE_3OUT] = 2, [SITE_4FDN] = 3};
    const double f[3] = {formula_noise(k, 9, 500), formula_noise(k, 10, 500), formula_noise(k, 11, 500)};
    double r[3][3], at[3], spread[3][3];
    long double expected[3];
    for (int i = 0; i < 9; i++)
        s->r[i / 3][i % 3] = r[i / 3][i % 3] = (i % 3 == i / 3 ? 0.1 : 0.02) + formula_noise(k, i, 0.02);
    site_at(s->kind, s->c, (const double(*)[3])r, at);
    site_spread(s->kind, s->c, (const double(*)[3])r, f, spread);
    site_defined(s, (const long double(*)[3])s->r, expected);
    for (int d = 0; d < 3; d++)
        near(at[d], (double)expected[d], 1e-15);
    for (s->atom = 0; s->atom < others[s->kind]; s->atom++)
        for (s->axis = 0; s->axis < 3; s->axis++) {
            long double pull = 0;
            for (s->out = 0; s->out < 3; s->out++)
                pull += f[s->out] * formula_slope_q(site_moved, s, s->r[s->atom][s->axis], 0, 1e-5L);
            near(spread[s->atom][s->axis], (double)pull, 1e-7);
        }
}

static void test_sites(void **state)
{
    struct site sites[] = {{.kind = SITE_2FD, .c = {0.07}},
                           {.kind = SITE_3FD, .c = {0.4, 0.08}},
                           {.kind = SITE_3FAD, .c = {-0.03, 0.06}},
                           {.kind = SITE_3OUT, .c = {0.3, -0.2, 4}},
                           {.kind = SITE_4FDN, .c = {0.6, 0.7, 0.05}}};
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        for (int k = 0; k < FORMULA_POINTS; k++)
            check_site(&sites[i], k);
}

/* ---- the motion of the center of mass ---- */

static void test_center(void **state)
{
    const double freedom = 300, kinetic = 350, regain = 0.004, kt = 2.5;
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const struct center_rule with = {freedom, kt, regain, 100, 0}, without = {freedom, 0, regain, 100, 0};
        const long double missing = 3 * expl(-regain * (long double)(k % 100));
        near(center_kinetic(&with, (uint64_t)k, kinetic), (double)(missing / 2 * kt), 1e-14);
        near(center_kinetic(&without, (uint64_t)k, kinetic), (double)(missing * kinetic / (freedom - missing)), 1e-13);
    }
    assert_true(center_missing(&(struct center_rule){.regain = 1}, 5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_stars),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_center),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
