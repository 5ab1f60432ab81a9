/* SPDX-License-Identifier: Apache-2.0
 *
 * What the value of each option may be, and which member of struct client it becomes.
 */
#ifndef SHOAL_CLIENT_OPTION_VALUES_H
#define SHOAL_CLIENT_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "client/command/option_rows.h"

/* Takes an option with its value, NULL: of a flag; an option that only shoal-worker reads is passed over. `sums`: of
 * the command that sums up what was used, where --since is an age. False: `what` says what is wrong. */
bool option_take(struct client *c, enum option option, const char *value, bool sums, char *what, size_t size);

#endif
