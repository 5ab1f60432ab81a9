/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/models.h"

#include "daemon/host/folder.h"
#include "daemon/spec/pilot.h"
#include "daemon/worker/device/memory.h"

#include <stdlib.h>
#include <string.h>

static void model_close(struct shared_model *s)
{
    model_free(s->model);
    system_close(&s->system);
    spec_free(s->spec);
    free(s->directory);
    free(s);
}

/* Frees what nobody holds. */
static void forget(struct models *m)
{
    for (struct shared_model **at = &m->first; *at;) {
        struct shared_model *s = *at;
        if (s->holders) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        model_close(s);
    }
}

static struct shared_model *new_entry(struct models *m, const char *directory)
{
    struct shared_model *s = xcalloc(1, sizeof *s);
    s->dev = m->dev;
    s->directory = xstrdup(directory);
    s->holders = 1;
    s->next = m->first;
    m->first = s;
    return s;
}

int models_add(struct models *m, const char *directory, struct spec *spec, struct system *sys,
               struct shared_model **out, struct err *e)
{
    struct shared_model *s = *out = new_entry(m, directory);
    s->spec = spec;
    s->settings = spec->settings;
    s->system = *sys;
    *sys = (struct system){0};
    int rc = model_new(&s->model, m->dev, &s->system, &s->settings, e);
    s->state = rc ? MODEL_BROKEN : MODEL_READY;
    return rc;
}

static int read_input(struct shared_model *s, struct err *e)
{
    struct buf input = {0};
    buf_printf(&input, "%s/input", s->directory);
    int rc = memory_to_begin(BYTES_OF_TEXT * (uint64_t)folder_bytes(input.data), "an ensemble", e);
    if (rc) {
        buf_free(&input);
        return rc;
    }
    struct source *src = source_disk_new(input.data, true);
    struct source_text text;
    rc = source_open(src, NULL, "spec.yaml", &text, e);
    if (!rc)
        rc = spec_parse(&s->spec, text.name, text.text, text.len, e);
    if (!rc && s->spec->seed_random)
        rc = err_set(e, ERR_SPEC, "%s: seed: random: expected the seed that was drawn", input.data);
    if (!rc && s->spec->split == SPLIT_AUTO)
        rc = err_set(e, ERR_SPEC, "%s: nonbonded.split: auto: expected the split that was chosen", input.data);
    if (!rc) {
        spec_take_pilot(s->spec);
        s->phase = spec_phase(s->spec, s->stage);
        s->settings = spec_settings(s->spec, s->phase);
        rc = spec_phase_system(s->spec, s->phase, src, &s->system, e);
    }
    if (rc == -ERR_MISSING_FILE)
        err_prefix(e, "%s", input.data);
    source_free(src);
    buf_free(&input);
    return rc;
}

static int ask_owner(void *job, int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
    return job_ask(job, fn, arg, e);
}

/* A job. */
static int make(void *shared, struct err *e)
{
    struct shared_model *s = shared;
    const struct dev_owner owner = {ask_owner, s->maker};
    int rc = read_input(s, e);
    if (rc && rc != -ERR_MEMORY)
        s->why = *e;
    if (rc)
        return rc;
    return model_new_apart(&s->model, s->dev, &owner, &s->system, &s->settings, e);
}

static bool is_good(const struct shared_model *s)
{
    return s->state == MODEL_MAKING || (s->state == MODEL_READY && !model_damaged(s->model));
}

bool models_fit(const struct shared_model *s, uint64_t stage)
{
    return stage == MODELS_ANY || s->phase == spec_phase(s->spec, stage);
}

/* Until it is made, nobody knows which phase it is for. */
static bool may_fit(const struct shared_model *s, uint64_t stage)
{
    return s->state == MODEL_MAKING || models_fit(s, stage);
}

/* One that is there and whole, else one that is being made. */
static struct shared_model *find(const struct models *m, const char *directory, int ladder, uint64_t stage)
{
    struct shared_model *making = NULL;
    for (struct shared_model *s = m->first; s; s = s->next) {
        if (!is_good(s) || strcmp(s->directory, directory) || s->ladder != ladder || !may_fit(s, stage))
            continue;
        if (s->state == MODEL_READY)
            return s;
        making = s;
    }
    return making;
}

int CO_FN models_get(struct models *m, struct jobs *jobs, struct job *job, const char *directory, int ladder,
                     uint64_t stage, struct shared_model **out, struct err *e)
{
    for (struct shared_model *s; (s = find(m, directory, ladder, stage));) {
        s->holders++;
        *out = s;
        while (!models_ready(s, job))
            co_pause();
        if (s->state == MODEL_READY && models_fit(s, stage))
            return 0;
        if (s->state == MODEL_BROKEN && s->why.code) {
            *e = s->why;
            return -(int)e->code;
        }
        s->holders--; /* another phase's; or the device would not take it: that was the other replica's misfortune */
    }
    forget(m);
    struct shared_model *s = *out = new_entry(m, directory);
    s->maker = job;
    s->ladder = ladder;
    s->stage = stage == MODELS_ANY ? 0 : stage;
    int rc = job_run(jobs, job, JOB_READ, make, s, e);
    s->state = rc ? MODEL_BROKEN : MODEL_READY;
    return rc;
}

bool models_ready(const struct shared_model *s, const struct job *job)
{
    return s->state != MODEL_MAKING || s->maker == job;
}

void models_put(struct models *m, struct shared_model *s)
{
    (void)m;
    s->holders--;
}

void models_close(struct models *m)
{
    forget(m);
}
