/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program on GPUs of several kinds, run on the CPU (tests/lib/emulate): whatever form its launches take for
 * want of shared memory or of multiprocessors, they fit the card, and give the bits that they give on any other.
 */
#undef NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

#define H200 "NVIDIA H200"
#define A100 "NVIDIA A100"
#define RTX "NVIDIA GeForce RTX 3090"
#define WINDOWS 3

static double lambda_table[WINDOWS][LAMBDA_COUNT] = {
    {0}, {[LAMBDA_COULOMB] = 0.4, [LAMBDA_VDW] = 0.3}, {[LAMBDA_COULOMB] = 1, [LAMBDA_VDW] = 0.7}};

struct outcome {
    uint32_t nodes, regions; /* of a step; along x, 0: none */
    struct sample sample;
    double delta_u[WINDOWS], box[BOX_SIZE];
    double (*f)[3], (*x)[3], (*v)[3];
};

static struct toy opened(const char *card, const struct system *sys, const struct settings *set)
{
    setenv("SHOAL_TEST_DEVICE", "cuda:0", 1);
    setenv("SHOAL_TEST_CARD", card, 1);
    return toy_open(sys, set, set->alchemy.nwindows > 1);
}

/* Of a sample, then of steps and volume moves. */
static struct outcome outcome_on(const char *card, const struct system *sys, const struct settings *set)
{
    const size_t n = (size_t)sys->natoms;
    struct outcome o = {.f = xcalloc(n, sizeof *o.f), .x = xcalloc(n, sizeof *o.x), .v = xcalloc(n, sizeof *o.v)};
    struct err e = {0};
    struct toy t = opened(card, sys, set);
    o.sample = toy_sample(t.sim, o.delta_u);
    if (sim_forces(t.sim, o.f, &e))
        fail_msg("%s", e.msg);
    o.regions = t.sim->caps.regions[0];
    toy_run(t.sim, SIM_BAROSTAT, 1);
    toy_run(t.sim, SIM_STEP, 3);
    o.nodes = sim_nodes_per_step(t.sim);
    if (sim_get(t.sim, o.x, o.v, o.box, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
    return o;
}

static void outcome_free(struct outcome *o)
{
    free(o->f);
    free(o->x);
    free(o->v);
}

static void same_bits(const struct outcome *a, const struct outcome *b, int natoms)
{
    const size_t n = (size_t)natoms;
    assert_memory_equal(a->sample.energy, b->sample.energy, sizeof a->sample.energy);
    assert_memory_equal(a->sample.dvdl, b->sample.dvdl, sizeof a->sample.dvdl);
    assert_memory_equal(a->sample.virial, b->sample.virial, sizeof a->sample.virial);
    assert_memory_equal(a->delta_u, b->delta_u, sizeof a->delta_u);
    assert_memory_equal(a->box, b->box, sizeof a->box);
    assert_memory_equal(a->f, b->f, n * sizeof *a->f);
    assert_memory_equal(a->x, b->x, n * sizeof *a->x);
    assert_memory_equal(a->v, b->v, n * sizeof *a->v);
}

static struct settings moving(void)
{
    struct settings set = toy_settings();
    set.barostat = (struct barostat_settings){.on = true, .pressure = 1000, .every = 1};
    set.replicas = 24;
    return set;
}

/* Many replicas with a mesh that is one block's on some cards and the whole card's on others; all cards that there are.
 */
static void test_mesh(void **state)
{
    enum { LAUNCHES_MORE = 5 };
    struct system *sys = mixture(2);
    struct settings set = moving();
    set.alchemy = mixture_alchemy(ALCHEMY_B_STATES, WINDOWS, lambda_table);
    for (int d = 0; d < 3; d++)
        set.nonbonded.pme_grid[d] = 32;
    struct outcome first = outcome_on(H200, sys, &set);
    for (const struct emulated_card *c = emulated_cards + 1; c->name; c++) {
        struct outcome o = outcome_on(c->name, sys, &set);
        const bool block = c->limits.block_shared > 160 * 1024;
        print_message("%s: %u launches a step\n", c->name, o.nodes);
        assert_int_equal(o.nodes, first.nodes + (block ? 0 : LAUNCHES_MORE));
        same_bits(&first, &o, sys->natoms);
        outcome_free(&o);
    }
    outcome_free(&first);
    toy_system_free(sys);
}

/* One without regions and one with; ends them. */
static void compare_cut(struct outcome whole, struct outcome cut, struct system *sys)
{
    assert_true(whole.regions == 0 && cut.regions >= 2);
    same_bits(&whole, &cut, sys->natoms);
    outcome_free(&whole);
    outcome_free(&cut);
    toy_system_free(sys);
}

/* 5,184 atoms are in one block's shared memory, or in that of blocks for regions of the box. */
static void test_regions(void **state)
{
    struct system *sys = toy_water(12);
    const struct settings set = moving();
    const struct outcome whole = outcome_on(H200, sys, &set);
    compare_cut(whole, outcome_on(RTX, sys, &set), sys);
}

/* Where regions of which a multiprocessor has two have no room for what is in reach, they are larger, as many as one
 * has. */
static void test_large_regions(void **state)
{
    struct system *sys = toy_water(7);
    const struct settings set = moving();
    const struct outcome whole = outcome_on(RTX, sys, &set);
    emulate_room(300, 20);
    const struct outcome cut = outcome_on(RTX, sys, &set);
    emulate_shared(0, 0);
    compare_cut(whole, cut, sys);
}

/* What a card has no room for is refused when the model is made, and another card takes it. */
static void test_refused(void **state)
{
    struct system *sys = toy_water(21);
    struct settings set = toy_settings();
    struct err e = {0};
    struct dev *dev;
    struct model *m;
    set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 2.9;
    set.nonbonded.vdw_switch = 2.8;
    setenv("SHOAL_TEST_CARD", RTX, 1);
    assert_int_equal(engine_open(&dev, "cuda:0", &e), 0);
    assert_int_equal(model_new(&m, dev, sys, &set, &e), -(int)ERR_UNSUPPORTED);
    assert_string_equal(e.msg,
                        "nonbonded: cut-off 2.9 nm: what is in reach of a point does not fit a GPU's shared memory, "
                        "which here has room for 4179 atoms");
    dev_close(dev);
    setenv("SHOAL_TEST_CARD", H200, 1);
    assert_int_equal(engine_open(&dev, "cuda:0", &e), 0);
    assert_int_equal(model_new(&m, dev, sys, &set, &e), 0);
    model_free(m);
    dev_close(dev);
    toy_system_free(sys);
}

/* A form of the mesh that is asked for by name is not exchanged for another. */
static void test_form_refused(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = toy_settings();
    struct err e = {0};
    struct dev *dev;
    struct model *m;
    set.nonbonded.pme_form = PME_BLOCK;
    for (int d = 0; d < 3; d++)
        set.nonbonded.pme_grid[d] = 32;
    setenv("SHOAL_TEST_CARD", RTX, 1);
    assert_int_equal(engine_open(&dev, "cuda:0", &e), 0);
    assert_int_equal(model_new(&m, dev, sys, &set, &e), -(int)ERR_UNSUPPORTED);
    assert_string_equal(e.msg,
                        "nonbonded: coulomb: grid: 32 x 32 x 32: one block cannot do it: it takes 156672 bytes of "
                        "shared memory, of which a block has 100352 on this GPU");
    dev_close(dev);
    toy_system_free(sys);
}

static void nothing(const void *args)
{
}

/* Whether the emulated card takes the launch; it aborts where not. */
static bool takes(const char *card, struct launch l)
{
    int status = 0;
    struct err e = {0};
    struct dev *dev;
    setenv("SHOAL_TEST_CARD", card, 1);
    assert_int_equal(engine_open(&dev, "cuda:0", &e), 0);
    dev_close(dev);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        emulate_launch(&l, 0, nothing, NULL);
        _exit(0);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
}

/* Launches that ask for more than the card has do not go unnoticed: the tests above would not find them. */
static void test_too_much(void **state)
{
    const struct launch fits = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    struct launch l = fits;
    assert_true(takes(RTX, l));
    l.shared_bytes = 98 * 1024;
    assert_true(takes(RTX, l));
    l.shared_bytes += 16;
    assert_false(takes(RTX, l));
    assert_true(takes(A100, l));
    l.shared_bytes = 162 * 1024 + 16;
    assert_false(takes(A100, l));
    assert_true(takes(H200, l));
    l = fits;
    l.block[0] = 1056;
    assert_false(takes(H200, l));
    l = fits;
    l.grid[0] = l.cluster[0] = 2;
    assert_false(takes(A100, l));
    assert_true(takes(H200, l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mesh),          cmocka_unit_test(test_regions),
                                       cmocka_unit_test(test_large_regions), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_form_refused),  cmocka_unit_test(test_too_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
