/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/sections/fold.h"

#include <stdlib.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/number.h"

static const char *const keys[] = {[FOLD_BACKBONE] = "backbone", [FOLD_LIGAND] = "ligand"};

int spec_read_fold(struct reader *r, struct spec *s, struct view v)
{
    int rc = 0;
    s->fold.limit = view_quantity(view_key(v, "limit")).value;
    for (int g = 0; g < FOLD_GROUPS && !rc; g++) {
        struct view group = view_key(v, keys[g]);
        char place[32];
        snprintf(place, sizeof place, "fold.%s", keys[g]);
        s->fold.given[g] = view_given(group);
        rc = s->fold.given[g] ? selection_read(r, &s->fold.group[g], group, place, s->index) : 0;
    }
    return rc;
}

void spec_fold_close(struct spec *s)
{
    for (int g = 0; g < FOLD_GROUPS; g++)
        selection_close(&s->fold.group[g]);
}

static int find_given(struct fold_atoms *out, enum fold_group g, const struct spec *s, struct source *src,
                      const struct system *sys, struct err *e)
{
    const struct selection *group = &s->fold.group[g];
    int rc = selection_atoms(group, s->index, src, sys, &out->atom[g], &out->n[g], e);
    if (rc == -ERR_MISSING_FILE)
        return rc;
    if (!rc && g == FOLD_BACKBONE && out->n[g] < FOLD_LEAST)
        rc = err_set(e, ERR_SPEC, "%d %s: expected %d at the least, which have an orientation", out->n[g],
                     number_word(out->n[g], "atom", "atoms"), FOLD_LEAST);
    buf_printf(&out->label[g], "%s", group->text);
    return rc ? err_prefix(e, "%s:%d: fold.%s: %s", s->file, group->line, keys[g], group->text) : 0;
}

static void find_by_names(struct fold_atoms *out, enum fold_group g, const struct spec *s, const struct system *sys)
{
    if (g == FOLD_BACKBONE) {
        out->n[g] = fold_backbone(sys, &out->atom[g]);
        buf_printf(&out->label[g], "N, CA and C of %d residues", out->n[g] / 3);
        return;
    }
    out->n[g] = fold_changed(sys, &s->settings.alchemy, out->atom[FOLD_BACKBONE], out->n[FOLD_BACKBONE], &out->atom[g]);
    if (!out->n[g])
        return;
    const struct atom *first = &sys->atoms[out->atom[g][0]], *last = &sys->atoms[out->atom[g][out->n[g] - 1]];
    const bool one = first->molecule == last->molecule && first->residue == last->residue;
    buf_printf(&out->label[g], "heavy atoms of %s%s", first->resname, one ? "" : " and other residues");
}

int fold_atoms_find(struct fold_atoms *out, const struct spec *s, struct source *src, const struct system *sys,
                    struct err *e)
{
    int rc = 0;
    *out = (struct fold_atoms){0};
    for (int g = 0; g < FOLD_GROUPS && !rc; g++) {
        if (s->fold.given[g])
            rc = find_given(out, g, s, src, sys, e);
        else if (g == FOLD_BACKBONE || out->n[FOLD_BACKBONE])
            find_by_names(out, g, s, sys);
    }
    if (!rc && s->fold.given[FOLD_LIGAND] && !out->n[FOLD_BACKBONE])
        rc = err_set(e, ERR_SPEC,
                     "%s:%d: fold.ligand: %s has no protein of %d residues with atoms N, CA and C to lay frames over; "
                     "expected fold.backbone too",
                     s->file, s->fold.group[FOLD_LIGAND].line, s->topology, FOLD_RESIDUES);
    return rc;
}

void fold_atoms_close(struct fold_atoms *f)
{
    for (int g = 0; g < FOLD_GROUPS; g++) {
        free(f->atom[g]);
        buf_free(&f->label[g]);
    }
}
