/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps of tiny systems in one launch, by the CUDA program run on the CPU (tests/lib/emulate): the forces of the
 * CPU device, the same bits however many steps a launch does, and the state of the last whole step where one fails.
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

#include "engine/cuda/nonbonded.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

#define WINDOWS 3
#define DT 1e-3

static double lambda_table[WINDOWS][LAMBDA_COUNT] = {
    {[LAMBDA_COULOMB] = 0, [LAMBDA_VDW] = 0, [LAMBDA_BONDED] = 0},
    {[LAMBDA_COULOMB] = 0.4, [LAMBDA_VDW] = 0.3, [LAMBDA_BONDED] = 0.5},
    {[LAMBDA_COULOMB] = 1, [LAMBDA_VDW] = 0.7, [LAMBDA_BONDED] = 1},
};

/* Langevin-middle without friction: a step from rest leaves v = f dt/m. */
static struct settings settings_of(enum vdw_modifier modifier, enum alchemy kind)
{
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = 0.9;
    set.nonbonded.coulomb_cutoff = 1.0;
    set.nonbonded.vdw_modifier = modifier;
    set.nonbonded.vdw_switch = 0.7;
    set.nonbonded.pme_spacing = 0.25; /* waves take the emulator long */
    set.integrator =
        (struct integrator_settings){.kind = INTEGRATOR_LANGEVIN_MIDDLE, .timestep = DT, .temperature = 300, .seed = 7};
    set.alchemy = mixture_alchemy(kind, WINDOWS, lambda_table);
    return set;
}

/* Every kind of term, on the two chains of six. */
static void add_terms(struct system *s)
{
    for (int first = 0; first < 12; first += 6)
        for (int k = first; k < first + 3; k++) {
            const double b = first ? 1 : 1.1;
            toy_add(s, bonds, nbonds, (struct bond){{k, k + 1}, {0.3, 0.3 * b}, {3000, 3000 * b}});
            toy_add(s, angles, nangles,
                    (struct angle){.atom = {k, k + 1, k + 2},
                                   .theta0 = {1.9, 1.9 * b},
                                   .k = {400, 400 * b},
                                   .ub_r0 = {0.5, 0.5},
                                   .ub_k = {900, 900},
                                   .urey_bradley = k % 2});
            toy_add(s, dihedrals, ndihedrals,
                    (struct dihedral){{k, k + 1, k + 2, k + 3}, {0.4, 0.4}, {9, 9 * b}, 3, k % 2, {0, 0}});
            toy_add(s, rb_dihedrals, nrb_dihedrals,
                    (struct rb_dihedral){{k, k + 1, k + 2, k + 3}, {{1, 2, -3, 4, -5, 6}, {1, 2, -3 * b, 4, -5, 6}}});
            toy_add(s, impropers, nimpropers, (struct improper){{k, k + 1, k + 2, k + 3}, {0.2, 0.2}, {50, 50 * b}});
            toy_add(s, position_restraints, nposition_restraints,
                    (struct position_restraint){k, {1, 1.2, 0.9}, {{100, 200, 300}, {100, 200 * b, 300}}});
            toy_add(s, pairs14, npairs14,
                    (struct pair14){.atom = {k, k + 3}, .lj = {{1e-3, 1e-6}, {1e-3 * b, 1e-6}}, .qq = {0.1, 0.1 * b}});
            toy_add(s, rare, nrare,
                    (struct rare_term){RARE_G96_ANGLE, {k, k + 1, k + 2}, 0, {{-0.3, 80}, {-0.3 * b, 80}}});
            toy_add(s, rare, nrare,
                    (struct rare_term){
                        RARE_DIHEDRAL_RESTRAINT, {k, k + 1, k + 2, k + 3}, 0, {{0.3, 0.1, 60}, {0.3 * b, 0.1, 60}}});
        }
    toy_add_cmap(s, 6); /* on the second chain */
    toy_add_centers(s, (const int[]){0, 1, 2, 4}, 4, (const int[]){7, 8, 11}, 3,
                    (const double[2][6]){{0.3, 0.3, 1e6, 500}, {0.25, 0.25, 1e6, 900}});
}

static const char *card; /* the GPU; NULL: the usual one */

static struct toy opened(const struct program *program, const struct system *sys, const struct settings *set,
                         int window)
{
    return toy_emulated(*program->kernels, card, sys, set, window);
}

static void forces_of_step(const struct system *sys, const struct settings *set, int window, double (*f)[3])
{
    struct err e = {0};
    struct toy t = opened(&cuda_program, sys, set, window);
    assert_non_null(cuda_nonbonded_tiny(t.model->nonbonded));
    toy_run(t.sim, SIM_STEP, 1);
    if (sim_get(t.sim, NULL, f, NULL, &e))
        fail_msg("%s", e.msg);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            f[i][d] *= sys->atoms[i].mass[0] / DT;
    toy_close(&t);
}

/* Tolerances of mixed precision. */
static void compare(const struct system *sys, const struct settings *set, int window)
{
    size_t n = (size_t)sys->natoms;
    double(*cpu)[3] = xcalloc(2 * n, sizeof *cpu), (*cuda)[3] = cpu + n, delta_u[WINDOWS], sum = 0, off = 0, worst = 0;
    struct err e = {0};
    struct toy t = opened(&cpu_program, sys, set, window);
    toy_sample(t.sim, delta_u);
    if (sim_forces(t.sim, cpu, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
    forces_of_step(sys, set, window, cuda);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            double diff = fabs(cpu[i][d] - cuda[i][d]);
            sum += cpu[i][d] * cpu[i][d];
            off += diff * diff;
            worst = fmax(worst, diff);
        }
    double rms = sqrt(sum / (3 * sys->natoms));
    print_message("forces: rms %.4g, off by %.3g of it, worst %.3g\n", rms, sqrt(off / sum), worst / rms);
    assert_true(sqrt(off / sum) < 1e-6);
    assert_true(worst / rms < 1e-5);
    free(cpu);
}

static void test_forces(void **state)
{
    struct system *sys = mixture_first(72);
    mixture_of_both_ends(sys);
    add_terms(sys);
    for (int variant = 0; variant < 8; variant++) {
        struct settings set = settings_of(variant % 4, variant % 3 == 2   ? ALCHEMY_NONE
                                                       : variant % 3 == 1 ? ALCHEMY_DECOUPLE
                                                                          : ALCHEMY_B_STATES);
        set.alchemy.decouple[0].intramolecular_decouple = variant % 2;
        set.alchemy.soft_core.coulomb = variant >= 4;
        if (variant == 4 || variant == 5)
            set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
        if (variant == 4 || variant == 6)
            set.alchemy.soft_core =
                (struct soft_core){.function = SOFT_GAPSYS, .alpha = 1.3, .alpha_coulomb = 0.6, .sigma = 0.3};
        set.nonbonded.pme_order = 4 + variant % 3;
        compare(sys, &set, variant % 3);
    }
    toy_system_free(sys);
}

/* Odd and even numbers of points, more functions along an axis than one thread holds, few atoms and many, triclinic
 * boxes; boxes that may change, of which no wave is left out. */
static void test_waves(void **state)
{
    static const int grids[][4] = {{20, 25, 15, 4}, {12, 36, 24, 5}, {10, 10, 30, 6}, {27, 8, 10, 4}};
    static const int atoms[] = {6, 12, 33, 126};
    for (int n = 0; n < 8; n++) {
        const int k = n / 2;
        struct system *sys = mixture_first(atoms[k]);
        if (n % 2) {
            sys->box[BOX_YX] = 0.3;
            sys->box[BOX_ZX] = -0.2;
            sys->box[BOX_ZY] = 0.35;
        }
        struct settings set = settings_of(VDW_POTENTIAL_SHIFT, k % 2 ? ALCHEMY_B_STATES : ALCHEMY_NONE);
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        set.barostat.on = k % 2;
        set.replicas = 48; /* of 126 atoms in gangs, too */
        compare(sys, &set, k % 2);
        toy_system_free(sys);
    }
}

/* A cut-off that is longer than half from face to face, and nearly as long as the box allows. */
static void test_any_image(void **state)
{
    static const double dodecahedron[BOX_SIZE] = {1, 1, 0.70710678, 0, 0.5, 0.5};
    struct system *sys = mixture_first(72);
    struct settings set = settings_of(VDW_POTENTIAL_SHIFT, ALCHEMY_B_STATES);
    for (int k = 0; k < BOX_SIZE; k++)
        sys->box[k] = 2.2 * dodecahedron[k];
    set.nonbonded.vdw_cutoff = 1.05;
    set.nonbonded.coulomb_cutoff = 1.09;
    compare(sys, &set, 1);
    toy_system_free(sys);
}

/* steps: how many at a time, ended by 0. */
static struct snapshot after(const struct system *sys, const struct settings *set, const uint32_t *steps, bool resumed)
{
    double delta_u[WINDOWS];
    struct err e = {0};
    struct toy t = opened(&cuda_program, sys, set, 1);
    if (sim_thermalize(t.sim, &e))
        fail_msg("%s", e.msg);
    for (; *steps; steps++) {
        toy_run(t.sim, SIM_STEP, *steps);
        if (!resumed)
            continue;
        struct buf state = {0};
        struct sim *next = toy_replica(&t, 1, 0);
        toy_sample(t.sim, delta_u);
        if (sim_save(t.sim, &state, &e))
            fail_msg("%s", e.msg);
        sim_seal(&state);
        if (sim_load(next, state.data, state.len, &e))
            fail_msg("%s", e.msg);
        sim_free(t.sim);
        t.sim = next;
        buf_free(&state);
    }
    struct snapshot shot = snapshot_of(t.sim, sys->natoms);
    toy_close(&t);
    return shot;
}

static void test_bits(void **state)
{
    static const uint32_t at_once[2][2] = {{23, 0}, {113, 0}}, apart[2][5] = {{3, 20, 0}, {3, 9, 31, 70, 0}};
    struct system *sys = mixture_first(36);
    add_terms(sys);
    for (int i = 0; i < 36; i++) /* some at fixed distances */
        if (i % 6 == 4)
            toy_add(sys, constraints, nconstraints, (struct constraint){{i, i + 1}, {0.4, 0.41}, false});
    for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
        struct settings set = settings_of(VDW_POTENTIAL_SWITCH, ALCHEMY_B_STATES);
        set.integrator.kind = kind;
        set.integrator.friction = 10;
        set.integrator.timestep = DT / 2; /* places are made up, and some push hard */
        set.integrator.com_every = 7;
        const int k = kind == INTEGRATOR_LANGEVIN_MIDDLE; /* that with a launch of a hundred */
        struct snapshot a = after(sys, &set, at_once[k], false), b = after(sys, &set, apart[k], true);
        assert_int_equal(a.step, at_once[k][0]);
        assert_int_equal(b.step, at_once[k][0]);
        assert_memory_equal(a.x, b.x, 2 * 36 * sizeof *a.x);
        free(a.x);
        free(b.x);
    }
    toy_system_free(sys);
}

static struct snapshot after_steps(const struct system *sys, const struct settings *set, uint32_t steps,
                                   uint32_t *nodes)
{
    struct toy t = opened(&cuda_program, sys, set, 0);
    toy_run(t.sim, SIM_STEP, steps);
    *nodes = sim_nodes_per_step(t.sim);
    const struct snapshot shot = snapshot_of(t.sim, sys->natoms);
    toy_close(&t);
    return shot;
}

/* The first by one block, the second by the other kernels; frees both. */
/* By kernels that are more than `least` nodes of a graph. */
static void same_by_other_kernels(struct snapshot shot[2], const uint32_t nodes[2], uint32_t least, int natoms)
{
    assert_int_equal(nodes[0], 1);
    assert_true(nodes[1] > least);
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++)
            assert_true(fabs(shot[0].x[i][d] - shot[1].x[i][d]) < 1e-6);
    free(shot[0].x);
    free(shot[1].x);
}

/* What is asked for is done: by one block or by the other kernels. */
static void test_choice(void **state)
{
    struct system *sys = mixture_first(36);
    add_terms(sys);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
    struct snapshot shot[2];
    uint32_t nodes[2];
    for (int k = 0; k < 2; k++) {
        set.form = k ? FORM_GRAPH : FORM_GANG;
        shot[k] = after_steps(sys, &set, 30, &nodes[k]);
    }
    same_by_other_kernels(shot, nodes, 5, sys->natoms);
    toy_system_free(sys);
}

/* The atom is bound to the next `arms` at the distances they have. */
static void bind_arms(struct system *sys, int center, int arms)
{
    for (int k = center + 1; k <= center + arms; k++) {
        double r[3];
        box_image(sys->x[center], sys->x[k], sys->box, r);
        const double length = sqrt(vec_dot(r, r));
        toy_add(sys, constraints, nconstraints, (struct constraint){{center, k}, {length, length}, false});
    }
}

/* A molecule of three becomes a rigid water, with nothing but charges. */
static void make_water(struct system *sys, int first)
{
    static const double x[3][3] = {{0, 0, 0}, {0.1, 0, 0}, {-0.02, 0.09797958971132712, 0}};
    for (int k = 0; k < 3; k++) {
        struct atom *a = &sys->atoms[first + k];
        a->mass[0] = a->mass[1] = k ? 1 : 16;
        a->type[0] = a->type[1] = 4;
        a->charge[0] = a->charge[1] = k ? 0.02 : -0.04;
        for (int d = 0; d < 3; d++)
            sys->x[first + k][d] = sys->x[first][d] + x[k][d];
    }
    toy_add(sys, settles, nsettles, (struct settle){first, {first + 1, first + 2}, 0.1, 0.15491933384829668});
}

/* Bodies of every kind in one block: rigid waters, atoms with up to four others, a ring, which is moved in memory, and
 * lone ones; charges with and without waves, boxes of either kind. */
static void test_bodies(void **state)
{
    struct system *sys = mixture_first(126);
    static const int center[4] = {15, 12, 6, 0};
    for (int k = 0; k < 4; k++)
        bind_arms(sys, center[k], k + 1);
    bind_arms(sys, 36, 2);
    bind_arms(sys, 37, 1);
    for (int m = 60; m < 90; m += 3)
        make_water(sys, m);
    for (int variant = 0; variant < 8; variant++) {
        struct settings set = settings_of(VDW_POTENTIAL_SHIFT, ALCHEMY_NONE);
        struct snapshot shot[2];
        uint32_t nodes[2];
        set.nonbonded.coulomb_method = variant & 1 ? COULOMB_REACTION_FIELD : COULOMB_PME;
        set.integrator.kind = variant & 2 ? INTEGRATOR_LANGEVIN_MIDDLE : INTEGRATOR_VELOCITY_VERLET;
        set.integrator.friction = variant & 2 ? 10 : 0;
        set.integrator.com_every = 7;
        sys->box[BOX_YX] = variant & 4 ? 0.3 : 0;
        sys->box[BOX_ZY] = variant & 4 ? 0.35 : 0;
        for (int k = 0; k < 2; k++) {
            set.form = k ? FORM_GRAPH : FORM_GANG;
            shot[k] = after_steps(sys, &set, 20, &nodes[k]);
        }
        same_by_other_kernels(shot, nodes, 1, sys->natoms);
    }
    toy_system_free(sys);
}

static void refused(const struct program *program, const struct system *sys, const struct settings *set,
                    const char *why)
{
    struct toy t = {0};
    struct err e = {0};
    assert_int_equal(emulate_open(&t.dev, "cpu:1", card, *program->kernels, &e), 0);
    assert_int_equal(model_new(&t.model, t.dev, sys, set, &e), -(int)ERR_UNSUPPORTED);
    if (!strstr(e.msg, why))
        fail_msg("%s", e.msg);
    dev_close(t.dev);
}

#define FINE 0.08 /* nm: with so fine a mesh 126 atoms and their waves need more than 100 kB */

/* A gang that cannot be is refused with what is in its way; without being asked for one, nobody hears of it. */
static void test_refusals(void **state)
{
    struct system *small = mixture_first(36), *large = mixture_first(132);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE), graph = set;
    set.form = FORM_GANG;
    refused(&cpu_program, small, &set, "form gang: cpu devices have none: expected a GPU");
    refused(&cuda_program, large, &set, "form gang: 132 atoms: expected at most 128");
    set.integrator.mesh_every = 2;
    refused(&cuda_program, small, &set, "form gang: mesh-every 2: expected 1");
    set.integrator.mesh_every = 1;
    set.nonbonded.ewald_tolerance = 1e-12;
    refused(&cuda_program, small, &set, "tolerance 1e-12: expected 1e-11 or more on a GPU");
    set.nonbonded.ewald_tolerance = 1e-5;
    set.nonbonded.pme_grid[1] = 256;
    refused(&cuda_program, small, &set, "x 256 x");
    set.nonbonded.pme_grid[1] = 0;
    card = "NVIDIA GeForce RTX 3090";
    toy_system_free(large);
    large = mixture_first(126);
    set.nonbonded.pme_spacing = FINE;
    refused(&cuda_program, large, &set, "expected at most 100352 on this GPU");
    card = NULL;
    struct toy t = opened(&cuda_program, small, &graph, 0);
    assert_int_equal(model_forms(t.model).step, FORM_GANG);
    toy_close(&t);
    graph.integrator.mesh_every = 2;
    t = opened(&cuda_program, small, &graph, 0);
    assert_int_equal(model_forms(t.model).step, FORM_GRAPH);
    toy_close(&t);
    graph.integrator.mesh_every = 1;
    graph.form = FORM_GRAPH;
    t = opened(&cuda_program, small, &graph, 0);
    assert_int_equal(model_forms(t.model).step, FORM_GRAPH);
    toy_close(&t);
    toy_system_free(small);
    toy_system_free(large);
}

/* Of many replicas in gangs, of few by graphs where there are more atoms, unless it is told otherwise. */
static void test_numbers(void **state)
{
    static const struct {
        int atoms, replicas;
        enum step_form form;
    } cases[] = {{84, 1, FORM_GANG},    {87, 1, FORM_GRAPH},  {87, 3, FORM_GANG},
                 {108, 15, FORM_GRAPH}, {108, 16, FORM_GANG}, {126, 26, FORM_GRAPH}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct system *sys = mixture_first(cases[k].atoms);
        struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
        set.replicas = cases[k].replicas;
        struct toy t = opened(&cuda_program, sys, &set, 0);
        assert_int_equal(model_forms(t.model).step, cases[k].form);
        toy_close(&t);
        toy_system_free(sys);
    }
}

/* What is too large for a block of one GPU and not of another. */
static void test_cards(void **state)
{
    struct system *sys = mixture_first(126);
    add_terms(sys);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
    struct snapshot shot[2];
    uint32_t nodes[2];
    set.replicas = 27;
    set.nonbonded.pme_spacing = FINE;
    shot[0] = after_steps(sys, &set, 3, &nodes[0]);
    card = "NVIDIA GeForce RTX 3090";
    shot[1] = after_steps(sys, &set, 3, &nodes[1]);
    card = NULL;
    same_by_other_kernels(shot, nodes, 5, sys->natoms);
    toy_system_free(sys);
}

/* One atom of a pair at a fixed distance is driven away, by more with every step, until a step fails. All others go
 * straight on, as many steps as are counted. */
static void test_failure(void **state)
{
    struct system *sys = toy_system(40, 6);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
    struct err e = {0};
    set.alchemy.nwindows = 1;
    sys->v = xcalloc(40, sizeof *sys->v);
    for (int i = 0; i < 40; i++) {
        for (int d = 0; d < 3; d++)
            sys->x[i][d] = 0.5 + 0.13 * i;
        sys->v[i][0] = 1;
    }
    toy_add(sys, constraints, nconstraints, (struct constraint){{5, 6}, {0.13 * sqrt(3), 0.13 * sqrt(3)}, false});
    struct position_restraint drive = {.atom = 5, .k = {{-5e5}, {-5e5}}};
    memcpy(drive.x0, sys->x[5], sizeof drive.x0);
    toy_add(sys, position_restraints, nposition_restraints, drive);
    struct toy t = opened(&cuda_program, sys, &set, 0);
    assert_true(toy_try(t.sim, SIM_STEP, 100, &e) < 0);
    const uint64_t step = sim_step_number(t.sim);
    const double(*x)[3] = (const double(*)[3])t.sim->d.x; /* the emulated device's memory is the host's */
    assert_in_range(step, 5, 99);
    for (int i = 7; i < 40; i++)
        assert_true(fabs(x[i][0] - sys->x[i][0] - (double)step * DT) < 1e-8);
    toy_close(&t);
    toy_system_free(sys);
}

/* What a timestep of a decoupled chain, whose atoms interact at every distance, comes to, by either form. */
static void expect_step(int outcome, void (*place)(struct system *sys))
{
    for (int form = FORM_GANG; form <= FORM_GRAPH; form++) {
        struct system *sys = mixture_first(36);
        struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_DECOUPLE);
        struct err e = {0};
        set.alchemy.decouple[0].intramolecular_decouple = false;
        set.form = (enum step_form)form;
        place(sys);
        struct toy t = opened(&cuda_program, sys, &set, 1);
        assert_int_equal(toy_try(t.sim, SIM_STEP, 1, &e), outcome);
        toy_close(&t);
        toy_system_free(sys);
    }
}

/* The chain goes back beside itself, to where it begins. */
static void fold_back(struct system *sys)
{
    for (int k = 3; k < 6; k++) {
        memcpy(sys->x[k], sys->x[5 - k], sizeof *sys->x);
        sys->x[k][0] += k == 5 ? 1e-3 : 0.3;
    }
}

/* Neither charges nor Lennard-Jones, and two atoms of the chain, and two others, in one place. */
static void take_away(struct system *sys)
{
    for (int i = 0; i < sys->natoms; i++)
        sys->atoms[i].charge[0] = sys->atoms[i].charge[1] = 0, sys->atoms[i].type[0] = sys->atoms[i].type[1] = 4;
    memcpy(sys->x[5], sys->x[0], sizeof *sys->x);
    memcpy(sys->x[20], sys->x[30], sizeof *sys->x);
}

/* Atoms in one place are an error, of those that interact at every distance too, unless they are nothing. */
static void test_collapse(void **state)
{
    expect_step(-ERR_OVERFLOW, fold_back);
    expect_step(0, take_away);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces),  cmocka_unit_test(test_waves),    cmocka_unit_test(test_any_image),
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_choice),   cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_refusals), cmocka_unit_test(test_cards),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_collapse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
