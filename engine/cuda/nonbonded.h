/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded and alchemical forces of the CUDA program: the read-only tables of a model, and the launches that step.c
 * puts between its own.
 *
 * An evaluation finds zero sums, and adds to f, to the sums in ctl (with energies) and to energy_at_window[k], the
 * lambda-dependent energy at window k (samples); what is common to all windows may be left out of it.
 *
 * Of few replicas each is spread over more of the device, as how long one takes counts then. What they share out goes
 * by the number of the ensemble's windows (struct settings), once for a model, and gives the same bits whatever it is;
 * a model of costs whose constants were measured on an H200, with the inputs of tests/bench (tests/bench/LOG.md has the
 * figures), and would be others elsewhere:
 *
 *   MESH_MANY             from 8 on bricks are large, planes have 96 threads, and no launch begins early; it is also
 * what the way of the mesh begins with, which the daemon goes on to measure (daemon/worker/device/mesh_choice.h).
 * SOLVENT, 5,166 atoms: x 8 14.5 us by the card, 15.1 by a block; x 12 11.5 and 10.3 pairs_alone (2)       twice as
 * many blocks of lists, wider buffers, longer between their searches whole_lanes, regions  lanes of a trio and blocks
 * of a region: as many as fill the multiprocessors with those of all replicas. 1,017 atoms x 48 with 4, 8, 16
 * lanes: 2.90, 2.26, 2.24 us; 2,155 atoms x 12 7.8, 6.8, 6.8, x 24 4.83, 4.60, 4.84; SOLVENT x 12 8.67, 8.97, 10.1
 *   step_waters           64 waters in a block instead of 128 until all replicas have two blocks for each
 * multiprocessor
 */
#ifndef SHOAL_ENGINE_CUDA_NONBONDED_H
#define SHOAL_ENGINE_CUDA_NONBONDED_H

#include "engine/cuda/mesh/mesh.h"
#include "engine/cuda/pairs/pairs.h"
#include "engine/cuda/tiny/tiny.h"
#include "engine/run/program.h"

/* The calls of struct program. */
int cuda_nonbonded_new(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                       const struct topology *t, const struct lambda_rows *windows, struct err *e);
void cuda_nonbonded_free(struct nonbonded *nb);
const struct readonly *cuda_nonbonded_tables(const struct nonbonded *nb);
enum pme_form cuda_pme_form(const struct nonbonded *nb, int in_flight);
void cuda_caps_guess(const struct nonbonded *nb, struct list_caps *caps);
void cuda_caps_grow(struct list_caps *caps, const struct ctl *ctl);
size_t cuda_block_bytes(const struct nonbonded *nb, const struct list_caps *caps);

/* What is the caller's of a replica. Device addresses. */
struct nonbonded_arrays {
    struct ctl *ctl;
    double *x;                          /* [natoms][3], nm, molecules whole, not wrapped */
    double *v;                          /* [natoms][3], nm/ps */
    int64_t *f;                         /* [natoms][3], units of 2^-32 kJ/mol/nm */
    struct fixed_sum *energy_at_window; /* [nwindows] */
    const struct list_caps *caps;
    void *block; /* cuda_block_bytes() bytes */
    const struct bonded_table *bonded;
    uint32_t nbonded, nrare; /* threads of bonded terms; how many of these are in the lists of kernels/rare_terms.h */
    enum pme_form pme;       /* PME_BLOCK or PME_CARD; PME_AUTO: there is no mesh */
};

/* Boxes that are not larger are not moved to. */
struct box_limits cuda_box_limits(const struct nonbonded *nb);
/* Launches of a tape that others come after are a bit each; 0: the step before. Appends the one that places atoms and
 * clears forces and sums (lists/place.cuh); its arguments; and the launches of one evaluation, bonded terms too, after
 * it. */
uint64_t cuda_place_emit(const struct nonbonded *nb, const struct nonbonded_arrays *r, uint64_t after, struct tape *t);
struct args_place cuda_place_args(const struct nonbonded *nb, const struct nonbonded_arrays *r);
void cuda_nonbonded_emit(const struct nonbonded *nb, enum evaluate mode, const struct nonbonded_arrays *r,
                         uint64_t placed, struct tape *t);
/* Of a tiny system, else NULL. */
const struct tiny *cuda_nonbonded_tiny(const struct nonbonded *nb);
/* The replica's struct motion_tail, in the block. */
void *cuda_block_tail(const struct nonbonded *nb, const struct nonbonded_arrays *r);

#endif
