/* SPDX-License-Identifier: Apache-2.0
 *
 * shoald as commands start it: what it is told, and what it says.
 */
#ifndef SHOAL_CLIENT_PROGRAMS_SERVICE_H
#define SHOAL_CLIENT_PROGRAMS_SERVICE_H

#include "client/command/client.h"

enum { SERVICE_WORDS = 2 * GIVEN_MAX + 16 };

/* Where a service keeps things. All three are borrowed. */
struct service_places {
    const char *state, *socket;
    const char *log; /* file that takes what the service prints */
};

/* Fills words[SERVICE_WORDS] for shoald, with c's --device, NULL at the end. Returns how many those are: there is room
 * for a few more. */
int service_words(const struct client *c, const struct service_places *places, const char **words);
/* Opens the log for standard output and standard error of the service. Returns the descriptor, or -code. */
int service_log(const struct service_places *places, struct err *e);
/* Appends the last line of the log, without its time and level; nothing where the log is empty. */
void service_last_words(const struct service_places *places, struct buf *out);
/* Whether a service answers at the socket. */
bool service_answers(const char *socket);

#endif
