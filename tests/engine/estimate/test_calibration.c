/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the errors of results.json are those that are made: many ensembles of correlated samples with known free
 * energies, each through the whole path, from rows that the project's own writer puts into dhdl.xvg to the JSON.
 *
 * Those of ensembles that end as stop-when has it (daemon/schedule/finishing.c), too: who stops when an error looks
 * small stops when it looks too small.
 *
 * Arguments: autoregressive or hopping; by hand also [ENSEMBLES ROWS G]..., lines of one's own of which the errors must
 * be right. Or stopping; by hand also ERROR AFTER GROWTH LOOKS, a rule of one's own.
 *
 * A window's energy is u(x, s) = a (x - c)^2 / 2 + b s in kT, with a, c and b linear in lambda; x is Gaussian, s is +1
 * or -1, and they are independent, so G = ln(a) / 2 - ln(2 cosh b). Either x is an autoregressive series, or x has no
 * memory and s hops.
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
#include "engine/series/dhdl.h"
#include "tests/lib/oscillators.h"

enum {
    WINDOWS = 8,
    ENSEMBLES = 300,
    STOPPING = 100
}; /* a line: the ratio is known to 4 %, the shares to 3 and 1.5 % */
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

/* `ends`: where each row ends in the file; NULL: nobody asks. */
static void write_window(const char *folder, const struct process *p, const struct settings *set, int k,
                         const struct length *length, uint64_t seed, uint64_t *ends)
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
        if (ends)
            ends[i] = text.len;
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

static struct answer estimate(const char *folder, const struct settings *set, const struct estimate_replica *replicas)
{
    struct estimate_ensemble q = {.directory = folder, .set = set, .repeats = 1, .replicas = replicas};
    struct answer a;
    struct buf json = {0};
    estimate_ensemble(&q, &json);
    json_t *r = json_loadb(json.data, json.len, 0, NULL);
    const double kcal = UNIT_KCAL / (UNIT_R * TEMPERATURE); /* kT */
    assert(r);
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

static void count(struct tally *t, const struct process *p, struct answer a)
{
    double off = fabs(a.value - exact(p));
    assert(a.error > 0);
    t->square += off * off;
    t->told += a.error;
    t->one += off < a.error;
    t->two += off < 2 * a.error;
    t->converged += a.converged;
}

static void run(struct tally *t, const char *folder, const struct process *p, const struct settings *set,
                const struct length *length)
{
    static const struct estimate_replica whole[WINDOWS];
    *t = (struct tally){0};
    for (int i = 0; i < length->ensembles; i++) {
        for (int k = 0; k < WINDOWS; k++)
            write_window(folder, p, set, k, length,
                         (uint64_t)i * 1000003 + (uint64_t)k * 7919 + (uint64_t)(length->rows * 131 + length->g * 17),
                         NULL);
        count(t, p, estimate(folder, set, whole));
    }
}

/* What must be so of the errors: they are right, or not too small, or nobody may believe them. */
enum belief { RIGHT, NOT_TOO_SMALL, NOBODY };

/* Prints a line of the table; whether it is as it must be. */
static bool line(const struct process *p, const struct length *length, const struct tally *t, enum belief belief)
{
    double n = length->ensembles, made = sqrt(t->square / n), told = t->told / n, ratio = told / made;
    double one = 100 * t->one / n, two = 100 * t->two / n, all = 100 * t->converged / n;
    bool large_enough = ratio >= 0.9 && one >= 60 && two >= 91, too_large = ratio > 1.15 || one > 76 || two > 98;
    bool ok = belief == NOBODY ? all <= 5 : large_enough && (belief == NOT_TOO_SMALL || !too_large);
    printf("%-15s %9d %5d %6.1f %7.0f %8.3f %8.3f %7.2f %7.1f %7.1f %10.1f %s\n", p->name, length->ensembles,
           length->rows, length->g, length->rows / length->g, made, told, ratio, one, two, all, ok ? "" : "<- wrong");
    fflush(stdout);
    return ok;
}

/* One line of the table. */
static bool judge(const char *folder, const struct process *p, const struct settings *set, const struct length *length,
                  enum belief belief)
{
    struct tally t;
    run(&t, folder, p, set, length);
    return line(p, length, &t, belief);
}

/* ---- ensembles that end early ---- */

/* How they do. */
struct rule {
    double error; /* kT */
    int after;    /* rows */
    double growth;
    int looks; /* in a row */
};

/* The estimate at which one ends, and of how many rows that is. */
static struct answer stop(const char *folder, const struct settings *set, uint64_t *const ends[WINDOWS],
                          const struct rule *rule, int *rows)
{
    struct answer a = {0};
    int most = *rows, held = 0;
    for (double n = rule->after; held < rule->looks && n <= most; n *= rule->growth) {
        struct estimate_replica prefix[WINDOWS] = {{0}};
        *rows = (int)n;
        for (int k = 0; k < WINDOWS; k++)
            prefix[k] =
                (struct estimate_replica){.kind = ESTIMATE_RUNNING, .vouched = true, .dhdl_bytes = ends[k][*rows - 1]};
        a = estimate(folder, set, prefix);
        held = a.converged && a.error <= rule->error ? held + 1 : 0;
    }
    assert(held == rule->looks); /* else `most` is too few */
    return a;
}

/* Prints a line of the table, of the rows at which they ended on average. */
static bool judge_rule(const char *folder, const struct process *p, const struct settings *set, double g,
                       const struct rule *rule)
{
    struct length all = {1500, g, STOPPING}, mean = {0, g, STOPPING};
    uint64_t *ends[WINDOWS];
    double sum = 0;
    struct tally t = {0};
    for (int k = 0; k < WINDOWS; k++)
        ends[k] = xcalloc((size_t)all.rows, sizeof **ends);
    for (int i = 0; i < all.ensembles; i++) {
        int rows = all.rows;
        for (int k = 0; k < WINDOWS; k++)
            write_window(folder, p, set, k, &all, (uint64_t)i * 1000003 + (uint64_t)k * 7919 + (uint64_t)(g * 17),
                         ends[k]);
        count(&t, p, stop(folder, set, ends, rule, &rows));
        sum += rows;
    }
    for (int k = 0; k < WINDOWS; k++)
        free(ends[k]);
    mean.rows = (int)(sum / all.ensembles);
    return line(p, &mean, &t, NOT_TOO_SMALL);
}

int main(int argc, char **argv)
{
    const struct process *p = processes + (argc > 1 && !strcmp(argv[1], "hopping"));
    bool stopping = argc > 1 && !strcmp(argv[1], "stopping");
    struct rule rule = {.error = 0.08, .after = 100, .growth = 1.1, .looks = 2};
    if (stopping && argc == 6)
        rule = (struct rule){atof(argv[2]), atoi(argv[3]), atof(argv[4]), atoi(argv[5])};
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
    if (stopping)
        ok = judge_rule(folder, p, &set, 2, &rule);
    for (int i = 2; !stopping && i + 2 < argc; i += 3)
        ok &= judge(folder, p, &set, &(struct length){atoi(argv[i + 1]), atof(argv[i + 2]), atoi(argv[i])}, RIGHT);
    for (size_t i = 0; i < sizeof enough / sizeof *enough && argc < 3 && !stopping; i++)
        ok &= judge(folder, p, &set, enough + i, RIGHT);
    for (size_t i = 0; i < sizeof few / sizeof *few && argc < 3 && !stopping; i++)
        ok &= judge(folder, p, &set, few + i, NOBODY);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert(system(command) == 0);
    return ok ? 0 : 1;
}
