/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/waters/water_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/units.h"
#include "engine/math/box.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/ewald.h"

/* ---- which waters ---- */

static bool stays(const struct system *sys, const struct settings *set, int i)
{
    const struct atom *a = &sys->atoms[i];
    const bool b_states = set->alchemy.kind == ALCHEMY_B_STATES;
    return !alchemy_decoupled(sys, &set->alchemy, i) &&
           !(b_states && (a->type[0] != a->type[1] || a->charge[0] != a->charge[1] || a->mass[0] != a->mass[1]));
}

/* A molecule of three atoms, none of which changes with lambda. */
static bool may_move(const struct system *sys, const struct settings *set, const struct settle *w)
{
    return sys->molecules[sys->atoms[w->oxygen].molecule].count == 3 && stays(sys, set, w->oxygen) &&
           stays(sys, set, w->hydrogen[0]) && stays(sys, set, w->hydrogen[1]);
}

static bool same_atom(const struct atom *a, const struct atom *b)
{
    return a->type[0] == b->type[0] && a->charge[0] == b->charge[0] && a->mass[0] == b->mass[0];
}

static bool alike(const struct system *sys, const struct settle *a, const struct settle *b)
{
    return a->r_oh == b->r_oh && a->r_hh == b->r_hh && same_atom(&sys->atoms[a->oxygen], &sys->atoms[b->oxygen]) &&
           same_atom(&sys->atoms[a->hydrogen[0]], &sys->atoms[b->hydrogen[0]]);
}

/* One of the kind of molecules that has most; NULL: there is none. */
static const struct settle *most_common(const struct system *sys, const struct settings *set)
{
    const struct settle **first = xcalloc((size_t)sys->nkinds + 1, sizeof *first), *most = NULL;
    int *count = xcalloc((size_t)sys->nkinds + 1, sizeof *count), best = 0;
    for (int i = 0; i < sys->nsettles; i++) {
        const struct settle *w = &sys->settles[i];
        const int kind = sys->molecules[sys->atoms[w->oxygen].molecule].kind;
        if (!may_move(sys, set, w))
            continue;
        if (!count[kind]++)
            first[kind] = w;
        if (count[kind] > best) {
            best = count[kind];
            most = first[kind];
        }
    }
    free(first);
    free(count);
    return most;
}

int32_t (*waters_exchanged(const struct system *sys, const struct settings *set, uint32_t *n))[3]
{
    const struct settle *model = most_common(sys, set);
    int32_t(*out)[3] = xcalloc((size_t)sys->nsettles + 1, sizeof *out);
    *n = 0;
    for (int i = 0; model && i < sys->nsettles; i++) {
        const struct settle *w = &sys->settles[i];
        if (!may_move(sys, set, w) || !alike(sys, w, model))
            continue;
        const int32_t atoms[3] = {w->oxygen, w->hydrogen[0], w->hydrogen[1]};
        memcpy(out[(*n)++], atoms, sizeof atoms);
    }
    return out;
}

/* True for the atoms of the waters. */
static bool *marked(const struct system *sys, int32_t (*waters)[3], uint32_t n)
{
    bool *water = xcalloc((size_t)sys->natoms, sizeof *water);
    for (uint32_t w = 0; w < n; w++)
        for (int k = 0; k < 3; k++)
            water[waters[w][k]] = true;
    return water;
}

static int check_around(const struct system *sys, const bool *water, struct err *e)
{
    for (int i = 0; i < sys->naround; i++)
        if (water[sys->around[i]]) {
            const struct atom *a = &sys->atoms[sys->around[i]];
            return err_set(e, ERR_SPEC,
                           "atom %d (%s %s%d) of the center of the sphere belongs to a water that is exchanged: "
                           "expected atoms of other molecules",
                           sys->around[i] + 1, a->name, a->resname, a->residue);
        }
    return 0;
}

int waters_check(const struct system *sys, const struct settings *set, struct err *e)
{
    uint32_t n;
    int32_t(*waters)[3] = waters_exchanged(sys, set, &n);
    bool *water = marked(sys, waters, n);
    const double most = box_cutoff_limit(sys->box);
    int rc = 0;
    if (!n)
        rc = err_set(e, ERR_SPEC,
                     "no waters to exchange: expected rigid waters of three sites, by [ settles ], that the alchemy "
                     "leaves alone");
    else if (!sys->naround)
        rc = err_set(e, ERR_SPEC, "no atoms for the sphere to be about: expected one or more");
    else if (!(set->waters.radius < most))
        rc = err_set(e, ERR_SPEC, "radius %.15g nm: expected less than %.15g nm, so that the sphere fits into the box",
                     set->waters.radius, most);
    if (!rc)
        rc = check_around(sys, water, e);
    free(water);
    free(waters);
    return rc;
}

/* ---- what they meet ---- */

struct making {
    const struct alchemy_plan *plan;
    struct soft_rule rule;
    int oxygen;
    struct water_neighbour *others;
    struct water_soft *soft;
};

static void add_soft(struct water_table *t, struct making *m, int i)
{
    const struct alchemy_plan *p = m->plan;
    const double q[2] = {p->charge[m->oxygen], p->charge[m->oxygen]},
                 own[2] = {p->charge[i], p->charge[i] + p->change[i]};
    double c6[2], c12[2];
    for (int k = 0; k < 2; k++) {
        const struct lj *lj = &p->lj[(size_t)p->type[k][i] * (size_t)p->ntypes + (size_t)p->type[k][m->oxygen]];
        c6[k] = lj->c6;
        c12[k] = lj->c12;
    }
    m->soft[t->nsoft++] = (struct water_soft){
        .atom = i, .pair = soft_pair_make(&m->rule, c6, c12, q, own, UNIT_COULOMB), .charge = {own[0], own[1]}};
}

static void add_other(struct water_table *t, struct making *m, int i)
{
    const struct alchemy_plan *p = m->plan;
    const struct lj *lj = &p->lj[(size_t)p->type[0][i] * (size_t)p->ntypes + (size_t)p->type[0][m->oxygen]];
    if (lj->c6 != 0 || lj->c12 != 0 || p->charge[i] != 0)
        m->others[t->nothers++] =
            (struct water_neighbour){.atom = i, .c6 = lj->c6, .c12 = lj->c12, .charge = p->charge[i]};
}

static void add_neighbours(struct water_table *t, struct making *m, const bool *water)
{
    const struct alchemy_plan *p = m->plan;
    bool *perturbed = xcalloc((size_t)p->natoms, sizeof *perturbed);
    for (int k = 0; k < p->nperturbed; k++)
        perturbed[p->perturbed[k]] = true;
    for (int i = 0; i < p->natoms; i++)
        if (perturbed[i])
            add_soft(t, m, i);
        else if (!water[i])
            add_other(t, m, i);
    free(perturbed);
}

static int32_t *copied(const int *atoms, int n)
{
    int32_t *out = xcalloc((size_t)n, sizeof *out);
    for (int i = 0; i < n; i++)
        out[i] = atoms[i];
    return out;
}

int water_table_make(struct water_table *t, const struct system *sys, const struct settings *set,
                     const struct topology *topology, struct err *e)
{
    struct alchemy_plan plan = {0};
    const struct nonbonded_settings *nb = &set->nonbonded;
    const double rc = nb->coulomb_cutoff;
    const bool field = nb->coulomb_method == COULOMB_REACTION_FIELD;
    int failed = alchemy_plan_make(&plan, sys, set, topology->unit_of, e);
    if (failed)
        return failed;
    *t = (struct water_table){.radius = set->waters.radius,
                              .cutoff = fmax(rc, nb->vdw_cutoff),
                              .field = field ? reaction_field_of(nb).k : 0.5 / (rc * rc * rc),
                              .lj = {.cutoff = INFINITY, .start = INFINITY},
                              .function = set->alchemy.soft_core.function,
                              .power = (uint32_t)set->alchemy.soft_core.power,
                              .naround = (uint32_t)sys->naround,
                              .around = copied(sys->around, sys->naround)};
    int32_t(*waters)[3] = waters_exchanged(sys, set, &t->nwaters);
    struct making m = {.plan = &plan,
                       .rule = soft_rule_of(set, true),
                       .oxygen = waters[0][0],
                       .others = xcalloc((size_t)sys->natoms, sizeof *m.others),
                       .soft = xcalloc((size_t)plan.nperturbed + 1, sizeof *m.soft)};
    bool *water = marked(sys, waters, t->nwaters);
    const struct lj *lj = &plan.lj[(size_t)plan.type[0][m.oxygen] * (size_t)(plan.ntypes + 1)];
    t->c6 = lj->c6;
    t->c12 = lj->c12;
    t->charge[0] = plan.charge[m.oxygen];
    t->charge[1] = plan.charge[waters[0][1]];
    add_neighbours(t, &m, water);
    t->waters = (const int32_t(*)[3])waters;
    t->others = m.others;
    t->soft = m.soft;
    free(water);
    alchemy_plan_close(&plan);
    return 0;
}

void water_table_close(struct water_table *t)
{
    free((void *)t->around);
    free((void *)t->waters);
    free((void *)t->others);
    free((void *)t->soft);
    *t = (struct water_table){0};
}

const struct water_table *water_table_put(const struct water_table *t, struct arena *a)
{
    struct water_table put = *t;
    put.around = arena_put(a, t->around, t->naround * sizeof *t->around);
    put.waters = arena_put(a, t->waters, t->nwaters * sizeof *t->waters);
    put.others = arena_put(a, t->others, t->nothers * sizeof *t->others);
    put.soft = arena_put(a, t->soft, t->nsoft * sizeof *t->soft);
    return arena_put_named(a, "water table", &put, sizeof put);
}
