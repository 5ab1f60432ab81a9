/* SPDX-License-Identifier: Apache-2.0
 *
 * The tests of graphs/ that run on any device; graph_tests.c runs all lists on the device it is told.
 */
#ifndef SHOAL_TESTS_GRAPHS_GRAPH_TESTS_H
#define SHOAL_TESTS_GRAPHS_GRAPH_TESTS_H

#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include "tests/graphs/toy.h"

extern struct dev *test_dev; /* open while the tests run */
extern const char *test_dev_name;

/* The call succeeds, or the test fails with its message; the call names it oops. */
#define ok(call)                                                                                                       \
    do {                                                                                                               \
        struct err oops = {0};                                                                                         \
        if (call) {                                                                                                    \
            print_error("%s\n", oops.msg);                                                                             \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The text of an error holds this. */
void assert_says(const struct err *e, enum err_code code, const char *part);
void assert_matches(const char *text, const char *pattern); /* an extended regular expression */
/* Runs `steps` steps eagerly on a toy of its own and returns its state; toy_state_size() bytes, the caller frees. */
void *expected_state(uint32_t n, uint32_t links, uint32_t steps);

int run_clock_tests(void);
int run_device_tests(void);
int run_drift_tests(void);
int run_echo_tests(void);
int run_edge_tests(void);
int run_memory_tests(void);
int run_recorder_tests(void);
int run_fault_tests(void);
int run_broken_tests(void); /* nothing can be done with the device afterwards */

#endif
