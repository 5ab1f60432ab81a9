/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks of free energies: nodes, whose values are wanted, and edges, of which differences were measured.
 */
#ifndef SHOAL_CLIENT_STATISTICS_NETWORK_H
#define SHOAL_CLIENT_STATISTICS_NETWORK_H

#include <stdbool.h>

/* value: of node j less that of node i, or of node i itself where j is -1. Its error must be above 0 to count. */
struct measurement {
    int i, j;
    double value, error;
};

/* Whether it has a value and an error above 0: whether the network is made of it too. */
bool measured_counts(const struct measurement *m);

/* Arrays of one entry a node; covariance is [nodes * nodes], 0 between parts that nothing connects. */
struct network {
    int nodes, parts;
    double *value, *covariance;
    int *part;      /* -1: nothing was measured of it, its value is NAN */
    bool *anchored; /* something of its part was measured itself; else the values of the part have the mean 0 */
};

/* The most likely values given what was measured, each with a normal error of its own, and their covariance: the
 * inverse, or in parts without an anchor the pseudo-inverse, of the Fisher information F, F_ii = sum of 1/e^2 over what
 * touches i, F_ij = -1/e^2. H. Xu, J. Chem. Inf. Model. 59, 4720 (2019), doi 10.1021/acs.jcim.9b00528. */
void network_solve(struct network *net, int nodes, const struct measurement *m, int count);
void network_free(struct network *net);

/* A loop: edges, in turn, each with the sign with which it is passed. */
struct loop {
    int *edges, *signs; /* [length]; edges: numbers in m */
    int length;
    double closure, error; /* the signed sum, 0 where all is right; the root of the sum of squared errors */
};
/* Independent loops, as many as there are: edges less nodes plus parts. Each is closed by its last edge, the shortest
 * way through those before. *loops is the caller's. Returns how many. */
int network_loops(int nodes, const struct measurement *m, int count, struct loop **loops);
void loops_free(struct loop *loops, int count);

#endif
