/* SPDX-License-Identifier: Apache-2.0
 *
 * Which torsions are watched, and how turns are counted.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/io/io.h"
#include "engine/derive/torsions.h"

#define DEGREE (3.14159265358979323846 / 180)

/* A ring of four with a chain on it: ring-CA, CA-CB, CB-CC (a triple bond to N behind it), CA-N (held, as an amide)
 * with a methyl; and a hydroxyl on CB. Of five bonds outside of the ring that are no ends, those turn that are free and
 * have directions. */
static const char topology[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\n"
    "C 12.011 0 A 0 0\nH 1.008 0 A 0 0\nO 15.9994 0 A 0 0\nN 14.007 0 A 0 0\nD 1.008 0 A 0.1 0.1\n"
    "[ moleculetype ]\nLIG 3\n[ atoms ]\n"
    "1 C 1 LIG R1 1 %s\n2 C 1 LIG R2 1\n3 C 1 LIG R3 1\n4 C 1 LIG R4 1\n5 C 1 LIG CA 1\n6 C 1 LIG CB 1\n7 C 1 LIG CC "
    "1\n"
    "8 N 1 LIG NC 1\n9 N 1 LIG N 1\n10 C 1 LIG CM 1\n11 H 1 LIG H1 1 0 1 %s\n12 H 1 LIG H2 1 0 1\n13 H 1 LIG H3 1 0 1\n"
    "14 O 1 LIG O 1\n15 H 1 LIG HO 1\n"
    "[ bonds ]\n1 2 1 0.15 1000\n2 3 1 0.15 1000\n3 4 1 0.15 1000\n4 1 1 0.15 1000\n4 5 1 0.15 1000\n5 6 1 0.15 1000\n"
    "6 7 1 0.15 1000\n7 8 1 0.11 1000\n5 9 1 0.14 1000\n9 10 1 0.14 1000\n10 11 1 0.11 1000\n10 12 1 0.11 1000\n"
    "10 13 1 0.11 1000\n6 14 1 0.14 1000\n14 15 5\n"
    "[ angles ]\n6 7 8 1 180 400\n"
    "[ dihedrals ]\n6 5 9 10 9 180 20 2\n4 5 9 10 9 180 20 2\n4 5 6 7 9 0 10 3\n"
    "[ moleculetype ]\nALK 3\n[ atoms ]\n1 C 1 ALK C1 1\n2 C 1 ALK C2 1\n3 C 1 ALK C3 1\n4 C 1 ALK C4 1\n"
    "[ bonds ]\n1 2 1 0.15 1000\n2 3 1 0.15 1000\n3 4 1 0.15 1000\n"
    "[ system ]\nt\n[ molecules ]\nALK 1\nLIG 1\n";

static void expect(const struct alchemy_settings *set, const char *first, const char *methyl, int n,
                   const int atoms[][4])
{
    struct system s = {0};
    struct err e = {0};
    struct bond_torsion found[TORSIONS_MAX];
    struct source *src = source_memory_new();
    struct buf text = {0};
    buf_printf(&text, topology, first, methyl);
    assert_int_equal(source_memory_add(src, "a.top", text.data, text.len, &e), 0);
    if (top_read(&s, src, "a.top", NULL, 0, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(torsions_of(&s, set, found), n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            assert_int_equal(found[i].atom[k] + 1, atoms[i][k]);
    buf_free(&text);
    source_free(src);
    system_close(&s);
}

static void test_decoupled(void **state)
{
    const int ligand[][4] = {{7, 8, 9, 10}, {8, 9, 10, 11}, {9, 10, 18, 19}}, alkane[][4] = {{1, 2, 3, 4}};
    struct alchemy_settings set = {.kind = ALCHEMY_DECOUPLE, .ndecouple = 1, .decouple = {{.molecule = "LIG"}}};
    expect(&set, "", "", 3, ligand);
    strcpy(set.decouple[0].molecule, "ALK");
    expect(&set, "", "", 1, alkane);
    strcpy(set.decouple[0].molecule, "NONE");
    expect(&set, "", "", 0, NULL);
}

/* A methyl counts where its ends become different. Without a B state nothing does. */
static void test_b_states(void **state)
{
    const int ligand[][4] = {{7, 8, 9, 10}, {8, 9, 10, 11}, {9, 13, 14, 15}, {9, 10, 18, 19}};
    const int plain[][4] = {{7, 8, 9, 10}, {8, 9, 10, 11}, {9, 10, 18, 19}};
    const struct alchemy_settings set = {.kind = ALCHEMY_B_STATES}, none = {.kind = ALCHEMY_NONE};
    expect(&set, "0 12.011 C 0.1 12.011", "", 3, plain);
    expect(&set, "", "D 0 1", 4, ligand);
    expect(&set, "", "", 0, NULL);
    expect(&none, "", "D 0 1", 0, NULL);
}

/* As in GROMACS: 0 is cis, positive is clockwise looking along the bond. */
static void test_angles(void **state)
{
    const struct bond_torsion t = {{0, 1, 2, 3}};
    const double box[BOX_SIZE] = {[BOX_XX] = 1, [BOX_YY] = 1, [BOX_ZZ] = 1};
    for (int degrees = -175; degrees <= 180; degrees += 5) {
        double x[4][3] = {{0.1, 0, 0}, {0, 0, 0}, {0, 0, 0.1}, {0, 0, 0.1}};
        x[3][0] += 0.1 * cos(degrees * DEGREE);
        x[3][1] += 0.1 * sin(degrees * DEGREE);
        x[2][2] += 1; /* broken across the box */
        assert_true(fabs(remainder(torsion_angle(&t, (const double(*)[3])x, box) - degrees * DEGREE, 360 * DEGREE)) <
                    1e-9);
    }
}

static int64_t count(const double *degrees, int n)
{
    struct torsion_turns t = {0};
    for (int i = 0; i < n; i++)
        turns_add(&t, degrees[i] * DEGREE);
    return t.count;
}

static void test_turns(void **state)
{
    const double in_a_well[] = {170, -170, 150, -140, 179, -178, 130},
                 hops[] = {60, 70, 50, 180, 170, -60, -70, -170, 60}, planar[] = {10, -20, 30, 175, -170, 160, 5, -5};
    assert_int_equal(count(in_a_well, 7), 0);
    assert_int_equal(count(hops, 9), 4);
    assert_int_equal(count(planar, 8), 2);
    assert_int_equal(count(hops, 1), 0);
}

static void test_wells(void **state)
{
    struct torsion_turns t = {0};
    const double about_180[] = {170, -170, 165, -165};
    for (int i = 0; i < 4; i++)
        turns_add(&t, about_180[i] * DEGREE);
    assert_true(fabs(fabs(turns_mean(&t)) - 180 * DEGREE) < 1e-9);
    assert_true(torsion_same_well(-179 * DEGREE, 140 * DEGREE, false));
    assert_false(torsion_same_well(-60 * DEGREE, 60 * DEGREE, false));
    assert_false(torsion_same_well(-90 * DEGREE, 90 * DEGREE, false));
    assert_true(torsion_same_well(-90 * DEGREE, 80 * DEGREE, true));
    assert_false(torsion_same_well(0, 90 * DEGREE, true));
}

/* A chain of two on a ring of six: twofold where the ring's neighbours are alike. */
static void test_twofold(void **state)
{
    static const char ring[] =
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12 0 A 0 0\n[ moleculetype ]\nRNG 3\n[ atoms ]\n"
        "1 C 1 RNG C1 1 0\n2 C 1 RNG C2 1 0.1\n3 C 1 RNG C3 1\n4 C 1 RNG C4 1\n5 C 1 RNG C5 1\n"
        "6 C 1 RNG C6 1 %s\n7 C 1 RNG C7 1\n8 C 1 RNG C8 1\n[ bonds ]\n1 2 5\n2 3 5\n3 4 5\n4 5 5\n"
        "5 6 5\n6 1 5\n1 7 5\n7 8 5\n[ system ]\nr\n[ molecules ]\nRNG 1\n";
    static const char *const charges[] = {"0.1", "0.2"};
    const struct bond_torsion t = {{1, 0, 6, 7}};
    for (int i = 0; i < 2; i++) {
        struct system s = {0};
        struct err e = {0};
        struct source *src = source_memory_new();
        struct buf text = {0};
        buf_printf(&text, ring, charges[i]);
        assert_int_equal(source_memory_add(src, "a.top", text.data, text.len, &e), 0);
        assert_int_equal(top_read(&s, src, "a.top", NULL, 0, &e), 0);
        assert_int_equal(torsion_is_twofold(&s, &t), i == 0);
        buf_free(&text);
        source_free(src);
        system_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decoupled), cmocka_unit_test(test_b_states),
                                       cmocka_unit_test(test_angles),    cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_wells),     cmocka_unit_test(test_twofold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
