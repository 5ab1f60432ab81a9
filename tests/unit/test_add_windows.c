/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows put into the text of a spec: the ladders get their numbers in the way that they are written, and nothing else
 * changes.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/add_windows.h"
#include "tests/lib/spec_read.h"

#define PROTOCOL "protocol: [{produce: {time: 1 ns, frames-every: 1 ps}}]\n"
#define FLOW(coulomb, vdw)                                                                                             \
    HEAD "alchemy:\n  decouple: A # \xc3\xa4, \xe2\x82\xac\n  windows: {coulomb: [" coulomb "], vdw: [" vdw            \
         "]}\n" PROTOCOL

static uint64_t made; /* steps, by whoever has made most */

/* What comes of it, and which windows are new. */
static void added(const char *text, const char *windows, const char *expected, int n, const int *origin)
{
    struct buf spec = {0};
    struct added_windows x;
    struct err e = {0};
    buf_printf(&spec, "%s", text);
    if (spec_add_windows(&spec, "s.yaml", windows, made, &x, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(spec.data, expected);
    assert_int_equal(x.windows, n);
    assert_memory_equal(x.origin, origin, (size_t)n * sizeof *origin);
    struct spec *s = parsed(spec.data);
    assert_int_equal(s->settings.alchemy.nwindows, n);
    spec_free(s);
    free(x.origin);
    buf_free(&spec);
}

static void not_added(const char *text, const char *windows, enum err_code code, const char *said)
{
    struct buf spec = {0};
    struct added_windows x;
    struct err e = {0};
    buf_printf(&spec, "%s", text);
    assert_int_equal(spec_add_windows(&spec, "s.yaml", windows, made, &x, &e), -(int)code);
    if (!strstr(e.msg, said))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, said);
    free(x.origin);
    buf_free(&spec);
}

static void in_one_line(void **state)
{
    (void)state;
    added(FLOW("0, 1, 1, 1", "0, 0, 0.5, 1"), "coulomb: 1, vdw: 0.65", FLOW("0, 1, 1, 1, 1", "0, 0, 0.5, 0.65, 1"), 5,
          (const int[]){0, 1, 2, -1, 3});
    added(FLOW("0, 1, 1, 1", "0, 0, 0.5, 1"), "vdw: 0.25", FLOW("0, 1, 1, 1, 1", "0, 0, 0.25, 0.5, 1"), 5,
          (const int[]){0, 1, -1, 2, 3});
    added(FLOW("0, 1, 1, 1", "0, 0, 0.5, 1"), "vdw:0.8 ; coulomb: 5e-1;vdw: 0.7",
          FLOW("0, 0.5, 1, 1, 1, 1, 1", "0, 0, 0, 0.5, 0.7, 0.8, 1"), 7, (const int[]){0, -1, 1, 2, -1, -1, 3});
    added(FLOW("1, 1, 0", "1, 0, 0"), "vdw: 0.5", FLOW("1, 1, 1, 0", "1, 0.5, 0, 0"), 4,
          (const int[]){0, -1, 1, 2}); /* the other way */
    added(FLOW("0, 1", "0, 1"), "vdw: 0.3, coulomb: 0.25", FLOW("0, 0.25, 1", "0, 0.3, 1"), 3,
          (const int[]){0, -1, 1}); /* both change */
}

static void in_lines(void **state)
{
    (void)state;
    added(HEAD
          "alchemy:\n  decouple: A\n  windows:\n    vdw:\n      - 0\n      # to here\n      -   0.5\n      - 1\n"
          "    coulomb: [1,\n       1,\n      1]\n" PROTOCOL,
          "vdw: 0.75; vdw: 0.25",
          HEAD
          "alchemy:\n  decouple: A\n  windows:\n    vdw:\n      - 0\n      # to here\n      -   0.25\n"
          "      -   0.5\n      - 0.75\n      - 1\n    coulomb: [1,\n       1, 1,\n      1, 1]\n" PROTOCOL,
          5, (const int[]){0, -1, 1, -1, 2});
}

/* A thousand at once, as one after the other: numbers in their order, all else as it was. */
static void many(void **state)
{
    (void)state;
    struct buf items = {0}, wishes = {0}, text = {0}, expected = {0};
    int origin[901];
    for (int i = 0; i <= 900; i++) {
        bool new = i % 9 != 0;
        buf_printf(&items, "%s%.15g", i ? ", " : "", i / 900.0);
        origin[i] = new ? -1 : i / 9;
        if (new)
            buf_printf(&wishes, "%svdw: %.15g", wishes.len ? ";" : "", (i % 2 ? i : 900 - i) / 900.0);
    }
    buf_printf(&text, HEAD "alchemy:\n  decouple: A\n  windows: {vdw: [");
    buf_printf(&expected, "%s%s]}\n" PROTOCOL, text.data, items.data);
    for (int i = 0; i <= 100; i++)
        buf_printf(&text, "%s%.15g", i ? ", " : "", i / 100.0);
    buf_printf(&text, "]}\n" PROTOCOL);
    added(text.data, wishes.data, expected.data, 901, origin);
    buf_free(&items);
    buf_free(&wishes);
    buf_free(&text);
    buf_free(&expected);
}

static void refuses(void **state)
{
    (void)state;
    static const char ladder[] = FLOW("0, 1, 1, 1", "0, 0, 0.5, 1");
    static const struct {
        const char *windows, *said;
    } bad[] = {
        {"vdw: 1.5", "numbers from 0 to 1"},
        {"vdw: -0.5", "numbers from 0 to 1"},
        {"vdw: half", "expected components"},
        {"vdw 0.5", "expected components"},
        {"vdw: 0.6, vdw: 0.6", "once each"},
        {"charge: 0.5", "lambda has no component \"charge\"; expected coulomb, vdw"},
        {"coulomb: 1, vwd: 0.6", "lambda has no component \"vwd\"; did you mean \"vdw\"?; expected coulomb, vdw"},
        {"", "an empty window"},
        {"vdw: 0.6;", "an empty window"},
        {"bonded: 0.5", "s.yaml: alchemy.windows has no ladder of bonded"},
        {"vdw: 0.5", "the ladder of s.yaml has it already: it is window 2"},
        {"coulomb: 1, vdw: 1", "the ladder of s.yaml has it already: it is window 3"},
        {"coulomb: 0.5, vdw: 0.6", "lies between no two windows"},
        {"coulomb: 1", "the ladder of s.yaml has it already: it is window 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        not_added(ladder, bad[i].windows, ERR_USAGE, bad[i].said);
    /* Where both change, nothing is switched on beside what is off. */
    not_added(FLOW("0, 1", "0, 1"), "coulomb: 0.5, vdw: 0", ERR_USAGE, "lies between no two windows");
    not_added(FLOW("0, 1", "0, 1"), "vdw: 0.5", ERR_USAGE, "lies between no two windows");
    not_added(FLOW("0, 0, 0", "0, 1, 0"), "vdw: 0.5", ERR_SPEC, "one state to four decimals");
    not_added(FLOW("0, 0, 0, 0", "0, 0.4, 0.2, 1"), "vdw: 0.3", ERR_USAGE, "several pairs of windows");
    not_added(ladder, "vdw: 0.50001", ERR_SPEC, "one state to four decimals");
    added(FLOW("0, 1", "0, 1") "allocate: adaptive\n", "vdw: 0.3, coulomb: 0.25",
          FLOW("0, 0.25, 1", "0, 0.3, 1") "allocate: adaptive\n", 3, (const int[]){0, -1, 1});
    not_added(HEAD "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\nprotocol: [{produce: {time: 1 ns}}]\n", "vdw: 0.6",
              ERR_CONFLICT, "stores no frames (frames-every)");
    not_added(
        "name: x\nsystem: {topology: a.top, coordinates: a.gro, window-coordinates: [a.gro, b.gro]}\n"
        "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\n" PROTOCOL,
        "vdw: 0.6", ERR_CONFLICT, "start coordinates of its own");
}

/* Windows that exchange replicas wait for new ones where they are. */
#define SAMPLED "protocol: [{produce: {time: 1 ns, sample-every: 1 ps, frames-every: 1 ps}}]\n"

static void those_that_exchange(void **state)
{
    (void)state;
    static const int origin[] = {0, -1, 1};
    static const struct {
        uint64_t made;
        const char *before, *after;
    } texts[] = {{0, "{every: 10 ps}", "{every: 10 ps}"},
                 {5200, "{every: 10 ps}", "{after: 5200, every: 10 ps}"},
                 {5200, "{every: 10 ps, after: 17, scheme: gibbs}", "{every: 10 ps, after: 5200, scheme: gibbs}"},
                 {5200, "{after: 9000, every: 10 ps}", "{after: 9000, every: 10 ps}"},
                 {5200, "\n  # \xe2\x82\xac\n  every: 10 ps\n  scheme: gibbs",
                  "\n  # \xe2\x82\xac\n  after: 5200\n  every: 10 ps\n  scheme: gibbs"},
                 {123456789012, "\n    every: 10 ps\n    after: 1", "\n    every: 10 ps\n    after: 123456789012"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf text = {0}, expected = {0};
        buf_printf(&text, HEAD "exchange: %s\nalchemy: {decouple: A, windows: {vdw: [0, 1]}}\n" SAMPLED,
                   texts[i].before);
        buf_printf(&expected, HEAD "exchange: %s\nalchemy: {decouple: A, windows: {vdw: [0, 0.5, 1]}}\n" SAMPLED,
                   texts[i].after);
        made = texts[i].made;
        added(text.data, "vdw: 0.5", expected.data, 3, origin);
        buf_free(&text);
        buf_free(&expected);
    }
    made = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_line),
        cmocka_unit_test(in_lines),
        cmocka_unit_test(many),
        cmocka_unit_test(refuses),
        cmocka_unit_test(those_that_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
