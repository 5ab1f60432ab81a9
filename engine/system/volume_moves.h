/* SPDX-License-Identifier: Apache-2.0
 *
 * How often volume moves were refused because the box would have become too narrow for what its forces reach.
 *
 * Refusing them samples the volumes that are left, those above a bound: right for those, but not what the pressure
 * gives. Where volumes are normal with deviation s, a share q of them lies below the bound, and moves are uniform with
 * a half-width of 1.3 s to 6 s (a quarter to three quarters of them are accepted, to which moves are tuned), the share
 * that is refused tells how much is cut off:
 *
 *   refused   q at most   mean volume off by at most   free energies by at most, -ln(1 - q)
 *      1 %       0.3 %              0.01 s                      0.003 kT
 *     10 %        10 %              0.2 s                       0.11 kT
 *     25 %        60 %              1 s                         0.9 kT
 *
 * (q = Phi(-k) for a bound k deviations below the mean; of the volumes above it the mean is phi(k)/Phi(k) deviations
 * higher; the share is the integral of their density over the volumes within the half-width D of the bound, times the
 * part of moves that cross it.) So one in a hundred does no harm that could be measured, and is told of from there on;
 * one in ten moves a free energy by what errors of 0.1 kcal/mol would show.
 *
 * Where moves change the shape of the box, a larger box has more shapes that its cut-off allows, as the square of
 * ln(V/V0) of volumes V above the least one, V0. The mean volume is that of 2/ln(V/V0) molecules more: nothing that
 * could be seen of many.
 */
#ifndef SHOAL_ENGINE_SYSTEM_VOLUME_MOVES_H
#define SHOAL_ENGINE_SYSTEM_VOLUME_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct volume_moves {
    uint64_t tried, refused; /* of a stage; refused: because the box would have become too narrow */
};

#define VOLUME_REFUSED_SOME 0.01 /* from this share on it is told */
#define VOLUME_REFUSED_MANY 0.1  /* from this one on the density, and what depends on it, is not to be believed */
#define VOLUME_REFUSED_FEWEST 5  /* fewer may be one short visit to the bound */
#define VOLUME_SHAPE_FEWEST                                                                                            \
    100 /* molecules; of fewer the mean volume is not to be believed where the shape changes                           \
         */
#define VOLUME_SHAPE_BIAS                                                                                              \
    "the mean volume of fewer than %d molecules comes out too large where volume moves change the shape of the box, "  \
    "because a larger box has more shapes that its cut-off allows"

static inline double volume_refused_share(const struct volume_moves *m)
{
    return m->refused < VOLUME_REFUSED_FEWEST ? 0 : (double)m->refused / (double)m->tried;
}

#endif
