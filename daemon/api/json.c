/* SPDX-License-Identifier: Apache-2.0
 *
 * How ensembles, times and errors look in answers.
 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/json/err_json.h"
#include "engine/base/units.h"

#define FRESH_MS 200 /* for so long one text of an ensemble that goes on serves all who ask */

json_t *api_time_json(int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    char text[40], whole[48];
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(whole, sizeof whole, "%s.%03dZ", text, (int)(ms % 1000));
    return json_string(whole);
}

json_t *api_hold_json(const struct hold *h)
{
    if (!h->by)
        return json_null();
    return json_pack("{s:s,s:s?,s:o}", "by", h->by, "reason", h->reason, "since", api_time_json(h->since));
}

static double share(int64_t step, int64_t steps)
{
    if (steps <= 0)
        return 0;
    return step >= steps ? 1 : (double)step / (double)steps;
}

static double progress(const struct ensemble *en)
{
    const struct allocation *a = &en->allocation;
    double sum = 0;
    int64_t steps = 0;
    for (int i = 0; i < en->nreplicas; i++) {
        const struct sched_replica *r = &en->replicas[i];
        steps += r->step;
        sum += r->shown.state == REPLICA_DONE ? 1 : share(r->step, r->steps);
    }
    if (a->share && !ensemble_stopping(en) && !ensemble_shown_ended(en)) /* not all is handed out yet */
        return share(steps, (a->before + a->share) * en->nreplicas);
    return sum / en->nreplicas;
}

/* Of an ensemble that has ended it is its results that say so. */
static json_t *estimate_json(const struct ensemble *en)
{
    const struct ensemble_estimate *x = &en->estimate;
    if (!x->made || ensemble_shown_ended(en))
        return json_null();
    json_t *j = json_pack("{s:s,s:s,s:o}", "unit", "kcal/mol", "verdict", x->verdict, "time", api_time_json(x->made));
    json_object_set_new(j, "value", x->number ? json_real(x->value) : json_null());
    json_object_set_new(j, "error", x->number ? json_real(x->error) : json_null());
    json_object_set_new(j, "revision", json_integer(x->revision));
    return j;
}

static json_t *stop_json(const struct ensemble *en)
{
    const struct stop_rule *stop = &en->stop;
    if (!stop->error)
        return json_null();
    return json_pack("{s:f,s:s,s:s,s:I}", "error", stop->error / UNIT_KCAL, "unit", "kcal/mol", "verdict",
                     stop->converged ? "converged" : "any", "after", (json_int_t)stop->after);
}

static json_t *allocate_json(const struct ensemble *en)
{
    const struct allocation *a = &en->allocation;
    int64_t handed = 0;
    for (int i = 0; i < en->nreplicas; i++)
        handed += en->replicas[i].steps - a->before;
    if (!a->share || en->walkers) /* these are sampled alike */
        return json_null();
    return json_pack("{s:I,s:I,s:f}", "before", (json_int_t)a->before, "share", (json_int_t)a->share, "handed_out",
                     (double)handed / (double)(a->share * en->nreplicas));
}

static json_t *placed_json(const struct ensemble *en)
{
    json_t *placed = en->placed ? json_loads(en->placed, 0, NULL) : NULL;
    return placed ? placed : json_null();
}

json_t *api_ensemble_json(const struct ensemble *en)
{
    json_t *j = json_pack(
        "{s:s,s:s?,s:s,s:I,s:s,s:s?,s:o,s:o,s:i,s:i,s:i,s:i,s:f,s:I}", "id", en->id, "key", en->key, "name", en->name,
        "owner", (json_int_t)en->owner, "state", ensemble_states.states[en->shown.state].name, "reason",
        ensemble_shown_reason(en), "created", api_time_json(en->created), "changed", api_time_json(en->shown.changed),
        "windows", en->windows, "repeats", en->repeats, "done", ensemble_shown_count(en, REPLICA_DONE), "failed",
        ensemble_shown_count(en, REPLICA_FAILED), "progress", progress(en), "seq", (json_int_t)en->shown.seq);
    json_t *labels = json_object();
    for (int i = 0; i < en->nlabels; i++)
        json_object_set_new(labels, en->labels[i].key, json_string(en->labels[i].value));
    json_object_set_new(j, "walkers", json_integer(en->walkers));
    json_object_set_new(j, "pilot", json_boolean(en->pilot));
    json_object_set_new(j, "placed", placed_json(en));
    json_object_set_new(j, "labels", labels);
    json_object_set_new(j, "spec_hash", json_string(en->hash));
    json_object_set_new(j, "priority", json_string(ensemble_priority(en)));
    json_object_set_new(j, "moved_to", en->moved_to ? json_string(en->moved_to) : json_null());
    json_object_set_new(j, "revision", json_integer(en->shown.revision));
    json_object_set_new(j, "estimate", estimate_json(en));
    json_object_set_new(j, "stop_when", stop_json(en));
    json_object_set_new(j, "allocate", allocate_json(en));
    json_object_set_new(j, "fits",
                        ensemble_shown_ended(en) || !en->sched ? json_array() : api_fits_json(en->sched, &en->sizes));
    json_object_set_new(j, "device_seconds", json_real(en->device_ms / 1000));
    json_object_set_new(j, "bytes", en->measured ? json_integer((json_int_t)en->stored.amount) : json_null());
    return j;
}

const char *api_ensemble_text(struct ensemble *en)
{
    int64_t now = service_clock();
    if (!en->listed || en->listed_seq != en->shown.seq || en->listed_measured != en->measured ||
        (!ensemble_shown_ended(en) && now - en->listed_at >= FRESH_MS)) {
        json_t *j = api_ensemble_json(en);
        free(en->listed);
        en->listed = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(10));
        en->listed_seq = en->shown.seq;
        en->listed_measured = en->measured;
        en->listed_at = now;
        json_decref(j);
    }
    return en->listed ? en->listed : "{}";
}

void api_add_object(struct buf *out, json_t *object, const char *key, const char *value)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(10));
    size_t len = text ? strlen(text) : 0;
    buf_printf(out, "%.*s,\"%s\":%s}", len ? (int)len - 1 : 1, len ? text : "{", key, value);
    free(text);
    json_decref(object);
}

struct reply reply_missing(struct request *r, const struct err *e, json_t *files)
{
    json_t *object = err_json(e);
    if (files)
        json_object_set_new(json_object_get(object, "error"), "files", files);
    return reply_json(r, err_http(e->code), object);
}
