/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches of a water among others: what must not change any bit of a switch, or of production around
 * it; and what is refused.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/mixture.h"
#include "tests/physics/switch_play.h"

enum { WINDOWS = 3, CHANGES = 4, EVERY = 4, STEPS = CHANGES * EVERY };

static struct system *sys;

static double ladder[WINDOWS][LAMBDA_COUNT] = {{0}, {1, 0.3, 0.5}, {1, 1, 1}};

static struct settings moving(void)
{
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.com_every = 7;
    set.integrator.friction = 5;
    set.barostat.on = true;
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.55;
    set.nonbonded.vdw_switch = 0.45;
    set.nonbonded.list_buffer = 0.02; /* lists that are soon made anew */
    set.alchemy = mixture_alchemy(ALCHEMY_B_STATES, WINDOWS, ladder);
    set.switching = (struct switch_settings){.changes = CHANGES, .every = EVERY};
    return set;
}

static int set_up(void **state)
{
    struct settings set = moving();
    sys = toy_water(4);
    for (int i = 0; i < 3; i++) { /* a water that vanishes */
        sys->atoms[i].charge[1] = 0;
        sys->atoms[i].type[1] = 1;
    }
    toy_settle(sys, &set, 100);
    return 0;
}

static int tear_down(void **state)
{
    toy_system_free(sys);
    return 0;
}

static struct toy start(const struct settings *set)
{
    struct toy t = toy_open(sys, set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    return t;
}

static void save(struct sim *s, struct buf *out)
{
    struct err e = {0};
    if (sim_save(s, out, &e))
        fail_msg("%s", e.msg);
    sim_seal(out);
}

/* What a state and a work come to. */
struct ended {
    double work;
    struct buf state;
};

static void same(struct ended *a, struct ended *b)
{
    assert_true(a->work == b->work);
    assert_int_equal(a->state.len, b->state.len);
    assert_memory_equal(a->state.data, b->state.data, a->state.len);
}

static void ended_free(struct ended *a)
{
    buf_free(&a->state);
}

static void begin(struct sim *s, uint32_t number)
{
    struct err e = {0};
    if (sim_switch_begin(s, SWITCH_FORWARD, 0, number, &e))
        fail_msg("%s", e.msg);
}

static void end(struct sim *s)
{
    struct err e = {0};
    assert_int_equal(sim_switch_end(s, &e), 0);
}

/* Production, a switch to its end, and how that ended. */
static struct ended whole(struct sim *s, uint32_t number)
{
    struct ended out = {0};
    toy_run(s, SIM_STEP, 8);
    begin(s, number);
    out.work = switch_to_end(s);
    save(s, &out.state);
    return out;
}

/* Production goes on as if there had been no switch: some that are left in their course, one that goes on beyond its
 * end, with volume moves. */
static void test_production(void **state)
{
    const struct settings set = moving();
    struct ended without = {0}, with = {0};
    struct toy t = start(&set);
    struct sim *other = toy_replica(&t, 0, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(other, &e), 0);
    for (uint32_t k = 0; k < 3; k++) {
        toy_run(t.sim, SIM_STEP, 12);
        toy_run(t.sim, SIM_BAROSTAT, 1);
        toy_run(other, SIM_STEP, 12);
        toy_run(other, SIM_BAROSTAT, 1);
        begin(other, k);
        toy_run(other, SIM_SWITCH, k * STEPS / 2 + EVERY);
        toy_run(other, SIM_BAROSTAT, 3);
        end(other);
    }
    toy_run(t.sim, SIM_STEP, 8);
    toy_run(other, SIM_STEP, 8);
    save(t.sim, &without.state);
    save(other, &with.state);
    same(&without, &with);
    ended_free(&without);
    ended_free(&with);
    sim_free(other);
    toy_close(&t);
}

/* A number is a switch: the same again is the same, another goes another way, and so does the way back. */
static void test_numbers(void **state)
{
    const struct settings set = moving();
    struct toy t = start(&set);
    const double first = switch_work(t.sim, SWITCH_FORWARD, 5), again = switch_work(t.sim, SWITCH_FORWARD, 5);
    assert_true(first == again);
    assert_true(switch_work(t.sim, SWITCH_FORWARD, 6) != first);
    begin(t.sim, 5);
    toy_run(t.sim, SIM_SWITCH, 6);
    const struct sim_switch at = sim_switch(t.sim);
    assert_true(at.under_way && at.way == SWITCH_FORWARD && at.number == 5 && at.steps == 6 && at.work != 0);
    assert_int_equal(at.steps_left, STEPS - 6);
    end(t.sim);
    assert_false(sim_switch(t.sim).under_way);
    sim_salt(t.sim, 1);
    const double salted = switch_work(t.sim, SWITCH_FORWARD, 5);
    assert_true(salted != first);
    sim_salt(t.sim, 0);
    begin(t.sim, 5);
    sim_salt(t.sim, 1); /* from within */
    assert_true(switch_to_end(t.sim) == salted);
    end(t.sim);
    sim_salt(t.sim, 0);
    assert_true(switch_work(t.sim, SWITCH_FORWARD, 5) == first);
    toy_close(&t);
}

/* As the device of toy_open, with a suffix to its name. */
static struct ended on_device(const char *suffix)
{
    const struct settings set = moving();
    const char *device = getenv("SHOAL_TEST_DEVICE");
    char name[64], before[64];
    snprintf(before, sizeof before, "%s", device ? device : "cpu:2");
    snprintf(name, sizeof name, "%s%s", before, suffix);
    setenv("SHOAL_TEST_DEVICE", name, 1);
    struct toy t = start(&set);
    struct ended out = whole(t.sim, 3);
    toy_close(&t);
    setenv("SHOAL_TEST_DEVICE", before, 1);
    return out;
}

/* Without graphs, with others on the device: the same. */
static void test_devices(void **state)
{
    const struct settings set = moving();
    struct ended graphs = on_device(""), eager = on_device(":eager");
    struct toy t = start(&set);
    struct sim *other = toy_replica(&t, 0, 9);
    struct err e = {0};
    assert_int_equal(sim_thermalize(other, &e), 0);
    struct ended packed = {0};
    toy_run(t.sim, SIM_STEP, 8);
    begin(t.sim, 3);
    for (int k = 0; k < CHANGES; k++) {
        assert_int_equal(sim_submit(other, SIM_STEP, EVERY, &e), 0);
        toy_run(t.sim, SIM_SWITCH, EVERY);
        assert_int_equal(sim_wait(other, &e), 0);
        assert_int_equal(sim_outcome(other, &e), SIM_OK);
    }
    packed.work = sim_switch(t.sim).work;
    save(t.sim, &packed.state);
    same(&graphs, &eager);
    same(&graphs, &packed);
    ended_free(&graphs);
    ended_free(&eager);
    ended_free(&packed);
    sim_free(other);
    toy_close(&t);
}

/* One that is longer goes on as long from a state that was saved within it; the settings say how long at most. */
static void test_saved_longer(void **state)
{
    struct settings set = moving();
    set.switching.doublings = 2;
    struct toy t = start(&set);
    struct sim *other = toy_replica(&t, 0, 0);
    struct buf saved = {0};
    struct err e = {0};
    const double plain = switch_work(t.sim, SWITCH_FORWARD, 2),
                 longest = switch_work_longer(t.sim, SWITCH_FORWARD, 2, 2);
    assert_true(plain != longest);
    assert_int_equal(sim_switch_begin(t.sim, SWITCH_FORWARD, 2, 2, &e), 0);
    assert_int_equal(sim_switch(t.sim).steps_left, 4 * STEPS);
    toy_run(t.sim, SIM_SWITCH, STEPS + EVERY);
    save(t.sim, &saved);
    assert_int_equal(sim_load(other, saved.data, saved.len, &e), 0);
    assert_int_equal(sim_switch(other).steps_left, 3 * STEPS - EVERY);
    assert_true(switch_to_end(other) == longest);
    end(other);
    assert_int_equal(sim_switch_begin(other, SWITCH_FORWARD, 3, 2, &e), -ERR_INTERNAL);
    struct toy shorter;
    set.switching.doublings = 1;
    shorter = start(&set);
    assert_int_equal(sim_load(shorter.sim, saved.data, saved.len, &e), -ERR_CHECKPOINT);
    toy_close(&shorter);
    buf_free(&saved);
    sim_free(other);
    toy_close(&t);
}

/* Saved at any timestep, and gone on from there in a replica that was elsewhere: the same work, and the same end; and
 * so does production behind it. */
static void test_saved(void **state)
{
    const struct settings set = moving();
    struct toy t = start(&set);
    struct ended wanted = whole(t.sim, 2), after = {0};
    end(t.sim);
    toy_run(t.sim, SIM_STEP, 8);
    save(t.sim, &after.state);
    for (uint32_t steps = 0; steps <= STEPS; steps += 5 * (uint32_t)toy_every()) {
        struct toy u = start(&set);
        struct buf saved = {0};
        struct err e = {0};
        struct ended got = {0}, behind = {0};
        toy_run(u.sim, SIM_STEP, 8);
        begin(u.sim, 2);
        if (steps)
            toy_run(u.sim, SIM_SWITCH, steps);
        save(u.sim, &saved);
        assert_int_equal(sim_saved_moves(saved.data, saved.len).tried, 0);
        struct sim *other = toy_replica(&u, 0, 0);
        toy_run(other, SIM_STEP, 4);
        if (sim_load(other, saved.data, saved.len, &e))
            fail_msg("%s", e.msg);
        assert_int_equal(sim_switch(other).steps, steps);
        if (steps < STEPS)
            switch_to_end(other);
        got.work = sim_switch(other).work;
        save(other, &got.state);
        same(&wanted, &got);
        end(other);
        toy_run(other, SIM_STEP, 8);
        save(other, &behind.state);
        same(&after, &behind);
        buf_free(&saved);
        ended_free(&got);
        ended_free(&behind);
        sim_free(other);
        toy_close(&u);
    }
    ended_free(&wanted);
    ended_free(&after);
    toy_close(&t);
}

/* A state of production ends the switch of the replica that loads it. */
static void test_loaded_over(void **state)
{
    const struct settings set = moving();
    struct toy t = start(&set);
    struct ended before = {0}, after = {0};
    struct err e = {0};
    save(t.sim, &before.state);
    begin(t.sim, 1);
    toy_run(t.sim, SIM_SWITCH, 9);
    assert_int_equal(sim_load(t.sim, before.state.data, before.state.len, &e), 0);
    assert_false(sim_switch(t.sim).under_way);
    save(t.sim, &after.state);
    same(&before, &after);
    struct sim *other = toy_replica(&t, 0, 0);
    assert_int_equal(sim_load(other, before.state.data, before.state.len, &e), 0);
    toy_run(t.sim, SIM_STEP, 8);
    toy_run(other, SIM_STEP, 8);
    ended_free(&before);
    ended_free(&after);
    save(t.sim, &before.state);
    save(other, &after.state);
    same(&before, &after);
    ended_free(&before);
    ended_free(&after);
    sim_free(other);
    toy_close(&t);
}

/* A list becomes too short in the middle of a switch, of a cycle of the mesh and of the evaluation of a change. */
static void test_grown(void **state)
{
    struct settings set = moving();
    set.integrator.mesh_every = 2;
    set.nonbonded.list_buffer = 0.05; /* lists that hold for some steps */
    struct toy t = start(&set);
    struct ended wanted = whole(t.sim, 4);
    int grown = 0, within = 0;
    for (uint32_t steps = 0; steps < STEPS; steps += 2 * (uint32_t)toy_every()) {
        struct toy u = start(&set);
        struct err e = {0};
        struct ended got = {0};
        toy_run(u.sim, SIM_STEP, 8);
        begin(u.sim, 4);
        if (steps)
            toy_run(u.sim, SIM_SWITCH, steps);
        u.sim->caps.pairs = 16; /* of tapes from here on, so a new epoch */
        sim_begin_epoch(u.sim);
        for (uint32_t left = STEPS - steps; left; left -= sim_steps_done(u.sim)) {
            assert_int_equal(sim_submit(u.sim, SIM_SWITCH, left, &e), 0);
            assert_int_equal(sim_wait(u.sim, &e), 0);
            const int rc = sim_outcome(u.sim, &e);
            assert_true(rc == SIM_OK || rc == SIM_GROW);
            grown += rc == SIM_GROW;
            within += sim_steps_done(u.sim) % 2 != 0;
        }
        got.work = sim_switch(u.sim).work;
        save(u.sim, &got.state);
        same(&wanted, &got);
        ended_free(&got);
        toy_close(&u);
    }
    print_message("grown %d times, %d within a cycle\n", grown, within);
    assert_true(grown > 0);
    assert_true(within > 0 || toy_every() > 1);
    ended_free(&wanted);
    toy_close(&t);
}

/* ---- what is refused ---- */

static void refused(const struct system *s, const struct settings *set, enum err_code code, const char *text)
{
    struct toy t = toy_open(
        sys, &(struct settings){.integrator = set->integrator, .nonbonded = set->nonbonded, .alchemy = {.nwindows = 1}},
        0);
    struct model *m;
    struct err e = {0};
    assert_int_equal(model_new(&m, t.dev, s, set, &e), -(int)code);
    if (!strstr(e.msg, text))
        fail_msg("%s: expected \"%s\"", e.msg, text);
    toy_close(&t);
}

static void test_refused_models(void **state)
{
    static double masses[2][LAMBDA_COUNT] = {{0}, {0, 0, 0, 1}};
    struct settings set = moving();
    set.switching.every = 1;
    refused(sys, &set, ERR_SPEC, "a multiple of 1, at least 2");
    set.integrator.mesh_every = 2;
    set.switching.every = 5;
    refused(sys, &set, ERR_SPEC, "a multiple of 2, at least 4");
    set = moving();
    set.alchemy.nwindows = 1;
    refused(sys, &set, ERR_SPEC, "two ends");
    set = moving();
    set.switching.changes = WINDOWS - 2;
    refused(sys, &set, ERR_SPEC, "1 changes of lambda from window 0 to 2: expected 2 at least");
    set = moving();
    set.form = FORM_GANG;
    refused(sys, &set, ERR_UNSUPPORTED, "gang");
    struct system *other = mixture(2);
    other->atoms[3].mass[1] = 14;
    set = moving();
    set.alchemy.lambda = masses;
    set.alchemy.nwindows = 2;
    refused(other, &set, ERR_UNSUPPORTED, "the mass of atom 4 (X) goes from 12 to 14 u");
    toy_add(other, bonds, nbonds, (struct bond){{0, 1}, {0.10, 0.14}, {2e4, 1e4}});
    set = moving();
    set.constrain = CONSTRAIN_ALL_BONDS;
    refused(other, &set, ERR_UNSUPPORTED, "switches need one length");
    toy_system_free(other);
}

static void test_refused_work(void **state)
{
    struct settings set = moving();
    struct toy t = start(&set);
    struct err e = {0};
    assert_int_equal(sim_switch_begin(t.sim, SWITCH_BACKWARD, 0, 0, &e), -ERR_INTERNAL);
    assert_int_equal(sim_switch_end(t.sim, &e), -ERR_INTERNAL);
    begin(t.sim, 0);
    assert_int_equal(sim_switch_begin(t.sim, SWITCH_FORWARD, 0, 1, &e), -ERR_INTERNAL);
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 4, &e), -ERR_INTERNAL);
    toy_close(&t);
    t = start(&set);
    assert_int_equal(sim_submit(t.sim, SIM_SWITCH, 4, &e), -ERR_INTERNAL);
    toy_close(&t);
    set.switching.changes = 0;
    t = start(&set);
    assert_int_equal(sim_switch_begin(t.sim, SWITCH_FORWARD, 0, 0, &e), -ERR_INTERNAL);
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_production), cmocka_unit_test(test_numbers),        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_saved),      cmocka_unit_test(test_saved_longer),   cmocka_unit_test(test_loaded_over),
        cmocka_unit_test(test_grown),      cmocka_unit_test(test_refused_models), cmocka_unit_test(test_refused_work),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
