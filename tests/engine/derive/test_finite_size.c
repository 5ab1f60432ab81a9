/* SPDX-License-Identifier: Apache-2.0
 *
 * The net charge along a ladder, and what formulas say of it: against the energies of an ion among its images.
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

#include "engine/base/units.h"
#include "engine/derive/finite_size.h"
#include "tests/lib/toy.h"

#define EDGE 3.0

enum { WINDOWS = 4 };

static double ladder[WINDOWS][LAMBDA_COUNT] = {{0}, {[LAMBDA_COULOMB] = 0.4}, {[LAMBDA_COULOMB] = 1}, {1, 1}};

/* A ligand of two atoms, -1 e, with two ions of its type's charge or of the other. */
static struct system *ligand_and_ions(double ion)
{
    static struct molecule_kind kinds[] = {{.name = "LIG"}, {.name = "ION"}, {.name = "SOL"}};
    struct system *s = toy_system(5, EDGE);
    free(s->kinds);
    s->kinds = xcalloc(3, sizeof *s->kinds);
    memcpy(s->kinds, kinds, sizeof kinds);
    s->nkinds = 3;
    static const double charge[] = {-0.7, -0.3};
    for (int i = 0; i < 5; i++) {
        s->molecules[i].kind = i / 2;
        for (int state = 0; state < 2; state++)
            s->atoms[i].charge[state] = i < 2 ? charge[i] : i < 4 ? ion : 0.5;
    }
    return s;
}

static struct settings decoupling(unsigned ion_first, unsigned ion_last)
{
    struct settings set = toy_settings();
    set.alchemy = (struct alchemy_settings){
        .kind = ALCHEMY_DECOUPLE,
        .decouple = {{.molecule = "LIG", .on = {COUPLED_ALL}}, {.molecule = "ION", .on = {ion_first, ion_last}}},
        .ndecouple = 2,
        .nwindows = WINDOWS,
        .lambda = ladder,
        .dielectric = 80};
    return set;
}

/* An ion takes the charge up: one of its sign comes, or one of the other goes. */
static void test_constant(void **state)
{
    static const struct {
        double ion;
        unsigned on[2];
        double net;
    } cases[] = {{-0.5, {COUPLED_VDW, COUPLED_ALL}, -0.5}, {0.5, {COUPLED_ALL, COUPLED_VDW}, 0.5}};
    for (int k = 0; k < 2; k++) {
        struct system *s = ligand_and_ions(cases[k].ion);
        struct settings set = decoupling(cases[k].on[0], cases[k].on[1]);
        for (int w = 0; w < WINDOWS; w++)
            assert_true(fabs(net_charge(s, &set.alchemy, w) - cases[k].net) < 1e-12);
        struct finite_size f = finite_size_of(s, &set);
        assert_true(fabs(f.net) < 1e-12 && fabs(f.usv) < 1e-12);
        set.alchemy.ndecouple = 1; /* without it */
        assert_true(fabs(net_charge(s, &set.alchemy, 1) - net_charge(s, &set.alchemy, 0) - 0.4) < 1e-12);
        f = finite_size_of(s, &set);
        assert_true(fabs(f.charge[1] - f.charge[0] - 1) < 1e-12);
        double squares = f.charge[1] * f.charge[1] - f.charge[0] * f.charge[0];
        assert_true(fabs(f.net - 0.5 * 2.837297 * UNIT_COULOMB / EDGE * squares) < 1e-4);
        assert_true(fabs(f.usv + f.net * (1 - 1 / 80.0)) < 1e-12);
        toy_system_free(s);
    }
}

/* By B states; the change is that of the ends. */
static void test_b_states(void **state)
{
    struct system *s = ligand_and_ions(0.5);
    struct settings set = decoupling(0, 0);
    set.alchemy.kind = ALCHEMY_B_STATES;
    s->atoms[0].charge[1] = 0.3;
    s->atoms[2].charge[1] = -0.5; /* which takes it up */
    for (int w = 0; w < WINDOWS; w++)
        assert_true(fabs(net_charge(s, &set.alchemy, w) - 0.5) < 1e-12);
    s->atoms[2].charge[1] = 0.5;
    assert_true(fabs(net_charge(s, &set.alchemy, 1) - 0.9) < 1e-12);
    assert_true(fabs(finite_size_of(s, &set).charge[1] - 1.5) < 1e-12);
    toy_system_free(s);
}

/* In vacuum an ion's energy is that of its images and the background alone: NET takes it away, and USV is none. */
static void test_lattice(void **state)
{
    struct system *s = toy_system(1, EDGE);
    struct settings set = toy_settings();
    double du[2], ends[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_COULOMB] = 1}};
    s->atoms[0].charge[0] = 1;
    s->atoms[0].charge[1] = -2;
    set.nonbonded.pme_spacing = 0.05;
    set.nonbonded.pme_order = 6;
    set.nonbonded.ewald_tolerance = 1e-8;
    set.alchemy = (struct alchemy_settings){
        .kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = ends, .given = {true}, .dielectric = 1};
    struct toy t = toy_open(s, &set, 0);
    toy_sample(t.sim, du);
    toy_close(&t);
    struct finite_size f = finite_size_of(s, &set);
    assert_true(f.charge[0] == 1 && f.charge[1] == -2 && f.edge == EDGE);
    assert_true(fabs(du[1]) > 100 && fabs(du[1] + f.net) < 1e-3);
    assert_true(fabs(f.usv) < 1e-12);
    toy_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constant), cmocka_unit_test(test_b_states),
                                       cmocka_unit_test(test_lattice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
