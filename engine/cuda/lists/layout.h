/* SPDX-License-Identifier: Apache-2.0
 *
 * What the non-bonded kernels of the CUDA program read and write: read-only tables of a model, and the arrays of a
 * replica's block. All pointers are device addresses.
 *
 * Slots. The unperturbed atoms are put into trios: three atoms of one molecule that stay close, a rigid water for one.
 * Trio t has slots 3t, 3t + 1, 3t + 2; waters come first (oxygen, hydrogen, hydrogen), then the others, then one slot
 * for every perturbed atom. A trio with less than three atoms has slots without one; they lie where its first atom
 * lies, without charge and without Lennard-Jones.
 *
 * Grid positions. `grid` is uint4 [nslots]: x, y, z as fractions of the box in units of 2^-32, so that the difference
 * of two as int32 is that to the nearest image, and in w the bits of the charge now, as float, e.
 *
 * Lists are made from where atoms are taken to be (`built`), and hold while none is farther from there than the buffer
 * of its kind. The atoms of waters are taken to be where they will be in some steps, as far as can be told: they come
 * near that place and leave it again, so that a list lives about twice as long as one made from where they are.
 *
 * Lists. Each trio has entries: slots of which at least one of its atoms may come within the cut-off. `near` holds
 * those that may be so close that a pair's force needs more than 22 bits, and those with an excluded pair: slot | mask
 * << 29, mask telling which of the three pairs are to be computed. `oxygen` and `hydrogen` are atoms of waters seen
 * from a water; `other` is the rest, which waters have none of. Every pair is in the list of one of its two trios;
 * which one depends on their numbers alone, so that its force and energy have the same bits wherever and whenever lists
 * are made. The trios around a trio are those that its lists are made from; all lie in a pool (struct row_place), as
 * the longest is many times as long as most. Pairs take rows in an order in which neighbours have lists of about the
 * same length (struct listed_row).
 *
 * Regions. While pairs are computed positions and forces are in a block's shared memory. A replica that fits is there
 * whole. A larger one (not `whole`) is cut into regions, n along each edge of the box, and each pair belongs to the
 * region that its lower atom is in, along each edge for itself ("lower" by the nearest image, and as trios' first atoms
 * were when trios around were last searched for). So the members of a region, the trios that its pairs may have, are
 * those in it and those above its upper faces in reach. Members have numbers of their own, waters first, in arbitrary
 * order, and lists have these numbers: rows of arrays are [regions][region_cap]. A trio may have a row in up to
 * eight regions.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_LAYOUT_H
#define SHOAL_ENGINE_CUDA_LISTS_LAYOUT_H

#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/math/potentials/softcore.h"
#include "engine/prepare/device_tables.h"

#define EXTENT_SLACK 1.02f /* factor by which trios' extents may grow until there is a new search */
#define EXTENT_MORE 0.002f /* nm by which trios' extents may grow beyond that factor */

/* Rounding in single precision must lose no pair, so lengths are taken for longer than they are and limits for shorter.
 * One operation rounds by at most 2^-24 of its result, 6e-8; a length from positions takes fewer than fifty, 3e-6 in
 * all. Positions are rounded to 2^-32 of an edge: 5e-9 nm of 20 nm, which is 5e-8 of an extent of 0.1 nm. The square of
 * a distance between spots is a difference of larger squares: seven operations, 4e-7 of the longest diagonal's. */
#define REACH_ROUNDED 1.00001f   /* times a sum of reaches, or the square of one: under ten operations, 6e-7 */
#define LENGTH_ROUNDED 1.0001f   /* times a length that comes from positions */
#define LIMIT_ROUNDED 0.999f     /* times the limit of a length */
#define HALF_ROUNDED 0.499f      /* half of LIMIT_ROUNDED, rounded down */
#define DIAGONAL2_ROUNDING 4e-7f /* of the square of the longest diagonal */

#define SEARCH_SOON 0.8  /* of how far first atoms may go, from which on the next lists are made by a new search */
#define BUFFER_AHEAD 0.9 /* of its buffer, that an atom is taken to be from where it is at most */

enum {
    TRIO = 3,
    NEAR_MASK_SHIFT = 29,
    PAIR_LIMIT = 2048,      /* kJ/mol/nm, above which a pair's force goes to the 64-bit sums at once */
    COARSE_SHIFT = 13,      /* forces of near pairs are split into multiples of 2^13 units and the rest */
    BUILD_WARPS = 8,        /* of a block that makes lists */
    LIST_GROUP = 64,        /* trios whose lists it makes at a time, at most, where there are no regions */
    PERTURBED_SLOTS = 1024, /* slots that a warp of it tries with one perturbed atom */
    REGION_BLOCK = 384,     /* threads of a block that computes a region's pairs */
    MEMBER_OWN_SHIFT = 29,  /* of struct member's trio */
    TRIED_AT_ONCE = 8,      /* members of a region, in searches */
    LIST_SECTOR = 8,        /* words */
    TRIO_BYTES = 2 * TRIO * 3 * sizeof(int32_t),           /* of shared memory, in pairs: positions and forces */
    TRIO_PLACE_BYTES = TRIO * 3 * sizeof(uint32_t),        /* of shared memory, while lists are made: positions */
    MEMBER_PLACE_BYTES = (TRIO * 4 + 1) * sizeof(uint32_t) /* of the same, in regions: spots and struct member */
};

/* Kernels of lists and pairs are made for each. ANY_IMAGE: a triclinic one, in which the nearest image of an atom need
 * not be that of rounded fractions. */
enum box_kind { RECTANGULAR, TRICLINIC, ANY_IMAGE, BOX_KINDS };

/* Of atoms, as lists know them: a water's first, its others, and those of all other trios. */
enum list_kind { WATER_FIRST, WATER_OTHER, OTHER_ATOM, LIST_KINDS };

MATH_FN enum list_kind list_kind_of(uint32_t slot, uint32_t nwaters)
{
    return slot >= TRIO * nwaters ? OTHER_ATOM : slot % TRIO ? WATER_OTHER : WATER_FIRST;
}

/* 6 c6 and 12 c12, as float. */
struct lj32 {
    float c6, c12;
};

/* Entries of one trio. */
struct trio_counts {
    uint32_t near, oxygen, hydrogen, other;
};

/* A trio of a region when trios around were searched for. */
struct member {
    uint32_t trio; /* | 1 << (MEMBER_OWN_SHIFT + d) where it is not above the upper face d */
};

struct region {
    uint32_t members, waters; /* of them */
    uint32_t rows;            /* members with entries: the first ones in the order */
    uint32_t others;          /* rows that are no waters: the first ones */
    uint32_t done;            /* parts of a build, zero between builds */
    uint32_t cost;            /* of its lists, to make and to go through, in units of their own */
};

/* A block's work on a region, in pairs and when lists are made again: the part-th of `parts` shares of its rows; none
 * if `parts` is 0. Regions that cost more have more parts, the costliest of which come first. */
struct region_part {
    uint32_t region;
    uint16_t part, parts;
};

/* Where a row has its lists: in the pool, from the start-th of its words of 4 bytes on, with room for what can come of
 * so many trios around it. First these, as uint16; then `near`, as uint32, no more than `most` of them; then `oxygen`
 * and `hydrogen` or `other`, as uint16. */
struct row_place {
    uint32_t start, around;
};

/* Entries of `near` that there is room for. */
MATH_FN uint32_t row_near_cap(uint32_t around, uint32_t most)
{
    return TRIO * around < most ? TRIO * around : most;
}

/* Every list begins with a sector of memory: few lanes read it together, and what they read at a time is then in one.
 */
MATH_FN uint32_t row_sectors(uint32_t words)
{
    return (words + LIST_SECTOR - 1) / LIST_SECTOR * LIST_SECTOR;
}

/* Words that so many entries of uint16 take. */
MATH_FN uint32_t row_halves(uint32_t entries)
{
    return row_sectors((entries + 1) / 2);
}

/* Where the lists begin, words from the row's first. */
MATH_FN uint32_t row_near(uint32_t around)
{
    return row_halves(around);
}

MATH_FN uint32_t row_far(uint32_t around, uint32_t most)
{
    return row_near(around) + row_sectors(row_near_cap(around, most));
}

/* Behind the oxygens, of a water. */
MATH_FN uint32_t row_hydrogen(uint32_t around, uint32_t most)
{
    return row_far(around, most) + row_halves(around);
}

MATH_FN uint32_t row_words(uint32_t around, uint32_t most, int water)
{
    return water ? row_hydrogen(around, most) + row_halves(2 * around)
                 : row_far(around, most) + row_halves(TRIO * around);
}

/* A row of lists as pairs take it, in their order: all that a warp asks for before the entries. */
struct listed_row {
    uint32_t row;                                   /* its trio's number, in the region if there are regions */
    uint32_t near, far, hydrogen;                   /* entries; far: `oxygen` of a water, else `other` */
    uint32_t near_first, far_first, hydrogen_first; /* words of the pool where they begin */
    uint32_t pad_;
};

MATH_FN struct listed_row listed_row_of(uint32_t row, struct row_place at, struct trio_counts n, uint32_t most)
{
    struct listed_row r = {row,
                           n.near,
                           n.oxygen + n.other,
                           n.hydrogen,
                           at.start + row_near(at.around),
                           at.start + row_far(at.around, most),
                           at.start + row_hydrogen(at.around, most),
                           0};
    return r;
}

/* Members that have their place in shared memory, of so many: candidates are tried several at a time. */
MATH_FN uint32_t region_places(uint32_t members)
{
    return (members + TRIED_AT_ONCE - 1) / TRIED_AT_ONCE * TRIED_AT_ONCE;
}

/* Lanes that share the entries of a trio that is no water, from the number for a water. Its lists are twice as long,
 * because pairs with waters are listed at the other trio, and each entry takes longer. */
MATH_FN uint32_t other_lanes(uint32_t lanes)
{
    return 4 * lanes < WARP ? 4 * lanes : WARP;
}

MATH_FN uint32_t list_groups(uint32_t trios, uint32_t group)
{
    return (trios + group - 1) / group;
}

/* What forces of perturbed pairs in single precision ask for (engine/cuda/terms/softcore32.cuh); members that the
 * arguments of pairs' kernels have, too, mean the same there. */
struct soft_rule32 {
    float cutoff2, coulomb_cutoff2, vdw_cutoff2; /* nm^2 */
#define NUMBER(name) float name;
    LJ_RULE_OF_FORCES(NUMBER)
#undef NUMBER
    float ewald_scale, ewald_f[EWALD32_TERMS];
    uint32_t ewald_long, modifier;
    int32_t power, coulomb, function; /* as in struct soft_rule */
    float reach;                      /* factor of sigma^6 in soft_pair.reach */
    float sigma6, alpha_coulomb, farthest6, field;
    float start6; /* nm^6: what soft_point_of() has for Lennard-Jones in the place of farthest6 */
};

/* What perturbed pairs, and the grid, ask of an atom: its charge, e, and Lennard-Jones type in states A and B. */
struct atom_states {
    float charge[2];
    int32_t type[2];
};

struct pair_table {
    int32_t natoms, ntrios, nwaters, nslots, nperturbed, ntypes, nwindows;
    int32_t whole; /* 1: there are no regions */
    int32_t nexcluded, nexcluded_perturbed, nalways, nrigid;
    int32_t modifier;    /* enum vdw_modifier */
    int32_t force_shift; /* pair forces are summed in units of 2^(shift - 32) */
    uint32_t box;        /* enum box_kind */
    uint32_t pad_;
    double coulomb_cutoff, vdw_cutoff, cutoff; /* nm; cutoff: the larger of the two */
    double buffer[LIST_KINDS];                 /* nm, how far an atom may be from where lists take it to be */
    double list_cutoff;                        /* nm: cutoff and the largest sum of two atoms' buffers */
    double near[2][LIST_KINDS]; /* nm, from a water or another trio to an atom of a kind, of lists: where forces need
                                   more bits */
    double skin;                /* nm, by which the search for trios around a trio reaches beyond what it must find */
    double ahead;               /* ps, by which lists take waters' atoms to be on their way */
    double coulomb_shift;       /* 1/nm */
    struct ewald_fit ewald;
    struct lj_rule lj_rule;
    struct soft_rule soft;
    struct soft_rule32 soft32;

    /* by slots */
    const int32_t *atom;      /* [nslots]; ~(first atom of the trio) where there is none */
    const int32_t *slot;      /* [natoms]: where an atom is in it */
    const int32_t *slot_type; /* [nslots] LJ type in state A; ntypes where there is no atom */
    const struct lj32 *lj32;  /* [ntypes + 1][ntypes], the last row zero */
    /* excluded partners of the atoms of trio t, as slots: partner[partner_start[slot] .. partner_start[slot + 1]),
     * sorted; trios from nwaters on only, slots counted from 3 nwaters */
    const int32_t *partner_start, *partner;

    const struct atom_states *states;           /* [natoms] */
    const double *charge;                       /* [natoms] in state A, e */
    const double *change;                       /* [natoms] charge in B minus charge in A */
    const int32_t *type[2];                     /* [natoms] */
    const struct lj *lj;                        /* [ntypes][ntypes] */
    const int32_t *exclusion_start, *exclusion; /* of atoms, as in struct system */
    /* excluded: [nexcluded + nrigid] of constant charges, those of two atoms of one rigid water last: constraints take
     * their forces away, so only energies ask for them */
    const struct nb_excluded *excluded, *excluded_perturbed;
    const struct nb_always *always;
    const double (*window)[LAMBDA_COUNT]; /* [nwindows] */
    const struct uniform_table *uniform;
};

/* State of a replica's lists. */
struct pair_lists {
    double built_box[3];    /* nm; zero: there is no list */
    double searched_box[3]; /* nm; of the trios around a trio; zero: they were not searched for */
    uint64_t builds, searches;
    int64_t virial[6];        /* xx xy xz yy yz zz of the pairs in units of their own, zero between evaluations */
    uint32_t rebuild, search; /* `place` tells list_build: new lists; and not from the trios that were around */
    uint32_t taken, done;     /* tasks of a build */
    uint32_t arrived, arrived_energy; /* blocks that are through, zero between kernels */
    uint32_t needed;                  /* words of the pool that a search asks for */
    uint32_t near; /* entries of `near` that the longest one asks for, if more than there is room for */
    uint32_t pad_;
    uint32_t crowd;           /* members that the largest region asks for */
    uint32_t parts;           /* struct region_part that have work; 0: before the first build */
    uint32_t found;           /* perturbed pairs of the build under way */
    uint32_t pairs;           /* in the list of perturbed pairs */
    uint32_t extent[2];       /* bits of floats: how far a water's or another trio's atoms are from its first, nm */
    float searched_extent[2]; /* that the last search counted on */
};

#endif
