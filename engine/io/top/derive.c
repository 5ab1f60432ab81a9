/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of virtual sites that their lines leave out, as pdb2gmx -vsite writes them: from lengths and angles at
 * rest of the molecule's bonds, constraints and angles in state A, as grompp derives them. The site is i; j, k, l, m
 * are the atoms that place it in their order, j the one that it is bonded to.
 */
#include "engine/io/top/top.h"

#include <math.h>
#include <strings.h>

#include "engine/prepare/sites.h"

struct frame {
    const struct top *t;
    const struct top_molecule *m;
    int i, j, k, l, last; /* last: m */
    bool missing;         /* a length or an angle that was asked for */
};

static double length(struct frame *f, int a, int b)
{
    static const int kinds[] = {
        KIND_BOND,       KIND_RARE + RARE_G96_BOND, KIND_RARE + RARE_MORSE, KIND_RARE + RARE_CUBIC_BOND,
        KIND_CONSTRAINT, KIND_CONSTRAINT_NO_BOND};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const struct top_terms *list = &f->m->terms[kinds[n]];
        for (int i = 0; i < list->n; i++) {
            const struct top_term *term = &list->items[i];
            if ((term->atom[0] == a && term->atom[1] == b) || (term->atom[0] == b && term->atom[1] == a))
                return term->c[0][0];
        }
    }
    f->missing = true;
    return NAN;
}

/* Of a-b-c, radians. */
static double angle(struct frame *f, int a, int b, int c)
{
    static const int kinds[] = {KIND_ANGLE, KIND_RARE + RARE_G96_ANGLE, KIND_UREY_BRADLEY,
                                KIND_RARE + RARE_QUARTIC_ANGLE};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const struct top_terms *list = &f->m->terms[kinds[n]];
        for (int i = 0; i < list->n; i++) {
            const struct top_term *term = &list->items[i];
            if (term->atom[1] == b &&
                ((term->atom[0] == a && term->atom[2] == c) || (term->atom[0] == c && term->atom[2] == a)))
                return term->c[0][0] * (M_PI / 180);
        }
    }
    f->missing = true;
    return NAN;
}

/* Whether k and l are the two masses that replace an NH3, NH2 or CH3 group: pdb2gmx has types for them. */
static bool has_group_masses(const struct frame *f)
{
    const char *k = f->t->types[f->m->atoms[f->k].type[0]].name, *l = f->t->types[f->m->atoms[f->l].type[0]].name;
    return (!strncasecmp(k, "MNH", 3) && !strncasecmp(l, "MNH", 3)) ||
           (!strncasecmp(k, "MCH3", 4) && !strncasecmp(l, "MCH3", 4));
}

/* Such a group, whose masses are at `deep` along the axis from j and `wide` beside it; its N or C is the atom behind
 * them, and the site at `along` and `beside`. */
static void look_at_group(struct frame *f, double *deep, double *wide, double *along, double *beside)
{
    const int center = (f->k > f->l ? f->k : f->l) + 1;
    const double arm = length(f, f->j, f->k);
    f->missing |= length(f, f->j, f->l) != arm || center >= f->m->natoms;
    *wide = 0.5 * length(f, f->k, f->l);
    *deep = sqrt(arm * arm - *wide * *wide);
    *along = length(f, f->j, center);
    *beside = 0;
    if (f->i != center) {
        const double r = length(f, center, f->i), theta = angle(f, f->j, center, f->i);
        *along -= r * cos(theta);
        *beside = r * sin(theta);
    }
}

static void derive_in_plane(struct frame *f, double c[3])
{
    double deep, wide, along, beside;
    look_at_group(f, &deep, &wide, &along, &beside);
    f->missing |= !has_group_masses(f);
    c[0] = 0.5 * (along / deep + beside / wide);
    c[1] = 0.5 * (along / deep - beside / wide);
}

static void derive_3fd(struct frame *f, double c[3])
{
    const double k = length(f, f->j, f->k) * sin(angle(f, f->i, f->j, f->k));
    const double l = length(f, f->j, f->l) * sin(angle(f, f->i, f->j, f->l));
    c[0] = k / (k + l);
    c[1] = -length(f, f->i, f->j);
}

static void derive_3fad(struct frame *f, bool mirrored, double c[3])
{
    const double theta = angle(f, f->i, f->j, f->k) * (180 / M_PI);
    c[0] = mirrored ? 360 - theta : theta;
    c[1] = length(f, f->i, f->j);
}

/* Hydrogens of a group are a third of a turn apart: two of them are out of the plane of the masses. */
static void derive_3out_of_group(struct frame *f, double c[3])
{
    double deep, wide, along, beside;
    look_at_group(f, &deep, &wide, &along, &beside);
    const double across = beside * sin(M_PI / 6);
    c[0] = 0.5 * (along / deep - across / wide);
    c[1] = 0.5 * (along / deep + across / wide);
    c[2] = beside * cos(M_PI / 6) / (2 * deep * wide);
}

static void derive_3out(struct frame *f, bool mirrored, double c[3])
{
    if (has_group_masses(f)) {
        derive_3out_of_group(f, c);
    } else {
        const double r = length(f, f->i, f->j), jk = length(f, f->j, f->k), jl = length(f, f->j, f->l);
        const double between = angle(f, f->k, f->j, f->l), x = cos(between), y = sin(between);
        const double k = r * cos(angle(f, f->i, f->j, f->k)), l = r * cos(angle(f, f->i, f->j, f->l));
        c[0] = (k + (k * x - l) * x / (y * y)) / jk;
        c[1] = (l + (l * x - k) * x / (y * y)) / jl;
        c[2] = -sqrt(r * r - (k * k - 2 * k * l * x + l * l) / (y * y)) / (jk * jl * y);
    }
    c[2] = mirrored ? -c[2] : c[2];
}

static void derive_4fdn(struct frame *f, double c[3])
{
    const double k = -length(f, f->j, f->k) * cos(angle(f, f->i, f->j, f->k));
    const double l = -length(f, f->j, f->l) * cos(angle(f, f->i, f->j, f->l));
    const double last = -length(f, f->j, f->last) * cos(angle(f, f->i, f->j, f->last));
    c[0] = k / l;
    c[1] = k / last;
    c[2] = length(f, f->i, f->j);
}

static int derive(const struct top *t, struct top_molecule *m, const struct top_derived *d, struct err *e)
{
    struct virtual_site *s = &m->sites[d->site];
    const int *from = m->site_atoms + s->first;
    struct frame f = {
        .t = t, .m = m, .i = s->atom, .j = from[0], .k = from[1], .l = from[2], .last = s->count > 3 ? from[3] : 0};
    double c[3] = {0, 0, 0};
    if (s->kind == SITE_LINEAR)
        derive_in_plane(&f, c);
    else if (s->kind == SITE_3FD)
        derive_3fd(&f, c);
    else if (s->kind == SITE_3FAD)
        derive_3fad(&f, d->mirrored, c);
    else if (s->kind == SITE_3OUT)
        derive_3out(&f, d->mirrored, c);
    else
        derive_4fdn(&f, c);
    if (f.missing || !isfinite(c[0]) || !isfinite(c[1]) || !isfinite(c[2]))
        return err_set(
            e, ERR_TOPOLOGY,
            "%s:%d: virtual site %d (%s) has no parameters, and the bonds and angles of molecule type %s do not "
            "give them: expected parameters on the line",
            d->at.file, d->at.line, s->atom + 1, m->atoms[s->atom].name, m->name);
    top_site_params(m, s, c);
    return 0;
}

int top_derive_sites(const struct top *t, struct top_molecule *m, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < m->nderived && !rc; i++)
        rc = derive(t, m, &m->derived[i], e);
    return rc;
}
