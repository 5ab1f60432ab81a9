/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: graph_tests DEVICE [broken]. Exit code 77 (skipped) when the device is not built in or not there. broken: a
 * GPU is lost, in place of all other tests.
 */
#include "tests/graphs/graph_tests.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/buf.h"

struct dev *test_dev;
const char *test_dev_name;

void assert_says(const struct err *e, enum err_code code, const char *part)
{
    if (e->code == code && strstr(e->msg, part))
        return;
    print_error("expected %s with \"%s\", got %s: %s\n", err_name(code), part, err_name(e->code), e->msg);
    fail();
}

void assert_matches(const char *text, const char *pattern)
{
    regex_t r;
    assert_int_equal(regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&r, text, 0, NULL, 0))
        fail_msg("%s\nexpected %s", text, pattern);
    regfree(&r);
}

void *expected_state(uint32_t n, uint32_t links, uint32_t steps)
{
    struct toy t;
    struct tape tape = {0};
    ok(toy_open(&t, test_dev, n, links, &oops));
    toy_emit(&t, &tape);
    for (uint32_t i = 0; i < steps; i++)
        ok(test_dev->ops->run(test_dev, t.lane, &tape, &oops));
    void *state = xcalloc(toy_state_size(&t), 1);
    ok(toy_state(&t, state, &oops));
    assert_int_equal(toy_ticket(&t), steps);
    toy_close(&t);
    tape_free(&tape);
    return state;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    const bool broken = argc == 3 && !strcmp(argv[2], "broken");
    if (argc != 2 && !broken) {
        fprintf(stderr, "usage: graph_tests DEVICE [broken]\n");
        return 2;
    }
    test_dev_name = argv[1];
    if (broken && strncmp(argv[1], "cuda", 4)) {
        fprintf(stderr, "graph_tests: %s: only a GPU is lost\n", argv[1]);
        return 77;
    }
    if (dev_open(&test_dev, argv[1], toy_kernels, &e)) {
        fprintf(stderr, "graph_tests: %s\n", e.msg);
        return e.code == ERR_DEVICE ? 77 : 1;
    }
    printf("device %s: %s\n", argv[1], test_dev->model);
    int failed = broken ? run_broken_tests()
                        : run_device_tests() + run_memory_tests() + run_drift_tests() + run_edge_tests() +
                              run_echo_tests() + run_recorder_tests() + run_clock_tests() + run_fault_tests();
    dev_close(test_dev);
    return failed ? 1 : 0;
}
