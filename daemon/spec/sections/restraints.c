/* SPDX-License-Identifier: Apache-2.0
 *
 * Restraints between the centers of groups of atoms: what the spec says of them, and the groups' atoms in a system.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/math/box.h"

#define ANYWHERE 1e6   /* nm: no wall there */
#define MEMBERS 1000   /* of a group */
#define REACH_MOST 0.9 /* of the distance at which images are as near: molecules bend, boxes shrink */

/* ---- from the spec ---- */

static void place_of(char place[64], int index, const char *key)
{
    snprintf(place, 64, "restraints[%d].%s", index, key);
}

/* low, up1, up2 and k of one state; those that `v` does not give are as in `of`, NULL: there are none. */
static int read_state(struct reader *r, struct view v, const char *place, const double *of, double out[CENTER_NUMBERS])
{
    struct view distance = view_key(v, "distance"), lower = view_key(v, "lower"), upper = view_key(v, "upper");
    struct view k = view_key(v, "force-constant");
    const bool walls = view_given(lower) || view_given(upper), harmonic = view_given(distance);
    if (harmonic && walls)
        return spec_bad(r, distance, place,
                        "expected distance (harmonic), or lower and upper (flat between), not both");
    if (!of && !harmonic && !walls)
        return spec_bad(r, v, place, "expected distance (harmonic), or lower or upper (flat between)");
    if (of && ((harmonic && of[0] != of[1]) || (walls && of[0] == of[1])))
        return spec_bad(r, v, place, "expected %s, as without b", harmonic ? "lower or upper" : "distance");
    if (of)
        memcpy(out, of, CENTER_NUMBERS * sizeof *out);
    else
        out[0] = 0, out[1] = out[2] = ANYWHERE;
    if (harmonic)
        out[0] = out[1] = view_quantity(distance).value;
    if (view_given(lower))
        out[0] = view_quantity(lower).value;
    if (view_given(upper))
        out[1] = view_quantity(upper).value;
    if (walls && out[0] >= out[1])
        return spec_bad(r, v, place, "lower %.15g nm: expected less than upper, %.15g nm", out[0], out[1]);
    if (view_given(k))
        out[3] = view_quantity(k).value;
    else if (!of)
        return spec_bad(r, v, place, "missing; expected force-constant, such as 1000 kJ/mol/nm^2");
    return 0;
}

/* The word in place of a length. */
static bool is_start(struct view distance)
{
    return view_given(distance) && view_quantity(distance).steps;
}

static int read_restraint(struct reader *r, const struct spec *s, struct center_choice *c, struct view v, int index)
{
    const struct alchemy_settings *al = &s->settings.alchemy;
    char place[64];
    int rc = 0;
    place_of(place, index, "between");
    for (int g = 0; g < 2 && !rc; g++)
        rc = selection_read(r, &c->group[g], view_item(view_key(v, "between"), g), place, s->index);
    snprintf(place, sizeof place, "restraints[%d]", index);
    if (!rc)
        rc = read_state(r, v, place, NULL, c->c[0]);
    place_of(place, index, "b");
    memcpy(c->c[1], c->c[0], sizeof c->c[1]);
    if (!rc && view_given(view_key(v, "b")) && !al->given[LAMBDA_RESTRAINT] && !al->given[LAMBDA_BONDED])
        rc = spec_bad(r, view_key(v, "b"), place,
                      "expected a ladder that leads there, alchemy.windows.restraint or bonded");
    if (!rc && view_given(view_key(v, "b")))
        rc = read_state(r, view_key(v, "b"), place, c->c[0], c->c[1]);
    c->at_start[0] = is_start(view_key(v, "distance"));
    c->at_start[1] = c->at_start[0] && !view_given(view_key(view_key(v, "b"), "distance"));
    return rc;
}

int spec_read_restraints(struct reader *r, struct spec *s, struct view v)
{
    int rc = 0;
    s->centers = xcalloc((size_t)view_count(v), sizeof *s->centers);
    while (s->ncenters < view_count(v) && !rc) {
        rc = read_restraint(r, s, &s->centers[s->ncenters], view_item(v, s->ncenters), s->ncenters);
        s->ncenters++;
    }
    return rc;
}

void spec_restraints_close(struct spec *s)
{
    for (int i = 0; i < s->ncenters; i++)
        for (int g = 0; g < 2; g++)
            selection_close(&s->centers[i].group[g]);
    free(s->centers);
    free(s->index);
}

/* ---- in a system ---- */

struct members {
    int n, atom[MEMBERS];
};

/* A restraint holds one molecule, not the center of all of a kind. */
static bool several_molecules(const struct system *sys, const int *atom, int n)
{
    for (int i = 1; i < n; i++)
        if (sys->atoms[atom[i]].molecule != sys->atoms[atom[0]].molecule)
            return true;
    return false;
}

/* Without those that weigh nothing. */
static int members_of(struct members *m, const struct spec *s, const struct selection *g, struct source *src,
                      const struct system *sys, struct err *e)
{
    int *list = NULL, n = 0, rc = selection_atoms(g, s->index, src, sys, &list, &n, e);
    if (!rc && g->by[SELECT_MOLECULE] && several_molecules(sys, list, n))
        rc = err_set(e, ERR_SPEC, "there are several molecules of this type; expected one, or atoms by number");
    if (!rc && n > MEMBERS)
        rc = err_set(e, ERR_SPEC, "more than %d atoms; expected fewer, such as the CA atoms of a site in an index file",
                     MEMBERS);
    m->n = 0;
    for (int i = 0; i < n && !rc; i++)
        if (sys->atoms[list[i]].mass[0] > 0)
            m->atom[m->n++] = list[i];
    free(list);
    return rc || m->n ? rc : err_set(e, ERR_SPEC, "no atoms with mass");
}

/* How far the others are from one of them, nm. */
static double reach(const struct members *m, const struct start *from, int of)
{
    double most = 0;
    for (int k = 0; k < m->n; k++) {
        double d[3];
        box_image(from->x[m->atom[k]], from->x[m->atom[of]], from->box, d);
        most = fmax(most, vec_dot(d, d));
    }
    return sqrt(most);
}

/* The one that is nearest to all others goes first: it stays in the group's middle, and others' images are sought from
 * it. */
static int order_members(struct members *m, const struct system *sys, struct err *e)
{
    const struct start start = system_start(sys, 0);
    const double limit = REACH_MOST * box_cutoff_limit(start.box);
    double least = INFINITY;
    int best = 0;
    for (int i = 0; i < m->n; i++) {
        double far = reach(m, &start, i);
        if (far < least) {
            least = far;
            best = i;
        }
    }
    int first = m->atom[best];
    m->atom[best] = m->atom[0];
    m->atom[0] = first;
    return least < limit
               ? 0
               : err_set(e, ERR_SPEC,
                         "its atoms are up to %.3g nm from that in its middle; in this box expected less than "
                         "%.3g nm, or it is not known which of their images belong together",
                         least, limit);
}

static void add_members(struct system *sys, struct center_restraint *r, int g, const struct members *m)
{
    double mass = 0;
    sys->center_atoms = xrealloc(sys->center_atoms, (size_t)(sys->ncenter_atoms + m->n), sizeof *sys->center_atoms);
    r->first[g] = (uint32_t)sys->ncenter_atoms;
    r->count[g] = (uint32_t)m->n;
    for (int i = 0; i < m->n; i++)
        mass += sys->atoms[m->atom[i]].mass[0];
    for (int i = 0; i < m->n; i++)
        sys->center_atoms[sys->ncenter_atoms++] =
            (struct center_atom){.atom = m->atom[i], .weight = sys->atoms[m->atom[i]].mass[0] / mass};
}

static void center_of(const struct system *sys, const struct center_restraint *r, int g, double out[3])
{
    const struct center_atom *atom = sys->center_atoms + r->first[g];
    const double *first = sys->x[atom->atom];
    double d[3];
    memcpy(out, first, 3 * sizeof *out);
    for (uint32_t k = 1; k < r->count[g]; k++) {
        box_image(sys->x[atom[k].atom], first, sys->box, d);
        for (int i = 0; i < 3; i++)
            out[i] += atom[k].weight * d[i];
    }
}

static double distance_of(const struct system *sys, const struct center_restraint *r)
{
    double center[2][3], d[3];
    for (int g = 0; g < 2; g++)
        center_of(sys, r, g, center[g]);
    box_image(center[1], center[0], sys->box, d);
    return sqrt(vec_dot(d, d));
}

/* A wall must be where a distance can still be told from that to an image. */
static int check_walls(const struct center_restraint *c, const struct system *sys, struct err *e)
{
    const double limit = box_cutoff_limit(sys->box);
    for (int state = 0; state < 2; state++)
        for (int k = 0; k < 2; k++)
            if (c->c[state][k] < ANYWHERE && c->c[state][k] >= limit)
                return err_set(e, ERR_SPEC, "%.15g nm: expected less than %.3g nm in this box", c->c[state][k], limit);
    return 0;
}

static int make_restraint(const struct spec *s, struct source *src, struct system *sys, int index, struct members *m,
                          struct err *e)
{
    const struct center_choice *c = &s->centers[index];
    struct center_restraint *r = &sys->centers[index];
    int rc = 0;
    for (int g = 0; g < 2; g++) {
        rc = members_of(m, s, &c->group[g], src, sys, e);
        if (!rc)
            rc = order_members(m, sys, e);
        if (rc)
            return rc == -ERR_MISSING_FILE ? rc
                                           : err_prefix(e, "%s:%d: restraints[%d].between[%d]: %s", s->file,
                                                        c->group[g].line, index, g, c->group[g].text);
        add_members(sys, r, g, m);
    }
    for (int state = 0; state < 2; state++) {
        memcpy(r->c[state], c->c[state], sizeof c->c[state]);
        if (c->at_start[state])
            r->c[state][0] = r->c[state][1] = distance_of(sys, r);
    }
    rc = check_walls(r, sys, e);
    return rc ? err_prefix(e, "%s:%d: restraints[%d]", s->file, c->group[0].line, index) : 0;
}

int spec_make_restraints(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    struct members *m = xcalloc(1, sizeof *m);
    int rc = 0;
    sys->centers = xcalloc((size_t)s->ncenters, sizeof *sys->centers);
    while (sys->ncenters < s->ncenters && !rc) {
        rc = make_restraint(s, src, sys, sys->ncenters, m, e);
        sys->ncenters += !rc;
    }
    free(m);
    return rc;
}
