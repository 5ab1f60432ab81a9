/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiny systems: one thread block does whole timesteps of a replica, as many as are wanted at once, with everything that
 * changes from step to step in shared memory (tiny.cu); a launch has a block for each of many replicas
 * (engine/run/gang.h). Samples, volume moves and minimization go by the other kernels; between launches the state is
 * what those expect.
 *
 * Which systems: decided once for a model. Its sums are not those of the other kernels to the last bit (waves are not
 * transformed, pairs have no lists), so what decides is spec, size and device model, never what else runs and never a
 * measurement of the day: a system of up to TINY_ATOMS_MOST atoms, without virtual sites and coordinations, whose block
 * fits the device's shared memory (tiny_make), if its atoms are so few or its replicas so many that this is faster
 * (tiny_pays).
 *
 *   terms      a warp takes up to 32 of one kind at a time (struct tiny_chunk): bonded terms, pairs without any list,
 * noise, and the atoms' waves mesh       the same sum as in mesh/mesh.h, but without a mesh: the transform of an atom's
 * spread charge is a product of three transforms of a spline, so each coefficient is a sum over atoms of products of
 * three numbers bodies     a thread for each atom, a thread for each body, a thread for each atom
 * (motion/body_registers.cuh)
 *
 * Waves. Along an axis of n points an atom has the functions 0: 1, 2k - 1: cosine and 2k: sine of wave k, up to the
 * largest k in use, each summed over the points that its charge is spread to, with the spline's values or slopes there.
 * The influence function of a rectangular box does not know a wave's direction, so products of three such functions are
 * its eigenvectors, as complex waves are: a coefficient times the influence function, times the products at an atom, is
 * the potential there. One multiplication and addition does what four do for complex waves. In a triclinic box the
 * eight products that have the same three waves mix (struct tiny_octet). A column is what has the same functions along
 * x and y.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_TINY_H
#define SHOAL_ENGINE_CUDA_TINY_TINY_H

#include "engine/cuda/kernels.h"
#include "engine/cuda/mesh/mesh.h"
#include "engine/cuda/pairs/pairs.h"
#include "engine/prepare/topology.h"

enum {
    TINY_ATOMS_MOST = 128,
    TINY_ATOMS_ALONE = 84,    /* most atoms of a replica that is alone: a larger one is faster by a graph */
    TINY_THIRDS_MORE = 5,     /* thirds of an atom by which each other replica raises that limit (tests/bench/LOG.md) */
    TINY_WARPS = 16,          /* warps of a block */
    TINY_WARPS_CROWDED = 8,   /* warps where others want the multiprocessor too; the bits are the same */
    TINY_SHARES = TINY_WARPS, /* of columns, from which forces come */
    TINY_QUADS = 5,           /* functions along z of one column, in fours, that a thread has in its registers */
    TINY_SPLIT = 2,           /* threads that share the atoms of a column */
    TINY_HELD_BYTES = 51 * sizeof(float), /* of struct held_star32 in motion/star32.cuh */
};

enum tiny_kind {
    TINY_BONDED,    /* by number as in terms/bonded.cuh */
    TINY_RARE,      /* terms of kernels/rare_terms.h, the same */
    TINY_CENTERS,   /* a restraint between centers, for all lanes: its number is `first` */
    TINY_WAVES,     /* half of an atom's waves along one axis: (2 axis + half) natoms + atom */
    TINY_NOISE,     /* of an atom */
    TINY_PERTURBED, /* pairs with a perturbed atom */
    TINY_PLAIN,     /* other pairs */
    TINY_EXCLUDED,
    TINY_ALWAYS,
};

struct tiny_chunk {
    uint32_t kind, first, count; /* count: up to 32 */
};

/* Functions x and y, and `count` of those along z from the 4 z-th on; their coefficients are at 4 `at`. From this one
 * on, `alike` columns begin at the same function along z and are as long, in fours. */
struct tiny_column {
    uint8_t x, y, z, count;
    uint16_t at, alike;
};

/* Coefficients of waves k: where those of cosine (0) or sine (1) along x, y and z are, at 4 x + 2 y + z; NO_PRODUCT:
 * nowhere. Of triclinic boxes alone. */
struct tiny_octet {
    uint16_t at[8];
    uint8_t k[3], pad_;
};
#define NO_PRODUCT UINT16_MAX

/* Bytes from the beginning of shared memory. */
struct tiny_places {
    uint32_t ctl, x, v, x_old, v_old, noise, inverse_mass, f, grid, charge, held, slot, chunk;
    uint32_t wave[3], slope[3]; /* float; x and y: [function][stride], z: [natoms][4 quads] */
    uint32_t turn[3];           /* float2 [points], exp(-2 pi i k/points) */
    uint32_t column;            /* the columns themselves */
    uint32_t green;             /* float4 [nvalues], or [noctets] in a triclinic box: influence function */
    uint32_t value;             /* float4 [nvalues]: coefficients times it */
    uint32_t bytes;
};

/* Read-only, in device memory. */
struct tiny_table {
    const struct pair_table *pairs;
    const struct mesh_table *mesh;
    const uint32_t (*plain)[2], (*perturbed)[2]; /* atoms */
    const struct nb_excluded *excluded;          /* of constant charges or not, without those in rigid waters */
    const struct nb_always *always;
    const struct tiny_chunk *chunk;
    const struct tiny_column *column;
    const struct tiny_octet *octet;
    uint32_t natoms, nchunks, ncolumns, nvalues, noctets; /* noctets: 0 in a rectangular box */
    uint32_t functions[3];                                /* along each axis */
    uint32_t stride;                                      /* of a function's values at the atoms */
    uint32_t quads;                 /* from one atom's functions along z to the next's, in fours; odd */
    uint32_t groups;                /* of 32 atoms */
    uint32_t part[TINY_SHARES + 1]; /* columns of each share of one group: part[k] .. part[k + 1] */
    struct tiny_places places;
};

/* What a block is to do. */
struct tiny_row {
#define F(type, name) FIELD_CTYPE_##type name;
#include "engine/cuda/tiny/row.def"
#undef F
};
extern const struct gang_kind tiny_gang;

/* Host side of it. */
struct tiny {
    bool on;
    struct tiny_table host; /* its pointers are device addresses */
    const struct tiny_table *table;
    /* owned, as in the table */
    uint32_t (*plain)[2], (*perturbed)[2];
    struct nb_excluded *excluded;
    struct nb_always *always;
    struct tiny_chunk *chunk;
    struct tiny_column *column;
    struct tiny_octet *octet;
    uint32_t nplain, nperturbed, nexcluded, nalways;
};

/* Whether, and if so how. Zeroed is valid for tiny_close and tiny_lay_out. ERR_UNSUPPORTED: why not, where the settings
 * want it. */
int tiny_make(struct tiny *t, const struct system *sys, const struct settings *set, const struct topology *topology,
              const struct alchemy_plan *plan, const struct pairs *pairs, const struct mesh *mesh, struct err *e);
void tiny_close(struct tiny *t);
/* Its tables; run twice, measuring and filling, after those of pairs and mesh. */
void tiny_lay_out(struct tiny *t, const struct pairs *pairs, const struct mesh *mesh, struct arena *a);

/* The columns of t->host, and what follows from them. ERR_UNSUPPORTED: there are more than can be. */
int tiny_columns_make(struct tiny *t, const struct system *sys, const struct settings *set, const struct mesh *mesh,
                      struct err *e);

#endif
