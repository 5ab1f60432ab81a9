/* SPDX-License-Identifier: Apache-2.0 */
#include "client/need/windows.h"

#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const json_t *windows_of(const json_t *results)
{
    return json_object_get(results, "windows");
}

static json_int_t repeat_of(const json_t *results, int i)
{
    return answer_whole(json_array_get(windows_of(results), (size_t)i), "repeat");
}

/* Windows without production, which have failed or not begun, are no part of what is shared. */
static void divide_by_repeat(const json_t *results, const double *variance, struct part *parts, int n)
{
    for (int i = 0; i < n; i++) {
        double ns = 0, whole = 0;
        int windows = 0;
        for (int j = 0; j < n; j++) {
            if (repeat_of(results, j) != repeat_of(results, i))
                continue;
            ns += parts[j].ns > 0 ? parts[j].ns : 0;
            whole += isfinite(variance[j]) ? variance[j] : 0;
            windows += parts[j].ns > 0;
        }
        parts[i].time = parts[i].ns > 0 ? parts[i].ns * windows / ns : NAN;
        parts[i].error = whole > 0 ? variance[i] / whole : NAN;
    }
}

struct part *parts_of(const json_t *results, int *n)
{
    const json_t *one;
    size_t i, count = json_array_size(windows_of(results));
    struct part *parts = xcalloc(count + 1, sizeof *parts);
    double *variance = xcalloc(count + 1, sizeof *variance);
    json_array_foreach (windows_of(results), i, one) {
        const json_t *samples = json_object_get(one, "samples");
        parts[i].window = (int)answer_whole(one, "window");
        parts[i].ns = number(json_object_get(json_object_get(one, "sampled"), "magnitude"));
        parts[i].freedom = number(json_object_get(samples, "variance_freedom"));
        variance[i] = number(json_object_get(samples, "variance"));
    }
    *n = (int)count;
    divide_by_repeat(results, variance, parts, *n);
    free(variance);
    return parts;
}

static int compare_windows(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->window > y->window) - (x->window < y->window);
}

/* Of those of one window; where a repeat lacks a number, of the others. Its degrees of freedom are those of all. */
static struct part mean_of(const struct part *parts, int n)
{
    struct part mean = {.window = parts[0].window};
    int timed = 0, known = 0;
    for (int i = 0; i < n; i++) {
        if (isfinite(parts[i].time)) {
            mean.ns += parts[i].ns;
            mean.time += parts[i].time;
            timed++;
        }
        if (isfinite(parts[i].error)) {
            mean.error += parts[i].error;
            mean.freedom += parts[i].freedom;
            known++;
        }
    }
    mean.ns = timed ? mean.ns / timed : NAN;
    mean.time = timed ? mean.time / timed : NAN;
    mean.error = known ? mean.error / known : NAN;
    return mean;
}

struct part *parts_of_windows(const json_t *results, int *n)
{
    int rows, next;
    struct part *parts = parts_of(results, &rows);
    qsort(parts, (size_t)rows, sizeof *parts, compare_windows);
    *n = 0;
    for (int i = 0; i < rows; i = next) {
        for (next = i; next < rows && parts[next].window == parts[i].window; next++)
            ;
        parts[(*n)++] = mean_of(parts + i, next - i);
    }
    return parts;
}
