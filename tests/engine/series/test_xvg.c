/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl.xvg and energy.xvg byte for byte. That gmx bar and alchemlyb read them is tested in tests/ref.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/series/dhdl.h"
#include "engine/series/energy.h"

static double lambdas[3][LAMBDA_COUNT] = {
    {[LAMBDA_COULOMB] = 0, [LAMBDA_VDW] = 0, [LAMBDA_BONDED] = 0.125, [LAMBDA_MASS] = 0},
    {[LAMBDA_COULOMB] = 0.5, [LAMBDA_VDW] = 0, [LAMBDA_BONDED] = 0.25, [LAMBDA_MASS] = 1},
    {[LAMBDA_COULOMB] = 1, [LAMBDA_VDW] = 0.3333, [LAMBDA_BONDED] = 0.5, [LAMBDA_MASS] = 1},
};

#define HEAD                                                                                                           \
    "# dhdl.xvg, written by Shoal\n"                                                                                   \
    "@    title \"dH/d\\xl\\f{} and \\xD\\f{}H\"\n"                                                                    \
    "@    xaxis  label \"Time (ps)\"\n"                                                                                \
    "@    yaxis  label \"dH/d\\xl\\f{} and \\xD\\f{}H (kJ/mol [\\xl\\f{}]\\S-1\\N)\"\n"                                \
    "@TYPE xy\n"
#define VIEW                                                                                                           \
    "@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend loctype view\n@ legend 0.78, 0.8\n"         \
    "@ legend length 2\n"

static struct settings two_components(void)
{
    struct settings s = {.integrator = {.temperature = 298.15}, .barostat = {.on = true, .pressure = 1.01325}};
    s.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE, .nwindows = 3, .lambda = lambdas};
    s.alchemy.given[LAMBDA_COULOMB] = s.alchemy.given[LAMBDA_VDW] = true;
    return s;
}

static void test_dhdl(void **state)
{
    struct settings set = two_components();
    struct buf b = {0};
    struct sample s = {.time = 0.4,
                       .dvdl = {[LAMBDA_COULOMB] = -12.3456789012, [LAMBDA_VDW] = 0},
                       .delta_u = (double[]){1e-9, 0, 123456789.0},
                       .box = {2.6, 2.6, 2.6}};
    dhdl_header(&b, &set, 1, true);
    dhdl_row(&b, &set, true, &s);
    assert_string_equal(
        b.data,
        HEAD "@ subtitle \"T = 298.15 (K) \\xl\\f{} state 1: (coul-lambda, vdw-lambda) = (0.5000, 0.0000)\"\n" VIEW
             "@ s0 legend \"dH/d\\xl\\f{} coul-lambda = 0.5000\"\n"
             "@ s1 legend \"dH/d\\xl\\f{} vdw-lambda = 0.0000\"\n"
             "@ s2 legend \"\\xD\\f{}H \\xl\\f{} to (0.0000, 0.0000)\"\n"
             "@ s3 legend \"\\xD\\f{}H \\xl\\f{} to (0.5000, 0.0000)\"\n"
             "@ s4 legend \"\\xD\\f{}H \\xl\\f{} to (1.0000, 0.3333)\"\n"
             "@ s5 legend \"pV (kJ/mol)\"\n"
             "0.4000 -12.345679 0.0000000 1.0000000e-09 0.0000000 1.2345679e+08 1.0724759\n");
    buf_free(&b);
}

/* Components in GROMACS's order, whatever ours is; no pV column without pressure coupling. */
static void test_components(void **state)
{
    struct settings set = two_components();
    struct buf b = {0};
    set.alchemy.given[LAMBDA_MASS] = set.alchemy.given[LAMBDA_BONDED] = true;
    dhdl_header(&b, &set, 2, false);
    assert_string_equal(
        b.data, HEAD
        "@ subtitle \"T = 298.15 (K) \\xl\\f{} state 2: (mass-lambda, coul-lambda, vdw-lambda, bonded-lambda) = "
        "(1.0000, 1.0000, 0.3333, 0.5000)\"\n" VIEW
        "@ s0 legend \"dH/d\\xl\\f{} mass-lambda = 1.0000\"\n"
        "@ s1 legend \"dH/d\\xl\\f{} coul-lambda = 1.0000\"\n"
        "@ s2 legend \"dH/d\\xl\\f{} vdw-lambda = 0.3333\"\n"
        "@ s3 legend \"dH/d\\xl\\f{} bonded-lambda = 0.5000\"\n"
        "@ s4 legend \"\\xD\\f{}H \\xl\\f{} to (0.0000, 0.0000, 0.0000, 0.1250)\"\n"
        "@ s5 legend \"\\xD\\f{}H \\xl\\f{} to (1.0000, 0.5000, 0.0000, 0.2500)\"\n"
        "@ s6 legend \"\\xD\\f{}H \\xl\\f{} to (1.0000, 1.0000, 0.3333, 0.5000)\"\n");
    struct sample s = {.dvdl = {1, 2, 3, 4}, .delta_u = (double[]){5, 6, 7}};
    b.len = 0;
    dhdl_row(&b, &set, false, &s);
    assert_string_equal(b.data, "0.0000 4.0000000 1.0000000 2.0000000 3.0000000 5.0000000 6.0000000 7.0000000\n");
    buf_free(&b);
}

static void test_one_component(void **state)
{
    struct settings set = two_components();
    struct buf b = {0};
    set.alchemy.given[LAMBDA_COULOMB] = false;
    dhdl_header(&b, &set, 0, false);
    assert_string_equal(b.data, HEAD "@ subtitle \"T = 298.15 (K) \\xl\\f{} state 0: vdw-lambda = 0.0000\"\n" VIEW
                                     "@ s0 legend \"dH/d\\xl\\f{} vdw-lambda = 0.0000\"\n"
                                     "@ s1 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n"
                                     "@ s2 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n"
                                     "@ s3 legend \"\\xD\\f{}H \\xl\\f{} to 0.3333\"\n");
    buf_free(&b);
}

static void test_energy(void **state)
{
    struct settings set = two_components();
    struct buf b = {0};
    struct system sys = {0};
    struct sample s = {.time = 12.5,
                       .potential = -1000.25,
                       .kinetic = 300.125,
                       .temperature = 298.15,
                       .pressure = -12.5,
                       .density = 29.8897032,
                       .box = {1, 2, 0.5}};
    for (int i = 0; i < TERM_COUNT; i++)
        s.energy[i] = i + 0.1234567891;
    energy_header(&b, &set, &sys);
    energy_row(&b, &set, &sys, &s);
    assert_string_equal(
        b.data,
        "# energy.xvg, written by Shoal\n@    title \"Energies\"\n@    xaxis  label \"Time (ps)\"\n"
        "@    yaxis  label \"(kJ/mol), (K), (bar), (nm\\S3\\N), (kg/m\\S3\\N)\"\n@TYPE xy\n" VIEW
        "@ s0 legend \"Potential\"\n@ s1 legend \"Kinetic En.\"\n@ s2 legend \"Total Energy\"\n@ s3 legend "
        "\"Temperature\"\n"
        "@ s4 legend \"Pressure\"\n@ s5 legend \"Volume\"\n@ s6 legend \"Density\"\n@ s7 legend \"Bond\"\n"
        "@ s8 legend \"Angle\"\n@ s9 legend \"U-B\"\n@ s10 legend \"Proper Dih.\"\n@ s11 legend \"Improper Dih.\"\n"
        "@ s12 legend \"LJ-14\"\n@ s13 legend \"Coulomb-14\"\n@ s14 legend \"LJ (SR)\"\n@ s15 legend \"Disper. "
        "corr.\"\n"
        "@ s16 legend \"Coulomb (SR)\"\n@ s17 legend \"Coul. recip.\"\n@ s18 legend \"Restraints\"\n"
        "@ s19 legend \"CMAP Dih.\"\n"
        "12.5000 -1000.25 300.125 -700.125 298.15 -12.5 1 29.8897032 0.1234567891 1.123456789 2.123456789 3.123456789 "
        "4.123456789 5.123456789 6.123456789 7.123456789 8.123456789 9.123456789 10.12345679 11.12345679 "
        "12.12345679\n");
    b.len = 0;
    sys.ncoordinations = 2;
    s.coordination[0] = 3.5;
    energy_header(&b, &set, &sys);
    energy_row(&b, &set, &sys, &s);
    assert_non_null(
        strstr(b.data, "@ s20 legend \"Bias\"\n@ s21 legend \"Coordination 1\"\n@ s22 legend \"Coordination 2\"\n"));
    assert_non_null(strstr(b.data, " 12.12345679 13.12345679 3.5 0\n"));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dhdl),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_one_component),
        cmocka_unit_test(test_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
