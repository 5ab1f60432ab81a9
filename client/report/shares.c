/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time of an ensemble went and where the error of its answer comes from, window by window, and what to do
 * about it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/need/shares.h"
#include "client/need/window_shares.h"
#include "client/report/report.h"
#include "engine/plot/plot.h"

#define KNOWN 0.1 /* more noise than that: what windows bring is not known well enough to act on */
#define WORTH 0.9 /* another share of the time is worth a word where the square of the error gets smaller than that */
#define WORDS 96  /* bytes of what a mark says when it is pointed at */
#define NAMED 4   /* pieces of a list of windows, at most */

/* Windows of which all is known, for forecasts. */
struct known_windows {
    int n, *window;
    double *error, *time; /* [n] each, as of struct window_share */
    double noise;         /* 1 / degrees of freedom, in the mean of all of the error */
};

static struct known_windows known_of(const struct window_share *shares, int n)
{
    struct known_windows k = {0, xcalloc((size_t)n + 1, sizeof(int)), xcalloc((size_t)n + 1, sizeof(double)),
                              xcalloc((size_t)n + 1, sizeof(double)), 0};
    for (int i = 0; i < n; i++) {
        if (!(shares[i].error >= 0 && shares[i].time > 0))
            continue;
        k.window[k.n] = shares[i].window;
        k.error[k.n] = shares[i].error;
        k.time[k.n++] = shares[i].time;
        if (shares[i].error > 0)
            k.noise += shares[i].freedom > 0 ? shares[i].error / shares[i].freedom : INFINITY;
    }
    return k;
}

static void known_free(struct known_windows *k)
{
    free(k->window);
    free(k->error);
    free(k->time);
}

/* " 1, 4 to 7" of those that are named, in at most NAMED pieces. */
static void put_numbers(struct buf *out, const struct known_windows *k, const bool *named)
{
    int pieces = 0, next;
    for (int i = 0; i < k->n; i = next) {
        for (next = i + 1; named[i] && next < k->n && named[next]; next++)
            ;
        if (!named[i] || ++pieces > NAMED)
            continue;
        buf_printf(out, "%s %d", pieces > 1 ? "," : "", k->window[i]);
        if (next - i > 1)
            buf_printf(out, "%s %d", next - i > 2 ? " to" : ",", k->window[next - 1]);
    }
    if (pieces > NAMED)
        buf_printf(out, " and others");
}

/* "Window 3 of 9 brings 61 % of the error squared": the fewest that bring half of it. */
static void name_worst(struct buf *out, const struct known_windows *k)
{
    bool *named = xcalloc((size_t)k->n, sizeof *named);
    double sum = 0;
    int count = 0;
    for (; sum < 0.5 && count < k->n; count++) {
        int worst = -1;
        for (int i = 0; i < k->n; i++)
            if (!named[i] && (worst < 0 || k->error[i] > k->error[worst]))
                worst = i;
        named[worst] = true;
        sum += k->error[worst];
    }
    buf_printf(out, count > 1 ? "Windows" : "Window");
    put_numbers(out, k, named);
    buf_printf(out, " of %d %s %.0f %% of the error squared", k->n, count > 1 ? "bring" : "brings", 100 * sum);
    free(named);
}

/* " (shoal extend ID --time)", where that is not refused. */
static void name_command(struct buf *out, const json_t *ensemble)
{
    buf_add(out, "", 0);
    if (strcmp(answer_text(ensemble, "state"), "cancelled") != 0)
        buf_printf(out, " (shoal extend %s --time)", answer_text(ensemble, "id"));
}

/* What the windows need, from what they have: one sentence. */
static void advise(struct buf *out, const struct known_windows *k, const json_t *ensemble)
{
    bool by_need = json_is_object(json_object_get(ensemble, "allocate"));
    double gain = shares_gain(k->n, k->error, k->time);
    struct buf worst = {0}, more = {0};
    name_worst(&worst, k);
    name_command(&more, ensemble);
    if (by_need && !ensemble_ended(answer_text(ensemble, "state")))
        buf_printf(out, "What is left of production goes where it cuts the error most: nothing is to be done.");
    else if (!(k->noise <= KNOWN))
        buf_printf(out, "What each window brings is not known well yet: sample on%s before it is acted on.", more.data);
    else if (gain >= WORTH)
        buf_printf(out, "%s: for a smaller error give more of it%s.",
                   by_need ? "The time went where it cuts the error most"
                           : "No other share of the time does much better",
                   more.data);
    else if (by_need)
        buf_printf(out, "%s by now: give more time%s, most of which goes to what needs it.", worst.data, more.data);
    else
        buf_printf(out, "%s; with allocate: adaptive in the spec the same error takes about %.0f %% of the time.",
                   worst.data, 100 * gain);
    buf_free(&worst);
    buf_free(&more);
}

/* Both as multiples of an even share, of the error by `known` windows, with words that `words` [2 * n][WORDS] holds. */
static void set_points(struct plot_series *series, const struct window_share *shares, int n, int known,
                       char (*words)[WORDS])
{
    for (int i = 0; i < n; i++) {
        const struct window_share *p = &shares[i];
        double even = p->error * known, spread = p->freedom > 0 ? even * sqrt(2 / p->freedom) : NAN;
        snprintf(words[2 * i], WORDS, "window %d: %.1f %% of the error squared", p->window, 100 * p->error);
        snprintf(words[2 * i + 1], WORDS, "window %d: %.4g ns, %.2f of an even share", p->window, p->ns, p->time);
        series[0].points[i] = (struct plot_point){p->window, even, spread, words[2 * i]};
        series[1].points[i] = (struct plot_point){p->window, p->time, NAN, words[2 * i + 1]};
    }
}

void report_shares(struct buf *out, const json_t *ensemble, const json_t *results)
{
    int n;
    struct window_share *shares = window_shares_mean(results, &n);
    struct known_windows known = known_of(shares, n);
    struct plot_series series[] = {{.name = "error squared", .bars = true, .n = n},
                                   {.name = "time", .joined = true, .n = n}};
    char(*words)[WORDS] = xcalloc(2 * (size_t)n + 1, WORDS);
    struct buf below = {0};
    for (int k = 0; k < 2; k++)
        series[k].points = xcalloc((size_t)n + 1, sizeof *series[k].points);
    set_points(series, shares, n, known.n, words);
    if (known.n > 1) {
        advise(&below, &known, ensemble);
        plot_series(out,
                    &(struct plot){.title = "Time and error",
                                   .note = "what each window has of the production and of the error squared: alike "
                                           "where the time is well spent",
                                   .below = below.data,
                                   .x = "window",
                                   .y = "1: an even share",
                                   .zero = true,
                                   .level = NAN,
                                   .equal = NAN},
                    series, 2);
    }
    for (int k = 0; k < 2; k++)
        free(series[k].points);
    buf_free(&below);
    known_free(&known);
    free(words);
    free(shares);
}
