/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/methods.h"

#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/show/page.h"
#include "client/show/show.h"
#include "engine/base/number.h"

struct sampled results_sampled(const json_t *windows)
{
    struct sampled s = {INFINITY, 0, 0};
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        double ns = answer_number(json_object_get(window, "sampled"), "magnitude");
        s = (struct sampled){fmin(s.least, ns), fmax(s.most, ns), s.all + ns};
    }
    return s;
}

static void put_sampled(struct buf *out, const json_t *windows)
{
    const struct sampled s = results_sampled(windows);
    if (!(s.all > 0))
        return;
    buf_printf(out, "Production: ");
    if (s.most - s.least < 1e-6 * s.most)
        buf_printf(out, "%.4g ns", s.most);
    else
        buf_printf(out, "%.4g to %.4g ns", s.least, s.most);
    buf_printf(out, " in each window, %.6g ns in all\n", s.all);
}

/* Each once; no more than a few. */
static void put_seeds(struct buf *out, const json_t *windows)
{
    enum { SEEDS = 8 };
    json_int_t seen[SEEDS];
    const json_t *window;
    int n = 0;
    size_t i;
    json_array_foreach (windows, i, window) {
        const json_t *seed = json_object_get(window, "seed");
        bool known = !json_is_integer(seed) || n == SEEDS;
        for (int k = 0; k < n; k++)
            known |= seen[k] == json_integer_value(seed);
        if (!known)
            seen[n++] = json_integer_value(seed);
    }
    for (int k = 0; k < n; k++)
        buf_printf(out, "%s %lld", k ? "," : n > 1 ? "Random seeds:" : "Random seed:", (long long)seen[k]);
    buf_printf(out, "%s", n ? "\n" : "");
}

static void put_device(struct buf *out, const json_t *origin, const json_t *ensemble)
{
    const json_t *devices = json_object_get(origin, "devices"), *device;
    const double seconds = answer_magnitude(json_object_get(origin, "running")),
                 speed = answer_magnitude(json_object_get(origin, "speed")),
                 used = answer_number(ensemble, "device_seconds");
    size_t i;
    json_array_foreach (devices, i, device)
        buf_printf(out, "%s%s", i ? "; " : "Device: ", json_string_value(device));
    buf_printf(out, "%s", json_array_size(devices) ? "\n" : "");
    if (!(seconds > 0))
        return;
    buf_printf(out, "Wall-clock time on it: ");
    show_duration(out, seconds);
    if (speed > 0)
        buf_printf(out, ", %.4g ns/day of all windows together", speed);
    buf_printf(out, "\n");
    if (!(used > 0))
        return;
    buf_printf(out, "Device time: ");
    show_duration(out, used);
    buf_printf(out, " (of a shared device its part)\n");
}

static void put_dates(struct buf *out, const json_t *ensemble)
{
    if (!*answer_text(ensemble, "created"))
        return;
    buf_printf(out, "Dates: submitted ");
    show_time(out, answer_text(ensemble, "created"));
    buf_printf(out, ", last change ");
    show_time(out, answer_text(ensemble, "changed"));
    buf_printf(out, " (UTC)\n");
}

static void put_program(struct buf *out, const json_t *results)
{
    const char *hash = answer_text(json_object_get(results, "ensemble"), "spec_hash");
    if (*answer_text(results, "estimator"))
        buf_printf(out, "Free energies: %s, errors from the correlation of samples\n",
                   answer_text(results, "estimator"));
    buf_printf(out, "Program: Shoal %s", answer_text(results, "version"));
    buf_printf(out, *hash ? "; SHA-256 of spec and input files %s\n" : "%s\n", hash);
}

void methods_put(struct buf *page, const json_t *results, const json_t *ensemble)
{
    const json_t *methods = json_object_get(results, "methods"), *windows = json_object_get(results, "windows"), *one;
    struct buf text = {0};
    size_t i;
    json_array_foreach (methods, i, one)
        buf_printf(&text, "%s: %s\n", answer_text(one, "topic"), answer_text(one, "text"));
    if (!text.len)
        return;
    put_sampled(&text, windows);
    put_seeds(&text, windows);
    put_program(&text, results);
    put_device(&text, json_object_get(results, "ensemble"), ensemble);
    put_dates(&text, ensemble);
    page_element(page, "pre", "prose", text.data);
    buf_free(&text);
}
