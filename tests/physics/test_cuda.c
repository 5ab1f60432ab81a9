/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program against the CPU device's, term by term, with its kernels run on the CPU (tests/lib/emulate): what they
 * compute is tested where there is no GPU.
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

#include "engine/cuda/mesh.h"
#include "engine/cuda/pairs.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

#define MOST_WINDOWS 8

static double lambda_table[MOST_WINDOWS][LAMBDA_COUNT];

struct outcome {
    struct sample sample;
    double delta_u[MOST_WINDOWS];
    double (*f)[3];
};

static void near(const char *what, double cpu, double cuda, double tolerance)
{
    if (!(fabs(cpu - cuda) <= tolerance))
        fail_msg("%s: %.10g on the CPU device, %.10g by the CUDA program, off by %.3g (allowed %.3g)", what, cpu, cuda,
                 cuda - cpu, tolerance);
}

/* What volume moves go by is the potential energy that a sample has; but for the box's edges as floats, which only that takes off. */
static void check_volume_move(struct toy *t, const struct sample *s)
{
    double parts = 0;
    for (int k = 0; k < TERM_COUNT; k++)
        parts += fabs(s->energy[k]);
    const uint64_t before = sim_heard(t->sim)->ctl.barostat_moves;
    toy_run(t->sim, SIM_BAROSTAT, 1);
    const struct ctl *c = &sim_heard(t->sim)->ctl;
    assert_true(c->barostat_moves == before + 1 && parts != 0);
    near("potential energy before a volume move", s->potential, c->energy_old, 2e-7 * parts + 1e-6);
}

static struct outcome outcome_of(struct toy *t, int natoms)
{
    struct outcome o = {.f = xcalloc((size_t)natoms, sizeof *o.f)};
    struct err e = {0};
    o.sample = toy_sample(t->sim, o.delta_u);
    if (sim_forces(t->sim, o.f, &e))
        fail_msg("%s", e.msg);
    check_volume_move(t, &o.sample);
    return o;
}

static void compare_forces(const struct outcome *cpu, const struct outcome *cuda, int natoms)
{
    double sum = 0, off = 0, worst = 0;
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++) {
            double diff = fabs(cpu->f[i][d] - cuda->f[i][d]);
            sum += cpu->f[i][d] * cpu->f[i][d];
            off += diff * diff;
            worst = fmax(worst, diff);
        }
    double rms = sqrt(sum / (3 * natoms));
    print_message("forces: rms %.4g, off by %.3g of it, worst %.3g\n", rms, sqrt(off / (3 * natoms)) / rms,
                  worst / rms);
    near("forces, rms", 0, sqrt(off / (3 * natoms)) / rms, 2e-6);
    near("forces, worst", 0, worst / rms, 1e-4);
}

/* Tolerances of mixed precision. Ends the two. */
static void compare_ended(struct toy *a, struct toy *b, const struct system *sys, const struct settings *set)
{
    struct outcome cpu = outcome_of(a, sys->natoms), cuda = outcome_of(b, sys->natoms);
    for (int k = 0; k < TERM_COUNT; k++)
        near(term_names[k], cpu.sample.energy[k], cuda.sample.energy[k],
             (k == TERM_COULOMB_RECIPROCAL ? 1e-4 : 2e-6) * fabs(cpu.sample.energy[k]) + 1e-5);
    for (int k = 0; k < LAMBDA_COUNT; k++)
        near("dU/dlambda", cpu.sample.dvdl[k], cuda.sample.dvdl[k], 1e-5 * fabs(cpu.sample.dvdl[k]) + 1e-3);
    for (int w = 0; w < set->alchemy.nwindows; w++)
        near("U at a window", cpu.delta_u[w], cuda.delta_u[w], 1e-5 * fabs(cpu.delta_u[w]) + 1e-3);
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(cpu.sample.virial[k]));
    for (int k = 0; k < 9; k++)
        near("virial", cpu.sample.virial[k], cuda.sample.virial[k], 1e-4 * largest);
    compare_forces(&cpu, &cuda, sys->natoms);
    free(cpu.f);
    free(cuda.f);
    toy_close(a);
    toy_close(b);
}

static void compare(const struct system *sys, const struct settings *set, int window)
{
    struct toy a = toy_open(sys, set, window), b = toy_emulated(*cuda_program.kernels, NULL, sys, set, window);
    compare_ended(&a, &b, sys, set);
}

static struct settings settings_of(enum vdw_modifier modifier, enum alchemy kind)
{
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = 0.9;
    set.nonbonded.coulomb_cutoff = 1.0;
    set.nonbonded.vdw_modifier = modifier;
    set.nonbonded.vdw_switch = 0.7;
    set.alchemy = mixture_alchemy(kind, 3, lambda_table);
    for (int w = 0; w < 3; w++) {
        lambda_table[w][LAMBDA_COULOMB] = (const double[]){0, 0.4, 1}[w];
        lambda_table[w][LAMBDA_VDW] = (const double[]){0, 0.3, 0.7}[w];
    }
    return set;
}

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

/* Water that has found its bonds: on a lattice, turned at random, energies are what is left of much larger ones. */
static void relax(struct system *sys, const struct settings *set)
{
    struct err e = {0};
    struct toy t = toy_open(sys, set, 0);
    sim_minimize_setup(t.sim, 10);
    toy_run(t.sim, SIM_MINIMIZE, 100);
    if (sim_get(t.sim, sys->x, NULL, NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
}

static struct system *relaxed_water(int side, const struct settings *set)
{
    struct system *sys = toy_water(side);
    relax(sys, set);
    return sys;
}

static void test_water(void **state)
{
    struct settings set = toy_settings();
    struct system *sys = relaxed_water(7, &set);
    compare(sys, &set, 0);
    toy_system_free(sys);
}

/* Systems are cut into regions that hold `most` trios; 0: as on a GPU. */
static void cut_into(uint32_t most)
{
    static struct pair_limits usual;
    if (!usual.whole)
        usual = pair_limits;
    pair_limits = most ? (struct pair_limits){0, most} : usual;
}

static struct outcome outcome_by(const struct system *sys, const struct settings *set, uint32_t region)
{
    cut_into(region);
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, set, set->alchemy.nwindows > 1);
    cut_into(0);
    struct outcome o = outcome_of(&t, sys->natoms);
    toy_close(&t);
    return o;
}

static void same_outcome(struct outcome a, struct outcome b, const struct system *sys, const struct settings *set)
{
    assert_memory_equal(a.sample.energy, b.sample.energy, sizeof a.sample.energy);
    assert_memory_equal(a.sample.dvdl, b.sample.dvdl, sizeof a.sample.dvdl);
    assert_memory_equal(a.sample.virial, b.sample.virial, sizeof a.sample.virial);
    assert_memory_equal(a.delta_u, b.delta_u, (size_t)set->alchemy.nwindows * sizeof *a.delta_u);
    assert_memory_equal(a.f, b.f, (size_t)sys->natoms * sizeof *a.f);
    free(a.f);
    free(b.f);
}

static struct outcome outcome_in_form(const struct system *sys, struct settings set, enum pme_form form)
{
    set.nonbonded.pme_form = form;
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 1);
    struct outcome o = outcome_of(&t, sys->natoms);
    toy_close(&t);
    return o;
}

static void same_bits(const struct system *sys, const struct settings *set)
{
    struct outcome card = outcome_in_form(sys, *set, PME_CARD), block = outcome_in_form(sys, *set, PME_BLOCK);
    assert_true(card.sample.energy[TERM_COULOMB_RECIPROCAL] != 0);
    same_outcome(card, block, sys, set);
}

/* One block gives the mesh's forces, energies and virial to the last bit; lengths of every factor, an odd number of rows, no
 * pair of rows; a net charge. */
static void test_mesh_forms(void **state)
{
    static const int grids[][4] = {{32, 32, 32, 4}, {30, 32, 36, 4}, {25, 25, 25, 5}, {28, 14, 18, 6},
                                   {36, 25, 24, 6}, {12, 20, 16, 4}, {24, 30, 28, 5}};
    struct system *sys = mixture(2);
    for (int k = 0; k < 7; k++) {
        struct settings set = settings_of(VDW_CUTOFF, k % 2 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        sys->atoms[100].charge[0] = sys->atoms[100].charge[1] = 0.3 * k;
        same_bits(sys, &set);
    }
    toy_system_free(sys);
}

/* Where most atoms are in one corner of the box, most are strays that their brick has no room for. */
static void test_mesh_strays(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    for (int d = 0; d < 3; d++) {
        sys->box[d] *= 4;
        set.nonbonded.pme_grid[d] = 32;
    }
    same_bits(sys, &set);
    toy_system_free(sys);
}

/* Planes that are too large for shared memory give the same bits from global memory. */
static void test_mesh_planes(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    uint32_t most = mesh_plane_most;
    set.nonbonded.pme_grid[0] = set.nonbonded.pme_grid[1] = 25;
    set.nonbonded.pme_grid[2] = 36;
    mesh_plane_most = 0;
    same_bits(sys, &set);
    mesh_plane_most = most;
    toy_system_free(sys);
}

/* Transforms in one, two and three passes, of every radix and of primes that have none. */
static void test_mesh_lengths(void **state)
{
    static const int grids[][4] = {{90, 10, 49, 4}, {22, 96, 54, 5}, {13, 80, 33, 6}};
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    for (int k = 0; k < 3; k++) {
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        compare(sys, &set, 1);
    }
    toy_system_free(sys);
}

/* A replica among many has its mesh done by one block, and the same bits. */
static void test_mesh_choice(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    struct err e = {0};
    uint32_t nodes[2];
    for (int k = 0; k < 2; k++) {
        set.replicas = k ? 8 : 7;
        struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
        toy_run(t.sim, SIM_STEP, 4);
        nodes[k] = sim_nodes_per_step(t.sim);
        toy_close(&t);
    }
    assert_int_equal(nodes[1], nodes[0] - 5);
    set.nonbonded.pme_form = PME_BLOCK;
    set.nonbonded.pme_grid[2] = 64;
    struct toy t = {0};
    assert_int_equal(emulate_open(&t.dev, "cpu:1", NULL, *cuda_program.kernels, &e), 0);
    assert_int_equal(model_new(&t.model, t.dev, sys, &set, &e), -(int)ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "x 64: one block cannot do it"));
    dev_close(t.dev);
    toy_system_free(sys);
}

struct ways {
    double x[2][400][3]; /* and velocities */
    double delta_u[MOST_WINDOWS];
    struct sample sample;
};

/* Steps, samples and volume moves; where `changing`, the mesh goes another way before each round. */
static struct ways go(const struct system *sys, const struct settings *set, bool changing)
{
    static const enum pme_form forms[] = {PME_BLOCK, PME_CARD, PME_CARD, PME_BLOCK, PME_CARD};
    struct ways w = {0};
    struct err e = {0};
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, set, 1);
    assert_in_range(sys->natoms, 1, 400);
    assert_int_equal(model_forms(t.model).pme, PME_CARD);
    if (sim_thermalize(t.sim, &e))
        fail_msg("%s", e.msg);
    for (int round = 0; round < 5; round++) {
        if (changing)
            model_set_pme(t.model, forms[round]);
        toy_run(t.sim, SIM_STEP, 7);
        assert_int_equal(t.sim->pme, changing ? forms[round] : PME_CARD);
        if (round == 1 || round == 4)
            w.sample = toy_sample(t.sim, w.delta_u);
        if (round == 2)
            toy_run(t.sim, SIM_BAROSTAT, 1);
    }
    if (sim_get(t.sim, w.x[0], w.x[1], NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
    return w;
}

/* From one way of the mesh to the other and back, the same bits. */
static void test_mesh_change(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    set.barostat = (struct barostat_settings){.on = true, .pressure = 1, .every = 25};
    struct ways kept = go(sys, &set, false), changed = go(sys, &set, true);
    assert_memory_equal(kept.x, changed.x, sizeof kept.x);
    assert_memory_equal(kept.delta_u, changed.delta_u, sizeof kept.delta_u);
    assert_memory_equal(kept.sample.energy, changed.sample.energy, sizeof kept.sample.energy);
    toy_system_free(sys);
}

/* What is in flight goes its way to the end, and nothing more is queued behind it; without a new epoch another way is drift. */
static void test_mesh_change_waits(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    struct err e = {0};
    enum pme_form guess;
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    assert_true(model_pme_guess(t.model, 8, &guess));
    assert_int_equal(guess, PME_BLOCK);
    toy_run(t.sim, SIM_STEP, 3);
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 2, &e), 0);
    assert_true(sim_room(t.sim));
    model_set_pme(t.model, PME_BLOCK);
    assert_false(sim_room(t.sim));
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), 0);
    assert_int_equal(t.sim->pme, PME_CARD);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sim_wait(t.sim, &e), 0);
        assert_int_equal(sim_outcome(t.sim, &e), SIM_OK);
    }
    toy_run(t.sim, SIM_STEP, 3);
    assert_int_equal(t.sim->pme, PME_BLOCK);
    assert_int_equal(sim_step_number(t.sim), 9);
    assert_int_equal(sim_check(t.sim, &e), 0);
    t.sim->pme = t.model->pme = PME_CARD;
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), 0); /* the graph that is there */
    assert_int_equal(sim_wait(t.sim, &e), 0);
    assert_int_equal(sim_check(t.sim, &e), -ERR_DRIFT);
    toy_close(&t);
    set.nonbonded.pme_form = PME_BLOCK;
    t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    assert_false(model_pme_guess(t.model, 1, &guess));
    assert_int_equal(guess, PME_BLOCK);
    toy_close(&t);
    toy_system_free(sys);
}

/* In edges a, b, c of a rhombic dodecahedron, of a truncated octahedron and of a skewed cell; order of terms.h. */
static const double shapes[][BOX_SIZE] = {{1, 1, 0.70710678, 0, 0.5, 0.5},
                                          {1, 0.94280904, 0.81649658, 1.0 / 3, -1.0 / 3, 0.47140452},
                                          {1, 0.95, 0.9, 0.43, -0.31, 0.38}};

/* The same fractions in a box of another shape and the same volume, of all atoms, or of molecules that are moved as they are. */
static void reshape(struct system *sys, const double shape[BOX_SIZE], bool molecules)
{
    double box[BOX_SIZE], inverse[BOX_SIZE], edge = cbrt(box_volume(sys->box) / box_volume(shape));
    box_invert(sys->box, inverse);
    for (int k = 0; k < BOX_SIZE; k++)
        box[k] = edge * shape[k];
    double from[3], to[3];
    for (int i = 0; i < sys->natoms; i++) {
        if (!molecules || i == sys->molecules[sys->atoms[i].molecule].first) {
            memcpy(from, sys->x[i], sizeof from);
            box_apply(inverse, from, to);
            box_apply(box, to, to);
        }
        for (int d = 0; d < 3; d++)
            sys->x[i][d] += to[d] - from[d];
    }
    memcpy(sys->box, box, sizeof box);
}

/* The mesh in one block there: its waves are across the axes, and those in the middle of the third have no other half. */
static void test_triclinic_mesh_forms(void **state)
{
    static const int grids[3][4] = {{36, 36, 36, 4}, {25, 28, 25, 5}, {24, 25, 30, 6}};
    for (int k = 0; k < 3; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(VDW_CUTOFF, k ? ALCHEMY_B_STATES : ALCHEMY_DECOUPLE);
        reshape(sys, shapes[k], false);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.5;
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        same_bits(sys, &set);
        toy_system_free(sys);
    }
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

static void test_triclinic_water(void **state)
{
    for (int k = 0; k < 2; k++) {
        struct settings set = toy_settings();
        struct system *sys = toy_water(7);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.6;
        set.nonbonded.vdw_switch = 0.5;
        reshape(sys, shapes[k], true);
        relax(sys, &set);
        cut_into(k ? 200 : 0);
        compare(sys, &set, 0);
        toy_system_free(sys);
    }
    cut_into(0);
}

/* Volume moves along some axes: both devices take the same ones, and what they make of the box they end in is the same, by lists
 * and a mesh made for another. */
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

/* Lists are made at other times in a run that is interrupted, and one of many replicas has blocks of more waters; its bits are the
 * same. */
static void test_interruption(void **state)
{
    struct settings set = toy_settings();
    struct system *sys = relaxed_water(6, &set);
    size_t n = (size_t)sys->natoms;
    double(*straight)[3] = xcalloc(n, sizeof *straight), (*cut)[3] = xcalloc(n, sizeof *cut);
    double(*crowded)[3] = xcalloc(n, sizeof *crowded);
    set.integrator.timestep = 0.002;
    set.integrator.temperature = 600;
    positions_after(sys, &set, 12, 1, straight);
    positions_after(sys, &set, 12, 7, cut);
    assert_memory_equal(straight, cut, n * sizeof *cut);
    set.replicas = 200;
    positions_after(sys, &set, 12, 7, crowded);
    assert_memory_equal(straight, crowded, n * sizeof *crowded);
    free(straight);
    free(cut);
    free(crowded);
    toy_system_free(sys);
}

/* Water of which every fifth molecule is charged in another way: no water to the pair kernel, but trios all the same. */
static struct system *odd_water(int side, const struct settings *set)
{
    struct system *sys = toy_water(side);
    for (int m = 0; m < sys->nmolecules; m += 5)
        for (int k = 0; k < 3; k++)
            for (int state = 0; state < 2; state++)
                sys->atoms[sys->molecules[m].first + k].charge[state] *= 1.02;
    relax(sys, set);
    return sys;
}

/* Forces, energies and virial have the same bits whole and in regions: no pair is computed twice, none is left out, and each
 * goes the same way around. */
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
    struct system *sys = mixture(2), *water = odd_water(5, &plain);
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
    struct system *sys = odd_water(5, &set);
    sys->box[BOX_XX] *= 3;
    set.replicas = 8;
    same_in_regions(sys, &set, most, 1);
    toy_system_free(sys);
}

/* A box of more regions and cells than one reaches, in all directions. */
static void test_cells(void **state)
{
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.55;
    set.nonbonded.vdw_switch = 0.5;
    struct system *water = relaxed_water(11, &set);
    set.replicas = 8;
    cut_into(520);
    compare(water, &set, 0);
    cut_into(0);
    toy_system_free(water);
}

/* Atoms so fast that the trios around a trio change now and then, and with them the regions: no pair is lost, and bits depend
 * neither on where pairs are computed nor on when lists are made. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modifiers),       cmocka_unit_test(test_alchemy),
        cmocka_unit_test(test_water),           cmocka_unit_test(test_regions),
        cmocka_unit_test(test_crowded_regions), cmocka_unit_test(test_regions_triclinic),
        cmocka_unit_test(test_mesh_forms),      cmocka_unit_test(test_mesh_choice),
        cmocka_unit_test(test_mesh_change),     cmocka_unit_test(test_mesh_change_waits),
        cmocka_unit_test(test_shapes),          cmocka_unit_test(test_smallest_box),
        cmocka_unit_test(test_mesh_strays),     cmocka_unit_test(test_mesh_planes),
        cmocka_unit_test(test_mesh_lengths),    cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_cells),           cmocka_unit_test(test_moving_regions),
        cmocka_unit_test(test_triclinic),       cmocka_unit_test(test_triclinic_mesh_forms),
        cmocka_unit_test(test_triclinic_short), cmocka_unit_test(test_triclinic_water)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
