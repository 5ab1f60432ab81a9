/* SPDX-License-Identifier: Apache-2.0
 *
 * Repartitioned masses against sums by hand: H 1.008, C 12.011, N 14.007, O 15.9994. With a factor of 3 a hydrogen
 * has 3.024, which takes 2.016 from its partner.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/io/io.h"
#include "engine/derive/masses.h"

/* Methanol, rigid water, an ion and a virtual site on the water's axis. The methyl's bonds are of three functions. */
static const char topology[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\n"
    "C 12.011 0 A 0.3 1\nH 1.008 0 A 0.3 1\nO 15.9994 0 A 0.3 1\nNA 22.9898 0 A 0.3 1\nM 0 0 V 0 0\nD 0 0 A 0 0\n"
    "[ moleculetype ]\nMOH 3\n[ atoms ]\n"
    "1 C 1 MOH C 1\n2 O 1 MOH O 1\n3 H 1 MOH H1 1\n4 H 1 MOH H2 1\n5 H 1 MOH H3 1 0 %s\n6 H 1 MOH H4 1\n"
    "[ bonds ]\n1 2 1 0.14 1000\n1 3 1 0.11 1000\n1 4 3 0.11 400 20\n%s%s"
    "[ constraints ]\n1 5 1 0.11\n"
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1\n2 H 1 SOL HW1 1\n3 H 1 SOL HW2 1\n4 M 1 SOL MW 1\n"
    "[ settles ]\n1 1 0.09572 0.15139\n[ virtual_sites3 ]\n4 1 2 3 1 0.1 0.1\n"
    "[ moleculetype ]\nION 1\n[ atoms ]\n1 NA 1 ION NA 1\n"
    "[ system ]\nt\n[ molecules ]\nMOH 1\nSOL 1\nION 1\n";

enum { ATOMS = 11 };

static int read(struct system *s, const char *mass, const char *more, double factor, bool keep_waters, struct err *e)
{
    struct source *src = source_memory_new();
    struct buf text = {0};
    buf_printf(&text, topology, mass, more ? "2 6 5\n" : "", more ? more : "");
    assert_int_equal(source_memory_add(src, "a.top", text.data, text.len, e), 0);
    if (top_read(s, src, "a.top", NULL, 0, e))
        fail_msg("%s", e->msg);
    assert_int_equal(s->natoms, ATOMS);
    buf_free(&text);
    source_free(src);
    return masses_repartition(s, &(struct mass_settings){factor, keep_waters}, e);
}

static void expect(const char *third, double factor, bool keep_waters, const double mass[ATOMS])
{
    struct system s = {0};
    struct err e = {0};
    if (read(&s, third, "", factor, keep_waters, &e))
        fail_msg("%s", e.msg);
    for (int i = 0; i < ATOMS; i++)
        for (int k = 0; k < 2; k++)
            if (fabs(s.atoms[i].mass[k] - mass[i]) > 1e-12)
                fail_msg("factor %g: atom %d: %.6f, expected %.6f", factor, i + 1, s.atoms[i].mass[k], mass[i]);
    system_close(&s);
}

static void test_masses(void **state)
{
    expect("1.008", 1, false,
           (double[]){12.011, 15.9994, 1.008, 1.008, 1.008, 1.008, 15.9994, 1.008, 1.008, 0, 22.9898});
    expect("1.008", 3, false,
           (double[]){5.963, 13.9834, 3.024, 3.024, 3.024, 3.024, 11.9674, 3.024, 3.024, 0, 22.9898});
    expect("1.008", 3, true, (double[]){5.963, 13.9834, 3.024, 3.024, 3.024, 3.024, 15.9994, 1.008, 1.008, 0, 22.9898});
    expect("1.008", 1.5, false,
           (double[]){10.499, 15.4954, 1.512, 1.512, 1.512, 1.512, 14.9914, 1.512, 1.512, 0, 22.9898});
    /* a dummy that becomes a hydrogen, and a hydrogen that becomes chlorine, have the larger mass in both states */
    expect("1 H 0 1.008", 3, false,
           (double[]){5.963, 13.9834, 3.024, 3.024, 3.024, 3.024, 11.9674, 3.024, 3.024, 0, 22.9898});
    expect("1.008 H 0 35.45", 3, false,
           (double[]){7.979, 13.9834, 3.024, 3.024, 35.45, 3.024, 11.9674, 3.024, 3.024, 0, 22.9898});
    /* one that vanishes takes nothing */
    expect("1.008 D 0 1.008", 3, false,
           (double[]){7.979, 13.9834, 3.024, 3.024, 3.024, 3.024, 11.9674, 3.024, 3.024, 0, 22.9898});
}

/* A hybrid: a carbon with three hydrogens of A and three of B, which has no mass for six; a carbon and three hydrogens
 * that are dummies in A and, as some write them, of a quarter of a carbon's mass in both states; and a hydroxyl's
 * hydrogen, which has a charge alone. */
static void test_hybrid(void **state)
{
    static const char text[] =
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.011 0 A 0.3 1\nH 1.008 0 A 0.3 1\nHO 1.008 0 A 0 0\nD 0 0 A 0 "
        "0\n"
        "[ moleculetype ]\nHYB 3\n[ atoms ]\n1 C 1 HYB C 1 0 12.011 C 0.1 12.011\n"
        "2 H 1 HYB H1 1 0 1.008 D 0 1\n3 H 1 HYB H2 1 0 1.008 D 0 1\n4 H 1 HYB H3 1 0 1.008 D 0 1\n"
        "5 D 1 HYB HD1 1 0 1 H 0 1.008\n6 D 1 HYB HD2 1 0 1 H 0 1.008\n7 D 1 HYB HD3 1 0 1 H 0 1.008\n"
        "8 D 1 HYB DC 1 0 3.0 C 0 3.0\n9 D 1 HYB HD4 1 0 1 H 0 1\n10 D 1 HYB HD5 1 0 1 H 0 1\n11 D 1 HYB HD6 1 0 1 H 0 "
        "1\n"
        "12 HO 1 HYB HO 1 0.4 1.008 HO 0.3 1.008\n"
        "[ bonds ]\n1 2 1 0.1 9\n1 3 1 0.1 9\n1 4 1 0.1 9\n1 5 1 0.1 9\n1 6 1 0.1 9\n1 7 1 0.1 9\n1 8 1 0.1 9\n8 9 1 "
        "0.1 9\n"
        "8 10 1 0.1 9\n8 11 1 0.1 9\n1 12 1 0.1 9\n[ system ]\nt\n[ molecules ]\nHYB 1\n";
    static const double mass[] = {12.011 - 2.016, 3.024, 3.024, 3.024, 3.024, 3.024,
                                  3.024,          3.024, 3.024, 3.024, 3.024, 3.024};
    struct source *src = source_memory_new();
    struct system s = {0};
    struct err e = {0};
    assert_int_equal(source_memory_add(src, "a.top", text, sizeof text - 1, &e), 0);
    if (top_read(&s, src, "a.top", NULL, 0, &e) || masses_repartition(&s, &(struct mass_settings){3, false}, &e))
        fail_msg("%s", e.msg);
    for (int i = 0; i < s.natoms; i++)
        for (int k = 0; k < 2; k++)
            if (fabs(s.atoms[i].mass[k] - mass[i]) > 1e-12)
                fail_msg("atom %d: %.6f, expected %.6f", i + 1, s.atoms[i].mass[k], mass[i]);
    system_close(&s);
    source_free(src);
}

static void refused(const char *mass, const char *more, double factor, enum err_code code, const char *message)
{
    struct system s = {0};
    struct err e = {0};
    assert_int_equal(read(&s, mass, more, factor, false, &e), -(int)code);
    assert_string_equal(e.msg, message);
    system_close(&s);
}

static void test_errors(void **state)
{
    refused("1.008", "", 4, ERR_TOPOLOGY,
            "a.top:13: atom 1 (C MOH1) would keep a mass of 2.939, less than its hydrogens' 4.032: expected a smaller "
            "factor");
    refused(
        "1.008", "2 3 1 0.2 10\n", 3, ERR_TOPOLOGY,
        "a.top:15: atom 3 (H1 MOH1) has mass 1.008 and several bonds: expected a bond to one atom that gives it 2.016");
    refused("1.008", NULL, 3, ERR_TOPOLOGY,
            "a.top:18: atom 6 (H4 MOH1) has mass 1.008 and no bond: expected a bond to one atom that gives it 2.016");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
