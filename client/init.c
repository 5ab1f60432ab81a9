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
enum { TEMPLATES = sizeof templates / sizeof *templates, INCLUDES_DEEP = 5 };

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

/* ---- whether atoms can be held ---- */

/* Whether a file names POSRES, or one that it includes by "name", from its own folder. Files that cannot be read name nothing. */
static bool names_posres(const char *path, int depth)
{
    struct buf text = {0};
    struct err e;
    bool found = !buf_read_file(&text, path, &e) && text.len && strstr(text.data, "POSRES");
    const char *slash = strrchr(path, '/');
    for (const char *at = text.data; at && !found && depth < INCLUDES_DEEP && (at = strstr(at, "#include \""));) {
        at += strlen("#include \"");
        struct buf name = {0};
        buf_printf(&name, "%.*s%.*s", slash ? (int)(slash - path + 1) : 0, path, (int)strcspn(at, "\"\n"), at);
        found = names_posres(name.data, depth + 1);
        buf_free(&name);
    }
    buf_free(&text);
    return found;
}

/* ---- the template ---- */

/* The field whose key the text begins with, or NULL. */
static const struct field *field_at(const struct field *fields, const char *text)
{
    for (; fields->key; fields++)
        if (!strncmp(text, fields->key, strlen(fields->key)))
            return fields;
    return NULL;
}

/* A line that begins with @HELD@ is for a topology that can hold atoms in place, one with @FREE@ for others. What of the text is left of
 * such a mark: the line, or what comes behind it. */
static const char *choose_line(const char *text, bool held)
{
    static const char *const marks[] = {"@FREE@", "@HELD@"};
    for (int is = 0; is < 2; is++) {
        if (strncmp(text, marks[is], strlen(marks[is])) != 0)
            continue;
        return held == is ? text + strlen(marks[is]) : text + strcspn(text, "\n") + 1;
    }
    return NULL;
}

/* The template with values in place of its @KEYS@. */
static void fill(const struct client *c, const char *kind, const char *text, struct buf *out)
{
    const bool held = c->topology && names_posres(c->topology, 0);
    const struct field fields[] = {{"@NAME@", kind},
                                   {"@TOPOLOGY@", c->topology ? c->topology : "topol.top"},
                                   {"@COORDINATES@", c->coordinates ? c->coordinates : "conf.gro"},
                                   {NULL, NULL}};
    while (*text) {
        const char *line = choose_line(text, held);
        if (line) {
            text = line;
            continue;
        }
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
