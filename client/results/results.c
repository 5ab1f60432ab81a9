/* SPDX-License-Identifier: Apache-2.0
 *
 * results: the free energies of results.json (schemas/results.schema.json) as a table.
 */
#include "client/results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/files.h"
#include "client/ask/results.h"
#include "client/command/handlers.h"
#include "client/need/window_shares.h"
#include "client/results/cells.h"
#include "client/results/fold.h"
#include "client/results/headline.h"
#include "client/results/observed.h"
#include "client/results/switching.h"
#include "client/results/torsions.h"
#include "client/results/waters.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"

static const char *const units[] = {"kJ/mol", "kcal/mol", "kT"};
enum { UNITS = sizeof units / sizeof *units };

static void energy_cells(struct table *t, const json_t *energy)
{
    for (int i = 0; i < UNITS; i++) {
        const json_t *pair = json_object_get(energy, units[i]);
        struct buf cell = {0};
        number_with_error(&cell, number_from_json(json_object_get(pair, "value")),
                          number_from_json(json_object_get(pair, "error")));
        table_cell(t, "%s", cell.data);
        buf_free(&cell);
    }
}

/* Whether a window has no samples yet: what is missing may still come. */
static bool waits(const json_t *results)
{
    const json_t *window;
    bool any = false;
    size_t i;
    json_array_foreach (json_object_get(results, "windows"), i, window)
        any |= !strcmp(answer_text(window, "status"), "waits");
    return any;
}

static const char *word(const json_t *results, const json_t *verdict)
{
    const char *text = json_string_value(json_is_object(verdict) ? json_object_get(verdict, "verdict") : verdict);
    if (text && !strcmp(text, "failed") && waits(results))
        return "not yet";
    return text ? text : "-";
}

static void put_energies(const json_t *results, const struct out *s)
{
    struct table t;
    const json_t *estimator, *leg;
    size_t i, k;
    table_setup(&t, "l~ r r2 r3 l");
    table_cell(&t, "free energy");
    for (int u = 0; u < UNITS; u++)
        table_cell(&t, "%s", units[u]);
    table_cell(&t, "verdict");
    json_array_foreach (json_object_get(results, "estimators"), i, estimator) {
        const char *name = json_string_value(json_object_get(estimator, "name"));
        const json_t *legs = json_object_get(estimator, "legs");
        table_cell(&t, "%s", name ? name : "?");
        energy_cells(&t, json_object_get(estimator, "total"));
        table_cell(&t, "%s", word(results, json_object_get(estimator, "verdict")));
        for (k = 0; json_array_size(legs) > 1 && k < json_array_size(legs); k++) {
            leg = json_array_get(legs, k);
            const char *what = json_string_value(json_object_get(leg, "name"));
            table_cell(&t, "  %s", what ? what : "?");
            energy_cells(&t, json_object_get(leg, "free_energy"));
            table_cell(&t, "%s", word(results, json_object_get(leg, "verdict")));
        }
    }
    const json_t *solvation = json_object_get(results, "solvation");
    if (json_is_object(solvation)) {
        table_cell(&t, "solvation of %s", json_string_value(json_object_get(solvation, "molecule")));
        energy_cells(&t, json_object_get(solvation, "free_energy"));
        table_cell(&t, "%s", word(results, json_object_get(solvation, "verdict")));
    }
    const json_t *held = json_object_get(results, "standard_state");
    if (json_is_object(held)) {
        table_cell(&t, "to add for 1 mol/l");
        energy_cells(&t, json_object_get(held, "correction"));
        table_cell(&t, "exact");
    }
    const json_t *finite = json_object_get(results, "finite_size");
    if (json_is_object(finite)) {
        table_cell(&t, "to add for net charge");
        energy_cells(&t, json_object_get(finite, "correction"));
        table_cell(&t, "NET, USV");
    }
    json_array_foreach (json_object_get(results, "repeats"), i, estimator) {
        table_cell(&t, "repeat %lld", (long long)json_integer_value(json_object_get(estimator, "repeat")));
        energy_cells(&t, json_object_get(estimator, "free_energy"));
        table_cell(&t, "%s", word(results, json_object_get(estimator, "verdict")));
    }
    out_table(s, &t);
}

/* What the row of the standard state means. */
static void put_held(const json_t *held, const struct out *s)
{
    const json_t *molecules = json_object_get(held, "molecules"),
                 *release = json_object_get(json_object_get(held, "release"), "kcal/mol");
    if (!json_is_object(held))
        return;
    out_put(s,
            "\nrestraints hold %s and %s together in window %lld: from there to 1 mol/l is %.2f kcal/mol, which the "
            "estimate lacks\nbinding = solvent leg - (complex leg + what is to add), where both legs take the ligand "
            "out\n",
            json_string_value(json_array_get(molecules, 0)), json_string_value(json_array_get(molecules, 1)),
            (long long)json_integer_value(json_object_get(held, "window")),
            number_from_json(json_object_get(release, "value")));
    if (!strcmp(answer_text(held, "other_end"), "held"))
        out_put(s, "the other end of the ladder is held too: attaching the restraints is another leg\n");
}

static void put_finite_size(const json_t *finite, const struct out *s)
{
    const json_t *charges = json_object_get(finite, "charges"), *missing = json_object_get(finite, "missing"), *item;
    struct buf text = {0};
    size_t i;
    if (!json_is_object(finite))
        return;
    buf_printf(&text, "\nthe net charge goes from %+.2f to %+.2f e in a box of %.3g nm; the row lacks:",
               number_from_json(json_array_get(charges, 0)), number_from_json(json_array_get(charges, 1)),
               number_from_json(json_object_get(json_object_get(finite, "edge"), "magnitude")));
    json_array_foreach (missing, i, item)
        buf_printf(&text, "\n  %s", json_string_value(item));
    out_put(s, "%s\n", text.data);
    buf_free(&text);
}

/* What it has of its repeat's production, 1 is an even share; "" where all have about as much. */
static void time_cell(struct table *t, const struct window_share *shares, int n, int i)
{
    bool even = true;
    for (int k = 0; k < n; k++)
        even &= !(fabs(shares[k].time - 1) > 0.005);
    if (!even && shares[i].time > 0)
        table_cell(t, "%.2f", shares[i].time);
    else
        table_cell(t, "%s", even ? "" : "-");
}

/* How much of the error is this window's: of its square, in percent. */
static void error_cell(struct table *t, const struct window_share *share)
{
    if (isfinite(share->error))
        table_cell(t, "%.1f", 100 * share->error);
    else
        table_cell(t, "-");
}

/* "coulomb/vdw": what the numbers below are of. All windows of an ensemble have the same components. */
static void components_cell(struct table *t, const json_t *window)
{
    struct buf text = {0};
    const char *component;
    json_t *lambda;
    json_object_foreach (json_object_get(window, "lambda"), component, lambda)
        buf_printf(&text, "%s%s", text.len ? "/" : "", component);
    table_cell(t, "%s", text.len ? text.data : "lambda");
    buf_free(&text);
}

/* "0.25/0" */
static void lambdas_cell(struct table *t, const json_t *window)
{
    struct buf text = {0};
    const char *component;
    json_t *lambda;
    buf_add(&text, "", 0);
    json_object_foreach (json_object_get(window, "lambda"), component, lambda)
        buf_printf(&text, "%s%.4g", text.len ? "/" : "", json_number_value(lambda));
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

static void put_windows(const json_t *results, const struct out *s)
{
    const json_t *windows = json_object_get(results, "windows"), *repeats = json_object_get(results, "repeats");
    struct table t;
    int n;
    struct window_share *shares = window_shares(results, &n);
    const json_t *window;
    size_t i;
    table_setup(&t, "r l~~ l r3 r3 r4 r5 r6 r2 r1 l~");
    static const char *const heads[] = {"state", "ns",           "share",   "samples", "used",
                                        "g",     "uncorrelated", "error/%", "reason"};
    table_cell(&t, "window");
    components_cell(&t, json_array_get(windows, 0));
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (windows, i, window) {
        const json_t *samples = json_object_get(window, "samples");
        const char *status = json_string_value(json_object_get(window, "status"));
        const char *reason = json_string_value(json_object_get(window, "reason"));
        results_window(&t, window, json_is_array(repeats));
        lambdas_cell(&t, window);
        table_cell(&t, "%s", status ? status : "?");
        const double ns = answer_magnitude(json_object_get(window, "sampled"));
        table_cell(&t, ns > 0 ? "%.4g" : "-", ns);
        time_cell(&t, shares, n, (int)i);
        if (json_is_object(samples)) {
            table_cell(&t, "%lld", (long long)json_integer_value(json_object_get(samples, "read")));
            table_cell(&t, "%lld", (long long)json_integer_value(json_object_get(samples, "used")));
            table_cell(&t, "%.1f", number_from_json(json_object_get(samples, "inefficiency")));
            table_cell(&t, "%.0f", floor(number_from_json(json_object_get(samples, "uncorrelated"))));
        } else {
            for (int k = 0; k < 4; k++)
                table_cell(&t, "-");
        }
        error_cell(&t, &shares[i]);
        table_cell(&t, "%s", reason ? reason : "");
    }
    free(shares);
    out_table(s, &t);
}

/* Windows that had sampled before others were added. */
static void put_frames(const json_t *results, const struct out *s)
{
    bool repeats = json_is_array(json_object_get(results, "repeats"));
    const json_t *window;
    struct table t;
    size_t i;
    int n = 0;
    table_setup(&t, "r r r r r r");
    static const char *const heads[] = {"window", "frames", "of rows", "thinned", "off by/(kJ/mol)", "on average"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (json_object_get(results, "windows"), i, window) {
        const json_t *frames = json_object_get(json_object_get(window, "samples"), "frames");
        if (!json_is_object(frames))
            continue;
        n++;
        results_window(&t, window, repeats);
        table_cell(&t, "%lld", answer_whole(frames, "rows"));
        table_cell(&t, "%lld", answer_whole(frames, "of"));
        table_cell(&t, "%lld", answer_whole(frames, "thinned"));
        bool compared = answer_whole(frames, "compared") > 0;
        table_cell(&t, compared ? "%.3f" : "-", answer_number(json_object_get(frames, "difference"), "magnitude"));
        table_cell(&t, compared ? "%.3f" : "-", answer_number(json_object_get(frames, "bias"), "magnitude"));
    }
    if (n) {
        out_put(s,
                "\nSampled before windows were added: of these rows those count that are frames, evaluated at all "
                "windows.\nFor their rounded coordinates their energies at neighbouring windows are off by so much "
                "(root mean square):\n\n");
        out_table(s, &t);
    } else {
        table_free(&t);
    }
}

static void put_pairs(const json_t *pairs, const struct out *s)
{
    struct table t;
    const json_t *pair;
    size_t i;
    table_setup(&t, "l r r r");
    static const char *const heads[] = {"windows", "exchanged", "attempted", "acceptance"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (pairs, i, pair) {
        const json_t *attempted = json_object_get(pair, "attempted");
        table_cell(&t, "%lld - %lld", answer_whole(pair, "from"), answer_whole(pair, "to"));
        table_cell(&t, "%lld", answer_whole(pair, "exchanged"));
        if (json_is_integer(attempted)) {
            table_cell(&t, "%lld", (long long)json_integer_value(attempted));
            table_cell(&t, "%.3f", answer_number(pair, "acceptance"));
        } else {
            table_cell(&t, "-");
            table_cell(&t, "-");
        }
    }
    out_table(s, &t);
}

/* How replicas got about between windows, for each repeat. */
static void put_exchange(const json_t *exchange, const struct out *s)
{
    const json_t *item;
    size_t i;
    json_array_foreach (exchange, i, item) {
        char repeat[40] = "";
        if (json_array_size(exchange) > 1)
            snprintf(repeat, sizeof repeat, " of repeat %lld", answer_whole(item, "repeat"));
        long long times = answer_whole(item, "exchanges"), trips = answer_whole(item, "round_trips");
        out_put(s, "\nexchange%s (%s): %lld %s, %lld round %s, eigenvalue %.4f\n\n", repeat,
                answer_text(item, "scheme"), times, number_word(times, "time", "times"), trips,
                number_word(trips, "trip", "trips"), number_from_json(json_object_get(item, "eigenvalue")));
        put_pairs(json_object_get(item, "pairs"), s);
    }
}

/* Profiles along coordinations, of umbrella windows. */
static void put_profiles(const json_t *results, const struct out *s)
{
    const json_t *profile, *bin;
    size_t i, k;
    json_array_foreach (json_object_get(results, "profiles"), i, profile) {
        struct table t;
        table_setup(&t, "r r r r r2 r3 l");
        table_cell(&t, "from");
        table_cell(&t, "to");
        table_cell(&t, "rows");
        for (int u = 0; u < UNITS; u++)
            table_cell(&t, "%s", units[u]);
        table_cell(&t, "verdict");
        json_array_foreach (json_object_get(profile, "bins"), k, bin) {
            table_cell(&t, "%.4g", answer_number(bin, "from"));
            table_cell(&t, "%.4g", answer_number(bin, "to"));
            table_cell(&t, "%lld", answer_whole(bin, "rows"));
            energy_cells(&t, json_object_get(bin, "free_energy"));
            table_cell(&t, "%s", answer_text(bin, "verdict"));
        }
        out_put(s, "\nprofile along coordination %lld, without the biases (%s)%s:\n\n",
                answer_whole(profile, "coordination"), answer_text(profile, "verdict"),
                json_is_array(json_object_get(results, "repeats")) ? ", the mean of all repeats" : "");
        out_table(s, &t);
    }
}

static void averages_rows(struct table *t, const json_t *averages)
{
    const char *name;
    const json_t *average;
    json_object_foreach ((json_t *)averages, name, average) {
        struct buf cell = {0};
        number_with_error(&cell, number_from_json(json_object_get(average, "value")),
                          number_from_json(json_object_get(average, "error")));
        table_cell(t, "%s", name);
        table_cell(t, "%s", cell.data);
        table_cell(t, "%s", answer_text(average, "unit"));
        buf_free(&cell);
    }
}

/* Averages of a lone window: it has no free energy. */
static void put_averages(const json_t *window, const struct out *s)
{
    struct table t;
    table_setup(&t, "l r l");
    table_cell(&t, "average");
    table_cell(&t, "value");
    table_cell(&t, "unit");
    averages_rows(&t, json_object_get(window, "averages"));
    averages_rows(&t, json_object_get(window, "fluctuations"));
    out_table(s, &t);
}

static const json_t *reasons_of(const json_t *estimators, size_t i)
{
    return json_object_get(json_object_get(json_array_get(estimators, i), "verdict"), "reasons");
}

/* Why estimators' totals are not converged; those with the same reasons together. */
static void put_reasons(const json_t *results, const struct out *s)
{
    const json_t *estimators = json_object_get(results, "estimators"), *reason;
    size_t n = json_array_size(estimators), next, k;
    for (size_t i = 0; i < n; i = next) {
        const json_t *reasons = reasons_of(estimators, i);
        struct buf text = {0};
        for (next = i; next < n && json_equal(reasons_of(estimators, next), reasons); next++)
            buf_printf(&text, "%s%s", next > i ? ", " : "", answer_text(json_array_get(estimators, next), "name"));
        buf_printf(&text, " %s:\n", word(results, json_object_get(json_array_get(estimators, i), "verdict")));
        json_array_foreach (reasons, k, reason)
            buf_printf(&text, "  %s\n", answer_text(reason, "text"));
        if (json_array_size(reasons))
            out_put(s, "\n%s", text.data);
        buf_free(&text);
    }
}

/* Of a campaign that places windows (client/campaign/place.c), or of a spec that does. */
static void put_ladder(const json_t *results, const struct out *s)
{
    const json_t *ensemble = json_object_get(results, "ensemble"), *labels = json_object_get(ensemble, "labels");
    if (json_object_get(ensemble, "placed"))
        out_put(s, "\nA pilot of the spec's windows placed these; its samples are in no number here.\n");
    if (json_object_get(labels, "ladder"))
        out_put(s, "\nThe campaign placed these windows by its pilot %s.\n", answer_text(labels, "ladder"));
}

/* The number first, as in the report. */
static void put_headline(const json_t *results, const struct out *s)
{
    struct headline h;
    headline_find(&h, results);
    if (h.known)
        out_put(s, "%s: %s, %s\n", h.what.data, h.number.data,
                answer_text(json_object_get(results, "verdict"), "verdict"));
    if (h.derivation.len)
        out_put(s, "%s\n", h.derivation.data);
    if (h.known)
        out_put(s, "\n");
    headline_close(&h);
}

void results_put(const struct out *s, const json_t *results)
{
    const char *status = json_string_value(json_object_get(results, "status"));
    const char *reason = json_string_value(json_object_get(results, "reason"));
    const char *quantity = json_string_value(json_object_get(results, "quantity"));
    const json_t *windows = json_object_get(results, "windows"), *item;
    size_t i;
    if (status && !strcmp(status, "failed") && waits(results))
        status = "not yet";
    put_headline(results, s);
    out_put(s, "%s; status %s%s%s\n\n", quantity ? quantity : "results", status ? status : "?", reason ? ": " : "",
            reason ? reason : "");
    if (json_array_size(json_object_get(results, "estimators"))) {
        put_energies(results, s);
        put_held(json_object_get(results, "standard_state"), s);
        put_finite_size(json_object_get(results, "finite_size"), s);
        out_put(s, "\n");
    }
    if (json_array_size(windows))
        put_windows(results, s);
    switching_put(results, s);
    put_ladder(results, s);
    put_frames(results, s);
    put_exchange(json_object_get(results, "exchange"), s);
    observed_put(results, s);
    fold_put(results, s);
    torsions_put(results, s);
    waters_put(results, s);
    put_profiles(results, s);
    if (json_array_size(windows) == 1) {
        out_put(s, "\n");
        put_averages(json_array_get(windows, 0), s);
    }
    put_reasons(results, s);
    json_array_foreach (json_object_get(results, "warnings"), i, item)
        out_put(s, "%swarning: %s\n", i ? "" : "\n", json_string_value(item));
}

/* Results on stdout: as they came with --json, else as tables, below a line that says so where they are not final. */
static void print_results(const struct client *c, const json_t *ensemble, const json_t *results, const struct buf *json)
{
    const char *state = answer_text(ensemble, "state");
    struct buf text = {0};
    if (c->json) {
        fwrite(json->data, 1, json->len, stdout);
        return;
    }
    if (!ensemble_ended(state))
        printf("SO FAR: the ensemble is %s, %d %% of all steps are done\n", state,
               (int)(100 * answer_number(ensemble, "progress")));
    if (results_earlier(ensemble, results))
        printf("These are the results of revision %lld, before windows were added: some of those have no samples yet\n",
               results_earlier(ensemble, results));
    results_put(&(struct out){&text, client_width(), false}, results);
    fputs(text.data, stdout);
    buf_free(&text);
}

int results_main(struct client *c, int argc, char **argv)
{
    struct err e = {0}, unfetched = {0};
    struct buf json = {0}, path = {0};
    client_path(&path, argv[0], "");
    json_t *ensemble = client_get(c, path.data, &e);
    const char *id = answer_text(ensemble, "id");
    bool live = !ensemble_ended(answer_text(ensemble, "state"));
    json_t *results = ensemble ? results_get(c, id, live, &json, &e) : NULL;
    int rc = results_exit(answer_text(ensemble, "state"), results);
    /* Files are there before results are. */
    if (c->output && ensemble && (results || live) && files_download(c, ensemble, c->output, &unfetched))
        e = unfetched;
    if (e.code)
        rc = client_fail(c, &e);
    else
        print_results(c, ensemble, results, &json);
    buf_free(&path);
    buf_free(&json);
    json_decref(results);
    json_decref(ensemble);
    return rc;
}
