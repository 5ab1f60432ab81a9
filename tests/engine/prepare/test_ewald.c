/* SPDX-License-Identifier: Apache-2.0
 *
 * The Ewald sum's numbers: the polynomials for every tolerance that the schema allows, and sizes of meshes.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/prepare/ewald.h"

static void test_fit(void **state)
{
    for (double tolerance = 1e-2; tolerance > 0.5e-12; tolerance /= 10)
        for (double cutoff = 0.5; cutoff < 2; cutoff += 0.7) {
            struct ewald_fit fit;
            double beta = ewald_beta(cutoff, tolerance), b3 = beta * beta * beta;
            assert_true(fabs(erfc(beta * cutoff) / tolerance - 1) < 1e-9);
            ewald_fit_make(&fit, beta, cutoff);
            if (tolerance > 0.5e-5)
                assert_int_equal(fit.terms, EWALD_TERMS_USUAL);
            if (tolerance < 2e-10)
                assert_int_equal(fit.terms, EWALD_TERMS);
            for (double r = 0.02; r < cutoff; r += 0.001) {
                double r2 = r * r, v = erf(beta * r) / r;
                double f = (v - M_2_SQRTPI * beta * exp(-beta * beta * r2)) / r2;
                assert_true(fabs(ewald_long_v(&fit, EWALD_TERMS, r2) - v) < 3e-11 * beta);
                assert_true(fabs(ewald_long_f(&fit, EWALD_TERMS, r2) - f) < 6e-11 * b3);
                if (fit.terms == EWALD_TERMS_USUAL) /* unused terms change no bit */
                    assert_true(ewald_long_f(&fit, EWALD_TERMS, r2) == ewald_long_f(&fit, EWALD_TERMS_USUAL, r2));
            }
        }
}

static int sizes(int32_t size[3], double x, double y, double z, char *message)
{
    const double box[BOX_SIZE] = {x, y, z};
    struct nonbonded_settings set = {.pme_order = 4, .pme_spacing = 0.12};
    struct err e = {0};
    int rc = mesh_sizes(size, box, &set, &e);
    if (message)
        strcpy(message, e.msg);
    return rc;
}

static void test_sizes(void **state)
{
    int32_t n[3];
    char message[sizeof((struct err *)0)->msg];
    assert_int_equal(sizes(n, 2.6, 3, 30, NULL), 0);
    assert_true(n[0] == 24 && n[1] == 25 && n[2] == 256);
    assert_int_equal(sizes(n, 1.6, 1.6, 2.5e8, message), -ERR_SPEC);
    assert_string_equal(
        message, "nonbonded.coulomb: an edge of 2.5e+08 nm at 0.12 nm between points: at most 4096 are computed");
    assert_int_equal(sizes(n, 1e9, 1e9, 1e9, NULL), -ERR_SPEC);
    assert_int_equal(sizes(n, 60, 60, 60, message), -ERR_SPEC);
    assert_non_null(strstr(message, "at most 67108864 are computed"));
    int before = 0;
    for (double edge = 0.1; edge < 600; edge *= 1.001) {
        int size = mesh_size(edge, 0.12, 4);
        assert_true(size >= before && size <= MESH_EDGE_MAX + 1 &&
                    (size * 0.12 > edge - 0.001 || size > MESH_EDGE_MAX));
        before = size;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
