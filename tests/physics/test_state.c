/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica's bits: the same eager or replayed, in one go or in pieces, interrupted and loaded into a fresh replica, with or
 * without samples in between. Water that starts from a lattice, so that lists are rebuilt often.
 */
#undef NDEBUG
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/model.h"
#include "tests/lib/toy.h"

static struct system *water;

struct final {
    struct buf state;
    double box[BOX_SIZE];
};

static struct settings water_settings(enum integrator kind)
{
    struct settings set = toy_settings();
    set.integrator.kind = kind;
    set.integrator.timestep = 0.002;
    set.integrator.com_every = 7;
    set.barostat.on = true;
    return set;
}

/* A blob of the state, then the next energies: they must agree too. */
static void finish(struct sim *s, struct final *out)
{
    struct err e = {0};
    double du;
    assert_int_equal(sim_save(s, &out->state, &e), 0);
    sim_seal(&out->state);
    struct sample a = toy_sample(s, &du);
    memcpy(out->box, a.box, sizeof out->box);
    buf_add(&out->state, &a.potential, sizeof a.potential);
    buf_add(&out->state, &a.kinetic, sizeof a.kinetic);
    buf_add(&out->state, a.virial, sizeof a.virial);
}

/* `steps` timesteps in submits of `piece`, a volume move after every 10 steps if asked for. */
static void march(struct sim *s, int from, int to, int piece, bool npt)
{
    for (int i = from; i < to; i += piece) {
        toy_run(s, SIM_STEP, (uint32_t)piece);
        if (npt && (i + piece) % 10 == 0)
            toy_run(s, SIM_BAROSTAT, 1);
    }
}

static struct toy start(const struct settings *set)
{
    struct toy t = toy_open(water, set, 0);
    struct err e = {0};
    sim_minimize_setup(t.sim, 100);
    toy_run(t.sim, SIM_MINIMIZE, 10);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    return t;
}

static void same(const struct final *a, const struct final *b)
{
    assert_int_equal(a->state.len, b->state.len);
    assert_memory_equal(a->state.data, b->state.data, a->state.len);
    assert_memory_equal(a->box, b->box, sizeof a->box);
}

static void check_restart(struct settings set, bool npt)
{
    struct settings eager = set;
    struct final whole = {0}, pieces = {0}, resumed = {0}, sampled = {0};
    struct toy t = start(&set);
    march(t.sim, 0, 60, 10, npt);
    finish(t.sim, &whole);
    toy_close(&t);

    eager.check_every = 1; /* a fresh tape each step */
    t = start(&eager);
    march(t.sim, 0, 60, 5, npt);
    finish(t.sim, &pieces);
    same(&whole, &pieces);
    toy_close(&t);

    struct err e = {0};
    struct buf blob = {0};
    t = start(&set);
    march(t.sim, 0, 30, 2, npt);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(water, &set, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    assert_int_equal(sim_step_number(t.sim), 30);
    march(t.sim, 30, 60, 1, npt);
    finish(t.sim, &resumed);
    same(&whole, &resumed);
    toy_close(&t);

    /* the saved count of tapes differs by the samples, what follows from x and v does not */
    double du;
    t = start(&set);
    for (int i = 0; i < 60; i += 10) {
        march(t.sim, i, i + 10, 5, npt);
        toy_sample(t.sim, &du);
    }
    finish(t.sim, &sampled);
    assert_memory_equal(whole.state.data + whole.state.len - 11 * sizeof(double),
                        sampled.state.data + sampled.state.len - 11 * sizeof(double), 11 * sizeof(double));
    toy_close(&t);
    buf_free(&blob);
    buf_free(&whole.state);
    buf_free(&pieces.state);
    buf_free(&resumed.state);
    buf_free(&sampled.state);
}

static void test_langevin(void **state)
{
    check_restart(water_settings(INTEGRATOR_LANGEVIN_MIDDLE), false);
}

static void test_langevin_npt(void **state)
{
    check_restart(water_settings(INTEGRATOR_LANGEVIN_MIDDLE), true);
}

/* Lists that were built in a box of another shape. */
static void test_shapes(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    for (set.barostat.coupling = VOLUME_SEMI_ISOTROPIC; set.barostat.coupling <= VOLUME_ANISOTROPIC;
         set.barostat.coupling++)
        if (!toy_refuses(water, &set))
            check_restart(set, true);
}

/* A state of the version before, which had no counts of volume moves: none are known, all else is the same. */
static void test_uncounted(void **state)
{
    enum { VERSION_AT = 8, COUNTS_AT = 152, COUNTS = 16 };
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct buf now = {0}, before = {0}, again = {0};
    struct err e = {0};
    struct toy t = start(&set);
    march(t.sim, 0, 20, 10, true);
    assert_int_equal(sim_save(t.sim, &now, &e), 0);
    buf_add(&before, now.data, COUNTS_AT);
    buf_add(&before, now.data + COUNTS_AT + COUNTS, now.len - COUNTS_AT - COUNTS);
    memcpy(before.data + VERSION_AT, (&(uint32_t){3}), sizeof(uint32_t));
    sim_seal(&before);
    assert_int_equal(sim_saved_moves(now.data, now.len).tried, 2);
    assert_int_equal(sim_saved_moves(before.data, before.len).tried, 0);
    struct sim *resumed = toy_replica(&t, 0, 0);
    assert_int_equal(sim_load(resumed, before.data, before.len, &e), 0);
    assert_int_equal(sim_save(resumed, &again, &e), 0);
    memset(now.data + COUNTS_AT, 0, COUNTS);
    assert_int_equal(again.len, now.len);
    assert_memory_equal(again.data, now.data, now.len);
    memcpy(before.data + VERSION_AT, (&(uint32_t){2}), sizeof(uint32_t));
    sim_seal(&before);
    assert_int_equal(sim_load(resumed, before.data, before.len, &e), -ERR_UNSUPPORTED);
    sim_free(resumed);
    toy_close(&t);
    buf_free(&now);
    buf_free(&before);
    buf_free(&again);
}

static void test_verlet(void **state)
{
    check_restart(water_settings(INTEGRATOR_VELOCITY_VERLET), false);
}

/* Minimization too can be interrupted. */
static void test_minimize(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct final whole = {0}, resumed = {0};
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = toy_open(water, &set, 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 30);
    finish(t.sim, &whole);
    toy_close(&t);
    t = toy_open(water, &set, 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 13);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(water, &set, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 17);
    finish(t.sim, &resumed);
    same(&whole, &resumed);
    toy_close(&t);
    buf_free(&blob);
    buf_free(&whole.state);
    buf_free(&resumed.state);
}

/* From one saved state: salt 0 changes nothing, two salts give two ways on, and each of them is exact. */
static void test_salt(void **state)
{
    (void)state;
    static const uint32_t salts[] = {0, 1, 2, 1};
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct final plain = {0}, end[4] = {0};
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = start(&set);
    march(t.sim, 0, 10, 10, false);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    march(t.sim, 10, 20, 10, false);
    finish(t.sim, &plain);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
        sim_salt(t.sim, salts[i]);
        march(t.sim, 10, 20, 10, false);
        finish(t.sim, &end[i]);
    }
    same(&plain, &end[0]);
    same(&end[1], &end[3]);
    assert_memory_not_equal(end[0].state.data, end[1].state.data, end[0].state.len);
    assert_memory_not_equal(end[1].state.data, end[2].state.data, end[1].state.len);
    for (int i = 0; i < 4; i++)
        buf_free(&end[i].state);
    buf_free(&plain.state);
    buf_free(&blob);
    toy_close(&t);
}

/* A state that was fetched is the one that is saved, until there is another. */
static void test_fetched(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct err e = {0};
    struct final plain = {0}, fetched[2] = {0};
    for (int way = 0; way < 3; way++) {
        struct toy t = start(&set);
        for (int half = 0; half < 2; half++) {
            toy_run(t.sim, SIM_STEP, 10);
            if (way == 2 || way == half + 1)
                assert_int_equal(sim_fetch(t.sim, &e), 0);
            while (!sim_done(t.sim))
                assert_int_equal(t.dev->ops->poll(t.dev, 100, &e), 0);
        }
        finish(t.sim, way ? &fetched[way - 1] : &plain);
        toy_close(&t);
    }
    for (int i = 0; i < 2; i++) {
        same(&plain, &fetched[i]);
        buf_free(&fetched[i].state);
    }
    buf_free(&plain.state);
}

/* A mark that is passed at one look and not at the next, whenever that may be. */
static uint64_t flicker, stopped;

static void *flickering(void *arg)
{
    while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
        __atomic_fetch_xor(&flicker, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&flicker, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int flickering_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e)
{
    *out = (struct mark){&flicker, 1};
    return dev->ops->copy(dev, lane, NULL, NULL, 0, e); /* waits for all copies */
}

/* However the end of a copy falls between two looks at it, the last report stays the one that answers are about. */
static void test_end_of_copies(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct toy t = start(&set);
    struct err e = {0};
    struct dev_ops ops = *t.dev->ops;
    const struct dev_ops *theirs = t.dev->ops;
    pthread_t thread;
    double(*x)[3] = xcalloc((size_t)water->natoms, sizeof *x);
    ops.mark = flickering_mark;
    t.dev->ops = &ops;
    assert_int_equal(pthread_create(&thread, NULL, flickering, NULL), 0);
    for (int i = 1; i <= 100; i++) {
        toy_run(t.sim, SIM_STEP, 1);
        for (int k = 0; k < 20; k++) {
            sim_tune_volume(t.sim, true); /* what was fetched before is forgotten */
            assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
            assert_int_equal(sim_step_number(t.sim), i);
        }
    }
    __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    t.dev->ops = theirs;
    free(x);
    toy_close(&t);
}

/* Replicas on one device at the same time do not disturb each other, and differ by their random numbers. */
static void test_neighbours(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct err e = {0};
    struct toy t = toy_open(water, &set, 0);
    struct sim *together[3];
    struct final alone = {0}, among[3] = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 20);
    finish(t.sim, &alone);
    for (int i = 0; i < 3; i++) {
        together[i] = toy_replica(&t, 0, i == 2 ? 1 : 0);
        assert_int_equal(sim_thermalize(together[i], &e), 0);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(sim_submit(together[i], SIM_STEP, 20, &e), 0);
    for (int i = 0; i < 3; i++) {
        finish(together[i], &among[i]);
        sim_free(together[i]);
    }
    same(&alone, &among[0]);
    same(&alone, &among[1]);
    assert_memory_not_equal(alone.state.data, among[2].state.data, alone.state.len);
    toy_close(&t);
    buf_free(&alone.state);
    for (int i = 0; i < 3; i++)
        buf_free(&among[i].state);
}

/* Each window begins at coordinates and in a box of its own, with molecules made whole in that box. */
static void test_starts(void **state)
{
    struct system *two = toy_water(6);
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    double lambda[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 1}};
    struct err e = {0};
    int n = two->natoms;
    set.alchemy.nwindows = two->nstarts = 2;
    set.alchemy.lambda = lambda;
    two->starts = xcalloc(2, sizeof *two->starts);
    for (int w = 0; w < 2; w++) {
        struct start *from = &two->starts[w];
        from->x = xcalloc((size_t)n, sizeof *from->x);
        memcpy(from->box, two->box, sizeof from->box);
        for (int d = 0; d < 3; d++)
            from->box[d] *= w ? 1.02 : 1;
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                from->x[i][d] = two->x[i][d] + 0.01 * w;
        from->x[1][0] += from->box[0]; /* a hydrogen, of a molecule that is whole otherwise */
    }
    two->starts[1].v = xcalloc((size_t)n, sizeof *two->starts[1].v);
    two->starts[1].v[0][2] = 0.25;
    double(*x)[3] = xcalloc((size_t)n, sizeof *x), box[BOX_SIZE];
    for (int w = 0; w < 2; w++) {
        struct toy t = toy_open(two, &set, w);
        assert_int_equal(sim_get(t.sim, x, NULL, box, &e), 0);
        assert_memory_equal(box, two->starts[w].box, sizeof box);
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                assert_true(fabs(x[i][d] - two->x[i][d] - 0.01 * w) < 1e-12);
        double delta_u[2];
        struct sample s = toy_sample(t.sim, delta_u);
        assert_true(w ? s.kinetic > 0 : s.kinetic == 0);
        toy_close(&t);
    }
    free(x);
    toy_system_free(two);
}

/* What a replica of another model goes on from: the same positions and the velocities of that moment, whichever timestep they
 * came by, and no minimization under way. */
static void test_part(void **state)
{
    struct settings set = water_settings(INTEGRATOR_VELOCITY_VERLET), other = set;
    struct err e = {0};
    struct buf blob = {0};
    double du;
    other.integrator.timestep = 0.0005;
    struct toy t = start(&set);
    march(t.sim, 0, 20, 10, false);
    struct sample before = toy_sample(t.sim, &du);
    assert_int_equal(sim_part(t.sim, &e), 0);
    struct sample after = toy_sample(t.sim, &du);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(water, &other, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    assert_int_equal(sim_step_number(t.sim), 20);
    struct sample there = toy_sample(t.sim, &du);
    assert_true(there.potential == before.potential);
    assert_true(fabs(after.kinetic / before.kinetic - 1) < 1e-12);
    assert_true(fabs(there.kinetic / before.kinetic - 1) < 1e-12);
    march(t.sim, 0, 40, 10, false);
    struct sample later = toy_sample(t.sim, &du);
    assert_true(fabs(later.potential + later.kinetic - before.potential - before.kinetic) < 0.01 * before.kinetic);

    sim_minimize_setup(t.sim, 100);
    toy_run(t.sim, SIM_MINIMIZE, 5);
    assert_int_equal(sim_part(t.sim, &e), 0);
    double force, potential;
    assert_false(sim_minimized(t.sim, &force, &potential));
    blob.len = 0;
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    toy_close(&t);
    buf_free(&blob);
}

/* Water in a corner of a large box overflows lists sized for the mean density. The replica grows and its bits do not show
 * it: grown by a sample beforehand, or in the first step. */
static void test_grow(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct system *corner = toy_water(6);
    for (int d = 0; d < 3; d++)
        corner->box[d] *= 2.5;
    struct err e = {0};
    struct final early = {0}, late = {0};
    struct toy t = toy_open(corner, &set, 0);
    assert_int_equal(sim_submit(t.sim, SIM_SAMPLE, 1, &e), 0);
    assert_int_equal(sim_get(t.sim, NULL, NULL, NULL, &e), 0);
    assert_int_equal(sim_outcome(t.sim, &e), SIM_GROW);
    assert_int_equal(sim_steps_done(t.sim), 0);
    double du;
    toy_sample(t.sim, &du);
    march(t.sim, 0, 20, 10, true);
    finish(t.sim, &early);
    toy_close(&t);
    t = toy_open(corner, &set, 0);
    march(t.sim, 0, 20, 10, true);
    finish(t.sim, &late);
    assert_memory_equal(early.state.data + early.state.len - 11 * sizeof(double),
                        late.state.data + late.state.len - 11 * sizeof(double), 11 * sizeof(double));
    assert_memory_equal(early.box, late.box, sizeof early.box);
    toy_close(&t);
    toy_system_free(corner);
    buf_free(&early.state);
    buf_free(&late.state);
}

/* Every tape of a replica is checked: when enough steps of the replica have passed, and whenever a state is saved. Here the
 * settings change under a live tape. */
static void test_drift_of_each_tape(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    set.check_every = 30;
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = start(&set);
    double du;
    for (int i = 0; i < 3; i++) {
        toy_run(t.sim, SIM_STEP, 2);
        toy_run(t.sim, SIM_BAROSTAT, 1);
        toy_sample(t.sim, &du);
    }
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    set.barostat.pressure *= 2;
    toy_run(t.sim, SIM_STEP, 10);
    toy_run(t.sim, SIM_BAROSTAT, 1); /* not yet due */
    toy_run(t.sim, SIM_STEP, 20);
    assert_int_equal(toy_try(t.sim, SIM_BAROSTAT, 1, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "(volume_decide); pressure was"));
    toy_close(&t);

    set.barostat.pressure /= 2;
    t = toy_open(water, &set, 0);
    for (int i = 0; i < 3; i++)
        toy_sample(t.sim, &du);
    set.integrator.timestep *= 0.5;
    assert_int_equal(sim_save(t.sim, &blob, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "(velocities); timestep was"));
    toy_close(&t);
    buf_free(&blob);
}

/* Flips a bit of byte `at` of a table in device memory. */
static void damage(struct toy *t, const struct readonly *r, size_t at)
{
    struct err e = {0};
    struct lane *lane;
    unsigned char byte, *device = (unsigned char *)(uintptr_t)r->span.start + at;
    const struct dev_ops *ops = t->dev->ops;
    assert_int_equal(ops->lane_new(t->dev, &lane, &e), 0);
    assert_int_equal(ops->copy(t->dev, lane, &byte, device, 1, &e), 0);
    byte ^= 4;
    assert_int_equal(ops->copy(t->dev, lane, device, &byte, 1, &e), 0);
    ops->lane_free(t->dev, lane);
}

static size_t table_at(const struct readonly *r, const char *name)
{
    for (size_t i = 0; i < r->nparts; i++)
        if (!strcmp(r->parts[i].name, name))
            return r->parts[i].at;
    fail_msg("no table %s", name);
    return 0;
}

/* What all replicas read is compared with what was uploaded, as often as tapes are; one replica finds it, all stop. */
static void test_damaged_tables(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    set.check_every = 30;
    struct err e = {0};
    struct buf blob = {0};
    struct toy t = start(&set);
    struct sim *other = toy_replica(&t, 0, 1), *late;
    damage(&t, &t.model->shared, table_at(&t.model->shared, "from->mass") + 8 * 33 + 2);
    toy_run(t.sim, SIM_STEP, 10); /* not yet due */
    toy_run(t.sim, SIM_STEP, 20);
    assert_int_equal(toy_try(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_string_equal(
        e.msg,
        "read-only tables have changed: mass, byte 266 of 10368, was 0xa5, is 0xa1; 1 byte of all tables differs");
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_int_equal(sim_submit(other, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_true(model_damaged(t.model));
    sim_free(other);
    toy_close(&t);

    t = start(&set);
    const struct readonly *r = t.model->program->nonbonded_tables(t.model->nonbonded);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    damage(&t, r, r->nparts ? r->parts[r->nparts - 1].at + 1 : 0); /* the parameters, whatever device this is */
    assert_int_equal(sim_save(t.sim, &blob, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "byte 1 of"));
    late = toy_replica(&t, 0, 1);
    assert_int_equal(sim_submit(late, SIM_SAMPLE, 1, &e), -ERR_DRIFT);
    sim_free(late);
    toy_close(&t);
    buf_free(&blob);
}

static void test_bad_blobs(void **state)
{
    struct settings set = water_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct toy t = toy_open(water, &set, 0);
    struct err e = {0};
    struct buf b = {0};
    assert_int_equal(sim_save(t.sim, &b, &e), 0);
    sim_seal(&b);
    assert_int_equal(sim_load(t.sim, b.data, b.len, &e), 0);
    for (size_t i = 0; i < b.len; i += 1 + b.len / 50) {
        b.data[i] ^= 1;
        assert_int_equal(sim_load(t.sim, b.data, b.len, &e), -ERR_CHECKPOINT);
        b.data[i] ^= 1;
    }
    assert_int_equal(sim_load(t.sim, b.data, b.len - 1, &e), -ERR_CHECKPOINT);
    assert_int_equal(sim_load(t.sim, b.data, 20, &e), -ERR_CHECKPOINT);
    assert_string_equal(e.msg, "not the state of a replica (20 bytes)");
    struct system *other = toy_system(2, 4);
    struct toy u = toy_open(other, &set, 0);
    assert_int_equal(sim_load(u.sim, b.data, b.len, &e), -ERR_CHECKPOINT);
    assert_string_equal(e.msg, "state of 648 atoms, the system has 2");
    toy_close(&u);
    toy_system_free(other);
    toy_close(&t);
    buf_free(&b);
}

static int set_up(void **state)
{
    water = toy_water(6);
    return 0;
}

static int tear_down(void **state)
{
    toy_system_free(water);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_langevin),
        cmocka_unit_test(test_langevin_npt),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_uncounted),
        cmocka_unit_test(test_verlet),
        cmocka_unit_test(test_minimize),
        cmocka_unit_test(test_fetched),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_drift_of_each_tape),
        cmocka_unit_test(test_bad_blobs),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_salt),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_end_of_copies),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
