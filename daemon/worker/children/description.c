/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/description.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/spec/facts.h"
#include "daemon/spec/pilot.h"
#include "engine/base/number.h"

static int bad(struct err *e, const char *key, const char *expected)
{
    return err_set(e, ERR_SPEC, "description: %s: expected %s", key, expected);
}

/* A member that may be absent or null. */
static int optional_text(const json_t *o, const char *key, const char **out, struct err *e)
{
    const json_t *v = json_object_get(o, key);
    *out = json_string_value(v);
    return v && !json_is_null(v) && !*out ? bad(e, key, "a text") : 0;
}

static int read_replica(const json_t *o, const struct spec *spec, struct estimate_replica *r, struct err *e)
{
    static const struct {
        const char *name;
        enum estimate_kind kind;
    } states[] = {{"done", ESTIMATE_DONE},
                  {"partial", ESTIMATE_PARTIAL},
                  {"running", ESTIMATE_RUNNING},
                  {"failed", ESTIMATE_FAILED}};
    const char *state = json_string_value(json_object_get(o, "state"));
    const json_t *seed = json_object_get(o, "seed");
    size_t i = 0, n = sizeof states / sizeof *states;
    while (i < n && (!state || strcmp(state, states[i].name)))
        i++;
    if (i == n)
        return bad(e, "replicas[].state", "done, partial, running or failed");
    if (seed && !json_is_null(seed) && !(json_is_integer(seed) && json_integer_value(seed) >= 0))
        return bad(e, "replicas[].seed", "a whole number, 0 or more");
    r->kind = states[i].kind;
    bool own = json_is_integer(seed);
    r->seeded = own || !spec->seed_random;
    r->seed = own ? (uint64_t)json_integer_value(seed) : spec->settings.integrator.seed;
    return optional_text(o, "reason", &r->reason, e) || optional_text(o, "origin", &r->origin, e) ? -(int)e->code : 0;
}

/* What a pilot samples says where windows belong, and is in no free energy. */
static void leave_out(struct estimate_replica *r)
{
    r->kind = ESTIMATE_FAILED;
    if (!r->reason)
        r->reason = "a window of the pilot that places the ladder: its samples are in no result";
}

static int read_replicas(struct estimate_request *q, struct err *e)
{
    const json_t *list = json_object_get(q->description, "replicas"), *item;
    const json_t *repeats = json_object_get(q->description, "repeats");
    struct estimate_ensemble *x = &q->ensemble;
    size_t i, windows = (size_t)spec_windows(q->spec);
    int rc = 0;
    x->repeats = repeats && !json_is_null(repeats) ? (int)json_integer_value(repeats) : 1;
    if (x->repeats < 1 || x->repeats > 1000)
        return bad(e, "repeats", "a whole number from 1 to 1000");
    if (!json_is_array(list) || json_array_size(list) != windows * (size_t)x->repeats)
        return err_set(e, ERR_SPEC, "description: replicas: %zu, expected %zu (%d %s of %zu %s)", json_array_size(list),
                       windows * (size_t)x->repeats, x->repeats, number_word(x->repeats, "repeat", "repeats"), windows,
                       number_word((int64_t)windows, "window", "windows"));
    x->replicas = q->replicas = xcalloc(json_array_size(list), sizeof *q->replicas);
    json_array_foreach (list, i, item)
        if (!rc)
            rc = read_replica(item, q->spec, q->replicas + i, e);
    for (i = 0; i < json_array_size(list) && q->spec->ladder.automatic && !q->placing; i++)
        leave_out(q->replicas + i);
    return rc;
}

/* Where it ran, and how long. */
static int read_running(struct estimate_request *q, struct err *e)
{
    const json_t *devices = json_object_get(q->description, "devices"), *item;
    const json_t *seconds = json_object_get(q->description, "running_seconds");
    struct estimate_about *a = &q->ensemble.about;
    size_t i;
    if (seconds && !json_is_number(seconds))
        return bad(e, "running_seconds", "a number");
    a->running = json_number_value(seconds);
    a->devices = q->devices = xcalloc(json_array_size(devices) + 1, sizeof *q->devices);
    json_array_foreach (devices, i, item) {
        if (!json_is_string(item))
            return bad(e, "devices", "an array of texts");
        q->devices[a->ndevices++] = json_string_value(item);
    }
    return 0;
}

static int read_about(struct estimate_request *q, struct err *e)
{
    json_t *o = q->description, *labels = json_object_get(o, "labels"), *value;
    const json_t *speed = json_object_get(o, "ns_per_day"), *revision = json_object_get(o, "revision");
    struct estimate_about *a = &q->ensemble.about;
    const char *key;
    if (optional_text(o, "id", &a->id, e) || optional_text(o, "key", &a->key, e) ||
        optional_text(o, "name", &a->name, e) || optional_text(o, "spec_hash", &a->spec_hash, e))
        return -(int)e->code;
    if (speed && !json_is_null(speed) && !json_is_number(speed))
        return bad(e, "ns_per_day", "a number");
    a->ns_per_day = json_number_value(speed);
    if (revision && !json_is_null(revision) && !(json_is_integer(revision) && json_integer_value(revision) > 0))
        return bad(e, "revision", "a whole number from 1");
    a->revision = (size_t)json_integer_value(revision);
    a->labels = q->labels = xcalloc(json_object_size(labels), sizeof *q->labels);
    json_object_foreach (labels, key, value) {
        if (!json_is_string(value))
            return bad(e, "labels", "an object of texts");
        q->labels[a->nlabels++] = (struct estimate_label){key, json_string_value(value)};
    }
    return read_running(q, e);
}

static bool produces_npt(const struct spec *s)
{
    for (int i = 0; i < s->nstages; i++)
        if (s->stages[i].kind == STAGE_PRODUCE && s->stages[i].npt)
            return true;
    return false;
}

static int64_t whole(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static int read_production(struct estimate_request *q, struct err *e)
{
    const json_t *o = json_object_get(q->description, "production"), *steps = json_object_get(o, "steps"),
                 *replicas = json_object_get(o, "replicas");
    size_t n = (size_t)spec_windows(q->spec);
    struct estimate_production *p = &q->production;
    if (!o)
        return 0;
    *p = (struct estimate_production){whole(o, "share"), whole(o, "budget"), whole(o, "every"), NULL};
    if (p->share < 1 || p->every < 1 || json_array_size(steps) != n || json_array_size(replicas) != n)
        return bad(e, "production", "share, budget, every, and steps and replicas of every window");
    p->windows = xcalloc(n, sizeof *p->windows);
    for (size_t k = 0; k < n; k++) {
        p->windows[k].steps = json_integer_value(json_array_get(steps, k));
        p->windows[k].replicas = (int)json_integer_value(json_array_get(replicas, k));
    }
    q->ensemble.production = p;
    return 0;
}

/* Where later switches may be longer. decided: by how many doublings, where that is so already. */
static struct switch_pace pace_of(const struct spec *s, const json_t *decided)
{
    const double timestep = s->settings.integrator.timestep;
    const json_int_t chosen = json_integer_value(decided);
    if (!s->lengthen.after)
        return (struct switch_pace){0};
    return (struct switch_pace){.first = s->lengthen.after,
                                .decided = json_is_integer(decided) && chosen >= 0 &&
                                           chosen <= s->settings.switching.doublings,
                                .chosen = (int)chosen,
                                .later = s->allocate.share / s->allocate.every - s->lengthen.after,
                                .doublings = s->settings.switching.doublings,
                                .length = (double)switch_steps(&s->settings.switching) * timestep,
                                .apart = (double)s->allocate.every * timestep};
}

int description_read(struct estimate_request *q, const struct buf *text, struct err *e)
{
    json_error_t why;
    q->description = json_loadb(text->len ? text->data : "", text->len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(q->description))
        return err_set(e, ERR_SPEC, "description:%d: %s, expected a JSON object", q->description ? 1 : why.line,
                       q->description ? "not an object" : why.text);
    const char *spec = json_string_value(json_object_get(q->description, "spec"));
    const char *name = json_string_value(json_object_get(q->description, "spec_name"));
    if (!spec || !name)
        return bad(e, spec ? "spec_name" : "spec", "a text");
    int rc = spec_parse(&q->spec, name, spec, strlen(spec), e);
    if (rc)
        return rc;
    spec_take_pilot(q->spec);
    q->placing = json_is_true(json_object_get(q->description, "placing"));
    q->ensemble.set = &q->spec->settings;
    q->ensemble.exchanges_alone = (size_t)spec_exchanges_alone(q->spec);
    q->ensemble.npt = produces_npt(q->spec);
    q->ensemble.walkers = q->spec->walkers;
    json_t *placed = spec_placed_json(q->spec);
    q->ensemble.about.placed = q->placed = json_is_null(placed) ? NULL : json_dumps(placed, JSON_COMPACT);
    json_decref(placed);
    q->ensemble.pace = pace_of(q->spec, json_object_get(q->description, "doublings"));
    rc = read_replicas(q, e);
    if (!rc)
        rc = read_production(q, e);
    return rc ? rc : read_about(q, e);
}

void description_close(struct estimate_request *q)
{
    free(q->replicas);
    free(q->production.windows);
    free(q->labels);
    free(q->devices);
    methods_close(&q->methods);
    free(q->split);
    free(q->placed);
    watched_close(&q->watched);
    folds_close(&q->folds);
    buf_free(&q->fold_remark);
    system_close(&q->sys);
    spec_free(q->spec);
    json_decref(q->description);
}
