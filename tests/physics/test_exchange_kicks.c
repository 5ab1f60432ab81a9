/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas that exchange windows between timesteps of langevin-middle, whose velocities lack half a kick then: those at
 * the time of x stay, and windows of springs have their temperature and their widths with an exchange after every
 * timestep.
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

#include "engine/base/units.h"
#include "engine/math/philox.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

static double ladder[3][LAMBDA_COUNT] = {
    {0}, {[LAMBDA_COULOMB] = 0.5, [LAMBDA_VDW] = 0.3, [LAMBDA_MASS] = 0.5}, {1, 1, 1, 1, 1}};

static struct settings moving(double timestep, double friction)
{
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = timestep;
    set.integrator.friction = friction;
    return set;
}

/* ---- velocities ---- */

/* At the time of x: v and half a kick, of masses mixed by the window's lambda. */
static void at_positions(struct sim *s, const struct system *sys, int window, double timestep, double (*out)[3])
{
    double(*f)[3] = xcalloc((size_t)sys->natoms, sizeof *f);
    const double b = ladder[window][LAMBDA_MASS];
    struct err e = {0};
    assert_int_equal(sim_get(s, NULL, out, NULL, &e), 0);
    assert_int_equal(sim_forces(s, f, &e), 0);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            out[i][d] += 0.5 * timestep * f[i][d] / ((1 - b) * sys->atoms[i].mass[0] + b * sys->atoms[i].mass[1]);
    free(f);
}

static double furthest(int n, const double (*a)[3], const double (*b)[3])
{
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(a[i][d] - b[i][d]));
    return most;
}

/* Three replicas go round: velocities at the time of x stay, those that are kept do not. */
static void test_velocities(void **state)
{
    enum { N = 3 };
    static const int from[N] = {2, 0, 1};
    static const uint32_t key[N] = {2, 0, 1};
    struct system *sys = mixture(2);
    struct settings set = moving(0.001, 1);
    set.alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, N, ladder);
    sys->atoms[0].mass[1] *= 1.5;
    const size_t n = (size_t)sys->natoms;
    struct toy t = toy_open(sys, &set, 0);
    struct sim *sim[N];
    double(*before)[3] = xcalloc(N * n, sizeof *before), (*after)[3] = xcalloc(n, sizeof *after);
    double(*kept)[3] = xcalloc(N * n, sizeof *kept);
    struct err e = {0};
    for (int w = 0; w < N; w++) {
        sim[w] = w ? toy_replica(&t, w, (uint32_t)w) : t.sim;
        assert_int_equal(sim_thermalize(sim[w], &e), 0);
        toy_run(sim[w], SIM_STEP, 4);
        assert_int_equal(sim_get(sim[w], NULL, kept + w * n, NULL, &e), 0);
        at_positions(sim[w], sys, w, set.integrator.timestep, before + w * n);
    }
    assert_int_equal(sim_exchange(sim, from, key, N, &e), 0);
    for (int w = 0; w < N; w++) {
        const size_t old = (size_t)from[w] * n;
        at_positions(sim[from[w]], sys, w, set.integrator.timestep, after);
        assert_true(furthest(sys->natoms, (const double(*)[3])after, (const double(*)[3])before + old) < 1e-9);
        assert_int_equal(sim_get(sim[from[w]], NULL, after, NULL, &e), 0);
        assert_true(furthest(sys->natoms, (const double(*)[3])after, (const double(*)[3])kept + old) > 1e-3);
    }
    for (int w = 1; w < N; w++)
        sim_free(sim[w]);
    free(before);
    free(after);
    free(kept);
    toy_close(&t);
    toy_system_free(sys);
}

/* ---- windows of springs ---- */

/* One atom on a spring that is four times as stiff in B. */
static struct system *spring(double k)
{
    struct system *s = toy_system(1, 20);
    toy_add(s, position_restraints, nposition_restraints,
            (struct position_restraint){0, {0, 0, 0}, {{k, k, k}, {4 * k, 4 * k, 4 * k}}});
    return s;
}

/* A mean, with its error from blocks. */
struct mean {
    double sum, squares;
};

static void add_block(struct mean *m, double block)
{
    m->sum += block;
    m->squares += block * block;
}

static void expect_mean(const char *what, const struct mean *m, int blocks, double expected, double room)
{
    const double mean = m->sum / blocks, error = sqrt((m->squares / blocks - mean * mean) / (blocks - 1));
    printf("%s: %.4f +- %.4f, expected %.4f\n", what, mean, error, expected);
    assert_true(error < 0.03 * expected);
    assert_true(fabs(mean - expected) < 4 * error + room);
}

/* Metropolis' rule for two replicas. Draws and swaps them. */
static void try_exchange(struct sim *sim[2], const double (*du)[2], double kt, uint64_t number, int *swapped)
{
    static const int from[2] = {1, 0};
    static const uint32_t key[2] = {0, 1};
    const struct philox r = philox_at(7, 0, number, 100, 0);
    struct err e = {0};
    if (philox_uniform(r.word[0], r.word[1]) > exp(-(du[0][1] + du[1][0]) / kt))
        return;
    assert_int_equal(sim_exchange(sim, from, key, 2, &e), 0);
    struct sim *first = sim[0];
    sim[0] = sim[1];
    sim[1] = first;
    ++*swapped;
}

/* Two windows of which replicas exchange after every timestep. Energies of equipartition, in units of kT: potential and
 * kinetic ones. Where velocities are handed on as they are, they are 1.17 and 1.05 in the soft window, 1.05 and 1.17 in
 * the other. The scheme itself has velocities at the time of x that are by (omega dt / 2)^2 too slow, 1 and 4 % in
 * these windows, and hands them on: hence the room. */
static void test_springs(void **state)
{
    if (toy_every() > 1)
        skip();
    enum { BLOCKS = 20, EACH = 900 };
    static double ends[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_BONDED] = 1}};
    struct settings set = moving(0.02, 4); /* 10 and 20 radians a ps */
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = ends};
    struct system *sys = spring(1200);
    const double kt = UNIT_R * set.integrator.temperature;
    struct toy t = toy_open(sys, &set, 0);
    struct sim *sim[2] = {t.sim, toy_replica(&t, 1, 1)};
    struct mean potential[2] = {{0}}, kinetic[2] = {{0}};
    struct err e = {0};
    double du[2][2];
    int swapped = 0;
    for (int w = 0; w < 2; w++)
        assert_int_equal(sim_thermalize(sim[w], &e), 0);
    for (int b = -1; b < BLOCKS; b++) {
        double of_block[2][2] = {{0}};
        for (int i = 0; i < EACH; i++) {
            for (int w = 0; w < 2; w++) {
                toy_run(sim[w], SIM_STEP, 1);
                const struct sample a = toy_sample(sim[w], du[w]);
                of_block[w][0] += a.potential / (1.5 * kt * EACH);
                of_block[w][1] += a.kinetic / (1.5 * kt * EACH);
            }
            try_exchange(sim, (const double(*)[2])du, kt, (uint64_t)((b + 1) * EACH + i), &swapped);
        }
        for (int w = 0; w < 2 && b >= 0; w++) {
            add_block(&potential[w], of_block[w][0]);
            add_block(&kinetic[w], of_block[w][1]);
        }
    }
    assert_true(swapped > BLOCKS * EACH / 5);
    for (int w = 0; w < 2; w++) {
        expect_mean(w ? "potential energy, stiff" : "potential energy, soft", &potential[w], BLOCKS, 1, 0.015);
        expect_mean(w ? "kinetic energy, stiff" : "kinetic energy, soft", &kinetic[w], BLOCKS, 1, 0.015);
    }
    sim_free(sim[0] == t.sim ? sim[1] : sim[0]);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_velocities), cmocka_unit_test(test_springs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
