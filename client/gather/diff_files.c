/* SPDX-License-Identifier: Apache-2.0
 *
 * Two gathered campaigns side by side, for other programs.
 */
#include <math.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/gather/diff.h"

#include "client/show/show.h"
#include "engine/base/json/number_json.h"

static const char *const sides[] = {"A", "B"};

/* ---- JSON ---- */

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *side_json(const struct diff_side *s)
{
    return s->there ? json_pack("{s:o,s:o,s:b}", "free_energy", gather_energy_json(s->number), "verdict",
                                text_or_null(s->verdict), "so_far", (int)s->so_far)
                    : json_null();
}

static json_t *row_json(const struct diff_row *r)
{
    json_t *one = *r->ligand_j
                      ? json_pack("{s:s,s:s,s:s}", "kind", r->kind, "ligand_i", r->name, "ligand_j", r->ligand_j)
                      : json_pack("{s:s,s:s}", "kind", r->kind, "system", r->name);
    if (*r->leg)
        json_object_set_new(one, "leg", json_string(r->leg));
    for (int k = 0; k < 2; k++)
        json_object_set_new(one, sides[k], side_json(&r->side[k]));
    json_object_set_new(one, "difference", gather_energy_json(diff_of(r)));
    json_object_set_new(one, "in_errors", number_json(diff_in_errors(r)));
    json_object_set_new(one, "verdict_changed", json_boolean(diff_verdict_changed(r)));
    return one;
}

json_t *diff_json(const struct diff *d)
{
    json_t *rows = json_array();
    for (int i = 0; i < d->nrows; i++)
        json_array_append_new(rows, row_json(&d->rows[i]));
    return json_pack("{s:s,s:s,s:o}", sides[0], answer_text(d->campaigns[0], "name"), sides[1],
                     answer_text(d->campaigns[1], "name"), "rows", rows);
}

/* ---- CSV ---- */

static void text_cell(struct buf *out, const char *text)
{
    show_csv(out, text);
    buf_printf(out, ",");
}

/* Empty where it is not known. */
static void csv_number(struct buf *out, double x)
{
    if (!isnan(x))
        buf_printf(out, "%.6g", x);
    buf_printf(out, ",");
}

void diff_csv(const struct diff *d, struct buf *out)
{
    buf_printf(out,
               "kind,name,ligand_j,leg,A (kcal/mol),A error (kcal/mol),B (kcal/mol),B error (kcal/mol),"
               "B - A (kcal/mol),error (kcal/mol),in errors,A verdict,B verdict,only in\n");
    for (int i = 0; i < d->nrows; i++) {
        const struct diff_row *r = &d->rows[i];
        const struct number difference = diff_of(r), numbers[] = {r->side[0].number, r->side[1].number, difference};
        text_cell(out, r->kind);
        text_cell(out, r->name);
        text_cell(out, r->ligand_j);
        text_cell(out, r->leg);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            csv_number(out, numbers[k].value / GATHER_KCAL);
            csv_number(out, isnan(numbers[k].value) ? NAN : numbers[k].error / GATHER_KCAL);
        }
        csv_number(out, diff_in_errors(r));
        text_cell(out, r->side[0].verdict);
        text_cell(out, r->side[1].verdict);
        buf_printf(out, "%s\n", !r->side[1].there ? sides[0] : !r->side[0].there ? sides[1] : "");
    }
}
