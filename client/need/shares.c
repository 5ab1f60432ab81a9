/* SPDX-License-Identifier: Apache-2.0 */
#include "client/need/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/results.h"
#include "engine/base/statistics/allocate.h"

#define PARTS 20 /* time is handed out in so many parts of what each would get alike */

/* Ensembles whose errors are as these say: squared, when windows had made so many parts. */
struct shares {
    int n;
    double *square, *made;
};

/* ns of a time with its unit; the number and the text after it into *number and *unit. */
static int read_time(const char *text, double *number, const char **unit, double *ns, struct err *e)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"fs", 1e-6}, {"ps", 1e-3}, {"ns", 1}, {"us", 1e3}};
    char *end;
    *number = strtod(text, &end);
    *unit = end + strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(*unit, units[i].name) && *number > 0 && isfinite(*number)) {
            *ns = *number * units[i].ns;
            return 0;
        }
    return err_set(e, ERR_USAGE,
                   "--time %.60s: expected, with --by-need, a time above 0 in fs, ps, ns or us: it is shared out among "
                   "ensembles, and a step of one may be longer than that of another",
                   text);
}

/* Production of a window so far, ns, on average. */
static double sampled(const json_t *results)
{
    const json_t *windows = json_object_get(results, "windows"), *window;
    double sum = 0;
    size_t i;
    json_array_foreach (windows, i, window)
        sum += answer_number(json_object_get(window, "sampled"), "magnitude");
    return sum / (double)json_array_size(windows);
}

/* A word about one that is not served by need. */
static void say(const struct client *c, const json_t *ensemble, const char *what)
{
    const char *key = answer_text(ensemble, "key");
    client_say(c, "%s (%s) %s", *key ? key : answer_text(ensemble, "name"), answer_text(ensemble, "id"), what);
}

/* From its results, or what can be said so far. One that has none yet has no number either. */
static int look_at_results(const struct client *c, const json_t *ensemble, struct shares_part *p, struct err *e)
{
    bool live = !ensemble_ended(answer_text(ensemble, "state"));
    struct err why = {0};
    json_t *results = results_get(c, answer_text(ensemble, "id"), live, NULL, &why);
    double error = answer_number(json_object_get(results, "uncertainty"), "magnitude");
    if (!results && why.code != ERR_BUSY) {
        *e = why;
        return -(int)e->code;
    }
    if (error > 0) {
        p->square = error * error;
        p->made = sampled(results);
    } else {
        say(c, ensemble, "has no free energy yet, so nobody knows what it needs: it gets an even share");
    }
    json_decref(results);
    return 0;
}

/* The ensemble as it is now. One that has failed, or was cancelled, takes nothing; any other gets its place in `times`.
 */
static int look_at(const struct client *c, const char *id, struct shares_part *p, json_t *times, struct err *e)
{
    struct buf path = {0};
    int rc = 0;
    client_path(&path, id, "");
    json_t *ensemble = client_ask(c, "GET", path.data, e);
    const char *state = answer_text(ensemble, "state");
    *p = (struct shares_part){.replicas = (int)answer_replicas(ensemble), .square = NAN};
    p->takes = ensemble && (!strcmp(state, "done") || !ensemble_ended(state));
    if (!ensemble)
        rc = -(int)e->code;
    else if (p->takes)
        rc = look_at_results(c, ensemble, p, e);
    else
        say(c, ensemble, !strcmp(state, "failed") ? "has failed: it gets nothing" : "was cancelled: it gets nothing");
    if (p->takes)
        json_object_set_new(times, id, json_pack("{s:I}", "revision", (json_int_t)answer_whole(ensemble, "revision")));
    json_decref(ensemble);
    buf_free(&path);
    return rc;
}

/* The sum of squared errors. */
static double forecast(void *arg, const double *parts)
{
    const struct shares *x = arg;
    double sum = 0;
    for (int i = 0; i < x->n; i++)
        sum += x->square[i] * x->made[i] / parts[i];
    return sum;
}

static bool by_need(const struct shares_part *p)
{
    return p->takes && isfinite(p->square);
}

void shares_more(struct shares_part *p, int n, double time)
{
    struct shares x = {0, xcalloc((size_t)n + 1, sizeof(double)), xcalloc((size_t)n + 1, sizeof(double))};
    struct allocate_window *w = xcalloc((size_t)n + 1, sizeof *w);
    int64_t budget = 0;
    for (int i = 0; i < n; i++) {
        p[i].target = p[i].made + (p[i].takes ? time : 0);
        if (!by_need(&p[i]))
            continue;
        int64_t made = (int64_t)fmax(rint(p[i].made / time * PARTS), 1);
        w[x.n] = (struct allocate_window){.steps = made + PARTS / ALLOCATE_FLOOR, .replicas = p[i].replicas};
        budget += (made + PARTS) * p[i].replicas;
        x.square[x.n] = p[i].square;
        x.made[x.n++] = (double)made;
    }
    allocate(w, x.n, 0, budget, 1, forecast, &x);
    for (int i = 0, k = 0; i < n; i++) {
        if (!by_need(&p[i]))
            continue;
        p[i].target = p[i].made + ((double)w[k].target - x.made[k]) * time / PARTS;
        k++;
    }
    free(x.square);
    free(x.made);
    free(w);
}

/* Of those that take some, in the unit that --time has, which is so many ns. */
static void set_times(json_t *times, const struct shares_part *p, const json_t *chosen, const char *unit,
                      double unit_ns)
{
    const json_t *item;
    size_t i;
    json_array_foreach (chosen, i, item) {
        struct buf text = {0};
        buf_printf(&text, "%.10g %s", (p[i].target - p[i].made) / unit_ns, unit);
        if (p[i].takes)
            json_object_set_new(json_object_get(times, answer_text(item, "id")), "time", json_string(text.data));
        buf_free(&text);
    }
}

json_t *shares_find(const struct client *c, const json_t *chosen, struct err *e)
{
    size_t n = json_array_size(chosen);
    struct shares_part *p = xcalloc(n + 1, sizeof *p);
    double number = 0, ns = 0;
    const char *unit = NULL;
    json_t *times = json_object();
    int rc = read_time(c->time, &number, &unit, &ns, e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = look_at(c, answer_text(json_array_get(chosen, i), "id"), &p[i], times, e);
    if (!rc && n && !json_object_size(times))
        rc = err_set(e, ERR_CONFLICT, "nothing to extend: all of them have failed or were cancelled");
    if (!rc) {
        shares_more(p, (int)n, ns);
        set_times(times, p, chosen, unit, ns / number);
    } else {
        json_decref(times);
        times = NULL;
    }
    free(p);
    return times;
}

/* ---- a campaign's budget ---- */

enum { UNITS = 1000 }; /* of an even share of the whole budget, in which time is handed out */

struct whole {
    double handed, replicas, takers, spent; /* ns so far; of all; of those that take; by the others */
    double rest;                            /* ns that cannot be handed out for being too little */
};

static struct whole whole_of(const struct shares_part *p, int n, double time)
{
    struct whole x = {0};
    for (int i = 0; i < n; i++) {
        x.handed += p[i].made * p[i].replicas;
        x.replicas += p[i].replicas;
        x.takers += p[i].takes ? p[i].replicas : 0;
        x.spent += p[i].takes ? 0 : p[i].made * p[i].replicas;
    }
    for (int i = 0; i < n; i++)
        x.rest += p[i].replicas * fmax(p[i].grain, time / x.replicas / UNITS);
    return x;
}

/* Those of known error, `goal` ns in all; `unit` ns of a replica are handed out at a time. */
static void give_by_need(struct shares_part *p, int n, double goal, double share, double unit)
{
    struct shares x = {0, xcalloc((size_t)n + 1, sizeof(double)), xcalloc((size_t)n + 1, sizeof(double))};
    struct allocate_window *w = xcalloc((size_t)n + 1, sizeof *w);
    for (int i = 0; i < n; i++) {
        if (!by_need(&p[i]))
            continue;
        int64_t made = (int64_t)fmax(ceil(p[i].made / unit - 1e-6), 1); /* else the rest would be too much */
        w[x.n] = (struct allocate_window){.rows = p[i].rows, .steps = made, .replicas = p[i].replicas};
        x.square[x.n] = p[i].square;
        x.made[x.n++] = (double)made;
    }
    allocate(w, x.n, (int64_t)rint(share / unit), (int64_t)(goal / unit), 1, forecast, &x);
    for (int i = 0, k = 0; i < n; i++) {
        if (!by_need(&p[i]))
            continue;
        p[i].target = p[i].made + (double)(w[k].target - w[k].steps) * unit;
        k++;
    }
    free(x.square);
    free(x.made);
    free(w);
}

/* Up to `goal` ns in all. False: that is a timestep of nobody. */
static bool give(struct shares_part *p, int n, const struct whole *x, double goal, double time)
{
    double known = goal - x->spent, even = (goal - x->handed) / x->takers;
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (!p[i].takes || isfinite(p[i].square))
            continue;
        p[i].target = p[i].made + even;
        known -= p[i].target * p[i].replicas;
    }
    give_by_need(p, n, known, (time - x->spent) / x->takers, time / x->replicas / UNITS);
    for (int i = 0; i < n; i++)
        any |= p[i].takes && p[i].target - p[i].made >= p[i].grain;
    return any;
}

int shares_round(struct shares_part *p, int n, const struct shares_budget *budget)
{
    struct whole x = whole_of(p, n, budget->time);
    double part = (budget->time - budget->first) / budget->rounds;
    for (int i = 0; i < n; i++)
        p[i].target = p[i].made;
    for (int round = 1; round <= budget->rounds && x.takers; round++) {
        double goal = budget->first + part * round;
        if (goal - x.handed > x.rest && give(p, n, &x, goal, budget->time))
            return round;
    }
    return 0;
}

double shares_gain(int n, double *square, const double *made)
{
    enum { EVEN = 1000 }; /* steps of an even share */
    struct shares x = {n, square, xcalloc((size_t)n + 1, sizeof(double))};
    struct allocate_window *w = xcalloc((size_t)n + 1, sizeof *w);
    double all = 0, now = 0;
    for (int i = 0; i < n; i++)
        all += made[i];
    for (int i = 0; i < n; i++) {
        w[i].replicas = 1;
        x.made[i] = made[i] * n * EVEN / all;
        now += square[i];
    }
    allocate(w, n, EVEN, (int64_t)n * EVEN, 1, forecast, &x);
    double *steps = xcalloc((size_t)n + 1, sizeof *steps);
    for (int i = 0; i < n; i++)
        steps[i] = (double)w[i].target;
    double then = forecast(&x, steps);
    free(steps);
    free(x.made);
    free(w);
    return then / now;
}
