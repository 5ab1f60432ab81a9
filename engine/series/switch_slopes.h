/* SPDX-License-Identifier: Apache-2.0
 *
 * dH/dlambda along one switch, a file of its own, as GROMACS writes it of a run with delta-lambda: what pmx and
 * `shoal estimate --forward` read. Lambda goes evenly from 0 to 1, or back, along the changes of the switch, whatever
 * its components are at each of them.
 */
#ifndef SHOAL_ENGINE_SERIES_SWITCH_SLOPES_H
#define SHOAL_ENGINE_SERIES_SWITCH_SLOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/system/settings.h"

/* So many characters and a zero byte are enough for the name of the file of a switch in the folder of its walker. */
#define SWITCH_SLOPES_NAME 40
void switch_slopes_name(char name[SWITCH_SLOPES_NAME], uint64_t number);
/* Whether a file has such a name, and of which switch. */
bool switch_slopes_number(const char *name, uint64_t *number);
/* The whole file. K; ps, of the switch; work[n]: kJ/mol done at n times that are evenly apart, from its beginning to
 * its end, 2 or more. Between two of these dH/dlambda is their difference over that of lambda, and a row has the mean
 * of both sides: so the trapezoid's integral of the rows is the work, to the rounding of what is written. */
void switch_slopes_file(struct buf *out, double temperature, double length, enum switch_way way, const double *work,
                        size_t n);

#endif
