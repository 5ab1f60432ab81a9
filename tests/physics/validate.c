/* SPDX-License-Identifier: Apache-2.0
 *
 * Long checks of the sampling on water, run by hand (suite `validation`); tests/bench/LOG.md keeps their outcome.
 *
 * usage: validate nve|nvt|npt PICOSECONDS
 *   nve  1000 waters, velocity Verlet: drift of the total energy
 *   nvt  216 waters at two temperatures: kinetic energies against their gamma distribution, potential energies of the two
 *        against each other (Boltzmann factors)
 *   npt  216 waters at two pressures: volumes against each other; density of SPC/E at 298.15 K and 1 bar
 */
#undef NDEBUG
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/lib/toy.h"

enum { STATES = 2, REPLICAS = 2, BLOCKS = 10, BINS = 20 };

static bool all_good = true;

/* One line of the report; good: within 3 errors, or below the limit when there is no error. */
static void verdict(const char *what, double value, double expected, double error)
{
    bool good = error > 0 ? fabs(value - expected) < 3 * error : fabs(value) < expected;
    printf("%s %s: %.6g, expected %s%.6g", good ? "ok  " : "FAIL", what, value, error > 0 ? "" : "below ", expected);
    if (error > 0)
        printf(" +- %.2g", error);
    printf("\n");
    fflush(stdout);
    all_good &= good;
}

static struct settings settings_at(double temperature, double bar)
{
    struct settings set = toy_settings();
    set.nonbonded.dispersion = DISPERSION_ENERGY_PRESSURE;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    set.integrator.temperature = temperature;
    set.integrator.friction = 2;
    set.barostat = (struct barostat_settings){.on = bar > 0, .pressure = bar > 0 ? bar : 1, .every = 25};
    return set;
}

static void relax(struct sim *s)
{
    struct err e = {0};
    sim_minimize_setup(s, 500);
    toy_run(s, SIM_MINIMIZE, 100);
    if (sim_thermalize(s, &e))
        abort();
}

/* ---- drift ---- */

static void nve(double picoseconds)
{
    struct system *s = toy_water(10);
    struct settings set = settings_at(298.15, 0);
    struct err e = {0};
    struct toy t = toy_open(s, &set, 0);
    relax(t.sim);
    toy_run(t.sim, SIM_STEP, 10000);
    s->v = xcalloc((size_t)s->natoms, sizeof *s->v);
    if (sim_get(t.sim, s->x, s->v, NULL, &e))
        abort();
    toy_close(&t);

    set.integrator.kind = INTEGRATOR_VELOCITY_VERLET;
    t = toy_open(s, &set, 0);
    int n = (int)(picoseconds / 0.1);
    double st = 0, su = 0, stt = 0, stu = 0, suu = 0, temperature = 0, du;
    for (int i = 0; i < n; i++) {
        toy_run(t.sim, SIM_STEP, 50);
        struct sample a = toy_sample(t.sim, &du);
        double time = 0.1 * i * 1e-3, u = a.potential + a.kinetic; /* ns */
        st += time, su += u, stt += time * time, stu += time * u, suu += u * u;
        temperature += a.temperature / n;
    }
    double freedom = 6.0 * 1000, kt = UNIT_R * temperature;
    double slope = (stu - st * su / n) / (stt - st * st / n);
    double spread = sqrt((suu - su * su / n - slope * (stu - st * su / n)) / n);
    printf("%.0f ps at %.1f K, total energy fluctuates by %.3g kJ/mol about its trend\n", picoseconds, temperature,
           spread);
    verdict("drift, kT per ns and degree of freedom", slope / kt / freedom, 1e-3, 0);
    toy_close(&t);
    toy_system_free(s);
}

/* ---- two states against each other ---- */

struct record {
    double *value[STATES]; /* what the two states disagree about: U or V */
    double *kinetic[STATES];
    int n; /* in each state; replica by replica */
};

/* Runs both states at once, REPLICAS of each, and records every 0.2 ps. */
static struct record collect(struct toy t[STATES], double picoseconds, bool npt)
{
    struct record r = {.n = REPLICAS * BLOCKS * (int)(picoseconds / 0.2 / BLOCKS)};
    int each = r.n / REPLICAS;
    struct sim *s[STATES][REPLICAS];
    struct err e = {0};
    double du;
    for (int k = 0; k < STATES; k++) {
        r.value[k] = xcalloc((size_t)r.n, sizeof(double));
        r.kinetic[k] = xcalloc((size_t)r.n, sizeof(double));
        for (int i = 0; i < REPLICAS; i++) {
            s[k][i] = toy_replica(&t[k], 0, (uint32_t)(10 * k + i));
            relax(s[k][i]);
        }
    }
    int warm = each / 5;
    for (int step = -warm; step < each; step++)
        for (int piece = 0; piece < 4; piece++) {
            for (int j = 0; j < STATES * REPLICAS; j++)
                if (sim_submit(s[j % STATES][j / STATES], SIM_STEP, 25, &e))
                    abort();
            for (int j = 0; j < STATES * REPLICAS; j++) {
                struct sim *sim = s[j % STATES][j / STATES];
                if (sim_get(sim, NULL, NULL, NULL, &e) || sim_outcome(sim, &e) < 0) /* waits */
                    abort();
                if (sim_steps_done(sim) < 25)
                    toy_run(sim, SIM_STEP, 25 - sim_steps_done(sim));
                if (npt)
                    toy_run(sim, SIM_BAROSTAT, 1);
                if (piece < 3 || step < 0)
                    continue;
                struct sample a = toy_sample(sim, &du);
                int at = j / STATES * each + step;
                r.value[j % STATES][at] = npt ? a.box[0] * a.box[1] * a.box[2] : a.potential;
                r.kinetic[j % STATES][at] = a.kinetic;
            }
        }
    for (int j = 0; j < STATES * REPLICAS; j++)
        sim_free(s[j % STATES][j / STATES]);
    return r;
}

/* Slope b of ln(p1/p0) = a + b x by maximum likelihood (Shirts 2013, doi 10.1021/ct300688p), leaving out one block of
 * `left_out` (-1: none). */
static double slope(const struct record *r, int left_out)
{
    double center = 0, width = 0;
    for (int k = 0; k < STATES; k++)
        for (int i = 0; i < r->n; i++)
            center += r->value[k][i] / (STATES * r->n);
    for (int k = 0; k < STATES; k++)
        for (int i = 0; i < r->n; i++)
            width += pow(r->value[k][i] - center, 2) / (STATES * r->n);
    width = sqrt(width);
    double a = 0, b = 0;
    for (int iteration = 0; iteration < 50; iteration++) { /* Newton */
        double g[2] = {0}, h[3] = {0};
        for (int k = 0; k < STATES; k++)
            for (int i = 0; i < r->n; i++) {
                if (i * BLOCKS / r->n == left_out)
                    continue;
                double x = (r->value[k][i] - center) / width, p = 1 / (1 + exp(-a - b * x));
                g[0] += k - p, g[1] += (k - p) * x;
                h[0] += p * (1 - p), h[1] += p * (1 - p) * x, h[2] += p * (1 - p) * x * x;
            }
        double det = h[0] * h[2] - h[1] * h[1];
        a += (h[2] * g[0] - h[1] * g[1]) / det;
        b += (h[0] * g[1] - h[1] * g[0]) / det;
    }
    return b / width;
}

static void compare(const char *what, const struct record *r, double expected)
{
    double all = slope(r, -1), mean = 0, spread = 0;
    for (int k = 0; k < BLOCKS; k++)
        mean += slope(r, k) / BLOCKS;
    for (int k = 0; k < BLOCKS; k++)
        spread += pow(slope(r, k) - mean, 2);
    verdict(what, all / expected, 1, sqrt(spread * (BLOCKS - 1) / BLOCKS) / fabs(expected));
}

/* Kinetic energies: mean, and chi-square over bins of equal probability of the gamma distribution, its quantiles by Wilson
 * and Hilferty's cube root. */
static void kinetic(const struct record *r, int state, double temperature, double freedom)
{
    double kt = UNIT_R * temperature, shape = 0.5 * freedom, count[BINS] = {0}, mean = 0, chi2 = 0;
    for (int i = 0; i < r->n; i++) {
        double z = (cbrt(r->kinetic[state][i] / (shape * kt)) - (1 - 1 / (9 * shape))) * sqrt(9 * shape);
        int bin = (int)(BINS * 0.5 * erfc(-z / sqrt(2)));
        count[bin < BINS ? bin : BINS - 1]++;
        mean += r->kinetic[state][i] / (shape * kt) / r->n;
    }
    double expected = (double)r->n / BINS;
    for (int i = 0; i < BINS; i++)
        chi2 += pow(count[i] - expected, 2) / expected;
    char what[100];
    snprintf(what, sizeof what, "mean kinetic energy at %g K, of theory", temperature);
    verdict(what, mean, 1, sqrt(2 / freedom / r->n) * 1.5); /* records 0.2 ps apart are a little correlated */
    snprintf(what, sizeof what, "chi-square of kinetic energies at %g K, %d bins", temperature, BINS);
    verdict(what, chi2, BINS - 1, sqrt(2.0 * (BINS - 1)));
}

static void free_record(struct record *r)
{
    for (int k = 0; k < STATES; k++) {
        free(r->value[k]);
        free(r->kinetic[k]);
    }
}

static void nvt(double picoseconds)
{
    static const double temperature[STATES] = {298.15, 308.15};
    struct system *s = toy_water(6);
    struct settings set[STATES];
    struct toy t[STATES];
    for (int k = 0; k < STATES; k++) {
        set[k] = settings_at(temperature[k], 0);
        t[k] = toy_open(s, &set[k], 0);
    }
    struct record r = collect(t, picoseconds, false);
    for (int k = 0; k < STATES; k++)
        kinetic(&r, k, temperature[k], 6.0 * 216);
    compare("slope of ln p(U) ratio, of theory", &r, 1 / (UNIT_R * temperature[0]) - 1 / (UNIT_R * temperature[1]));
    free_record(&r);
    for (int k = 0; k < STATES; k++)
        toy_close(&t[k]);
    toy_system_free(s);
}

static void npt(double picoseconds)
{
    static const double bar[STATES] = {1, 401};
    struct system *s = toy_water(6);
    struct settings set[STATES];
    struct toy t[STATES];
    for (int k = 0; k < STATES; k++) {
        set[k] = settings_at(298.15, bar[k]);
        t[k] = toy_open(s, &set[k], 0);
    }
    struct record r = collect(t, picoseconds, true);
    compare("slope of ln p(V) ratio, of theory", &r, -(bar[1] - bar[0]) / UNIT_BAR / (UNIT_R * 298.15));
    double mean = 0, spread = 0, kg = 216 * 18.0154 * 1.66053906660; /* kg/m^3 nm^3 */
    for (int i = 0; i < r.n; i++)
        mean += kg / r.value[0][i] / r.n;
    for (int k = 0; k < BLOCKS; k++) {
        double block = 0;
        for (int i = k * r.n / BLOCKS; i < (k + 1) * r.n / BLOCKS; i++)
            block += kg / r.value[0][i] / (r.n / BLOCKS);
        spread += pow(block - mean, 2);
    }
    double error = sqrt(spread / BLOCKS / (BLOCKS - 1));
    /* 998.1 with a 1.0 nm cut-off; 0.9 nm and 216 molecules are allowed 2 kg/m^3 */
    verdict("density of SPC/E at 298.15 K and 1 bar, kg/m^3", mean, 998.1, sqrt(error * error + 4 / 9.0));
    free_record(&r);
    for (int k = 0; k < STATES; k++)
        toy_close(&t[k]);
    toy_system_free(s);
}

int main(int argc, char **argv)
{
    double picoseconds = argc == 3 ? atof(argv[2]) : 0;
    if (!(picoseconds >= 10)) {
        fprintf(stderr, "usage: validate nve|nvt|npt PICOSECONDS (at least 10)\n");
        return 2;
    }
    if (strcmp(argv[1], "nve") == 0)
        nve(picoseconds);
    else if (strcmp(argv[1], "nvt") == 0)
        nvt(picoseconds);
    else
        npt(picoseconds);
    return all_good ? 0 : 1;
}
