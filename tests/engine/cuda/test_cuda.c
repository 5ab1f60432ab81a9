/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program against the CPU device's, term by term, with its kernels run on the CPU (tests/lib/emulate): what
 * they compute is tested where there is no GPU.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/both_devices.h"
#include "tests/lib/emulate/toy.h"

static void test_modifiers(void **state)
{
    static const enum vdw_modifier modifiers[] = {VDW_CUTOFF, VDW_POTENTIAL_SHIFT, VDW_POTENTIAL_SWITCH,
                                                  VDW_FORCE_SWITCH};
    struct system *sys = mixture(2);
    for (int k = 0; k < 4; k++) {
        struct settings set = settings_of(modifiers[k], ALCHEMY_NONE);
        set.nonbonded.coulomb_modifier = k % 2 ? COULOMB_CUTOFF : COULOMB_POTENTIAL_SHIFT;
        compare(sys, &set, 0);
        set.nonbonded.vdw_cutoff = 0.65; /* here trios are smaller than what the box leaves them */
        set.nonbonded.vdw_switch = 0.5;
        set.nonbonded.coulomb_cutoff = 0.6;
        compare(sys, &set, 0);
    }
    toy_system_free(sys);
}

static void test_alchemy(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    for (int variant = 0; variant < 12; variant++) {
        struct settings set = settings_of(variant % 4, variant % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
        set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
        set.alchemy.soft_core.coulomb = variant >= 3;
        set.alchemy.soft_core.power = variant % 2 ? 2 : 1;
        if (variant >= 9)
            set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
        if (variant >= 6 && variant < 10)
            set.alchemy.soft_core =
                (struct soft_core){.function = SOFT_GAPSYS, .alpha = 1.3, .alpha_coulomb = 0.6, .sigma = 0.3};
        compare(sys, &set, variant % 3);
    }
    toy_system_free(sys);
}

static void test_water(void **state)
{
    struct settings set = toy_settings();
    struct system *sys = relaxed_water(7, &set);
    compare(sys, &set, 0);
    toy_system_free(sys);
}

/* The tighter the tolerance, the more terms have the polynomials of single precision: one setting for each number of
 * them. */
static void test_tight_ewald(void **state)
{
    static const double tolerances[] = {1e-5, 1e-7, 1e-9, 1e-11};
    struct settings set = toy_settings();
    struct system *sys = relaxed_water(7, &set);
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        set.nonbonded.ewald_tolerance = tolerances[k];
        compare(sys, &set, 0);
    }
    toy_system_free(sys);
}

/* With cut-offs that leave room for trios in the box, and with some that do not; whole and in regions. */
static void test_triclinic(void **state)
{
    for (int k = 0; k < 3; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(VDW_POTENTIAL_SWITCH, ALCHEMY_B_STATES);
        reshape(sys, shapes[k], false);
        set.nonbonded.coulomb_cutoff = 0.85;
        set.nonbonded.vdw_cutoff = 0.8;
        cut_into(k == 1 ? 160 : 0);
        compare(sys, &set, 1);
        set.nonbonded.coulomb_cutoff = 0.5;
        set.nonbonded.vdw_cutoff = 0.55;
        set.nonbonded.vdw_switch = 0.5;
        compare(sys, &set, 1);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* Where lists reach less far than half from face to face, as in most boxes: one image of each vector will do. */
static void test_triclinic_short(void **state)
{
    for (int k = 0; k < 6; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(VDW_POTENTIAL_SWITCH, ALCHEMY_B_STATES);
        for (int d = 0; d < BOX_SIZE; d++)
            sys->box[d] *= 1.6;
        reshape(sys, shapes[k % 3], false);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.45;
        set.nonbonded.vdw_switch = 0.4;
        set.nonbonded.list_buffer = 0.04;
        cut_into(k < 3 ? 0 : 160);
        compare(sys, &set, 1);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* With cut-offs nearly as long as the box allows, where rounding fractions need not give the nearest image; whole and
 * in regions. The shortest lattice vector of the last box is a - b + c. */
static void test_triclinic_any_image(void **state)
{
    static const double steep[BOX_SIZE] = {1, 0.75, 0.5, 0.5, -0.495, 0.375};
    for (int k = 0; k < 8; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(k % 2 ? VDW_POTENTIAL_SWITCH : VDW_POTENTIAL_SHIFT, ALCHEMY_B_STATES);
        reshape(sys, k % 4 < 3 ? shapes[k % 4] : steep, false);
        const double limit = box_cutoff_limit(sys->box);
        assert_true(limit > 1.1 * 0.5 * box_least_width(sys->box));
        set.nonbonded.coulomb_cutoff = 0.99 * limit;
        set.nonbonded.vdw_cutoff = 0.97 * limit;
        set.nonbonded.vdw_switch = 0.8 * limit;
        cut_into(k < 4 ? 0 : 800);
        compare(sys, &set, k % 3);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* With cut-offs shorter and longer than half from face to face. */
static void test_triclinic_water(void **state)
{
    for (int k = 0; k < 6; k++) {
        struct settings set = toy_settings();
        struct system *sys = toy_water(7);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = k < 2 ? 0.6 : k < 4 ? 0.85 : 0.9;
        set.replicas = k < 4 ? 8 : 1; /* one has lists that reach farther than cut-offs may */
        set.nonbonded.vdw_switch = 0.5;
        reshape(sys, shapes[k % 2], true);
        relax(sys, &set);
        cut_into(k % 2 ? k == 1 ? 200 : 300 : 0);
        compare(sys, &set, 0);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* A window that begins in a box 5 % narrower than that of all: trios see the right images in it, too. */
static void test_narrow_start(void **state)
{
    static double lambda[2][LAMBDA_COUNT];
    const double less = 0.951;
    struct settings set = toy_settings();
    struct system *sys = toy_water(6);
    reshape(sys, shapes[0], true);
    set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = box_least_width(sys->box) / (2 * 1.0255) - 0.103;
    set.nonbonded.vdw_switch = 0.5;
    relax(sys, &set);
    set.alchemy.nwindows = sys->nstarts = 2;
    set.alchemy.lambda = lambda;
    sys->starts = xcalloc(2, sizeof *sys->starts);
    for (int w = 0; w < 2; w++) {
        struct start *from = &sys->starts[w];
        from->x = xcalloc((size_t)sys->natoms, sizeof *from->x);
        for (int k = 0; k < BOX_SIZE; k++)
            from->box[k] = (w ? less : 1) * sys->box[k];
        for (int i = 0; i < sys->natoms; i++)
            for (int d = 0; d < 3; d++)
                from->x[i][d] =
                    sys->x[i][d] + (w ? less - 1 : 0) * sys->x[sys->molecules[sys->atoms[i].molecule].first][d];
    }
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 1);
    const struct box_room room = sim_box_room(t.sim);
    assert_true(room.width > room.least);
    toy_close(&t);
    compare(sys, &set, 1);
    toy_system_free(sys);
}

/* Boxes become as narrow, whatever the number of replicas, along one axis, too. */
static void test_room_of_all(void **state)
{
    struct settings set = toy_settings();
    struct system *sys = toy_water(6);
    struct err e = {0};
    double box[2][BOX_SIZE];
    reshape(sys, shapes[0], true);
    set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.8;
    set.nonbonded.vdw_switch = 0.5;
    set.barostat =
        (struct barostat_settings){.on = true, .pressure = 1e7, .every = 1, .coupling = VOLUME_SEMI_ISOTROPIC};
    for (int d = 0; d < 2; d++) {
        set.replicas = d ? 200 : 1;
        struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
        toy_run(t.sim, SIM_BAROSTAT, 140);
        assert_int_equal(sim_get(t.sim, NULL, NULL, box[d], &e), 0);
        const struct box_room room = sim_box_room(t.sim);
        const struct volume_moves moves = sim_volume_moves(t.sim);
        print_message("%.4f nm of at least %.4f, %d refused\n", room.width, room.least, (int)moves.refused);
        assert_true(room.width < 1.01 * room.least && room.least < 1.6 * 0.8);
        toy_close(&t);
    }
    assert_memory_equal(box[0], box[1], sizeof box[0]);
    toy_system_free(sys);
}

/* Volume moves along some axes: both devices take the same ones, and what they make of the box they end in is the same,
 * by lists and a mesh made for another. */
static void test_shapes(void **state)
{
    enum { MOVES = 5 };
    for (int k = 0; k < 2; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(VDW_POTENTIAL_SWITCH, ALCHEMY_B_STATES);
        double box[2][BOX_SIZE];
        struct err e = {0};
        if (k)
            reshape(sys, shapes[2], false);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.75;
        set.nonbonded.vdw_switch = 0.65;
        set.barostat = (struct barostat_settings){
            .on = true, .pressure = 1000, .every = 1, .coupling = k ? VOLUME_SEMI_ISOTROPIC : VOLUME_ANISOTROPIC};
        cut_into(k ? 0 : 160);
        struct toy t[2] = {toy_open(sys, &set, 1), toy_emulated(*cuda_program.kernels, NULL, sys, &set, 1)};
        for (int d = 0; d < 2; d++) {
            toy_run(t[d].sim, SIM_BAROSTAT, MOVES);
            assert_int_equal(sim_get(t[d].sim, NULL, NULL, box[d], &e), 0);
        }
        double least = INFINITY, most = 0;
        for (int d = 0; d < 3; d++) {
            assert_true(fabs(box[0][d] / box[1][d] - 1) < 1e-9);
            least = fmin(least, box[0][d] / sys->box[d]);
            most = fmax(most, box[0][d] / sys->box[d]);
        }
        print_message("box %d: edges by %.4f to %.4f\n", k, least, most);
        assert_true(most - least > 0.002);
        compare_ended(&t[0], &t[1], sys, &set);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* Atoms all over the box, of which the first become chains of so many, with weak bonds. */
static void chain_up(struct system *sys, int chains, int atoms)
{
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            sys->x[i][d] = sys->box[d] * fmod((i + 1) * sqrt(2 * d + 3), 1);
    sys->bonds = xrealloc(sys->bonds, (size_t)(chains * atoms), sizeof *sys->bonds);
    for (int i = 0; i < chains * atoms; i++)
        if (i % atoms)
            sys->bonds[sys->nbonds++] = (struct bond){{i - 1, i}, {0.3, 0.3}, {1e-3, 1e-3}};
}

/* Molecules that a whole block moves, and more of them than it does so for, beside small ones. */
static void test_large_molecules(void **state)
{
    enum { MOVES = 3, ATOMS = 3800 };
    static const int chains[] = {2, 36};
    for (int k = 0; k < 2; k++) {
        struct system *sys = toy_system(ATOMS, 12);
        struct settings set = toy_settings();
        double(*x[2])[3], box[BOX_SIZE], most = 0;
        struct err e = {0};
        chain_up(sys, chains[k], k ? 100 : 1500);
        set.barostat = (struct barostat_settings){.on = true, .pressure = 10, .every = 1};
        struct toy t[2] = {toy_open(sys, &set, 0), toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0)};
        for (int d = 0; d < 2; d++) {
            x[d] = xcalloc(ATOMS, sizeof *x[d]);
            toy_run(t[d].sim, SIM_BAROSTAT, MOVES);
            assert_int_equal(sim_get(t[d].sim, x[d], NULL, box, &e), 0);
            toy_close(&t[d]);
        }
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++) {
                assert_true(fabs(x[1][i][d] - x[0][i][d]) < 1e-11);
                most = fmax(most, fabs(x[0][i][d] - sys->x[i][d]));
            }
        assert_true(most > 0.01 && fabs(box[0] - 12) > 1e-3);
        free(x[0]);
        free(x[1]);
        toy_system_free(sys);
    }
}

/* Boxes whose faces would be too near for the cut-off are not moved to, along any axis. */
static void test_smallest_box(void **state)
{
    struct system *sys = toy_system(2, 1.83);
    struct settings set = toy_settings();
    struct err e = {0};
    double box[BOX_SIZE];
    set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.9;
    set.barostat = (struct barostat_settings){.on = true, .pressure = 1e7, .every = 1, .coupling = VOLUME_ANISOTROPIC};
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    toy_run(t.sim, SIM_BAROSTAT, 40);
    assert_int_equal(sim_get(t.sim, NULL, NULL, box, &e), 0);
    for (int d = 0; d < 3; d++)
        assert_true(box[d] > 1.8 && box[d] < 1.83);
    const struct volume_moves moves = sim_volume_moves(t.sim);
    const struct box_room room = sim_box_room(t.sim);
    assert_true(moves.tried == 40 && volume_refused_share(&moves) > VOLUME_REFUSED_MANY);
    assert_true(room.least == 1.8 && room.width == fmin(box[0], fmin(box[1], box[2])));
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modifiers),
        cmocka_unit_test(test_alchemy),
        cmocka_unit_test(test_water),
        cmocka_unit_test(test_tight_ewald),
        cmocka_unit_test(test_triclinic),
        cmocka_unit_test(test_triclinic_short),
        cmocka_unit_test(test_triclinic_any_image),
        cmocka_unit_test(test_triclinic_water),
        cmocka_unit_test(test_narrow_start),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_large_molecules),
        cmocka_unit_test(test_smallest_box),
        cmocka_unit_test(test_room_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
