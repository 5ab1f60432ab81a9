/* SPDX-License-Identifier: Apache-2.0 */
#include "client/need/window_shares.h"

#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "engine/base/json/number_json.h"

static const json_t *windows_of(const json_t *results)
{
    return json_object_get(results, "windows");
}

static json_int_t repeat_of(const json_t *results, int i)
{
    return answer_whole(json_array_get(windows_of(results), (size_t)i), "repeat");
}

/* Windows without production, which have failed or not begun, are no part of what is shared. */
static void divide_by_repeat(const json_t *results, const double *variance, struct window_share *shares, int n)
{
    for (int i = 0; i < n; i++) {
        double ns = 0, whole = 0;
        int windows = 0;
        for (int j = 0; j < n; j++) {
            if (repeat_of(results, j) != repeat_of(results, i))
                continue;
            ns += shares[j].ns > 0 ? shares[j].ns : 0;
            whole += isfinite(variance[j]) ? variance[j] : 0;
            windows += shares[j].ns > 0;
        }
        shares[i].time = shares[i].ns > 0 ? shares[i].ns * windows / ns : NAN;
        shares[i].error = whole > 0 ? variance[i] / whole : NAN;
    }
}

struct window_share *window_shares(const json_t *results, int *n)
{
    const json_t *one;
    size_t i, count = json_array_size(windows_of(results));
    struct window_share *shares = xcalloc(count + 1, sizeof *shares);
    double *variance = xcalloc(count + 1, sizeof *variance);
    json_array_foreach (windows_of(results), i, one) {
        const json_t *samples = json_object_get(one, "samples");
        shares[i].window = (int)answer_whole(one, "window");
        shares[i].ns = number_from_json(json_object_get(json_object_get(one, "sampled"), "magnitude"));
        shares[i].freedom = number_from_json(json_object_get(samples, "variance_freedom"));
        variance[i] = number_from_json(json_object_get(samples, "variance"));
    }
    *n = (int)count;
    divide_by_repeat(results, variance, shares, *n);
    free(variance);
    return shares;
}

static int compare_windows(const void *a, const void *b)
{
    const struct window_share *x = a, *y = b;
    return (x->window > y->window) - (x->window < y->window);
}

/* Of those of one window; where a repeat lacks a number, of the others. Its degrees of freedom are those of all. */
static struct window_share mean_of(const struct window_share *shares, int n)
{
    struct window_share mean = {.window = shares[0].window};
    int timed = 0, known = 0;
    for (int i = 0; i < n; i++) {
        if (isfinite(shares[i].time)) {
            mean.ns += shares[i].ns;
            mean.time += shares[i].time;
            timed++;
        }
        if (isfinite(shares[i].error)) {
            mean.error += shares[i].error;
            mean.freedom += shares[i].freedom;
            known++;
        }
    }
    mean.ns = timed ? mean.ns / timed : NAN;
    mean.time = timed ? mean.time / timed : NAN;
    mean.error = known ? mean.error / known : NAN;
    return mean;
}

struct window_share *window_shares_mean(const json_t *results, int *n)
{
    int rows, next;
    struct window_share *shares = window_shares(results, &rows);
    qsort(shares, (size_t)rows, sizeof *shares, compare_windows);
    *n = 0;
    for (int i = 0; i < rows; i = next) {
        for (next = i; next < rows && shares[next].window == shares[i].window; next++)
            ;
        shares[(*n)++] = mean_of(shares + i, next - i);
    }
    return shares;
}
