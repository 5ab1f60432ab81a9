/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/observe/saxs_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/observe/kinds.h"
#include "engine/prepare/ewald.h"
#include "engine/prepare/form_factors.h"

enum {
    POINTS_MAX = 1 << 27, /* of a grid */
    EDGE_MAX = 4096,
    SPECIES_MAX = 64,
};
#define SPACING_MAX 0.25 /* nm: a point may hold as many atoms as are near it */
#define GROWTH 1.25      /* of an edge, that there is room for wave vectors for */

uint32_t saxs_bins(const struct saxs_choice *s)
{
    return (uint32_t)lrint(s->max / s->bin);
}

void saxs_plan_close(struct saxs_plan *p)
{
    free(p->atom);
    free(p->chain);
    free(p->member);
    free(p->species);
    for (int d = 0; d < 3; d++)
        free(p->inverse_w[d]);
    *p = (struct saxs_plan){0};
}

/* ---- the grid ---- */

/* Lengths of the edges of the largest cell that replicas begin with. */
static void cell_edges(const struct system *sys, double padding, double edge[3])
{
    memset(edge, 0, 3 * sizeof *edge);
    for (int w = 0; w < (sys->nstarts ? sys->nstarts : 1); w++) {
        const struct start s = system_start(sys, w);
        double length[3];
        box_edges(s.box, length);
        for (int d = 0; d < 3; d++)
            edge[d] = fmax(edge[d], padding * length[d]);
    }
}

/* The next number that has no other factors than 2, 3 and 5. */
static int smooth(int n)
{
    for (;; n++) {
        int rest = n;
        for (int factor = 2; factor <= 5; factor++)
            while (rest % factor == 0)
                rest /= factor;
        if (rest == 1)
            return n;
    }
}

static int choose_size(struct saxs_table *t, const struct saxs_choice *s, const double edge[3], int d, struct err *e)
{
    const double points = s->supersampling * (s->grid[0] ? s->grid[d] : edge[d] / s->spacing);
    if (points > EDGE_MAX)
        return err_set(e, ERR_SPEC, "a grid of %.0f points along an edge of %.6g nm; expected at most %d", points,
                       edge[d], EDGE_MAX);
    t->size[d] = smooth((int)ceil(points - 1e-9));
    if (t->size[d] < t->order)
        t->size[d] = smooth(t->order);
    if (edge[d] / t->size[d] > SPACING_MAX)
        return err_set(e, ERR_SPEC, "%d points along an edge of %.6g nm; expected at most %g nm between them",
                       t->size[d], edge[d], SPACING_MAX);
    const int32_t held = (t->size[d] - 1) / 2, needed = (int32_t)(s->max * edge[d] / (2 * M_PI));
    if (needed > held)
        return err_set(e, ERR_SPEC,
                       "max %.6g /nm: %d points along an edge of %.6g nm hold up to %.6g /nm; expected a finer spacing",
                       s->max, t->size[d], edge[d], 2 * M_PI * held / edge[d]);
    const int32_t room = (int32_t)ceil(GROWTH * needed) + 1;
    t->modes[d] = room < held ? room : held;
    return 0;
}

static int choose_grid(struct saxs_table *t, const struct saxs_choice *s, const struct system *sys, struct err *e)
{
    double edge[3], points = 1;
    cell_edges(sys, s->padding, edge);
    for (int d = 0; d < 3; d++) {
        int rc = choose_size(t, s, edge, d, e);
        if (rc)
            return rc;
        points *= t->size[d];
    }
    return points <= POINTS_MAX ? 0
                                : err_set(e, ERR_SPEC, "a grid of %d x %d x %d: expected at most %d points in all",
                                          t->size[0], t->size[1], t->size[2], POINTS_MAX);
}

void saxs_most_edges(const struct observable *o, const struct system *sys, double edge[3])
{
    struct saxs_table t = {.order = o->saxs.order};
    struct err e;
    if (choose_grid(&t, &o->saxs, sys, &e)) /* there is no plan then, and no frame */
        return;
    for (int d = 0; d < 3; d++)
        edge[d] = 2 * M_PI * (t.modes[d] + 1) / (o->saxs.max * o->saxs.padding);
}

/* 1 / W up to the highest wave: of the spline's transform sinc^order, or of the Euler spline. */
static double *inverse_w(int32_t size, int32_t modes, int order, bool euler)
{
    double *w = xcalloc((size_t)modes + 1, sizeof *w), *modulus = xcalloc((size_t)size, sizeof *modulus);
    mesh_modulus(modulus, size, order);
    for (int32_t m = 0; m <= modes; m++) {
        const double angle = M_PI * m / size;
        w[m] = 1 / (euler ? sqrt(modulus[m]) : m ? pow(sin(angle) / angle, order) : 1);
    }
    free(modulus);
    return w;
}

/* ---- atoms ---- */

struct species_list {
    const struct element *element[SPECIES_MAX];
    int n;
};

/* The number of an element in the list, where it is added; -1: there are too many. */
static int number_of(struct species_list *list, const struct element *element)
{
    for (int k = 0; k < list->n; k++)
        if (list->element[k] == element)
            return k;
    if (list->n == SPECIES_MAX)
        return -1;
    list->element[list->n] = element;
    return list->n++;
}

/* Of those atoms of the selection that scatter: number in the list, atom by atom. */
static int find_species(struct saxs_plan *p, struct species_list *list, int *kind, const struct atom_group *g,
                        const struct system *sys, struct err *e)
{
    for (int i = 0; i < g->n; i++) {
        const struct element *element;
        int rc = element_of_atom(sys, g->atom[i], &element, e);
        if (rc)
            return rc;
        if (!element)
            continue;
        const int k = number_of(list, element);
        if (k < 0)
            return err_set(e, ERR_UNSUPPORTED, "more than %d elements", SPECIES_MAX);
        kind[p->table.natoms] = k;
        p->atom[p->table.natoms++] = g->atom[i];
    }
    return p->table.natoms ? 0 : err_set(e, ERR_SPEC, "of: no selected atom has a form factor");
}

/* Species after species, each one's atoms in the selection's order. */
static void sort_species(struct saxs_plan *p, const struct species_list *list, const int *kind)
{
    int32_t next = 0;
    p->species = xcalloc((size_t)list->n, sizeof *p->species);
    for (int k = 0; k < list->n; k++) {
        p->species[k] = (struct saxs_species){.factor = list->element[k]->factor, .first = (uint32_t)next};
        for (int32_t i = 0; i < p->table.natoms; i++)
            if (kind[i] == k)
                p->member[next++] = i;
        p->species[k].count = (uint32_t)next - p->species[k].first;
    }
    p->table.nspecies = list->n;
}

/* A chain is a molecule where molecules are to be whole, else an atom. */
static void find_chains(struct saxs_plan *p, const struct system *sys)
{
    struct saxs_table *t = &p->table;
    for (int32_t i = 0; i < t->natoms; i++)
        if (!i || !t->whole || sys->atoms[p->atom[i]].molecule != sys->atoms[p->atom[i - 1]].molecule)
            p->chain[t->nchains++] = i;
    p->chain[t->nchains] = t->natoms;
}

/* Solvent has elements that the selection may lack. */
static int add_solvent(struct species_list *list, const struct saxs_choice *s, struct err *e)
{
    for (int i = 0; i < s->nfill; i++) {
        const struct element *element = element_named(s->fill[i].symbol);
        if (!element)
            return err_set(e, ERR_SPEC, "padding: '%s' is no element that there is a form factor for",
                           s->fill[i].symbol);
        if (number_of(list, element) < 0)
            return err_set(e, ERR_UNSUPPORTED, "more than %d elements", SPECIES_MAX);
    }
    return 0;
}

static void set_outside(struct saxs_plan *p, const struct species_list *list, const struct saxs_choice *s)
{
    for (int k = 0; k < list->n; k++)
        p->species[k].density = s->outside == SAXS_AVERAGE ? -1 : 0;
    for (int i = 0; i < s->nfill; i++)
        for (int k = 0; k < list->n; k++)
            if (list->element[k] == element_named(s->fill[i].symbol))
                p->species[k].density = s->fill[i].density;
}

/* So that the largest I(q) there can be, that of all electrons together, has room twice in an integer. */
static double unit_of(const struct saxs_plan *p, double volume)
{
    double electrons = 0;
    int exponent;
    for (int k = 0; k < p->table.nspecies; k++) {
        const struct saxs_species *e = &p->species[k];
        const double outside = e->density < 0 ? e->count : e->density * volume;
        electrons += form_factor(&e->factor, 0) * (e->count + outside);
    }
    frexp(electrons * electrons, &exponent);
    return ldexp(1, exponent - 61);
}

int saxs_plan_make(struct saxs_plan *p, const struct observable *o, const struct system *sys, struct err *e)
{
    const struct saxs_choice *s = &o->saxs;
    const struct atom_group *g = &o->group[0];
    struct species_list list = {0};
    int *kind = xcalloc((size_t)g->n, sizeof *kind);
    *p = (struct saxs_plan){.table = {.order = s->order,
                                      .nbins = (int32_t)saxs_bins(s),
                                      .whole = s->padding > 1 && s->outside == SAXS_NOTHING,
                                      .part = 1 / s->padding,
                                      .max = s->max,
                                      .bin = s->bin}};
    p->atom = xcalloc((size_t)g->n, sizeof *p->atom);
    p->chain = xcalloc((size_t)g->n + 1, sizeof *p->chain);
    p->member = xcalloc((size_t)g->n, sizeof *p->member);
    int rc = find_species(p, &list, kind, g, sys, e);
    if (!rc)
        rc = add_solvent(&list, s, e);
    if (!rc)
        rc = choose_grid(&p->table, s, sys, e);
    if (!rc) {
        sort_species(p, &list, kind);
        find_chains(p, sys);
        set_outside(p, &list, s);
        p->table.unit = unit_of(p, GROWTH * GROWTH * GROWTH * box_volume(sys->box));
        for (int d = 0; d < 3; d++)
            p->inverse_w[d] = inverse_w(p->table.size[d], p->table.modes[d], s->order, s->euler);
    }
    free(kind);
    if (rc)
        saxs_plan_close(p);
    return rc;
}

uint32_t saxs_plan_launches(const struct saxs_plan *p, uint32_t each)
{
    uint32_t n = 3;
    for (int32_t k = 0; k < p->table.nspecies; k++)
        n += p->species[k].count ? each : 1;
    return n;
}

size_t saxs_plan_waves(const struct saxs_plan *p)
{
    const int32_t *m = p->table.modes;
    return (2 * (size_t)m[0] + 1) * (2 * (size_t)m[1] + 1) * ((size_t)m[2] + 1);
}

const struct saxs_table *saxs_plan_put(const struct saxs_plan *p, struct arena *a)
{
    struct saxs_table t = p->table;
    t.atom = arena_put_named(a, "saxs atoms", p->atom, (size_t)t.natoms * sizeof *t.atom);
    t.chain = arena_put_named(a, "saxs chains", p->chain, ((size_t)t.nchains + 1) * sizeof *t.chain);
    t.member = arena_put_named(a, "saxs members", p->member, (size_t)t.natoms * sizeof *t.member);
    t.species = arena_put_named(a, "saxs elements", p->species, (size_t)t.nspecies * sizeof *t.species);
    for (int d = 0; d < 3; d++)
        t.inverse_w[d] =
            arena_put_named(a, "saxs splines", p->inverse_w[d], ((size_t)t.modes[d] + 1) * sizeof *t.inverse_w[d]);
    return arena_put_named(a, "saxs", &t, sizeof t);
}
