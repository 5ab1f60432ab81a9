/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/ladder/pilot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/json/number_json.h"
#include "engine/base/mem.h"

#define DISTANCE_MOST 20.0 /* kT */
#define DISAGREE 2.0
#define OVERLAP_SEEN 0.003 /* less is no more than that there is hardly any */
#define SHARE_LEAST 1e-3   /* kT: a spec takes no shares of 0 */
#define OVERLAP_SAME 0.49  /* more is one state, but for noise */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static int whole(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static int lacks(struct err *e, const char *what)
{
    return err_set(e, ERR_ESTIMATE, "no ladder can be proposed from these results: %s", what);
}

/* The lambda vectors of repeat 0, whose windows come first. */
static int read_lambda(struct pilot *p, const json_t *windows, struct err *e)
{
    const json_t *first = json_object_get(json_array_get(windows, 0), "lambda"), *value, *window;
    const char *key;
    size_t i;
    json_object_foreach ((json_t *)first, key, value) {
        if (p->path.ncomponents == PILOT_COMPONENTS)
            return lacks(e, "more lambda components than there are");
        if (!strcmp(key, "fep"))
            return lacks(e, "their fep-lambda moves several components at once; expected one for each");
        p->name[p->path.ncomponents++] = key;
    }
    p->lambda = xcalloc(json_array_size(windows) * (size_t)p->path.ncomponents, sizeof *p->lambda);
    json_array_foreach (windows, i, window) {
        const json_t *lambda = json_object_get(window, "lambda");
        if (json_integer_value(json_object_get(window, "repeat")))
            break;
        for (int c = 0; c < p->path.ncomponents; c++)
            p->lambda[i * (size_t)p->path.ncomponents + (size_t)c] = number(lambda, p->name[c]);
        p->path.nstates++;
    }
    p->path.lambda = p->lambda;
    return 0;
}

static int read_steps(struct pilot *p, const json_t *steps, struct err *e)
{
    const json_t *step;
    size_t i;
    int at = 0;
    if (!json_array_size(steps))
        return lacks(e,
                     "they have no thermodynamic length (a single window, walkers that switch, or no dH/dlambda of "
                     "every component)");
    p->steps = xcalloc(json_array_size(steps), sizeof *p->steps);
    json_array_foreach (steps, i, step) {
        struct spacing_step *s = p->steps + i;
        s->from = whole(step, "from");
        s->to = whole(step, "to");
        s->deviation[0] = number(step, "deviation_from");
        s->deviation[1] = number(step, "deviation_to");
        if (s->from != at || s->to <= at || s->to >= p->path.nstates)
            return lacks(e, "an end of the ladder has no samples");
        at = s->to;
    }
    p->path.steps = p->steps;
    p->path.nsteps = (int)i;
    return at == p->path.nstates - 1 ? 0 : lacks(e, "an end of the ladder has no samples");
}

/* ---- steps whose ends do not tell how long they are ---- */

/* How far apart two windows are whose samples overlap so much, energy differences being normal. */
static double distance_of(double overlap)
{
    double low = 0, high = DISTANCE_MOST;
    while (high - low > 1e-4) {
        const double at[2] = {0, 0.5 * (low + high)};
        *(spacing_overlap(at, 2) > overlap ? &low : &high) = at[1];
    }
    return high;
}

static double overlap_measured(const json_t *results, const struct spacing_step *step)
{
    const json_t *pair;
    size_t i;
    json_array_foreach (json_object_get(json_object_get(results, "overlap"), "neighbours"), i, pair)
        if (whole(pair, "from") == step->from && whole(pair, "to") == step->to)
            return number(pair, "overlap");
    return NAN;
}

/* dH/dlambda at both ends says how long a step is if it goes on as a straight line in between. A soft core may begin
 * slowly and then go fast, or the other way round. The overlap of the two windows sees the whole step: where it is not
 * what the length tells, within a factor of DISAGREE, the step is as long as the overlap tells. */
static void correct_step(struct spacing_step *step, double measured)
{
    const double length = 0.5 * (step->deviation[0] + step->deviation[1]), at[2] = {0, length};
    const double expected = spacing_overlap(at, 2);
    if (!(measured >= 0) || !(length > 0))
        return;
    const double seen = fmax(measured, OVERLAP_SEEN), apart = distance_of(fmin(seen, OVERLAP_SAME));
    const bool shorter = measured >= OVERLAP_SEEN && measured > DISAGREE * expected,
               longer = seen * DISAGREE < expected;
    for (int end = 0; end < 2 && (shorter || longer); end++)
        step->deviation[end] *= apart / length;
}

int pilot_read(struct pilot *p, const json_t *results, struct err *e)
{
    p->measured = number_from_json(json_object_get(json_object_get(results, "overlap"), "minimum"));
    int rc = read_lambda(p, json_object_get(results, "windows"), e);
    if (!rc)
        rc = read_steps(p, json_object_get(json_object_get(results, "thermodynamic_length"), "steps"), e);
    for (int i = 0; i < p->path.nsteps && !rc; i++)
        correct_step(p->steps + i, overlap_measured(results, p->steps + i));
    return rc;
}

double pilot_length(const struct pilot *p)
{
    double sum = 0;
    for (int i = 0; i < p->path.nsteps; i++)
        sum += 0.5 * (p->steps[i].deviation[0] + p->steps[i].deviation[1]);
    return sum;
}

bool pilot_is_whole(const struct pilot *p)
{
    return p->path.nsteps == p->path.nstates - 1;
}

double pilot_share(const struct pilot *p, int interval)
{
    const struct spacing_step *s = p->steps + interval;
    return fmax(0.5 * (s->deviation[0] + s->deviation[1]), SHARE_LEAST);
}

double pilot_expected(const struct pilot *p)
{
    int n = p->path.nsteps + 1;
    double *at = xcalloc((size_t)n, sizeof *at);
    for (int i = 1; i < n; i++)
        at[i] = at[i - 1] + 0.5 * (p->steps[i - 1].deviation[0] + p->steps[i - 1].deviation[1]);
    double overlap = spacing_overlap(at, n);
    free(at);
    return overlap;
}

void pilot_close(struct pilot *p)
{
    free(p->lambda);
    free(p->steps);
    *p = (struct pilot){0};
}
