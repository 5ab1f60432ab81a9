/* SPDX-License-Identifier: Apache-2.0
 *
 * Smooth particle-mesh Ewald on a GPU (Essmann et al. 1995, doi 10.1063/1.470117): charges to the mesh, transforms,
 * convolution, forces.
 *
 *   spread    charges (of the current lambda, or their change from A to B) in 32-bit fixed point, so that their order does not
 *             matter
 *   forward   one block a plane of constant x: transforms over z and y
 *   solve     one block a plane of constant y: transform over x, convolution with energy and virial, transform back
 *   backward  one block a plane of constant x: transforms over y and z
 *   gather    potential and forces at the atoms
 *
 * Where the mesh fits into the shared memory of one block, one launch does all of it (mesh_block.cu): slower for one replica,
 * but it takes one of the device's processors for that time, not all. Both give the same bits.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_H
#define SHOAL_ENGINE_CUDA_MESH_H

#include "engine/base/arena.h"
#include "engine/run/program.h"
#include "engine/system/alchemy.h"

#define MESH_CHARGE_SCALE 67108864.0f /* 2^26 per e: a point of the mesh may hold up to 32 e */
#define MESH_CHARGE_UNIT (1 / MESH_CHARGE_SCALE)
#define MESH_PASSES 16 /* of one transform: as many factors of its length */

enum {
    MESH_LANES = 4, /* threads of an atom that spread and gather */
    MESH_ORDER_MAX = 6,
    MESH_BLOCK = 512, /* threads that do a whole mesh: as many as leave each the registers for a line */
};
/* Sizes along an axis that one block can do. */
#define MESH_BLOCK_LENGTHS(F) F(12) F(14) F(16) F(18) F(20) F(24) F(25) F(28) F(30) F(32) F(36)

/* One transform: out of place, a pass for each factor of its length; twiddle[k] = exp(-2 pi i k / size). */
struct mesh_axis {
    int32_t size, npasses;
    int32_t radix[MESH_PASSES];
    const float (*twiddle)[2]; /* [size] */
    const float *modulus;      /* [size], |b(m)|^-2 */
};

/* Read-only, in device memory. */
struct mesh_table {
    struct mesh_axis axis[3];
    int32_t order, natoms, nwindows, perturbed; /* perturbed: some charge changes from A to B */
    float beta;
    int32_t triclinic;        /* 1: the box is; one block cannot do it */
    const float (*charge)[2]; /* [natoms] of state A, and B minus A; e */
    const double (*window)[LAMBDA_COUNT];
};

/* Strides of a mesh in one block, in pairs of floats: of rows along z that go on for order - 1 points, and of planes, which
 * have an even number of them. */
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
    bool one_block;                 /* one launch does all */
    const struct mesh_table *table; /* device address */
    bool charged;                   /* some atom has a charge in some state */
};

/* Sizes and factors. ERR_SPEC, ERR_UNSUPPORTED. */
int mesh_make(struct mesh *m, const struct system *sys, const struct settings *set, const struct alchemy_plan *plan,
              struct err *e);
/* Its tables; run twice, measuring and filling. `window`: device address of double [nwindows][LAMBDA_COUNT]. */
void mesh_lay_out(struct mesh *m, const struct alchemy_plan *plan, const double (*window)[LAMBDA_COUNT],
                  struct arena *a);

/* A replica's working memory; nothing if one block does all. */
struct mesh_arrays {
    int32_t *charges;     /* [nx][ny][nz], fixed point; zero before the spreading */
    float (*spectrum)[2]; /* [nx][ny][nz / 2 + 1] */
    float *potential;     /* [nx][ny][nz], kJ/mol/e */
};
void mesh_lay_out_block(const struct mesh *m, struct arena *a, struct mesh_arrays *out);

/* Appends the launches of one evaluation. grid: uint32 [natoms][4], fractions of the box in x, y, z. */
struct mesh_replica {
    struct ctl *ctl;
    void *grid;
    int64_t *f;
    struct fixed_sum *energy_at_window;
    struct mesh_arrays arrays;
};
/* after: launches of the tape that come before, a bit each; arrays.charges are zero then. */
void mesh_emit(const struct mesh *m, enum evaluate mode, const struct mesh_replica *r, uint64_t after, struct tape *t);
/* Points of arrays.charges; 0 where they need no clearing. */
uint32_t mesh_points(const struct mesh *m);

#endif
