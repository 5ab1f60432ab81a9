/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble that ran to say where windows should be, as its results tell of it: how far apart its windows are, by
 * their deviations and, where these do not agree with how they overlap, by that.
 */
#ifndef SHOAL_ENGINE_BASE_LADDER_PILOT_H
#define SHOAL_ENGINE_BASE_LADDER_PILOT_H

#include <stdbool.h>

#include <jansson.h>

#include "engine/base/ladder/spacing.h"

enum { PILOT_COMPONENTS = 8 };

struct pilot {
    struct spacing_pilot path;
    const char *name[PILOT_COMPONENTS]; /* of components, borrowed from the results */
    double measured;                    /* least overlap of neighbours; NAN: not known */
    double *lambda;
    struct spacing_step *steps;
};

/* results: as `shoal results --json` prints them; they have to outlive *p. Zeroed before; close it in any case.
 * ERR_ESTIMATE: an end of the ladder has no samples, or the results say nothing of the path's length. */
int pilot_read(struct pilot *p, const json_t *results, struct err *e);
void pilot_close(struct pilot *p);
/* Thermodynamic length of the path. */
double pilot_length(const struct pilot *p);
/* Whether neighbours of all windows have a step, so that each interval has a length: pilot_share(p, i), in kT, of the
 * one behind window i; never 0. */
bool pilot_is_whole(const struct pilot *p);
double pilot_share(const struct pilot *p, int interval);
/* The least overlap of neighbours that spacing_overlap expects of the pilot's own windows. */
double pilot_expected(const struct pilot *p);

#endif
