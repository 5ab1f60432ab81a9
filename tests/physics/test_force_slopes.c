/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces, dU/dlambda and virial of non-bonded energies against finite differences of them.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/physics/forces_play.h"

static void test_windows(void **state)
{
    const double h = 1e-4;
    struct system *sys = forces_two_kinds();
    for (int variant = 0; variant < 20; variant += toy_every()) {
        bool b_states = variant % 3 == 0 && variant < 12;
        struct settings set = forces_settings(VDW_POTENTIAL_SWITCH, b_states ? ALCHEMY_B_STATES : ALCHEMY_DECOUPLE);
        double du[5], unused[5];
        set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
        set.alchemy.soft_core.coulomb = variant >= 3;
        if (variant >= 6)
            set.alchemy.soft_core = forces_gapsys(variant / 3 - 1);
        if (variant >= 12 && variant < 18)
            forces_ways(&set.alchemy, variant);
        if (variant >= 15 && variant < 18) {
            struct settings field = forces_field(variant % 3 ? variant - 12 : 8);
            set.nonbonded = field.nonbonded;
            set.alchemy.soft_core = field.alchemy.soft_core;
        }
        if (variant % 10 == 5 || variant >= 18)
            set.nonbonded.coulomb_cutoff = FORCES_SHORT_COULOMB;
        set.nonbonded.dispersion = DISPERSION_ALL;
        set.alchemy.nwindows = 5;
        for (int w = 0; w < 5; w++) {
            forces_lambda[w][LAMBDA_COULOMB] = 0.35 + (w == 1 ? h : w == 2 ? -h : 0);
            forces_lambda[w][LAMBDA_VDW] = 0.55 + (w == 3 ? h : w == 4 ? -h : 0);
        }
        struct toy exact = toy_open_reference(sys, &set, 0), t = toy_open(sys, &set, 0);
        toy_sample(exact.sim, du);
        double coulomb = (du[1] - du[2]) / (2 * h), vdw = (du[3] - du[4]) / (2 * h);
        toy_close(&exact);
        struct sample a = toy_sample(t.sim, du);
        near(a.dvdl[LAMBDA_COULOMB], coulomb, 1e-5 * fabs(a.dvdl[LAMBDA_COULOMB]) + 1e-4 + forces_window_room(coulomb));
        near(a.dvdl[LAMBDA_VDW], vdw, 1e-5 * fabs(a.dvdl[LAMBDA_VDW]) + 1e-4 + forces_window_room(vdw));
        assert_true(du[0] == 0);
        for (int w = 1; w < 5; w++) {
            struct sim *other = toy_replica(&t, w, 1);
            near(toy_sample(other, unused).potential - a.potential, du[w], 1e-7 + forces_window_room(du[w]));
            sim_free(other);
        }
        toy_close(&t);
    }
    toy_system_free(sys);
}

/* Forces are minus the gradient of the energy, for perturbed and plain atoms. */
static void test_gradient(void **state)
{
    const double h = 1e-5;
    struct system *sys = mixture(2);
    for (int variant = 0; variant < 10; variant += toy_every()) {
        struct settings set = forces_inside(variant < 2 ? VDW_POTENTIAL_SWITCH : VDW_FORCE_SWITCH, variant % 2);
        if (variant >= 4 && variant < 8)
            set.alchemy.soft_core = forces_gapsys(variant);
        if (variant >= 7)
            set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
        if (variant == 1 || variant == 5)
            set.nonbonded.coulomb_cutoff = FORCES_SHORT_COULOMB;
        double(*f)[3] = xcalloc((size_t)sys->natoms, sizeof *f), du;
        struct err e = {0};
        struct toy t = toy_open(sys, &set, 0);
        toy_sample(t.sim, &du);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        toy_close(&t);
        double sum = 0;
        for (int i = 0; i < sys->natoms; i++)
            sum += f[i][0] * f[i][0] + f[i][1] * f[i][1] + f[i][2] * f[i][2];
        double mixed = 1e-4 * sqrt(sum / (3 * sys->natoms));
        for (int i = 0; i < 40; i += 3) {
            double at = sys->x[i][i % 3];
            sys->x[i][i % 3] = at + h;
            double up = forces_exact(sys, &set);
            sys->x[i][i % 3] = at - h;
            double down = forces_exact(sys, &set);
            sys->x[i][i % 3] = at;
            near(f[i][i % 3], (down - up) / (2 * h), 1e-6 * fabs(f[i][i % 3]) + 1e-3 + toy_allowed(0, mixed));
        }
        free(f);
    }
    toy_system_free(sys);
}

static double (*forces_of(struct toy t, int n))[3]
{
    double(*f)[3] = xcalloc((size_t)n, sizeof *f), du[1];
    struct err e = {0};
    toy_sample(t.sim, du);
    assert_int_equal(sim_forces(t.sim, f, &e), 0);
    toy_close(&t);
    return f;
}

/* Every soft core with every modifier, within and beyond the points where they begin, gives each atom the force that
 * the reference has. */
static void test_soft_cores(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    double worst = 0;
    for (int variant = 0; variant < 48; variant++) {
        const int core = variant / 4 % 6;
        struct settings set = variant < 24 ? forces_inside(variant % 4, core % 2) : forces_field(variant % 4 + 4);
        set.nonbonded.vdw_modifier = variant % 4;
        set.alchemy.soft_core.coulomb = core % 2;
        set.alchemy.soft_core.power = core < 2 ? 2 : 1;
        if (core >= 4)
            set.alchemy.soft_core = forces_gapsys(variant);
        forces_lambda[0][LAMBDA_COULOMB] = 0.1 + 0.02 * variant;
        forces_lambda[0][LAMBDA_VDW] = 0.95 - 0.02 * variant;
        double(*f)[3] = forces_of(toy_open(sys, &set, 0), sys->natoms),
        (*exact)[3] = forces_of(toy_open_reference(sys, &set, 0), sys->natoms);
        double sum = 0;
        for (int i = 0; i < 3 * sys->natoms; i++)
            sum += exact[0][i] * exact[0][i] / (3 * sys->natoms);
        for (int i = 0; i < 3 * sys->natoms; i++)
            worst = fmax(worst, fabs(f[0][i] - exact[0][i]) / (sqrt(sum) + fabs(exact[0][i])));
        free(f);
        free(exact);
    }
    near(worst, 0, toy_allowed(1e-12, 4e-6));
    toy_system_free(sys);
}

/* The potential where x[row] has gone on by h x[column], the box too; row <= column: the box stays a lower triangle. */
static double strained(const struct system *sys, const struct settings *set, int row, int column, double h)
{
    static const int place[3][3] = {{BOX_XX, -1, -1}, {BOX_YX, BOX_YY, -1}, {BOX_ZX, BOX_ZY, BOX_ZZ}};
    struct system *to = mixture(2);
    to->atoms[50] = sys->atoms[50];
    for (int edge = column; edge < 3; edge++)
        to->box[place[edge][row]] += h * sys->box[place[edge][column]];
    for (int i = 0; i < sys->natoms; i++)
        to->x[i][row] += h * sys->x[i][column];
    const double u = forces_exact(to, set);
    toy_system_free(to);
    return u;
}

/* Each element of the virial is half the response to a strain, background of a net charge included; so is the other one
 * of a shear, by symmetry. */
static void virial_in(enum coulomb_method method, double cutoff)
{
    const double h = 1e-5;
    struct system *sys = mixture(2);
    sys->atoms[50].charge[0] += 1;
    sys->atoms[50].charge[1] += 1;
    struct settings set = forces_inside(VDW_POTENTIAL_SWITCH, method == COULOMB_REACTION_FIELD);
    set.nonbonded.coulomb_method = method;
    set.nonbonded.coulomb_cutoff = cutoff;
    for (int d = 0; d < 3; d++) /* the same mesh in all */
        set.nonbonded.pme_grid[d] = 24;
    struct sample a = forces_sample(toy_open(sys, &set, 0));
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(a.virial[k]));
    for (int row = 0; row < 3; row++)
        for (int column = row; column < 3; column++) {
            const double slope = (strained(sys, &set, row, column, h) - strained(sys, &set, row, column, -h)) / (2 * h);
            const double xi = a.virial[3 * row + column], other = a.virial[3 * column + row];
            near(2 * xi, slope, 1e-6 * fabs(slope) + 0.01 + toy_allowed(0, 1e-4 * largest));
            near(2 * other, slope, 1e-6 * fabs(slope) + 0.01 + toy_allowed(0, 1e-4 * largest));
        }
    toy_system_free(sys);
}

static void test_virial(void **state)
{
    virial_in(COULOMB_PME, 1);
    virial_in(COULOMB_PME, FORCES_SHORT_COULOMB);
    virial_in(COULOMB_REACTION_FIELD, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_soft_cores),
        cmocka_unit_test(test_virial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
