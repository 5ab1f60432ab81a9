/* SPDX-License-Identifier: Apache-2.0
 *
 * Slopes at the points of a correction map, from its values.
 */
#ifndef SHOAL_ENGINE_PREPARE_CMAP_H
#define SHOAL_ENGINE_PREPARE_CMAP_H

#include "engine/math/potentials/cmap.h"

/* values and out: [side][side], phi by psi from -pi on; side: 2 or more. Slopes are those that GROMACS takes: of
 * natural cubic splines through two periods, whose middle one they are read from. */
void cmap_points_make(const double *values, int side, double (*out)[CMAP_NUMBERS]);

#endif
