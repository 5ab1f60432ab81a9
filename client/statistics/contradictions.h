/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a network contradicts the rest of it.
 */
#ifndef SHOAL_CLIENT_STATISTICS_CONTRADICTIONS_H
#define SHOAL_CLIENT_STATISTICS_CONTRADICTIONS_H

#include "client/statistics/network.h"

/* One part whose measurements do not agree within their errors. */
struct contradiction {
    int part;           /* as network_solve numbers them */
    int loops;          /* independent ones, an anchor more than one counting as one */
    double chi_square;  /* of what does not close, of so many degrees of freedom */
    int *edges, length; /* numbers in m, all of them contradicted alike; none: no one of them explains it */
    double off, error;  /* the first of these less what the rest says of it */
};

/* Measurements that the rest contradicts, the worst first, each found without those before it. A part is held to
 * chi-square over its independent loops, a measurement to its residual over the residual's own error (W. Baarda, A
 * Testing Procedure for Use in Geodetic Networks, Delft (1968)): in a network with one bad measurement that is largest
 * there. Measurements that only ever meet in the same loops have the same, and no test can tell them apart. *out is the
 * caller's. Returns how many. */
int network_contradictions(int nodes, const struct measurement *m, int count, struct contradiction **out);
void contradictions_free(struct contradiction *list, int count);

#endif
