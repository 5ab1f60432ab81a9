/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of the CUDA program, with its kernels run on the CPU (tests/lib/emulate): whole systems and regions, made
 * at whatever time, the same bits.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/both_devices.h"
#include "tests/lib/emulate/toy.h"

static struct outcome outcome_by(const struct system *sys, const struct settings *set, uint32_t region)
{
    cut_into(region);
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, set, set->alchemy.nwindows > 1);
    cut_into(0);
    struct outcome o = outcome_of(&t, sys->natoms);
    toy_close(&t);
    return o;
}

/* Water of which every fifth molecule is charged in another way: no water to the pair kernel, but trios all the same.
 * shape: of its box, NULL for a cube. */
static struct system *odd_water(int side, const double *shape, const struct settings *set)
{
    struct system *sys = toy_water(side);
    if (shape)
        reshape(sys, shape, true);
    for (int m = 0; m < sys->nmolecules; m += 5)
        for (int k = 0; k < 3; k++)
            for (int state = 0; state < 2; state++)
                sys->atoms[sys->molecules[m].first + k].charge[state] *= 1.02;
    relax(sys, set);
    return sys;
}

/* Forces, energies and virial have the same bits whole and in regions: no pair is computed twice, none is left out, and
 * each goes the same way around. */
static void same_in_regions(const struct system *sys, const struct settings *set, const uint32_t *regions, int n)
{
    for (int k = 0; k < n; k++)
        same_outcome(outcome_by(sys, set, 0), outcome_by(sys, set, regions[k]), sys, set);
}

/* Lists that reach across half the box and more; one block a region, and several. */
static void test_regions(void **state)
{
    static const uint32_t few[] = {160}, many[] = {106};
    struct settings set = settings_of(VDW_FORCE_SWITCH, ALCHEMY_B_STATES), plain = toy_settings();
    plain.nonbonded.vdw_cutoff = plain.nonbonded.coulomb_cutoff = 0.6;
    plain.nonbonded.vdw_switch = 0.5;
    struct system *sys = mixture(2), *water = odd_water(5, NULL, &plain);
    set.replicas = 8;
    same_in_regions(sys, &set, few, 1);
    same_in_regions(water, &plain, many, 1);
    toy_system_free(sys);
    toy_system_free(water);
}

static void test_regions_triclinic(void **state)
{
    static const uint32_t few[] = {160}, many[] = {300};
    for (int k = 0; k < 3; k++) {
        struct settings set = k == 1 ? toy_settings() : settings_of(VDW_POTENTIAL_SWITCH, ALCHEMY_B_STATES);
        struct system *sys = k == 1 ? toy_water(5) : mixture(2);
        reshape(sys, shapes[k], k == 1);
        set.nonbonded.coulomb_cutoff = k == 1 ? 0.6 : 0.85;
        set.nonbonded.vdw_cutoff = k == 1 ? 0.6 : 0.8;
        set.nonbonded.vdw_switch = 0.5;
        set.replicas = 8;
        if (k == 1)
            relax(sys, &set);
        same_in_regions(sys, &set, k == 1 ? many : few, 1);
        toy_system_free(sys);
    }
}

/* Water in a third of a box: some regions are more crowded than the mean says, and some empty. */
static void test_crowded_regions(void **state)
{
    static const uint32_t most[] = {100};
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.6;
    set.nonbonded.vdw_switch = 0.5;
    struct system *sys = odd_water(5, NULL, &set);
    sys->box[BOX_XX] *= 3;
    set.replicas = 8;
    same_in_regions(sys, &set, most, 1);
    toy_system_free(sys);
}

/* A box of more regions and cells than one reaches, in all directions; what is above two faces of a region and more,
 * and out of reach, is no member of it. */
static void test_cells(void **state)
{
    static const uint32_t most[] = {520};
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.55;
    set.nonbonded.vdw_switch = 0.5;
    set.replicas = 8;
    for (int k = 0; k < 3; k++) {
        struct system *water = odd_water(11, k ? shapes[k - 1] : NULL, &set);
        if (k == 0) {
            cut_into(most[0]);
            compare(water, &set, 0);
            cut_into(0);
        }
        same_in_regions(water, &set, most, 1);
        toy_system_free(water);
    }
}

static void positions_after(const struct system *sys, const struct settings *set, uint32_t steps, uint32_t cut,
                            double (*x)[3])
{
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, set, 0), other = {0};
    struct buf saved = {0};
    struct err e = {0};
    toy_run(t.sim, SIM_STEP, cut);
    other = toy_emulated(*cuda_program.kernels, NULL, sys, set, 0);
    int rc = sim_save(t.sim, &saved, &e);
    if (rc == 0)
        sim_seal(&saved);
    if (rc || sim_load(other.sim, saved.data, saved.len, &e))
        fail_msg("%s", e.msg);
    toy_run(other.sim, SIM_STEP, steps - cut);
    if (sim_get(other.sim, x, NULL, NULL, &e))
        fail_msg("%s", e.msg);
    buf_free(&saved);
    toy_close(&t);
    toy_close(&other);
}

/* Atoms so fast that the trios around a trio change now and then, and with them the regions: no pair is lost, and bits
 * depend neither on where pairs are computed nor on when lists are made. */
static void test_moving_regions(void **state)
{
    struct settings set = settings_of(VDW_FORCE_SWITCH, ALCHEMY_B_STATES);
    struct system *sys = mixture(2);
    size_t n = (size_t)sys->natoms;
    double(*whole)[3] = xcalloc(n, sizeof *whole), (*regions)[3] = xcalloc(n, sizeof *regions);
    set.nonbonded.vdw_cutoff = 0.4;
    set.nonbonded.vdw_switch = 0.3;
    set.nonbonded.coulomb_cutoff = 0.45;
    sys->v = xcalloc(n, sizeof *sys->v);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < 3; d++)
            sys->v[i][d] = 2.0 * (double)((7 * i + 3 * d) % 11) - 10; /* nm/ps */
    set.replicas = 8;
    positions_after(sys, &set, 10, 1, whole);
    cut_into(66);
    positions_after(sys, &set, 10, 4, regions);
    cut_into(0);
    assert_memory_equal(whole, regions, n * sizeof *regions);
    free(whole);
    free(regions);
    toy_system_free(sys);
}

static void same_interrupted(struct system *sys, struct settings *set)
{
    size_t n = (size_t)sys->natoms;
    double(*straight)[3] = xcalloc(n, sizeof *straight), (*cut)[3] = xcalloc(n, sizeof *cut);
    double(*crowded)[3] = xcalloc(n, sizeof *crowded);
    set->integrator.timestep = 0.002;
    set->integrator.temperature = 600;
    positions_after(sys, set, 12, 1, straight);
    positions_after(sys, set, 12, 7, cut);
    assert_memory_equal(straight, cut, n * sizeof *cut);
    set->replicas = 200;
    positions_after(sys, set, 12, 7, crowded);
    assert_memory_equal(straight, crowded, n * sizeof *crowded);
    free(straight);
    free(cut);
    free(crowded);
    toy_system_free(sys);
}

/* Lists are made at other times in a run that is interrupted, and one of many replicas has blocks of more waters; its
 * bits are the same. */
static void test_interruption(void **state)
{
    struct settings set = toy_settings();
    same_interrupted(relaxed_water(6, &set), &set);
}

/* In a box so wide that lists look ahead, and have not all of it. */
static void same_searched(int side, const double *shape, uint32_t region)
{
    enum { STEPS = 60 };
    static const uint32_t cuts[] = {11, 27, 45};
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.4;
    set.nonbonded.vdw_switch = 0.3;
    struct system *sys = odd_water(side, shape, &set);
    const size_t n = (size_t)sys->natoms;
    double(*first)[3] = xcalloc(n, sizeof *first), (*other)[3] = xcalloc(n, sizeof *other);
    set.integrator.timestep = 0.002;
    sys->v = xcalloc(n, sizeof *sys->v);
    for (size_t i = 0; i < n; i++) /* nm/ps, of whole molecules */
        for (size_t d = 0; d < 3; d++)
            sys->v[i][d] = 0.6 * (double)((7 * (i / 3) + 3 * d) % 11) - 3;
    set.replicas = 8;
    positions_after(sys, &set, STEPS, 1, first);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        cut_into(k % 2 ? 0 : region);
        positions_after(sys, &set, STEPS, cuts[k], other);
        cut_into(0);
        assert_memory_equal(first, other, n * sizeof *first);
    }
    free(first);
    free(other);
    toy_system_free(sys);
}

/* So long that searches end, some with the next lists and some at once: a run that makes its lists in other steps has
 * the same bits, whole and in regions. */
static void test_searches(void **state)
{
    same_searched(6, NULL, 130);
    same_searched(8, shapes[0], 300);
}

/* Where waters see the nearest images of atoms, and lists of one replica try more of them than lists of many. */
static void test_interruption_any_image(void **state)
{
    struct settings set = toy_settings();
    struct system *sys = toy_water(6);
    reshape(sys, shapes[0], true);
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.8;
    set.nonbonded.vdw_switch = 0.65;
    relax(sys, &set);
    same_interrupted(sys, &set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions),         cmocka_unit_test(test_regions_triclinic),
        cmocka_unit_test(test_crowded_regions), cmocka_unit_test(test_cells),
        cmocka_unit_test(test_moving_regions),  cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_searches),        cmocka_unit_test(test_interruption_any_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
