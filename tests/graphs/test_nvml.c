/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy counter of a GPU, with tests/lib/nvml/fake.c in place of NVIDIA's library: LD_LIBRARY_PATH leads to it.
 * Called with "none" where it is an older one, or is not there.
 */
#undef NDEBUG
#include "graphs/cuda/nvml/energy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define PLACE "0000:3B:00.0"

static char path[] = "/tmp/shoal-energy-XXXXXX";

static void set_counter(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* -1: there is no counter. */
static long long read_at(const char *place)
{
    struct gpu_energy g;
    uint64_t millijoules;
    gpu_energy_open(&g, place);
    const long long found = gpu_energy_read(&g, &millijoules) ? (long long)millijoules : -1;
    gpu_energy_close(&g);
    assert_null(g.handle);
    gpu_energy_close(&g);
    return found;
}

static int setup(void **state)
{
    const int fd = mkstemp(path);
    close(fd);
    setenv("SHOAL_TEST_ENERGY", path, 1);
    setenv("SHOAL_TEST_CARD_PLACE", PLACE, 1);
    set_counter("123456789012");
    return fd < 0;
}

static int teardown(void **state)
{
    return unlink(path);
}

static void it_is_read(void **state)
{
    struct gpu_energy g;
    uint64_t millijoules;
    gpu_energy_open(&g, PLACE);
    assert_true(gpu_energy_read(&g, &millijoules));
    assert_true(millijoules == UINT64_C(123456789012));
    set_counter("123456789999");
    assert_true(gpu_energy_read(&g, &millijoules));
    assert_true(millijoules == UINT64_C(123456789999));
    set_counter(""); /* it does not answer now */
    assert_false(gpu_energy_read(&g, &millijoules));
    set_counter("7");
    assert_true(gpu_energy_read(&g, &millijoules));
    assert_true(millijoules == 7);
    gpu_energy_close(&g);
}

static void a_card_may_have_none(void **state)
{
    assert_int_equal(read_at(PLACE), 7);
    assert_int_equal(read_at("0000:3C:00.0"), -1);
    setenv("SHOAL_TEST_MIG", "1", 1);
    assert_int_equal(read_at(PLACE), -1);
    setenv("SHOAL_TEST_MIG", "0", 1); /* it could be divided */
    assert_int_equal(read_at(PLACE), 7);
    set_counter("");
    assert_int_equal(read_at(PLACE), -1);
    unsetenv("SHOAL_TEST_ENERGY"); /* the driver does not answer */
    assert_int_equal(read_at(PLACE), -1);
}

static void no_library_tells(void **state)
{
    assert_int_equal(read_at(PLACE), -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_read), cmocka_unit_test(a_card_may_have_none)};
    const struct CMUnitTest none[] = {cmocka_unit_test(no_library_tells)};
    return argc > 1 ? cmocka_run_group_tests(none, setup, teardown) : cmocka_run_group_tests(tests, setup, teardown);
}
