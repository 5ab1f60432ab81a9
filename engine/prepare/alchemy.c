/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/alchemy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/math/search.h"
#include "engine/prepare/ewald.h"

bool alchemy_moves(const struct alchemy_settings *set, enum lambda component)
{
    for (int w = 1; w < set->nwindows; w++)
        if (set->lambda[w][component] != set->lambda[0][component])
            return true;
    return false;
}

const struct decoupled *alchemy_decoupled(const struct system *sys, const struct alchemy_settings *set, int atom)
{
    const struct molecule *m = &sys->molecules[sys->atoms[atom].molecule];
    for (int k = 0; k < set->ndecouple && set->kind == ALCHEMY_DECOUPLE; k++)
        if (strcmp(sys->kinds[m->kind].name, set->decouple[k].molecule) == 0)
            return &set->decouple[k];
    return NULL;
}

void alchemy_charges(const struct system *sys, const struct alchemy_settings *set, int atom, double charge[2])
{
    const struct decoupled *gone = alchemy_decoupled(sys, set, atom);
    for (int s = 0; s < 2; s++) {
        const int state = set->kind == ALCHEMY_B_STATES ? s : 0;
        charge[s] = gone && !(gone->on[s] & COUPLED_CHARGE) ? 0 : sys->atoms[atom].charge[state];
    }
}

struct soft_rule soft_rule_of(const struct settings *set, bool listed)
{
    const struct soft_core *core = &set->alchemy.soft_core;
    bool field = listed && set->nonbonded.coulomb_method == COULOMB_REACTION_FIELD;
    return (struct soft_rule){.alpha = core->alpha,
                              .sigma6 = pow(core->sigma, 6),
                              .power = core->power,
                              .coulomb = core->coulomb,
                              .function = field && core->function == SOFT_BEUTLER ? SOFT_BEUTLER_FIELD : core->function,
                              .field = field ? reaction_field_of(&set->nonbonded).k : 0,
                              .alpha_coulomb = core->alpha_coulomb,
                              .farthest6 = pow(set->nonbonded.coulomb_cutoff, 6)};
}

/* What changes: a charge, a type, or, as in GROMACS, a mass alone, for then a soft core acts on the atom's pairs too.
 */
static bool changes(const struct alchemy_plan *p, const struct alchemy_settings *set, const struct atom *a, int i)
{
    return p->change[i] != 0 || p->type[0][i] != p->type[1][i] ||
           (set->kind == ALCHEMY_B_STATES && a->mass[0] != a->mass[1]);
}

static void states(struct alchemy_plan *p, const struct system *sys, const struct alchemy_settings *set)
{
    int extra = set->kind == ALCHEMY_DECOUPLE, n = sys->ntypes + extra;
    p->ntypes = n;
    p->lj = xcalloc((size_t)n * (size_t)n, sizeof *p->lj);
    for (int i = 0; i < sys->ntypes; i++)
        memcpy(p->lj + i * n, sys->lj + i * sys->ntypes, (size_t)sys->ntypes * sizeof *p->lj);
    for (int i = 0; i < sys->natoms; i++) {
        const struct atom *a = &sys->atoms[i];
        const struct decoupled *gone = alchemy_decoupled(sys, set, i);
        double charge[2];
        alchemy_charges(sys, set, i, charge);
        for (int s = 0; s < 2; s++) {
            int state = set->kind == ALCHEMY_B_STATES ? s : 0;
            p->type[s][i] = gone && !(gone->on[s] & COUPLED_VDW) ? n - 1 : a->type[state];
        }
        p->charge[i] = charge[0];
        p->change[i] = charge[1] - charge[0];
        if (changes(p, set, a, i))
            p->perturbed[p->nperturbed++] = i;
        else
            p->plain[p->nplain++] = i;
    }
}

/* Exclusions of the topology; in molecules kept whole every inner pair, those that were none becoming "always" pairs.
 */
static void exclusions(struct alchemy_plan *p, const struct system *sys, const struct alchemy_settings *set,
                       const int32_t *unit)
{
    size_t used = 0, cap = (size_t)sys->exclusion_start[sys->natoms] + 64;
    p->exclusion = xcalloc(cap, sizeof *p->exclusion);
    for (int i = 0; i < sys->natoms; i++) {
        int from = sys->exclusion_start[i], to = sys->exclusion_start[i + 1];
        const struct molecule *m = &sys->molecules[sys->atoms[i].molecule];
        const struct decoupled *gone = alchemy_decoupled(sys, set, i);
        bool keep = gone && !gone->intramolecular_decouple;
        size_t want = (size_t)(to - from) + (keep ? (size_t)m->count : 0);
        p->exclusion_start[i] = (int32_t)used;
        if (used + want > cap) {
            cap = 2 * (used + want);
            p->exclusion = xrealloc(p->exclusion, cap, sizeof *p->exclusion);
        }
        if (!keep)
            for (int k = from; k < to; k++)
                p->exclusion[used++] = sys->exclusion[k];
        for (int j = m->first; keep && j < m->first + m->count; j++) {
            if (j == i)
                continue;
            p->exclusion[used++] = j;
            if (j < i || search_sorted(sys->exclusion, from, to, j))
                continue;
            const struct atom *a = &sys->atoms[i], *b = &sys->atoms[j];
            const struct lj *lj = &sys->lj[a->type[0] * sys->ntypes + b->type[0]];
            p->always = xrealloc(p->always, (size_t)p->nalways + 1, sizeof *p->always);
            p->always[p->nalways++] = (struct nb_always){
                {i, j}, unit[i] == unit[j], 0, lj->c6, lj->c12, UNIT_COULOMB * a->charge[0] * b->charge[0]};
        }
    }
    p->exclusion_start[sys->natoms] = (int32_t)used;
}

enum { IN_A = 1, IN_B = 2 };

/* The states in which an atom has a charge. */
static int charged_in(const struct alchemy_plan *p, int i)
{
    return (p->charge[i] != 0 ? IN_A : 0) | (p->charge[i] + p->change[i] != 0 ? IN_B : 0);
}

/* One atom is charged in A alone, the other in B alone. Scaled charges would have the two attract each other between
 * the states, where nothing keeps them apart, so their Coulomb energy is left out at every lambda. */
static bool of_other_ends(const struct alchemy_plan *p, int i, int j)
{
    const int first = charged_in(p, i), second = charged_in(p, j);
    return (first == IN_A && second == IN_B) || (first == IN_B && second == IN_A);
}

static void excluded_pairs(struct alchemy_plan *p, const int32_t *unit, bool field)
{
    size_t n = (size_t)p->exclusion_start[p->natoms] / 2 + 1;
    p->excluded = xcalloc(n, sizeof *p->excluded);
    p->excluded_perturbed = xcalloc(n, sizeof *p->excluded);
    for (int i = 0; i < p->natoms; i++)
        for (int k = p->exclusion_start[i]; k < p->exclusion_start[i + 1]; k++) {
            int j = p->exclusion[k];
            struct nb_excluded pair = {{i, j}, unit[i] == unit[j], 0};
            if (j <= i || (field && of_other_ends(p, i, j)))
                continue;
            if (p->change[i] != 0 || p->change[j] != 0)
                p->excluded_perturbed[p->nexcluded_perturbed++] = pair;
            else if (p->charge[i] != 0 && p->charge[j] != 0)
                p->excluded[p->nexcluded++] = pair;
        }
}

/* The mesh's share of pairs of other ends is taken off as that of excluded pairs is, between nearest images as lists
 * have them; within the cut-off soft_pair_make leaves them out. */
static void pairs_of_other_ends(struct alchemy_plan *p)
{
    size_t cap = 0;
    for (int k = 0; k < p->nperturbed; k++)
        for (int m = 0; m < p->nperturbed && charged_in(p, p->perturbed[k]) == IN_A; m++) {
            const int i = p->perturbed[k], j = p->perturbed[m];
            if (charged_in(p, j) != IN_B ||
                search_sorted(p->exclusion, p->exclusion_start[i], p->exclusion_start[i + 1], j))
                continue;
            const size_t n = (size_t)p->nexcluded_perturbed;
            if (n >= cap)
                p->excluded_perturbed =
                    xrealloc(p->excluded_perturbed, cap = 2 * n + 64, sizeof *p->excluded_perturbed);
            p->excluded_perturbed[p->nexcluded_perturbed++] = (struct nb_excluded){{i, j}, 0, 0};
        }
}

static void given_pairs(struct alchemy_plan *p, const struct system *sys, const int32_t *unit)
{
    p->always = xrealloc(p->always, (size_t)(p->nalways + sys->npairs_nb) + 1, sizeof *p->always);
    for (int k = 0; k < sys->npairs_nb; k++) {
        const struct pair_nb *nb = &sys->pairs_nb[k];
        p->always[p->nalways++] = (struct nb_always){
            {nb->atom[0], nb->atom[1]}, unit[nb->atom[0]] == unit[nb->atom[1]], 0, nb->lj.c6, nb->lj.c12,
            UNIT_COULOMB * nb->qq};
    }
}

static bool has_molecule(const struct system *sys, const char *kind)
{
    for (int m = 0; m < sys->nmolecules; m++)
        if (strcmp(sys->kinds[sys->molecules[m].kind].name, kind) == 0)
            return true;
    return false;
}

/* A dielectric around charges is less charge to everything that they act on, but for what observes them. */
static void screen(struct alchemy_plan *p, double screening)
{
    const double root = sqrt(screening);
    for (int i = 0; i < p->natoms; i++) {
        p->charge[i] *= root;
        p->change[i] *= root;
    }
    for (int k = 0; k < p->nalways; k++)
        p->always[k].qq *= screening;
}

int alchemy_plan_make(struct alchemy_plan *p, const struct system *sys, const struct settings *settings,
                      const int32_t *unit, struct err *e)
{
    const struct alchemy_settings *set = &settings->alchemy;
    const bool field = settings->nonbonded.coulomb_method == COULOMB_REACTION_FIELD;
    size_t n = (size_t)sys->natoms;
    *p = (struct alchemy_plan){.natoms = sys->natoms};
    p->charge = xcalloc(n, sizeof *p->charge);
    p->change = xcalloc(n, sizeof *p->change);
    p->type[0] = xcalloc(n, sizeof *p->type[0]);
    p->type[1] = xcalloc(n, sizeof *p->type[1]);
    p->plain = xcalloc(n, sizeof *p->plain);
    p->perturbed = xcalloc(n, sizeof *p->perturbed);
    p->exclusion_start = xcalloc(n + 1, sizeof *p->exclusion_start);
    states(p, sys, set);
    exclusions(p, sys, set, unit);
    excluded_pairs(p, unit, field);
    if (!field)
        pairs_of_other_ends(p);
    given_pairs(p, sys, unit);
    screen(p, coulomb_screening(&settings->nonbonded));
    for (int k = 0; k < set->ndecouple && set->kind == ALCHEMY_DECOUPLE; k++)
        if (!has_molecule(sys, set->decouple[k].molecule)) {
            alchemy_plan_close(p);
            return err_set(e, ERR_SPEC, "alchemy: decouple: the topology has no molecule of type '%s'",
                           set->decouple[k].molecule);
        }
    return 0;
}

bool alchemy_excludes(const struct alchemy_plan *p, int32_t i, int32_t j)
{
    for (int32_t k = p->exclusion_start[i]; k < p->exclusion_start[i + 1]; k++)
        if (p->exclusion[k] == j)
            return true;
    return false;
}

void alchemy_plan_close(struct alchemy_plan *p)
{
    free(p->lj);
    free(p->charge);
    free(p->change);
    free(p->type[0]);
    free(p->type[1]);
    free(p->plain);
    free(p->perturbed);
    free(p->exclusion_start);
    free(p->exclusion);
    free(p->excluded);
    free(p->excluded_perturbed);
    free(p->always);
    *p = (struct alchemy_plan){0};
}
