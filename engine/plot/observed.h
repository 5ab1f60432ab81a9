/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of observables, from what the results say of them and the curves of their files. The figures of a kind
 * are in engine/system/observables.def: a row is a column of the file, with that of its errors.
 */
#ifndef SHOAL_ENGINE_PLOT_OBSERVED_H
#define SHOAL_ENGINE_PLOT_OBSERVED_H

#include <jansson.h>

#include "engine/series/xvg.h"
#include "engine/plot/plot.h"

/* One of those that are drawn together, of one kind and name. */
struct observed_curve {
    const char *label;   /* whose it is */
    const json_t *about; /* the object of the results; the caller's */
    struct xvg table;    /* of its file */
};

/* All figures of its kind; none where the files have no rows. `which`: which curves these are of all that there are,
 * for the note; NULL: all. */
void observed_plot(struct plot_sheet *to, const struct observed_curve *curves, int n, const char *which);

#endif
