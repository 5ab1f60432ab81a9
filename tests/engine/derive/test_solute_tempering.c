/* SPDX-License-Identifier: Apache-2.0
 *
 * The B states of a tempered solute against those that a topology says line by line: of every term, every combination
 * rule, and of pairs of types with parameters of their own. The scale is 1/4, so that its root is a plain number, too.
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
#include "engine/derive/solute_tempering.h"

#define ROOT 0.5
#define SCALE (ROOT * ROOT)
#define NEAR 1e-13 /* relative */
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Of a topology's Lennard-Jones: sigma and epsilon, or what they come to. */
static void lj_words(struct buf *b, const char *before, int rule, double sigma, double epsilon)
{
    const double s6 = pow(sigma, 6);
    buf_printf(b, "%s", before);
    if (rule == 1)
        buf_printf(b, " %.17g %.17g", 4 * epsilon * s6, 4 * epsilon * s6 * s6);
    else
        buf_printf(b, " %.17g %.17g", sigma, epsilon);
}

static void lj_line(struct buf *b, const char *names, const char *words, int rule, double sigma, double epsilon)
{
    buf_printf(b, "%s %s", names, words);
    lj_words(b, "", rule, sigma, epsilon);
    buf_printf(b, "\n");
}

/* H has no Lennard-Jones with anything, so its atoms have that type in both states; HN has some with OW alone, which is
 * a type of a tempered molecule and of another. */
static void write_types(struct buf *b, int rule, bool by_hand)
{
    static const struct {
        const char *name;
        double sigma, epsilon;
    } plain[] = {{"CA", 0.34, 0.4}, {"CB", 0.3, 0.7}, {"H", 0, 0}, {"HN", 0, 0}, {"OW", 0.32, 0.65}},
      hot[] = {{"CAh", 0.34, 0.4 * SCALE}, {"CBh", 0.3, 0.7 * SCALE}, {"HNh", 0, 0}, {"OWh", 0.32, 0.65 * SCALE}},
      pairs[] = {{"CA OW", 0.36, 0.9}, {"CA CB", 0.31, 0.2}, {"HN OW", 0.2, 0.1}},
      hot_pairs[] = {{"CAh OW", 0.36, 0.9 * ROOT}, {"CA OWh", 0.36, 0.9 * ROOT}, {"CAh OWh", 0.36, 0.9 * SCALE},
                     {"CAh CB", 0.31, 0.2 * ROOT}, {"CA CBh", 0.31, 0.2 * ROOT}, {"CAh CBh", 0.31, 0.2 * SCALE},
                     {"HNh OW", 0.2, 0.1 * ROOT},  {"HN OWh", 0.2, 0.1 * ROOT},  {"HNh OWh", 0.2, 0.1 * SCALE}};
    buf_printf(b, "[ defaults ]\n1 %d yes 0.5 0.8\n[ atomtypes ]\n", rule);
    for (size_t i = 0; i < COUNT(plain); i++)
        lj_line(b, plain[i].name, "6 12 0 A", rule, plain[i].sigma, plain[i].epsilon);
    for (size_t i = 0; i < COUNT(hot) && by_hand; i++)
        lj_line(b, hot[i].name, "6 12 0 A", rule, hot[i].sigma, hot[i].epsilon);
    buf_printf(b, "[ nonbond_params ]\n");
    for (size_t i = 0; i < COUNT(pairs); i++)
        lj_line(b, pairs[i].name, "1", rule, pairs[i].sigma, pairs[i].epsilon);
    for (size_t i = 0; i < COUNT(hot_pairs) && by_hand; i++)
        lj_line(b, hot_pairs[i].name, "1", rule, hot_pairs[i].sigma, hot_pairs[i].epsilon);
    buf_printf(b, "[ cmaptypes ]\nCA CB CA CB CA 1 2 2 1 2 3 4\n");
}

static void write_atoms(struct buf *b, bool by_hand)
{
    static const struct {
        const char *type, *hot;
        double charge;
    } atoms[] = {{"CA", "CAh", 0.4},  {"CB", "CBh", -0.3}, {"CA", "CAh", 0.25}, {"CB", "CBh", 0},
                 {"CA", "CAh", -0.5}, {"H", "H", 0.2},     {"HN", "HNh", 0.1}};
    buf_printf(b, "[ moleculetype ]\nPEP 3\n[ atoms ]\n");
    for (size_t i = 0; i < COUNT(atoms); i++) {
        buf_printf(b, "%zu %s 1 PEP X%zu 1 %g 12", i + 1, atoms[i].type, i + 1, atoms[i].charge);
        if (by_hand)
            buf_printf(b, " %s %g 12", atoms[i].hot, ROOT * atoms[i].charge);
        buf_printf(b, "\n");
    }
}

/* A line of a section, the parameters of A, and those of B where they are another's. */
struct line {
    const char *section, *words, *hot;
};

static void write_lines(struct buf *b, const struct line *lines, size_t n, bool by_hand)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "[ %s ]\n%s %s\n", lines[i].section, lines[i].words, by_hand ? lines[i].hot : "");
}

/* A molecule with every kind of term, a single atom that is tempered too, another of that type that is not. */
static void write_molecules(struct buf *b, int rule, bool by_hand)
{
    static const struct line lines[] = {{"bonds", "1 2 1 0.15 2e5", ""},
                                        {"angles", "1 2 3 1 110 400", ""},
                                        {"angles", "2 3 4 5 110 300 0.25 9000", ""},
                                        {"dihedrals", "1 2 3 4 9 180 8 2", "180 2 2"},
                                        {"dihedrals", "1 2 3 4 9 0 -4 1", "0 -1 1"},
                                        {"dihedrals", "2 3 4 5 4 180 12 2", "180 3 2"},
                                        {"dihedrals", "2 3 4 5 2 20 80", "20 20"},
                                        {"dihedrals", "3 4 5 6 3 4 8 -12 16 -20 24", "1 2 -3 4 -5 6"},
                                        {"dihedrals", "4 5 6 7 5 4 -8 12 16", "1 -2 3 4"},
                                        {"dihedrals", "1 2 3 4 10 80 12", ""},
                                        {"dihedrals", "2 3 4 5 11 1.5 2 -3 4 -2 1", ""},
                                        {"dihedral_restraints", "1 2 3 4 1 100 10 200", ""},
                                        {"cmap", "1 2 3 4 5 1", ""},
                                        {"pairs", "1 4 1", ""},
                                        {"pairs", "2 5 2 0.8 0.3 -0.2 0.3 0.4", ""},
                                        {"pairs_nb", "1 6 1 0.3 -0.2 0.3 0.4", ""}},
                             between[] = {{"dihedrals", "1 2 3 8 9 180 8 3", "180 2 3"},
                                          {"dihedrals", "1 2 3 9 9 180 8 3", ""},
                                          {"bonds", "1 8 6 0.4 900", ""}};
    write_atoms(b, by_hand);
    write_lines(b, lines, COUNT(lines), by_hand);
    lj_words(b, "[ pairs ]\n3 6 1", rule, 0.3, 0.8); /* of its own */
    if (by_hand)
        lj_words(b, "", rule, 0.3, 0.8 * SCALE);
    buf_printf(b, "\n[ moleculetype ]\nLIG 1\n[ atoms ]\n1 OW 1 LIG O 1 -0.8 16%s\n", by_hand ? " OWh -0.4 16" : "");
    buf_printf(b, "[ moleculetype ]\nSOL 1\n[ atoms ]\n1 OW 1 SOL O 1 -0.6 16\n");
    buf_printf(b, "[ system ]\nt\n[ molecules ]\nPEP 1\nLIG 1\nSOL 1\n[ intermolecular_interactions ]\n");
    write_lines(b, between, COUNT(between), by_hand);
    lj_words(b, "[ pairs ]\n4 9 1", rule, 0.3, 0.8);
    if (by_hand)
        lj_words(b, "", rule, 0.3, 0.8 * ROOT);
    lj_words(b, "\n1 9 1", rule, 0.3, 0.8);
    if (by_hand)
        lj_words(b, "", rule, 0.3, 0.8 * ROOT);
    buf_printf(b, "\n");
}

static void read(struct system *s, const struct buf *text)
{
    struct err e = {0};
    struct source *src = source_memory_new();
    assert_int_equal(source_memory_add(src, "a.top", text->data, text->len, &e), 0);
    if (top_read(s, src, "a.top", NULL, 0, &e))
        fail_msg("%s", e.msg);
    source_free(src);
}

static void read_system(struct system *s, int rule, bool by_hand)
{
    struct buf b = {0};
    write_types(&b, rule, by_hand);
    write_molecules(&b, rule, by_hand);
    read(s, &b);
    buf_free(&b);
}

static const struct tempered solute = {.molecule = {"PEP", "LIG"}, .nmolecules = 2, .to = 300 / SCALE};

static void near(const char *what, int i, double found, double expected)
{
    if (!(fabs(found - expected) <= NEAR * fabs(expected)))
        fail_msg("%s %d: %.17g, expected %.17g", what, i, found, expected);
}

#define SAME(list, n, field)                                                                                           \
    for (int i = 0; i < ours->n; i++)                                                                                  \
        for (int k = 0; k < 2; k++)                                                                                    \
    near(#list " " #field, i, ours->list[i].field, theirs->list[i].field)

static void compare_terms(const struct system *ours, const struct system *theirs)
{
    SAME(bonds, nbonds, k[k]);
    SAME(harmonics, nharmonics, k[k]);
    SAME(angles, nangles, k[k]);
    SAME(angles, nangles, ub_k[k]);
    SAME(dihedrals, ndihedrals, k[k]);
    SAME(dihedrals, ndihedrals, phi0[k]);
    SAME(impropers, nimpropers, k[k]);
    SAME(impropers, nimpropers, xi0[k]);
    SAME(pairs14, npairs14, lj[k].c6);
    SAME(pairs14, npairs14, lj[k].c12);
    SAME(pairs14, npairs14, qq[k]);
    for (int n = 0; n < 6; n++) {
        SAME(rb_dihedrals, nrb_dihedrals, c[k][n]);
        SAME(rare, nrare, c[k][n]);
    }
}

static void test_states(void **state)
{
    for (int rule = 1; rule <= 3; rule++) {
        struct system ours[1] = {0}, theirs[1] = {0};
        struct err e = {0};
        read_system(ours, rule, false);
        read_system(theirs, rule, true);
        assert_int_equal(ours->ntypes, 5);
        assert_int_equal(temper_make(ours, &solute, 300, &e), 0);
        assert_int_equal(ours->ntypes, 9);
        assert_int_equal(theirs->ntypes, 9);
        for (int i = 0; i < 9 * 9; i++) {
            near("c6 of types", i, ours->lj[i].c6, theirs->lj[i].c6);
            near("c12 of types", i, ours->lj[i].c12, theirs->lj[i].c12);
            assert_int_equal(ours->type_numbers[i / 9], theirs->type_numbers[i / 9]);
        }
        assert_string_equal(ours->type_names[8], "OW");
        SAME(atoms, natoms, type[k]);
        SAME(atoms, natoms, charge[k]);
        SAME(atoms, natoms, mass[k]);
        compare_terms(ours, theirs);
        assert_int_equal(ours->ncmaps, 1); /* which no line of a topology can scale */
        assert_true(ours->cmaps[0].share[0] == 1 && ours->cmaps[0].share[1] == SCALE);
        system_close(ours);
        system_close(theirs);
    }
}

/* Terms whose formulas have no lambda. */
static void test_left(void **state)
{
    struct system s = {0};
    read_system(&s, 2, false);
    struct temper_left left = temper_left_of(&s, &solute);
    assert_int_equal(left.dihedrals, 2);
    assert_int_equal(left.pairs, 2);
    left = temper_left_of(&s, &(struct tempered){.molecule = {"SOL"}, .nmolecules = 1, .to = 600});
    assert_int_equal(left.dihedrals + left.pairs, 0);
    struct err e = {0};
    assert_int_equal(temper_make(&s, &(struct tempered){.molecule = {"SOL"}, .nmolecules = 1, .to = 600}, 300, &e), 0);
    assert_true(s.cmaps[0].share[0] == 1 && s.cmaps[0].share[1] == 1); /* of PEP */
    system_close(&s);
}

static void test_too_many_types(void **state)
{
    struct system s = {0};
    struct buf b = {0};
    struct err e = {0};
    buf_printf(&b, "[ defaults ]\n1 2\n[ atomtypes ]\n");
    for (int i = 0; i <= SYSTEM_TYPES_MAX / 2; i++)
        buf_printf(&b, "T%d 12 0 A 0.3 0.5\n", i);
    buf_printf(&b, "[ moleculetype ]\nPEP 1\n[ atoms ]\n");
    for (int i = 0; i <= SYSTEM_TYPES_MAX / 2; i++)
        buf_printf(&b, "%d T%d 1 PEP X 1\n", i + 1, i);
    buf_printf(&b, "[ system ]\nt\n[ molecules ]\nPEP 1\n");
    read(&s, &b);
    assert_int_equal(temper_make(&s, &solute, 300, &e), -ERR_UNSUPPORTED);
    assert_string_equal(e.msg, "4098 atom types with those of state B, at most 4096 can be");
    system_close(&s);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_too_many_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
