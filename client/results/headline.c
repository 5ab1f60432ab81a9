/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/headline.h"

#include <math.h>
#include <string.h>

#include "client/ask/answer.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"

#define UNIT "kcal/mol"

/* The estimator that the estimate is of: the first, unless another is named. */
static const json_t *best_estimator(const json_t *results)
{
    const json_t *estimators = json_object_get(results, "estimators"), *found = json_array_get(estimators, 0), *one;
    size_t i;
    json_array_foreach (estimators, i, one)
        if (!strcmp(answer_text(one, "name"), answer_text(results, "estimator")))
            found = one;
    return found;
}

/* What is to be added to the estimate; NAN: nothing is. */
static double correction(const json_t *results, const char *kind)
{
    const json_t *energy = json_object_get(json_object_get(results, kind), "correction");
    return number_from_json(json_object_get(json_object_get(energy, UNIT), "value"));
}

/* A leg whose restraints hold two molecules together at one end of the ladder. */
static void name_held(struct buf *out, const json_t *held)
{
    const json_t *molecules = json_object_get(held, "molecules");
    buf_printf(out,
               answer_whole(held, "window") ? "free energy of taking %s and %s apart, to 1 mol/l"
                                            : "free energy of bringing %s and %s together, from 1 mol/l",
               json_string_value(json_array_get(molecules, 0)), json_string_value(json_array_get(molecules, 1)));
    if (!strcmp(answer_text(held, "other_end"), "held"))
        buf_printf(out, " (without attaching the restraints, which is another leg)");
    else
        buf_printf(out, " (a leg of binding: binding is the leg in water less this one)");
}

static void name_number(struct buf *out, const json_t *results)
{
    const json_t *solvation = json_object_get(results, "solvation"), *held = json_object_get(results, "standard_state"),
                 *change = json_object_get(results, "change");
    if (json_is_object(solvation))
        buf_printf(out, "free energy of solvation of %s", answer_text(solvation, "molecule"));
    else if (json_is_object(held))
        name_held(out, held);
    else if (json_is_object(change))
        buf_printf(out, "free energy of the change from state %s to state %s", answer_text(change, "from"),
                   answer_text(change, "to"));
    else
        buf_printf(out, "%s", answer_text(results, "quantity"));
}

static void add_correction(struct buf *out, double value, const char *what)
{
    if (isfinite(value))
        buf_printf(out, " %s %.2f %s %s", value < 0 ? "-" : "+", fabs(value), UNIT, what);
}

/* "G(window 4) - G(window 0) = 2.00 +- 0.10 kcal/mol by MBAR, with the sign changed: into the surroundings" */
static void derive(struct buf *out, const struct headline *h, const json_t *results, double value, double error)
{
    buf_printf(out, "%s = ", answer_text(results, "quantity"));
    number_with_error(out, value, error);
    buf_printf(out, " %s by %s", UNIT, answer_text(best_estimator(results), "name"));
    add_correction(out, correction(results, "standard_state"), "for the standard state of 1 mol/l");
    add_correction(out, correction(results, "finite_size"), "for no periodic images");
    if (h->sign < 0)
        buf_printf(out, isfinite(h->corrections) ? ", all with the sign changed: into the surroundings"
                                                 : ", with the sign changed: into the surroundings");
}

void headline_find(struct headline *h, const json_t *results)
{
    const json_t *total = json_object_get(json_object_get(best_estimator(results), "total"), UNIT);
    const double value = number_from_json(json_object_get(total, "value")),
                 error = number_from_json(json_object_get(total, "error"));
    const double held = correction(results, "standard_state"), finite = correction(results, "finite_size");
    *h = (struct headline){.sign = json_is_object(json_object_get(results, "solvation")) ? -1 : 1,
                           .corrections = isfinite(held) || isfinite(finite)
                                              ? (isfinite(held) ? held : 0) + (isfinite(finite) ? finite : 0)
                                              : NAN};
    name_number(&h->what, results);
    h->known = json_is_object(json_object_get(results, "estimate"));
    if (!h->known) {
        buf_printf(&h->number, strcmp(answer_text(results, "status"), "averages") ? "no free energy" : "averages");
        return;
    }
    number_with_error(&h->number, h->sign * (value + (isfinite(h->corrections) ? h->corrections : 0)), error);
    buf_printf(&h->number, " %s", UNIT);
    if (h->sign < 0 || isfinite(h->corrections) || json_is_object(json_object_get(results, "change")))
        derive(&h->derivation, h, results, value, error);
}

void headline_close(struct headline *h)
{
    buf_free(&h->what);
    buf_free(&h->number);
    buf_free(&h->derivation);
}
