/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal ladder: windows of equal thermodynamic length, proposed from the results of a pilot. What it prints is YAML, to
 * be pasted into a spec.
 */
#include "client/propose/propose.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/results.h"
#include "engine/base/ladder/pilot.h"
#include "engine/base/json/number_json.h"

#define OVERLAP_USUAL 0.1 /* thrice what results want at least */

/* "coulomb", "coulomb+vdw" */
static void leg_name(const struct pilot *p, const struct spacing_leg *leg, struct buf *out)
{
    int nc = p->path.ncomponents;
    const char *join = "";
    for (int c = 0; c < nc; c++)
        if (p->lambda[leg->from * nc + c] != p->lambda[leg->to * nc + c]) {
            buf_printf(out, "%s%s", join, p->name[c]);
            join = "+";
        }
}

static void print_head(const struct pilot *p, const struct spacing *s, double aim)
{
    struct buf legs = {0};
    for (const struct spacing_leg *g = s->legs; g < s->legs + s->nlegs; g++) {
        buf_printf(&legs, g == s->legs ? ": " : ", ");
        leg_name(p, g, &legs);
        buf_printf(&legs, " %.2f", g->length);
    }
    printf("# Thermodynamic length %.2f%s.\n", s->at[s->nwindows - 1], legs.data);
    printf("# Neighbours of these %d windows are expected to overlap by %.2f or more; in the pilot by %.2f",
           s->nwindows, s->overlap, pilot_expected(p));
    if (!isnan(p->measured))
        printf(", where it was %.2f", p->measured);
    printf(".\n");
    int fewest = spacing_fewest(&p->path, aim);
    if (fewest)
        printf("# An overlap of %g takes %d windows.\n", aim, fewest);
    buf_free(&legs);
}

/* For a switch along the pilot's own windows. */
static void print_shares(const struct pilot *p)
{
    if (!pilot_is_whole(p))
        return;
    printf("# A switch along the windows of the pilot, by thermodynamic length:\n#   shares: [");
    for (int i = 0; i < p->path.nsteps; i++)
        printf("%s%.3g", i ? ", " : "", pilot_share(p, i));
    printf("]\n");
}

static json_t *shares_json(const struct pilot *p)
{
    if (!pilot_is_whole(p))
        return json_null();
    json_t *shares = json_array();
    for (int i = 0; i < p->path.nsteps; i++)
        json_array_append_new(shares, json_real(pilot_share(p, i)));
    return shares;
}

static void print_spacing(const struct pilot *p, const struct spacing *s, double aim)
{
    print_head(p, s, aim);
    print_shares(p);
    printf("windows:\n");
    for (int c = 0; c < p->path.ncomponents; c++) {
        printf("  %s: [", p->name[c]);
        for (int k = 0; k < s->nwindows; k++)
            printf("%s%.10g", k ? ", " : "", s->lambda[k * p->path.ncomponents + c]);
        printf("]\n");
    }
}

static void print_json(const struct pilot *p, const struct spacing *s, double aim)
{
    json_t *windows = json_object(), *legs = json_array();
    for (int c = 0; c < p->path.ncomponents; c++) {
        json_t *values = json_array();
        for (int k = 0; k < s->nwindows; k++)
            json_array_append_new(values, json_real(s->lambda[k * p->path.ncomponents + c]));
        json_object_set_new(windows, p->name[c], values);
    }
    for (const struct spacing_leg *g = s->legs; g < s->legs + s->nlegs; g++) {
        struct buf name = {0};
        leg_name(p, g, &name);
        json_array_append_new(
            legs, json_pack("{s:s,s:f,s:i}", "name", name.data, "length", g->length, "intervals", g->intervals));
        buf_free(&name);
    }
    int fewest = spacing_fewest(&p->path, aim);
    json_t *all =
        json_pack("{s:o,s:f,s:o,s:f,s:{s:f,s:o,s:o},s:{s:f,s:o}}", "windows", windows, "length", s->at[s->nwindows - 1],
                  "legs", legs, "expected_overlap", s->overlap, "pilot", "expected_overlap", pilot_expected(p),
                  "overlap", number_json(p->measured), "shares", shares_json(p), "aim", "overlap", aim, "windows",
                  fewest ? json_integer(fewest) : json_null());
    client_print(all);
    json_decref(all);
}

/* results.json of a file, or of standard input: "-". */
static json_t *read_results(const char *path, struct err *e)
{
    struct buf text = {0};
    json_error_t why;
    json_t *results = NULL;
    bool piped = !strcmp(path, "-");
    int rc = piped ? buf_read_stream(&text, stdin, "standard input", e) : buf_read_file(&text, path, e);
    if (rc && errno == ENOENT)
        e->code = ERR_MISSING_FILE;
    if (!rc) {
        results = json_loadb(text.data ? text.data : "", text.len, 0, &why);
        if (!results)
            err_set(e, ERR_UNSUPPORTED, "%s:%d: %s, expected results as `shoal results --json` prints them", path,
                    why.line, why.text);
    }
    buf_free(&text);
    return results;
}

static json_t *results_of(const struct client *c, const char *word, struct err *e)
{
    const char *dot = strrchr(word, '.');
    if (!strcmp(word, "-") || (dot && !strcmp(dot, ".json")))
        return read_results(word, e);
    struct buf path = {0};
    client_path(&path, word, "");
    json_t *ensemble = client_get(c, path.data, e), *results = NULL;
    if (ensemble)
        results = results_get(c, answer_text(ensemble, "id"), !ensemble_ended(answer_text(ensemble, "state")), NULL, e);
    json_decref(ensemble);
    buf_free(&path);
    return results;
}

static int propose(const struct client *c, const struct pilot *p, struct err *e)
{
    struct spacing s = {0};
    double aim = c->overlap > 0 ? c->overlap : OVERLAP_USUAL;
    int n = c->windows > 0 ? (int)c->windows : spacing_fewest(&p->path, aim);
    int rc =
        n ? spacing_make(&s, &p->path, n, e)
          : err_set(
                e, ERR_UNSUPPORTED,
                "no number of windows up to %d gives all neighbours an overlap of %g: the legs are too short, or too "
                "long; expected --windows, or a smaller --overlap",
                SPACING_MOST, aim);
    if (!rc && c->json)
        print_json(p, &s, aim);
    else if (!rc)
        print_spacing(p, &s, aim);
    spacing_close(&s);
    return rc;
}

int propose_windows(struct client *c, const char *word)
{
    struct err e = {0};
    struct pilot p = {0};
    json_t *results = results_of(c, word, &e);
    int rc = results ? pilot_read(&p, results, &e) : -(int)e.code;
    if (!rc)
        rc = propose(c, &p, &e);
    pilot_close(&p);
    json_decref(results);
    return rc ? client_fail(c, &e) : EXIT_OK;
}
