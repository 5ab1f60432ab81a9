/* SPDX-License-Identifier: Apache-2.0
 *
 * What observables of an ensemble came to, a line for each window's.
 */
#include "client/results/observed.h"

#include <string.h>

#include "client/ask/answer.h"
#include "client/results/cells.h"
#include "engine/base/number.h"

static void value_cell(struct table *t, const char *what, double value, double error, const char *behind)
{
    struct buf cell = {0};
    number_with_error(&cell, value, error);
    table_cell(t, "%s %s %s", what, cell.data, behind);
    buf_free(&cell);
}

/* In a few words; the file has the rest. */
static void summary_cell(struct table *t, const json_t *observable)
{
    const json_t *highest = json_object_get(observable, "highest"), *d = json_object_get(observable, "diffusion");
    const json_t *value = json_object_get(observable, "value");
    const json_t *lowest = json_object_get(observable, "lowest"), *eps = json_object_get(observable, "dielectric");
    const json_t *kubo = json_object_get(observable, "green_kubo"), *p = json_object_get(observable, "pressure_bar");
    char behind[80];
    if (!answer_whole(observable, "frames"))
        table_cell(t, "none: the box was %.4g nm wide at step %lld", answer_number(observable, "ended_box_width_nm"),
                   answer_whole(observable, "ended_at_step"));
    else if (json_is_object(highest)) {
        snprintf(behind, sizeof behind, "at %.4g nm", answer_number(highest, "r_nm"));
        value_cell(t, "g(r) up to", answer_number(highest, "g"), answer_number(highest, "error"), behind);
    } else if (json_is_object(d) && !json_is_number(json_object_get(d, "value_cm2_per_s"))) {
        table_cell(t, "D: none yet, its lags begin at %.4g ps", answer_number(d, "from_ps"));
    } else if (json_is_object(d)) {
        snprintf(behind, sizeof behind, "1e-5 cm^2/s, from %.4g to %.4g ps", answer_number(d, "from_ps"),
                 answer_number(d, "to_ps"));
        value_cell(t, "D", 1e5 * answer_number(d, "value_cm2_per_s"), 1e5 * answer_number(d, "error_cm2_per_s"),
                   behind);
    } else if (json_is_object(value)) {
        snprintf(behind, sizeof behind, "on average, standard deviation %.3g", answer_number(value, "deviation"));
        value_cell(t, "C", answer_number(value, "mean"), answer_number(value, "error"), behind);
    } else if (json_is_object(lowest)) {
        snprintf(behind, sizeof behind, "electrons^2 at %.4g /nm", answer_number(lowest, "q_per_nm"));
        value_cell(t, "I(q)", answer_number(lowest, "intensity"), answer_number(lowest, "error"), behind);
    } else if (json_is_object(kubo)) {
        snprintf(behind, sizeof behind, "1e-5 cm^2/s, up to %.4g ps", answer_number(kubo, "to_ps"));
        value_cell(t, "D", 1e5 * answer_number(kubo, "value_cm2_per_s"), 1e5 * answer_number(kubo, "error_cm2_per_s"),
                   behind);
    } else if (json_is_object(p)) {
        const json_t *mean = json_object_get(p, "mean");
        snprintf(behind, sizeof behind, "bar; xx %.4g, yy %.4g, zz %.4g",
                 answer_number(json_object_get(p, "xx"), "value"), answer_number(json_object_get(p, "yy"), "value"),
                 answer_number(json_object_get(p, "zz"), "value"));
        value_cell(t, "P", answer_number(mean, "value"), answer_number(mean, "error"), behind);
    } else if (json_is_object(eps)) {
        snprintf(behind, sizeof behind, "at %.5g K", answer_number(eps, "temperature_k"));
        value_cell(t, "dielectric constant", answer_number(eps, "constant"), answer_number(eps, "error"), behind);
    } else {
        table_cell(t, "-");
    }
}

static bool has_reason(const json_t *observable, const char *name, const char *text)
{
    const json_t *reason;
    size_t k;
    bool has = false;
    json_array_foreach (json_object_get(json_object_get(observable, "verdict"), "reasons"), k, reason)
        has |= !strcmp(answer_text(reason, "text"), text);
    return has && !strcmp(answer_text(observable, "name"), name);
}

/* "msd unconverged (window 0, 2): its error is from 2 blocks, .." for all that have this reason, from number `first` on, unless
 * an earlier one has it. */
static void reason_put(struct buf *out, const json_t *observables, size_t first, const char *text)
{
    const json_t *observable, *said = json_array_get(observables, first);
    const char *name = answer_text(said, "name");
    size_t i;
    for (i = 0; i < first; i++)
        if (has_reason(json_array_get(observables, i), name, text))
            return;
    buf_printf(out, "%s %s (window", name, answer_text(json_object_get(said, "verdict"), "verdict"));
    json_array_foreach (observables, i, observable)
        if (has_reason(observable, name, text))
            buf_printf(out, "%s %lld", i > first ? "," : "", answer_whole(observable, "window"));
    buf_printf(out, "): %s\n", text);
}

static void reasons_show(const json_t *observables, const struct out *s)
{
    const json_t *observable, *reason;
    struct buf text = {0};
    size_t i, k;
    buf_add(&text, "", 0);
    json_array_foreach (observables, i, observable)
        json_array_foreach (json_object_get(json_object_get(observable, "verdict"), "reasons"), k, reason)
            reason_put(&text, observables, i, answer_text(reason, "text"));
    if (text.len)
        out_say(s, "\n%s", text.data);
    buf_free(&text);
}

void observed_show(const json_t *results, const struct out *s)
{
    const json_t *observables = json_object_get(results, "observables"), *observable;
    const bool repeats = json_is_array(json_object_get(results, "repeats"));
    struct table t;
    size_t i;
    if (!json_array_size(observables))
        return;
    table_setup(&t, "r l= r l~~~ l l1");
    static const char *const heads[] = {"window", "observable", "frames", "value", "verdict", "file"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (observables, i, observable) {
        results_window(&t, observable, repeats);
        table_cell(&t, "%s", answer_text(observable, "name"));
        table_cell(&t, "%lld", answer_whole(observable, "frames"));
        summary_cell(&t, observable);
        table_cell(&t, "%s", answer_text(json_object_get(observable, "verdict"), "verdict"));
        table_cell(&t, "%s", answer_text(observable, "file"));
    }
    out_say(s, "\n");
    out_table(s, &t);
    reasons_show(observables, s);
}
