/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates of the error of Coulomb forces against the errors that the engine makes: forces with short cut-offs and
 * coarse meshes less those of a sum that has converged.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/derive/split.h"
#include "engine/math/box.h"
#include "tests/lib/toy.h"

enum { SIDE = 7, ATOMS = 3 * SIDE * SIDE * SIDE };

typedef double forces[ATOMS][3];

static void forces_with(const struct system *sys, const struct settings *set, forces f)
{
    struct err e = {0};
    double du;
    struct toy t = toy_open_reference(sys, set, 0);
    toy_sample(t.sim, &du);
    assert_int_equal(sim_forces(t.sim, f, &e), 0);
    toy_close(&t);
}

static struct settings settings_to(double cutoff, double tolerance, int order, int points)
{
    struct settings set = toy_settings();
    set.nonbonded.coulomb_cutoff = cutoff;
    set.nonbonded.ewald_tolerance = tolerance;
    set.nonbonded.pme_order = order;
    for (int d = 0; d < 3; d++)
        set.nonbonded.pme_grid[d] = points;
    return set;
}

static void converged(const struct system *sys, forces f)
{
    const struct settings set = settings_to(1.0, 1e-9, 6, 80);
    forces_with(sys, &set, f);
}

/* Root of the mean squared difference. */
static double apart(forces a, forces b)
{
    double sum = 0;
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            sum += (a[i][d] - b[i][d]) * (a[i][d] - b[i][d]);
    return sqrt(sum / ATOMS);
}

/* A quarter of the molecules with charges of their own, ions among them, as in a protein; more of one sign. Charges are
 * not where their fields would have them. */
static void put_charges(struct system *sys)
{
    for (int m = 0; m < sys->nmolecules; m += 4)
        for (int k = 0; k < 3; k++) {
            const double q = 0.35 * (m / 4 % 5 - 1.5) * (k - 0.7) + (m % 8 ? 0 : (m % 24 ? 0.35 : -0.3));
            sys->atoms[3 * m + k].charge[0] = sys->atoms[3 * m + k].charge[1] = q;
        }
}

/* Of Coulomb, whatever the cut-off of Lennard-Jones. */
static double error_with(const struct system *sys, const struct settings *set, forces exact)
{
    static forces f;
    struct settings coulomb = *set;
    coulomb.nonbonded.vdw_cutoff = toy_settings().nonbonded.vdw_cutoff;
    forces_with(sys, &coulomb, f);
    return apart(f, exact);
}

/* What is chosen costs less, and is not farther off than what was asked for; how much less. */
static double check_choice(const struct system *sys, const struct ewald_charges *c, const struct settings *asked,
                           forces exact)
{
    struct settings set = *asked;
    split_choose(&set.nonbonded, c);
    const double cost = split_cost(&set.nonbonded, c) / split_cost(&asked->nonbonded, c);
    const double was = error_with(sys, asked, exact), is = error_with(sys, &set, exact);
    assert_true(is <= was);
    assert_true(set.nonbonded.coulomb_cutoff <= fmax(asked->nonbonded.coulomb_cutoff, asked->nonbonded.vdw_cutoff));
    assert_true(set.nonbonded.ewald_tolerance <= fmax(asked->nonbonded.ewald_tolerance, SPLIT_LOOSEST));
    return cost;
}

/* Most is to be had where a mesh is finer than its order needs, and where a cut-off is short beside its mesh. What is
 * even stays, whether lists reach beyond Lennard-Jones or not. */
static void check_choices(const struct system *sys, const struct ewald_charges *c, forces exact)
{
    struct settings set = settings_to(1.0, 1e-5, 4, 36);
    assert_true(check_choice(sys, c, &set, exact) < 0.8);
    set = settings_to(0.7, 1e-5, 4, 28);
    assert_true(check_choice(sys, c, &set, exact) < 0.8);
    set = settings_to(0.9, 1e-5, 4, 16);
    assert_true(check_choice(sys, c, &set, exact) < 0.97);
    set = settings_to(1.0, 1e-5, 4, 20);
    assert_true(check_choice(sys, c, &set, exact) <= 1);
    set.nonbonded.vdw_cutoff = SPLIT_SHORTEST; /* errors are those of Coulomb alone */
    assert_true(check_choice(sys, c, &set, exact) <= 1);
}

/* Errors of the mesh, then those of the cut-off. */
static void check_system(const struct system *sys)
{
    static const struct {
        double cutoff, tolerance;
        int order, points;
        double factor;
    } tried[] = {{0.9, 1e-5, 4, 20, EWALD_ERROR_FACTOR},
                 {0.9, 1e-5, 4, 28, EWALD_ERROR_FACTOR},
                 {0.9, 1e-5, 6, 16, EWALD_ERROR_FACTOR},
                 {0.6, 1e-4, 5, 20, EWALD_ERROR_FACTOR},
                 {0.9, 1e-4, 6, 28, 1.15},
                 {0.9, 1e-3, 4, 20, 1.15},
                 {0.7, 1e-3, 4, 20, 1.15}};
    static forces exact;
    struct ewald_charges c;
    converged(sys, exact);
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        const struct settings set = settings_to(tried[k].cutoff, tried[k].tolerance, tried[k].order, tried[k].points);
        ewald_charges_of(&c, sys, &set.alchemy);
        const double ratio = ewald_error_of(&c, &set.nonbonded).total / error_with(sys, &set, exact);
        assert_true(ratio < tried[k].factor && ratio > 1 / tried[k].factor);
    }
    check_choices(sys, &c, exact);
}

/* Molecules to the fractions of the box that they were at. */
static void move_into(struct system *sys, const double box[BOX_SIZE])
{
    double inverse[BOX_SIZE], to[3];
    box_invert(sys->box, inverse);
    for (int m = 0; m < sys->nmolecules; m++) {
        const double from[3] = {sys->x[3 * m][0], sys->x[3 * m][1], sys->x[3 * m][2]};
        box_apply(inverse, from, to);
        box_apply(box, to, to);
        for (int k = 0; k < 9; k++)
            sys->x[3 * m + k / 3][k % 3] += to[k % 3] - from[k % 3];
    }
    memcpy(sys->box, box, sizeof sys->box);
}

/* A liquid after 0.5 ps, from a lattice. box: in place of the cube, of the same volume; NULL: none. */
static struct system *liquid(const double *box)
{
    struct settings set = toy_settings();
    struct system *sys = toy_water(SIDE);
    if (box)
        move_into(sys, box);
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    toy_settle(sys, &set, 250);
    return sys;
}

static void test_water(void **state)
{
    struct system *sys = liquid(NULL);
    check_system(sys);
    put_charges(sys);
    check_system(sys);
    toy_system_free(sys);
}

/* In a rhombic dodecahedron waves of the mesh are not those of its edges, which the formulas take them for. */
static void test_dodecahedron(void **state)
{
    const double edge = cbrt(sqrt(2)) * SIDE * 0.3105;
    const double box[BOX_SIZE] = {edge, edge, sqrt(0.5) * edge, 0, 0.5 * edge, 0.5 * edge};
    struct system *sys = liquid(box);
    check_system(sys);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_water), cmocka_unit_test(test_dodecahedron)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
