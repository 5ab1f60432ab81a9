/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble's results come to, in a few lines.
 */
#include <math.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/report/report.h"
#include "client/show/page.h"
#include "engine/base/number.h"

/* "-2.31 +- 0.12 kcal/mol" */
static void put_energy(struct buf *out, const json_t *energy, const char *unit)
{
    const json_t *one = json_object_get(energy, unit);
    number_with_error(out, answer_real(json_object_get(one, "value")), answer_real(json_object_get(one, "error")));
    buf_printf(out, " %s", unit);
}

static void energy_fact(struct buf *out, const char *what, const json_t *energy)
{
    struct buf text = {0};
    if (!json_is_object(energy))
        return;
    put_energy(&text, energy, "kcal/mol");
    page_fact(out, what, "", "%s", text.data);
    buf_free(&text);
}

static void solvation_fact(struct buf *out, const json_t *solvation)
{
    char what[120];
    if (!json_is_object(solvation))
        return;
    snprintf(what, sizeof what, "free energy of solvation of %.64s", answer_text(solvation, "molecule"));
    energy_fact(out, what, json_object_get(solvation, "free_energy"));
}

struct sampled {
    double ns, fewest; /* of all windows; uncorrelated samples of the window that has the fewest, NAN: not known */
    size_t windows, took_part;
};

static struct sampled count_samples(const json_t *windows)
{
    struct sampled sum = {0, NAN, json_array_size(windows), 0};
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        double ns = answer_magnitude(json_object_get(window, "sampled"));
        sum.ns += isfinite(ns) ? ns : 0;
        sum.fewest = fmin(sum.fewest, answer_real(json_object_get(json_object_get(window, "samples"), "uncorrelated")));
        sum.took_part += strcmp(answer_text(window, "status"), "failed") != 0;
    }
    return sum;
}

static void facts(struct buf *out, const json_t *results)
{
    const json_t *overlap = json_object_get(results, "overlap");
    double least = answer_real(json_object_get(overlap, "minimum"));
    char enough[64];
    snprintf(enough, sizeof enough, "%g is enough", answer_number(overlap, "threshold"));
    struct sampled sampled = count_samples(json_object_get(results, "windows"));
    page_facts_begin(out);
    solvation_fact(out, json_object_get(results, "solvation"));
    energy_fact(out, "to add for 1 mol/l", json_object_get(json_object_get(results, "standard_state"), "correction"));
    energy_fact(out, "to add for no periodic images",
                json_object_get(json_object_get(results, "finite_size"), "correction"));
    page_fact(out, "windows with samples", "", "%zu of %zu", sampled.took_part, sampled.windows);
    const json_t *labels = json_object_get(json_object_get(results, "ensemble"), "labels");
    if (json_object_get(labels, "ladder"))
        page_fact(out, "windows placed by the pilot", "", "%s", answer_text(labels, "ladder"));
    page_fact(out, "simulated, all windows", "", "%.4g ns", sampled.ns);
    if (isfinite(sampled.fewest))
        page_fact(out, "fewest uncorrelated samples", "", "%.0f", sampled.fewest);
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
    buf_printf(out, "%s", reason);
    json_array_foreach (reasons, i, one)
        if (i < SHOWN && strcmp(answer_text(one, "text"), reason) != 0)
            buf_printf(out, "%s%s", out->len ? "\n" : "", answer_text(one, "text"));
    if (json_array_size(reasons) > SHOWN)
        buf_printf(out, "\nand %zu more, at the end of the page", json_array_size(reasons) - SHOWN);
}

/* The estimator that the estimate is of: the first, unless another is named. */
static const json_t *headline(const json_t *results)
{
    const json_t *estimators = json_object_get(results, "estimators"), *found = json_array_get(estimators, 0), *one;
    size_t i;
    json_array_foreach (estimators, i, one)
        if (!strcmp(answer_text(one, "name"), answer_text(results, "estimator")))
            found = one;
    return found;
}

void report_answer(struct buf *out, const json_t *ensemble, const json_t *results)
{
    const json_t *estimator = headline(results);
    struct buf number = {0}, what = {0}, sentences = {0};
    const char *state = answer_text(ensemble, "state");
    bool known = json_is_object(json_object_get(results, "estimate"));
    buf_printf(&what, "%s", answer_text(results, "quantity"));
    if (!ensemble_ended(state))
        buf_printf(&what, "; so far: the ensemble is %s, %.0f %% of all steps are done", state,
                   floor(100 * answer_number(ensemble, "progress")));
    if (known)
        put_energy(&number, json_object_get(estimator, "total"), "kcal/mol");
    else
        buf_printf(&number, strcmp(answer_text(results, "status"), "averages") ? "no free energy" : "averages");
    buf_add(&sentences, "", 0);
    put_reasons(&sentences, results);
    page_answer(out, what.data, number.data, answer_text(json_object_get(results, "verdict"), "verdict"),
                sentences.data);
    facts(out, results);
    buf_free(&number);
    buf_free(&what);
    buf_free(&sentences);
}
