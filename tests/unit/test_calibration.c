/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the errors of results.json are those that are made: many ensembles of correlated samples with known free
 * energies, each through the whole path, from rows that the project's own writer puts into dhdl.xvg to the JSON.
 *
 * Arguments: autoregressive or hopping; by hand also [ENSEMBLES ROWS G]..., lines of one's own of which the errors must be
 * right. A window's energy is u(x, s) = a (x - c)^2 / 2 + b s in kT, with a, c and b
 * linear in lambda; x is Gaussian, s is +1 or -1, and they are independent, so G = ln(a) / 2 - ln(2 cosh b). Either x is
 * an autoregressive series, or x has no memory and s hops.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "engine/base/units.h"
#include "engine/estimate/estimate.h"
#include "engine/io/output.h"
#include "tests/lib/oscillators.h"

enum { WINDOWS = 8, ENSEMBLES = 300 }; /* a line: the ratio is known to 4 %, the shares to 3 and 1.5 % */
#define TEMPERATURE 298.15

/* How x and s live, and how u depends on lambda. */
struct process {
    const char *name;
    double da, dc, db; /* a = 1 + da lambda; c = dc lambda; b = db lambda */
    bool hops;
};
static const struct process processes[] = {{"autoregressive", 1, 2, 0, false}, {"hopping", 0.5, 0.5, 1, true}};

struct length {
    int rows;
    double g; /* of the slow process */
    int ensembles;
};
/* From these the errors must be right, from those nobody may believe them. */
static const struct length enough[] = {
    {100, 1, ENSEMBLES}, {200, 4, ENSEMBLES}, {200, 8, ENSEMBLES}, {400, 18, ENSEMBLES}};
static const struct length few[] = {{200, 10.25, ENSEMBLES}, {200, 28, ENSEMBLES}, {300, 80, ENSEMBLES}};

static double exact(const struct process *p)
{
    return 0.5 * log(1 + p->da) - log(cosh(p->db));
}

static double energy(const struct process *p, double lambda, double x, int s)
{
    double off = x - p->dc * lambda;
    return 0.5 * (1 + p->da * lambda) * off * off + p->db * lambda * s;
}

static double slope(const struct process *p, double lambda, double x, int s)
{
    double off = x - p->dc * lambda;
    return 0.5 * p->da * off * off - (1 + p->da * lambda) * off * p->dc + p->db * s;
}

/* s flips with a chance proportional to the share of the other state: its correlation falls by `stay` a row. */
static int hop(int s, double b, double stay, uint64_t *seed)
{
    double share = exp(b * s) / (2 * cosh(b)); /* of -s */
    return random_uniform(seed) < (1 - stay) * share ? -s : s;
}

static void write_window(const char *folder, const struct process *p, const struct settings *set, int k,
                         const struct length *length, uint64_t seed)
{
    const double lambda = set->alchemy.lambda[k][LAMBDA_VDW], kt = UNIT_R * TEMPERATURE;
    const double memory = (length->g - 1) / (length->g + 1), spread = 1 / sqrt(1 + p->da * lambda);
    double delta[WINDOWS], y = random_normal(&seed);
    struct sample row = {.delta_u = delta, .box = {1, 1, 1}};
    struct buf text = {0}, path = {0};
    int s = random_uniform(&seed) < exp(-p->db * lambda) / (2 * cosh(p->db * lambda)) ? 1 : -1;
    dhdl_header(&text, set, k, false);
    for (int i = 0; i < length->rows; i++) {
        double x = p->dc * lambda + spread * y;
        row.time = 0.1 * i;
        row.dvdl[LAMBDA_VDW] = kt * slope(p, lambda, x, s);
        for (int j = 0; j < WINDOWS; j++)
            delta[j] = kt * (energy(p, set->alchemy.lambda[j][LAMBDA_VDW], x, s) - energy(p, lambda, x, s));
        dhdl_row(&text, set, false, &row);
        y = p->hops ? random_normal(&seed) : memory * y + sqrt(1 - memory * memory) * random_normal(&seed);
        s = p->hops ? hop(s, p->db * lambda, memory, &seed) : s;
    }
    buf_printf(&path, "%s/lambda_%02d/dhdl.xvg", folder, k);
    FILE *f = fopen(path.data, "w");
    assert(f && fwrite(text.data, 1, text.len, f) == text.len && !fclose(f));
    buf_free(&path);
    buf_free(&text);
}

/* What one ensemble's results.json says. */
struct answer {
    double value, error; /* kT */
    bool converged;
};

static struct answer estimate(const char *folder, const struct settings *set)
{
    static const struct estimate_replica replicas[WINDOWS];
    struct estimate_ensemble q = {.directory = folder, .set = set, .repeats = 1, .replicas = replicas};
    struct answer a;
    struct buf json = {0};
    estimate_ensemble(&q, &json);
    json_t *r = json_loadb(json.data, json.len, 0, NULL);
    const double kcal = UNIT_KCAL / (UNIT_R * TEMPERATURE); /* kT */
    assert(r && json_is_object(json_object_get(r, "estimate")));
    a.value = kcal * json_number_value(json_object_get(json_object_get(r, "estimate"), "magnitude"));
    a.error = kcal * json_number_value(json_object_get(json_object_get(r, "uncertainty"), "magnitude"));
    const json_t *verdict = json_object_get(json_object_get(r, "verdict"), "verdict");
    a.converged = !strcmp(json_string_value(verdict), "converged");
    json_decref(r);
    buf_free(&json);
    return a;
}

/* Over all ensembles of one length. */
struct tally {
    double square, told; /* sums of squared deviations and of errors told */
    int one, two, converged;
};

static void run(struct tally *t, const char *folder, const struct process *p, const struct settings *set,
                const struct length *length)
{
    *t = (struct tally){0};
    for (int i = 0; i < length->ensembles; i++) {
        for (int k = 0; k < WINDOWS; k++)
            write_window(folder, p, set, k, length,
                         (uint64_t)i * 1000003 + (uint64_t)k * 7919 + (uint64_t)(length->rows * 131 + length->g * 17));
        struct answer a = estimate(folder, set);
        double off = fabs(a.value - exact(p));
        t->square += off * off;
        t->told += a.error;
        t->one += off < a.error;
        t->two += off < 2 * a.error;
        t->converged += a.converged;
    }
}

/* Prints a line of the table; whether it is as it must be. */
static bool line(const struct process *p, const struct length *length, const struct tally *t, bool believe)
{
    double n = length->ensembles, made = sqrt(t->square / n), told = t->told / n, ratio = told / made;
    double one = 100 * t->one / n, two = 100 * t->two / n, all = 100 * t->converged / n;
    bool ok = believe ? ratio >= 0.9 && ratio <= 1.15 && one >= 60 && one <= 76 && two >= 91 && two <= 98 : all <= 5;
    printf("%-15s %9d %5d %6.1f %7.0f %8.3f %8.3f %7.2f %7.1f %7.1f %10.1f %s\n", p->name, length->ensembles,
           length->rows, length->g, length->rows / length->g, made, told, ratio, one, two, all, ok ? "" : "<- wrong");
    fflush(stdout);
    return ok;
}

/* One line of the table. */
static bool judge(const char *folder, const struct process *p, const struct settings *set, const struct length *length,
                  bool believe)
{
    struct tally t;
    run(&t, folder, p, set, length);
    return line(p, length, &t, believe);
}

int main(int argc, char **argv)
{
    const struct process *p = processes + (argc > 1 && !strcmp(argv[1], "hopping"));
    double lambda[WINDOWS][LAMBDA_COUNT] = {0};
    struct settings set = {.integrator.temperature = TEMPERATURE};
    char folder[] = "/tmp/shoal-test-XXXXXX", command[64];
    bool ok = true;
    set.alchemy = (struct alchemy_settings){
        .kind = ALCHEMY_DECOUPLE, .nwindows = WINDOWS, .lambda = lambda, .given = {[LAMBDA_VDW] = true}};
    assert(mkdtemp(folder));
    for (int k = 0; k < WINDOWS; k++) {
        char window[64];
        lambda[k][LAMBDA_VDW] = round(1e4 * k / (WINDOWS - 1)) / 1e4; /* as the file has it */
        snprintf(window, sizeof window, "%s/lambda_%02d", folder, k);
        assert(!mkdir(window, 0755));
    }
    printf("errors in kT; %% within one and two errors; %% called converged\n");
    printf("%-15s %9s %5s %6s %7s %8s %8s %7s %7s %7s %10s\n", "process", "ensembles", "rows", "g", "rows/g", "made",
           "told", "ratio", "1 sigma", "2 sigma", "converged");
    for (int i = 2; i + 2 < argc; i += 3)
        ok &= judge(folder, p, &set, &(struct length){atoi(argv[i + 1]), atof(argv[i + 2]), atoi(argv[i])}, true);
    for (size_t i = 0; i < sizeof enough / sizeof *enough && argc < 3; i++)
        ok &= judge(folder, p, &set, enough + i, true);
    for (size_t i = 0; i < sizeof few / sizeof *few && argc < 3; i++)
        ok &= judge(folder, p, &set, few + i, false);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert(system(command) == 0);
    return ok ? 0 : 1;
}
