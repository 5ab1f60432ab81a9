/* SPDX-License-Identifier: Apache-2.0
 *
 * What the non-bonded kernels read and write: the read-only parameters of a model, and the arrays of a replica's block.
 * All pointers are device addresses.
 *
 * Positions. Distances are taken between grid positions, fractions of the box edges times 2^48 rounded to whole numbers
 * and held as doubles, so that differences and periodic shifts are exact and a distance has the same bits however it
 * was arrived at.
 *
 * Plain pairs (both atoms unperturbed) come from a cluster list: the unperturbed atoms are sorted in space into slots,
 * eight slots make a cluster, and each slot has a list of entries: cluster, periodic shift, and a mask of the eight
 * pairs. Each unordered pair has one entry, each periodic image of it an entry of its own. Pairs with a perturbed
 * atom have a list of their own.
 */
#ifndef SHOAL_ENGINE_CPU_NONBONDED_TABLES_H
#define SHOAL_ENGINE_CPU_NONBONDED_TABLES_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/math/box.h"
#include "engine/math/potentials/softcore.h"
#include "engine/prepare/device_tables.h"

#define NB_GRID 281474976710656.0 /* 2^48 grid positions per box edge */
#define NB_WIDTH 8                /* slots in a cluster */
#define NB_ALIGN 64               /* bytes: each array of the slots begins so, and with it each cluster */

/* Mesh of one model. The modulus arrays hold |b(m)|^-2 per dimension. */
struct nb_mesh {
    int32_t order, size[3];
    double impulse; /* what a timestep takes the mesh's forces times: timesteps from one with the mesh to the next */
    double *modulus[3];
};

struct nb_params {
    int32_t natoms, nplain, nslots, nclusters, nperturbed, ntypes, nwindows, columns[2];
    int32_t nexcluded, nexcluded_perturbed, nalways;
    enum vdw_modifier modifier;
    int32_t pad_;
    double coulomb_cutoff, vdw_cutoff, cutoff, list_cutoff; /* nm; cutoff: the larger of the two */
    double coulomb_shift;                                   /* 1/nm */
    struct uniform_table uniform;
    struct ewald_fit ewald;
    struct lj_rule lj_rule;
    struct soft_rule soft;
    struct nb_mesh mesh;

    double *charge;     /* [natoms] in state A, e */
    double *change;     /* [natoms] charge in B minus charge in A; exactly 0 for atoms whose charge stays */
    int32_t *type[2];   /* [natoms] LJ type in A and B */
    struct lj *lj;      /* [ntypes][ntypes] */
    int32_t *has_lj;    /* [ntypes] type has LJ with some type of the plain atoms */
    int32_t *plain;     /* [nplain] unperturbed atoms */
    int32_t *perturbed; /* [nperturbed] */
    int32_t *exclusion_start, *exclusion; /* as in struct system, with the pairs of nb_always that replace list pairs */
    struct nb_excluded *excluded;         /* [nexcluded] both charges constant */
    struct nb_excluded *excluded_perturbed;
    struct nb_always *always;
    const double (*window)[LAMBDA_COUNT]; /* [nwindows] */
};

/* State of a replica's lists. */
struct nb_list {
    double built_box[3]; /* diagonal of the box when it was built, nm; zero: never */
    double reach;        /* nm: pairs up to there were in it */
    uint32_t rebuild;    /* list_check tells list_build */
    uint32_t pairs;      /* in the list of perturbed pairs */
};

/* nm per grid position, and grid positions per nm, as boxes. */
static inline void nb_grid_scale(const double box[BOX_SIZE], double nm[BOX_SIZE])
{
    for (int k = 0; k < BOX_SIZE; k++)
        nm[k] = box[k] / NB_GRID;
}

static inline void nb_grid_inverse(const double box[BOX_SIZE], double inverse[BOX_SIZE])
{
    box_invert(box, inverse);
    for (int k = 0; k < BOX_SIZE; k++)
        inverse[k] *= NB_GRID;
}

/* The same where rounding the fractions need not give the shortest: by all images around it. d: in grid positions, each
 * at most half the grid; then in nm. */
static inline double nb_shortest_triclinic(const double nm[BOX_SIZE], double d[3])
{
    double from[3] = {d[0], d[1], d[2]}, safe = 0.5 * NB_GRID * box_least_edge(nm);
    box_apply(nm, from, d);
    double best = pair_distance2(d[0], d[1], d[2]);
    if (best < safe * safe)
        return best;
    for (int k = 0; k < 27; k++) {
        const double u[3] = {from[0] + (k / 9 - 1) * NB_GRID, from[1] + (k / 3 % 3 - 1) * NB_GRID,
                             from[2] + (k % 3 - 1) * NB_GRID};
        double near[3];
        box_apply(nm, u, near);
        double r2 = pair_distance2(near[0], near[1], near[2]);
        if (r2 < best) {
            best = r2;
            memcpy(d, near, sizeof near);
        }
    }
    return best;
}

/* The shortest image, nm, of a difference of grid positions; returns its squared length. */
static inline double nb_shortest(const double nm[BOX_SIZE], bool triclinic, const double du[3], double d[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = du[k] - NB_GRID * rint(du[k] * (1 / NB_GRID));
    if (triclinic)
        return nb_shortest_triclinic(nm, d);
    for (int k = 0; k < 3; k++)
        d[k] *= nm[k];
    return pair_distance2(d[0], d[1], d[2]);
}

/* An entry is mask | shift << 8 | cluster << 13; shift = 9 (sx + 1) + 3 (sy + 1) + sz + 1, in box edges added to i. */
#define NB_ENTRY(mask, shift, cluster) ((uint32_t)(mask) | (uint32_t)(shift) << 8 | (uint32_t)(cluster) << 13)
#define NB_MAX_CLUSTERS (1u << 19)

/* Arrays of the slots, one behind the other in one piece of memory: 11 of 8 bytes, one of 4, of nslots each. */
struct nb_slots {
    double *x[3];    /* grid positions, continuous since the list was built: may leave the box */
    double *wrap[3]; /* what was added to an atom's grid position to put it into the box when the list was built */
    double *f[3];    /* forces being summed, kJ/mol/nm, multiples of 2^-32 */
    double *charge;  /* e; 0 in slots without an atom */
    int64_t *type;   /* 8 bytes wide as all else that vector loops touch */
    int32_t *atom;   /* -1: none, a spare slot at the end */
};

static inline size_t nb_slots_bytes(int32_t nslots)
{
    return (size_t)nslots * (11 * sizeof(double) + sizeof(int32_t));
}

static inline struct nb_slots nb_slots_at(void *base, int32_t nslots)
{
    struct nb_slots s;
    double *d = base;
    for (int k = 0; k < 3; k++) {
        s.x[k] = d + k * (size_t)nslots;
        s.wrap[k] = d + (3 + k) * (size_t)nslots;
        s.f[k] = d + (6 + k) * (size_t)nslots;
    }
    s.charge = d + 9 * (size_t)nslots;
    s.type = (int64_t *)(d + 10 * (size_t)nslots);
    s.atom = (int32_t *)(s.type + nslots);
    return s;
}

/* Entries start .. end - 1 of a slot; those from `full` on have all eight bits set. */
struct nb_range {
    uint32_t start, full, end;
};

/* Scratch of list_build: boxes around clusters and groups of clusters, candidates of one cluster, sorting. */
#define NB_GROUP 8
static inline size_t nb_scratch_bytes(const struct nb_params *p)
{
    size_t slots = (size_t)p->nslots, clusters = (size_t)p->nclusters;
    size_t columns = (size_t)p->columns[0] * (size_t)p->columns[1];
    return 16 * slots + 48 * (clusters + clusters / NB_GROUP + 1) + 8 * 27 * clusters + clusters + 4 * (columns + 1) +
           4 * (size_t)p->natoms + 64;
}

#endif
