/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps without the mesh between two that take its force times their number (integrator.mesh-every): held against
 * the scheme as it is defined, with reciprocal forces as slopes of the reciprocal energy.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/toy.h"

enum { SIDE = 4, IONS = SIDE * SIDE * SIDE, ATOMS = 3 * IONS, MOST = 3 };
#define SPACING 0.55 /* nm */
#define SLOPE 5e-5   /* nm, of differences of energies */

/* Salt that has left its lattice: no exclusions, no constraints, and much that goes by the mesh. */
static struct system *salt(void)
{
    struct system *s = toy_system(IONS, SIDE * SPACING);
    uint64_t random = 7;
    s->lj[0] = (struct lj){4 * 0.4 * pow(0.34, 6), 4 * 0.4 * pow(0.34, 12)};
    for (int i = 0; i < IONS; i++) {
        const int at[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
        const double q = (at[0] + at[1] + at[2]) % 2 ? 0.8 : -0.8;
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = q;
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = q > 0 ? 23 : 35.45;
        for (int d = 0; d < 3; d++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            s->x[i][d] = SPACING * at[d] + 0.12 * ((double)(random >> 11) * 0x1p-53 - 0.5);
        }
    }
    return s;
}

/* Nothing but forces: friction 0 keeps velocities and makes no noise. */
static struct settings settings_of(int every, double timestep)
{
    struct settings set = toy_settings();
    set.form = FORM_GRAPH;
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.6;
    set.nonbonded.vdw_switch = 0.5;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.temperature = 600;
    set.integrator.friction = 0;
    set.integrator.timestep = timestep;
    set.integrator.mesh_every = every;
    return set;
}

struct state {
    double x[ATOMS][3], v[ATOMS][3];
};

static void get(struct sim *s, struct state *out)
{
    struct err e = {0};
    if (sim_get(s, out->x, out->v, NULL, &e))
        fail_msg("%s", e.msg);
}

static void put(const struct system *sys, struct sim *s, const struct state *to)
{
    struct err e = {0};
    if (sim_put(s, to->x, to->v, sys->box, &e))
        fail_msg("%s", e.msg);
}

static double reciprocal_energy(const struct system *sys, struct sim *s, const struct state *at)
{
    double du;
    put(sys, s, at);
    return toy_sample(s, &du).energy[TERM_COULOMB_RECIPROCAL];
}

/* All forces, and those of the mesh as slopes of its energy. */
static void forces(const struct system *sys, struct sim *s, const struct state *at, double (*all)[3], double (*mesh)[3])
{
    struct err e = {0};
    struct state near = *at;
    for (int i = 0; i < IONS; i++)
        for (int d = 0; d < 3; d++) {
            near.x[i][d] = at->x[i][d] + SLOPE;
            mesh[i][d] = -reciprocal_energy(sys, s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d] - SLOPE;
            mesh[i][d] += reciprocal_energy(sys, s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d];
        }
    reciprocal_energy(sys, s, at);
    if (sim_forces(s, all, &e))
        fail_msg("%s", e.msg);
}

/* v += timestep (f + times f_mesh) / m */
static void kick(const struct system *sys, struct sim *reference, struct state *at, double timestep, double times)
{
    double all[IONS][3], mesh[IONS][3];
    forces(sys, reference, at, all, mesh);
    for (int i = 0; i < IONS; i++)
        for (int d = 0; d < 3; d++)
            at->v[i][d] += timestep * (all[i][d] + times * mesh[i][d]) / sys->atoms[i].mass[0];
}

static double farthest(const double (*a)[3], const double (*b)[3])
{
    double most = 0;
    for (int i = 0; i < IONS; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(a[i][d] - b[i][d]));
    return most;
}

static struct toy moving(const struct system *sys, const struct settings *set)
{
    struct err e = {0};
    struct toy t = toy_open(sys, set, 0);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    return t;
}

/* One cycle is as defined: the force of the mesh times the number of steps at its beginning, and none of it in the
 * steps after that. */
static void test_definition(void **state)
{
    struct system *sys = salt();
    const struct settings plain = settings_of(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 1; every <= MOST; every++) {
        const struct settings set = settings_of(every, 0.001);
        struct toy t = moving(sys, &set);
        struct state wanted, before, got;
        get(t.sim, &wanted);
        before = wanted;
        for (int k = 0; k < every; k++) {
            kick(sys, reference.sim, &wanted, set.integrator.timestep, k ? -1 : every - 1);
            for (int i = 0; i < IONS; i++)
                for (int d = 0; d < 3; d++)
                    wanted.x[i][d] += set.integrator.timestep * wanted.v[i][d];
        }
        toy_run(t.sim, SIM_STEP, (uint32_t)every);
        get(t.sim, &got);
        assert_true(farthest(got.v, before.v) > 0.005);
        assert_true(farthest(got.v, wanted.v) < toy_allowed(1e-8, 1e-5));
        assert_true(farthest(got.x, wanted.x) < toy_allowed(1e-10, 2e-8));
        toy_close(&t);
    }
    toy_close(&reference);
    toy_system_free(sys);
}

/* Cycles forth, velocities turned behind the kick that comes next, the same cycles back: a scheme whose impulses lie
 * elsewhere in the cycle does not find its way. */
static void test_reversible(void **state)
{
    const uint32_t cycles = 20;
    struct system *sys = salt();
    const struct settings plain = settings_of(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 2; every <= MOST; every++) {
        const struct settings set = settings_of(every, 0.001);
        struct toy t = moving(sys, &set);
        struct state first, turned, last;
        get(t.sim, &first);
        toy_run(t.sim, SIM_STEP, cycles * (uint32_t)every);
        get(t.sim, &turned);
        assert_true(farthest(turned.x, first.x) > 0.01);
        kick(sys, reference.sim, &turned, set.integrator.timestep, every - 1);
        for (int i = 0; i < IONS; i++)
            for (int d = 0; d < 3; d++)
                turned.v[i][d] = -turned.v[i][d];
        put(sys, t.sim, &turned);
        toy_run(t.sim, SIM_STEP, cycles * (uint32_t)every);
        get(t.sim, &last);
        assert_true(farthest(last.x, first.x) < toy_allowed(1e-7, 1e-5));
        toy_close(&t);
    }
    toy_close(&reference);
    toy_system_free(sys);
}

/* The total energy at the time of the positions: velocities there are half a kick on, and v times the force of the
 * mesh is the slope of its energy along v. */
static double total_energy(const struct system *sys, struct sim *s, struct sim *reference, const struct settings *set)
{
    const double times = mesh_cycle(&set->integrator) - 1.0;
    struct state at, near;
    struct err e = {0};
    double du, f[ATOMS][3], power = 0;
    const struct sample now = toy_sample(s, &du);
    if (sim_forces(s, f, &e))
        fail_msg("%s", e.msg);
    get(s, &at);
    near = at;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < sys->natoms; i++)
            for (int d = 0; d < 3; d++)
                near.x[i][d] = at.x[i][d] + sign * SLOPE * at.v[i][d];
        power -= sign * times * reciprocal_energy(sys, reference, &near) / (2 * SLOPE);
    }
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            power += at.v[i][d] * f[i][d];
    return now.potential + now.kinetic + 0.5 * set->integrator.timestep * power;
}

/* rms of the total energy about its mean over half a picosecond, kJ/mol. */
static double energy_error(const struct system *sys, struct sim *reference, int every, double timestep)
{
    enum { SAMPLES = 20 };
    const struct settings set = settings_of(every, timestep);
    const uint32_t steps = (uint32_t)(0.5 / (SAMPLES * timestep)) / 6 * 6;
    struct toy t = moving(sys, &set);
    double sum = 0, square = 0, first = 0;
    for (int i = 0; i < SAMPLES; i++) {
        toy_run(t.sim, SIM_STEP, steps);
        const double energy = total_energy(sys, t.sim, reference, &set) - first;
        first = i ? first : energy;
        sum += (i ? energy : 0) / SAMPLES;
        square += (i ? energy * energy : 0) / SAMPLES;
    }
    toy_close(&t);
    return sqrt(square - sum * sum);
}

/* Without friction the energy is kept about as well as with the mesh in every step: within a factor of the length of
 * the cycle. With impulses that are not multiplied it is off by 50 times as much (salt 800), with impulses at the end
 * of a cycle by 12 times. */
static void keeps_energy(const struct system *sys, double timestep)
{
    const struct settings plain = settings_of(1, timestep);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    const double usual = energy_error(sys, reference.sim, 1, timestep);
    for (int every = 2; every <= MOST && every * timestep < 0.0051; every++) {
        const double error = energy_error(sys, reference.sim, every, timestep);
        print_message("%d atoms, %g fs, mesh every %d: %.3g of %.3g kJ/mol\n", sys->natoms, 1000 * timestep, every,
                      error, usual);
        assert_true(error < every * usual);
    }
    toy_close(&reference);
}

static void test_energy_of_salt(void **state)
{
    struct system *sys = salt();
    keeps_energy(sys, 0.001);
    keeps_energy(sys, 0.002);
    toy_system_free(sys);
}

/* Water off its lattice, at rest. */
static struct system *water(void)
{
    struct system *sys = toy_water(SIDE);
    struct settings set = settings_of(1, 0.002);
    struct err e = {0};
    set.integrator.friction = 50;
    set.integrator.temperature = 300;
    struct toy t = toy_open_reference(sys, &set, 0);
    sim_minimize_setup(t.sim, 1000);
    toy_run(t.sim, SIM_MINIMIZE, 50);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 150);
    assert_int_equal(sim_get(t.sim, sys->x, NULL, NULL, &e), 0);
    toy_close(&t);
    return sys;
}

static void test_energy_of_water(void **state)
{
    struct system *sys = water();
    keeps_energy(sys, 0.001);
    keeps_energy(sys, 0.002);
    toy_system_free(sys);
}

/* The mean potential energy and temperature of a friction's run, and their errors by blocks. */
struct means {
    double value[2], error[2];
};

static struct means means_of(const struct system *sys, int every)
{
    enum { BLOCKS = 20, SAMPLES = 15, STEPS = 10 };
    struct settings set = settings_of(every, 0.002);
    struct means m = {0};
    double du, square[2] = {0};
    set.integrator.friction = 10;
    struct toy t = moving(sys, &set);
    toy_run(t.sim, SIM_STEP, 500);
    for (int b = 0; b < BLOCKS; b++) {
        double block[2] = {0};
        for (int i = 0; i < SAMPLES; i++) {
            toy_run(t.sim, SIM_STEP, STEPS);
            const struct sample s = toy_sample(t.sim, &du);
            block[0] += s.potential / SAMPLES;
            block[1] += s.temperature / SAMPLES;
        }
        for (int k = 0; k < 2; k++) {
            m.value[k] += block[k] / BLOCKS;
            square[k] += block[k] * block[k] / BLOCKS;
        }
    }
    for (int k = 0; k < 2; k++)
        m.error[k] = sqrt((square[k] - m.value[k] * m.value[k]) / (BLOCKS - 1));
    toy_close(&t);
    return m;
}

static void test_means(void **state)
{
    struct system *sys = salt();
    const struct means one = means_of(sys, 1), two = means_of(sys, 2);
    for (int k = 0; k < 2; k++) {
        const double error = hypot(one.error[k], two.error[k]);
        print_message("%s: %.5g +- %.2g and %.5g +- %.2g\n", k ? "temperature" : "potential energy", one.value[k],
                      one.error[k], two.value[k], two.error[k]);
        assert_true(fabs(two.value[k] - one.value[k]) < 4 * error);
        assert_true(error < (k ? 20 : 100));
    }
    assert_true(fabs(two.value[1] - 600) < 4 * two.error[1]);
    toy_system_free(sys);
}

/* ---- bits ---- */

static struct settings noisy(int every)
{
    struct settings set = settings_of(every, 0.001);
    set.integrator.friction = 5;
    set.integrator.com_every = 7;
    return set;
}

/* Left out or 1: the same. */
static void test_every_step(void **state)
{
    struct system *sys = salt();
    struct state got[2];
    for (int every = 0; every < 2; every++) {
        const struct settings set = noisy(every);
        struct toy t = moving(sys, &set);
        toy_run(t.sim, SIM_STEP, 25);
        get(t.sim, &got[every]);
        toy_close(&t);
    }
    assert_memory_equal(got[0].x, got[1].x, IONS * sizeof *got[0].x);
    toy_system_free(sys);
}

/* A sample is of all forces, once each, however long cycles are: the same as with the mesh in every step. */
static void test_samples(void **state)
{
    struct system *sys = salt();
    struct state at;
    struct sample sample[2];
    double du[2], f[2][IONS][3];
    struct err e = {0};
    for (int k = 0; k < 2; k++) {
        const struct settings set = noisy(k ? 1 : MOST);
        struct toy t = moving(sys, &set);
        if (k)
            put(sys, t.sim, &at);
        else
            toy_run(t.sim, SIM_STEP, 2 * MOST);
        sample[k] = toy_sample(t.sim, &du[k]);
        assert_int_equal(sim_forces(t.sim, f[k], &e), 0);
        get(t.sim, &at);
        toy_close(&t);
    }
    assert_memory_equal(f[0], f[1], sizeof f[0]);
    assert_memory_equal(sample[0].energy, sample[1].energy, sizeof sample[0].energy);
    assert_memory_equal(sample[0].virial, sample[1].virial, sizeof sample[0].virial);
    assert_true(sample[0].energy[TERM_COULOMB_RECIPROCAL] != 0);
    toy_system_free(sys);
}

static struct state undisturbed(const struct system *sys, const struct settings *set, uint32_t steps)
{
    struct toy t = moving(sys, set);
    struct state out;
    toy_run(t.sim, SIM_STEP, steps);
    get(t.sim, &out);
    toy_close(&t);
    return out;
}

/* In pieces, with samples and volume moves that change nothing in between, from bytes that were saved: the same. */
static void test_interrupted(void **state)
{
    struct system *sys = salt();
    for (int every = 2; every <= MOST; every++) {
        const struct settings set = noisy(every);
        const uint32_t cycle = (uint32_t)every;
        const struct state wanted = undisturbed(sys, &set, 12 * cycle);
        struct toy t = moving(sys, &set);
        struct buf saved = {0};
        struct err e = {0};
        struct state got;
        double du;
        toy_run(t.sim, SIM_STEP, cycle);
        toy_sample(t.sim, &du);
        toy_run(t.sim, SIM_STEP, 4 * cycle);
        assert_int_equal(sim_save(t.sim, &saved, &e), 0);
        sim_seal(&saved);
        struct sim *other = toy_replica(&t, 0, 0);
        assert_int_equal(sim_load(other, saved.data, saved.len, &e), 0);
        toy_run(other, SIM_STEP, 7 * cycle);
        get(other, &got);
        assert_memory_equal(got.x, wanted.x, IONS * sizeof *got.x);
        assert_int_equal(sim_submit(other, SIM_STEP, cycle + 1, &e), -ERR_INTERNAL);
        sim_free(other);
        buf_free(&saved);
        toy_close(&t);
    }
    toy_system_free(sys);
}

/* Over the card or in one block, where a device has two ways: the same. */
static void test_forms(void **state)
{
    struct system *sys = salt();
    struct settings set = noisy(1);
    set.nonbonded.pme_form = PME_BLOCK;
    const bool one_way = toy_refuses(sys, &set);
    for (int every = 2; every <= MOST && !one_way; every++) {
        set = noisy(every);
        set.nonbonded.pme_form = PME_BLOCK;
        const struct state block = undisturbed(sys, &set, 4 * (uint32_t)every);
        set.nonbonded.pme_form = PME_CARD;
        const struct state card = undisturbed(sys, &set, 4 * (uint32_t)every);
        assert_memory_equal(block.x, card.x, IONS * sizeof *block.x);
    }
    toy_system_free(sys);
}

/* Entries of the list at the start, as a list that is too short says. */
static uint32_t entries_at_start(const struct system *sys, const struct settings *set)
{
    struct toy t = toy_open(sys, set, 0);
    struct err e = {0};
    t.sim->caps.entries = 1;
    assert_int_equal(sim_submit(t.sim, SIM_STEP, MOST, &e), 0);
    assert_int_equal(sim_wait(t.sim, &e), 0);
    const double needed = sim_heard(t.sim)->ctl.value;
    assert_int_equal(sim_outcome(t.sim, &e), SIM_GROW);
    toy_close(&t);
    return (uint32_t)needed;
}

static struct state marched(const struct toy *t, uint32_t replica, uint32_t entries, int *within)
{
    const uint32_t steps = 20 * MOST;
    struct sim *s = toy_replica(t, 0, replica);
    struct err e = {0};
    struct state out;
    if (entries)
        s->caps.entries = entries;
    assert_int_equal(sim_thermalize(s, &e), 0);
    for (uint32_t done = 0; done < steps;) {
        assert_int_equal(sim_submit(s, SIM_STEP, steps - done, &e), 0);
        assert_int_equal(sim_wait(s, &e), 0);
        const int rc = sim_outcome(s, &e);
        done += sim_steps_done(s);
        assert_true(rc == SIM_GROW || (rc == SIM_OK && done == steps));
        *within += done % MOST != 0;
    }
    get(s, &out);
    sim_free(s);
    return out;
}

/* A list becomes too short in the middle of a cycle: what is left of that goes on where it was. */
static void test_grown(void **state)
{
    enum { REPLICAS = 6 };
    struct system *sys = salt();
    struct settings set = noisy(MOST);
    set.nonbonded.list_buffer = 0.01; /* lists that are soon made anew */
    const uint32_t entries = entries_at_start(sys, &set);
    struct toy t = toy_open(sys, &set, 0);
    int within = 0, never = 0;
    for (uint32_t r = 0; r < REPLICAS; r++) {
        const struct state wanted = marched(&t, r, 0, &never), got = marched(&t, r, entries, &within);
        assert_memory_equal(got.x, wanted.x, IONS * sizeof *got.x);
        assert_memory_equal(got.v, wanted.v, IONS * sizeof *got.v);
    }
    print_message("grown within a cycle: %d of %d\n", within, REPLICAS);
    assert_int_equal(never, 0);
    assert_true(within > 0);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),  cmocka_unit_test(test_reversible), cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_forms),      cmocka_unit_test(test_samples),
        cmocka_unit_test(test_grown),
    };
    const struct CMUnitTest long_runs[] = {
        cmocka_unit_test(test_energy_of_salt),
        cmocka_unit_test(test_energy_of_water),
        cmocka_unit_test(test_means),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return toy_every() > 1 ? failed : failed + cmocka_run_group_tests(long_runs, NULL, NULL);
}
