/* SPDX-License-Identifier: Apache-2.0
 *
 * Root mean square deviations of frames whose values are known: turned, moved and wrapped copies of the start structure
 * in boxes of several shapes (0), copies that are larger (the radius of gyration's part), a ligand or one of its atoms
 * out of place (by so much, over the root of how many there are), a mirror image (not 0). And which atoms are backbone
 * and ligand.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/io/io.h"
#include "engine/math/box.h"
#include "engine/derive/fold.h"

enum { RESIDUES = 12, BACKBONE = 3 * RESIDUES, PROTEIN = 4 * RESIDUES + 2, LIGAND = 4, ATOMS = PROTEIN + LIGAND + 4 };

static uint64_t seed = 88172645463325252u;

/* xorshift64*, uniform in [0, 1) */
static double uniform(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (double)(seed * 2685821657736338717u >> 11) / 9007199254740992.0;
}

/* A chain of two molecules (of 7 and 5 residues), each residue with a hydrogen, and after the first a residue without
 * CA; a ligand of four heavy atoms, a hydrogen, and a dummy of each state, all of one residue; and an ion that changes
 * its charge. */
static void write_topology(struct buf *b)
{
    buf_printf(b, "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nX 12 0 A 0.3 0.1\nD 0 0 A 0 0\n");
    for (int chain = 0, first = 0; chain < 2; first += 7, chain++) {
        buf_printf(b, "[ moleculetype ]\nP%d 3\n[ atoms ]\n", chain);
        int n = 0;
        for (int r = first; r < (chain ? RESIDUES : 7); r++)
            for (int k = 0; k < 4; k++, n++)
                buf_printf(b, "%d X %d ALA %s %d 0 %g\n", n + 1, r + 1, (const char *[]){"N", "H", "CA", "C"}[k], n + 1,
                           k == 1 ? 1.0 : 12.0);
        if (!chain)
            buf_printf(b, "%d X 8 NME N %d 0 14\n%d X 8 NME C %d 0 12\n", n + 1, n + 1, n + 2, n + 2);
    }
    buf_printf(b, "[ moleculetype ]\nLIG 3\n[ atoms ]\n1 X 1 LIG C1 1 0 12 X 0.5 12\n");
    for (int i = 2; i <= LIGAND; i++)
        buf_printf(b, "%d X 1 LIG C%d %d 0 12\n", i, i, i);
    buf_printf(b, "5 X 1 LIG H1 5 0 1\n6 D 1 LIG DC1 6 0 12 X 0 12\n7 X 1 LIG C7 7 0 12 D 0 12\n");
    buf_printf(b,
               "[ moleculetype ]\nION 1\n[ atoms ]\n1 X 1 ION ION 1 0 23 X 1 23\n"
               "[ system ]\nt\n[ molecules ]\nP0 1\nP1 1\nLIG 1\nION 1\n");
}

static void read_system(struct system *s)
{
    struct buf text = {0};
    struct err e = {0};
    struct source *src = source_memory_new();
    write_topology(&text);
    assert_int_equal(source_memory_add(src, "a.top", text.data, text.len, &e), 0);
    if (top_read(s, src, "a.top", NULL, 0, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(s->natoms, ATOMS);
    source_free(src);
    buf_free(&text);
}

/* A helix of 1.5 nm with the ligand beside it. */
static void place(struct system *s, const double box[BOX_SIZE])
{
    s->x = xcalloc(ATOMS, sizeof *s->x);
    memcpy(s->box, box, sizeof s->box);
    for (int i = 0; i < PROTEIN; i++) {
        const double turn = 0.45 * i;
        const double at[3] = {0.23 * cos(turn), 0.23 * sin(turn), 0.035 * i};
        memcpy(s->x[i], at, sizeof at);
    }
    for (int i = PROTEIN; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            s->x[i][d] = (d == 0 ? 0.7 : d == 1 ? 0.1 : 0.6) + 0.2 * uniform();
}

static void random_turn(double turn[3][3])
{
    double q[4], n = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = uniform() - 0.5;
        n += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++)
        q[k] /= sqrt(n);
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(turn, r, sizeof r);
}

/* What a frame would have of these places: turned and moved as a whole, each atom in some image. */
static void disguise(const double (*x)[3], const double box[BOX_SIZE], double (*out)[3])
{
    double turn[3][3], shift[3];
    random_turn(turn);
    for (int d = 0; d < 3; d++)
        shift[d] = 20 * uniform() - 10;
    for (int i = 0; i < ATOMS; i++) {
        double f[3], edge[3];
        for (int d = 0; d < 3; d++)
            f[d] = floor(5 * uniform()) - 2;
        box_apply(box, f, edge);
        for (int d = 0; d < 3; d++)
            out[i][d] = vec_dot(turn[d], x[i]) + shift[d] + edge[d];
    }
}

static const double boxes[][BOX_SIZE] = {
    {4, 4, 4},
    {3.2, 4, 5, 0, 0, 0},
    {4, 4, 2.8284271247461903, 0, 2, 2}, /* terms.h has the order: a dodecahedron */
    {4, 3.7712361663, 3.2659863237, 1.3333333333, -1.3333333333, 1.8856180832}};

struct fixture {
    struct system s;
    int *atoms[FOLD_GROUPS], n[FOLD_GROUPS];
    struct fold *fold;
};

static void open_in(struct fixture *f, const double box[BOX_SIZE])
{
    const struct alchemy_settings b_states = {.kind = ALCHEMY_B_STATES};
    *f = (struct fixture){0};
    read_system(&f->s);
    place(&f->s, box);
    f->n[0] = fold_backbone(&f->s, &f->atoms[0]);
    f->n[1] = fold_changed(&f->s, &b_states, f->atoms[0], f->n[0], &f->atoms[1]);
    assert_int_equal(f->n[0], BACKBONE);
    assert_int_equal(f->n[1], LIGAND);
    f->fold = fold_new(&f->s, (const int *const *)f->atoms, f->n);
}

static void close_it(struct fixture *f)
{
    fold_free(f->fold);
    free(f->atoms[0]);
    free(f->atoms[1]);
    system_close(&f->s);
}

/* Deviations of these places in disguise. */
static void expect(const struct fixture *f, const double (*x)[3], double backbone, double ligand)
{
    double frame[ATOMS][3], got[FOLD_GROUPS];
    for (int k = 0; k < 20; k++) {
        disguise(x, f->s.box, frame);
        fold_deviations(f->fold, (const double(*)[3])frame, f->s.box, got);
        if (!(fabs(got[0] - backbone) < 1e-12 && fabs(got[1] - ligand) < 1e-12))
            fail_msg("%.15g and %.15g nm, expected %.15g and %.15g", got[0], got[1], backbone, ligand);
    }
}

static void test_deviations(void **state)
{
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
        struct fixture f;
        double x[ATOMS][3], center[3] = {0}, gyration = 0, apart[3];
        open_in(&f, boxes[b]);
        memcpy(x, f.s.x, sizeof x);
        expect(&f, (const double(*)[3])x, 0, 0);
        /* hydrogens, dummies and side chains do not count */
        x[1][0] += 0.5;
        x[PROTEIN + 4][1] += 0.5;
        x[PROTEIN + 5][1] += 0.5;
        expect(&f, (const double(*)[3])x, 0, 0);
        /* an atom of the ligand, and all of it */
        x[PROTEIN][0] += 0.3;
        x[PROTEIN][1] += 0.4;
        expect(&f, (const double(*)[3])x, 0, 0.5 / sqrt(LIGAND));
        x[PROTEIN][0] -= 0.3;
        x[PROTEIN][1] -= 0.4;
        for (int i = 0; i < LIGAND; i++)
            x[PROTEIN + i][2] += 0.25;
        expect(&f, (const double(*)[3])x, 0, 0.25);
        /* larger by a tenth about its center */
        for (int i = 0; i < BACKBONE; i++)
            vec_add(center, 1.0 / BACKBONE, f.s.x[f.atoms[0][i]]);
        for (int i = 0; i < BACKBONE; i++) {
            vec_sub(f.s.x[f.atoms[0][i]], center, apart);
            gyration += vec_dot(apart, apart) / BACKBONE;
            vec_add(x[f.atoms[0][i]], 0.1, apart);
        }
        expect(&f, (const double(*)[3])x, 0.1 * sqrt(gyration), 0.25);
        close_it(&f);
    }
}

/* A mirror image is no rotation. */
static void test_mirror(void **state)
{
    struct fixture f;
    double x[ATOMS][3], got[FOLD_GROUPS];
    open_in(&f, boxes[0]);
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = d == 2 ? -f.s.x[i][d] : f.s.x[i][d];
    fold_deviations(f.fold, (const double(*)[3])x, f.s.box, got);
    assert_true(got[0] > 0.1);
    close_it(&f);
}

/* The start structure may be broken, and its molecules be apart by whole edges. */
static void test_broken_start(void **state)
{
    struct fixture f;
    double whole[ATOMS][3], got[FOLD_GROUPS];
    open_in(&f, boxes[2]);
    memcpy(whole, f.s.x, sizeof whole);
    fold_free(f.fold);
    disguise((const double(*)[3])whole, f.s.box, f.s.x);
    f.fold = fold_new(&f.s, (const int *const *)f.atoms, f.n);
    fold_deviations(f.fold, (const double(*)[3])whole, f.s.box, got);
    assert_true(got[0] < 1e-12 && got[1] < 1e-12);
    close_it(&f);
}

/* Without a protein, or without a change, there is nothing by default; a group of no atoms has no deviation. */
static void test_groups(void **state)
{
    struct fixture f;
    const struct alchemy_settings none = {.kind = ALCHEMY_NONE};
    int *atoms;
    double got[FOLD_GROUPS];
    open_in(&f, boxes[0]);
    static const int within[] = {0, 2, 3};
    for (int i = 0; i < BACKBONE; i++)
        assert_int_equal(f.atoms[0][i], i / 3 * 4 + (i >= 21 ? 2 : 0) + within[i % 3]);
    for (int i = 0; i < LIGAND; i++)
        assert_int_equal(f.atoms[1][i], PROTEIN + i);
    const struct alchemy_settings temper = {.kind = ALCHEMY_B_STATES, .temper = {.nmolecules = 1}};
    assert_int_equal(fold_changed(&f.s, &temper, f.atoms[0], f.n[0], &atoms), 0);
    free(atoms);
    assert_int_equal(fold_changed(&f.s, &none, f.atoms[0], f.n[0], &atoms), 0);
    free(atoms);
    fold_free(f.fold);
    f.n[1] = 0;
    f.fold = fold_new(&f.s, (const int *const *)f.atoms, f.n);
    fold_deviations(f.fold, (const double(*)[3])f.s.x, f.s.box, got);
    assert_true(got[0] < 1e-12 && isnan(got[1]));
    for (int r = 0; r < 3; r++)
        strcpy(f.s.atoms[4 * r].name, "NX");
    assert_int_equal(fold_backbone(&f.s, &atoms), 0);
    free(atoms);
    close_it(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deviations),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_broken_start),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
