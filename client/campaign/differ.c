/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble was submitted with, beside what the campaign plans under its key now: the first line that differs.
 */
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/campaign/campaign.h"
#include "client/division/lines.h"
#include "engine/base/gzip.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"
#include "engine/base/json/text_json.h"

enum { TOLD = 5 }; /* differences that are told with their first line */

json_t *campaign_read_files(const json_t *paths, struct err *e)
{
    json_t *files = json_object();
    const json_t *pair;
    size_t i;
    json_array_foreach (paths, i, pair) {
        struct buf text = {0};
        if (!gzip_read_file(&text, json_string_value(json_array_get(pair, 1)), e))
            json_object_set_new(files, json_string_value(json_array_get(pair, 0)),
                                text_json(text.data ? text.data : "", text.len));
        buf_free(&text);
    }
    return files;
}

static json_t *stored(const struct client *c, const char *id, const char *name)
{
    struct buf path = {0}, reply = {0};
    struct err e = {0};
    long status = 0;
    client_path(&path, id, "/files/input/");
    http_escape_path(&path, name);
    int rc = http_request(c->http, "GET", path.data, NULL, &status, &reply, &e);
    json_t *text = rc || status != 200 ? NULL : text_json(reply.data, reply.len);
    buf_free(&path);
    buf_free(&reply);
    return text;
}

/* "protocol.produce: ", the keys that a line of a spec is below: nobody has the file that its number is of. */
static void put_keys(struct buf *out, const char *text, const char *line)
{
    struct buf keys = {0};
    size_t indent = strspn(line, " ");
    for (const char *at = line; indent && at > text;) {
        for (at--; at > text && at[-1] != '\n';)
            at--;
        const size_t n = strspn(at, " ");
        if (n < indent && at[n] != '-') {
            struct buf longer = {0};
            buf_printf(&longer, "%.*s%s%s", (int)strcspn(at + n, ":\n"), at + n, keys.len ? "." : "",
                       keys.len ? keys.data : "");
            buf_free(&keys);
            keys = longer;
        }
        indent = n < indent ? n : indent;
    }
    buf_printf(out, "%s: ", keys.len ? keys.data : "its spec");
    buf_free(&keys);
}

/* Appends the first line in which two texts differ. False: they do not. name NULL: they are specs, and may differ in a
 * seed that the service has drawn (but_drawn). */
static bool first_difference(const char *there, const char *here, const char *name, bool but_drawn, struct buf *out)
{
    const char *text = here;
    for (int line = 1; line += lines_same(&there, &here), *there || *here; line++) {
        const char *drawn = strstr(here, "seed: random");
        if (!but_drawn || !drawn || drawn >= here + strcspn(here, "\n")) {
            if (name)
                buf_printf(out, "%s, line %d: ", name, line);
            else
                put_keys(out, text, here);
            lines_quote(out, there);
            buf_printf(out, " was submitted, ");
            lines_quote(out, here);
            buf_printf(out, " is planned");
            return true;
        }
        there = lines_next(there);
        here = lines_next(here);
    }
    return false;
}

static bool files_differ(const struct client *c, const struct campaign_view *k, const json_t *one, const char *id,
                         struct buf *out)
{
    struct err e = {0};
    json_t *files = campaign_read_files(
               json_array_get(json_object_get(k->plan, "inputs"), (size_t)answer_whole(one, "inputs")), &e),
           *text;
    const char *name;
    bool found = false;
    json_object_foreach (files, name, text) {
        json_t *there = found ? NULL : stored(c, id, name);
        if (there)
            found = first_difference(json_string_value(there), json_string_value(text), name, false, out);
        json_decref(there);
    }
    json_decref(files);
    return found;
}

/* One that was submitted with other content. */
static void say_difference(const struct client *c, const struct campaign_view *k, const json_t *one)
{
    const char *id = answer_text(campaign_present(k, one), "id");
    struct buf out = {0};
    json_t *spec = stored(c, id, "spec.yaml");
    const char *there = json_string_value(spec), *here = answer_text(one, "spec");
    if (!(there && first_difference(there, here, NULL, true, &out)) && !files_differ(c, k, one, id, &out) &&
        !(there && first_difference(there, here, NULL, false, &out)))
        buf_printf(&out, "other files");
    printable_line(stderr, "shoal: %s is %s, which has other content: %s", answer_text(one, "key"), id, out.data);
    json_decref(spec);
    buf_free(&out);
}

int campaign_say_differences(const struct client *c, const struct campaign_view *k)
{
    const json_t *one;
    size_t i;
    int n = 0;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        if (campaign_differs(k, one) && n++ < TOLD)
            say_difference(c, k, one);
    if (n > TOLD)
        fprintf(stderr, "shoal: %d more %s other content; `shoal campaign plan --json` lists them\n", n - TOLD,
                number_word(n - TOLD, "has", "have"));
    if (n)
        fprintf(stderr,
                "shoal: what was submitted stays as it is; `shoal campaign submit %s --replace` removes it, with its "
                "results, and submits what is planned\n",
                k->file);
    return n;
}
