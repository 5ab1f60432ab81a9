/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether numbers called converged are right within their errors, on ensembles of known free energy
 * (tests/lib/ensembles.h) that try to deceive: of the converged ones the root of the mean of ((number - exact) /
 * error)^2 is 0.8 to 1.2, and no more than 2 % of all ensembles (or one) are converged and more than 4 errors off.
 * And whether numbers that are good are called so: 95 %.
 *
 * Arguments: ENSEMBLES of each kind; also words of the kinds wanted.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ensembles.h"

struct kind {
    const char *name;
    double least, most; /* of what is converged, as shares of all */
    struct known_ensemble m;
};

#define SLOW(name, n, t, share)                                                                                        \
    {                                                                                                                  \
        "slow mode " name, 0, 1,                                                                                       \
        {                                                                                                              \
            .windows = 5, .rows = n, .mean = -2.8, .variance = 4.4, .slow = share, .tau = t                            \
        }                                                                                                              \
    }
#define SWITCH(name, n)                                                                                                \
    {                                                                                                                  \
        "hops " name, 0, 1,                                                                                            \
        {                                                                                                              \
            .windows = 3, .rows = 2000, .mean = 0.5, .variance = 1, .step = 1, .hops = n                               \
        }                                                                                                              \
    }
#define SMALL_SWITCH(name, n)                                                                                          \
    {                                                                                                                  \
        "small hops " name, 0, 1,                                                                                      \
        {                                                                                                              \
            .windows = 3, .rows = 2000, .mean = 0.5, .variance = 1, .step = 0.35, .hops = n                            \
        }                                                                                                              \
    }
#define WAVE(p, n)                                                                                                     \
    {                                                                                                                  \
        "oscillator " #p ", " #n, 0, 1,                                                                                \
        {                                                                                                              \
            .windows = 5, .rows = n, .k1 = 4, .period = p, .decay = 20                                                 \
        }                                                                                                              \
    }
#define DRIFT(name, a, b, c)                                                                                           \
    {                                                                                                                  \
        "drift " name, 0, 1,                                                                                           \
        {                                                                                                              \
            .windows = 5, .rows = 1000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 1, .relax = a,                \
            .relax_share = b, .trend = c                                                                               \
        }                                                                                                              \
    }
#define LABEL(name, kind, most)                                                                                        \
    {                                                                                                                  \
        "labels " name, 0, most,                                                                                       \
        {                                                                                                              \
            .windows = 5, .rows = 1000, .mean = 1.5, .variance = 4, .slow = 1, .tau = 1, .labels = kind                \
        }                                                                                                              \
    }

static const struct kind kinds[] = {
    {"good white", 0.95, 1, {.windows = 5, .rows = 1000, .mean = -2.8, .variance = 4.4}},
    {"good AR 2", 0.95, 1, {.windows = 5, .rows = 1000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 2}},
    {"good AR 8", 0.95, 1, {.windows = 5, .rows = 2000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 8}},
    {"good AR 4, 12 windows",
     0.95,
     1,
     {.windows = 12, .rows = 1000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 4}},
    {"good AR 80", 0.95, 1, {.windows = 5, .rows = 10000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 80}},
    {"good 50 uncorrelated, 8",
     0.85, /* some of eight windows are always thought to have fewer */
     1,
     {.windows = 8, .rows = 1000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 10}},
    {"good AR 0 to 10, 12",
     0.95,
     1,
     {.windows = 12, .rows = 1000, .mean = -2.8, .variance = 4.4, .slow = 1, .tau = 10, .uneven = true}},
    {"good few 100", 0.95, 1, {.windows = 5, .rows = 100, .mean = -2.8, .variance = 4.4}},
    SWITCH("0.3", 0.3),
    SWITCH("1", 1),
    SWITCH("2", 2),
    SWITCH("4", 4),
    SWITCH("8", 8),
    SWITCH("16", 16),
    SWITCH("50", 50),
    SMALL_SWITCH("1", 1),
    SMALL_SWITCH("4", 4),
    SMALL_SWITCH("8", 8),
    SMALL_SWITCH("16", 16),
    SMALL_SWITCH("50", 50),
    SLOW("2000, 100, 2 %", 2000, 100, 0.02),
    SLOW("2000, 100, 5 %", 2000, 100, 0.05),
    SLOW("2000, 100, 10 %", 2000, 100, 0.1),
    SLOW("2000, 50, 5 %", 2000, 50, 0.05),
    SLOW("2000, 300, 2 %", 2000, 300, 0.02),
    SLOW("1000, 200, 3 %", 1000, 200, 0.03),
    SLOW("10000, 1000, 2 %", 10000, 1000, 0.02),
    SLOW("10000, 100, 2 %", 10000, 100, 0.02),
    WAVE(3, 1000),
    WAVE(4, 1000),
    WAVE(6, 1000),
    WAVE(10, 1000),
    WAVE(15, 1000),
    WAVE(15, 5000),
    DRIFT("none", 0, 0, 0), /* as good AR 1 */
    DRIFT("-0.3 linear", 0, 0, -0.3),
    DRIFT("1 in 0.1", 1, 0.1, 0),
    DRIFT("0.5 in 0.1", 0.5, 0.1, 0),
    DRIFT("1 in 0.3", 1, 0.3, 0),
    DRIFT("5 in 0.02", 5, 0.02, 0),
    LABEL("all one", LABELS_ALL_ONE, 0.02),
    LABEL("neighbour", LABELS_NEIGHBOUR, 0.02),
    LABEL("sign", LABELS_SIGN, 0.02),
    LABEL("unit", LABELS_UNIT, 0.02),
    LABEL("exchanged", LABELS_EXCHANGED, 0.02),
    LABEL("ends", LABELS_ENDS, 0.02),
    LABEL("doubled", LABELS_DOUBLED, 0.1),
    {"unequal 40000 beside 100",
     0,
     1,
     {.windows = 5, .rows = 100, .mean = 1.5, .variance = 4, .long_window = 2, .long_rows = 40000}},
    {"dense 40", 0, 1, {.windows = 40, .rows = 200, .k1 = 4, .period = 4, .decay = 1}},
};

struct tally {
    int n, converged, one, two, beyond, unseen;
    double square, all_square;
    int nreasons, count[40];
    const char *code[40];
};

static void count_reasons(struct tally *t, const struct verdict *v)
{
    const char *last = "";
    for (int i = 0; i < v->nreasons; i++) {
        int k = 0;
        if (v->reasons[i].code == last)
            continue;
        last = v->reasons[i].code;
        while (k < t->nreasons && strcmp(t->code[k], last))
            k++;
        if (k == t->nreasons)
            t->code[t->nreasons++] = last;
        t->count[k]++;
    }
}

static void run(struct tally *t, const struct kind *k, int ensembles)
{
    *t = (struct tally){0};
    for (int i = 0; i < ensembles; i++) {
        struct ladder l;
        struct result r;
        int hopped;
        known_estimate(&k->m, (uint64_t)(i + 1), &l, &r, &hopped);
        const struct range *x = &r.estimators[ESTIMATOR_MBAR].total;
        double z = (x->value - known_exact(&k->m)) / x->error;
        count_reasons(t, &r.estimators[ESTIMATOR_MBAR].verdict);
        if (k->m.hops > 0 && !hopped) {
            t->unseen++;
        } else {
            t->n++;
            t->all_square += x->ok ? z * z : 0;
            if (x->verdict == VERDICT_CONVERGED) {
                t->converged++;
                t->square += z * z;
                t->one += fabs(z) < 1;
                t->two += fabs(z) < 2;
                t->beyond += fabs(z) > 4;
            }
        }
        result_close(&r);
        ladder_close(&l);
    }
}

/* Prints a line of the table; whether it is as it must be, as far as so few can tell: of m deviations in units of
 * their errors the root mean square scatters by 1 / sqrt(2 m) of it, a share p of n ensembles by sqrt(p (1 - p) /
 * n); 2.5 of these are allowed. Where fewer than 5 % converge, those beyond 4 errors decide: a state that was not
 * seen cannot be known of, and one of them makes any mean square. */
static bool judge(const struct kind *k, const struct tally *t)
{
    const double LEAST = 0.8, MOST = 1.2, SCATTER = 2.5;
    double n = t->n + t->unseen, c = t->converged, rms = c > 0 ? sqrt(t->square / c) : 0, share = c / n;
    double spread = c > 0 ? SCATTER / sqrt(2 * c) : 0;
    bool ok = share >= k->least - SCATTER * sqrt(k->least * (1 - k->least) / n) && t->beyond <= fmax(1, 0.02 * n);
    ok = ok && share <= k->most + SCATTER * sqrt(k->most * (1 - k->most) / n);
    ok = ok && (c < 0.05 * n || (rms >= LEAST * (1 - spread) && rms <= MOST * (1 + spread)));
    printf("%-28s %5d %7d %9d %6.2f %5.2f %5.2f %7d %s ", k->name, t->n, t->unseen, t->converged, rms,
           c > 0 ? t->one / c : 0, c > 0 ? t->two / c : 0, t->beyond, ok ? "" : "<- wrong");
    for (int i = 0; i < t->nreasons; i++)
        printf(" %s %d", t->code[i], t->count[i]);
    printf("\n");
    fflush(stdout);
    return ok;
}

static bool wanted(const char *name, int nwords, char *const *words)
{
    bool any = !nwords;
    for (int i = 0; i < nwords; i++)
        any = any || strstr(name, words[i]);
    return any;
}

int main(int argc, char **argv)
{
    int ensembles = argc > 1 ? atoi(argv[1]) : 60;
    bool ok = true;
    printf(
        "of the converged: root mean square of (number - exact) / error, shares within one and two errors, number "
        "beyond four\n");
    printf("%-28s %5s %7s %9s %6s %5s %5s %7s\n", "kind", "of", "no hop", "converged", "rms", "1", "2", "4");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct tally t;
        if (!wanted(kinds[i].name, argc - 2, argv + 2))
            continue;
        run(&t, kinds + i, ensembles);
        ok &= judge(kinds + i, &t);
    }
    return ok ? 0 : 1;
}
