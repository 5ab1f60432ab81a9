/* SPDX-License-Identifier: Apache-2.0
 *
 * Smooth particle-mesh Ewald on a GPU (Essmann et al. 1995, doi 10.1063/1.470117): charges to the mesh, transforms,
 * convolution, forces.
 *
 *   sort      atoms into bricks of the mesh
 *   spread    charges (of the current lambda, or their change from A to B) in 32-bit fixed point, so that their order
 * does not matter: a block a brick forward   one block a plane of constant x: transforms over z and y solve     one
 * block a plane of constant y: transform over x, convolution with energy and virial, transform back backward  one block
 * a plane of constant x: transforms over y and z gather    potential and forces at the atoms, by bricks again
 *
 * Where the mesh fits into the shared memory of one block, one launch does all of it (block.cu): slower for one
 * replica, but it takes one of the device's processors for that time, not all. Both give the same bits, so replicas may
 * go from one to the other between pieces of work (engine/run/sim.h): the daemon measures which it is to be, and begins
 * with MESH_MANY.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_MESH_H
#define SHOAL_ENGINE_CUDA_MESH_MESH_H

#include "engine/base/arena.h"
#include "engine/run/program.h"
#include "engine/prepare/alchemy.h"

#define MESH_CHARGE_SCALE 67108864.0f /* 2^26 per e: a point of the mesh may hold up to 32 e */
#define MESH_CHARGE_UNIT (1 / MESH_CHARGE_SCALE)
#define MESH_PASSES 16 /* of one transform: as many factors of its length */

enum {
    MESH_ORDER_MAX = 6,
    MESH_MANY = 8,        /* replicas from which on their number counts more than how long one takes: see nonbonded.h */
    MESH_BLOCK = 512,     /* threads that do a whole mesh: as many as leave each the registers for a line */
    MESH_PLANE = 640,     /* threads that do a plane, at most: 96 registers each; two blocks of 320 fit */
    MESH_PLANE_MANY = 96, /* threads that do a plane of many replicas: slower, but fits beside other kernels */
    MESH_BRICK = 256,     /* threads that do a brick of it, at most */
    MESH_SORT = 1024,     /* threads that sort an atom each */
    MESH_STRAYS = 16,     /* blocks for atoms that no brick had room for */
};
/* Sizes along an axis that one block can do. */
#define MESH_BLOCK_LENGTHS(F) F(12) F(14) F(16) F(18) F(20) F(24) F(25) F(28) F(30) F(32) F(36)
/* Sizes along an axis, products of two radices, for which planes have passes of their own: strides and divisors are
 * constants. */
#define MESH_PLANE_LENGTHS(F)                                                                                          \
    F(24) F(28) F(32) F(36) F(40) F(42) F(44) F(48) F(52) F(56) F(60) F(64) F(72) F(80) F(100) F(104)

/* i / by, for i * by < 2^32. */
struct divisor {
    uint32_t by, inverse; /* 2^32 / by, rounded up; 0: by is 1 */
};

MATH_FN uint32_t divided(uint32_t i, struct divisor d)
{
    return d.inverse ? (uint32_t)((uint64_t)i * d.inverse >> 32) : i;
}

/* One pass of a transform. */
struct mesh_pass {
    uint32_t radix, stride; /* twiddles advance by: size / radix / done */
    struct divisor done;    /* product of the factors before it */
    struct divisor part;    /* size / radix: transforms of the radix in a line */
};

/* One transform: out of place, a pass for each factor of its length; twiddle[k] = exp(-2 pi i k / size). */
struct mesh_axis {
    int32_t size, npasses;
    struct mesh_pass pass[MESH_PASSES];
    struct divisor points, half, pairs; /* size, size / 2 + 1, pairs of lines: (size + 1) / 2 */
    const float (*twiddle)[2];          /* [size] */
    const float *modulus;               /* [size], |b(m)|^-2 */
};

/* The mesh in bricks of equal volume, for atoms to meet in shared memory those that are near. An atom belongs to that
 * in which it lies. */
struct mesh_bricks {
    uint32_t count[3], all; /* along the axes; their product */
    uint32_t extent[3];     /* points along the axes that a brick's atoms touch, from the brick's first on, at most */
    uint32_t cap;           /* atoms that are listed of one brick; the others are strays */
    struct divisor row, plane;      /* extent[2], extent[1] * extent[2] */
    struct divisor along[3], sheet; /* count; count[1] * count[2] */
};

/* Read-only, in device memory. */
struct mesh_table {
    struct mesh_axis axis[3];
    struct mesh_bricks bricks;
    int32_t order, natoms, nwindows, perturbed; /* perturbed: some charge changes from A to B */
    float beta;
    int32_t triclinic;        /* 1: the box is */
    double impulse;           /* what a timestep takes forces times: timesteps from one with the mesh to the next */
    const float (*charge)[2]; /* [natoms] of state A, and B minus A; e */
    const double (*window)[LAMBDA_COUNT];
};

/* Points of a plane of a x b points in shared memory: pairs of lines along b, an odd number apart, or half a spectrum.
 */
MATH_FN uint32_t mesh_plane_points(uint32_t a, uint32_t b)
{
    uint32_t lines = (a + 1) / 2 * (b | 1), spectrum = a * (b / 2 + 1);
    return lines > spectrum ? lines : spectrum;
}

/* Strides of a mesh in one block, in pairs of floats: of rows along z that go on for order - 1 points, and of planes,
 * which have an even number of them. */
MATH_FN uint32_t mesh_block_row(uint32_t nz, uint32_t order)
{
    uint32_t spectrum = nz / 2 + 1, points = (nz + order) / 2;
    return (spectrum > points ? spectrum : points) | 1;
}

MATH_FN uint32_t mesh_block_plane(uint32_t ny, uint32_t nz, uint32_t order)
{
    return (ny + ny % 2) * mesh_block_row(nz, order) | 1;
}

/* Host side of it. */
struct mesh {
    struct mesh_table host;
    bool block, card;               /* ways that replicas may go: one launch does all; launches over the card */
    bool few;                       /* replicas: how long one takes counts more than their number */
    const struct mesh_table *table; /* device address */
    uint32_t shared_most;           /* bytes that a block may have on the device */
    bool meshed;                    /* PME, and some atom has a charge in some state */
};

/* Sizes and factors. ERR_SPEC, ERR_UNSUPPORTED. */
int mesh_make(struct mesh *m, const struct dev_limits *limits, const struct system *sys, const struct settings *set,
              const struct alchemy_plan *plan, struct err *e);
/* Its tables; run twice, measuring and filling. `windows`: device addresses. */
void mesh_lay_out(struct mesh *m, const struct alchemy_plan *plan, const struct lambda_rows *windows, struct arena *a);

/* The way for so many replicas in flight, of those there are. */
enum pme_form mesh_form(const struct mesh *m, int in_flight);
/* There is no other way than that any more. */
void mesh_settle(struct mesh *m, int in_flight);

/* A replica's working memory; nothing if one block does all, always. */
struct mesh_arrays {
    int32_t *charges;     /* [nx][ny][nz], fixed point; then uint32 [bricks.all + 1] atoms in each brick, and strays */
    uint32_t *brick_atom; /* [bricks.all][bricks.cap], then [natoms] strays */
    float (*spectrum)[2]; /* [nx][ny][nz / 2 + 1] */
    float *potential;     /* [nx][ny][nz], kJ/mol/e */
    float (*work)[2];     /* two planes a block, where shared memory has no room for them; else NULL */
};
void mesh_lay_out_block(const struct mesh *m, struct arena *a, struct mesh_arrays *out);

/* Appends the launches of one evaluation. grid: uint32 [natoms][4], fractions of the box in x, y, z. */
struct mesh_replica {
    struct ctl *ctl;
    void *grid;
    int64_t *f;
    struct fixed_sum *energy_at_window;
    struct mesh_arrays arrays;
    enum pme_form form;
};
/* after: launches of the tape that come before, a bit each; arrays.charges are zero then, all mesh_points of them. */
void mesh_emit(const struct mesh *m, enum evaluate mode, const struct mesh_replica *r, uint64_t after, struct tape *t);
/* Numbers in arrays.charges; 0 where they need no clearing. */
uint32_t mesh_points(const struct mesh *m, enum pme_form form);

#endif
