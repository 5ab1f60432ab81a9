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

#include "engine/base/units.h"
#include "tests/lib/toy.h"

enum { IONS = 64, SIDE = 4, MOST = 3 };
#define SPACING 0.55 /* nm */
#define SLOPE 1e-4   /* nm, of differences of energies */

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
static struct settings salt_settings(int every, double timestep)
{
    struct settings set = toy_settings();
    set.form = FORM_GRAPH;
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.8;
    set.nonbonded.vdw_switch = 0.7;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.temperature = 600;
    set.integrator.friction = 0;
    set.integrator.timestep = timestep;
    set.integrator.mesh_every = every;
    return set;
}

struct state {
    double x[IONS][3], v[IONS][3];
};

static void get(struct sim *s, struct state *out)
{
    struct err e = {0};
    if (sim_get(s, out->x, out->v, NULL, &e))
        fail_msg("%s", e.msg);
}

static void put(struct sim *s, const struct state *to)
{
    struct err e = {0};
    const double box[BOX_SIZE] = {SIDE * SPACING, SIDE * SPACING, SIDE * SPACING};
    if (sim_put(s, to->x, to->v, box, &e))
        fail_msg("%s", e.msg);
}

static double reciprocal_energy(struct sim *s, const struct state *at)
{
    double du;
    put(s, at);
    return toy_sample(s, &du).energy[TERM_COULOMB_RECIPROCAL];
}

/* All forces, and those of the mesh as slopes of its energy. */
static void forces(struct sim *s, const struct state *at, double (*all)[3], double (*mesh)[3])
{
    struct err e = {0};
    struct state near = *at;
    for (int i = 0; i < IONS; i++)
        for (int d = 0; d < 3; d++) {
            near.x[i][d] = at->x[i][d] + SLOPE;
            mesh[i][d] = -reciprocal_energy(s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d] - SLOPE;
            mesh[i][d] += reciprocal_energy(s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d];
        }
    reciprocal_energy(s, at);
    if (sim_forces(s, all, &e))
        fail_msg("%s", e.msg);
}

/* v += timestep (f + times f_mesh) / m */
static void kick(const struct system *sys, struct sim *reference, struct state *at, double timestep, double times)
{
    double all[IONS][3], mesh[IONS][3];
    forces(reference, at, all, mesh);
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
    const struct settings plain = salt_settings(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 1; every <= MOST; every++) {
        const struct settings set = salt_settings(every, 0.001);
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
        print_message("every %d: moved %.3g, off %.3g %.3g\n", every, farthest(got.v, before.v), farthest(got.v, wanted.v), farthest(got.x, wanted.x));
        assert_true(farthest(got.v, wanted.v) < toy_allowed(2e-7, 1e-5));
        assert_true(farthest(got.x, wanted.x) < toy_allowed(1e-9, 2e-8));
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
    const struct settings plain = salt_settings(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 2; every <= MOST; every++) {
        const struct settings set = salt_settings(every, 0.001);
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
        put(t.sim, &turned);
        toy_run(t.sim, SIM_STEP, cycles * (uint32_t)every);
        get(t.sim, &last);
        assert_true(farthest(last.x, first.x) < toy_allowed(1e-7, 1e-5));
        toy_close(&t);
    }
    toy_close(&reference);
    toy_system_free(sys);
}

/* The total energy at the time of the positions: velocities there are half a kick on, and v times the mesh's force is
 * the slope of its energy along v. */
static double total_energy(const struct system *sys, struct sim *s, struct sim *reference, const struct settings *set)
{
    struct state at, near;
    struct err e = {0};
    double du, f[IONS][3], along = 0;
    const struct sample now = toy_sample(s, &du);
    if (sim_forces(s, f, &e))
        fail_msg("%s", e.msg);
    get(s, &at);
    near = at;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < IONS; i++)
            for (int d = 0; d < 3; d++)
                near.x[i][d] = at.x[i][d] + sign * SLOPE * at.v[i][d];
        along -= sign * reciprocal_energy(reference, &near) / (2 * SLOPE) * ((int)mesh_cycle(&set->integrator) - 1);
    }
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            along += at.v[i][d] * f[i][d];
    return now.potential + now.kinetic + 0.5 * set->integrator.timestep * along;
}

/* rms of the total energy about its mean over a picosecond, kJ/mol. */
static double energy_error(const struct system *sys, struct sim *reference, int every, double timestep)
{
    enum { SAMPLES = 50 };
    const struct settings set = salt_settings(every, timestep);
    const uint32_t steps = (uint32_t)lrint(1 / (SAMPLES * timestep)) / MOST / 2 * MOST * 2;
    struct toy t = moving(sys, &set);
    double sum = 0, square = 0;
    for (int i = 0; i < SAMPLES; i++) {
        toy_run(t.sim, SIM_STEP, steps);
        const double energy = total_energy(sys, t.sim, reference, &set);
        sum += energy / SAMPLES;
        square += energy * energy / SAMPLES;
    }
    toy_close(&t);
    return sqrt(fmax(square - sum * sum, 0));
}

static void test_energy(void **state)
{
    struct system *sys = salt();
    const struct settings plain = salt_settings(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (double timestep = 0.001; timestep < 0.003; timestep *= 2)
        for (int every = 1; every <= MOST; every++)
            print_message("timestep %g fs, every %d: %.4g kJ/mol\n", 1000 * timestep, every,
                          energy_error(sys, reference.sim, every, timestep));
    toy_close(&reference);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_reversible),
                                       cmocka_unit_test(test_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
