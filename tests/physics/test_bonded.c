/* SPDX-License-Identifier: Apache-2.0
 *
 * Every bonded term: values worked out by hand, forces, dU/dlambda, virial and U at every window against differences of
 * energies.
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

#include "engine/base/units.h"
#include "engine/system/rare_kinds.h"
#include "tests/lib/toy.h"

#define DEGREES (M_PI / 180)

enum { ATOMS = 5, WINDOWS = 5 };

static double ladder[WINDOWS][LAMBDA_COUNT] = {
    {0, 0, 0, 0}, {0, 0, 0.3, 0}, {0, 0, 0.30002, 0}, {0, 0, 0.6, 0}, {0, 0, 1, 0}};

static struct settings perturbed_settings(void)
{
    struct settings set = toy_settings();
    set.alchemy.kind = ALCHEMY_B_STATES;
    set.alchemy.nwindows = WINDOWS;
    set.alchemy.lambda = ladder;
    return set;
}

static void place(struct system *s, double scale)
{
    static const double x[ATOMS][3] = {
        {0.11, 0.02, 0.03}, {0.20, 0.13, 0.02}, {0.34, 0.11, 0.08}, {0.41, 0.23, 0.14}, {0.52, 0.20, 0.05}};
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            s->x[i][d] = scale * x[i][d];
}

/* The terms under test, each on its own. */
enum kind {
    BOND,
    ANGLE,
    UREY_BRADLEY,
    PROPER,
    PERIODIC_IMPROPER,
    RB,
    IMPROPER,
    RESTRAINT,
    PAIR14,
    HARMONIC,
    CMAP,
    CENTERS,
    RARE, /* .. + enum rare_kind */
    KINDS = RARE + RARE_KINDS
};
static const enum term usual_term[RARE] = {TERM_BOND,
                                           TERM_ANGLE,
                                           TERM_UREY_BRADLEY,
                                           TERM_PROPER_DIHEDRAL,
                                           TERM_IMPROPER_DIHEDRAL,
                                           TERM_PROPER_DIHEDRAL,
                                           TERM_IMPROPER_DIHEDRAL,
                                           TERM_RESTRAINT,
                                           TERM_LJ_14,
                                           TERM_BOND,
                                           TERM_CMAP,
                                           TERM_RESTRAINT};

/* Two walls of the restraint of a distance, and beyond: its kind is here once, the others are in tests/ref. */
static const struct rare_term rare[RARE_KINDS] = {
    [RARE_G96_BOND] = {RARE_G96_BOND, {0, 1}, 0, {{0.10, 3e6}, {0.14, 2e6}}},
    [RARE_MORSE] = {RARE_MORSE, {0, 1}, 0, {{0.10, 400, 20}, {0.13, 300, 17}}},
    [RARE_CUBIC_BOND] = {RARE_CUBIC_BOND, {0, 1}, 0, {{0.10, 1e5, 7}, {0.10, 1e5, 7}}},
    [RARE_FENE] = {RARE_FENE, {0, 1}, 0, {{0.3, 5e3}, {0.3, 5e3}}},
    [RARE_DISTANCE_RESTRAINT] = {RARE_DISTANCE_RESTRAINT, {0, 3}, 0, {{0.1, 0.2, 0.3, 900}, {0.1, 0.25, 0.31, 700}}},
    [RARE_G96_ANGLE] = {RARE_G96_ANGLE, {0, 1, 2}, 0, {{-0.1, 400}, {-0.5, 600}}},
    [RARE_QUARTIC_ANGLE] = {RARE_QUARTIC_ANGLE, {0, 1, 2}, 0, {{1.9, 1, 20, 300, -40, 50}, {1.9, 1, 20, 300, -40, 50}}},
    [RARE_RESTRICTED_ANGLE] = {RARE_RESTRICTED_ANGLE, {0, 1, 2}, 0, {{-0.2, 80}, {-0.2, 80}}},
    [RARE_BOND_BOND] = {RARE_BOND_BOND, {0, 1, 2}, 0, {{0.1, 0.2, 4000}, {0.1, 0.2, 4000}}},
    [RARE_BOND_ANGLE] = {RARE_BOND_ANGLE, {0, 1, 2}, 0, {{0.1, 0.2, 0.3, 5000}, {0.1, 0.2, 0.3, 5000}}},
    [RARE_LINEAR_ANGLE] = {RARE_LINEAR_ANGLE, {0, 1, 2}, 0, {{0.4, 5000}, {0.6, 3000}}},
    [RARE_RESTRICTED_DIHEDRAL] = {RARE_RESTRICTED_DIHEDRAL, {0, 1, 2, 3}, 0, {{-0.5, 5}, {-0.5, 5}}},
    [RARE_DIHEDRAL_RESTRAINT] = {RARE_DIHEDRAL_RESTRAINT, {0, 1, 2, 3}, 0, {{0.3, 0.2, 50}, {-0.4, 0.1, 90}}},
    [RARE_BENDING_TORSION] = {RARE_BENDING_TORSION, {0, 1, 2, 3}, 0, {{2, 3, -4, 5, 6, 7}, {2, 3, -4, 5, 6, 7}}},
    [RARE_ANGLE_RESTRAINT] = {RARE_ANGLE_RESTRAINT, {0, 2, 1, 4}, 0, {{1, 100, 1}, {2, 200, 1}}},
    [RARE_ANGLE_RESTRAINT_Z] = {RARE_ANGLE_RESTRAINT_Z, {0, 2}, 0, {{1, 100, 2}, {0.5, 200, 2}}},
    [RARE_FLAT_POSITION] = {RARE_FLAT_POSITION, {3}, 0, {{0.6, 0.7, 0.8, 0.05, 900, 1}, {0.6, 0.7, 0.8, 0.05, 900, 1}}},
};

static enum term term_of(int kind)
{
    if (kind < RARE)
        return usual_term[kind];
    static const enum term of_part[] = {[RARE_PART_BOND_LENGTH] = TERM_BOND,
                                        [RARE_PART_BOND] = TERM_BOND,
                                        [RARE_PART_ANGLE] = TERM_ANGLE,
                                        [RARE_PART_DIHEDRAL] = TERM_PROPER_DIHEDRAL,
                                        [RARE_PART_RESTRAINT] = TERM_RESTRAINT};
    return of_part[rare_kinds[kind - RARE].part];
}

/* Whether it depends on lambda. */
static bool changes(int kind)
{
    if (kind < RARE)
        return kind != PAIR14;
    return memcmp(rare[kind - RARE].c[0], rare[kind - RARE].c[1], sizeof rare->c[0]) != 0;
}

static void add_term(struct system *s, enum kind kind)
{
    if (kind >= RARE && kind < KINDS) {
        toy_add(s, rare, nrare, rare[kind - RARE]);
        return;
    }
    switch (kind) {
    case BOND:
        toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.10, 0.14}, {2e5, 1e5}});
        break;
    case ANGLE:
        toy_add(s, angles, nangles, (struct angle){{0, 1, 2}, {1.9, 2.2}, {400, 600}, {0}, {0}, false});
        break;
    case UREY_BRADLEY:
        toy_add(s, angles, nangles, (struct angle){{0, 1, 2}, {1.9, 2.2}, {400, 600}, {0.2, 0.25}, {1e4, 3e4}, true});
        break;
    case PROPER:
        toy_add(s, dihedrals, ndihedrals, (struct dihedral){{0, 1, 2, 3}, {0.3, M_PI}, {5, 9}, 3, false, {0, 0}});
        break;
    case PERIODIC_IMPROPER:
        toy_add(s, dihedrals, ndihedrals, (struct dihedral){{1, 2, 3, 4}, {M_PI, M_PI}, {5, 9}, 2, true, {0, 0}});
        break;
    case RB:
        toy_add(s, rb_dihedrals, nrb_dihedrals,
                (struct rb_dihedral){{0, 1, 2, 3}, {{9, 12, -13, 3, -30, 31}, {1, 2, 3, 4, 5, 6}}});
        break;
    case IMPROPER:
        toy_add(s, impropers, nimpropers, (struct improper){{0, 1, 2, 3}, {3.0, -3.0}, {100, 200}});
        break;
    case RESTRAINT:
        toy_add(s, position_restraints, nposition_restraints,
                (struct position_restraint){3, {0.4, 0.2, 0.1}, {{1000, 2000, 0}, {3000, 500, 100}}});
        break;
    case PAIR14:
        toy_add(s, pairs14, npairs14, (struct pair14){{0, 3}, {{1e-3, 1e-6}, {1e-3, 1e-6}}, {0.1, 0.1}, false});
        break;
    case HARMONIC:
        toy_add(s, harmonics, nharmonics, (struct bond){{0, 3}, {0.30, 0.14}, {2e3, 1e3}});
        break;
    case CMAP:
        toy_add_cmap(s, 0);
        break;
    case CENTERS: /* two of the molecule's ends, beyond the upper wall */
        toy_add_centers(s, (const int[]){0, 1}, 2, (const int[]){4, 3, 2}, 3,
                        (const double[2][6]){{0.1, 0.2, 1e6, 900}, {0.1, 0.25, 1e6, 700}});
        break;
    case RARE:
    case KINDS:
        break;
    }
}

static struct system *molecule(enum kind kind)
{
    struct system *s = toy_system(ATOMS, 3);
    place(s, 1);
    for (int i = 0; i + 1 < ATOMS; i++)
        toy_add(s, connections, nconnections, (struct connection){{i, i + 1}});
    add_term(s, kind);
    return s;
}

static double potential_of(struct toy t)
{
    double du[WINDOWS];
    struct sample a = toy_sample(t.sim, du);
    toy_close(&t);
    return a.potential;
}

static double energy_at(const struct system *s, const struct settings *set, int window)
{
    return potential_of(toy_open(s, set, window));
}

/* In double precision, whatever device is tested: for differences of energies. */
static double exact_at(const struct system *s, const struct settings *set, int window)
{
    return potential_of(toy_open_reference(s, set, window));
}

/* What mixed precision may add: to an energy, and to dU/dlambda or a difference between windows. */
static double of_energy(double u)
{
    return toy_allowed(0, 1e-5 * fabs(u));
}

static double of_window(double du)
{
    return toy_allowed(0, 1e-3 + 1e-5 * fabs(du));
}

/* To a force, of the root mean square of all. */
static double of_force(double (*f)[3])
{
    double sum = 0;
    for (int i = 0; i < ATOMS; i++)
        sum += f[i][0] * f[i][0] + f[i][1] * f[i][1] + f[i][2] * f[i][2];
    return toy_allowed(0, 1e-4 * sqrt(sum / (3 * ATOMS)));
}

static double slope(struct system *s, const struct settings *set, int window, double *x, double h)
{
    double at = *x;
    *x = at + h;
    double up = exact_at(s, set, window);
    *x = at - h;
    double down = exact_at(s, set, window);
    *x = at;
    return (up - down) / (2 * h);
}

static void test_forces(void **state)
{
    struct settings set = perturbed_settings();
    for (int kind = 0; kind < KINDS; kind++) {
        struct system *s = molecule(kind);
        struct toy t = toy_open(s, &set, 1);
        double f[ATOMS][3], du[WINDOWS];
        struct err e = {0};
        toy_sample(t.sim, du);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        toy_close(&t);
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++) {
                double expected = -slope(s, &set, 1, &s->x[i][d], 2e-5);
                if (!(fabs(f[i][d] - expected) < 2e-4 + 1e-6 * fabs(expected) + of_force(f)))
                    fail_msg("term %d atom %d axis %d: %.9g, expected %.9g", kind, i, d, f[i][d], expected);
            }
        toy_system_free(s);
    }
}

/* dU/dlambda between windows 1 and 2, which lie 2e-5 apart; U at every window against a replica in that window. */
static void test_lambda(void **state)
{
    struct settings set = perturbed_settings();
    for (int kind = 0; kind < KINDS; kind++) {
        struct system *s = molecule(kind);
        double du[WINDOWS], other[WINDOWS];
        struct toy t = toy_open(s, &set, 1);
        struct sample a = toy_sample(t.sim, du);
        struct sim *next = toy_replica(&t, 2, 1);
        struct sample b = toy_sample(next, other);
        sim_free(next);
        toy_close(&t);
        double expected = (exact_at(s, &set, 2) - exact_at(s, &set, 1)) / 2e-5,
               mean = 0.5 * (a.dvdl[LAMBDA_BONDED] + b.dvdl[LAMBDA_BONDED]);
        if (!(fabs(mean - expected) < 5e-5 + 1e-7 * fabs(expected) + of_window(expected)))
            fail_msg("term %d: dU/dlambda %.9g, expected %.9g", kind, mean, expected);
        for (int w = 0; w < WINDOWS; w++)
            assert_true(fabs(du[w] - (energy_at(s, &set, w) - a.potential)) < 1e-8 + of_window(du[w]));
        assert_true((fabs(expected) > 1e-3) == changes(kind));
        toy_system_free(s);
    }
}

/* A map at lambda is one whose points are what is left of it there, and of which all states have the same. */
static void test_map_share(void **state)
{
    struct settings set = perturbed_settings();
    for (int window = 0; window < WINDOWS; window++) {
        struct system *ours = molecule(CMAP), *theirs = molecule(CMAP);
        const double lambda = set.alchemy.lambda[window][LAMBDA_BONDED], share = 1 + lambda * (0.6 - 1);
        theirs->cmaps[0].share[1] = 1;
        for (int i = 0; i < theirs->ncmap_points; i++)
            for (int n = 0; n < CMAP_NUMBERS; n++)
                theirs->cmap_points[i][n] *= share;
        struct toy a = toy_open(ours, &set, window), b = toy_open(theirs, &set, window);
        double du[WINDOWS], none[WINDOWS], f[ATOMS][3], g[ATOMS][3];
        struct err e = {0};
        const double u = toy_sample(a.sim, du).potential, expected = toy_sample(b.sim, none).potential;
        assert_int_equal(sim_forces(a.sim, f, &e), 0);
        assert_int_equal(sim_forces(b.sim, g, &e), 0);
        assert_true(fabs(u) > 0.1 && fabs(u - expected) < 1e-9 + of_energy(u));
        for (int i = 0; i < 3 * ATOMS; i++)
            assert_true(fabs(f[i / 3][i % 3] - g[i / 3][i % 3]) < 1e-8 + of_force(g));
        for (int w = 0; w < WINDOWS; w++) {
            const double other = 1 + set.alchemy.lambda[w][LAMBDA_BONDED] * (0.6 - 1);
            assert_true(fabs(du[w] - u * (other / share - 1)) < 1e-8 + of_window(du[w]) && none[w] == 0);
        }
        toy_close(&a);
        toy_close(&b);
        toy_system_free(ours);
        toy_system_free(theirs);
    }
}

/* A 1-4 pair between two states, one of them without repulsion: forces, both slopes and every window, soft core on. */
static void test_pair14_lambda(void **state)
{
    static double steps[][LAMBDA_COUNT] = {{0.3, 0.4}, {0.30002, 0.4}, {0.3, 0.40002}, {0, 0}, {1, 1}};
    static const struct soft_core cores[] = {
        {.alpha = 0.5, .power = 1, .sigma = 0.3},
        {.alpha = 0.5, .power = 1, .sigma = 0.3, .coulomb = true},
        {.function = SOFT_GAPSYS, .alpha = 1.3, .sigma = 0.3, .alpha_coulomb = 0.6}, /* farther than the atoms are */
    };
    for (int soft = 0; soft < 3; soft++) {
        struct settings set = perturbed_settings();
        set.alchemy.lambda = steps;
        set.alchemy.soft_core = cores[soft];
        struct system *s = molecule(KINDS);
        const double q[2][2] = {{0.3, -0.2}, {-0.5, 0.4}}, fudge = 0.8333;
        struct pair14 p = {{0, 3}, {{1e-3, 1e-6}, {0, 0}}, {0}, false};
        for (int k = 0; k < 2; k++) {
            p.qq[k] = fudge * q[0][k] * q[1][k];
            memcpy(s->atoms[k ? 3 : 0].charge, q[k], sizeof q[k]);
        }
        toy_add(s, pairs14, npairs14, p);
        double du[WINDOWS], f[ATOMS][3];
        struct err e = {0};
        struct toy t = toy_open(s, &set, 0);
        struct sample a = toy_sample(t.sim, du), next[3];
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        for (int w = 1; w < 3; w++) {
            struct sim *other = toy_replica(&t, w, 1);
            double ignored[WINDOWS];
            next[w] = toy_sample(other, ignored);
            sim_free(other);
        }
        toy_close(&t);
        double coulomb = 0.5 * (a.dvdl[LAMBDA_COULOMB] + next[1].dvdl[LAMBDA_COULOMB]);
        double vdw = 0.5 * (a.dvdl[LAMBDA_VDW] + next[2].dvdl[LAMBDA_VDW]);
        double whole = exact_at(s, &set, 0);
        assert_true(fabs(coulomb - (exact_at(s, &set, 1) - whole) / 2e-5) < 1e-3 + of_window(coulomb));
        assert_true(fabs(vdw - (exact_at(s, &set, 2) - whole) / 2e-5) < 1e-3 + of_window(vdw));
        assert_true(fabs(coulomb) > 1 && fabs(vdw) > 1e-2);
        for (int w = 0; w < WINDOWS; w++)
            assert_true(fabs(du[w] - (energy_at(s, &set, w) - a.potential)) < 1e-7 + of_window(du[w]));
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++)
                assert_true(fabs(f[i][d] + slope(s, &set, 0, &s->x[i][d], 2e-5)) < 1e-3 + of_force(f));
        toy_system_free(s);
    }
}

/* Between two atoms that are the same in both states a pair's own LJ may change; gmx_d 2022.5 of such a pair prints
 * these (it needs a perturbed atom elsewhere, and crashes without). Both ends with LJ: no soft core; one without: with
 * it. */
static void test_pair14_of_unchanged_atoms(void **state)
{
    enum { STATES = 4 };
    static double lambda[STATES][LAMBDA_COUNT];
    static const double at[STATES] = {0, 0.3, 0.7, 1};
    static const struct {
        struct lj end;
        int window;
        double slope, delta[STATES];
    } cases[] = {{{5e-4, 8e-7}, 1, 0.25208638, {-0.075625913, 0, 0.10083455, 0.17646046}},
                 {{0, 0}, 1, 0.32543287, {-0.093757904, 0, 0.13288204, 0.23266281}},
                 {{0, 0}, 2, 0.33472956, {-0.22663994, -0.13288204, 0, 0.099780779}}};
    for (int k = 0; k < STATES; k++)
        lambda[k][LAMBDA_VDW] = at[k];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings set = perturbed_settings();
        set.alchemy.lambda = lambda;
        set.alchemy.nwindows = STATES;
        set.alchemy.soft_core = (struct soft_core){.alpha = 0.5, .power = 1, .sigma = 0.3};
        struct system *s = toy_system(2, 4);
        const double apart[3] = {0.33, 0.11, 0.13};
        memcpy(s->x[1], apart, sizeof apart);
        toy_add(s, pairs14, npairs14, (struct pair14){{0, 1}, {{2e-3, 3e-6}, cases[i].end}, {0}, false});
        struct toy t = toy_open(s, &set, cases[i].window);
        double du[STATES];
        struct sample a = toy_sample(t.sim, du);
        assert_true(fabs(a.dvdl[LAMBDA_VDW] - cases[i].slope) < 1e-8 + of_window(cases[i].slope));
        for (int k = 0; k < STATES; k++)
            assert_true(fabs(du[k] - cases[i].delta[k]) < 1e-8 + of_window(du[k]));
        toy_close(&t);
        toy_system_free(s);
    }
}

static double largest_of(const double virial[9])
{
    double most = 0;
    for (int k = 0; k < 9; k++)
        most = fmax(most, fabs(virial[k]));
    return most;
}

/* Scaling all positions by 1 + e changes U by -e sum x.f = 2 e tr Xi. */
static void test_virial(void **state)
{
    struct settings set = perturbed_settings();
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind == RESTRAINT)
            continue; /* its virial counts the reference position, which does not scale */
        struct system *s = molecule(kind);
        double du[WINDOWS];
        struct toy t = toy_open(s, &set, 1);
        struct sample a = toy_sample(t.sim, du);
        toy_close(&t);
        place(s, 1 + 1e-5);
        double up = exact_at(s, &set, 1);
        place(s, 1 - 1e-5);
        double down = exact_at(s, &set, 1);
        double expected = (up - down) / 4e-5, trace = a.virial[0] + a.virial[4] + a.virial[8];
        assert_true(fabs(trace - expected) <
                    1e-4 + 1e-6 * fabs(expected) + toy_allowed(0, 1e-4 * largest_of(a.virial)));
        assert_true(a.energy[term_of(kind)] == a.potential || kind == PAIR14);
        assert_true(a.potential != 0);
        toy_system_free(s);
    }
}

/* Off by how much the term is from the value worked out by hand, less what mixed precision may add. */
static double off_by(struct system *s, const double (*x)[3], enum term term, double expected)
{
    struct settings set = toy_settings();
    double du;
    memcpy(s->x, x, (size_t)s->natoms * sizeof *x);
    struct toy t = toy_open(s, &set, 0);
    double u = toy_sample(t.sim, &du).energy[term];
    toy_close(&t);
    toy_system_free(s);
    return fabs(u - expected) - of_energy(expected);
}

/* A dihedral of 60 degrees (IUPAC sign) and simple distances and angles. */
static void test_by_hand(void **state)
{
    const double s3 = sqrt(3) / 2;
    const double bent[4][3] = {{0.1, 0, 0}, {0, 0, 0}, {0, 0, 0.1}, {0.05, 0.1 * s3, 0.1}};
    struct system *s = toy_system(4, 3);
    toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.09, 0.09}, {1000, 1000}});
    assert_true(off_by(s, bent, TERM_BOND, 0.05) < 1e-9);
    s = toy_system(4, 3);
    toy_add(s, angles, nangles, (struct angle){{0, 1, 2}, {80 * DEGREES, 0}, {100, 0}, {0}, {0}, false});
    assert_true(off_by(s, bent, TERM_ANGLE, 50 * pow(10 * DEGREES, 2)) < 1e-9);
    s = toy_system(4, 3);
    toy_add(s, angles, nangles, (struct angle){{0, 1, 2}, {M_PI / 2, 0}, {100, 0}, {0.1, 0}, {200, 0}, true});
    assert_true(off_by(s, bent, TERM_UREY_BRADLEY, 100 * pow(0.1 * (sqrt(2) - 1), 2)) < 1e-9);
    for (int sign = -1; sign <= 1; sign += 2) { /* phi0 tells +60 from -60 */
        double phi = sign * 60 * DEGREES, x[4][3];
        memcpy(x, bent, sizeof x);
        x[3][1] *= sign;
        s = toy_system(4, 3);
        toy_add(s, dihedrals, ndihedrals, (struct dihedral){{0, 1, 2, 3}, {0.5, 0}, {7, 0}, 1, false, {0, 0}});
        double expected = 7 * (1 + cos(phi - 0.5));
        assert_true(off_by(s, x, TERM_PROPER_DIHEDRAL, expected) < 1e-8);
        for (int n = -2; n <= 4; n += 2) { /* multiplicities */
            s = toy_system(4, 3);
            toy_add(s, dihedrals, ndihedrals, (struct dihedral){{0, 1, 2, 3}, {0.5, 0.5}, {7, 7}, n, false, {0, 0}});
            expected = 7 * (1 + cos(n * phi - 0.5));
            assert_true(off_by(s, x, TERM_PROPER_DIHEDRAL, expected) < 1e-8);
        }
        s = toy_system(4, 3);
        toy_add(s, impropers, nimpropers, (struct improper){{0, 1, 2, 3}, {phi + 2 * M_PI - 0.1, 0}, {10, 0}});
        assert_true(off_by(s, x, TERM_IMPROPER_DIHEDRAL, 0.05) < 1e-8);
    }
    s = toy_system(4, 3);
    toy_add(s, rb_dihedrals, nrb_dihedrals, (struct rb_dihedral){{0, 1, 2, 3}, {{1, 2, 4, 8, 16, 32}}});
    assert_true(off_by(s, bent, TERM_PROPER_DIHEDRAL, 1 - 1 + 1 - 1 + 1 - 1) < 1e-8); /* cos psi = -1/2 */
    s = toy_system(4, 3);
    toy_add(s, pairs14, npairs14, (struct pair14){{0, 1}, {{1e-4, 1e-9}}, {0.5, 0}, true});
    assert_true(off_by(s, bent, TERM_LJ_14, 1e3 - 1e2) < 1e-8);
    s = toy_system(4, 3);
    toy_add(s, pairs14, npairs14, (struct pair14){{0, 1}, {{0, 0}}, {0.5, 0}, true});
    assert_true(off_by(s, bent, TERM_COULOMB_14, 5 * UNIT_COULOMB) < 1e-8);
}

/* Energies and forces do not depend on which images of the atoms are given, broken molecules included. */
static void test_images(void **state)
{
    struct settings set = perturbed_settings();
    for (int kind = 0; kind < KINDS; kind++) {
        struct system *s = molecule(kind);
        double whole = energy_at(s, &set, 1);
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++)
                s->x[i][d] += s->box[d] * ((i * 7 + d * 5) % 5 - 2);
        assert_true(fabs(energy_at(s, &set, 1) - whole) < 1e-8 + of_energy(whole));
        toy_system_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_lambda),
        cmocka_unit_test(test_map_share),
        cmocka_unit_test(test_pair14_lambda),
        cmocka_unit_test(test_pair14_of_unchanged_atoms),
        cmocka_unit_test(test_virial),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
