/* SPDX-License-Identifier: Apache-2.0
 *
 * The dhdl.xvg reader: what it takes, and the text of every error.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "engine/series/dhdl.h"
#include "tests/lib/oscillators.h"

static const double corners[] = {0, 0, 0.5, 0, 1, 0, 1, 1};
static const struct ladder_of_oscillators square = {.nstates = 4,
                                                    .ncomponents = 2,
                                                    .lambda = corners,
                                                    .a0 = 1,
                                                    .da = {1, 2},
                                                    .component = {LAMBDA_COULOMB, LAMBDA_VDW}};

#define HEAD                                                                                                           \
    "@ subtitle \"T = 300 (K) \\xl\\f{} state 1: coul-lambda = 1.0000\"\n"                                             \
    "@ s0 legend \"dH/d\\xl\\f{} coul-lambda = 1.0000\"\n"                                                             \
    "@ s1 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n"                                                                 \
    "@ s2 legend \"\\xD\\f{}H \\xl\\f{} to 1.0000\"\n"

/* As GROMACS writes it of expanded ensembles and of AWH along lambda. */
#define CHANGES                                                                                                        \
    "@ subtitle \"T = 300 (K) \"\n"                                                                                    \
    "@ s0 legend \"Thermodynamic state\"\n"                                                                            \
    "@ s1 legend \"dH/d\\xl\\f{} coul-lambda = 0.0000\"\n"                                                             \
    "@ s2 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n"                                                                 \
    "@ s3 legend \"\\xD\\f{}H \\xl\\f{} to 1.0000\"\n"

static int read_text(struct dhdl *d, const char *text, struct err *e)
{
    *d = (struct dhdl){0};
    return dhdl_read(d, "dhdl.xvg", text, strlen(text), e);
}

static void test_whole_file(void **state)
{
    struct buf b = {0};
    struct dhdl d = {0};
    struct err e;
    oscillators_file(&b, &square, 2, 30, 298.15, 1);
    assert_int_equal(dhdl_read(&d, "dhdl.xvg", b.data, b.len, &e), 0);
    assert_int_equal(d.n, 30);
    assert_int_equal(d.nonfinite, 0);
    assert_int_equal(d.state, 2);
    assert_int_equal(d.nstates, 4);
    assert_int_equal(d.ncomponents, 2);
    assert_int_equal(d.component[0], LAMBDA_COULOMB);
    assert_int_equal(d.component[1], LAMBDA_VDW);
    assert_true(d.temperature == 298.15 && d.lambda[0] == 1 && d.lambda[1] == 0);
    assert_memory_equal(d.states, corners, sizeof corners);
    assert_true(d.derivatives);
    assert_false(d.cut_short);
    for (size_t i = 0; i < 30; i++)
        assert_true(d.time[i] == (double)i && d.dh[4 * i + 2] == 0 && d.dh[4 * i + 3] > 0 && d.dhdl[2 * i + 1] > 0);
    dhdl_close(&d);
    buf_free(&b);
}

/* The kinetic energy of masses that change is in no dH/dlambda; a remark names a constraint that changes its length. */
static void test_motion(void **state)
{
    struct dhdl d;
    struct err e;
    assert_int_equal(
        read_text(&d,
                  "@ subtitle \"T = 300 (K) \\xl\\f{} state 0: (mass-lambda, bonded-lambda) = (0.0, 0.0)\"\n"
                  "@ s0 legend \"dH/d\\xl\\f{} mass-lambda = 0.0000\"\n"
                  "@ s1 legend \"dH/d\\xl\\f{} bonded-lambda = 0.0000\"\n"
                  "@ s2 legend \"\\xD\\f{}H \\xl\\f{} to (0.0000, 0.0000)\"\n"
                  "# a comment\n" XVG_STRETCHED "atoms 1 and 2\n"
                  "0 7.5 2 0\n1 9.2 3 0\n",
                  &e),
        0);
    assert_true(d.derivatives && d.n == 2);
    assert_true(d.dhdl[0] == 0 && d.dhdl[1] == 2 && d.dhdl[2] == 0 && d.dhdl[3] == 3);
    assert_string_equal(d.stretched, "atoms 1 and 2");
    dhdl_close(&d);
}

/* A run in which the state changes: every row has its own. */
static void test_changing_state(void **state)
{
    struct dhdl d;
    struct err e;
    assert_int_equal(
        read_text(&d, CHANGES "0 0 5 0 1\n1 1 6 -2 0\n2 1 7 -3 0\n3 0 8 0 inf\n4 0 8 0 nan\n5 1 8 1 inf\n", &e), 0);
    assert_true(d.temperature == 300 && d.state == -1 && d.nstates == 2 && d.ncomponents == 1);
    assert_int_equal(d.component[0], LAMBDA_COULOMB);
    assert_int_equal(d.n, 4);
    assert_memory_equal(d.at, ((int[]){0, 1, 1, 0}), 4 * sizeof *d.at);
    assert_true(d.dh[2] == -2 && d.dh[3] == 0 && d.dh[5] == 0 && d.dhdl[2] == 7);
    assert_int_equal(d.nonfinite, 2);
    assert_memory_equal(d.dropped, ((size_t[]){1, 1}), 2 * sizeof *d.dropped);
    dhdl_close(&d);
    assert_int_equal(read_text(&d, HEAD "0 1 2 0\n", &e), 0);
    assert_null(d.at);
    dhdl_close(&d);
}

/* Cut at every byte: never an error after the header, and never a row that was not whole. */
static void test_cut_short(void **state)
{
    struct buf b = {0};
    struct err e;
    oscillators_header(&b, &square, 0, 300);
    size_t header = b.len;
    buf_printf(&b, "0.0000 1.0 2.0 3.0 4.0 5.0 6.0 7.0\n1.0000 1.5 2.5 3.5 4.5 5.5 6.5 7.5\n");
    size_t first = header + strlen("0.0000 1.0 2.0 3.0 4.0 5.0 6.0 7.0\n");
    for (size_t len = header; len <= b.len; len++) {
        struct dhdl d = {0};
        char *copy = xcalloc(len + 1, 1);
        memcpy(copy, b.data, len);
        assert_int_equal(dhdl_read(&d, "dhdl.xvg", copy, len, &e), 0);
        assert_int_equal(d.n, len < first ? 0 : len < b.len ? 1 : 2);
        assert_int_equal(d.cut_short, len != header && len != first && len != b.len);
        free(copy);
        dhdl_close(&d);
    }
    buf_free(&b);
    struct dhdl d;
    assert_int_equal(read_text(&d, HEAD "0 1 2 3\n1 1 2\n", &e), 0);
    assert_int_equal(d.n, 1);
    assert_true(d.cut_short);
    dhdl_close(&d);
}

/* A file gzipped or not, read a piece at a time, is what it is in memory; a table that is full is thinned evenly. */
static void test_long_file(void **state)
{
    char path[] = "/tmp/shoal-test-XXXXXX";
    struct buf b = {0};
    struct err e;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    oscillators_file(&b, &square, 2, 5000, 300, 1); /* many pieces */
    for (int zipped = 0; zipped < 2; zipped++) {
        gzFile f = gzopen(path, zipped ? "wb" : "wbT");
        assert_int_equal(gzwrite(f, b.data, (unsigned)b.len), (int)b.len);
        gzclose(f);
        for (int i = 0; i < 2; i++) {
            struct dhdl whole = {0}, thin = {0};
            const size_t width = 8, most = i ? 1000 * width : 0;
            assert_int_equal(dhdl_read(&whole, "dhdl.xvg", b.data, b.len, &e), 0);
            assert_int_equal(dhdl_read_file(&thin, "dhdl.xvg", path, XVG_ALL, most, &e), 0);
            assert_int_equal(thin.seen, 5000);
            assert_int_equal(thin.stride, i ? 8 : 1);
            assert_int_equal(thin.n, 5000 / thin.stride);
            for (size_t k = 0; k < thin.n; k++) {
                assert_true(thin.time[k] == whole.time[k * thin.stride]);
                assert_memory_equal(thin.dh + 4 * k, whole.dh + 4 * k * thin.stride, 4 * sizeof *thin.dh);
            }
            dhdl_close(&whole);
            dhdl_close(&thin);
        }
    }
    /* a gzipped file that was cut short is no file */
    assert_int_equal(truncate(path, 3000), 0);
    struct dhdl cut = {0};
    assert_int_equal(dhdl_read_file(&cut, "dhdl.xvg", path, XVG_ALL, 0, &e), -ERR_IO);
    assert_non_null(strstr(e.msg, "dhdl.xvg: gzip: "));
    dhdl_close(&cut);
    unlink(path);
    assert_int_equal(dhdl_read_file(&cut, "dhdl.xvg", path, XVG_ALL, 0, &e), -ERR_IO);
    assert_string_equal(e.msg, "dhdl.xvg: No such file or directory");
    buf_free(&b);
}

static void test_tolerated(void **state)
{
    struct dhdl d;
    struct err e;
    /* not finite, a header in the middle, comments, carriage returns, blank lines, an unknown column, no dH/dlambda */
    assert_int_equal(read_text(&d, HEAD "0 1 2 3\n1 nan 2 3\n2 1 -inf 3\n3 5 6 7\n", &e), 0);
    assert_int_equal(d.n, 3);
    assert_int_equal(d.nonfinite, 1);
    assert_int_equal(d.slopeless, 1);
    assert_false(d.derivatives);
    assert_true(d.dh[4] == 6 && d.dhdl[2] == 5 && d.time[2] == 3);
    dhdl_close(&d);
    /* another state may be impossible, the own one may not */
    assert_int_equal(read_text(&d, HEAD "0 1 inf 3\n1 1 2 inf\n2 1 2 -inf\n3 5 6 nan\n", &e), 0);
    assert_int_equal(d.n, 1);
    assert_int_equal(d.nonfinite, 3);
    assert_true(isinf(d.dh[d.state ? 0 : 1]) && d.derivatives);
    dhdl_close(&d);
    assert_int_equal(read_text(&d, HEAD "\n0 1 2 3\n" HEAD "# again\n1 1 2 3\r\n", &e), 0);
    assert_int_equal(d.n, 2);
    dhdl_close(&d);
    assert_int_equal(read_text(&d, HEAD "@ s3 legend \"Total Energy (kJ/mol)\"\n0 1 2 3 1e4\n", &e), 0);
    assert_int_equal(d.n, 1);
    dhdl_close(&d);
    assert_int_equal(read_text(&d,
                               "@ subtitle \"\\xl\\f{} state 0: fep-lambda = 0.0000\"\n"
                               "@ s0 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n0 0\n",
                               &e),
                     0);
    assert_false(d.derivatives);
    assert_true(d.temperature == 0 && d.n == 1 && d.component[0] == LAMBDA_FEP);
    dhdl_close(&d);
}

static void refused(const char *text, enum err_code code, const char *message)
{
    struct dhdl d;
    struct err e = {0};
    assert_int_equal(read_text(&d, text, &e), -(int)code);
    assert_string_equal(e.msg, message);
    dhdl_close(&d);
}

static void test_refused(void **state)
{
    refused("", ERR_IO, "dhdl.xvg: no subtitle, expected one with \"T = ... (K)\" and \"state N: ... = ...\"");
    refused("@ subtitle \"T = 300 (K) \"\n@ s0 legend \"Thermodynamic state\"\n", ERR_UNSUPPORTED,
            "dhdl.xvg: no column of dH/dlambda, which would name the components of lambda; expected dhdl-derivatives = "
            "yes of a run in which the state changes");
    refused(CHANGES "0 2 1 0 1\n1 1 1 0 1\n", ERR_UNSUPPORTED,
            "dhdl.xvg: state 2 at 0 ps, expected 0 to 1: one with a column of energy differences");
    refused(CHANGES "0 0 1 0 1\n1 0.5 1 0 1\n", ERR_UNSUPPORTED,
            "dhdl.xvg: state 0.5 at 1 ps, expected 0 to 1: one with a column of energy differences");
    refused(CHANGES "0 0 1 0 1\n1 1 1 0 1\n2 1 1 0 0\n", ERR_UNSUPPORTED,
            "dhdl.xvg: energy difference 1 kJ/mol to state 1 at 1 ps, the row's own, expected 0");
    refused(
        "@ subtitle \"T = 300 (K) \"\n", ERR_UNSUPPORTED,
        "dhdl.xvg:1: subtitle \"T = 300 (K) \" names no state and no column is called \"Thermodynamic state\", as in "
        "files of slow growth; expected a file for each state, an expanded ensemble or AWH along lambda, or slow "
        "growth with --forward or --backward");
    refused("@ subtitle \"state 1: (coul-lambda, vdw-lambda) = (0.5)\"\n", ERR_IO,
            "dhdl.xvg:1: subtitle \"state 1: (coul-lambda, vdw-lambda) = (0.5)\": expected \"state N: (NAMES) = "
            "(VALUES)\" with the names of lambda components (fep, mass, coul, vdw, bonded, restraint) and as many "
            "values");
    refused(HEAD "0 1 2 3\n1 1 2\n2 1 2 3\n", ERR_IO, "dhdl.xvg:6: read 3 columns, expected 4 (time and 3 legends)");
    refused(HEAD "0 1 2 3 4 5\n", ERR_IO, "dhdl.xvg:5: read more than 4 columns, expected 4 (time and 3 legends)");
    refused(HEAD "0 1 2,5 3\n1 1 2 3\n", ERR_IO, "dhdl.xvg:5: column 3: read \"2,5 3\", expected a number");
    refused(HEAD "0 1 2 3\n1 1 2 3\n1 1 2 3\n", ERR_IO, "dhdl.xvg:7: time 1, expected one after 1 of the row before");
    refused(HEAD "nan 1 2 3\n1 1 2 3\n", ERR_IO, "dhdl.xvg:5: the time is not a finite number");
    refused(HEAD "@ s4 legend \"pV (kJ/mol)\"\n", ERR_IO, "dhdl.xvg:5: legend s4: expected s3, before the first row");
    refused(HEAD "@ s3 legend pV\n", ERR_IO, "dhdl.xvg:5: legend of s3: expected a text in double quotes");
    refused(HEAD "0 1 2 3\n@ s3 legend \"pV (kJ/mol)\"\n", ERR_IO,
            "dhdl.xvg:6: legend s3: expected s3, before the first row");
    refused(HEAD "@ s1 legend \"pV (kJ/mol)\"\n", ERR_IO, "dhdl.xvg:5: legend of s1 differs from the one in line 3");
    refused(HEAD "@ s3 legend \"dH/d\\xl\\f{} spin-lambda = 0.0000\"\n", ERR_IO,
            "dhdl.xvg:5: derivative by \"spin-lambda = 0.0000\", which is no known lambda component");
    refused(HEAD "@ s3 legend \"\\xD\\f{}H \\xl\\f{} to (0.0000, 1.0000)\"\n", ERR_IO,
            "dhdl.xvg:5: foreign state \"(0.0000, 1.0000)\": expected 1 lambda value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changing_state), cmocka_unit_test(test_whole_file), cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_long_file),      cmocka_unit_test(test_tolerated),  cmocka_unit_test(test_motion),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
