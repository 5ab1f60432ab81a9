/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/system.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/buf.h"

static bool pulls(const struct position_restraint *r)
{
    for (int k = 0; k < 6; k++)
        if (r->k[k / 3][k % 3] != 0)
            return true;
    return false;
}

bool system_held_in_space(const struct system *s)
{
    for (int i = 0; i < s->nposition_restraints; i++)
        if (pulls(&s->position_restraints[i]))
            return true;
    for (int i = 0; i < s->nrare; i++)
        if (s->rare[i].kind == RARE_FLAT_POSITION && (s->rare[i].c[0][4] != 0 || s->rare[i].c[1][4] != 0))
            return true;
    return false;
}

bool system_is_dummy(const struct system *s, int atom, int state)
{
    const struct atom *a = &s->atoms[atom];
    const struct lj *self = &s->lj[(size_t)a->type[state] * (size_t)s->ntypes + (size_t)a->type[state]];
    return self->c6 == 0 && self->c12 == 0 && a->charge[state] == 0;
}

bool system_scale_position_restraints(struct system *s, double factor)
{
    bool any = s->nposition_restraints > 0;
    for (int i = 0; i < s->nposition_restraints; i++)
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < 3; d++)
                s->position_restraints[i].k[k][d] *= factor;
    for (int i = 0; i < s->nrare; i++) {
        if (s->rare[i].kind != RARE_FLAT_POSITION)
            continue;
        any = true;
        for (int k = 0; k < 2; k++)
            s->rare[i].c[k][4] *= factor;
    }
    return any;
}

void system_note(struct system *s, const char *fmt, ...)
{
    char text[800];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->notes = xrealloc(s->notes, (size_t)s->nnotes + 1, sizeof *s->notes);
    s->notes[s->nnotes++] = xstrdup(text);
}

void system_close(struct system *s)
{
    free(s->atoms);
    free(s->molecules);
    for (int i = 0; i < s->nkinds; i++)
        free(s->kinds[i].lines);
    free(s->kinds);
    for (int i = 0; i < s->nfiles; i++)
        free(s->files[i]);
    free(s->files);
    free(s->lj);
    free(s->type_names);
    free(s->type_numbers);
    free(s->weights);
    free(s->bonds);
    free(s->harmonics);
    free(s->connections);
    free(s->angles);
    free(s->dihedrals);
    free(s->rb_dihedrals);
    free(s->impropers);
    free(s->pairs14);
    free(s->pairs_nb);
    free(s->constraints);
    free(s->settles);
    free(s->position_restraints);
    free(s->rare);
    free(s->centers);
    free(s->center_atoms);
    free(s->coordinations);
    free(s->coordination_atoms);
    free(s->biases);
    free(s->knots);
    free(s->sites);
    free(s->site_atoms);
    free(s->site_weights);
    free(s->cmaps);
    free(s->cmap_points);
    free(s->exclusion_start);
    free(s->exclusion);
    for (int i = 0; i < s->nstarts; i++) {
        free(s->starts[i].x);
        free(s->starts[i].v);
    }
    free(s->starts);
    for (int i = 0; i < s->nobservables; i++)
        observable_close(&s->observables[i]);
    free(s->observables);
    free(s->around);
    for (int i = 0; i < s->nnotes; i++)
        free(s->notes[i]);
    free(s->notes);
    free(s->x);
    free(s->v);
    *s = (struct system){0};
}
