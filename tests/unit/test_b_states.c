/* SPDX-License-Identifier: Apache-2.0
 *
 * State B of a molecule of several atoms beside alchemy.decouple of another: the entry of decouple that is the same,
 * where there is one.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/spec.h"

/* An argon, and a chain of five whose charges (first, second, last) go to their B states; more: after its bonds. */
static const char topology[] =
    "[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nC 12 0 A 0.3 0.4\nAR 40 0 A 0.3 0.9\nDU 12 0 A 0 0\n"
    "[ moleculetype ]\nARG 1\n[ atoms ]\n1 AR 1 ARG AR 1 0 40\n[ moleculetype ]\nCHN 3\n[ atoms ]\n"
    "1 C 1 CHN C1 1 0.5 12 %s\n2 C 1 CHN C2 1 0.5 12 %s\n3 C 1 CHN C3 1 0 12\n4 C 1 CHN C4 1 0 12\n5 C 1 CHN C5 1 %s\n"
    "[ bonds ]\n1 2 1 0.15 100\n2 3 1 0.15 100\n3 4 1 0.15 100\n4 5 1 0.15 100\n%s"
    "[ system ]\nx\n[ molecules ]\nARG 1\nCHN 1\n";
static const char coordinates[] =
    "x\n6\n"
    "    1ARG     AR    1   0.500   0.500   0.500\n    2CHN     C1    2   1.000   1.000   1.000\n"
    "    2CHN     C2    3   1.150   1.000   1.000\n    2CHN     C3    4   1.200   1.150   1.000\n"
    "    2CHN     C4    5   1.350   1.150   1.000\n    2CHN     C5    6   1.400   1.300   1.000\n"
    "   3 3 3\n";

static struct err read(const char *decouple, const char *b1, const char *b2, const char *last, const char *more)
{
    struct err e = {0};
    struct buf top = {0}, text = {0};
    struct spec *s = NULL;
    struct system sys = {0};
    struct source *src = source_memory_new();
    buf_printf(&top, topology, b1, b2, last, more);
    buf_printf(&text,
               "name: x\nsystem: {topology: a.top, coordinates: a.gro}\n"
               "alchemy: {decouple: %s, windows: {coulomb: [0, 1]}, soft-core: {alpha: 0.5}}\n",
               decouple);
    assert_int_equal(spec_parse(&s, "s.yaml", text.data, text.len, &e), 0);
    assert_int_equal(source_memory_add(src, "a.top", top.data, top.len, &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", coordinates, strlen(coordinates), &e), 0);
    spec_system(s, src, &sys, &e);
    system_close(&sys);
    spec_free(s);
    source_free(src);
    buf_free(&top);
    buf_free(&text);
    return e;
}

#define BEGINS                                                                                                         \
    "s.yaml:3: alchemy.decouple: atom 2 (CHN C1, a.top:14) has a state B of its own (charge 0.5 e and type C become "  \
    "0 e and C), which decouple would leave out; expected "
#define NO_ENTRY BEGINS "a topology without it, or perturb: b-states with all states B in the topology"
#define ENTRY "{molecule: CHN, from: vdw-q, to: vdw, intramolecular: decouple}"

static void entries(void **state)
{
    (void)state;
    static const char gone[] = "C 0 12", *alone = "ARG", *with_it = "[{molecule: ARG}, " ENTRY "]";
    assert_string_equal(read(alone, gone, gone, "0", "").msg, BEGINS "one more entry, " ENTRY ", which is the same");
    assert_string_equal(read(with_it, gone, gone, "0", "").msg, "");
    /* a charge that stays, and one that changes to another */
    assert_string_equal(read(alone, gone, gone, "0.3", "").msg, NO_ENTRY);
    assert_string_equal(read(alone, gone, "C 0.1 12", "0", "").msg, NO_ENTRY);
    /* 1-4 pairs: of charges that go, which an entry would keep; of none; with their own charges */
    assert_string_equal(read(alone, gone, gone, "0.3 12 C 0 12", "[ pairs ]\n1 4 1\n2 5 1\n").msg, NO_ENTRY);
    assert_string_equal(read(alone, gone, gone, "0", "[ pairs ]\n1 4 1\n2 5 1\n").msg,
                        BEGINS "one more entry, " ENTRY ", which is the same");
    assert_string_equal(read(alone, gone, gone, "0.3 12 C 0 12", "[ pairs ]\n2 5 2 0.8 0.5 0.3 0.3 0.4\n").msg,
                        BEGINS "one more entry, " ENTRY ", which is the same");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
