/* SPDX-License-Identifier: Apache-2.0
 *
 * The number that an ensemble was run for: of solvation with the sign of putting the molecule in, of a leg of binding
 * with its correction, else the estimate.
 */
#ifndef SHOAL_CLIENT_RESULTS_HEADLINE_H
#define SHOAL_CLIENT_RESULTS_HEADLINE_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/base/buf.h"

/* derivation: how the number follows from the estimate; empty where it is the estimate. */
struct headline {
    bool known;
    double sign, corrections; /* number = sign (estimate + corrections); NAN: there are none */
    struct buf what, number, derivation;
};
void headline_find(struct headline *h, const json_t *results);
void headline_close(struct headline *h);

#endif
