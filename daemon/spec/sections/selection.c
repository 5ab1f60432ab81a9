/* SPDX-License-Identifier: Apache-2.0
 *
 * Each condition marks the atoms that it holds for; those with all marks are the group.
 */
#include "daemon/spec/sections/selection.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"
#include "engine/io/hash_table.h"

static const char *const keys[SELECT_WORD] = {"molecule", "atoms", "group", "name", "resname"};

/* ---- from the spec ---- */

static void make_text(struct selection *s)
{
    struct buf b = {0};
    int n = 0;
    for (int k = 0; k < SELECT_WORD; k++)
        n += s->by[k] != NULL;
    for (int k = 0; k < SELECT_BY_COUNT; k++)
        if (s->by[k] && n > 1)
            buf_printf(&b, "%s%s %s", b.len ? ", " : "", keys[k], s->by[k]);
        else if (s->by[k])
            buf_printf(&b, "%s", s->by[k]);
    s->text = b.data;
}

int selection_read(struct reader *r, struct selection *out, struct view v, const char *place, const char *index)
{
    *out = (struct selection){.line = v.node->line};
    if (v.node->kind == NODE_SCALAR)
        out->by[SELECT_WORD] = xstrdup(view_text(v));
    for (int k = 0; k < SELECT_WORD && v.node->kind == NODE_MAP; k++)
        if (view_given(view_key(v, keys[k])))
            out->by[k] = xstrdup(view_text(view_key(v, keys[k])));
    make_text(out);
    if (out->by[SELECT_GROUP] && !index)
        return spec_bad(r, v, place, "group: %s: expected system.index, the file that has it", out->by[SELECT_GROUP]);
    return 0;
}

void selection_close(struct selection *s)
{
    for (int k = 0; k < SELECT_BY_COUNT; k++)
        free(s->by[k]);
    free(s->text);
}

/* ---- in a system ---- */

struct selection_choice {
    const struct system *sys;
    const char *text; /* all of it, for people */
    const char *index;
    struct source *src;
    bool ordered;
    unsigned char *marks; /* [natoms], how many conditions hold */
    struct err *e;
};

static const char *name_of(const struct system *sys, enum select_by by, int atom)
{
    const struct atom *a = &sys->atoms[atom];
    return by == SELECT_MOLECULE  ? sys->kinds[sys->molecules[a->molecule].kind].name
           : by == SELECT_RESNAME ? a->resname
                                  : a->name;
}

/* Different names that atoms have; *names is the caller's, what it points to the system's. */
static size_t names_of(const struct system *sys, enum select_by by, const char ***names)
{
    int n = 0, cap = 0;
    *names = NULL;
    for (int i = 0; i < sys->natoms; i++) {
        const char *name = name_of(sys, by, i);
        bool known = false;
        for (int k = n; k-- > 0 && !known;)
            known = !strcmp((*names)[k], name);
        if (known)
            continue;
        *names = grow_array(*names, n, &cap, sizeof **names);
        (*names)[n++] = name;
    }
    return (size_t)n;
}

static const char *nearest(const struct system *sys, enum select_by by, const char *word)
{
    const char **names;
    size_t n = names_of(sys, by, &names);
    const char *near = suggest_nearest(word, names, n);
    free(names);
    return near;
}

/* The word is said where it is not all that the selection is called by. */
static int no_such(const struct selection_choice *c, enum select_by by, const char *word)
{
    static const char *const what[SELECT_BY_COUNT] = {[SELECT_MOLECULE] = "there is no molecule of this type",
                                                      [SELECT_NAME] = "no atom has this name",
                                                      [SELECT_RESNAME] = "no residue has this name",
                                                      [SELECT_WORD] =
                                                          "no atom has this name, and no group of system.index"};
    const char *near = nearest(c->sys, by, word), *residue = NULL;
    if (!near && by == SELECT_WORD)
        residue = nearest(c->sys, SELECT_RESNAME, word);
    bool all = !strcmp(word, c->text);
    return err_set(c->e, ERR_SPEC, "%s%s%s%s%s%s", all ? "" : word, all ? "" : ": ", what[by],
                   near      ? "; did you mean "
                   : residue ? "; did you mean {resname: "
                             : "",
                   near      ? near
                   : residue ? residue
                             : "",
                   near      ? "?"
                   : residue ? "}?"
                             : "");
}

/* Names with blanks or commas between them, each with * and ? for any letters and any one; each must be there. */
static int mark_names(const struct selection_choice *c, enum select_by by, const char *text)
{
    char *copy = xstrdup(text), *rest = copy;
    bool *held = xcalloc((size_t)c->sys->natoms, sizeof *held);
    int rc = 0;
    for (char *word; !rc && (word = strsep(&rest, " ,\t"));) {
        bool found = !*word;
        for (int i = 0; i < c->sys->natoms && *word; i++)
            if (!fnmatch(word, name_of(c->sys, by, i), 0))
                held[i] = found = true;
        rc = found ? 0 : no_such(c, by, word);
    }
    for (int i = 0; i < c->sys->natoms; i++)
        c->marks[i] += held[i];
    free(held);
    free(copy);
    return rc;
}

/* before: the atom before it in a list; negative: none. */
static int mark_once(const struct selection_choice *c, bool *held, int before, int atom)
{
    if (held[atom])
        return err_set(c->e, ERR_SPEC, "atom %d is in it twice", atom + 1);
    if (c->ordered && atom < before)
        return err_set(
            c->e, ERR_SPEC,
            "atom %d comes behind atom %d; atoms are paired in the order of the topology, expected them in it",
            atom + 1, before + 1);
    held[atom] = true;
    c->marks[atom]++;
    return 0;
}

static bool is_name(const struct system *sys, const char *word)
{
    bool found = false;
    for (int i = 0; i < sys->natoms && !found; i++)
        found = !strcmp(sys->atoms[i].name, word);
    return found;
}

/* last: behind a dash, or NULL. */
static int no_number(const struct selection_choice *c, const char *first, const char *last)
{
    const bool named = !last && is_name(c->sys, first);
    return err_set(c->e, ERR_SPEC, "%s%s%s: expected numbers and ranges of 1 to %d, such as 1-12, 15%s%s%s", first,
                   last ? "-" : "", last ? last : "", c->sys->natoms, named ? "; did you mean {name: " : "",
                   named ? first : "", named ? "}?" : "");
}

/* "1-12, 15": numbers from 1 and ranges of them. */
static int mark_numbers(const struct selection_choice *c, const char *text)
{
    char *copy = xstrdup(text), *rest = copy;
    bool *held = xcalloc((size_t)c->sys->natoms, sizeof *held);
    int rc = 0, before = -1;
    for (char *one; !rc && (one = strsep(&rest, ","));) {
        one += strspn(one, " ");
        one[strcspn(one, " ")] = '\0';
        char *dash = strchr(one, '-');
        int64_t from, to;
        if (dash)
            *dash = '\0';
        bool ok = number_parse(one, &from);
        to = from;
        if (ok && dash)
            ok = number_parse(dash + 1, &to);
        if (!ok || from < 1 || to < from || to > c->sys->natoms)
            rc = no_number(c, one, dash ? dash + 1 : NULL);
        for (int64_t i = from; i <= to && !rc; i++) {
            rc = mark_once(c, held, before, (int)i - 1);
            before = (int)i - 1;
        }
    }
    free(held);
    free(copy);
    return rc;
}

/* INDEX_NO_GROUP as index_read says it. */
static int mark_group(const struct selection_choice *c, const char *name)
{
    int *list = NULL, n = 0, rc = index_read(c->src, c->index, name, c->sys->natoms, &list, &n, c->e);
    bool *held = xcalloc((size_t)c->sys->natoms, sizeof *held);
    for (int i = 0; i < n && !rc; i++)
        rc = mark_once(c, held, i ? list[i - 1] : -1, list[i]);
    free(held);
    free(list);
    return rc;
}

/* A group of the index, or a name of atoms; both only where they are the same atoms. */
static int mark_word(const struct selection_choice *c, const char *word)
{
    struct err unknown = {0};
    int rc = 1;
    if (c->index) {
        struct selection_choice group = *c;
        group.e = &unknown;
        rc = mark_group(&group, word);
    }
    if (rc < 0) {
        *c->e = unknown;
        return rc;
    }
    if (rc == INDEX_NO_GROUP)
        return mark_names(c, SELECT_WORD, word);
    for (int i = 0; i < c->sys->natoms && is_name(c->sys, word); i++)
        if ((strcmp(c->sys->atoms[i].name, word) == 0) != c->marks[i])
            return err_set(c->e, ERR_SPEC,
                           "a group of %s and the name of other atoms; expected {group: %s} or {name: %s}", c->index,
                           word, word);
    return 0;
}

static int mark(const struct selection_choice *c, enum select_by by, const char *text)
{
    int rc = 0;
    switch (by) {
    case SELECT_MOLECULE:
    case SELECT_NAME:
    case SELECT_RESNAME:
        return mark_names(c, by, text);
    case SELECT_ATOMS:
        return mark_numbers(c, text);
    case SELECT_GROUP:
        rc = mark_group(c, text);
        return rc ? -(int)c->e->code : 0;
    case SELECT_WORD:
        return mark_word(c, text);
    case SELECT_BY_COUNT:
        break;
    }
    return 0;
}

static int collect(const struct selection_choice *c, unsigned conditions, int **atoms, int *n)
{
    *n = 0;
    for (int i = 0; i < c->sys->natoms; i++)
        *n += c->marks[i] == conditions;
    if (!*n)
        return err_set(c->e, ERR_SPEC, "%s", conditions > 1 ? "no atom for which all of it holds" : "it has no atoms");
    *atoms = xcalloc((size_t)*n, sizeof **atoms);
    for (int i = 0, k = 0; i < c->sys->natoms; i++)
        if (c->marks[i] == conditions)
            (*atoms)[k++] = i;
    return 0;
}

int selection_atoms(const struct selection *s, const char *index, struct source *src, const struct system *sys,
                    int **atoms, int *n, struct err *e)
{
    const struct selection_choice c = {.sys = sys,
                                       .text = s->text,
                                       .index = index,
                                       .src = src,
                                       .ordered = s->ordered,
                                       .e = e,
                                       .marks = xcalloc((size_t)sys->natoms, sizeof *c.marks)};
    unsigned conditions = 0;
    int rc = 0;
    for (int k = 0; k < SELECT_BY_COUNT && !rc; k++)
        if (s->by[k]) {
            rc = mark(&c, (enum select_by)k, s->by[k]);
            conditions++;
        }
    if (!rc)
        rc = collect(&c, conditions, atoms, n);
    free(c.marks);
    return rc;
}
