/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/lists/trios.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/cuda/lists/layout.h"
#include "engine/math/box.h"

#define CLOSE 0.22  /* nm: atoms of one trio are no farther from its first at the start, or lists grow long */
#define LIGHT 4.1   /* u: hydrogens, also heavy ones */
#define LONELY 0.15 /* nm: that a trio may be wider by to take an atom that has no other to go with */

enum { PARTNERS = 24 }; /* of one atom, at most; further ones are not looked at */

static bool no_lj(const struct alchemy_plan *plan, int32_t a, int32_t b)
{
    const struct lj *lj = &plan->lj[a * plan->ntypes + b];
    return lj->c6 == 0 && lj->c12 == 0;
}

static bool is_plain(const struct alchemy_plan *plan, int32_t i)
{
    return plan->change[i] == 0 && plan->type[0][i] == plan->type[1][i];
}

/* Can this water be computed as a water: its atoms interact with everything but each other, the hydrogens are alike and
 * bare. */
static bool is_water(const struct alchemy_plan *plan, const struct rigid_water *w)
{
    int32_t o = w->atom[0], h = w->atom[1], to = plan->type[0][o], th = plan->type[0][h];
    for (int k = 0; k < 3; k++) {
        int32_t i = w->atom[k];
        if (!is_plain(plan, i) || plan->exclusion_start[i + 1] - plan->exclusion_start[i] != 2)
            return false;
        for (int l = 0; l < 3; l++)
            if (l != k && !alchemy_excludes(plan, i, w->atom[l]))
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

/* ---- atoms that are no rigid waters ---- */

/* Atoms that have yet to come into a trio, in queues by how many others each could share one with. An atom is in
 * the queues of all counts that it has had; entries out of date are passed over. */
struct gathering {
    const struct system *sys;
    const struct alchemy_plan *plan;
    bool *taken;
    int32_t *queued, *next, nqueued; /* atom, and the entry after this; -1: none */
    int32_t head[PARTNERS + 1];
};

/* Those of an atom's excluded partners that it could share a trio with: bonded neighbours, and theirs if they are
 * near. At most PARTNERS. */
static int partners_of(const struct gathering *g, int32_t i, int32_t partner[PARTNERS])
{
    const struct alchemy_plan *plan = g->plan;
    int n = 0;
    for (int32_t k = plan->exclusion_start[i]; k < plan->exclusion_start[i + 1] && n < PARTNERS; k++) {
        int32_t j = plan->exclusion[k];
        if (!g->taken[j] && distance2(g->sys, i, j) < CLOSE * CLOSE)
            partner[n++] = j;
    }
    return n;
}

static void queue_atom(struct gathering *g, int32_t i)
{
    int32_t partner[PARTNERS];
    int n = partners_of(g, i, partner);
    g->queued[g->nqueued] = i;
    g->next[g->nqueued] = g->head[n];
    g->head[n] = g->nqueued++;
}

/* The atom with the fewest partners left; -1: none is left. */
static int32_t loneliest(struct gathering *g)
{
    for (int n = 0; n <= PARTNERS; n++)
        while (g->head[n] >= 0) {
            int32_t i = g->queued[g->head[n]], partner[PARTNERS];
            g->head[n] = g->next[g->head[n]];
            if (!g->taken[i] && partners_of(g, i, partner) == n)
                return i;
        }
    return -1;
}

/* What a trio of an atom and two of its partners costs, nm: how far they are from it, less for those that few others
 * could take. */
static double trio_cost(const struct gathering *g, int32_t center, const int32_t other[2])
{
    int32_t partner[PARTNERS];
    double cost = sqrt(fmax(distance2(g->sys, center, other[0]), distance2(g->sys, center, other[1])));
    for (int k = 0; k < 2; k++)
        cost -= LONELY / (1 + partners_of(g, other[k], partner));
    return cost;
}

/* Keeps the cheaper trio: the center first. */
static void try_as_trio(const struct gathering *g, int32_t center, int32_t j, int32_t k, double *least,
                        int32_t trio[TRIO])
{
    const int32_t other[2] = {j, k};
    double cost = trio_cost(g, center, other);
    if (!(cost < *least))
        return;
    *least = cost;
    trio[0] = center, trio[1] = j, trio[2] = k;
}

/* The best trio of atom i, around itself or around one of its partners; of two or of one where there are no more. */
static void choose_trio(const struct gathering *g, int32_t i, int32_t trio[TRIO])
{
    int32_t partner[PARTNERS], further[PARTNERS];
    const int n = partners_of(g, i, partner);
    double least = INFINITY;
    trio[0] = i;
    trio[1] = n ? partner[0] : ~i;
    trio[2] = ~i;
    for (int a = 0; a < n; a++) {
        for (int b = a + 1; b < n; b++)
            try_as_trio(g, i, partner[a], partner[b], &least, trio);
        const int m = partners_of(g, partner[a], further);
        for (int b = 0; b < m; b++)
            if (further[b] != i)
                try_as_trio(g, partner[a], i, further[b], &least, trio);
    }
}

/* The first atom is the one by which searches go, and a hydrogen goes far: another of its trio comes first, if there is
 * one. */
static void no_hydrogen_first(const struct system *sys, int32_t trio[TRIO])
{
    int32_t *other = trio[2] >= 0 && sys->atoms[trio[2]].mass[0] > sys->atoms[trio[1]].mass[0] ? &trio[2] : &trio[1];
    const int32_t first = trio[0];
    if (*other < 0 || sys->atoms[first].mass[0] > LIGHT || sys->atoms[*other].mass[0] <= LIGHT)
        return;
    trio[0] = *other;
    *other = first;
    trio[2] = trio[2] < 0 ? ~trio[0] : trio[2];
}

static int by_first(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Trios of the atoms that are left, in the order of their first atoms, so that bonded ones have numbers near each
 * other; how many. Lists are the longer the farther apart a trio's atoms are, and the more trios there are: atoms with
 * the fewest others to go with choose first. */
static int32_t gather_bonded(const struct system *sys, const struct alchemy_plan *plan, bool *taken, int32_t *atom)
{
    const size_t most = (size_t)plan->nplain + (size_t)plan->exclusion_start[plan->natoms] + 1;
    struct gathering g = {.sys = sys,
                          .plan = plan,
                          .taken = taken,
                          .queued = xcalloc(most, sizeof *g.queued),
                          .next = xcalloc(most, sizeof *g.next)};
    int32_t n = 0, partner[PARTNERS];
    for (int k = 0; k <= PARTNERS; k++)
        g.head[k] = -1;
    for (int k = plan->nplain - 1; k >= 0; k--)
        if (!taken[plan->plain[k]])
            queue_atom(&g, plan->plain[k]);
    for (int32_t i; (i = loneliest(&g)) >= 0; n++) {
        int32_t *trio = atom + TRIO * n;
        choose_trio(&g, i, trio);
        no_hydrogen_first(sys, trio);
        for (int l = 0; l < TRIO; l++)
            if (trio[l] >= 0)
                taken[trio[l]] = true;
        for (int l = 0; l < TRIO; l++) /* theirs are fewer now */
            for (int a = trio[l] < 0 ? 0 : partners_of(&g, trio[l], partner); a > 0; a--)
                queue_atom(&g, partner[a - 1]);
    }
    qsort(atom, (size_t)n, TRIO * sizeof *atom, by_first);
    free(g.queued);
    free(g.next);
    return n;
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
    if (together)
        n += gather_bonded(sys, plan, taken, atom + TRIO * n);
    for (int k = 0; k < plan->nplain; k++)
        if (!taken[plan->plain[k]]) {
            atom[TRIO * n] = plan->plain[k];
            atom[TRIO * n + 1] = atom[TRIO * n + 2] = ~plan->plain[k];
            n++;
        }
    *ntrios = n;
    for (int k = 0; k < plan->nperturbed; k++)
        atom[TRIO * n + k] = plan->perturbed[k];
    free(taken);
    return atom;
}
