/* SPDX-License-Identifier: Apache-2.0
 *
 * Line numbers of molecule types and their atoms and terms, for the system.
 */
#include "engine/io/top/top.h"

#include <string.h>

#include "engine/system/lines.h"

static int file_of(const struct top *t, const char *name)
{
    int i = 0;
    while (i + 1 < t->pp.nnames && t->pp.names[i] != name)
        i++;
    return i;
}

/* Terms that messages are about. */
static bool is_noted(enum top_kind kind)
{
    const char *section = top_kinds[kind].section;
    return !strcmp(section, "bonds") || !strcmp(section, "angles") || !strcmp(section, "constraints") ||
           kind == KIND_SETTLE;
}

static void add(const struct top *t, struct molecule_kind *k, const int *atom, int n, struct top_place at)
{
    struct kind_line *l = &k->lines[k->nlines++];
    *l = (struct kind_line){.atom = {-1, -1, -1}, .file = file_of(t, at.file), .line = at.line};
    memcpy(l->atom, atom, (size_t)n * sizeof *atom);
    kind_line_order(l->atom);
}

/* A SETTLE is three bonds. */
static void add_molecule_term(const struct top *t, struct molecule_kind *k, enum top_kind kind,
                              const struct top_term *term)
{
    if (kind != KIND_SETTLE) {
        add(t, k, term->atom, top_kinds[kind].natoms, term->at);
        return;
    }
    for (int i = 0; i < 3; i++)
        add(t, k, (const int[2]){term->atom[i], term->atom[(i + 1) % 3]}, 2, term->at);
}

static void put_kind(const struct top *t, const struct top_molecule *m, struct molecule_kind *k)
{
    size_t most = (size_t)m->natoms;
    k->file = file_of(t, m->at.file);
    k->line = m->at.line;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        most += is_noted((enum top_kind)kind) ? 3 * (size_t)m->terms[kind].n : 0;
    k->lines = xcalloc(most, sizeof *k->lines);
    for (int i = 0; i < m->natoms; i++)
        add(t, k, &i, 1, m->atoms[i].at);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int i = 0; i < m->terms[kind].n && is_noted((enum top_kind)kind); i++)
            add_molecule_term(t, k, (enum top_kind)kind, &m->terms[kind].items[i]);
    kind_lines_sort(k->lines, k->nlines);
}

void top_put_lines(const struct top *t, struct system *s)
{
    s->files = xcalloc((size_t)t->pp.nnames, sizeof *s->files);
    while (s->nfiles < t->pp.nnames) {
        s->files[s->nfiles] = xstrdup(t->pp.names[s->nfiles]);
        s->nfiles++;
    }
    for (int i = 0; i < t->nmolecules; i++)
        put_kind(t, &t->molecules[i], &s->kinds[i]);
}
