/* SPDX-License-Identifier: Apache-2.0
 *
 * One constraint for each pair of atoms: a bond may be among the constraints and in [ constraints ] or [ settles ] too.
 * Constraints that follow from others are refused: each would take one degree of freedom off that the others have taken
 * off already.
 */
#include "engine/prepare/fixed_distances.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/math/box.h"
#include "engine/math/vec.h"
#include "engine/prepare/alchemy.h"
#include "engine/system/lines.h"
#include "engine/system/rare_kinds.h"

/* Relative: lengths nearer than this are one length, given with more digits or fewer. */
#define ROUNDING 3e-4
/* What may be left of a unit vector that is a sum of others, of coordinates with three decimals. */
#define DEPENDENT 1e-2
/* Constraints of one cluster: the time that it takes to look at them grows with their cube. */
#define MOST_CHECKED 200

bool fixed_distance_constrains(const struct system *sys, const int atom[2], enum constrain how)
{
    switch (how) {
    case CONSTRAIN_NONE:
        return false;
    case CONSTRAIN_H_BONDS:
        return is_hydrogen(&sys->atoms[atom[0]]) || is_hydrogen(&sys->atoms[atom[1]]);
    case CONSTRAIN_ALL_BONDS:
        return true;
    }
    return false;
}

/* Those that GROMACS makes constraints of. */
bool fixed_distance_has_length(const struct rare_term *r)
{
    return rare_kinds[r->kind].part == RARE_PART_BOND_LENGTH;
}

struct entry {
    int low, high; /* atoms */
    int index;
};

static int by_atoms(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int same(const struct system *sys, const struct fixed_distance *a, const struct fixed_distance *b, struct err *e)
{
    const struct atom *one = &sys->atoms[a->atom[0]], *other = &sys->atoms[a->atom[1]];
    for (int s = 0; s < 2; s++)
        if (fabs(a->r0[s] - b->r0[s]) > ROUNDING * b->r0[s]) {
            err_set(e, ERR_TOPOLOGY,
                    "molecule %s, atoms %d (%s) and %d (%s): two constraints of different lengths, %g and %g nm "
                    "in state %c; expected one length ([ constraints ], [ settles ] and bonds that become "
                    "constraints all hold atoms)",
                    sys->kinds[sys->molecules[one->molecule].kind].name, a->atom[0] + 1, one->name, a->atom[1] + 1,
                    other->name, a->r0[s], b->r0[s], "AB"[s]);
            return system_blame(sys, a->atom, 2, e);
        }
    return 0;
}

int fixed_distances_once(struct fixed_distance *list, int *n, const struct system *sys, struct err *e)
{
    struct entry *order = xcalloc((size_t)*n, sizeof *order);
    bool *again = xcalloc((size_t)*n, sizeof *again);
    int kept = 0, rc = 0;
    for (int i = 0; i < *n; i++) {
        const int *atom = list[i].atom;
        order[i] = (struct entry){atom[atom[0] > atom[1]], atom[atom[0] < atom[1]], i};
    }
    qsort(order, (size_t)*n, sizeof *order, by_atoms);
    for (int i = 1; i < *n && !rc; i++)
        if (order[i].low == order[i - 1].low && order[i].high == order[i - 1].high) {
            again[order[i].index] = true;
            rc = same(sys, &list[order[i].index], &list[order[i - 1].index], e);
        }
    for (int i = 0; i < *n; i++)
        if (!again[i])
            list[kept++] = list[i];
    *n = kept;
    free(order);
    free(again);
    return rc;
}

int fixed_distance_in_water(const struct fixed_distance *d, const struct rigid_water *w, const struct system *sys,
                            struct err *e)
{
    double r = d->atom[0] == w->atom[0] || d->atom[1] == w->atom[0] ? w->r_oh : w->r_hh;
    const struct fixed_distance held = {{d->atom[0], d->atom[1]}, {r, r}};
    return same(sys, d, &held, e);
}

/* Gradients of two constraints with respect to the atoms they share, multiplied: a matrix of them has no inverse where
 * one constraint follows from the others to first order. */
static double coupling(const struct fixed_distance *a, const struct fixed_distance *b, const double along_a[3],
                       const double along_b[3])
{
    int shared = (a->atom[0] == b->atom[0]) + (a->atom[1] == b->atom[1]) - (a->atom[0] == b->atom[1]) -
                 (a->atom[1] == b->atom[0]);
    return shared * vec_dot(along_a, along_b);
}

/* Unit vectors along the constraints; false: two atoms are in one place. */
static bool find_directions(const struct fixed_distance *list, uint32_t n, const struct system *sys, double (*along)[3])
{
    for (uint32_t i = 0; i < n; i++) {
        box_image(sys->x[list[i].atom[0]], sys->x[list[i].atom[1]], sys->box, along[i]);
        const double length = sqrt(vec_dot(along[i], along[i]));
        if (!(length > 0))
            return false;
        for (int d = 0; d < 3; d++)
            along[i][d] /= length;
    }
    return true;
}

/* By Cholesky's method; the first of the n that depends on those before it, n: none, or nothing is known of them. */
static uint32_t first_dependent(const struct fixed_distance *list, uint32_t n, const struct system *sys)
{
    double(*along)[3] = xcalloc(n, sizeof *along), *l = xcalloc((size_t)n * n, sizeof *l);
    uint32_t i = find_directions(list, n, sys, along) ? 0 : n;
    for (; i < n; i++) {
        double *row = l + (size_t)i * n;
        for (uint32_t j = 0; j <= i; j++) {
            double sum = coupling(&list[i], &list[j], along[i], along[j]);
            for (uint32_t k = 0; k < j; k++)
                sum -= row[k] * l[(size_t)j * n + k];
            row[j] = j < i ? sum / l[(size_t)j * n + j] : sqrt(fmax(sum, 0));
        }
        if (row[i] < DEPENDENT)
            break;
    }
    free(along);
    free(l);
    return i;
}

int fixed_distances_independent(const struct fixed_distance *list, uint32_t n, uint32_t natoms,
                                const struct system *sys, struct err *e)
{
    uint32_t i = n < natoms || n > MOST_CHECKED ? n : first_dependent(list, n, sys);
    if (i == n)
        return 0;
    const struct atom *a = &sys->atoms[list[i].atom[0]], *b = &sys->atoms[list[i].atom[1]];
    err_set(e, ERR_TOPOLOGY,
            "molecule %s, atoms %d (%s) and %d (%s): their constraint is redundant, because others hold the same "
            "atoms on a line or in a plane already (%u constraints of %u atoms); expected one constraint fewer, "
            "or virtual sites for some of the atoms",
            sys->kinds[sys->molecules[a->molecule].kind].name, list[i].atom[0] + 1, a->name, list[i].atom[1] + 1,
            b->name, n, natoms);
    return system_blame(sys, list[i].atom, 2, e);
}

bool fixed_distance_stretches(const struct fixed_distance *d, const struct settings *set)
{
    return d->r0[0] != d->r0[1] && alchemy_moves(&set->alchemy, LAMBDA_BONDED);
}

void fixed_distance_describe(const struct fixed_distance *d, const struct system *sys, struct buf *out)
{
    const struct atom *a = &sys->atoms[d->atom[0]], *b = &sys->atoms[d->atom[1]];
    const size_t before = out->len;
    system_line(sys, d->atom, 2, out);
    buf_printf(out, "%smolecule %s, atoms %d (%s) and %d (%s), from %g nm in state A to %g nm in state B",
               out->len > before ? ": " : "", sys->kinds[sys->molecules[a->molecule].kind].name, d->atom[0] + 1,
               a->name, d->atom[1] + 1, b->name, d->r0[0], d->r0[1]);
}
