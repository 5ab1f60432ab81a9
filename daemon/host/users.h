/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of users. The machine's directory is asked, which may take as long as it takes.
 */
#ifndef SHOAL_DAEMON_HOST_USERS_H
#define SHOAL_DAEMON_HOST_USERS_H

#include <stdbool.h>
#include <stdint.h>

#define USERS_NAME 64 /* bytes of a name, with its end */

/* The name of a user, or their number where it has none. For any thread. */
void users_name(uint32_t uid, char name[USERS_NAME]);
/* A user by name or number. False: there is none of this name. */
bool users_find(const char *text, uint32_t *uid);

#endif
