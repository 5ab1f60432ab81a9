/* SPDX-License-Identifier: Apache-2.0
 *
 * Damage of read-only tables is found wherever it is, on the CPU device and by the CUDA program, run on the CPU: by
 * replicas that have work queued, too, which wait for no answer.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/math/digest.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

enum { WINDOWS = 3, CHECK_EVERY = 20, BATCH = 5 };

static double lambda_table[WINDOWS][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 0.3}, {[LAMBDA_VDW] = 0.7}};

static struct settings settings(void)
{
    struct settings set = toy_settings();
    set.check_every = CHECK_EVERY;
    set.alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, lambda_table);
    return set;
}

/* The device's memory is the host's. */
static unsigned char *memory_of(const struct readonly *r)
{
    return (unsigned char *)(uintptr_t)r->span.start;
}

/* Whether tables are as they were, of a model that forgets what was found before. */
static int look(struct toy *t, struct err *e)
{
    t->model->damage = (struct err){0};
    return tables_check(t->sim, e);
}

static void flip(struct toy *t, const struct readonly *r, size_t at, unsigned char bits)
{
    struct err e = {0};
    memory_of(r)[at] ^= bits;
    assert_int_equal(look(t, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "; 1 byte of all tables differs"));
    memory_of(r)[at] ^= bits;
}

static void swap_words(const struct readonly *r, size_t i, size_t j)
{
    uint64_t *words = (uint64_t *)memory_of(r), was = words[i];
    words[i] = words[j];
    words[j] = was;
}

/* Another order of the same words. */
static void change_places(struct toy *t, const struct readonly *r)
{
    struct err e = {0};
    const uint64_t *words = (const uint64_t *)memory_of(r);
    int changed = 0;
    for (size_t i = 1; i < readonly_words(r); i += 1 + readonly_words(r) / 100) {
        if (words[i] == words[i - 1])
            continue;
        swap_words(r, i, i - 1);
        assert_int_equal(look(t, &e), -ERR_DRIFT);
        swap_words(r, i, i - 1);
        changed++;
    }
    assert_true(changed > 2);
}

static void damage_everywhere(struct toy *t, const struct readonly *r)
{
    struct err e = {0};
    for (size_t i = 0; i < r->nparts; i++) {
        flip(t, r, r->parts[i].at, 0x80);
        flip(t, r, r->parts[i].at + r->parts[i].bytes - 1, 1);
    }
    flip(t, r, r->span.bytes - 1, 0xff);
    for (size_t at = 3; at < r->span.bytes; at += 1 + r->span.bytes / 50)
        flip(t, r, at, (unsigned char)(1u << at % 8));
    change_places(t, r);
    assert_int_equal(look(t, &e), 0);
}

/* It was there when the device looked, and not when the host did. */
static void damage_that_passes(struct toy *t, const struct readonly *r)
{
    struct err e = {0};
    memory_of(r)[0] ^= 1;
    assert_int_equal(tables_ask(t->sim, &e), 0);
    while (!mark_passed(&t->sim->tables.answered))
        assert_int_equal(t->dev->ops->poll(t->dev, 1, &e), 0);
    memory_of(r)[0] ^= 1;
    assert_int_equal(look(t, &e), -ERR_DRIFT);
    assert_non_null(
        strstr(e.msg, "read back correctly now, as after a transient memory error: the digest of chunk 0 of "));
}

static void anywhere(struct kernel_table kernels)
{
    struct system *sys = mixture(3);
    const struct settings set = settings();
    struct err e = {0};
    struct toy t = toy_emulated(kernels, NULL, sys, &set, 1);
    const struct readonly *nonbonded = t.model->program->nonbonded_tables(t.model->nonbonded);
    assert_true(model_chunks(t.model) > 2); /* more than one of each */
    assert_int_equal(look(&t, &e), 0);
    damage_everywhere(&t, &t.model->shared);
    damage_everywhere(&t, nonbonded);
    damage_that_passes(&t, nonbonded);
    toy_close(&t);
    toy_system_free(sys);
}

static void hear_one(struct toy *t, int *rc, struct err *e)
{
    while (!sim_done(t->sim))
        assert_int_equal(t->dev->ops->poll(t->dev, 100, e), 0);
    *rc = sim_outcome(t->sim, e);
}

/* In the replica's lane, behind what is queued there: a row of the ladder that steps do not read. */
static void plant(struct toy *t, void *byte, struct err *e)
{
    unsigned char *at = memory_of(&t->model->shared) + sizeof lambda_table - 1;
    assert_int_equal(t->dev->ops->copy_async(t->dev, t->sim->lane, at, byte, 1, e), 0);
}

/* Steps until something is wrong, with as many queued as there is room for; damage comes when `plant_at` of them are on
 * their way. Returns how many were submitted. */
static uint64_t march(struct toy *t, uint64_t plant_at, void *byte, int *most, struct err *e)
{
    int rc = 0, ahead = 0;
    const uint64_t *steps = &t->sim->clock.steps;
    for (*most = 0; !rc && *steps < plant_at + 10 * CHECK_EVERY;) {
        while (!rc && sim_room(t->sim)) {
            const uint64_t before = *steps;
            rc = sim_submit(t->sim, SIM_STEP, BATCH, e);
            ahead++;
            if (before < plant_at && *steps >= plant_at)
                plant(t, byte, e);
        }
        *most = ahead > *most ? ahead : *most;
        if (!rc)
            hear_one(t, &rc, e);
        ahead--;
        if (rc == SIM_GROW)
            rc = ahead = 0;
    }
    assert_int_equal(rc, -ERR_DRIFT);
    return *steps;
}

static void behind_the_queue(struct kernel_table kernels)
{
    struct system *sys = mixture(2);
    const struct settings set = settings();
    struct err e = {0};
    struct toy t = toy_emulated(kernels, NULL, sys, &set, 1);
    void *device, *byte;
    int most;
    assert_int_equal(t.dev->ops->alloc(t.dev, NULL, DEV_MAPPED, 1, &device, &byte, &e), 0);
    *(unsigned char *)byte = 0x40;
    const uint64_t planted = CHECK_EVERY + 10, found = march(&t, planted, device, &most, &e);
    assert_non_null(strstr(e.msg, "lambda, byte "));
    assert_int_equal(most, SIM_REPORTS - 1);
    assert_in_range(found, planted, planted + CHECK_EVERY + SIM_REPORTS * (BATCH + 3)); /* reports are counted, too */
    t.dev->ops->free(t.dev, DEV_MAPPED, device);
    toy_close(&t);
    toy_system_free(sys);
}

static void test_anywhere(void **state)
{
    anywhere(*cpu_program.kernels);
}

static void test_anywhere_cuda(void **state)
{
    anywhere(*cuda_program.kernels);
}

static void test_behind_the_queue(void **state)
{
    behind_the_queue(*cpu_program.kernels);
}

static void test_behind_the_queue_cuda(void **state)
{
    behind_the_queue(*cuda_program.kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_anywhere), cmocka_unit_test(test_anywhere_cuda),
                                       cmocka_unit_test(test_behind_the_queue),
                                       cmocka_unit_test(test_behind_the_queue_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
