/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/trios.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/cuda/nonbonded_tables.h"
#include "engine/math/box.h"

#define CLOSE 0.3 /* nm: atoms of one trio are no farther from its first at the start, or lists grow long */

static bool no_lj(const struct alchemy_plan *plan, int32_t a, int32_t b)
{
    const struct lj *lj = &plan->lj[a * plan->ntypes + b];
    return lj->c6 == 0 && lj->c12 == 0;
}

static bool is_plain(const struct alchemy_plan *plan, int32_t i)
{
    return plan->change[i] == 0 && plan->type[0][i] == plan->type[1][i];
}

static bool excludes(const struct alchemy_plan *plan, int32_t i, int32_t j)
{
    for (int32_t k = plan->exclusion_start[i]; k < plan->exclusion_start[i + 1]; k++)
        if (plan->exclusion[k] == j)
            return true;
    return false;
}

/* Can this water be computed as a water: its atoms interact with everything but each other, the hydrogens are alike and bare. */
static bool is_water(const struct alchemy_plan *plan, const struct rigid_water *w)
{
    int32_t o = w->atom[0], h = w->atom[1], to = plan->type[0][o], th = plan->type[0][h];
    for (int k = 0; k < 3; k++) {
        int32_t i = w->atom[k];
        if (!is_plain(plan, i) || plan->exclusion_start[i + 1] - plan->exclusion_start[i] != 2)
            return false;
        for (int l = 0; l < 3; l++)
            if (l != k && !excludes(plan, i, w->atom[l]))
                return false;
    }
    return plan->charge[w->atom[2]] == plan->charge[h] && plan->type[0][w->atom[2]] == th && no_lj(plan, to, th) &&
           no_lj(plan, th, th);
}

static bool alike(const struct alchemy_plan *plan, const struct rigid_water *a, const struct rigid_water *b)
{
    for (int k = 0; k < 2; k++)
        if (plan->charge[a->atom[k]] != plan->charge[b->atom[k]] ||
            plan->type[0][a->atom[k]] != plan->type[0][b->atom[k]])
            return false;
    return true;
}

static double distance2(const struct system *sys, int32_t i, int32_t j)
{
    double d[3];
    box_image(sys->x[i], sys->x[j], sys->box, d);
    return vec_dot(d, d);
}

/* A trio of atom i alone or, if several go together, of it and the two nearest of its excluded partners (bonded neighbours and theirs) that have no trio yet. */
static void gather(const struct system *sys, const struct alchemy_plan *plan, int32_t i, bool together, bool *taken,
                   int32_t trio[TRIO])
{
    trio[0] = i;
    taken[i] = true;
    for (int l = 1; l < TRIO; l++) {
        double least = CLOSE * CLOSE;
        trio[l] = ~i;
        for (int32_t k = plan->exclusion_start[i]; together && k < plan->exclusion_start[i + 1]; k++) {
            int32_t j = plan->exclusion[k];
            if (taken[j] || distance2(sys, i, j) >= least)
                continue;
            least = distance2(sys, i, j);
            trio[l] = j;
        }
        if (trio[l] >= 0)
            taken[trio[l]] = true;
    }
}

int32_t *trios_make(const struct system *sys, const struct topology *t, const struct alchemy_plan *plan, bool together,
                    int32_t *nwaters, int32_t *ntrios)
{
    int32_t *atom = xcalloc((size_t)TRIO * (size_t)plan->nplain + (size_t)plan->nperturbed + 1, sizeof *atom), n = 0;
    bool *taken = xcalloc((size_t)plan->natoms, sizeof *taken);
    const struct rigid_water *first = NULL;
    for (int k = 0; together && k < t->nwaters; k++) {
        const struct rigid_water *w = &t->waters[k];
        if (!is_water(plan, w) || (first && !alike(plan, first, w)))
            continue;
        first = first ? first : w;
        for (int l = 0; l < TRIO; l++) {
            atom[TRIO * n + l] = w->atom[l];
            taken[w->atom[l]] = true;
        }
        n++;
    }
    *nwaters = n;
    for (int k = 0; k < plan->nperturbed; k++)
        taken[plan->perturbed[k]] = true;
    for (int k = 0; k < plan->nplain; k++)
        if (!taken[plan->plain[k]])
            gather(sys, plan, plan->plain[k], together, taken, atom + TRIO * n++);
    *ntrios = n;
    for (int k = 0; k < plan->nperturbed; k++)
        atom[TRIO * n + k] = plan->perturbed[k];
    free(taken);
    return atom;
}
