/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/prepare/fixed_distances.h"
#include "engine/prepare/union_find.h"
#include "engine/system/lines.h"
#include "engine/system/rare_kinds.h"
#include "engine/prepare/sites.h"
#include "engine/math/box.h"

/* ---- what belongs together ---- */

static void join_chain(struct forest *f, const int *atom, int n)
{
    for (int k = 0; k + 1 < n; k++)
        forest_join(f, atom[k], atom[k + 1]);
}

/* Atoms of a term that is part of a molecule's structure; restraints are none. */
static int structural_atoms(int kind)
{
    return rare_is_restraint(kind) ? 0 : rare_kinds[kind].natoms;
}

/* Edges along chemical bonds first: a molecule is made whole along them, and along other terms only where needed. */
static void join_bonded(struct forest *f, const struct system *sys)
{
    for (int i = 0; i < sys->nbonds; i++)
        forest_join(f, sys->bonds[i].atom[0], sys->bonds[i].atom[1]);
    for (int i = 0; i < sys->nrare; i++)
        if (rare_is_bond(sys->rare[i].kind))
            forest_join(f, sys->rare[i].atom[0], sys->rare[i].atom[1]);
    for (int i = 0; i < sys->nconnections; i++)
        forest_join(f, sys->connections[i].atom[0], sys->connections[i].atom[1]);
    for (int i = 0; i < sys->nconstraints; i++)
        forest_join(f, sys->constraints[i].atom[0], sys->constraints[i].atom[1]);
    for (int i = 0; i < sys->nsettles; i++)
        for (int k = 0; k < 2; k++)
            forest_join(f, sys->settles[i].oxygen, sys->settles[i].hydrogen[k]);
}

static void join_terms(struct forest *f, const struct system *sys)
{
    for (int i = 0; i < sys->nsites; i++)
        for (uint32_t k = 0; k < sys->sites[i].count; k++)
            forest_join(f, sys->sites[i].atom, sys->site_atoms[sys->sites[i].first + k]);
    for (int i = 0; i < sys->nharmonics; i++)
        join_chain(f, sys->harmonics[i].atom, 2);
    for (int i = 0; i < sys->nangles; i++)
        join_chain(f, sys->angles[i].atom, 3);
    for (int i = 0; i < sys->ndihedrals; i++)
        join_chain(f, sys->dihedrals[i].atom, 4);
    for (int i = 0; i < sys->nrb_dihedrals; i++)
        join_chain(f, sys->rb_dihedrals[i].atom, 4);
    for (int i = 0; i < sys->nimpropers; i++)
        join_chain(f, sys->impropers[i].atom, 4);
    for (int i = 0; i < sys->npairs14; i++)
        join_chain(f, sys->pairs14[i].atom, 2);
    for (int i = 0; i < sys->nrare; i++)
        join_chain(f, sys->rare[i].atom, structural_atoms(sys->rare[i].kind));
    for (int i = 0; i < sys->ncmaps; i++)
        join_chain(f, sys->cmaps[i].atom, 5);
}

static void build_units(struct topology *t, const struct system *sys)
{
    struct forest f;
    forest_init(&f, sys->natoms);
    join_bonded(&f, sys);
    join_terms(&f, sys);
    int32_t *tree = t->unit_of = xcalloc((size_t)sys->natoms, sizeof *tree);
    t->nunits = forest_number(&f, NULL, tree);
    t->units = xcalloc((size_t)t->nunits, sizeof *t->units);
    t->unit_atoms = xcalloc((size_t)sys->natoms, sizeof *t->unit_atoms);
    for (int i = 0; i < sys->natoms; i++)
        t->units[tree[i]].count++;
    uint32_t at = 0;
    for (int u = 0; u < t->nunits; u++) {
        t->units[u].first = at;
        at += t->units[u].count;
        t->units[u].count = 0;
    }
    for (int i = 0; i < sys->natoms; i++) {
        struct unit *u = &t->units[tree[i]];
        t->unit_atoms[u->first + u->count++] = i;
    }
    forest_close(&f);
}

/* Neighbours of each atom in the forest: list[start[i] .. start[i + 1]). */
static void forest_neighbours(const struct forest *f, int *start, int *list)
{
    for (int e = 0; e < f->nedges; e++)
        for (int k = 0; k < 2; k++)
            start[f->edge[e][k] + 1]++;
    for (int i = 0; i < f->natoms; i++)
        start[i + 1] += start[i];
    int *fill = xcalloc((size_t)f->natoms, sizeof *fill);
    for (int e = 0; e < f->nedges; e++)
        for (int k = 0; k < 2; k++) {
            int i = f->edge[e][k];
            list[start[i] + fill[i]++] = f->edge[e][1 - k];
        }
    free(fill);
}

void topology_whole(const struct topology *t, const struct system *sys, const struct start *from, double (*out)[3])
{
    struct forest f;
    forest_init(&f, sys->natoms);
    join_bonded(&f, sys);
    join_terms(&f, sys);
    size_t n = (size_t)sys->natoms;
    int *start = xcalloc(n + 1, sizeof *start), *list = xcalloc(2 * n, sizeof *list),
        *stack = xcalloc(n, sizeof *stack);
    bool *placed = xcalloc(n, sizeof *placed);
    forest_neighbours(&f, start, list);
    memcpy(out, from->x, n * sizeof *out);
    for (int u = 0; u < t->nunits; u++) {
        int depth = 0;
        stack[depth++] = t->unit_atoms[t->units[u].first];
        placed[stack[0]] = true;
        while (depth) {
            int i = stack[--depth];
            for (int k = start[i]; k < start[i + 1]; k++) {
                int j = list[k];
                if (placed[j])
                    continue;
                double dx[3];
                box_image(out[j], out[i], from->box, dx);
                for (int d = 0; d < 3; d++)
                    out[j][d] = out[i][d] + dx[d];
                placed[j] = true;
                stack[depth++] = j;
            }
        }
    }
    const struct site_table sites = {sys->sites, sys->site_atoms, sys->site_weights, (uint32_t)sys->nsites};
    for (uint32_t i = 0; i < sites.nsites; i++)
        site_place(&sites, &sites.sites[i], out);
    free(start);
    free(list);
    free(stack);
    free(placed);
    forest_close(&f);
}

/* ---- constraints ---- */

static int check_settle(const struct system *sys, const struct settle *s, const int atom[3], const int *water_of,
                        struct err *e)
{
    const struct atom *h = &sys->atoms[atom[1]], *h2 = &sys->atoms[atom[2]];
    if (h->mass[0] != h2->mass[0] || h->mass[1] != h2->mass[1])
        return err_set(e, ERR_TOPOLOGY, "[ settles ]: atoms %d and %d have different masses", atom[1] + 1, atom[2] + 1);
    if (!(s->r_hh > 0 && s->r_hh < 2 * s->r_oh))
        return err_set(e, ERR_TOPOLOGY, "[ settles ]: atom %d: no triangle has sides %g and %g nm", atom[0] + 1,
                       s->r_oh, s->r_hh);
    for (int k = 0; k < 3; k++)
        if (water_of[atom[k]] >= 0)
            return err_set(e, ERR_TOPOLOGY, "[ settles ]: atom %d is in two settles", atom[k] + 1);
    return 0;
}

static int build_waters(struct topology *t, const struct system *sys, int *water_of, struct err *e)
{
    t->waters = xcalloc((size_t)sys->nsettles, sizeof *t->waters);
    for (int i = 0; i < sys->natoms; i++)
        water_of[i] = -1;
    for (int i = 0; i < sys->nsettles; i++) {
        const struct settle *s = &sys->settles[i];
        const int atom[3] = {s->oxygen, s->hydrogen[0], s->hydrogen[1]};
        if (check_settle(sys, s, atom, water_of, e))
            return system_blame(sys, atom, 2, e);
        for (int k = 0; k < 3; k++) {
            water_of[atom[k]] = i;
            t->waters[i].atom[k] = atom[k];
        }
        t->waters[i].r_oh = s->r_oh;
        t->waters[i].r_hh = s->r_hh;
    }
    t->nwaters = sys->nsettles;
    return 0;
}

/* "molecule MOL, atoms 3 (C1) and 4 (EPA): " and what is wrong with their constraint. */
static int bad_distance(const struct system *sys, const int atom[2], struct err *e, const char *what)
{
    const struct atom *a = &sys->atoms[atom[0]], *b = &sys->atoms[atom[1]];
    return err_set(e, ERR_TOPOLOGY, "molecule %s, atoms %d (%s) and %d (%s): %s",
                   sys->kinds[sys->molecules[a->molecule].kind].name, atom[0] + 1, a->name, atom[1] + 1, b->name, what);
}

static int add_distance(struct topology *t, const struct system *sys, const int *water_of, const int atom[2],
                        const double r0[2], struct err *e)
{
    if (!(sys->atoms[atom[0]].mass[0] > 0 && sys->atoms[atom[1]].mass[0] > 0))
        return bad_distance(
            sys, atom, e,
            "a constraint on a virtual site; expected no bond or constraint of the site, or one with an "
            "atom that places the site where constraints hold all such atoms to each other");
    if (water_of[atom[0]] >= 0 || water_of[atom[1]] >= 0)
        return bad_distance(sys, atom, e, "a constraint on an atom of a settle");
    struct fixed_distance *d = &t->distances[t->ndistances++];
    *d = (struct fixed_distance){{atom[0], atom[1]}, {r0[0], r0[1]}};
    if (!(r0[0] > 0 && r0[1] > 0)) {
        char what[80];
        snprintf(what, sizeof what, "a constraint of length %g nm; expected more than 0", r0[0] > 0 ? r0[1] : r0[0]);
        return bad_distance(sys, atom, e, what);
    }
    return 0;
}

/* One inside a settle is dropped, the settle holds it. */
static int constrain(struct topology *t, const struct system *sys, const int *water_of, const int atom[2],
                     const double r0[2], struct err *e)
{
    const int water = water_of[atom[0]];
    if (water >= 0 && water == water_of[atom[1]]) {
        const struct fixed_distance d = {{atom[0], atom[1]}, {r0[0], r0[1]}};
        return fixed_distance_in_water(&d, &t->waters[water], sys, e);
    }
    return add_distance(t, sys, water_of, atom, r0, e) ? system_blame(sys, atom, 2, e) : 0;
}

/* Bonds become constraints or stay. */
static int build_distances(struct topology *t, const struct system *sys, enum constrain how, const int *water_of,
                           const struct constant_terms *constant, struct err *e)
{
    t->distances = xcalloc((size_t)(sys->nbonds + sys->nrare + sys->nconstraints), sizeof *t->distances);
    t->bonds = xcalloc((size_t)(sys->nbonds + sys->nharmonics), sizeof *t->bonds);
    t->rare = xcalloc((size_t)sys->nrare, sizeof *t->rare);
    int rc = 0;
    for (int i = 0; i < sys->nconstraints && !rc; i++)
        if (!constant_bond(constant, sys->constraints[i].atom, true))
            rc = constrain(t, sys, water_of, sys->constraints[i].atom, sys->constraints[i].r0, e);
    for (int i = 0; i < sys->nbonds && !rc; i++) {
        const struct bond *b = &sys->bonds[i];
        const enum bond_fate fate = constant_terms_bond(constant, b->atom);
        if (fate == BOND_CONSTANT)
            continue;
        if (fate == BOND_CONSTRAINED)
            rc = constrain(t, sys, water_of, b->atom, b->r0, e);
        else
            t->bonds[t->nbonds.count++] = *b;
    }
    for (int i = 0; i < sys->nharmonics; i++)
        t->bonds[t->nbonds.count++] = sys->harmonics[i];
    for (int i = 0; i < sys->nrare && !rc; i++) {
        const struct rare_term *r = &sys->rare[i];
        const enum bond_fate fate = constant_terms_rare(constant, r);
        if (fate == BOND_CONSTANT)
            continue;
        if (fate == BOND_CONSTRAINED)
            rc = constrain(t, sys, water_of, r->atom, (const double[2]){r->c[0][0], r->c[1][0]}, e);
        else
            t->rare[t->nrare.count++] = *r;
    }
    return rc ? rc : fixed_distances_once(t->distances, &t->ndistances, sys, e);
}

const struct fixed_distance *topology_stretched(const struct topology *t, const struct settings *set)
{
    for (int i = 0; i < t->ndistances; i++)
        if (fixed_distance_stretches(&t->distances[i], set))
            return &t->distances[i];
    return NULL;
}

/* What a replica takes along into another window must fit the constraints there. */
static int check_exchange(const struct topology *t, const struct system *sys, const struct settings *set, struct err *e)
{
    const struct fixed_distance *d = topology_stretched(t, set);
    const bool switches = set->switching.changes > 0;
    if (!(set->exchange || switches) || !d)
        return 0;
    struct buf text = {0};
    fixed_distance_describe(d, sys, &text);
    err_set(e, ERR_UNSUPPORTED,
            "%s: a constraint whose length depends on lambda; %s one length: expected a bond there, or no %s",
            text.data, switches ? "switches need" : "replicas that exchange windows need",
            switches ? "switches" : "exchange");
    buf_free(&text);
    return -ERR_UNSUPPORTED;
}

/* tree[atom]: its cluster, -1: none */
static void list_cluster_atoms(struct topology *t, const int *tree, int natoms)
{
    for (int i = 0; i < natoms; i++)
        if (tree[i] >= 0)
            t->clusters[tree[i]].natoms++;
    for (int c = 0; c < t->nclusters; c++) {
        t->clusters[c].first_atom = t->ncluster_atoms;
        t->ncluster_atoms += t->clusters[c].natoms;
        t->clusters[c].natoms = 0;
    }
    t->cluster_atoms = xcalloc(t->ncluster_atoms, sizeof *t->cluster_atoms);
    for (int i = 0; i < natoms; i++)
        if (tree[i] >= 0) {
            struct cluster *c = &t->clusters[tree[i]];
            t->cluster_atoms[c->first_atom + c->natoms++] = i;
        }
}

#define STAR_ARM_MOST 0.24 /* nm: single precision has no room for more (engine/cuda/motion/held32.cuh) */

/* As arms of a star are. */
static bool short_enough(const struct fixed_distance *d)
{
    return d->r0[0] < STAR_ARM_MOST && d->r0[1] < STAR_ARM_MOST;
}

/* Whether all distances of a cluster share an atom and are short; then it becomes the first, and the others follow in
 * the distances' order. */
static bool order_star(struct topology *t, const struct cluster *c)
{
    const struct fixed_distance *d = &t->distances[c->first];
    int32_t *atom = &t->cluster_atoms[c->first_atom];
    for (int end = 0; end < 2 && c->count <= STAR_ARMS && c->natoms == c->count + 1; end++) {
        int32_t center = d[0].atom[end];
        uint32_t shared = 0;
        while (shared < c->count && (d[shared].atom[0] == center || d[shared].atom[1] == center) &&
               short_enough(&d[shared]))
            shared++;
        if (shared < c->count)
            continue;
        atom[0] = center;
        for (uint32_t k = 0; k < c->count; k++)
            atom[k + 1] = d[k].atom[d[k].atom[0] == center];
        return true;
    }
    return false;
}

static void build_clusters(struct topology *t, int natoms)
{
    struct forest f;
    forest_init(&f, natoms);
    bool *member = xcalloc((size_t)natoms, sizeof *member);
    int *tree = xcalloc((size_t)natoms, sizeof *tree);
    for (int i = 0; i < t->ndistances; i++) {
        forest_join(&f, t->distances[i].atom[0], t->distances[i].atom[1]);
        member[t->distances[i].atom[0]] = member[t->distances[i].atom[1]] = true;
    }
    t->nclusters = forest_number(&f, member, tree);
    t->clusters = xcalloc((size_t)t->nclusters, sizeof *t->clusters);
    for (int i = 0; i < t->ndistances; i++)
        t->clusters[tree[t->distances[i].atom[0]]].count++;
    uint32_t at = 0;
    for (int c = 0; c < t->nclusters; c++) {
        t->clusters[c].first = at;
        at += t->clusters[c].count;
        t->clusters[c].count = 0;
    }
    struct fixed_distance *sorted = xcalloc((size_t)t->ndistances, sizeof *sorted);
    for (int i = 0; i < t->ndistances; i++) {
        struct cluster *c = &t->clusters[tree[t->distances[i].atom[0]]];
        sorted[c->first + c->count++] = t->distances[i];
    }
    free(t->distances);
    t->distances = sorted;
    list_cluster_atoms(t, tree, natoms);
    for (int c = 0; c < t->nclusters; c++)
        t->clusters[c].star = order_star(t, &t->clusters[c]);
    free(member);
    free(tree);
    forest_close(&f);
}

/* Atoms that no constraint touches, and that move by themselves. */
static void build_lone(struct topology *t, const struct system *sys, const int *water_of)
{
    const int natoms = sys->natoms;
    bool *held = xcalloc((size_t)natoms, sizeof *held);
    for (int i = 0; i < natoms; i++)
        held[i] = water_of[i] >= 0;
    for (int i = 0; i < t->ndistances; i++)
        held[t->distances[i].atom[0]] = held[t->distances[i].atom[1]] = true;
    for (int i = 0; i < sys->nsites; i++)
        held[sys->sites[i].atom] = true;
    t->lone = xcalloc((size_t)natoms, sizeof *t->lone);
    for (int i = 0; i < natoms; i++)
        if (!held[i])
            t->lone[t->nlone++] = i;
    free(held);
}

int topology_build(struct topology *t, const struct system *sys, const struct settings *set, struct err *e)
{
    *t = (struct topology){0};
    build_units(t, sys);
    int *water_of = xcalloc((size_t)sys->natoms, sizeof *water_of);
    struct constant_terms constant;
    constant_terms_init(&constant, sys, set->constrain);
    int rc = build_waters(t, sys, water_of, e);
    if (rc == 0)
        rc = build_distances(t, sys, set->constrain, water_of, &constant, e);
    if (rc == 0)
        rc = check_exchange(t, sys, set, e);
    if (rc == 0) {
        build_clusters(t, sys->natoms);
        for (int c = 0; c < t->nclusters && rc == 0; c++)
            rc = fixed_distances_independent(&t->distances[t->clusters[c].first], t->clusters[c].count,
                                             t->clusters[c].natoms, sys, e);
        build_lone(t, sys, water_of);
        topology_terms(t, sys, set, &constant);
    }
    constant_terms_close(&constant);
    free(water_of);
    return rc;
}

void topology_close(struct topology *t)
{
    free(t->units);
    free(t->unit_atoms);
    free(t->unit_of);
    free(t->waters);
    free(t->distances);
    free(t->clusters);
    free(t->cluster_atoms);
    free(t->lone);
    free(t->bonds);
    free(t->angles);
    free(t->dihedrals);
    free(t->rb_dihedrals);
    free(t->impropers);
    free(t->pairs14);
    free(t->soft14);
    free(t->position_restraints);
    free(t->rare);
    free(t->centers);
    free(t->cmaps);
    free(t->cmap_points);
    *t = (struct topology){0};
}
