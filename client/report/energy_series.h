/* SPDX-License-Identifier: Apache-2.0
 *
 * What a window's energy.xvg says over time, summed up while it comes: a file of any length takes the same memory.
 */
#ifndef SHOAL_CLIENT_REPORT_ENERGY_SERIES_H
#define SHOAL_CLIENT_REPORT_ENERGY_SERIES_H

#include "client/command/client.h"

enum series_kind {
    SERIES_TEMPERATURE,
    SERIES_PRESSURE,
    SERIES_VOLUME,
    SERIES_POTENTIAL,
    SERIES_TOTAL,
    SERIES_COORDINATION, /* and the two behind it: the first three that biases act along */
    SERIES_KINDS = SERIES_COORDINATION + 3
};
/* Its legend in energy.xvg, its unit ("": none), and whether every file has it. */
struct series_name {
    const char *legend, *unit;
    bool always;
};
extern const struct series_name series_names[SERIES_KINDS];

enum { SERIES_BINS = 100 };

/* Rows that follow each other, all of production or all before. */
struct series_bin {
    double from, to; /* ps */
    long rows;
    double least[SERIES_KINDS], most[SERIES_KINDS], sum[SERIES_KINDS];
};

struct energy_series {
    struct series_bin bins[SERIES_BINS]; /* the least and the most of each are those of its rows: no spike is lost */
    int n;
    long stride; /* rows of a full bin */
    double least[SERIES_KINDS],
        most[SERIES_KINDS];   /* of production, which begins at time 0; INFINITY, -INFINITY: none, or no column */
    int column[SERIES_KINDS]; /* of the file; 0, the time's: it has none */
};

/* Joins bins until there are at most so many; of each pair both are of production or both are not. */
void series_thin(struct energy_series *s, int most);
/* All lines of a file of an ensemble; one that is not there has none. */
int series_fetch(struct energy_series *s, const struct client *c, const char *id, const char *path, struct err *e);

#endif
