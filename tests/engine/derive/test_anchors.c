/* SPDX-License-Identifier: Apache-2.0
 *
 * Anchors are found where they were hidden: among atoms that move, that are lighter, that others can replace.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/derive/anchors.h"

#define EDGE 3.0
#define TEMPERATURE 298.15
#define RT (UNIT_R * TEMPERATURE)

/* The receptor is a chain of which the last three atoms flap; atom 6 is a hydrogen at its first one. The ligand is 7 8
 * 9 with two like atoms 10 and 11 at 9, and a hydrogen at 7. */
enum { RECEPTOR = 7, ATOMS = 13, FRAMES = 400 };

static const double place[ATOMS][3] = {{0.10, 1.00, 1.00}, {0.00, 1.12, 1.02}, {2.90, 1.02, 0.95}, {2.80, 1.12, 0.90},
                                       {2.70, 1.02, 0.95}, {2.60, 1.12, 0.90}, {0.18, 0.95, 1.00}, {0.25, 1.18, 1.16},
                                       {0.37, 1.08, 1.16}, {0.39, 1.18, 1.06}, {0.49, 1.10, 1.00}, {0.41, 1.30, 1.00},
                                       {0.28, 1.26, 1.12}};
static const double shakes[ATOMS] = {0.012, 0.012, 0.012, 0.1,   0.15,  0.2, 0.01,
                                     0.012, 0.012, 0.012, 0.004, 0.004, 0.01};

static struct atom atoms[ATOMS];
static struct molecule molecules[] = {{.first = 0, .count = RECEPTOR}, {.first = RECEPTOR, .count = ATOMS - RECEPTOR}};
static struct bond bonds[] = {{.atom = {0, 1}},  {.atom = {1, 2}}, {.atom = {2, 3}}, {.atom = {3, 4}},
                              {.atom = {4, 5}},  {.atom = {0, 6}}, {.atom = {7, 8}}, {.atom = {8, 9}},
                              {.atom = {9, 10}}, {.atom = {9, 11}}};
static struct constraint hydrogen = {.atom = {7, 12}, .bonded = true};

static struct system complex_of(void)
{
    for (int i = 0; i < ATOMS; i++) {
        atoms[i] = (struct atom){.mass = {i == 6 || i == 12 ? 3.024 : 12, 12}, .molecule = i >= RECEPTOR, .name = "C1"};
        if (i == 12) /* repartitioned by more */
            atoms[i].mass[0] = 5, strcpy(atoms[i].name, "2H7");
        atoms[i].type[0] = i == 6 || i == 12;
    }
    return (struct system){.natoms = ATOMS,
                           .atoms = atoms,
                           .nmolecules = 2,
                           .molecules = molecules,
                           .nbonds = sizeof bonds / sizeof *bonds,
                           .bonds = bonds,
                           .nconstraints = 1,
                           .constraints = &hydrogen};
}

static uint64_t seed;

/* About normal, of width 1. */
static double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(seed >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

/* Frames of the complex, broken over the edges of the box where `images`, into room for `room`. */
static int chosen(const struct system *sys, int frames, int room, bool images, struct anchors *out, struct err *e)
{
    const double box[BOX_SIZE] = {EDGE, EDGE, EDGE};
    struct anchor_search *s = anchors_new(sys, 0, 1, room);
    seed = 1;
    for (int f = 0; f < frames; f++) {
        double x[ATOMS][3];
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++) {
                x[i][d] = place[i][d] + (frames > 1 ? shakes[i] * noise() : 0);
                if (images)
                    x[i][d] += EDGE * ((f + 3 * i + d) % 3 - 1);
            }
        anchors_frame(s, x, box);
    }
    int rc = anchors_choose(s, TEMPERATURE, out, e);
    anchors_free(s);
    return rc;
}

static struct anchors found(const struct system *sys, int frames, int room, bool images)
{
    struct anchors a;
    struct err e = {0};
    if (chosen(sys, frames, room, images, &a, &e))
        fail_msg("%s", e.msg);
    return a;
}

static void expect_atoms(const struct anchors *a, const int expected[6])
{
    for (int i = 0; i < 6; i++)
        assert_int_equal(a->atom[i], expected[i]);
}

static double distance(const double a[3], const double b[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double step = remainder(a[d] - b[d], EDGE);
        sum += step * step;
    }
    return sqrt(sum);
}

/* The numbers of a set are those of the frames, force constants follow from them, and so does the standard state. */
static void check_numbers(const struct anchors *a)
{
    static const double unit[ANCHOR_COORDINATES] = {100, 1, 1, 1, 1, 1};
    double formula = 8 * M_PI * M_PI * STANDARD_VOLUME / (a->mean[0] * a->mean[0] * pow(2 * M_PI * RT, 3));
    for (int k = 0; k < ANCHOR_COORDINATES; k++) {
        const double free = RT / (a->width[k] * a->width[k]), low = 10 * UNIT_KCAL * unit[k], high = 10 * low;
        assert_true(fabs(a->k[k] / fmin(fmax(free, low), high) - 1) < 1e-9);
        formula *= sqrt(a->k[k]);
    }
    for (int k = 1; k < 3; k++) {
        assert_true(fabs(a->mean[k] - M_PI / 2) < M_PI / 4);
        formula /= sin(a->mean[k]);
    }
    assert_true(fabs(a->state.release + RT * log(formula)) < 0.4); /* eq. 32 takes the wells for narrow */
    assert_true(fabs(a->mean[0] - distance(place[a->atom[2]], place[a->atom[3]])) < 5e-3);
    assert_true(a->width[0] > 0.01 && a->width[0] < 0.03);
}

static void test_stable(void **state)
{
    struct system sys = complex_of();
    struct anchors a = found(&sys, FRAMES, FRAMES, false);
    for (int i = 0; i < 3; i++) { /* what flaps, what is light and what can be replaced is none of them */
        assert_true(a.atom[i] <= 2);
        assert_true(a.atom[3 + i] >= 7 && a.atom[3 + i] <= 9);
    }
    assert_false(a.replaced);
    assert_int_equal(a.nframes, FRAMES);
    assert_true(a.contact == 0);
    check_numbers(&a);
    struct anchors broken = found(&sys, FRAMES, FRAMES, true);
    expect_atoms(&broken, a.atom);
    for (int k = 0; k < ANCHOR_COORDINATES; k++)
        assert_true(fabs(broken.mean[k] - a.mean[k]) < 1e-4 && fabs(broken.width[k] - a.width[k]) < 1e-4);
    struct anchors thinned = found(&sys, FRAMES, 90, false);
    assert_int_equal(thinned.nframes, FRAMES / 8); /* 90 are not enough for a quarter of them */
    check_numbers(&thinned);
}

/* Two polar atoms near each other are preferred to what is as stable. */
static void test_contact(void **state)
{
    struct system sys = complex_of();
    struct anchors plain = found(&sys, FRAMES, FRAMES, false);
    strcpy(atoms[2].name, "1N");
    strcpy(atoms[9].name, "O2"); /* too far for a contact */
    struct anchors far = found(&sys, FRAMES, FRAMES, false);
    expect_atoms(&far, plain.atom);
    assert_true(far.contact == 0);
    strcpy(atoms[9].name, "C3");
    strcpy(atoms[0].name, "N");
    strcpy(atoms[7].name, "O1");
    struct anchors near = found(&sys, FRAMES, FRAMES, false);
    expect_atoms(&near, (const int[]){2, 1, 0, 7, 8, 9});
    assert_true(near.contact > 0.9);
    check_numbers(&near);
}

static void test_one_frame(void **state)
{
    struct system sys = complex_of();
    struct anchors a = found(&sys, 1, FRAMES, false);
    for (int k = 0; k < ANCHOR_COORDINATES; k++)
        assert_true(a.width[k] == 0 && fabs(a.k[k] - 10 * UNIT_KCAL * (k ? 1 : 100)) < 1e-9);
    assert_true(fabs(a.mean[0] - distance(place[a.atom[2]], place[a.atom[3]])) < 1e-6);
}

/* Where nothing else is left they are taken, and it is said; where there are no three, there are none. */
static void test_few(void **state)
{
    struct system sys = complex_of();
    struct anchors a;
    struct err e = {0};
    atoms[7].mass[0] = 1;
    atoms[7].type[0] = 9;
    a = found(&sys, FRAMES, FRAMES, false);
    assert_true(a.replaced && a.atom[3] > 7);
    atoms[8].mass[0] = atoms[10].mass[0] = 1;
    assert_int_equal(chosen(&sys, FRAMES, FRAMES, false, &a, &e), -ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "does the ligand stay where it binds?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stable), cmocka_unit_test(test_contact),
                                       cmocka_unit_test(test_one_frame), cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
