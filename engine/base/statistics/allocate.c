/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/statistics/allocate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/buf.h"

#define TURNS 4
#define MORE 0.1 /* by so much of itself a window's number is varied */

int64_t allocate_first(int64_t share, int64_t every)
{
    return (share / ALLOCATE_FLOOR + every - 1) / every * every;
}

/* What a window lacks of what it gets in any case. */
static double lacks(const struct allocate_window *w, int64_t share)
{
    double least = (double)share / ALLOCATE_FLOOR, steps = (double)w->steps;
    if (w->rows > 0)
        least = fmax(least, fmin(steps * ALLOCATE_ROWS / w->rows, (double)share));
    return fmax(least - steps, 0);
}

/* Everybody gets that, as far as the budget goes. */
static void give_floors(struct allocate_window *w, int n, int64_t share, int64_t budget, int64_t every)
{
    double left = (double)budget, all = 0;
    for (int k = 0; k < n; k++) {
        left -= (double)w[k].steps * w[k].replicas;
        all += lacks(w + k, share) * w[k].replicas;
    }
    double part = all > 0 ? fmax(fmin(left / all, 1), 0) : 0;
    for (int k = 0; k < n; k++)
        w[k].target = w[k].steps + (int64_t)(part * lacks(w + k, share) / (double)every) * every;
}

/* Steps that go as the weights, but for windows that have more than that already. */
static void fill(const struct allocate_window *w, int n, const double *weight, double budget, double *steps)
{
    bool *has = xcalloc((size_t)n, sizeof *has), more = true;
    double scale = 0;
    while (more) {
        double left = budget, weights = 0;
        for (int k = 0; k < n; k++) {
            left -= has[k] ? (double)w[k].target * w[k].replicas : 0;
            weights += has[k] ? 0 : weight[k] * w[k].replicas;
        }
        scale = weights > 0 ? left / weights : 0;
        more = false;
        for (int k = 0; k < n; k++)
            if (!has[k] && scale * weight[k] <= (double)w[k].target)
                has[k] = more = true;
    }
    for (int k = 0; k < n; k++)
        steps[k] = has[k] ? (double)w[k].target : scale * weight[k];
    free(has);
}

/* Into weight: the square root of c_k over the window's replicas, from what a few more steps of the window take off.
 * False: there is no forecast. */
static bool weigh(const struct allocate_window *w, int n, double *steps, double *weight, allocate_forecast_fn *forecast,
                  void *arg)
{
    double now = forecast(arg, steps);
    if (!isfinite(now))
        return false;
    for (int k = 0; k < n; k++) {
        double own = steps[k];
        steps[k] *= 1 + MORE;
        double off = w[k].replicas && own > 0 ? now - forecast(arg, steps) : 0;
        steps[k] = own;
        weight[k] = off > 0 ? sqrt(off * own / w[k].replicas) : 0; /* of c / n: c times a constant */
    }
    return true;
}

/* What is less than a sample everywhere goes to those who lack most of what they should have. */
static void give_rest(struct allocate_window *w, int n, const double *steps, int64_t left, int64_t every)
{
    for (int best = 0; best >= 0;) {
        best = -1;
        for (int k = 0; k < n; k++) {
            if (!w[k].replicas || every * w[k].replicas > left)
                continue;
            if (best < 0 || steps[k] - (double)w[k].target > steps[best] - (double)w[best].target)
                best = k;
        }
        if (best < 0)
            break;
        w[best].target += every;
        left -= every * w[best].replicas;
    }
}

void allocate(struct allocate_window *w, int n, int64_t share, int64_t budget, int64_t every,
              allocate_forecast_fn *forecast, void *arg)
{
    double *weight = xcalloc(2 * (size_t)n, sizeof *weight), *steps = weight + n;
    for (int k = 0; k < n; k++)
        weight[k] = 1;
    give_floors(w, n, share, budget, every);
    fill(w, n, weight, (double)budget, steps);
    for (int turn = 0; turn < TURNS && forecast && weigh(w, n, steps, weight, forecast, arg); turn++)
        fill(w, n, weight, (double)budget, steps);
    for (int k = 0; k < n; k++) {
        double more = steps[k] - (double)w[k].target;
        if (more > 0)
            w[k].target += (int64_t)(more / (double)every) * every;
        budget -= w[k].target * w[k].replicas;
    }
    give_rest(w, n, steps, budget, every);
    free(weight);
}
