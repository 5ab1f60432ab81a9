/* SPDX-License-Identifier: Apache-2.0
 *
 * A standard error of few blocks is itself uncertain: by a quarter of eight. Blocks that drift are no samples of one
 * mean: the halves of a run then differ by more than blocks within a half do. Nor are blocks that are shorter than what
 * moves: each is then like the one before, and the ratio of J. von Neumann (Ann. Math. Stat. 12, 367 (1941),
 * doi 10.1214/aoms/1177731677), the sum of squared differences of neighbours over that of differences from the mean, is
 * below the 2 of independent ones.
 */
#include "engine/observe/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define BLOCKS_LEAST 8
#define HALF_LEAST 4     /* blocks in each half that is compared */
#define HALVES_MOST 4.0  /* of Student's t with 6 degrees of freedom, chance goes beyond it once in 140 times */
#define ALIKE_LEAST 1.28 /* standard deviations below 2, where independent blocks are once in ten times */
#define INDEPENDENT_LEAST 30

static void add(struct observe_verdict *v, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct observe_verdict *v, const char *code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    v->reason[v->n].code = code;
    vsnprintf(v->reason[v->n].text, sizeof v->reason[v->n].text, fmt, ap);
    va_end(ap);
    v->n++;
}

static double mean(const double *value, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value[i];
    return sum / n;
}

/* By how many standard errors the halves of [n] blocks differ; 0: they are too few to say. */
static double halves_differ(const double *value, int n)
{
    const int half = n / 2;
    const double *second = value + n - half;
    if (half < HALF_LEAST)
        return 0;
    const double error = hypot(observe_error(value, half, 1), observe_error(second, half, 1));
    return error > 0 ? fabs(mean(value, half) - mean(second, half)) / error : 0;
}

/* Whether blocks are so like the ones before that they are hardly independent. */
static bool alike(const double *value, int n)
{
    const double middle = mean(value, n), deviation = 2 * sqrt((n - 2.0) / ((n - 1.0) * (n + 1.0)));
    double steps = 0, spread = 0;
    for (int i = 0; i < n; i++) {
        spread += (value[i] - middle) * (value[i] - middle);
        steps += i ? (value[i] - value[i - 1]) * (value[i] - value[i - 1]) : 0;
    }
    return spread > 0 && steps < (2 - ALIKE_LEAST * deviation) * spread;
}

struct observe_verdict observe_verdict(const struct observe_kind *kind, const struct observe_result *r)
{
    double value[OBSERVE_BLOCKS];
    const int n = r->seen->frames ? kind->of_blocks(r, value) : -1;
    struct observe_verdict v = {.word = "converged", .number = n >= 0};
    if (n < 0) {
        v.word = "failed";
        add(&v, r->seen->frames ? "no_answer" : "no_samples",
            r->seen->frames ? "the frames carry no number yet: it needs longer" : "it has no frame");
        return v;
    }
    const double differ = halves_differ(value, n), independent = kind->independent ? kind->independent(r) : INFINITY;
    if (n < BLOCKS_LEAST)
        add(&v, "few_samples", "its error is from %d %s, below %d: it needs longer", n, n == 1 ? "block" : "blocks",
            BLOCKS_LEAST);
    if (independent < INDEPENDENT_LEAST)
        add(&v, "few_samples", "its frames are worth fewer than %d independent dipoles: it needs longer",
            INDEPENDENT_LEAST);
    if (n >= BLOCKS_LEAST && alike(value, n))
        add(&v, "slow", "each block is like the one before: what moves takes longer than a block: it needs longer");
    if (differ > HALVES_MOST)
        add(&v, "halves", "its first and second half differ by more than %g standard errors: it needs longer",
            HALVES_MOST);
    v.word = v.n ? "unconverged" : v.word;
    return v;
}

void observe_verdict_json(const struct observe_kind *kind, const struct observe_result *r, struct writer *w)
{
    const struct observe_verdict v = observe_verdict(kind, r);
    jw_begin(w, "verdict", '{');
    jw_text(w, "verdict", v.word);
    jw_begin(w, "reasons", '[');
    for (int i = 0; i < v.n; i++) {
        jw_begin(w, NULL, '{');
        jw_text(w, "code", v.reason[i].code);
        jw_text(w, "text", v.reason[i].text);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    jw_end(w, '}');
}
