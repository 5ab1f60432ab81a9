/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/split.h"

#include <math.h>
#include <string.h>

#include "engine/base/err.h"
#include "engine/math/box.h"
#include "engine/prepare/ewald.h"

/* us of a multiprocessor of an H200 by which steps became longer or shorter with another split (5,166 atoms x 24,
 * 36,492 x 12; tests/bench/LOG.md, 27 November 2026, "Splits"): 0.1 nm of Coulomb's cut-off 28 and 313, which is 0.4
 * and 0.6 of what pairs take for each that is in reach; a point of a mesh 0.0042 and 0.0038, in a block or over the
 * card, six times what a block takes for it, as blocks of larger meshes wait longer for room; order 5 for 4 156, as
 * one replica's chain of launches then is what limits all, and 1.8e-4 of an atom and order^3 where it does not. */
#define PAIR_COST (0.5 * 406 / 1.115e6)
#define SPLINE_COST 3e-4
#define POINT_COST 0.0038
#define LIST_BUFFER 0.11 /* nm */

/* Edges of meshes that one block does (engine/cuda/mesh/mesh.h, MESH_BLOCK_LENGTHS). Others go over the card: 182 us of
 * a multiprocessor more for 5,166 atoms and 32^3 points (the same entry). */
#define BLOCK_EDGE_LEAST 12
#define BLOCK_EDGE_MOST 36
#define CARD_COST 182

#define SPACING_MOST 0.2 /* nm, of grids that are tried */
#define SPACING_LEAST 0.04
#define SPACING_STEP 0.96 /* factor from one grid that is tried to the next */

#define WORTH_IT 0.97 /* of the cost of the settings asked for: what is not told so well is no reason for others */

#define MARGIN 0.85 /* of the error asked for, as estimates of direct space are good to 15 % */

static bool fits_block(const int32_t size[3])
{
    bool fits = true;
    for (int d = 0; d < 3; d++)
        fits &= size[d] >= BLOCK_EDGE_LEAST && size[d] <= BLOCK_EDGE_MOST;
    return fits;
}

static double ball(double radius)
{
    return 4 * M_PI / 3 * radius * radius * radius;
}

/* Pair lists reach to the longer of the two cut-offs, but for hydrogens of waters, of which other waters see no more
 * than Coulomb (engine/cuda/lists/build.cuh, build_of). */
double split_cost(const struct nonbonded_settings *set, const struct ewald_charges *c)
{
    const double longer = ball(fmax(set->coulomb_cutoff, set->vdw_cutoff) + LIST_BUFFER);
    const double bare = ball(set->coulomb_cutoff + LIST_BUFFER), waters = 1.5 * c->bare / fmax(c->natoms, 1);
    const double around = c->natoms * longer - waters * c->bare * (longer - bare); /* atoms in reach times the volume */
    const double pairs = 0.5 * c->natoms / box_volume(c->box) * around;
    int32_t size[3];
    struct err e = {0};
    if (mesh_sizes(size, c->box, set, &e))
        return INFINITY;
    const double mesh = SPLINE_COST * c->natoms * pow(set->pme_order, 3) + POINT_COST * size[0] * size[1] * size[2];
    return PAIR_COST * pairs + mesh + (fits_block(size) ? 0 : CARD_COST);
}

struct split_search {
    const struct ewald_charges *c;
    const struct nonbonded_settings *asked;
    struct ewald_error error;
    double tightest, loosest; /* tolerance */
    struct nonbonded_settings best;
    double cost;
};

/* Whether errors are no larger than those of the settings asked for, also where the estimate of the mesh is too large,
 * as it is in liquids. That is as much too large for both with the same order; with another one it may be so for the
 * settings asked for alone. */
static bool is_as_good(const struct split_search *s, const struct nonbonded_settings *set)
{
    const struct ewald_error is = ewald_error_of(s->c, set), was = s->error;
    const double same = set->pme_order == s->asked->pme_order ? 1 / EWALD_ERROR_FACTOR : 1;
    return is.total <= MARGIN * was.total &&
           hypot(is.direct, same * is.mesh) <= MARGIN * hypot(was.direct, was.mesh / EWALD_ERROR_FACTOR);
}

/* The tightest tolerance in steps of some 1.5 with which errors are small enough; false: there is none. */
static bool find_tolerance(const struct split_search *s, struct nonbonded_settings *set)
{
    static const double steps[] = {1, 1.5, 2, 3, 5, 7};
    const int first = (int)floor(log10(s->tightest));
    set->ewald_tolerance = s->loosest;
    if (ewald_error_of(s->c, set).mesh > s->error.total) /* and more so with a tighter one */
        return false;
    for (int k = 0;; k++) {
        set->ewald_tolerance = steps[k % 6] / pow(10, -first - k / 6); /* the double that its text is read as */
        if (set->ewald_tolerance > s->loosest * (1 + 1e-9))
            return false;
        if (set->ewald_tolerance >= s->tightest * (1 - 1e-9) && is_as_good(s, set))
            return true;
    }
}

/* Every grid for a cut-off and an order, from coarse to fine; the first whose error is small enough. */
static void search_grids(struct split_search *s, struct nonbonded_settings set)
{
    int32_t last[3] = {0}, size[3];
    struct err e = {0};
    for (double spacing = SPACING_MOST; spacing > SPACING_LEAST; spacing *= SPACING_STEP) {
        memset(set.pme_grid, 0, sizeof set.pme_grid);
        set.pme_spacing = spacing;
        if (mesh_sizes(size, s->c->box, &set, &e))
            return;
        if (!memcmp(size, last, sizeof size))
            continue;
        memcpy(last, size, sizeof size);
        for (int d = 0; d < 3; d++)
            set.pme_grid[d] = size[d];
        const double cost = split_cost(&set, s->c);
        if (cost < s->cost && find_tolerance(s, &set)) {
            s->best = set;
            s->cost = cost;
            return;
        }
    }
}

static void search_orders(struct split_search *s, struct nonbonded_settings set, double cutoff)
{
    set.coulomb_cutoff = cutoff;
    for (set.pme_order = 4; set.pme_order <= 6; set.pme_order++)
        search_grids(s, set);
}

void split_choose(struct nonbonded_settings *set, const struct ewald_charges *c)
{
    const double longest = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    int32_t size[3];
    struct err e = {0};
    if (mesh_sizes(size, c->box, set, &e))
        return;
    for (int d = 0; d < 3; d++)
        set->pme_grid[d] = size[d];
    struct split_search s = {.c = c,
                             .asked = set,
                             .error = ewald_error_of(c, set),
                             .tightest = set->ewald_tolerance,
                             .loosest = fmax(set->ewald_tolerance, SPLIT_LOOSEST),
                             .best = *set,
                             .cost = WORTH_IT * split_cost(set, c)};
    if (c->square == 0)
        return;
    search_orders(&s, *set, set->coulomb_cutoff);
    search_orders(&s, *set, set->vdw_cutoff);
    for (int k = (int)(longest * SPLIT_CUTOFFS); k >= SPLIT_SHORTEST * SPLIT_CUTOFFS; k--)
        search_orders(&s, *set, (double)k / SPLIT_CUTOFFS);
    s.best.pme_spacing = set->pme_spacing;
    *set = s.best;
}
