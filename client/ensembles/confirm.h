/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions before something is lost for ever.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_CONFIRM_H
#define SHOAL_CLIENT_ENSEMBLES_CONFIRM_H

#include "client/command/client.h"

/* "QUESTION? [y/N]" on a terminal. True without a question where --yes is given or nobody is there to be asked. */
bool ask_yes(const struct client *c, const char *question);
/* Asks on a terminal whether it may be done to these ensembles (or planned ones): "WHAT: NAME, NAME, ..? [y/N]". True
 * as of ask. A no is answered by what --yes would do. */
bool ask_about(const struct client *c, const char *what, const json_t *ensembles);

#endif
