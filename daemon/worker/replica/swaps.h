/* SPDX-License-Identifier: Apache-2.0
 *
 * Which replica goes on in which window: Hamiltonian replica exchange as a pure function of energies and random
 * numbers.
 *
 * Two replicas, at x in window i and at y in window j, change places with the chance min(1, exp(-D)) (Metropolis),
 * where
 *
 *     D = beta [U_j(x) - U_i(x) + U_i(y) - U_j(y)].
 *
 * All windows have one temperature, so velocities are as likely in one as in the other (none exchanges where masses
 * differ or constraints do). They have one pressure, so p V(x) + p V(y) is the same before and after: D has no such
 * term.
 *
 *   neighbours: the pairs (0,1), (2,3), ... and (1,2), (3,4), ... by turns.
 *   gibbs: pairs drawn at random, K^3 of them for K windows, but no more than SWAPS_MOST: Chodera and Shirts, J. Chem.
 * Phys. 135, 194110 (2011), doi 10.1063/1.3660669. Each leaves the distribution of all windows together as it is, and
 * so do any number.
 *
 * Random numbers are those of the ensemble's seed, the set (its first replica's key) and the number of the exchange:
 * they depend on nothing that happened before.
 */
#ifndef SHOAL_DAEMON_WORKER_REPLICA_SWAPS_H
#define SHOAL_DAEMON_WORKER_REPLICA_SWAPS_H

#include <stdint.h>

#include "engine/system/settings.h"

#define SWAPS_MOST 20000

struct swaps {
    enum exchange_scheme scheme;
    int windows;
    uint64_t seed;
    uint32_t set;
    double beta; /* mol/kJ */
};

/* Exchange `number`, from 0. delta_u: [windows][windows], kJ/mol: of the replica in window w, U at each window minus
 * that at w; what is not a number keeps a pair as it is. from[w]: the window whose replica comes to w. */
void swaps_draw(const struct swaps *s, uint64_t number, const double *delta_u, int *from);

#endif
