/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal init: a commented spec to begin with.
 */
#include <string.h>

#include "client/client.h"
#include "engine/base/suggest.h"

extern const char template_hydration[], template_relative[], template_absolute[];

static const struct {
    const char *kind, *text;
} templates[] = {{"hydration", template_hydration}, {"relative", template_relative}, {"absolute", template_absolute}};
enum { TEMPLATES = sizeof templates / sizeof *templates };

static const char *find(const char *kind, struct err *e)
{
    const char *known[TEMPLATES];
    for (int i = 0; i < TEMPLATES; i++) {
        if (!strcmp(templates[i].kind, kind))
            return templates[i].text;
        known[i] = templates[i].kind;
    }
    const char *near = suggest_nearest(kind, known, TEMPLATES);
    err_set(e, ERR_USAGE, "%s: expected hydration, relative or absolute%s%s%s", kind, near ? "; did you mean " : "",
            near ? near : "", near ? "?" : "");
    return NULL;
}

struct field {
    const char *key, *value;
};

/* The field whose key the text begins with, or NULL. */
static const struct field *field_at(const struct field *fields, const char *text)
{
    for (; fields->key; fields++)
        if (!strncmp(text, fields->key, strlen(fields->key)))
            return fields;
    return NULL;
}

/* The template with values in place of its @KEYS@. */
static void fill(const struct client *c, const char *kind, const char *text, struct buf *out)
{
    const struct field fields[] = {{"@NAME@", kind},
                                   {"@TOPOLOGY@", c->topology ? c->topology : "topol.top"},
                                   {"@COORDINATES@", c->coordinates ? c->coordinates : "conf.gro"},
                                   {NULL, NULL}};
    while (*text) {
        const struct field *field = field_at(fields, text);
        if (field)
            spec_text(out, field->value);
        else
            buf_add(out, text, 1);
        text += field ? strlen(field->key) : 1;
    }
}

int init_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf spec = {0};
    const char *text = find(argv[0], &e);
    int rc = text ? 0 : -(int)e.code;
    if (!rc) {
        fill(c, argv[0], text, &spec);
        rc = spec_file_write(c, &spec, &e);
    }
    if (!rc && c->output)
        client_say(c, "%s is written; `shoal validate %s` checks it", c->output, c->output);
    buf_free(&spec);
    return rc ? client_fail(c, &e) : EXIT_OK;
}
