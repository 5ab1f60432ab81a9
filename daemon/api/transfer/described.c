/* SPDX-License-Identifier: Apache-2.0
 *
 * What the spec says is not in the head: whoever reads the archive reads the spec. Numbers of rows are not either: on
 * another node they are others.
 */
#include "daemon/api/transfer/described.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/archive/archive.h"
#include "daemon/service/service.h"
#include "engine/base/printable.h"

#define STEPS_MAX (INT64_C(1) << 53)
#define TIME_MAX (INT64_C(1) << 53) /* ms; clocks of two nodes may differ */
#define TEXT_MAX 4000               /* bytes of a reason or a message */
#define DOUBLINGS_MAX 20            /* of a switch: more would have too many rows of lambda */

/* ---- into a head ---- */

static json_t *describe_labels(const struct ensemble *en)
{
    json_t *labels = json_object();
    for (int i = 0; i < en->nlabels; i++)
        json_object_set_new(labels, en->labels[i].key, json_string(en->labels[i].value));
    return labels;
}

static json_t *describe_ensemble(const struct ensemble *en)
{
    json_t *j = json_pack("{s:s,s:s?,s:s,s:s,s:o,s:i,s:i}", "id", en->id, "key", en->key, "hash", en->hash, "spec_name",
                          en->spec_name, "labels", describe_labels(en), "windows", en->windows, "repeats", en->repeats);
    json_t *more =
        json_pack("{s:s,s:s?,s:I,s:i,s:i,s:i,s:s?,s:i,s:I,s:I,s:i}", "state", sm_name(&en->sm), "reason", en->reason,
                  "created", (json_int_t)en->created, "priority", en->priority, "revision", en->revision, "ladder",
                  en->ladder, "stopped", en->stopped, "stopped_revision", en->stopped_revision, "allocate_share",
                  (json_int_t)en->allocation.share, "ran_ms", (json_int_t)en->ran_ms, "doublings", en->doublings);
    json_object_update(j, more);
    json_decref(more);
    return j;
}

static json_t *describe_replica(const struct sched_replica *r)
{
    const int64_t used = r->used_step > r->saved_step ? r->used_step : r->saved_step;
    return json_pack("{s:s,s:i,s:i,s:I,s:I,s:I,s:f,s:i,s:f,s:i,s:I,s:s?}", "state", sm_name(&r->sm), "stream",
                     r->stream, "origin", r->origin, "steps", (json_int_t)r->steps, "step", (json_int_t)r->saved_step,
                     "used_step", (json_int_t)used, "used_ps", r->used_ps, "stage", r->stage, "time_ps", r->time_ps,
                     "code", r->code, "failed_step", (json_int_t)r->failed_step, "reason", r->reason);
}

static json_t *describe_set(const struct sched_set *set)
{
    return json_pack("{s:i,s:i,s:i,s:s?}", "failures", set->failures, "crashes", set->crashes, "salt", set->salt,
                     "model", set->model);
}

json_t *described_head(const struct ensemble *en)
{
    json_t *replicas = json_array(), *sets = json_array();
    for (int i = 0; i < en->nreplicas; i++)
        json_array_append_new(replicas, describe_replica(&en->replicas[i]));
    for (int i = 0; i < en->nsets; i++)
        json_array_append_new(sets, describe_set(&en->sets[i]));
    return json_pack("{s:s,s:i,s:s,s:I,s:o,s:o,s:o}", "format", ARCHIVE_FORMAT, "version", ARCHIVE_VERSION, "program",
                     SHOAL_VERSION, "exported", (json_int_t)service_now(), "ensemble", describe_ensemble(en),
                     "replicas", replicas, "sets", sets);
}

/* ---- out of one that anybody may have written ---- */

static int refuse_member(const char *key, struct err *e)
{
    return err_set(e, ERR_ARCHIVE, "the archive is damaged: \"%s\" of its head is none that an ensemble can have", key);
}

static int take_number(const json_t *o, const char *key, int64_t low, int64_t high, int64_t *out, struct err *e)
{
    const json_t *value = json_object_get(o, key);
    if (!json_is_integer(value) || json_integer_value(value) < low || json_integer_value(value) > high)
        return refuse_member(key, e);
    *out = json_integer_value(value);
    return 0;
}

static int take_int(const json_t *o, const char *key, int low, int high, int *out, struct err *e)
{
    int64_t value;
    if (take_number(o, key, low, high, &value, e))
        return -(int)e->code;
    *out = (int)value;
    return 0;
}

static int take_real(const json_t *o, const char *key, double *out, struct err *e)
{
    *out = json_number_value(json_object_get(o, key));
    return json_is_number(json_object_get(o, key)) && isfinite(*out) ? 0 : refuse_member(key, e);
}

/* Null stays NULL. */
static int take_text(const json_t *o, const char *key, char **slot, struct err *e)
{
    const json_t *value = json_object_get(o, key);
    const char *text = json_string_value(value);
    if ((value && !text && !json_is_null(value)) || (text && strlen(text) > TEXT_MAX))
        return refuse_member(key, e);
    ensemble_string(slot, text);
    return 0;
}

static int take_state(const json_t *o, const struct sm_kind *kind, uint64_t may, uint32_t *out, struct err *e)
{
    const char *name = json_string_value(json_object_get(o, "state"));
    for (*out = 0; name && *out < kind->count; ++*out)
        if (!strcmp(kind->states[*out].name, name) && may & SM_TO(*out))
            return 0;
    return refuse_member("state", e);
}

static int take_id(struct ensemble *en, const json_t *o, struct err *e)
{
    const char *id = json_string_value(json_object_get(o, "id")), *hash = json_string_value(json_object_get(o, "hash"));
    if (!id || !service_is_id(id))
        return refuse_member("id", e);
    if (!hash || strlen(hash) != sizeof en->hash - 1 || strspn(hash, "0123456789abcdef") != strlen(hash))
        return refuse_member("hash", e);
    memcpy(en->id, id, strlen(id) + 1);
    memcpy(en->hash, hash, sizeof en->hash);
    return 0;
}

/* The spec says how many windows and repeats there are; the head has to say the same. */
static int check_shape(const struct ensemble *en, const json_t *head, struct err *e)
{
    const json_t *o = json_object_get(head, "ensemble");
    int windows, repeats;
    if (take_int(o, "windows", en->windows, en->windows, &windows, e) ||
        take_int(o, "repeats", en->repeats, en->repeats, &repeats, e))
        return -(int)e->code;
    if (json_array_size(json_object_get(head, "replicas")) != (size_t)en->nreplicas)
        return refuse_member("replicas", e);
    return json_array_size(json_object_get(head, "sets")) == (size_t)en->nsets ? 0 : refuse_member("sets", e);
}

static int take_ensemble(struct ensemble *en, const json_t *o, struct err *e)
{
    const uint64_t may =
        SM_TO(ENSEMBLE_PAUSED) | SM_TO(ENSEMBLE_DONE) | SM_TO(ENSEMBLE_FAILED) | SM_TO(ENSEMBLE_CANCELLED);
    const int64_t share_max = en->allocation.share ? STEPS_MAX : 0;
    uint32_t state;
    if (take_id(en, o, e) || take_state(o, &ensemble_states, may, &state, e) ||
        take_text(o, "reason", &en->reason, e) || take_text(o, "stopped", &en->stopped, e) ||
        take_number(o, "created", 0, TIME_MAX, &en->created, e) ||
        take_number(o, "ran_ms", 0, TIME_MAX, &en->ran_ms, e) ||
        take_int(o, "revision", 1, INT32_MAX / 2, &en->revision, e) ||
        take_int(o, "ladder", 1, en->revision, &en->ladder, e) ||
        take_int(o, "stopped_revision", 0, en->revision, &en->stopped_revision, e) ||
        take_int(o, "priority", -1, PRIORITY_URGENT, &en->priority, e) ||
        take_number(o, "allocate_share", 0, share_max, &en->allocation.share, e))
        return -(int)e->code;
    /* Of a version whose switches all had one length it has none. */
    if (json_object_get(o, "doublings") && take_int(o, "doublings", 0, DOUBLINGS_MAX, &en->doublings, e))
        return -(int)e->code;
    if (en->priority == PRIORITY_URGENT) /* an administrator of this node has not said so */
        en->priority = PRIORITY_HIGH;
    sm_init(&en->sm, &ensemble_states, en, state);
    return 0;
}

static int take_replica(struct sched_replica *r, const json_t *o, struct err *e)
{
    const bool paused = r->ensemble->sm.state == ENSEMBLE_PAUSED;
    const uint64_t may =
        SM_TO(REPLICA_DONE) | SM_TO(REPLICA_FAILED) | (paused ? SM_TO(REPLICA_PAUSED) : SM_TO(REPLICA_CANCELLED));
    uint32_t state;
    if (take_state(o, &replica_states, may, &state, e) || take_number(o, "steps", 0, STEPS_MAX, &r->steps, e) ||
        take_number(o, "step", 0, r->steps, &r->step, e) ||
        take_int(o, "stage", 0, r->ensemble->stages, &r->stage, e) ||
        take_int(o, "stream", 0, UINT16_MAX, &r->stream, e) || take_int(o, "origin", -1, UINT16_MAX, &r->origin, e) ||
        take_int(o, "code", 0, INT16_MAX, &r->code, e) ||
        take_number(o, "failed_step", -1, STEPS_MAX, &r->failed_step, e) || take_text(o, "reason", &r->reason, e))
        return -(int)e->code;
    if (take_real(o, "time_ps", &r->time_ps, e) || take_real(o, "used_ps", &r->used_ps, e) ||
        take_number(o, "used_step", r->step, STEPS_MAX, &r->used_step, e))
        return -(int)e->code;
    sm_init(&r->sm, &replica_states, r, state);
    r->saved_step = r->step;
    r->used_saved = r->used_step; /* nothing of it was used here */
    return 0;
}

static int take_set(struct sched_set *set, const json_t *o, struct err *e)
{
    return take_int(o, "failures", 0, INT32_MAX / 2, &set->failures, e) ||
                   take_int(o, "crashes", 0, INT32_MAX / 2, &set->crashes, e) ||
                   take_int(o, "salt", 0, INT32_MAX / 2, &set->salt, e) || take_text(o, "model", &set->model, e)
               ? -(int)e->code
               : 0;
}

/* Two of one stream would have the same random numbers. */
static int check_streams(const struct ensemble *en, struct err *e)
{
    bool *taken = xcalloc(UINT16_MAX + 1, sizeof *taken);
    bool twice = false;
    for (int i = 0; i < en->windows; i++) {
        twice |= taken[en->replicas[i].stream];
        taken[en->replicas[i].stream] = true;
    }
    free(taken);
    return twice ? refuse_member("stream", e) : 0;
}

int described_take(struct ensemble *en, const json_t *head, struct err *e)
{
    const json_t *replicas = json_object_get(head, "replicas"), *sets = json_object_get(head, "sets");
    if (check_shape(en, head, e) || take_ensemble(en, json_object_get(head, "ensemble"), e))
        return -(int)e->code;
    for (int i = 0; i < en->nreplicas; i++)
        if (take_replica(&en->replicas[i], json_array_get(replicas, (size_t)i), e))
            return -(int)e->code;
    for (int i = 0; i < en->nsets; i++)
        if (take_set(&en->sets[i], json_array_get(sets, (size_t)i), e))
            return -(int)e->code;
    return check_streams(en, e);
}

/* Where a pilot placed the windows, it may have had more of them. */
static bool is_event(const struct ensemble *en, const json_t *event)
{
    const json_t *window = json_object_get(event, "window"), *repeat = json_object_get(event, "repeat"),
                 *state = json_object_get(event, "state"), *message = json_object_get(event, "message");
    const char *kind = json_string_value(json_object_get(event, "kind")), *text = json_string_value(message);
    const json_int_t time = json_integer_value(json_object_get(event, "time"));
    const bool of_replica = json_is_integer(window) && json_is_integer(repeat) && json_integer_value(window) >= 0 &&
                            (en->placed || json_integer_value(window) < en->windows) &&
                            json_integer_value(repeat) >= 0 && json_integer_value(repeat) < en->repeats;
    return kind && *kind && strlen(kind) < 40 && printable(kind) && time >= 0 && time < TIME_MAX &&
           (of_replica || json_is_null(window)) &&
           (json_is_null(state) || (json_is_integer(state) && json_integer_value(state) >= 0 &&
                                    json_integer_value(state) < (json_int_t)ensemble_states.count)) &&
           (json_is_null(message) || (text && strlen(text) <= TEXT_MAX));
}

int described_events(const struct ensemble *en, const json_t *head, const json_t **events, struct err *e)
{
    const json_t *event;
    size_t i;
    *events = json_object_get(head, "events");
    if (!json_is_array(*events) || json_array_size(*events) > DESCRIBED_EVENTS)
        return refuse_member("events", e);
    json_array_foreach (*events, i, event)
        if (!is_event(en, event))
            return refuse_member("events", e);
    return 0;
}
