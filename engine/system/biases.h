/* SPDX-License-Identifier: Apache-2.0
 *
 * Collective variables of a system, and what biases along them add to its energy. Part of struct system, and of the
 * read-only tables of a model.
 */
#ifndef SHOAL_ENGINE_SYSTEM_BIASES_H
#define SHOAL_ENGINE_SYSTEM_BIASES_H

#include <stddef.h>

#include "engine/math/potentials/bias.h"
#include "engine/math/potentials/coordination.h"
#include "engine/math/fixed.h"

/* Of a system, and atoms of one group. */
enum { COORDINATIONS_MOST = 8, COORDINATION_ATOMS_MOST = 100000 };

/* Which pairs count: of an atom of each group, of two atoms of the one group, of the k-th atoms of both. No atom is a
 * pair. */
enum coordination_pairs { COORDINATION_BETWEEN, COORDINATION_WITHIN, COORDINATION_PAIRED };

/* A group is count atoms from system.coordination_atoms[first] on; of one group both are the same. */
struct coordination {
    uint32_t first[2], count[2]; /* the second has no fewer atoms than the first */
    uint32_t pairs;              /* enum coordination_pairs */
    uint32_t periodic;           /* 1: nearest images; 0: distances as molecules go, across edges */
    struct rational f;
};

struct system;

/* c with the numbers of atoms of its groups, as the spec names them: the larger is the second where they are two. */
struct coordination coordination_sized(struct coordination c, const int n[2]);
/* Appends one to a system that is being made: pairs, periodic and f of c, and its groups' atoms; of one group the
 * first. */
void system_add_coordination(struct system *sys, struct coordination c, const int *const group[2], const int n[2]);

/* Where a schedule has come to at a timestep, counted since the replica began. */
struct bias_knot {
    double step, at, k;
};

/* c: as of bias_value(). With a schedule, knots[first .. first + count) of the system in the order of their steps, c is
 * that of the knots around the step, in between in proportion, before and behind them that of the nearest. */
struct bias {
    uint32_t coordination; /* index */
    uint32_t kind;         /* enum bias_kind */
    uint32_t first, count; /* knots; count 0: none */
    double c[2][2];
};

struct bias_table {
    const struct coordination *coordinations;
    const int32_t *atoms;
    const struct bias *biases;
    const struct bias_knot *knots;
    const double (*lambda)[LAMBDA_COUNT]; /* [nwindows] */
    uint32_t nwindows, ncoordinations, nbiases, natoms;
};

/* A replica's sums, behind one another in memory; zero between evaluations. */
struct bias_sums {
    struct fixed_sum (*virial)[9]; /* [ncoordinations], r x gradient/2 over pairs */
    int64_t (*gradient)[3];        /* [natoms of the table] */
};

MATH_FN struct bias_sums bias_sums_at(void *memory, uint32_t ncoordinations)
{
    struct bias_sums s;
    s.virial = (struct fixed_sum(*)[9])memory;
    s.gradient = (int64_t(*)[3])(s.virial + ncoordinations);
    return s;
}

static inline size_t bias_sums_bytes(uint32_t ncoordinations, uint32_t natoms)
{
    const struct bias_sums s = {NULL, NULL};
    return ncoordinations * sizeof *s.virial + natoms * sizeof *s.gradient;
}

#endif
