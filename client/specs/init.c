/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal init: a commented spec to begin with. Where the topology is named, shoal-worker reads it: the spec is of the
 * one molecule that is neither solvent nor ion, and has its name.
 */
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/command/handlers.h"
#include "client/programs/worker.h"
#include "client/specs/spec_file.h"
#include "engine/base/suggest.h"

extern const char template_hydration[], template_relative[], template_absolute[], template_switching[];

static const struct {
    const char *kind, *text;
    bool b_states; /* of a topology that says itself what changes */
} templates[] = {{"hydration", template_hydration, false},
                 {"relative", template_relative, true},
                 {"absolute", template_absolute, false},
                 {"switching", template_switching, true}};
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
    err_set(e, ERR_USAGE, "%s: expected hydration, relative, absolute or switching%s%s%s", kind,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

/* ---- the molecule ---- */

/* The molecule types of the topology, as shoal-worker says them: a new reference, or NULL and the exit code in *rc. */
static json_t *read_molecules(const struct client *c, int *rc)
{
    char *words[2 * LISTED_MAX + 4] = {"shoal-worker", "molecules"};
    int n = 2;
    struct buf text = {0};
    for (int i = 0; i < c->nincludes; i++) {
        words[n++] = "--include";
        words[n++] = (char *)c->includes[i];
    }
    words[n++] = "--";
    words[n++] = (char *)c->topology;
    *rc = ask_worker(c, words, &text);
    json_t *answer = *rc == EXIT_OK ? json_loadb(text.data, text.len, 0, NULL) : NULL;
    json_t *molecules = json_incref(json_object_get(answer, "molecules"));
    json_decref(answer);
    buf_free(&text);
    if (*rc == EXIT_OK && !molecules)
        *rc = EXIT_INTERNAL;
    return molecules;
}

static void list_names(const json_t *molecules, const char *kind, struct buf *out)
{
    const json_t *one;
    size_t i;
    json_array_foreach (molecules, i, one)
        if (!kind || !strcmp(answer_text(one, "kind"), kind))
            buf_printf(out, "%s%s", out->len ? ", " : "", answer_text(one, "name"));
}

/* The one that --ligand names. */
static const json_t *named(const json_t *molecules, const struct client *c, struct err *e)
{
    const json_t *one;
    size_t i;
    json_array_foreach (molecules, i, one)
        if (!strcmp(answer_text(one, "name"), c->ligand))
            return one;
    struct buf all = {0};
    list_names(molecules, NULL, &all);
    err_set(e, ERR_SPEC, "--ligand %s: %s has no molecule of this type; it has %s", c->ligand, c->topology, all.data);
    buf_free(&all);
    return NULL;
}

/* The one that is neither solvent nor ion. */
static const json_t *only_solute(const json_t *molecules, const struct client *c, struct err *e)
{
    const json_t *one, *found = NULL;
    struct buf names = {0};
    size_t i, n = 0;
    json_array_foreach (molecules, i, one)
        if (!strcmp(answer_text(one, "kind"), "solute") && !n++)
            found = one;
    list_names(molecules, n ? "solute" : NULL, &names);
    if (n > 1)
        err_set(e, ERR_USAGE,
                "%s has several molecules that are neither solvent nor ions: %s; --ligand NAME says which one the free "
                "energy is of",
                c->topology, names.data);
    else if (!n)
        err_set(e, ERR_USAGE,
                "%s has no molecule that is neither solvent nor ion, but %s; --ligand NAME says which one the free "
                "energy is of",
                c->topology, names.data ? names.data : "none at all");
    buf_free(&names);
    return n == 1 ? found : NULL;
}

/* ---- the spec ---- */

struct template_field {
    const char *key, *value;
};

/* ---- whether atoms can be held ---- */

/* Whether a file names POSRES, or one that it includes by "name", from its own folder. Files that cannot be read name
 * nothing. */
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
static const struct template_field *field_at(const struct template_field *fields, const char *text)
{
    for (; fields->key; fields++)
        if (!strncmp(text, fields->key, strlen(fields->key)))
            return fields;
    return NULL;
}

/* A line that begins with @HELD@ is for a topology that can hold atoms in place, one with @FREE@ for others. What of
 * the text is left of such a mark: the line, or what comes behind it. */
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

/* The template with values in place of its @KEYS@. held: choose_line */
static void fill(const char *text, const struct template_field *fields, bool held, struct buf *out)
{
    while (*text) {
        const char *line = choose_line(text, held);
        if (line) {
            text = line;
            continue;
        }
        const struct template_field *field = field_at(fields, text);
        if (field)
            spec_text(out, field->value);
        else
            buf_add(out, text, 1);
        text += field ? strlen(field->key) : 1;
    }
}

/* `molecule`: what the free energy is of, NULL: nobody knows yet. */
static int make_spec(const struct client *c, const char *kind, const char *molecule, struct buf *out, struct err *e)
{
    struct buf topology = {0}, coordinates = {0}, name = {0};
    const char *text = find(kind, e);
    int rc = text ? 0 : -(int)e->code;
    if (!rc && c->topology)
        rc = spec_path(c->topology, c->output, &topology, e);
    if (!rc && c->coordinates)
        rc = spec_path(c->coordinates, c->output, &coordinates, e);
    if (!rc) {
        spec_name(&name, molecule ? molecule : kind, kind);
        const struct template_field fields[] = {{"@NAME@", name.data},
                                                {"@TOPOLOGY@", c->topology ? topology.data : "topol.top"},
                                                {"@COORDINATES@", c->coordinates ? coordinates.data : "conf.gro"},
                                                {"@MOLECULE@", molecule ? molecule : "LIG"},
                                                {NULL, NULL}};
        fill(text, fields, c->topology && names_posres(c->topology, 0), out);
        rc = spec_file_write(c, out, e);
    }
    buf_free(&topology);
    buf_free(&coordinates);
    buf_free(&name);
    return rc;
}

/* A topology with B states turns one molecule into another; any other is that of one that is taken out. */
static const char *kind_of(const json_t *molecule)
{
    return json_is_true(json_object_get(molecule, "b_states")) ? "relative" : "hydration";
}

static bool has_b_states(const char *kind)
{
    for (int i = 0; i < TEMPLATES; i++)
        if (!strcmp(templates[i].kind, kind))
            return templates[i].b_states;
    return false;
}

static void say_written(const struct client *c, const char *kind, const char *molecule)
{
    if (molecule && !has_b_states(kind))
        client_say(c, "%s is written: it takes %s out; `shoal validate %s` checks it", c->output, molecule, c->output);
    else
        client_say(c, "%s is written; `shoal validate %s` checks it", c->output, c->output);
}

int init_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf spec = {0};
    int rc = EXIT_OK;
    if (argc && !find(argv[0], &e))
        return client_fail(c, &e);
    if (c->topology && access(c->topology, R_OK)) {
        err_set(&e, ERR_MISSING_FILE, "%s: no such file", c->topology);
        return client_fail(c, &e);
    }
    json_t *molecules = c->topology ? read_molecules(c, &rc) : NULL;
    if (rc != EXIT_OK)
        return rc;
    const json_t *molecule = !molecules ? NULL : c->ligand ? named(molecules, c, &e) : only_solute(molecules, c, &e);
    const char *kind = argc ? argv[0] : kind_of(molecule), *name = molecule ? answer_text(molecule, "name") : c->ligand;
    if (has_b_states(kind) && !c->ligand)
        e = (struct err){0}; /* whichever have B states: it names none */
    if (!e.code)
        make_spec(c, kind, name, &spec, &e);
    if (!e.code && c->output)
        say_written(c, kind, name);
    buf_free(&spec);
    json_decref(molecules);
    return e.code ? client_fail(c, &e) : EXIT_OK;
}
