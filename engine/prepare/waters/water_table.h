/* SPDX-License-Identifier: Apache-2.0
 *
 * Which waters are exchanged between bulk and a sphere, the atoms that the sphere is about, and the approximate energy
 * of a water among all other atoms (engine/kernels/waters.h has the formula).
 */
#ifndef SHOAL_ENGINE_PREPARE_WATERS_WATER_TABLE_H
#define SHOAL_ENGINE_PREPARE_WATERS_WATER_TABLE_H

#include "engine/base/arena.h"
#include "engine/prepare/topology.h"

/* An atom of no exchanged water: its Lennard-Jones with a water's oxygen, and its charge, e. */
struct water_neighbour {
    int32_t atom;
    int32_t pad_;
    double c6, c12, charge;
};

/* The same of a perturbed atom; of `pair` Lennard-Jones alone is used. */
struct water_soft {
    int32_t atom;
    int32_t pad_;
    struct soft_pair pair;
    double charge[2];
};

struct water_table {
    const int32_t *around;      /* [naround] atoms whose centroid is the center of the sphere */
    const int32_t (*waters)[3]; /* [nwaters] O, H, H */
    const struct water_neighbour *others;
    const struct water_soft *soft;
    uint32_t naround, nwaters, nothers, nsoft;
    double c6, c12;    /* of two oxygens */
    double charge[2];  /* of oxygen and hydrogen, e */
    double radius;     /* of the sphere, nm */
    double cutoff;     /* between an oxygen and an atom or another oxygen, nm */
    double field;      /* k of the reaction field, 1/nm^3 */
    struct lj_rule lj; /* no cut-off of its own */
    uint32_t function; /* enum soft_function */
    uint32_t power;
};

/* Rigid waters of three sites that have no part in the alchemy, are all alike, and of which there are most: [*n], O, H,
 * H, for the caller to free. */
int32_t (*waters_exchanged(const struct system *sys, const struct settings *set, uint32_t *n))[3];

/* ERR_SPEC: there are no such waters, nothing that the sphere is about, one of its atoms is of such a water, or the
 * sphere is too large for the box. */
int waters_check(const struct system *sys, const struct settings *set, struct err *e);

/* Of a system that has passed waters_check: arrays in memory of the host, which water_table_close frees. Errors are
 * those of alchemy_plan_make. */
int water_table_make(struct water_table *t, const struct system *sys, const struct settings *set,
                     const struct topology *topology, struct err *e);
void water_table_close(struct water_table *t);
/* The table in an arena: its device address. */
const struct water_table *water_table_put(const struct water_table *t, struct arena *a);

#endif
