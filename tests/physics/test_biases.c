/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations and the biases along them: values, derivatives and virials against PLUMED's (the argument: the folder
 * that has them; skipped without), forces, virial, dU/dlambda and U at every window against differences of energies,
 * and a constant of motion.
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
#include <jansson.h>

#include "engine/base/units.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

#define NEAR(value, expected, allowed)                                                                                 \
    do {                                                                                                               \
        double v_ = value, e_ = expected, a_ = allowed;                                                                \
        if (!(fabs(v_ - e_) <= a_))                                                                                    \
            fail_msg("%s: %.15g, expected %.15g within %g", #value, v_, e_, a_);                                       \
    } while (0)

static void add_bias(struct system *s, enum bias_kind kind, double at, double k)
{
    toy_add(s, biases, nbiases,
            (struct bias){.coordination = (uint32_t)s->ncoordinations - 1, .kind = kind, .c = {{at, k}, {at, k}}});
}

/* ---- PLUMED's ---- */

static const char *folder;

/* Atoms without charges, masses aside, at the places of a .gro file. */
static struct system *read_atoms(void)
{
    struct system *s = NULL;
    char path[512], line[128];
    int n = 0;
    snprintf(path, sizeof path, "%s/methanol.gro", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_true(fgets(line, sizeof line, f) && (n = atoi(line)) > 1000);
    s = toy_system(n, 1);
    for (int i = 0; i < n; i++) {
        assert_non_null(fgets(line, sizeof line, f));
        assert_int_equal(sscanf(line + 20, "%lf %lf %lf", &s->x[i][0], &s->x[i][1], &s->x[i][2]), 3);
    }
    assert_int_equal(fscanf(f, "%lf %lf %lf", &s->box[0], &s->box[1], &s->box[2]), 3);
    fclose(f);
    return s;
}

/* "7-2074:3", from 1. */
static int atoms_of(const char *text, int *atom)
{
    int from, to, step = 1, n = 0;
    assert_true(sscanf(text, "%d-%d:%d", &from, &to, &step) >= 2);
    for (int i = from; i <= to; i += step)
        atom[n++] = i - 1;
    return n;
}

static void add_case(struct system *s, const char *input, const json_t *parameters)
{
    enum { MOST = 4000 };
    static int atom[2][MOST];
    const int *const group[2] = {atom[0], atom[1]};
    const char *b = strstr(input, "GROUPB=");
    const json_t *far = json_object_get(parameters, "D_MAX");
    double r0 = json_number_value(json_object_get(parameters, "R_0"));
    double d0 = json_number_value(json_object_get(parameters, "D_0"));
    uint32_t n = (uint32_t)json_integer_value(json_object_get(parameters, "NN"));
    struct coordination c = {.periodic = 1, .pairs = b ? COORDINATION_BETWEEN : COORDINATION_WITHIN};
    int count[2] = {atoms_of(strstr(input, "GROUPA=") + 7, atom[0]), b ? atoms_of(b + 7, atom[1]) : 0};
    if (strstr(input, " PAIR "))
        c.pairs = COORDINATION_PAIRED;
    double d_max = json_is_number(far) ? json_number_value(far) : INFINITY;
    if (!strstr(input, "SWITCH")) { /* the short form has one of its own */
        assert_true(fabs(rational_short_form(r0, d0, n, 0) / d_max - 1) < 1e-14);
        d_max = rational_short_form(r0, d0, n, 0);
    }
    /* MM as the input has it, or not */
    uint32_t m = strstr(input, "MM=") ? (uint32_t)json_integer_value(json_object_get(parameters, "MM")) : 0;
    c.f = rational_make(r0, d0, n, m, d_max, json_is_true(json_object_get(parameters, "stretch")));
    system_add_coordination(s, c, group, count);
}

static void check_derivatives(const char *file, const double (*f)[3], int natoms)
{
    char command[600], line[256];
    double(*expected)[3] = xcalloc((size_t)natoms, sizeof *expected), largest = 0;
    snprintf(command, sizeof command, "gzip -dc '%s/%s'", folder, file);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        int i;
        double g[3];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%d %lf %lf %lf", &i, &g[0], &g[1], &g[2]), 4);
        for (int d = 0; d < 3; d++) {
            expected[i - 1][d] = -g[d];
            largest = fmax(largest, fabs(g[d]));
        }
    }
    assert_int_equal(pclose(in), 0);
    assert_true(largest > 0.1);
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++)
            NEAR(f[i][d], expected[i][d], 1e-8 * largest);
    free(expected);
}

/* The bias is the coordination itself, so that forces and virial are its derivatives. */
static void test_plumed(void **state)
{
    char path[512];
    const char *name;
    json_t *one;
    snprintf(path, sizeof path, "%s/coordination.json", folder);
    json_t *all = json_load_file(path, 0, NULL);
    if (!all) {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    struct settings set = toy_settings();
    int cases = 0;
    json_object_foreach (json_object_get(all, "cases"), name, one) {
        struct system *s = read_atoms();
        struct err e = {0};
        double du, largest = 0, (*f)[3] = xcalloc((size_t)s->natoms, sizeof *f);
        const json_t *virial = json_object_get(one, "virial_9_plumed_convention");
        const double value = json_number_value(json_object_get(one, "value"));
        add_case(s, json_string_value(json_object_get(one, "plumed_input")), json_object_get(one, "parameters"));
        add_bias(s, BIAS_LINEAR, 0, 1);
        struct toy t = toy_open(s, &set, 0);
        struct sample a = toy_sample(t.sim, &du);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        toy_close(&t);
        NEAR(a.coordination[0], value, 1e-9 * value);
        NEAR(a.energy[TERM_BIAS], value, 1e-9 * value);
        check_derivatives(json_string_value(json_object_get(one, "derivatives")), (const double(*)[3])f, s->natoms);
        for (size_t k = 0; k < 9; k++)
            largest = fmax(largest, fabs(json_number_value(json_array_get(virial, k))));
        for (size_t k = 0; k < 9; k++) /* -1/2 sum r x f of forces */
            NEAR(2 * a.virial[k], json_number_value(json_array_get(virial, k)), 1e-8 * largest);
        free(f);
        toy_system_free(s);
        cases++;
    }
    assert_int_equal(cases, 6);
    json_decref(all);
}

/* ---- against differences ---- */

enum { ATOMS = 12, WINDOWS = 5 };
static double ladder[WINDOWS][LAMBDA_COUNT] = {{0}, {0}, {0}, {0}, {0}};

static struct settings ladder_settings(void)
{
    static const double at[WINDOWS] = {0, 0.3, 0.30002, 0.6, 1};
    struct settings set = toy_settings();
    for (int w = 0; w < WINDOWS; w++)
        ladder[w][LAMBDA_RESTRAINT] = at[w];
    set.alchemy.kind = ALCHEMY_B_STATES;
    set.alchemy.nwindows = WINDOWS;
    set.alchemy.lambda = ladder;
    set.alchemy.given[LAMBDA_RESTRAINT] = true;
    return set;
}

/* Atoms in a corner of a box, cubic or skewed, some of them on its other sides; all kinds of pairs and of biases. One
 * atom is in both groups of the first coordination. */
static struct system *atoms_in(bool skewed)
{
    static const int one[] = {0, 1, 2, 3}, other[] = {3, 4, 5, 6, 7, 8, 9}, third[] = {9, 10, 11, 0};
    static const struct {
        enum coordination_pairs pairs;
        const int *group[2];
        int n[2];
    } of[] = {{COORDINATION_BETWEEN, {other, one}, {7, 4}},
              {COORDINATION_WITHIN, {other, NULL}, {7, 0}},
              {COORDINATION_PAIRED, {one, third}, {4, 4}}};
    struct system *s = toy_system(ATOMS, 3);
    if (skewed) {
        s->box[BOX_YX] = 0.9;
        s->box[BOX_ZX] = -0.7;
        s->box[BOX_ZY] = 1.1;
    }
    for (int i = 0; i < ATOMS; i++) {
        const double shift[3] = {i % 3 - 1, i % 2, i % 4 == 3};
        double edges[3];
        for (int d = 0; d < 3; d++)
            s->x[i][d] = 0.25 * sin(5.1 * i + 2 * d) + 0.03 * i;
        box_apply(s->box, shift, edges);
        vec_add(s->x[i], 1, edges);
    }
    for (int k = 0; k < 3; k++) {
        struct coordination c = {.pairs = of[k].pairs, .periodic = 1};
        c.f = k == 0   ? rational_make(0.25, 0.05, 6, 0, INFINITY, 0)
              : k == 1 ? rational_make(0.3, 0, 8, 14, 0.9, 1)
                       : rational_make(0.35, 0.02, 5, 9, 1.2, 1);
        system_add_coordination(s, c, of[k].group, of[k].n);
    }
    return s;
}

/* A bias of every kind along every coordination, between A and B. */
static void add_biases(struct system *s, const double value[3])
{
    for (uint32_t q = 0; q < 3; q++)
        for (int kind = 0; kind < BIAS_KINDS; kind++) {
            const double off = kind == BIAS_LOWER ? 0.7 : kind == BIAS_UPPER ? -0.4 : 0.3;
            toy_add(s, biases, nbiases,
                    (struct bias){.coordination = q,
                                  .kind = (uint32_t)kind,
                                  .c = {{value[q] + off, 30 + q}, {value[q] + 0.8 * off, 40}}});
        }
}

static struct system *biased(bool skewed)
{
    struct settings set = toy_settings();
    struct system *s = atoms_in(skewed);
    double du;
    struct toy t = toy_open_reference(s, &set, 0);
    struct sample a = toy_sample(t.sim, &du);
    toy_close(&t);
    for (int q = 0; q < 3; q++)
        assert_true(a.coordination[q] > 0.1);
    add_biases(s, a.coordination);
    return s;
}

static double energy_at(const struct system *s, const struct settings *set, int window)
{
    double du[WINDOWS];
    struct toy t = toy_open_reference(s, set, window);
    double u = toy_sample(t.sim, du).potential;
    toy_close(&t);
    return u;
}

static void forces_and_virial(bool skewed)
{
    struct settings set = ladder_settings();
    struct system *s = biased(skewed);
    double f[ATOMS][3], du[WINDOWS];
    struct err e = {0};
    struct toy t = toy_open(s, &set, 1);
    struct sample a = toy_sample(t.sim, du);
    assert_int_equal(sim_forces(t.sim, f, &e), 0);
    toy_close(&t);
    NEAR(a.energy[TERM_BIAS], a.potential, 0);
    assert_true(fabs(a.potential) > 1);
    const double h = 2e-6;
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++) {
            double *x = &s->x[i][d], was = *x;
            *x = was + h;
            double up = energy_at(s, &set, 1);
            *x = was - h;
            double down = energy_at(s, &set, 1);
            *x = was;
            NEAR(f[i][d], (down - up) / (2 * h), 1e-3 + 1e-6 * fabs(f[i][d]));
        }
    double u[2];
    for (int side = 0; side < 2; side++) { /* everything scaled, the box too: dU = 2 e tr Xi */
        struct system *scaled = biased(skewed);
        const double scale = 1 + (side ? -h : h);
        memcpy(scaled->biases, s->biases, (size_t)s->nbiases * sizeof *s->biases);
        for (int k = 0; k < BOX_SIZE; k++)
            scaled->box[k] *= scale;
        for (int k = 0; k < 3 * ATOMS; k++)
            scaled->x[k / 3][k % 3] *= scale;
        u[side] = energy_at(scaled, &set, 1);
        toy_system_free(scaled);
    }
    double trace = a.virial[0] + a.virial[4] + a.virial[8];
    NEAR(2 * trace, (u[0] - u[1]) / (2 * h), 1e-3 + 1e-6 * fabs(trace));
    for (int k = 0; k < 9; k++) /* central forces */
        NEAR(a.virial[k], a.virial[3 * (k % 3) + k / 3], 1e-6);
    toy_system_free(s);
}

static void test_differences(void **state)
{
    forces_and_virial(false);
    forces_and_virial(true);
}

static void test_lambda(void **state)
{
    struct settings set = ladder_settings();
    struct system *s = biased(false);
    double du[WINDOWS], other[WINDOWS];
    struct toy t = toy_open(s, &set, 1);
    struct sample a = toy_sample(t.sim, du);
    struct sim *next = toy_replica(&t, 2, 1);
    struct sample b = toy_sample(next, other);
    sim_free(next);
    toy_close(&t);
    const double expected = (energy_at(s, &set, 2) - energy_at(s, &set, 1)) / 2e-5;
    NEAR(0.5 * (a.dvdl[LAMBDA_RESTRAINT] + b.dvdl[LAMBDA_RESTRAINT]), expected, 1e-4);
    assert_true(fabs(expected) > 1);
    for (int w = 0; w < WINDOWS; w++)
        NEAR(du[w], energy_at(s, &set, w) - a.potential, 1e-8);
    toy_system_free(s);
}

/* ---- schedules ---- */

static void test_schedule(void **state)
{
    static const struct bias_knot knots[] = {{2, 1, 10}, {6, 3, 10}, {10, 3, 30}};
    static const double at[] = {1, 1, 1, 1.5, 2, 2.5, 3, 3, 3, 3, 3, 3},
                        k[] = {10, 10, 10, 10, 10, 10, 10, 15, 20, 25, 30, 30};
    struct settings set = toy_settings();
    struct system *s = atoms_in(false);
    double du;
    for (int i = 0; i < 3; i++)
        toy_add(s, knots, nknots, knots[i]);
    toy_add(s, biases, nbiases, (struct bias){.coordination = 0, .kind = BIAS_HARMONIC, .count = 3});
    struct toy t = toy_open(s, &set, 0);
    for (int step = 0; step < 12; step++) {
        struct sample a = toy_sample(t.sim, &du);
        const double off = a.coordination[0] - at[step], expected = 0.5 * k[step] * off * off;
        NEAR(a.energy[TERM_BIAS], expected, 1e-8);
        toy_run(t.sim, SIM_STEP, 1);
    }
    toy_close(&t);
    toy_system_free(s);
}

/* ---- motion ---- */

static double total_of(struct sim *s)
{
    double du;
    struct sample a = toy_sample(s, &du);
    return a.potential + a.kinetic;
}

/* Rigid waters that are pulled together around one of them, a short time on a device that is emulated: how far the
 * total energy is off at most, and the coordination in the end. */
static double drift(bool bias, double *coordination)
{
    const uint32_t rounds = (uint32_t)toy_allowed(6, -5);
    struct settings set = toy_settings();
    struct system *s = toy_water(6);
    struct err e = {0};
    int oxygen[216], n = s->natoms / 3;
    for (int i = 0; i < n; i++)
        oxygen[i] = 3 * i;
    const int *const groups[2] = {oxygen, oxygen + 1};
    const int counts[2] = {1, n - 1};
    system_add_coordination(s, (struct coordination){.periodic = 1, .f = rational_make(0.3, 0, 6, 0, INFINITY, 0)},
                            groups, counts);
    add_bias(s, BIAS_HARMONIC, 8, bias ? 40 : 0);
    struct toy t = toy_open(s, &set, 0);
    double du, most = 0;
    toy_run(t.sim, SIM_MINIMIZE, 5);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 10);
    const double start = total_of(t.sim);
    for (uint32_t k = 0; k < rounds; k++) {
        toy_run(t.sim, SIM_STEP, 10 * rounds);
        most = fmax(most, fabs(total_of(t.sim) - start));
    }
    *coordination = toy_sample(t.sim, &du).coordination[0];
    toy_close(&t);
    toy_system_free(s);
    return most;
}

static void test_motion(void **state)
{
    double q[2];
    const double plain = drift(false, &q[0]), pulled = drift(true, &q[1]);
    print_message("total energy: off by %.3g kJ/mol without a bias, %.3g with one; coordination %.3g, %.3g\n", plain,
                  pulled, q[0], q[1]);
    assert_true(pulled < 2 * plain + 0.5);
    assert_true(q[1] > q[0] + 0.2);
}

/* A lost list in the middle of an evaluation, and minimization: sums are left clean. */
static void test_clean_sums(void **state)
{
    struct settings set = toy_settings();
    struct system *s = biased(false), *again = biased(false);
    double du, f[ATOMS][3], g[ATOMS][3];
    struct err e = {0};
    struct toy t = toy_open(s, &set, 0);
    toy_run(t.sim, SIM_MINIMIZE, 5);
    toy_run(t.sim, SIM_BAROSTAT, 3);
    toy_run(t.sim, SIM_STEP, 5);
    struct sample a = toy_sample(t.sim, &du);
    assert_int_equal(sim_forces(t.sim, f, &e), 0);
    assert_int_equal(sim_get(t.sim, again->x, NULL, again->box, &e), 0);
    toy_close(&t);
    t = toy_open(again, &set, 0);
    struct sample b = toy_sample(t.sim, &du);
    assert_int_equal(sim_forces(t.sim, g, &e), 0);
    toy_close(&t);
    assert_memory_equal(f, g, sizeof f);
    assert_memory_equal(a.virial, b.virial, sizeof a.virial);
    assert_memory_equal(a.coordination, b.coordination, sizeof a.coordination);
    toy_system_free(s);
    toy_system_free(again);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plumed), cmocka_unit_test(test_differences),
                                       cmocka_unit_test(test_lambda), cmocka_unit_test(test_schedule),
                                       cmocka_unit_test(test_motion), cmocka_unit_test(test_clean_sums)};
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
