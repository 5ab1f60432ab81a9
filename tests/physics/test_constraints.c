/* SPDX-License-Identifier: Apache-2.0
 *
 * Rigid water and fixed bonds: kept to 1e-10, velocities along them zero, their forces and their dU/dlambda right.
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
#include "engine/math/bodies/settle.h"
#include "engine/math/vec.h"
#include "tests/lib/toy.h"

/* A ring of five carbons with a methyl group: bonds, angles, and springs that pull atoms about. */
static struct system *ring(void)
{
    struct system *s = toy_system(9, 4);
    static const char *names[9] = {"C1", "C2", "C3", "C4", "C5", "C6", "H1", "H2", "H3"};
    for (int i = 0; i < 9; i++) {
        strcpy(s->atoms[i].name, names[i]);
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = i < 6 ? 12.011 : 1.008;
        s->atoms[i].molecule = 0;
        double a = 2 * M_PI * i / 5;
        for (int d = 0; i < 5 && d < 3; d++)
            s->x[i][d] = 2 + 0.13 * (d == 0 ? cos(a) : d == 1 ? sin(a) : 0.1 * sin(2 * a));
    }
    s->nmolecules = 1;
    s->molecules[0] = (struct molecule){0, 9, 0};
    static const double methyl[4][3] = {{2.28, 2, 0}, {2.32, 2.1, 0}, {2.32, 1.95, 0.09}, {2.32, 1.95, -0.09}};
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 3; d++)
            s->x[5 + i][d] = methyl[i][d] + (d == 2 ? 2 : 0);
    static const int bonds[9][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 5}, {5, 6}, {5, 7}, {5, 8}};
    for (int b = 0; b < 9; b++) {
        double r0 = b < 6 ? 0.15 : 0.109;
        toy_add(s, bonds, nbonds, (struct bond){{bonds[b][0], bonds[b][1]}, {r0, r0}, {2e5, 2e5}});
    }
    for (int k = 6; k < 9; k++)
        toy_add(s, angles, nangles, (struct angle){{0, 5, k}, {1.9, 1.9}, {400, 400}, {0}, {0}, false});
    for (int i = 0; i < 9; i++) {
        struct position_restraint r = {i, {2.05, 2, 2.02}, {{500, 300, 400}, {0}}};
        toy_add(s, position_restraints, nposition_restraints, r);
    }
    return s;
}

static double bond_deviation(const struct system *s, const double (*x)[3], bool hydrogens_only)
{
    double worst = 0;
    for (int b = hydrogens_only ? 6 : 0; b < s->nbonds; b++) {
        double r[3];
        vec_sub(x[s->bonds[b].atom[0]], x[s->bonds[b].atom[1]], r);
        worst = fmax(worst, fabs(sqrt(vec_dot(r, r)) / s->bonds[b].r0[0] - 1));
    }
    return worst;
}

static double bond_speed(const struct system *s, const double (*x)[3], const double (*v)[3], bool hydrogens_only)
{
    double worst = 0;
    for (int b = hydrogens_only ? 6 : 0; b < s->nbonds; b++) {
        double r[3], u[3];
        vec_sub(x[s->bonds[b].atom[0]], x[s->bonds[b].atom[1]], r);
        vec_sub(v[s->bonds[b].atom[0]], v[s->bonds[b].atom[1]], u);
        worst = fmax(worst, fabs(vec_dot(r, u)));
    }
    return worst;
}

static void test_bonds(void **state)
{
    for (int how = 0; how < 4; how++) {
        struct system *s = ring();
        struct settings set = toy_settings();
        bool hydrogens = how % 2 == 0;
        set.constrain = hydrogens ? CONSTRAIN_H_BONDS : CONSTRAIN_ALL_BONDS;
        set.integrator.kind = how < 2 ? INTEGRATOR_VELOCITY_VERLET : INTEGRATOR_LANGEVIN_MIDDLE;
        struct toy t = toy_open(s, &set, 0);
        double x[9][3], v[9][3], du;
        struct err e = {0};
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
            assert_true(bond_deviation(s, x, hydrogens) < toy_allowed(1e-10, 1e-8));
            assert_true(bond_speed(s, x, v, hydrogens) < 1e-10);
            toy_run(t.sim, SIM_STEP, 50);
        }
        int fixed = hydrogens ? 3 : 9;
        struct sample a = toy_sample(t.sim, &du);
        assert_true(fabs(a.temperature - 2 * a.kinetic / (UNIT_R * (27 - fixed))) < 1e-9);
        assert_true((a.energy[TERM_BOND] == 0) == !hydrogens);
        toy_close(&t);
        toy_system_free(s);
    }
}

/* Constrained velocity Verlet goes back the way it came when velocities are turned round. */
static void test_reversible(void **state)
{
    struct system *s = ring();
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_ALL_BONDS;
    struct toy t = toy_open(s, &set, 0);
    double x0[9][3], v0[9][3], x[9][3], v[9][3];
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    assert_int_equal(sim_get(t.sim, x0, v0, NULL, &e), 0);
    toy_run(t.sim, SIM_STEP, 200);
    assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
    toy_close(&t);
    memcpy(s->x, x, sizeof x);
    s->v = xcalloc(9, sizeof *s->v);
    for (int i = 0; i < 9; i++)
        for (int d = 0; d < 3; d++)
            s->v[i][d] = -v[i][d];
    t = toy_open(s, &set, 0);
    toy_run(t.sim, SIM_STEP, 200);
    assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
    double moved = 0;
    for (int i = 0; i < 9; i++)
        for (int d = 0; d < 3; d++) {
            moved = fmax(moved, fabs(s->x[i][d] - x0[i][d]));
            assert_true(fabs(x[i][d] - x0[i][d]) < 1e-7);
            assert_true(fabs(v[i][d] + v0[i][d]) < 1e-5);
        }
    assert_true(moved > 0.05);
    toy_close(&t);
    toy_system_free(s);
}

/* Energy of constrained motion stays, so constraint forces do no work. */
static void test_energy(void **state)
{
    struct system *s = ring();
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_ALL_BONDS;
    set.integrator.timestep = 0.0005;
    struct toy t = toy_open(s, &set, 0);
    struct err e = {0};
    double du, first = 0;
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    for (int i = 0; i < 40; i++) {
        struct sample a = toy_sample(t.sim, &du);
        double total = a.potential + a.kinetic;
        first = i ? first : total;
        assert_true(fabs(total / first - 1) < 2e-3);
        toy_run(t.sim, SIM_STEP, 500);
    }
    toy_close(&t);
    toy_system_free(s);
}

/* A dumb-bell turning freely: the constraint force is m v^2 / r to each mass, its virial takes off what the rotation
 * puts into the pressure. A stretched one: dU/dr0 equals minus the pull. */
static void test_reaction(void **state)
{
    struct system *s = toy_system(2, 4);
    s->x[0][0] = 1.9;
    s->x[1][0] = 2.1;
    toy_add(s, constraints, nconstraints, (struct constraint){{0, 1}, {0.2, 0.3}, true});
    s->v = xcalloc(2, sizeof *s->v);
    s->v[0][1] = 1;
    s->v[1][1] = -1;
    struct settings set = toy_settings();
    set.integrator.timestep = 0.0005; /* 0.005 radians: values are right to its square */
    set.alchemy.kind = ALCHEMY_B_STATES;
    set.alchemy.nwindows = 2;
    double ladder[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_BONDED] = 1}};
    set.alchemy.lambda = ladder;
    struct toy t = toy_open(s, &set, 0);
    double du[2];
    struct sample a = toy_sample(t.sim, du);
    assert_true(a.constraint_virial[0] == 0);
    toy_run(t.sim, SIM_STEP, 3);
    a = toy_sample(t.sim, du);
    double trace = a.constraint_virial[0] + a.constraint_virial[4] + a.constraint_virial[8];
    assert_true(fabs(a.kinetic - 12) < 1e-6);
    assert_true(fabs(trace - a.kinetic) < 1e-3);
    assert_true(fabs(a.pressure) < 2e-4);
    assert_true(fabs(a.dvdl[LAMBDA_BONDED] - (-12 / 0.1) * 0.1) < 1e-3);
    toy_close(&t);

    s->v[0][1] = s->v[1][1] = 0;
    for (int i = 0; i < 2; i++) {
        struct position_restraint r = {i, {i ? 2.2 : 1.8, 0, 0}, {{500, 0, 0}, {500, 0, 0}}};
        toy_add(s, position_restraints, nposition_restraints, r);
    }
    t = toy_open(s, &set, 0);
    toy_run(t.sim, SIM_STEP, 1);
    a = toy_sample(t.sim, du);
    assert_true(fabs(a.dvdl[LAMBDA_BONDED] - -50 * 0.1) < 1e-3);
    assert_true(fabs(du[1] - a.dvdl[LAMBDA_BONDED]) < 1e-9 && du[0] == 0);
    toy_close(&t);
    set.alchemy.nwindows = 2;
    t = toy_open(s, &set, 1); /* at lambda 1 the distance is B's */
    struct err e = {0};
    double x[2][3];
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    assert_true(fabs(x[1][0] - x[0][0] - 0.3) < 1e-10);
    toy_close(&t);
    toy_system_free(s);
}

/* SETTLE against its defining properties: shape, center of mass, displacements along the old sides. */
static void test_settle(void **state)
{
    const double r_oh = 0.1, r_hh = 0.1633;
    const struct water_shape w = water_shape_of(r_oh, r_hh, 16, 1);
    double old[3][3] = {{0}}, x[3][3], free_x[3][3], half = 0.08165, h = sqrt(0.01 - half * half);
    old[1][0] = half;
    old[2][0] = -half;
    old[1][1] = old[2][1] = h;
    const double mass[3] = {16, 1, 1},
                 shift[3][3] = {{0.004, -0.003, 0.006}, {-0.01, 0.012, 0.008}, {0.007, 0.009, -0.011}};
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            x[k][d] = free_x[k][d] = old[k][d] + shift[k][d];
    assert_true(settle_positions(&w, old, x));
    static const int side[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double along[3][3], moved[3] = {0};
    for (int k = 0; k < 3; k++) {
        double r[3];
        vec_sub(x[side[k][0]], x[side[k][1]], r);
        assert_true(fabs(sqrt(vec_dot(r, r)) - (k < 2 ? r_oh : r_hh)) < 1e-15);
        vec_sub(old[side[k][0]], old[side[k][1]], along[k]);
    }
    for (int k = 0; k < 3; k++) {
        double step[3], normal[3];
        vec_sub(x[k], free_x[k], step);
        vec_add(moved, mass[k], step);
        vec_cross(along[0], along[1], normal);
        assert_true(fabs(vec_dot(step, normal)) < 1e-17);
    }
    double torque[3] = {0};
    for (int k = 0; k < 3; k++) {
        double step[3], r[3];
        vec_sub(x[k], free_x[k], step);
        vec_cross(old[k], step, r);
        vec_add(torque, mass[k], r);
    }
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(moved[d]) < 1e-15);
        assert_true(fabs(torque[d]) < 1e-16);
    }
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            x[k][d] = old[k][d] + 30 * shift[k][d];
    assert_false(settle_positions(&w, old, x));
}

/* A constraint that cannot be kept stops the replica and says where. */
static void test_failure(void **state)
{
    struct system *s = toy_system(2, 4);
    s->x[0][0] = 1.95;
    s->x[1][0] = 2.05;
    toy_add(s, constraints, nconstraints, (struct constraint){{0, 1}, {0.1, 0.1}, true});
    s->v = xcalloc(2, sizeof *s->v);
    s->v[0][1] = 300;
    s->v[1][1] = -300;
    struct settings set = toy_settings();
    struct toy t = toy_open(s, &set, 0);
    struct err e = {0};
    struct buf good = {0};
    assert_int_equal(sim_save(t.sim, &good, &e), 0);
    sim_seal(&good);
    assert_int_equal(toy_try(t.sim, SIM_STEP, 10, &e), -ERR_CONSTRAINT);
    assert_non_null(strstr(e.msg, "step 0: constraint between atoms 1 (C TOY1) and 2 (C TOY2)"));
    struct buf none = {0};
    assert_int_equal(sim_save(t.sim, &none, &e), -ERR_INTERNAL);
    assert_int_equal(sim_load(t.sim, good.data, good.len, &e), 0); /* a halted replica goes on from a checkpoint */
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 10);
    assert_int_equal(sim_step_number(t.sim), 10);
    buf_free(&good);
    toy_close(&t);
    toy_system_free(s);
}

/* A pair of atoms that bonds and constraints hold, in either order of the atoms, is one constraint. */
static void test_twins(void **state)
{
    struct err e = {0};
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_ALL_BONDS;
    set.integrator.com_every = 0;
    for (int again = 0; again < 3; again++) {
        struct system *s = toy_system(3, 4);
        toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.1, 0.1}, {1, 1}});
        if (again > 0)
            toy_add(s, constraints, nconstraints, (struct constraint){{1, 0}, {0.1, 0.1}, true});
        if (again > 1)
            toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.100001, 0.1}, {1, 1}});
        s->x[1][0] = s->x[0][0] + 0.1;
        s->x[1][1] = s->x[0][1];
        s->x[1][2] = s->x[0][2];
        struct toy t = toy_open(s, &set, 0);
        double du;
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        struct sample a = toy_sample(t.sim, &du);
        assert_true(fabs(2 * a.kinetic / (UNIT_R * a.temperature) - 8) < 1e-9);
        toy_close(&t);
        toy_system_free(s);
    }
    struct system *s = toy_system(2, 4);
    struct model *m;
    toy_add(s, constraints, nconstraints, (struct constraint){{0, 1}, {0.1, 0.1}, true});
    struct toy t = toy_open(s, &set, 0);
    toy_add(s, constraints, nconstraints, (struct constraint){{1, 0}, {0.1, 0.102}, false});
    assert_int_equal(model_new(&m, t.dev, s, &set, &e), -ERR_TOPOLOGY);
    assert_non_null(strstr(e.msg, "two constraints of different lengths, 0.102 and 0.1 nm in state B"));
    toy_close(&t);
    toy_system_free(s);
}

/* Four atoms at x and all six distances between them, but for `without`. */
static int hold_all(const double x[4][3], int without, struct err *e)
{
    struct settings set = toy_settings();
    struct system *s = toy_system(4, 4);
    struct model *m;
    for (int i = 0, n = 0; i < 4; i++) {
        for (int d = 0; d < 3; d++)
            s->x[i][d] = 1 + x[i][d];
        for (int k = 0; k < i; k++, n++) {
            double r[3];
            vec_sub(x[i], x[k], r);
            double r0 = sqrt(vec_dot(r, r));
            if (n != without)
                toy_add(s, constraints, nconstraints, (struct constraint){{k, i}, {r0, r0}, true});
        }
    }
    struct dev *dev;
    assert_int_equal(engine_open(&dev, "cpu", e), 0);
    int rc = model_new(&m, dev, s, &set, e);
    if (rc == 0)
        model_free(m);
    dev_close(dev);
    toy_system_free(s);
    return rc;
}

/* All distances of a square are one too many, of a tetrahedron they are not. */
static void test_redundant(void **state)
{
    const double square[4][3] = {{0, 0, 0}, {0.15, 0, 0}, {0.15, 0.15, 0}, {0, 0.15, 0}},
                 tetrahedron[4][3] = {{0, 0, 0}, {0.15, 0.15, 0}, {0.15, 0, 0.15}, {0, 0.15, 0.15}};
    struct err e = {0};
    assert_int_equal(hold_all(square, -1, &e), -ERR_TOPOLOGY);
    assert_non_null(strstr(e.msg, "atoms 3 (C) and 4 (C): their constraint is redundant"));
    assert_non_null(strstr(e.msg, "(6 constraints of 4 atoms)"));
    assert_int_equal(hold_all(square, 3, &e), 0);
    assert_int_equal(hold_all(tetrahedron, -1, &e), 0);
}

/* What grompp refuses, or would solve twice. */
static void test_bad_topologies(void **state)
{
    struct err e = {0};
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_ALL_BONDS;
    struct model *m;
    struct system *s = toy_water(6);
    struct toy t = toy_open(s, &set, 0);
    toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.1, 0.1}, {1, 1}});
    assert_int_equal(model_new(&m, t.dev, s, &set, &e), 0); /* the settle holds it */
    model_free(m);
    toy_add(s, bonds, nbonds, (struct bond){{0, 3}, {0.1, 0.1}, {1, 1}});
    assert_int_equal(model_new(&m, t.dev, s, &set, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "molecule SOL, atoms 1 (OW) and 4 (OW): a constraint on an atom of a settle");
    s->atoms[5].mass[0] = 2;
    assert_int_equal(model_new(&m, t.dev, s, &set, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "[ settles ]: atoms 5 and 6 have different masses");
    s->atoms[7].mass[1] = 0;
    assert_int_equal(model_new(&m, t.dev, s, &set, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "atom 8 (HW): mass 0 in state B, a positive mass is needed");
    toy_close(&t);
    toy_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bonds),          cmocka_unit_test(test_reversible), cmocka_unit_test(test_energy),
        cmocka_unit_test(test_reaction),       cmocka_unit_test(test_settle),     cmocka_unit_test(test_failure),
        cmocka_unit_test(test_bad_topologies), cmocka_unit_test(test_twins),      cmocka_unit_test(test_redundant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
