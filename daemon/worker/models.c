/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/models.h"

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

int models_add(struct models *m, const char *directory, struct spec *spec, struct system *sys,
               struct shared_model **out, struct err *e)
{
    struct shared_model *s = xcalloc(1, sizeof *s);
    s->directory = xstrdup(directory);
    s->spec = spec;
    s->system = *sys;
    *sys = (struct system){0};
    int rc = model_new(&s->model, m->dev, &s->system, &spec->settings, e);
    if (rc) {
        model_close(s);
        return rc;
    }
    s->holders = 1;
    s->next = m->first;
    m->first = s;
    *out = s;
    return 0;
}

static int read_input(const char *directory, struct spec **spec, struct system *sys, struct err *e)
{
    struct buf input = {0};
    buf_printf(&input, "%s/input", directory);
    struct source *src = source_disk_new(input.data, true);
    struct source_text text;
    int rc = source_open(src, NULL, "spec.yaml", &text, e);
    if (!rc)
        rc = spec_parse(spec, text.name, text.text, text.len, e);
    if (!rc && (rc = spec_system(*spec, src, sys, e)))
        spec_free(*spec);
    if (rc == -ERR_MISSING_FILE)
        err_prefix(e, "%s", input.data);
    source_free(src);
    buf_free(&input);
    return rc;
}

int models_get(struct models *m, const char *directory, struct shared_model **out, struct err *e)
{
    for (struct shared_model *s = m->first; s; s = s->next)
        if (!strcmp(s->directory, directory)) {
            s->holders++;
            *out = s;
            return 0;
        }
    forget(m);
    struct spec *spec;
    struct system sys = {0};
    int rc = read_input(directory, &spec, &sys, e);
    return rc ? rc : models_add(m, directory, spec, &sys, out, e);
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
