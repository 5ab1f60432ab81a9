/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble's results come to, in a few lines.
 */
#include <math.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/results.h"
#include "client/report/report.h"
#include "client/results/headline.h"
#include "client/results/methods.h"
#include "client/show/page.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"

struct took_part {
    double fewest; /* uncorrelated samples of the window that has the fewest; NAN: not known */
    size_t windows, with_samples;
};

static struct took_part count_samples(const json_t *windows)
{
    struct took_part sum = {NAN, json_array_size(windows), 0};
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        sum.fewest =
            fmin(sum.fewest, number_from_json(json_object_get(json_object_get(window, "samples"), "uncorrelated")));
        sum.with_samples += json_is_object(json_object_get(window, "samples"));
    }
    return sum;
}

static void facts(struct buf *out, const json_t *results)
{
    const json_t *overlap = json_object_get(results, "overlap");
    double least = number_from_json(json_object_get(overlap, "minimum"));
    char enough[64];
    snprintf(enough, sizeof enough, "%g is enough", answer_number(overlap, "threshold"));
    const json_t *windows = json_object_get(results, "windows");
    const struct took_part sum = count_samples(windows);
    page_facts_begin(out);
    page_fact(out, "windows with samples", "", "%zu of %zu", sum.with_samples, sum.windows);
    const json_t *labels = json_object_get(json_object_get(results, "ensemble"), "labels");
    if (json_object_get(labels, "ladder"))
        page_fact(out, "windows placed by the pilot", "", "%s", answer_text(labels, "ladder"));
    if (json_object_get(json_object_get(results, "ensemble"), "placed"))
        page_fact(out, "windows placed", "", "by a pilot of the spec's");
    page_fact(out, "simulated, all windows", "", "%.4g ns", results_sampled(windows).all);
    if (isfinite(sum.fewest))
        page_fact(out, "fewest uncorrelated samples", "", "%.0f", floor(sum.fewest));
    if (isfinite(least))
        page_fact(out, "least overlap of neighbours", enough, "%.2f", least);
    page_facts_end(out);
}

/* Why it is not to be believed, or not there. */
static void put_reasons(struct buf *out, const json_t *results)
{
    enum { SHOWN = 4 };
    const json_t *reasons = json_object_get(json_object_get(results, "verdict"), "reasons"), *one;
    size_t i;
    const char *reason = answer_text(results, "reason");
    const size_t before = out->len;
    buf_printf(out, "%s", reason);
    json_array_foreach (reasons, i, one)
        if (i < SHOWN && !strstr(reason, answer_text(one, "text")))
            buf_printf(out, "%s%s", out->len > before ? "\n" : "", answer_text(one, "text"));
    if (json_array_size(reasons) > SHOWN)
        buf_printf(out, "\nand %zu more, at the end of the page", json_array_size(reasons) - SHOWN);
}

/* Longer switches, or more of them. */
static void put_advice(struct buf *out, const json_t *results)
{
    const json_t *advice = json_object_get(json_object_get(results, "switching"), "advice");
    if (json_is_object(advice))
        buf_printf(out, "%s%s", out->len ? "\n" : "", answer_text(advice, "text"));
}

void report_answer(struct buf *out, const json_t *ensemble, const json_t *results)
{
    struct headline h;
    struct buf sentences = {0};
    const char *state = answer_text(ensemble, "state");
    const bool ended = ensemble_ended(state);
    headline_find(&h, results);
    if (!ended && !h.known)
        buf_printf(&h.number, " yet");
    if (!ended)
        buf_printf(&h.what, "; so far: the ensemble is %s, %.0f %% of all steps are done", state,
                   floor(100 * answer_number(ensemble, "progress")));
    if (results_earlier(ensemble, results))
        buf_printf(&h.what, "; this is revision %lld, before windows were added", results_earlier(ensemble, results));
    if (h.derivation.len)
        buf_printf(&sentences, "%s\n", h.derivation.data);
    put_reasons(&sentences, results);
    put_advice(&sentences, results);
    page_answer(out, h.what.data, h.number.data,
                ended || h.known ? answer_text(json_object_get(results, "verdict"), "verdict") : "", sentences.data);
    facts(out, results);
    headline_close(&h);
    buf_free(&sentences);
}
