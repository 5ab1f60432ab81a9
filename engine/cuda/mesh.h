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
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_H
#define SHOAL_ENGINE_CUDA_MESH_H

#include "engine/base/arena.h"
#include "engine/run/program.h"
#include "engine/system/alchemy.h"

#define MESH_CHARGE_SCALE 67108864.0f /* 2^26 per e: a point of the mesh may hold up to 32 e */
#define MESH_PASSES 16                /* of one transform: as many factors of its length */

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
    int32_t pad_;
    const float (*charge)[2]; /* [natoms] of state A, and B minus A; e */
    const double (*window)[LAMBDA_COUNT];
};

/* Host side of it. */
struct mesh {
    struct mesh_table host;
    const struct mesh_table *table; /* device address */
    bool charged;                   /* some atom has a charge in some state */
};

/* Sizes and factors. ERR_SPEC, ERR_UNSUPPORTED. */
int mesh_make(struct mesh *m, const struct system *sys, const struct settings *set, const struct alchemy_plan *plan,
              struct err *e);
/* Its tables; run twice, measuring and filling. `window`: device address of double [nwindows][LAMBDA_COUNT]. */
void mesh_lay_out(struct mesh *m, const struct alchemy_plan *plan, const double (*window)[LAMBDA_COUNT],
                  struct arena *a);

/* A replica's working memory. */
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
/* Points of arrays.charges. */
uint32_t mesh_points(const struct mesh *m);

#endif
