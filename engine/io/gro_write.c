/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/io/output.h"

#include <string.h>

static bool one_residue(const struct system *s, const struct molecule *m)
{
    for (int i = 1; i < m->count; i++)
        if (s->atoms[m->first + i].residue != s->atoms[m->first].residue)
            return false;
    return true;
}

/* Molecules of one residue (waters, ions) all carry the number of their molecule type: they are counted on from the
 * highest number of the larger molecules, as GROMACS does, so that readers can tell them apart. */
static int first_free_residue(const struct system *s)
{
    int highest = 0;
    for (int k = 0; k < s->nmolecules; k++) {
        const struct molecule *m = &s->molecules[k];
        if (one_residue(s, m))
            continue;
        for (int i = 0; i < m->count; i++)
            if (s->atoms[m->first + i].residue > highest)
                highest = s->atoms[m->first + i].residue;
    }
    return highest + 1;
}

void gro_write(struct buf *out, const struct system *s, const double (*x)[3], const double (*v)[3],
               const double box[BOX_SIZE], const char *title)
{
    int next = first_free_residue(s);
    buf_printf(out, "%s\n%5d\n", title, s->natoms);
    for (int k = 0; k < s->nmolecules; k++) {
        const struct molecule *m = &s->molecules[k];
        int number = one_residue(s, m) ? next++ : 0;
        for (int i = m->first; i < m->first + m->count; i++) {
            const struct atom *a = &s->atoms[i];
            buf_printf(out, "%5d%-5.5s%5.5s%5d%8.3f%8.3f%8.3f", (number ? number : a->residue) % 100000, a->resname,
                       a->name, (i + 1) % 100000, x[i][0], x[i][1], x[i][2]);
            if (v)
                buf_printf(out, "%8.4f%8.4f%8.4f", v[i][0], v[i][1], v[i][2]);
            buf_add(out, "\n", 1);
        }
    }
    buf_printf(out, "%10.5f%10.5f%10.5f", box[BOX_XX], box[BOX_YY], box[BOX_ZZ]);
    if (box[BOX_YX] != 0 || box[BOX_ZX] != 0 || box[BOX_ZY] != 0)
        buf_printf(out, "%10.5f%10.5f%10.5f%10.5f%10.5f%10.5f", 0.0, 0.0, box[BOX_YX], 0.0, box[BOX_ZX], box[BOX_ZY]);
    buf_add(out, "\n", 1);
}
