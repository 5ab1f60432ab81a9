/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/lines.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED = 3 }; /* lines of one term that a message has */

static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

void kind_line_order(int atom[3])
{
    int *last = atom[2] >= 0 ? &atom[2] : &atom[1];
    if (*last >= 0 && *last < atom[0])
        swap(&atom[0], last);
}

/* By atoms, then in the order that they were read in. */
static int by_atoms(const void *a, const void *b)
{
    const struct kind_line *p = a, *q = b;
    for (int i = 0; i < 3; i++)
        if (p->atom[i] != q->atom[i])
            return p->atom[i] < q->atom[i] ? -1 : 1;
    return p->file != q->file ? (p->file > q->file) - (p->file < q->file) : (p->line > q->line) - (p->line < q->line);
}

void kind_lines_sort(struct kind_line *lines, int n)
{
    qsort(lines, (size_t)n, sizeof *lines, by_atoms);
}

/* The first with these atoms; n: none. */
static int find(const struct molecule_kind *k, const int atom[3])
{
    struct kind_line key = {.file = -1};
    int low = 0, high = k->nlines;
    memcpy(key.atom, atom, sizeof key.atom);
    while (low < high) {
        int middle = (low + high) / 2;
        if (by_atoms(&k->lines[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->nlines && !memcmp(k->lines[low].atom, atom, sizeof key.atom) ? low : k->nlines;
}

/* Whether it appended something. */
static bool add(const struct system *s, const struct molecule_kind *k, const int atom[3], struct buf *out)
{
    int first = find(k, atom);
    for (int i = first; i < k->nlines && i < first + NAMED && !memcmp(k->lines[i].atom, atom, 3 * sizeof *atom); i++)
        buf_printf(out, "%s%s:%d", i > first ? " and " : "", s->files[k->lines[i].file], k->lines[i].line);
    return first < k->nlines;
}

void system_line(const struct system *s, const int *atom, int n, struct buf *out)
{
    const struct molecule *m = &s->molecules[s->atoms[atom[0]].molecule];
    int own[3] = {-1, -1, -1};
    for (int i = 0; i < n; i++)
        own[i] = atom[i] - m->first;
    kind_line_order(own);
    if (!add(s, &s->kinds[m->kind], own, out))
        add(s, &s->kinds[m->kind], (const int[3]){atom[0] - m->first, -1, -1}, out);
}

void system_kind_line(const struct system *s, int kind, struct buf *out)
{
    if (s->nfiles)
        buf_printf(out, "%s:%d", s->files[s->kinds[kind].file], s->kinds[kind].line);
}

int system_blame(const struct system *s, const int *atom, int n, struct err *e)
{
    struct buf place = {0};
    system_line(s, atom, n, &place);
    if (place.len)
        err_prefix(e, "%s", place.data);
    buf_free(&place);
    return -(int)e->code;
}
