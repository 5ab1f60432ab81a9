/* SPDX-License-Identifier: Apache-2.0
 *
 * Index files (.ndx): groups of atoms, "[ name ]" and then their numbers from 1.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"
#include "engine/io/io.h"
#include "engine/io/hash_table.h"

enum { NAMES = 1000, WORD = 256 };

struct reading {
    const char *file, *group;
    int line, natoms;
    bool within, found;
    char name[WORD];
    char *names[NAMES]; /* of groups, to suggest */
    size_t nnames;
    int *atom, n, cap;
};

/* "[ name ]"; false: it is none. */
static bool header(struct reading *r, char *line)
{
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    if (*line != '[' || end[-1] != ']')
        return false;
    for (line++, end--; line < end && isspace((unsigned char)*line);)
        line++;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    r->within = !strcmp(line, r->group);
    r->found |= r->within;
    if (r->nnames < NAMES)
        r->names[r->nnames++] = xstrdup(line);
    return true;
}

static int numbers(struct reading *r, char *line, struct err *e)
{
    for (char *word, *rest = line; (word = strsep(&rest, " \t\r"));) {
        int64_t number;
        if (!*word)
            continue;
        if (!number_parse(word, &number) || number < 1 || number > r->natoms)
            return err_set(e, ERR_SPEC, "%s:%d: %.40s: expected the number of an atom, 1 to %d, or [ name ]", r->file,
                           r->line, word, r->natoms);
        if (!r->within)
            continue;
        r->atom = grow_array(r->atom, r->n, &r->cap, sizeof *r->atom);
        r->atom[r->n++] = (int)number - 1;
    }
    return 0;
}

static int lines(struct reading *r, const char *text, struct err *e)
{
    char *copy = xstrdup(text), *rest = copy;
    int rc = 0;
    for (char *line; !rc && (line = strsep(&rest, "\n"));) {
        r->line++;
        line[strcspn(line, ";")] = '\0';
        line += strspn(line, " \t\r");
        if (!header(r, line))
            rc = numbers(r, line, e);
    }
    free(copy);
    return rc;
}

int index_read(struct source *src, const char *name, const char *group, int natoms, int **atoms, int *n, struct err *e)
{
    struct source_text text;
    struct reading r = {.group = group, .natoms = natoms};
    int rc = source_open(src, NULL, name, &text, e);
    r.file = name;
    if (!rc)
        rc = lines(&r, text.text, e);
    if (!rc && !r.found) {
        const char *near = suggest_nearest(group, (const char *const *)r.names, r.nnames);
        err_set(e, ERR_SPEC, "%s has no group of this name%s%s%s", name, near ? "; did you mean " : "",
                near ? near : "", near ? "?" : "");
        rc = INDEX_NO_GROUP;
    }
    for (size_t i = 0; i < r.nnames; i++)
        free(r.names[i]);
    if (rc) {
        free(r.atom);
        return rc;
    }
    *atoms = r.atom;
    *n = r.n;
    return 0;
}
