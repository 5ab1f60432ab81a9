/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/ladder/spacing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

#define LAMBDA_UNITS 1e4 /* lambda is told to 4 decimals */
#define FLAT 1e-9        /* kT: a step along which nothing varies is as long as this, so that windows in it are even */

static double end(const struct spacing_step *s, int which)
{
    return fmax(s->deviation[which], FLAT);
}

static double length_of(const struct spacing_step *s)
{
    return 0.5 * (end(s, 0) + end(s, 1));
}

/* The part of a step, from 0 to 1, that is `length` long: a s + (b - a) s^2 / 2 = length. */
static double part_of(const struct spacing_step *s, double length)
{
    double a = end(s, 0), b = end(s, 1);
    return fmin(2 * length / (a + sqrt(fmax(a * a + 2 * (b - a) * length, 0))), 1);
}

static const double *at_state(const struct spacing_pilot *p, int k)
{
    return p->lambda + (size_t)k * (size_t)p->ncomponents;
}

/* Whether the same components change in two steps. */
static bool alike(const struct spacing_pilot *p, const struct spacing_step *a, const struct spacing_step *b)
{
    for (int c = 0; c < p->ncomponents; c++)
        if ((at_state(p, a->from)[c] != at_state(p, a->to)[c]) != (at_state(p, b->from)[c] != at_state(p, b->to)[c]))
            return false;
    return true;
}

static bool moves(const struct spacing_pilot *p, const struct spacing_step *step)
{
    for (int c = 0; c < p->ncomponents; c++)
        if (at_state(p, step->from)[c] != at_state(p, step->to)[c])
            return true;
    return false;
}

/* A step between equal windows is no leg: it belongs to the one before it, at the beginning to the one after. */
static void find_legs(struct spacing *s, const struct spacing_pilot *p)
{
    const struct spacing_step *last = NULL; /* that moves */
    s->legs = xcalloc((size_t)p->nsteps, sizeof *s->legs);
    for (int i = 0; i < p->nsteps; i++) {
        const struct spacing_step *step = p->steps + i;
        if (!i || (last && moves(p, step) && !alike(p, step, last)))
            s->legs[s->nlegs++] = (struct spacing_leg){.from = step->from, .intervals = 1};
        if (moves(p, step))
            last = step;
        s->legs[s->nlegs - 1].to = step->to;
        s->legs[s->nlegs - 1].length += length_of(step);
    }
}

/* Every interval more goes to the leg whose intervals are the longest. */
static void share_out_windows(struct spacing *s)
{
    for (int left = s->nwindows - 1 - s->nlegs; left > 0; left--) {
        struct spacing_leg *longest = s->legs;
        for (struct spacing_leg *g = s->legs; g < s->legs + s->nlegs; g++)
            if (g->length / g->intervals > longest->length / longest->intervals)
                longest = g;
        longest->intervals++;
    }
}

/* Lambda vector where the path is `length` long from the first window on. */
static void point(const struct spacing_pilot *p, double length, double *out)
{
    const struct spacing_step *step = p->steps;
    while (step + 1 < p->steps + p->nsteps && length > length_of(step))
        length -= length_of(step++);
    double part = part_of(step, length);
    for (int c = 0; c < p->ncomponents; c++) {
        double a = at_state(p, step->from)[c], b = at_state(p, step->to)[c];
        out[c] = round((a + part * (b - a)) * LAMBDA_UNITS) / LAMBDA_UNITS;
    }
}

static void place(struct spacing *s, const struct spacing_pilot *p)
{
    size_t nc = (size_t)p->ncomponents;
    double before = 0;
    int k = 0;
    for (int g = 0; g < s->nlegs; g++) {
        const struct spacing_leg *leg = s->legs + g;
        for (int i = 0; i < leg->intervals; i++, k++) {
            s->at[k] = before + leg->length * i / leg->intervals;
            point(p, s->at[k], s->lambda + (size_t)k * nc);
        }
        for (int c = 0; c < p->ncomponents; c++) /* where legs meet, not beside it by rounding */
            s->lambda[(size_t)(k - leg->intervals) * nc + (size_t)c] = at_state(p, leg->from)[c];
        before += leg->length;
    }
    s->at[k] = before;
    for (int c = 0; c < p->ncomponents; c++)
        s->lambda[(size_t)k * nc + (size_t)c] = at_state(p, p->steps[p->nsteps - 1].to)[c];
}

/* The first window that is equal to the one before it, 0: none is. */
static int collision(const struct spacing *s, int ncomponents)
{
    for (int k = 1; k < s->nwindows; k++) {
        bool same = true;
        for (int c = 0; c < ncomponents; c++)
            same = same &&
                   fabs(s->lambda[k * ncomponents + c] - s->lambda[(k - 1) * ncomponents + c]) < 0.5 / LAMBDA_UNITS;
        if (same)
            return k;
    }
    return 0;
}

static void lay_out(struct spacing *s, const struct spacing_pilot *p, int nwindows)
{
    *s = (struct spacing){.nwindows = nwindows};
    find_legs(s, p);
    if (nwindows < s->nlegs + 1)
        return;
    s->lambda = xcalloc((size_t)nwindows * (size_t)p->ncomponents, sizeof *s->lambda);
    s->at = xcalloc((size_t)nwindows, sizeof *s->at);
    share_out_windows(s);
    place(s, p);
    s->overlap = spacing_overlap(s->at, nwindows);
}

int spacing_make(struct spacing *s, const struct spacing_pilot *p, int nwindows, struct err *e)
{
    lay_out(s, p, nwindows);
    if (!s->at)
        return err_set(e, ERR_UNSUPPORTED, "%d %s; expected %d or more: a window at each end of %d %s", nwindows,
                       number_word(nwindows, "window", "windows"), s->nlegs + 1, s->nlegs,
                       number_word(s->nlegs, "leg", "legs"));
    int k = collision(s, p->ncomponents);
    if (k)
        return err_set(e, ERR_UNSUPPORTED, "%d windows: number %d and %d would be equal to 4 decimals; expected fewer",
                       nwindows, k - 1, k);
    return 0;
}

void spacing_close(struct spacing *s)
{
    free(s->lambda);
    free(s->at);
    free(s->legs);
    *s = (struct spacing){0};
}

static double longest(const struct spacing *s)
{
    double most = 0;
    for (int k = 1; k < s->nwindows; k++)
        most = fmax(most, s->at[k] - s->at[k - 1]);
    return most;
}

int spacing_fewest(const struct spacing_pilot *p, double aim)
{
    bool dense = false; /* so near that more windows share the overlap of these */
    for (int n = 2; n <= SPACING_MOST && !dense; n++) {
        struct spacing s;
        lay_out(&s, p, n);
        bool reached = s.at && s.overlap >= aim;
        dense = s.at && longest(&s) < 1;
        spacing_close(&s);
        if (reached)
            return n;
    }
    return 0;
}

/* integral of p_i p_j / sum_k p_k, p_k normal around at[k] with deviation 1: it is below both, so nothing is where one
 * of them is out of reach. */
static double pair_overlap(const double *at, int n, int i, int j)
{
    const double step = 0.05, reach = 8;
    double sum = 0;
    for (double x = at[j] - reach; x < at[i] + reach; x += step) {
        double all = 0, a = x - at[i], b = x - at[j];
        double top = exp(-0.5 * (a * a + b * b));
        for (int k = i; k >= 0 && x - at[k] < 2 * reach; k--)
            all += exp(-0.5 * (x - at[k]) * (x - at[k]));
        for (int k = i + 1; k < n && at[k] - x < 2 * reach; k++)
            all += exp(-0.5 * (x - at[k]) * (x - at[k]));
        sum += top / all;
    }
    return sum * step / sqrt(2 * M_PI);
}

double spacing_overlap(const double *at, int n)
{
    double least = 1;
    for (int k = 0; k + 1 < n; k++)
        least = fmin(least, pair_overlap(at, n, k, k + 1));
    return least;
}
