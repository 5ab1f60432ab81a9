/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the non-bonded forces that is a sum over pairs: tables of a model, working memory of a replica, launches.
 *
 *   place            atoms on the grid; whether the lists still hold (lists/place.cuh)
 *   list_build       new lists, if not
 *   pairs_*          plain pairs, of a replica or of its regions (lists/layout.h)
 *   pairs_perturbed  pairs with a perturbed atom
 *   pairs_unlisted   corrections of excluded pairs, and pairs that no cut-off bounds
 */
#ifndef SHOAL_ENGINE_CUDA_PAIRS_PAIRS_H
#define SHOAL_ENGINE_CUDA_PAIRS_PAIRS_H

#include "engine/base/arena.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/lists/layout.h"
#include "engine/math/box.h"
#include "engine/run/program.h"
#include "engine/prepare/alchemy.h"

/* Trios whose positions and forces fit the shared memory of a block: of a whole replica, and of a region, two blocks of
 * which share a multiprocessor. */
struct pair_limits {
    uint32_t whole, region;
};

static inline struct lj32 lj32_of(const struct lj *lj)
{
    return (struct lj32){(float)(6 * lj->c6), (float)(12 * lj->c12)};
}

/* Host side of a model's table. */
struct pairs {
    struct pair_table host;         /* its pointers are device addresses */
    const struct pair_table *table; /* device address */
    double density;                 /* atoms per nm^3 at the start */
    uint32_t regions[3];            /* at the start; none of a whole replica */
    double halo[3];          /* members beyond the regions' ends along each edge, then, over those between them */
    uint32_t region_cap;     /* members of one at most */
    enum box_kind lists_box; /* for lists, which reach farther than pairs */
    uint32_t processors;     /* of the device */
    uint32_t replicas;       /* that share the device: of few each is spread over more of it */
    uint32_t lanes;          /* that share the entries of a trio */
    /* force in as few terms as do: EWALD32_TERMS_USUAL, or _LONG where `ewald_long` is 1, or all where it is 2; energy
     * in all where it is 2, else in _LONG; and what the energy's first four and the shift lack by being floats */
    float ewald_f[EWALD32_TERMS], ewald_v[EWALD32_TERMS], ewald_w[EWALD32_TERMS_REST];
    uint32_t ewald_long;
    double water_charge[2]; /* of a water's oxygen and hydrogen, e */
    int32_t water_type[2];  /* types of a water's oxygen and hydrogen */
    struct lj water_lj;     /* of two oxygens */
    /* Of the box. All atoms of a trio see the image of an atom that rounding the fractions of the vector from the first
     * of them gives; it is the one within the cut-off as long as half the distance of opposite faces is longer than
     * cut-off and trio. In triclinic boxes too small for that they see the one that is nearest to the first
     * (ANY_IMAGE), as long as cut-off and trio are shorter than cut-offs may be. In boxes too small for that each atom
     * is a trio. */
    struct box_limits least;
    int32_t *atom;                /* [nslots], owned; as in the table */
    struct nb_excluded *excluded; /* owned; as in the table */
};

/* So few replicas that none has others' work to wait beside. */
static inline bool pairs_alone(const struct pairs *p)
{
    return p->replicas <= 2;
}

/* How near pairs must be to count as near, and the unit of forces; the rest of the table is there (fixed_range.c). */
void pairs_set_force_unit(struct pairs *p, const struct alchemy_plan *plan);
/* ERR_SPEC, ERR_UNSUPPORTED. Zeroed is valid for pairs_close. */
int pairs_make(struct pairs *p, const struct dev_limits *device, const struct system *sys, const struct settings *set,
               const struct topology *t, const struct alchemy_plan *plan, struct err *e);
void pairs_close(struct pairs *p);
/* Its tables; run twice, measuring and filling. `windows`: device addresses. */
void pairs_lay_out(struct pairs *p, const struct alchemy_plan *plan, const struct lambda_rows *windows,
                   struct arena *a);

void pairs_caps_guess(const struct pairs *p, struct list_caps *caps);
void pairs_caps_grow(struct list_caps *caps, const struct ctl *ctl);

/* A replica's working memory. */
struct pairs_arrays {
    struct pair_lists *lists;
    void *grid, *built;      /* uint4 [nslots] */
    void *regions, *members; /* kernels.def */
    void *first[3];          /* uint32 [ntrios] grid positions of the trios' first atoms at the last search */
    void *parts;             /* struct region_part [region_blocks()] */
    void *counts;            /* struct trio_counts [rows] */
    void *places;            /* struct row_place [rows] */
    void *listed;            /* struct listed_row [rows] */
    void *pool, *seen;       /* lists, and what is in reach while a search counts (kernels.def) */
    void *perturbed;         /* entries: uint32 [][2], atoms, the perturbed one first */
};
void pairs_lay_out_block(const struct pairs *p, const struct list_caps *caps, struct arena *a,
                         struct pairs_arrays *out);

struct pairs_replica {
    struct ctl *ctl;
    double *x, *v;
    int64_t *f;
    struct fixed_sum *energy_at_window;
    void *atom_grid; /* uint32 [natoms][4], fractions of the box, for the mesh */
    void *charges;   /* int32 [points] of the mesh, which are zeroed */
    uint32_t points;
    const struct list_caps *caps;
    struct pairs_arrays arrays;
    const struct bonded_table *bonded; /* these go along */
    uint32_t nbonded, nrare;
};
/* Blocks that make lists. */
uint32_t pairs_build_blocks(const struct pairs *p, const struct list_caps *caps);
/* Of `place`, and so of all that places atoms. */
struct args_place pairs_place_args(const struct pairs *p, const struct pairs_replica *r);
/* New lists where it must be: before all else that reads them. placed, and what is returned: launches of the tape that
 * others come after, a bit each. */
uint64_t pairs_emit_lists(const struct pairs *p, const struct pairs_replica *r, uint64_t placed, struct tape *t);
/* Bonded terms too. Forces, and by mode energies, virial, dU/dlambda and energies at every window. These launches do
 * not depend on each other. */
void pairs_emit(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, uint64_t placed,
                uint64_t listed, struct tape *t);

#endif
