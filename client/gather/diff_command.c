/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal campaign diff: reads or gathers two campaigns, and shows how they differ.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/gather/diff.h"
#include "client/show/out.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

#define MANY_ERRORS 2.0
#define BY_CHANCE 0.0455 /* of differences are further off than that, if they are normal */

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

/* ---- reading ---- */

static json_t *read_gathered(const char *file, struct err *e)
{
    struct buf text = {0};
    json_error_t why;
    json_t *all = NULL;
    if (access(file, R_OK)) {
        err_set(e, ERR_MISSING_FILE, "%s: %s", file, strerror(errno));
    } else if (!buf_read_file(&text, file, e)) {
        all = json_loadb(text.data ? text.data : "", text.len, 0, &why);
        if (!all)
            err_set(e, ERR_SPEC, "%s:%d: %s: expected gather.json, or a campaign's file that ends in .yaml", file,
                    why.line, why.text);
        else if (!json_is_array(json_object_get(all, "edges")) || !json_is_array(json_object_get(all, "systems"))) {
            json_decref(all);
            all = NULL;
            err_set(e, ERR_SPEC,
                    "%s: it has no tables of a campaign: expected gather.json of `shoal campaign gather FILE --output "
                    "DIR`, or a campaign's file that ends in .yaml",
                    file);
        }
    }
    buf_free(&text);
    return all;
}

/* A new reference, or NULL with the exit code in *rc after saying why. */
static json_t *campaign_of(struct client *c, const char *file, int *rc)
{
    struct err e = {0};
    if (ends_in(file, ".yaml") || ends_in(file, ".yml"))
        return campaign_gathered(c, file, rc);
    json_t *all = read_gathered(file, &e);
    if (!all)
        *rc = client_fail(c, &e);
    return all;
}

/* ---- showing ---- */

static const char *note_of(const struct diff_row *r)
{
    return !r->side[1].there                        ? "only in A"
           : !r->side[0].there                      ? "only in B"
           : r->side[0].so_far && r->side[1].so_far ? "so far"
           : r->side[0].so_far                      ? "A so far"
           : r->side[1].so_far                      ? "B so far"
                                                    : "";
}

static void put_row(struct table *t, const struct diff_row *r)
{
    if (*r->ligand_j)
        table_cell(t, "%s > %s", r->name, r->ligand_j);
    else
        table_cell(t, "%s", r->name);
    table_cell(t, "%s", *r->leg ? r->leg : "sum");
    gather_number_cell(t, r->side[0].number);
    gather_number_cell(t, r->side[1].number);
    gather_number_cell(t, diff_of(r));
    if (isnan(diff_in_errors(r)))
        table_cell(t, "-");
    else
        table_cell(t, "%.1f", diff_in_errors(r));
    if (diff_verdict_changed(r))
        table_cell(t, "%s, was %s", *r->side[1].verdict ? r->side[1].verdict : "none",
                   *r->side[0].verdict ? r->side[0].verdict : "none");
    else
        table_cell(t, "%s", r->side[r->side[0].there ? 0 : 1].verdict);
    table_cell(t, "%s", note_of(r));
}

static void table_of(struct table *t, const struct diff *d)
{
    static const char *const words[] = {"item", "leg", "A", "B", "B - A", "in errors", "verdict", "note"};
    table_setup(t, "l~ l r r r r l~ l");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        table_cell(t, "%s", words[i]);
    for (int i = 0; i < d->nrows; i++)
        put_row(t, &d->rows[i]);
}

/* What the sums of one kind come to. */
struct summary {
    int both, compared, off, changed, only[2];
    double squares; /* of differences */
};

static struct summary summary_of(const struct diff *d, const char *kind)
{
    struct summary s = {0};
    for (int i = 0; i < d->nrows; i++) {
        const struct diff_row *r = &d->rows[i];
        if (strcmp(r->kind, kind) != 0)
            continue;
        const double difference = diff_of(r).value;
        s.both += r->side[0].there && r->side[1].there;
        s.only[0] += !r->side[1].there;
        s.only[1] += !r->side[0].there;
        s.changed += diff_verdict_changed(r);
        s.compared += !isnan(difference);
        s.squares += isnan(difference) ? 0 : difference * difference;
        s.off += diff_in_errors(r) > MANY_ERRORS;
    }
    return s;
}

static void put_summary(const struct out *s, const struct diff *d, const char *kind, const char *kinds)
{
    const struct summary sum = summary_of(d, kind);
    if (!sum.both && !sum.only[0] && !sum.only[1])
        return;
    out_put(s, "%d %s in both, %d only in A, %d only in B; %d %s changed", sum.both, number_word(sum.both, kind, kinds),
            sum.only[0], sum.only[1], sum.changed, number_word(sum.changed, "verdict", "verdicts"));
    if (sum.compared)
        out_put(s, "; root mean square of %d %s %.2f kcal/mol, %d of them more than %.0f errors (by chance %.1f)",
                sum.compared, number_word(sum.compared, "difference", "differences"),
                sqrt(sum.squares / sum.compared) / GATHER_KCAL, sum.off, MANY_ERRORS, BY_CHANCE * sum.compared);
    out_put(s, "\n");
}

static void print_diff(const struct client *c, const struct diff *d, const char *const *files)
{
    struct buf text = {0};
    const struct out s = {&text, client_width(), false};
    struct table t;
    if (c->json) {
        json_t *all = diff_json(d);
        client_print(all);
        json_decref(all);
        return;
    }
    table_of(&t, d);
    if (c->plain) {
        table_put_plain(&t, &text);
    } else {
        for (int k = 0; k < 2; k++)
            out_put(&s, "%s: %s, %s\n", k ? "B" : "A", answer_text(d->campaigns[k], "name"), files[k]);
        out_put(&s, "\n");
        out_title(&s, "differences, kcal/mol", "of an edge, ligand_j less ligand_i; A and B taken for independent");
        out_table(&s, &t);
        out_put(&s, "\n");
        put_summary(&s, d, "edge", "edges");
        put_summary(&s, d, "system", "systems");
    }
    fputs(text.data ? text.data : "", stdout);
    buf_free(&text);
}

static int write_diff(const struct diff *d, const char *path, struct err *e)
{
    struct buf text = {0};
    if (ends_in(path, ".csv")) {
        diff_csv(d, &text);
    } else {
        json_t *all = diff_json(d);
        client_add_json(&text, all);
        json_decref(all);
    }
    int rc = path_make_parents(path, 0777, e);
    if (!rc)
        rc = buf_write_file(path, text.data, text.len, e);
    buf_free(&text);
    return rc;
}

static int check_options(const struct client *c, struct err *e)
{
    if (campaign_is_part(c))
        return err_set(e, ERR_USAGE, "--only, --skip and --leg: not with campaign diff, which shows what both have");
    if (c->output && !ends_in(c->output, ".csv") && !ends_in(c->output, ".json"))
        return err_set(e, ERR_USAGE, "--output %s: expected a file that ends in .csv or .json with campaign diff",
                       c->output);
    return 0;
}

int campaign_diff(struct client *c, const char *first, const char *second)
{
    const char *const files[] = {first, second};
    json_t *campaigns[2] = {NULL, NULL};
    struct err e = {0};
    struct diff d;
    int rc = check_options(c, &e) ? client_fail(c, &e) : EXIT_OK;
    for (int k = 0; k < 2 && rc == EXIT_OK; k++)
        campaigns[k] = campaign_of(c, files[k], &rc);
    if (rc == EXIT_OK) {
        diff_make(&d, campaigns[0], campaigns[1]);
        if (c->output && write_diff(&d, c->output, &e))
            rc = client_fail(c, &e);
        else
            print_diff(c, &d, files);
        diff_free(&d);
        for (int k = 0; k < 2 && rc == EXIT_OK; k++)
            rc = json_is_true(json_object_get(campaigns[k], "so_far")) ? EXIT_TRY_LATER : EXIT_OK;
    }
    json_decref(campaigns[0]);
    json_decref(campaigns[1]);
    return rc;
}
