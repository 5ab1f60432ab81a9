/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/submission.h"

#include <jansson.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/advice/advice.h"
#include "daemon/spec/predict.h"
#include "daemon/spec/split.h"
#include "engine/base/json/err_json.h"
#include "engine/base/path.h"
#include "engine/base/printable.h"

#define DEPTH_MAX 3                                                  /* of the JSON: files and labels are in the root */
#define VALUES_MAX (2 * (SUBMISSION_FILES + SUBMISSION_LABELS + 16)) /* commas: one for each value but the first */
#define LABEL_VALUE 255

struct submission_reading {
    json_t *root; /* owns every string below */
    const char *spec_text, *spec_name, *key;
    json_t *labels;
    json_t *files; /* by the names under which they are kept */
    struct spec *spec;
    struct buf drawn; /* the spec with its seed, where it says random */
    struct buf split; /* and with its split, where it says auto */
    int64_t atoms;
    submission_sizes_fn *measure;
    void *ctx;
    json_t *summary, *warnings, *sizes;
    char hash[SUBMISSION_HASH];
    json_t *missing; /* with ERR_MISSING_FILE */
};

/* ---- the bytes ---- */

/* Before anything is made of it: a body of a few megabytes can become gigabytes of empty lists. */
static int scan(const char *body, size_t len, struct err *e)
{
    size_t depth = 0, commas = 0;
    bool text = false;
    for (size_t i = 0; i < len; i++) {
        char c = body[i];
        if (text) {
            if (c == '\\')
                i++;
            else if (c == '"')
                text = false;
            continue;
        }
        text = c == '"';
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        commas += c == ',';
        if (depth > DEPTH_MAX)
            return err_set(e, ERR_USAGE, "request body: nested deeper than %d levels", DEPTH_MAX);
        if (commas > VALUES_MAX)
            return err_set(e, ERR_USAGE, "request body: more than %d values", VALUES_MAX);
    }
    return 0;
}

/* ---- the object ---- */

/* A text of one line, of which nothing is hidden from its reader. */
static bool one_line(const json_t *text, size_t max)
{
    const size_t n = json_string_length(text);
    return json_is_string(text) && n <= max && n == strlen(json_string_value(text)) &&
           printable(json_string_value(text));
}

/* As the reader of topologies says it. */
static int check_text(const char *name, const json_t *text, struct err *e)
{
    const char *bytes = json_string_value(text), *nul = bytes + strlen(bytes);
    int line = 1;
    for (const char *p = bytes; p < nul; p++)
        line += *p == '\n';
    return nul == bytes + json_string_length(text)
               ? 0
               : err_set(e, ERR_TOPOLOGY, "%.300s:%d: a NUL byte: this is not a text file", name, line);
}

static bool made_of(const char *text, const char *extra, size_t max)
{
    size_t n = 0;
    for (const char *p = text; *p; p++, n++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr(extra, *p)))
            return false;
    return n >= 1 && n <= max;
}

/* "." and ".." would be other places in the path of a request. */
bool submission_key(const char *text)
{
    return made_of(text, "._-", SUBMISSION_KEY) && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

bool submission_label_key(const char *text)
{
    return made_of(text, "._-/", 63);
}

static bool too_long(const char *name)
{
    size_t longest = 0;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t n = strcspn(part, "/");
        longest = n > longest ? n : longest;
    }
    return strlen(name) > SUBMISSION_NAME || longest > SUBMISSION_PART;
}

/* A file cannot also be the folder of another. The spec itself is kept beside the files, as spec.yaml. */
static int check_folders(const json_t *files, const char *name, struct err *e)
{
    char *folder = xstrdup(name);
    int rc = 0;
    for (char *slash = strchr(folder, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (json_object_get(files, folder) || strcmp(folder, "spec.yaml") == 0)
            rc = err_set(e, ERR_USAGE, "\"files\": \"%s\": \"%s\" is a file, so it cannot be a folder too", name,
                         folder);
        *slash = '/';
    }
    free(folder);
    return rc;
}

static int check_name(const char *name, struct err *e)
{
    if (!printable(name) || !path_is_normal(name) || !strcmp(name, "spec.yaml"))
        return err_set(e, ERR_USAGE,
                       "\"files\": \"%.300s\": expected a path without \".\", with \"..\" at its beginning alone, not "
                       "\"spec.yaml\"",
                       name);
    return 0;
}

static int check_kept(const json_t *kept, const char *name, struct err *e)
{
    if (too_long(name))
        return err_set(e, ERR_USAGE, "\"files\": \"%.300s\": expected a name of at most %d bytes, each part at most %d",
                       name, SUBMISSION_NAME, SUBMISSION_PART);
    return check_folders(kept, name, e);
}

/* A file by the name under which it is kept from now on. */
static int keep_file(json_t *kept, const char *name, json_t *text, struct err *e)
{
    if (check_name(name, e))
        return -(int)e->code;
    if (!json_is_string(text))
        return err_set(e, ERR_USAGE, "\"files\": \"%.300s\": expected text", name);
    if (check_text(name, text, e))
        return -(int)e->code;
    char *own = path_kept(name);
    if (json_object_get(kept, own))
        err_set(e, ERR_USAGE, "\"files\": \"%.300s\": another file is kept as \"%.300s\" too", name, own);
    else
        json_object_set(kept, own, text);
    free(own);
    return -(int)e->code;
}

static int check_files(struct submission_reading *s, const json_t *files, struct err *e)
{
    const char *name;
    json_t *text;
    if (!json_is_object(files))
        return err_set(e, ERR_USAGE, "request body: \"files\": expected an object, name to text");
    if (json_object_size(files) > SUBMISSION_FILES)
        return err_set(e, ERR_USAGE, "\"files\": at most %d files are accepted", SUBMISSION_FILES);
    s->files = json_object();
    json_object_foreach ((json_t *)files, name, text)
        if (keep_file(s->files, name, text, e))
            return -(int)e->code;
    json_object_foreach (s->files, name, text)
        if (check_kept(s->files, name, e))
            return -(int)e->code;
    return 0;
}

static int check_labels(json_t *labels, struct err *e)
{
    const char *key;
    json_t *value;
    if (labels && !json_is_object(labels))
        return err_set(e, ERR_USAGE, "request body: \"labels\": expected an object, key to text");
    if (json_object_size(labels) > SUBMISSION_LABELS)
        return err_set(e, ERR_USAGE, "\"labels\": at most %d are accepted", SUBMISSION_LABELS);
    json_object_foreach (labels, key, value) {
        if (!submission_label_key(key))
            return err_set(e, ERR_USAGE,
                           "\"labels\": \"%.100s\": expected a key of 1 to 63 letters, digits, '.', '_', '-' or '/'",
                           key);
        if (!one_line(value, LABEL_VALUE))
            return err_set(
                e, ERR_USAGE,
                "\"labels\": \"%s\": expected a text of at most %d bytes in one line, without control characters", key,
                LABEL_VALUE);
    }
    return 0;
}

static int check_keys(json_t *root, struct err *e)
{
    const char *key;
    json_t *value;
    json_object_foreach (root, key, value) {
        if (strcmp(key, "files") == 0 || strcmp(key, "labels") == 0)
            continue;
        if (strcmp(key, "spec") != 0 && strcmp(key, "spec_name") != 0 && strcmp(key, "id") != 0)
            return err_set(e, ERR_USAGE,
                           "request body: unknown key \"%.100s\" (known: spec, spec_name, files, id, labels)", key);
        if (!json_is_string(value))
            return err_set(e, ERR_USAGE, "request body: \"%s\": expected text", key);
    }
    return 0;
}

static int read_body(struct submission_reading *s, const char *body, size_t len, struct err *e)
{
    json_error_t why;
    if (scan(body, len, e))
        return -(int)e->code;
    s->root = json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!s->root)
        return err_set(e, ERR_USAGE, "request body: not JSON: line %d: %s", why.line, why.text);
    if (!json_is_object(s->root))
        return err_set(e, ERR_USAGE, "request body: expected a JSON object");
    if (check_keys(s->root, e))
        return -(int)e->code;
    const json_t *spec = json_object_get(s->root, "spec"), *name = json_object_get(s->root, "spec_name");
    s->spec_text = json_string_value(spec);
    s->spec_name = json_string_value(name);
    s->key = json_string_value(json_object_get(s->root, "id"));
    s->labels = json_object_get(s->root, "labels");
    if (!s->spec_text)
        return err_set(e, ERR_USAGE, "request body: \"spec\" is missing: the text of the ensemble spec");
    if (name && !one_line(name, SUBMISSION_NAME))
        return err_set(e, ERR_USAGE,
                       "request body: \"spec_name\": expected a text of at most %d bytes in one line, without control "
                       "characters",
                       SUBMISSION_NAME);
    if (!s->spec_name || !*s->spec_name)
        s->spec_name = "spec.yaml";
    if (check_text(s->spec_name, spec, e))
        return -(int)e->code;
    if (s->key && (!one_line(json_object_get(s->root, "id"), SUBMISSION_KEY) || !submission_key(s->key)))
        return err_set(
            e, ERR_USAGE,
            "key \"%.80s\" (--key of shoal, \"id\" of a request): expected 1 to %d letters, digits, '.', '_' or "
            "'-', and not . or ..",
            s->key, SUBMISSION_KEY);
    return check_files(s, json_object_get(s->root, "files"), e) ? -(int)e->code : check_labels(s->labels, e);
}

/* ---- what it describes ---- */

/* One that the spec names, when it has not come and is not the one the readers stopped at. */
static void add_missing(const struct submission_reading *s, const struct source *src, const char *named, json_t *all)
{
    if (!named)
        return;
    char *name = path_join(NULL, named), *kept = path_kept(name);
    if (path_is_normal(name) && !json_object_get(s->files, kept) &&
        !(src->wanted[0] && strcmp(src->wanted[0], name) == 0))
        json_array_append_new(all, json_pack("[s]", name));
    free(kept);
    free(name);
}

/* Names that would do for each file that is known to be missing: the one the readers stopped at, then what else the
 * spec names. */
static json_t *list_missing(const struct submission_reading *s, const struct source *src)
{
    json_t *all = json_array(), *first = json_array();
    for (int i = 0; i < 3 && src->wanted[i]; i++)
        json_array_append_new(first, json_string(src->wanted[i]));
    json_array_append(all, first);
    add_missing(s, src, s->spec->topology, all);
    add_missing(s, src, s->spec->coordinates, all);
    add_missing(s, src, s->spec->reference, all);
    for (int i = 0; i < s->spec->nstarts; i++)
        add_missing(s, src, s->spec->starts[i], all);
    json_decref(first);
    return all;
}

/* openapi.yaml's Summary. */
static json_t *summary(const struct spec *spec, const struct system *sys, json_t *warnings)
{
    struct prediction needs = spec_predict(spec, sys);
    json_t *about = json_pack("{s:f,s:I}", "ns_per_window", needs.ns, "disk_bytes",
                              (json_int_t)(needs.replica_bytes * needs.replicas));
    json_t *out = json_pack("{s:b,s:s,s:i,s:i,s:i,s:i,s:I,s:o,s:o*,s:O}", "ok", 1, "name", spec->name, "atoms",
                            sys->natoms, "windows", spec_windows(spec), "repeats", spec->repeats, "stages",
                            spec->nstages, "steps_per_window", (json_int_t)spec_steps(spec, spec->nstages), "about",
                            about, "split", spec_split_json(spec, sys), "warnings", warnings);
    if (spec->walkers)
        json_object_set_new(out, "switching", spec_switching_json(spec, &needs));
    return out;
}

/* As of the seed. */
static int choose_split(struct submission_reading *s, const struct system *sys, struct err *e)
{
    if (s->spec->split != SPLIT_AUTO)
        return 0;
    int rc = spec_choose_split(s->spec, sys, e);
    if (!rc)
        rc = spec_write_split(s->spec, s->spec_text, strlen(s->spec_text), &s->split, e);
    s->spec_text = s->split.data;
    return rc;
}

static int read_submitted_system(struct submission_reading *s, struct err *e)
{
    struct source *src = source_memory_new();
    struct system sys = {0};
    const char *name;
    json_t *text;
    json_object_foreach (s->files, name, text)
        if (source_memory_add(src, name, json_string_value(text), json_string_length(text), e))
            break;
    int rc = -(int)e->code;
    if (!rc)
        rc = spec_system(s->spec, src, &sys, e);
    if (!rc)
        rc = choose_split(s, &sys, e);
    if (!rc)
        rc = spec_check_windows(s->spec, &sys, e);
    if (!rc)
        rc = spec_advise(s->spec, &sys, &s->warnings, e);
    if (!rc)
        s->summary = summary(s->spec, &sys, s->warnings);
    if (!rc && s->measure)
        s->sizes = s->measure(s->ctx, s->spec, &sys);
    if (rc == -ERR_MISSING_FILE)
        s->missing = list_missing(s, src);
    s->atoms = sys.natoms;
    system_close(&sys);
    source_free(src);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_text(struct sha256_ctx *h, const char *text)
{
    uint64_t len = strlen(text);
    uint8_t head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (uint8_t)(len >> (8 * i));
    sha256_update(h, sizeof head, head);
    sha256_update(h, len, (const uint8_t *)text);
}

static void finish_hash(struct sha256_ctx *h, char hash[SUBMISSION_HASH])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(h, sizeof digest, digest);
    base16_encode_update(hash, sizeof digest, digest);
    hash[BASE16_ENCODE_LENGTH(sizeof digest)] = '\0';
}

void submission_hash(const char *spec, const json_t *files, char hash[SUBMISSION_HASH])
{
    size_t n = json_object_size(files), i = 0;
    const char **names = xcalloc(n, sizeof *names), *name;
    json_t *text;
    json_object_foreach ((json_t *)files, name, text)
        names[i++] = name;
    qsort(names, n, sizeof *names, by_name);
    struct sha256_ctx h;
    sha256_init(&h);
    add_text(&h, spec);
    for (i = 0; i < n; i++) {
        add_text(&h, names[i]);
        add_text(&h, json_string_value(json_object_get(files, names[i])));
    }
    finish_hash(&h, hash);
    free(names);
}

/* The spec that is kept has the number, so that a later reading of it is the same run. */
static int draw_seed(struct submission_reading *s, struct err *e)
{
    if (!s->spec->seed_random)
        return 0;
    int rc = spec_draw_seed(s->spec, s->spec_text, strlen(s->spec_text), &s->drawn, e);
    s->spec_text = s->drawn.data;
    return rc;
}

static int check_body(struct submission_reading *s, const char *body, size_t len, struct err *e)
{
    if (read_body(s, body, len, e) || spec_parse(&s->spec, s->spec_name, s->spec_text, strlen(s->spec_text), e))
        return -(int)e->code;
    /* Of what was sent, so that a seed drawn for it makes it no other; labels may differ. */
    submission_hash(s->spec_text, s->files, s->hash);
    return draw_seed(s, e) || spec_check_run(s->spec, e) || read_submitted_system(s, e) ? -(int)e->code : 0;
}

/* ---- the answer ---- */

static json_t *facts(const struct submission_reading *s)
{
    const char *name;
    json_t *text, *files = json_array();
    json_object_foreach (s->files, name, text) {
        struct sha256_ctx h;
        char hash[SUBMISSION_HASH];
        size_t len = json_string_length(text);
        sha256_init(&h);
        sha256_update(&h, len, (const uint8_t *)json_string_value(text));
        finish_hash(&h, hash);
        json_array_append_new(files, json_pack("[s,I,s]", name, (json_int_t)len, hash));
    }
    json_t *out = json_pack("{s:s,s:s,s:s?,s:s,s:I,s:i,s:i,s:i,s:I,s:i,s:I,s:o}", "name", s->spec->name, "spec_name",
                            s->spec_name, "key", s->key, "hash", s->hash, "atoms", (json_int_t)s->atoms, "windows",
                            spec_windows(s->spec), "repeats", s->spec->repeats, "stages", s->spec->nstages, "steps",
                            (json_int_t)spec_steps(s->spec, s->spec->nstages), "retries", s->spec->retries,
                            "spec_bytes", (json_int_t)strlen(s->spec_text), "files", files);
    const struct stop_when *stop = &s->spec->stop;
    const struct allocate_rule *allocate = &s->spec->allocate;
    if (allocate->rounds)
        json_object_set_new(out, "steps", json_integer((json_int_t)(allocate->before + allocate->first)));
    json_object_set_new(out, "allocation",
                        json_pack("{s:I,s:I,s:I}", "share", (json_int_t)allocate->share, "before",
                                  (json_int_t)allocate->before, "every", (json_int_t)allocate->every));
    json_object_set_new(out, "stop",
                        json_pack("{s:f,s:i,s:I}", "error", stop->error, "converged", (int)stop->converged, "after",
                                  (json_int_t)stop->after));
    json_object_set_new(out, "exchange", json_integer(s->spec->settings.exchange != EXCHANGE_NONE));
    json_object_set_new(out, "walkers", json_integer(s->spec->walkers));
    json_object_set_new(out, "switching", json_real(spec_switching_share(s->spec)));
    if (s->sizes)
        json_object_set(out, "sizes", s->sizes);
    json_object_set_new(out, "labels", s->labels ? json_incref(s->labels) : json_object());
    return out;
}

static void add_line(struct buf *out, json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    buf_printf(out, "%s\n", line);
    free(line);
    json_decref(object);
}

static void add_texts(struct buf *out, const struct submission_reading *s)
{
    const char *name;
    json_t *text;
    buf_add(out, s->spec_text, strlen(s->spec_text) + 1);
    json_object_foreach (s->files, name, text)
        buf_add(out, json_string_value(text), json_string_length(text) + 1);
}

void submission_check(const char *body, size_t len, bool texts, submission_sizes_fn *sizes, void *ctx, struct buf *out)
{
    struct submission_reading s = {.measure = sizes, .ctx = ctx};
    struct err e = {0};
    if (check_body(&s, body, len, &e)) {
        json_t *error = err_json(&e);
        if (s.missing)
            json_object_set_new(json_object_get(error, "error"), "files", s.missing);
        add_line(out, error);
    } else {
        add_line(out, json_pack("{s:O,s:o}", "summary", s.summary, "submission", facts(&s)));
        if (texts)
            add_texts(out, &s);
    }
    spec_free(s.spec);
    json_decref(s.summary);
    json_decref(s.sizes);
    json_decref(s.warnings);
    json_decref(s.files);
    json_decref(s.root);
    buf_free(&s.drawn);
    buf_free(&s.split);
}
