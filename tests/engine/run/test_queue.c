/* SPDX-License-Identifier: Apache-2.0
 *
 * Work queued behind work that is not done yet: each piece has the outcome that it has when it is waited for before the
 * next is submitted, also where a list has to grow in between. Nothing is queued where lanes would hold up one another.
 * On the CPU device and by the CUDA program, run on the CPU.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

enum { WORKS = 12, WINDOWS = 3 };

/* In turn: steps, a sample, a volume move. */
static const enum sim_work kinds[] = {SIM_STEP, SIM_SAMPLE, SIM_BAROSTAT};
static const uint32_t counts[] = {7, 1, 1};

static double lambda_table[WINDOWS][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 0.3}, {[LAMBDA_VDW] = 0.7}};

struct run {
    struct sample samples[WORKS];
    double delta_u[WORKS][WINDOWS];
    int grown, most; /* lists; works on their way */
};

static void until_done(const struct toy *t)
{
    struct err e = {0};
    while (!sim_done(t->sim)) {
        engine_flush(t->dev);
        assert_int_equal(t->dev->ops->poll(t->dev, 100, &e), 0);
    }
}

/* All works in order, with at most `ahead` on their way. */
static void carry_out(struct toy *t, int ahead, struct run *out)
{
    struct err e = {0};
    uint32_t left[WORKS];
    int submitted = 0;
    for (int k = 0; k < WORKS; k++)
        left[k] = counts[k % 3];
    for (int heard = 0; heard < WORKS;) {
        for (; submitted < WORKS && submitted - heard < ahead && sim_room(t->sim); submitted++)
            assert_int_equal(sim_submit(t->sim, kinds[submitted % 3], left[submitted], &e), 0);
        out->most = submitted - heard > out->most ? submitted - heard : out->most;
        until_done(t);
        int rc = sim_outcome(t->sim, &e);
        if (rc < 0)
            fail_msg("%s", e.msg);
        if (rc == SIM_GROW) {
            left[heard] -= kinds[heard % 3] == SIM_STEP ? sim_steps_done(t->sim) : 0;
            out->grown++;
            submitted = heard;
            continue;
        }
        out->samples[heard].delta_u = out->delta_u[heard];
        if (kinds[heard % 3] == SIM_SAMPLE)
            sim_sample(t->sim, &out->samples[heard]);
        heard++;
    }
}

static struct run run(struct kernel_table kernels, const struct system *sys, int ahead, bool short_lists, bool crowded,
                      double (*x)[3])
{
    struct settings set = toy_settings();
    struct err e = {0};
    struct run out = {0};
    set.barostat.on = true;
    set.alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, lambda_table);
    struct toy t = toy_emulated(kernels, NULL, sys, &set, 1);
    if (short_lists)
        t.sim->caps.entries = 8;
    t.dev->limits.queues = t.dev->lanes;
    struct sim *other = crowded ? toy_replica(&t, 0, 1) : NULL;
    carry_out(&t, ahead, &out);
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    sim_free(other);
    toy_close(&t);
    return out;
}

/* In kg/m^3: 1 u is 1.66053906660e-27 kg. */
static void check_density(const struct system *sys, const struct sample *s)
{
    double mass = 0;
    for (int i = 0; i < sys->natoms; i++)
        mass += sys->atoms[i].mass[0];
    mass *= 1.66053906660e-27;
    assert_true(fabs(s->density * s->box[0] * s->box[1] * s->box[2] * 1e-27 - mass) < 1e-12 * mass);
}

static void same(const struct run *a, const struct run *b)
{
    for (int k = 1; k < WORKS; k += 3) {
        const struct sample *p = &a->samples[k], *q = &b->samples[k];
        assert_true(p->potential != 0);
        assert_int_equal(p->step, q->step);
        assert_memory_equal(p->energy, q->energy, sizeof p->energy);
        assert_memory_equal(a->delta_u[k], b->delta_u[k], sizeof a->delta_u[k]);
    }
}

static void check(struct kernel_table kernels)
{
    struct system *sys = mixture(2);
    const size_t n = (size_t)sys->natoms;
    double(*one)[3] = xcalloc(n, sizeof *one), (*many)[3] = xcalloc(n, sizeof *many);
    const struct run waits = run(kernels, sys, 1, false, false, one),
                     crowded = run(kernels, sys, WORKS, false, true, many);
    assert_int_equal(crowded.most, 1);
    same(&waits, &crowded);
    check_density(sys, &waits.samples[1]);
    for (int grows = 0; grows < 2; grows++) {
        const struct run queued = run(kernels, sys, WORKS, grows, false, many);
        assert_int_equal(queued.most, SIM_REPORTS - 1);
        assert_int_equal(queued.grown > 0, grows);
        same(&waits, &queued);
        assert_memory_equal(one, many, n * sizeof *one);
    }
    free(one);
    free(many);
    toy_system_free(sys);
}

static void test_cpu_device(void **state)
{
    check(*cpu_program.kernels);
}

static void test_cuda_program(void **state)
{
    check(*cuda_program.kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu_device), cmocka_unit_test(test_cuda_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
