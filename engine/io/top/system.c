/* SPDX-License-Identifier: Apache-2.0
 *
 * From molecule types and their counts to the system: every molecule written out, units of the engine.
 */
#include "engine/io/top/top.h"
#include "engine/prepare/cmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Angles and dihedrals without a force constant (tools write many) have no energy in any state and are left out. */
static bool vanishes(enum top_kind kind, const struct top_term *t)
{
    bool zero[TOP_PARAMS];
    for (int i = 0; i < TOP_PARAMS; i++)
        zero[i] = t->c[0][i] == 0 && t->c[1][i] == 0;
    switch (kind) {
    case KIND_ANGLE:
    case KIND_DIHEDRAL:
    case KIND_PERIODIC_IMPROPER:
    case KIND_IMPROPER:
        return zero[1];
    case KIND_UREY_BRADLEY:
        return zero[1] && zero[3];
    case KIND_RB:
    case KIND_FOURIER:
        return zero[0] && zero[1] && zero[2] && zero[3] && zero[4] && zero[5];
    case KIND_BOND:
    case KIND_CONNECTION:
    case KIND_PAIR:
    case KIND_PAIR_OWN:
    case KIND_PAIR_NB:
    case KIND_CONSTRAINT:
    case KIND_CONSTRAINT_NO_BOND:
    case KIND_SETTLE:
    case KIND_POSITION_RESTRAINT:
    case KIND_HARMONIC:
    case KIND_CMAP:
    case KIND_RARE:
    case KIND_COUNT:
        return false;
    }
    return false;
}

static void drop_vanishing(struct top_molecule *m)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct top_terms *list = &m->terms[kind];
        int n = 0;
        for (int i = 0; i < list->n; i++)
            if (!vanishes((enum top_kind)kind, &list->items[i]))
                list->items[n++] = list->items[i];
        list->n = n;
    }
}

/* Numbers of everything over all molecules, checked against the size limits. */
struct totals {
    int64_t terms[KIND_COUNT], exclusions, molecules, sites, site_atoms;
};

static int count_all(const struct top *t, struct totals *n, struct err *e)
{
    for (int i = 0; i < t->ncounts; i++) {
        const struct top_molecule *m = &t->molecules[t->counts[i].kind];
        int64_t copies = t->counts[i].count;
        n->molecules += copies;
        n->sites += copies * m->nsites;
        n->site_atoms += copies * m->nsite_atoms;
        n->exclusions += copies * m->exclusion_start[m->natoms];
        for (int k = 0; k < KIND_COUNT; k++)
            n->terms[k] += copies * m->terms[k].n;
    }
    for (int k = 0; k < KIND_COUNT; k++)
        n->terms[k] += t->between.terms[k].n;
    if (n->site_atoms > TOP_TERMS_MAX)
        return err_set(e, ERR_UNSUPPORTED, "more than %d atoms that place virtual sites", TOP_TERMS_MAX);
    if (n->exclusions > TOP_EXCLUSIONS_MAX)
        return err_set(e, ERR_UNSUPPORTED, "more than %d exclusions", TOP_EXCLUSIONS_MAX);
    for (int k = 0; k < KIND_COUNT; k++)
        if (n->terms[k] > TOP_TERMS_MAX)
            return err_set(e, ERR_UNSUPPORTED, "more than %d lines in [ %s ] over all molecules", TOP_TERMS_MAX,
                           top_kinds[k].section);
    return 0;
}

static void *array(int64_t n, size_t size)
{
    return n ? xcalloc((size_t)n, size) : NULL;
}

static void allocate_lists(const struct top *t, struct system *s, const struct totals *n)
{
    const int64_t *k = n->terms;
    int64_t rare = 0;
    for (int i = 0; i < RARE_KINDS; i++)
        rare += k[KIND_RARE + i];
    s->rare = array(rare, sizeof *s->rare);
    s->cmaps = array(k[KIND_CMAP], sizeof *s->cmaps);
    s->sites = array(n->sites, sizeof *s->sites);
    s->site_atoms = array(n->site_atoms, sizeof *s->site_atoms);
    s->site_weights = array(n->site_atoms, sizeof *s->site_weights);
    s->harmonics = array(k[KIND_HARMONIC], sizeof *s->harmonics);
    s->atoms = array(t->natoms, sizeof *s->atoms);
    s->molecules = array(n->molecules, sizeof *s->molecules);
    s->exclusion_start = xcalloc((size_t)t->natoms + 1, sizeof *s->exclusion_start);
    s->exclusion = array(n->exclusions, sizeof *s->exclusion);
    s->bonds = array(k[KIND_BOND], sizeof *s->bonds);
    s->connections = array(k[KIND_CONNECTION], sizeof *s->connections);
    s->angles = array(k[KIND_ANGLE] + k[KIND_UREY_BRADLEY], sizeof *s->angles);
    s->dihedrals = array(k[KIND_DIHEDRAL] + k[KIND_PERIODIC_IMPROPER], sizeof *s->dihedrals);
    s->rb_dihedrals = array(k[KIND_RB] + k[KIND_FOURIER], sizeof *s->rb_dihedrals);
    s->impropers = array(k[KIND_IMPROPER], sizeof *s->impropers);
    s->pairs14 = array(k[KIND_PAIR] + k[KIND_PAIR_OWN], sizeof *s->pairs14);
    s->pairs_nb = array(k[KIND_PAIR_NB], sizeof *s->pairs_nb);
    s->constraints = array(k[KIND_CONSTRAINT] + k[KIND_CONSTRAINT_NO_BOND], sizeof *s->constraints);
    s->settles = array(k[KIND_SETTLE], sizeof *s->settles);
    s->position_restraints = array(k[KIND_POSITION_RESTRAINT], sizeof *s->position_restraints);
}

/* Whether two types differ in name alone: one Lennard-Jones with every other type, one atomic number. */
static bool are_alike(const struct top *t, int a, int b)
{
    bool alike =
        t->types[a].number == t->types[b].number && !memcmp(t->types[a].c, t->types[b].c, sizeof t->types[a].c);
    for (int i = 0; i < t->ntypes && alike && t->nnonbonded; i++) {
        double c[2], d[2];
        top_lj_params(t, a, i, c);
        top_lj_params(t, b, i, d);
        alike = c[0] == d[0] && c[1] == d[1];
    }
    return alike;
}

/* An atom does not change where its types of A and B are alike, as in grompp: or its pairs would have a soft core. */
static void join_alike(const struct top *t, struct top_molecule *m)
{
    struct hash_table asked = {0};
    for (int i = 0; i < m->natoms; i++) {
        int *type = m->atoms[i].type;
        if (type[0] == type[1])
            continue;
        int answer = hash_table_get(&asked, type, sizeof m->atoms[i].type);
        if (answer < 0)
            answer = hash_table_add(&asked, type, sizeof m->atoms[i].type, are_alike(t, type[0], type[1]));
        if (answer)
            type[1] = type[0];
    }
    hash_table_free(&asked);
}

/* Which type replaces each: types of the same values that no [ nonbond_params ] names are one. Force fields that give
 * every atom a type of its own have thousands of them and few Lennard-Jones. */
static void merge_types(const struct top *t, int *stands)
{
    struct hash_table known = {0};
    for (int i = 0; i < t->ntypes; i++) {
        const struct top_atom_type *type = &t->types[i];
        const double key[3] = {type->c[0], type->c[1], type->number};
        stands[i] = type->paired ? i : hash_table_add(&known, key, sizeof key, i);
    }
    hash_table_free(&known);
}

/* Numbers those that are in use, where another replaces each; returns how many there are. */
static int number_used(const struct top *t, const int *stands, int *number)
{
    int n = 0;
    for (int i = 0; i < t->ntypes; i++)
        number[i] = -1;
    for (int i = 0; i < t->ncounts; i++) {
        const struct top_molecule *m = &t->molecules[t->counts[i].kind];
        for (int a = 0; a < m->natoms && t->counts[i].count; a++)
            number[stands[m->atoms[a].type[0]]] = number[stands[m->atoms[a].type[1]]] = 0;
    }
    for (int i = 0; i < t->ntypes; i++)
        if (number[i] >= 0)
            number[i] = n++;
    return n;
}

/* Only the types that atoms of the system have, in A or B, go into the system; of too many those that are alike become
 * one. number[type]: or -1; stands[type]: the type whose values it has. */
static int number_types(const struct top *t, struct system *s, int *number, int *stands, struct err *e)
{
    for (int i = 0; i < t->ntypes; i++)
        stands[i] = i;
    s->ntypes = number_used(t, stands, number);
    if (s->ntypes > SYSTEM_TYPES_MAX) {
        merge_types(t, stands);
        s->ntypes = number_used(t, stands, number);
    }
    if (s->ntypes > SYSTEM_TYPES_MAX)
        return err_set(e, ERR_UNSUPPORTED, "%d atom types of different Lennard-Jones are in use, at most %d can be",
                       s->ntypes, SYSTEM_TYPES_MAX);
    return 0;
}

static int make_types(const struct top *t, struct system *s, const int *number, struct err *e)
{
    size_t n = (size_t)s->ntypes;
    s->lj = xcalloc(n * n, sizeof *s->lj);
    s->type_names = xcalloc(n, sizeof *s->type_names);
    s->type_numbers = xcalloc(n, sizeof *s->type_numbers);
    for (int i = 0; i < t->ntypes; i++) {
        if (number[i] < 0)
            continue;
        memcpy(s->type_names[number[i]], t->types[i].name, sizeof t->types[i].name);
        s->type_numbers[number[i]] = t->types[i].number;
        for (int j = 0; j < t->ntypes; j++) {
            double c[2];
            if (number[j] < 0)
                continue;
            top_lj_params(t, i, j, c);
            struct lj lj = top_lj(t, c);
            if (!isfinite(lj.c6) || !isfinite(lj.c12))
                return err_set(e, ERR_TOPOLOGY, "[ atomtypes ]: %s and %s combine to no number", t->types[i].name,
                               t->types[j].name);
            s->lj[(size_t)number[i] * n + (size_t)number[j]] = lj;
        }
    }
    return 0;
}

/* The grids of the types in use, one behind the other. */
static int place_cmaps(const struct top *t, struct system *s, struct err *e)
{
    int *first = xcalloc((size_t)t->ncmaps + 1, sizeof *first);
    bool *used = xcalloc((size_t)t->ncmaps + 1, sizeof *used);
    int64_t all = 0;
    for (int i = 0; i < s->ncmaps; i++)
        used[s->cmaps[i].first] = true;
    for (int i = 0; i < t->ncmaps; i++) {
        first[i] = (int)all;
        all += used[i] ? t->cmaps[i].side * t->cmaps[i].side : 0;
    }
    if (all <= TOP_CMAP_POINTS_MAX) {
        s->ncmap_points = (int)all;
        s->cmap_points = array(all, sizeof *s->cmap_points);
        for (int i = 0; i < t->ncmaps; i++)
            if (used[i])
                cmap_points_make(t->cmaps[i].values, t->cmaps[i].side, s->cmap_points + first[i]);
        for (int i = 0; i < s->ncmaps; i++) {
            struct cmap *c = &s->cmaps[i];
            c->side = t->cmaps[c->first].side;
            c->first = first[c->first];
        }
    }
    free(first);
    free(used);
    return all <= TOP_CMAP_POINTS_MAX
               ? 0
               : err_set(e, ERR_UNSUPPORTED, "[ cmaptypes ]: more than %d points in use", TOP_CMAP_POINTS_MAX);
}

/* Virtual sites of a molecule that begins at `first`. */
static void put_sites(struct system *s, const struct top_molecule *m, int first)
{
    for (int i = 0; i < m->nsites; i++) {
        struct virtual_site *v = &s->sites[s->nsites++];
        *v = m->sites[i];
        v->atom += first;
        v->first += (uint32_t)s->nsite_atoms;
    }
    for (int i = 0; i < m->nsite_atoms; i++) {
        s->site_atoms[s->nsite_atoms] = m->site_atoms[i] + first;
        s->site_weights[s->nsite_atoms++] = m->site_weights[i];
    }
}

static void add_molecule(const struct top *t, struct system *s, int kind, const int *number)
{
    const struct top_molecule *m = &t->molecules[kind];
    int first = s->natoms, before = s->exclusion_start[first];
    for (int i = 0; i < m->natoms; i++) {
        const struct top_atom *from = &m->atoms[i];
        struct atom *a = &s->atoms[s->natoms++];
        for (int k = 0; k < 2; k++) {
            a->type[k] = number[from->type[k]];
            a->charge[k] = from->charge[k];
            a->mass[k] = from->mass[k];
        }
        a->molecule = s->nmolecules;
        a->residue = from->residue;
        memcpy(a->name, from->name, sizeof a->name);
        memcpy(a->resname, from->resname, sizeof a->resname);
        s->exclusion_start[first + i + 1] = before + m->exclusion_start[i + 1];
    }
    for (int i = 0; i < m->exclusion_start[m->natoms]; i++)
        s->exclusion[before + i] = m->exclusion[i] + first;
    top_put_terms(t, s, m, first);
    put_sites(s, m, first);
    s->molecules[s->nmolecules++] = (struct molecule){.first = first, .count = m->natoms, .kind = kind};
}

/* What follows from all lines of a molecule type. */
static int complete(const struct top *t, struct top_molecule *m, struct err *e)
{
    join_alike(t, m);
    int rc = top_check_sites(m, e);
    if (!rc)
        rc = top_exclude(m, e);
    if (rc)
        return err_prefix(e, "%s:%d", m->at.file, m->at.line);
    rc = top_derive_sites(t, m, e);
    drop_vanishing(m);
    return rc;
}

/* number[type]: its number in the system. */
static int write_out(const struct top *t, struct system *s, const int *number, const struct totals *n, struct err *e)
{
    memcpy(s->name, t->title, sizeof s->name);
    s->kinds = xcalloc((size_t)t->nmolecules, sizeof *s->kinds);
    s->nkinds = t->nmolecules;
    for (int i = 0; i < t->nmolecules; i++)
        memcpy(s->kinds[i].name, t->molecules[i].name, sizeof s->kinds[i].name);
    top_put_lines(t, s);
    allocate_lists(t, s, n);
    for (int i = 0; i < t->ncounts; i++)
        for (int copy = 0; copy < t->counts[i].count; copy++)
            add_molecule(t, s, t->counts[i].kind, number);
    top_put_terms(t, s, &t->between, 0);
    return place_cmaps(t, s, e);
}

int top_expand(struct top *t, struct system *s, struct err *e)
{
    struct totals n = {0};
    for (int i = 0; i < t->nmolecules; i++) {
        int rc = complete(t, &t->molecules[i], e);
        if (rc)
            return rc;
    }
    drop_vanishing(&t->between);
    int *number = xcalloc((size_t)t->ntypes, sizeof *number), *stands = xcalloc((size_t)t->ntypes, sizeof *stands);
    int rc = count_all(t, &n, e);
    if (!rc)
        rc = number_types(t, s, number, stands, e);
    if (!rc)
        rc = make_types(t, s, number, e);
    for (int i = 0; i < t->ntypes && !rc; i++)
        number[i] = number[stands[i]];
    if (!rc)
        rc = write_out(t, s, number, &n, e);
    free(number);
    free(stands);
    return rc ? err_prefix(e, "%s", t->pp.names[0]) : 0;
}
