/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host has lanes do and waits for nowhere comes in its turn, however late: simulations change places while the
 * lane that moves their observables is behind; a list grows; a gang is launched that needs what a replica's own lane is
 * to bring. On the CPU device and by the CUDA program, run on the CPU.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/observe/observe.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

enum { PLACES = 5, LATE = 2000, DEVICES = 2 };

static double lambda_table[PLACES][LAMBDA_COUNT];

/* Two cycles. */
static const int from[PLACES] = {1, 2, 0, 4, 3};

static struct system *observed_mixture(void)
{
    struct system *s = mixture(2);
    struct observable *o = s->observables = xcalloc(1, sizeof *s->observables);
    s->nobservables = 1;
    *o = (struct observable){.kind = OBSERVE_RDF, .name = xstrdup("rdf"), .every = 1, .ngroups = 2};
    o->rdf = (struct rdf_choice){.max = 0.8, .bin = 0.02};
    for (int g = 0; g < 2; g++) {
        const int n = s->natoms;
        o->group[g] = (struct atom_group){.label = xstrdup("all"), .atom = xcalloc((size_t)n, sizeof(int)), .n = n};
        for (int i = 0; i < n; i++)
            o->group[g].atom[i] = i;
    }
    return s;
}

static struct settings settings(void)
{
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.friction = 1;
    set.alchemy.nwindows = PLACES;
    set.alchemy.lambda = lambda_table;
    return set;
}

static struct toy open_on(struct kernel_table kernels, const struct system *sys, const struct settings *set)
{
    struct toy t = {0};
    struct err e = {0};
    if (emulate_open(&t.dev, "cpu:3", NULL, kernels, &e) || model_new(&t.model, t.dev, sys, set, &e))
        fail_msg("%s", e.msg);
    return t;
}

/* What is submitted to its lane next begins some milliseconds later. */
static void delay(struct sim *s)
{
    struct err e = {0};
    for (int i = 0; i < LATE; i++)
        assert_int_equal(tables_ask(s, &e), 0);
}

static void finish(struct toy *t, struct sim *s)
{
    struct err e = {0};
    engine_flush(t->dev);
    assert_int_equal(sim_wait(s, &e), 0);
    assert_int_equal(sim_outcome(s, &e), SIM_OK);
}

static unsigned char *observed_of(struct sim *s)
{
    struct err e = {0};
    unsigned char *out = xcalloc(1, model_observed_bytes(s->model));
    assert_int_equal(sim_observe_read(s, 0, out, &e), 0);
    return out;
}

static int64_t frames_in(const unsigned char *observed)
{
    struct observed head;
    memcpy(&head, observed, sizeof head);
    return head.frames;
}

/* The number of frames says in which window they were seen. Windows are on the devices by turns. */
static void see_some(struct toy *t, int devices, struct sim **sim)
{
    for (int w = 0; w < PLACES; w++) {
        sim[w] = toy_replica(&t[w % devices], w, (uint32_t)w);
        for (int n = 0; n <= w; n++) {
            toy_run(sim[w], SIM_STEP, 2);
            toy_run(sim[w], SIM_OBSERVE, 1);
        }
    }
}

/* What each simulation has seen after places were changed, and one more frame. */
static void change_places(struct kernel_table kernels, const struct system *sys, bool late, int devices,
                          unsigned char *seen[PLACES])
{
    const struct settings set = settings();
    struct toy t[DEVICES];
    struct sim *sim[PLACES];
    struct err e = {0};
    for (int i = 0; i < devices; i++)
        t[i] = open_on(kernels, sys, &set);
    see_some(t, devices, sim);
    if (late)
        for (int w = 0; w < PLACES; w++)
            if (w == 0 || w == 3) /* those that lead */
                delay(sim[w]);
    assert_int_equal(sim_hand_observed(sim, from, PLACES, &e), 0);
    for (int w = 0; w < PLACES; w++) {
        if (!late)
            free(observed_of(sim[w])); /* waits */
        sim_place(sim[from[w]], w, (uint32_t)from[w]);
        assert_int_equal(sim_submit(sim[from[w]], SIM_OBSERVE, 1, &e), 0);
    }
    for (int w = 0; w < PLACES; w++) {
        finish(&t[w % devices], sim[w]);
        seen[w] = observed_of(sim[w]);
        assert_int_equal(sim_heard(sim[from[w]])->ctl.window, w);
    }
    for (int w = 0; w < PLACES; w++)
        sim_free(sim[w]);
    for (int i = 0; i < devices; i++)
        toy_close(&t[i]);
}

static void places(struct kernel_table kernels)
{
    struct system *sys = observed_mixture();
    unsigned char *waits[PLACES], *late[PLACES], *apart[PLACES];
    change_places(kernels, sys, false, 1, waits);
    change_places(kernels, sys, true, 1, late);
    change_places(kernels, sys, true, DEVICES, apart);
    for (int w = 0; w < PLACES; w++) {
        assert_int_equal(frames_in(waits[from[w]]), w + 1 + 1);
        assert_memory_equal(waits[w], late[w], observe_bytes(&sys->observables[0]));
        assert_memory_equal(waits[w], apart[w], observe_bytes(&sys->observables[0]));
    }
    for (int w = 0; w < PLACES; w++) {
        free(waits[w]);
        free(late[w]);
        free(apart[w]);
    }
    toy_system_free(sys);
}

static void test_places(void **state)
{
    places(*cpu_program.kernels);
}

static void test_places_cuda(void **state)
{
    places(*cuda_program.kernels);
}

/* Positions after a list grew and some steps more; the new memory is filled late, or before anything else. */
static double (*grown(const struct system *sys, bool late))[3]
{
    const struct settings set = settings();
    struct toy t = open_on(*cpu_program.kernels, sys, &set);
    struct err e = {0};
    double(*x)[3] = xcalloc((size_t)sys->natoms, sizeof *x);
    t.sim = toy_replica(&t, 1, 1);
    t.sim->caps.entries = 8;
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 5, &e), 0);
    assert_int_equal(sim_wait(t.sim, &e), 0);
    if (late)
        delay(t.sim);
    int rc = sim_outcome(t.sim, &e);
    assert_int_equal(rc, SIM_GROW);
    toy_run(t.sim, SIM_STEP, 5 - sim_steps_done(t.sim));
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    toy_close(&t);
    return x;
}

static void test_growth(void **state)
{
    struct system *sys = mixture(2);
    double(*soon)[3] = grown(sys, false), (*late)[3] = grown(sys, true);
    assert_memory_equal(soon, late, (size_t)sys->natoms * sizeof *soon);
    free(soon);
    free(late);
    toy_system_free(sys);
}

/* A chain of six. */
static struct system *tiny_system(void)
{
    struct system *s = mixture(2);
    int kept = 0;
    s->natoms = 6;
    s->nmolecules = s->atoms[5].molecule + 1;
    for (int k = 0; k < s->nconnections; k++)
        if (s->connections[k].atom[1] < 6)
            s->connections[kept++] = s->connections[k];
    s->nconnections = kept;
    return s;
}

/* With other noise from the second launch on. */
static void salted(const struct system *sys, bool late, double (*x)[3])
{
    const struct settings set = settings();
    struct toy t = open_on(*cuda_program.kernels, sys, &set);
    struct err e = {0};
    t.sim = toy_replica(&t, 0, 0);
    assert_non_null(t.sim->gang.gang);
    toy_run(t.sim, SIM_STEP, 3);
    if (late)
        delay(t.sim);
    sim_salt(t.sim, 77);
    toy_run(t.sim, SIM_STEP, 3);
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    toy_close(&t);
}

static void test_gang(void **state)
{
    struct system *sys = tiny_system();
    double soon[6][3], late[6][3];
    salted(sys, false, soon);
    salted(sys, true, late);
    assert_memory_equal(soon, late, sizeof soon);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_places_cuda),
                                       cmocka_unit_test(test_growth), cmocka_unit_test(test_gang)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
