/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows proposed from the results of one ensemble.
 */
#ifndef SHOAL_CLIENT_PROPOSE_PROPOSE_H
#define SHOAL_CLIENT_PROPOSE_PROPOSE_H

#include "client/command/client.h"

/* Prints the windows that the results of `word` suggest: an ensemble, a file that ends in .json, or - for standard
 * input. The exit code. */
int propose_windows(struct client *c, const char *word);

#endif
