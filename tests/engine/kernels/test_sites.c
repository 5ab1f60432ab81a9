/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual sites: forces and virial against differences of energies, whatever position is given for the site itself;
 * energy in dynamics; volume moves and minimization keep sites where their atoms place them. On the CPU device and by
 * the CUDA program, run on the CPU (tests/lib/emulate).
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

#include "engine/kernels/sites.h"
#include "engine/run/program.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/toy.h"

/* Atoms 0 to 3 place atom 4, which a spring holds to atom 5. */
enum { ATOMS = 6, SITE = 4, LINEAR_2 = SITE_KINDS, LINEAR_4, FORMS };

static const double positions[ATOMS][3] = {{0.11, 0.02, 0.03}, {0.20, 0.13, 0.02}, {0.04, 0.11, 0.08},
                                           {0.15, 0.03, 0.14}, {0, 0, 0},          {0.52, 0.30, 0.25}};

static struct virtual_site form(int k)
{
    static const double c[SITE_KINDS][3] = {[SITE_2FD] = {0.07},
                                            [SITE_3FD] = {0.4, 0.08},
                                            [SITE_3FAD] = {-0.03, 0.06},
                                            [SITE_3OUT] = {0.3, -0.2, 4},
                                            [SITE_4FDN] = {0.6, 0.7, 0.05}};
    static const uint32_t count[FORMS] = {3, 2, 3, 3, 3, 4, 2, 4};
    struct virtual_site s = {.atom = SITE, .kind = k < SITE_KINDS ? k : SITE_LINEAR, .count = count[k]};
    if (k < SITE_KINDS)
        memcpy(s.c, c[k], sizeof s.c);
    return s;
}

static struct system *molecule(int k)
{
    static const double weights[FORMS][4] = {
        [SITE_LINEAR] = {0.5, 0.8, -0.3}, [LINEAR_2] = {0.7, 0.3}, [LINEAR_4] = {0.1, 0.2, 0.3, 0.4}};
    struct system *s = toy_system(ATOMS, 3);
    memcpy(s->x, positions, sizeof positions);
    s->nsites = 1;
    s->sites = xcalloc(1, sizeof *s->sites);
    *s->sites = form(k);
    s->nsite_atoms = 4;
    s->site_atoms = xcalloc(4, sizeof *s->site_atoms);
    s->site_weights = xcalloc(4, sizeof *s->site_weights);
    for (int i = 0; i < 4; i++) {
        s->site_atoms[i] = i;
        s->site_weights[i] = weights[k][i];
        for (int j = 0; j < i; j++) {
            const double d[3] = {s->x[i][0] - s->x[j][0], s->x[i][1] - s->x[j][1], s->x[i][2] - s->x[j][2]};
            const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * 1.02;
            toy_add(s, bonds, nbonds, (struct bond){{j, i}, {r, r}, {3e4, 3e4}});
        }
    }
    s->atoms[SITE].mass[0] = s->atoms[SITE].mass[1] = 0;
    toy_add(s, bonds, nbonds, (struct bond){{SITE, 5}, {0.3, 0.3}, {2000, 2000}});
    return s;
}

static const struct program *const programs[] = {&cpu_program, &cuda_program};
enum { PROGRAMS = 2 };

static struct toy opened(int program, const struct system *s, const struct settings *set)
{
    struct toy t = {0};
    struct err e = {0};
    if (emulate_open(&t.dev, "cpu:1", NULL, *programs[program]->kernels, &e) ||
        model_new(&t.model, t.dev, s, set, &e) || sim_new(&t.sim, t.model, 0, 0, &e))
        fail_msg("%s", e.msg);
    return t;
}

static double energy(const struct system *s)
{
    double own;
    struct settings set = toy_settings();
    struct toy t = opened(0, s, &set);
    double u = toy_sample(t.sim, &own).potential;
    toy_close(&t);
    return u;
}

static void test_forces(void **state)
{
    struct settings set = toy_settings();
    for (int n = 0; n < PROGRAMS * FORMS; n++) {
        const int k = n % FORMS;
        struct system *s = molecule(k);
        double f[ATOMS][3], own, sum[3] = {0, 0, 0};
        struct err e = {0};
        struct toy t = opened(n / FORMS, s, &set);
        toy_sample(t.sim, &own);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        toy_close(&t);
        for (int i = 0; i < ATOMS; i++)
            for (int d = 0; d < 3; d++) {
                double at = s->x[i][d], h = 2e-5;
                s->x[i][d] = at + h;
                double up = energy(s);
                s->x[i][d] = at - h;
                double down = energy(s), expected = -(up - down) / (2 * h);
                s->x[i][d] = at;
                sum[d] += f[i][d];
                if (!(fabs(f[i][d] - expected) < 2e-3 + 1e-6 * fabs(expected)))
                    fail_msg("form %d atom %d axis %d: %.9g, expected %.9g", k, i, d, f[i][d], expected);
            }
        for (int d = 0; d < 3; d++)
            assert_true(f[SITE][d] == 0 && fabs(sum[d]) < 1e-8);
        toy_system_free(s);
    }
}

static void test_virial(void **state)
{
    struct settings set = toy_settings();
    for (int n = 0; n < PROGRAMS * FORMS; n++) {
        const int k = n % FORMS;
        double u[2], own;
        struct system *s = molecule(k);
        struct toy t = opened(n / FORMS, s, &set);
        struct sample a = toy_sample(t.sim, &own);
        toy_close(&t);
        for (int up = 0; up < 2; up++) {
            for (int i = 0; i < ATOMS; i++)
                for (int d = 0; d < 3; d++)
                    s->x[i][d] = positions[i][d] * (up ? 1 + 1e-5 : 1 - 1e-5);
            u[up] = energy(s);
        }
        double expected = (u[1] - u[0]) / 4e-5, trace = a.virial[0] + a.virial[4] + a.virial[8];
        if (!(fabs(trace - expected) < 1e-3 + 1e-6 * fabs(expected)))
            fail_msg("form %d: %.9g, expected %.9g", k, trace, expected);
        for (int i = 0; i < 3; i++) /* no torque: it is symmetric */
            assert_true(fabs(a.virial[3 * i + (i + 1) % 3] - a.virial[3 * ((i + 1) % 3) + i]) < 1e-6);
        toy_system_free(s);
    }
}

/* Where the site is, off from where its atoms place it. */
static double misplaced(const struct system *s, const double (*x)[3])
{
    double at[ATOMS][3], off = 0;
    struct site_table table = {s->sites, s->site_atoms, s->site_weights, 1};
    memcpy(at, x, sizeof at);
    site_place(&table, s->sites, at);
    for (int d = 0; d < 3; d++)
        off = fmax(off, fabs(at[SITE][d] - x[SITE][d]));
    return off;
}

static double farthest(const double (*a)[3], const double (*b)[3])
{
    double most = 0;
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(a[i][d] - b[i][d]));
    return most;
}

static void test_dynamics(void **state)
{
    for (int k = 0; k < FORMS; k++)
        for (int variant = 0; variant < 2 * PROGRAMS; variant++) {
            const bool barostat = variant % 2;
            struct settings set = toy_settings();
            struct system *s = molecule(k);
            struct err e = {0};
            double own, before[ATOMS][3], x[ATOMS][3], v[ATOMS][3];
            set.barostat.on = barostat;
            set.integrator.timestep = 0.0005;
            struct toy t = opened(variant / 2, s, &set);
            sim_minimize_setup(t.sim, 1);
            toy_run(t.sim, SIM_MINIMIZE, 20);
            assert_int_equal(sim_get(t.sim, before, NULL, NULL, &e), 0);
            assert_true(misplaced(s, (const double(*)[3])before) < 1e-12);
            assert_int_equal(sim_thermalize(t.sim, &e), 0);
            struct sample a = toy_sample(t.sim, &own);
            for (int n = 0; n < 10; n++) {
                toy_run(t.sim, SIM_STEP, 20);
                if (barostat)
                    toy_run(t.sim, SIM_BAROSTAT, 1);
                assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
                assert_true(misplaced(s, (const double(*)[3])x) < 1e-12);
            }
            struct sample b = toy_sample(t.sim, &own);
            toy_close(&t);
            assert_true(v[SITE][0] == 0 && v[SITE][1] == 0 && v[SITE][2] == 0);
            if (!barostat && !(fabs(b.potential + b.kinetic - a.potential - a.kinetic) < 0.02 * a.kinetic))
                fail_msg("form %d: energy %.6g became %.6g", k, a.potential + a.kinetic, b.potential + b.kinetic);
            assert_true(farthest((const double(*)[3])x, (const double(*)[3])before) > 0.01);
            assert_true(fabs(a.temperature - 2 * a.kinetic / (15 * 8.31446261815324e-3)) < 1e-6 * a.temperature);
            toy_system_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forces), cmocka_unit_test(test_virial),
                                       cmocka_unit_test(test_dynamics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
