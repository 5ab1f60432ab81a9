/* SPDX-License-Identifier: Apache-2.0
 *
 * Which atoms are joined, as a forest over atoms: an edge is kept when it joins two trees. Host side, small and exact.
 */
#ifndef SHOAL_ENGINE_PREPARE_UNION_FIND_H
#define SHOAL_ENGINE_PREPARE_UNION_FIND_H

#include <stdbool.h>

struct forest {
    int natoms, nedges;
    int *parent;    /* union-find */
    int (*edge)[2]; /* kept edges */
};

void forest_init(struct forest *f, int natoms);
void forest_close(struct forest *f);
/* True: the two atoms were in different trees, and are in one now. */
bool forest_join(struct forest *f, int a, int b);

/* Numbers the trees by their lowest atom: tree[atom] = 0..n-1; returns n. Atoms outside `member` (NULL: none are) get
 * -1. */
int forest_number(struct forest *f, const bool *member, int *tree);

#endif
