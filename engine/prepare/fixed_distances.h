/* SPDX-License-Identifier: Apache-2.0
 *
 * Constraints of distances, before they are sorted into clusters: those that are given twice, and those whose length
 * depends on lambda.
 */
#ifndef SHOAL_ENGINE_PREPARE_FIXED_DISTANCES_H
#define SHOAL_ENGINE_PREPARE_FIXED_DISTANCES_H

#include "engine/base/buf.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"
#include "engine/prepare/device_tables.h"

/* Whether it is a bond of another form than a harmonic one, that may become a constraint of its first parameter's
 * length. */
bool fixed_distance_has_length(const struct rare_term *r);
/* Whether a bond of these atoms becomes a constraint. */
bool fixed_distance_constrains(const struct system *sys, const int atom[2], enum constrain how);
/* Keeps the first of each pair of atoms, in their order. ERR_TOPOLOGY: one pair with two lengths. */
int fixed_distances_once(struct fixed_distance *list, int *n, const struct system *sys, struct err *e);
/* Of a cluster of n constraints, at the system's coordinates. ERR_TOPOLOGY: one follows from others. */
int fixed_distances_independent(const struct fixed_distance *list, uint32_t n, uint32_t natoms,
                                const struct system *sys, struct err *e);
/* Of two atoms that a rigid water holds. ERR_TOPOLOGY: at another length. */
int fixed_distance_in_water(const struct fixed_distance *d, const struct rigid_water *w, const struct system *sys,
                            struct err *e);
/* Whether its length differs between windows. */
bool fixed_distance_stretches(const struct fixed_distance *d, const struct settings *set);
/* Appends molecule, atoms and both lengths. */
void fixed_distance_describe(const struct fixed_distance *d, const struct system *sys, struct buf *out);

#endif
