/* SPDX-License-Identifier: Apache-2.0
 *
 * A few members of a large JSON object, without making values of the others. jansson, which makes all of them,
 * takes 1.6 ms for the results of 60 windows (87 kB), this 6 us, as the members that gather reads stand at the front: a
 * thousand ensembles in 0.5 s, not in 2.
 */
#ifndef SHOAL_CLIENT_ASK_MEMBERS_H
#define SHOAL_CLIENT_ASK_MEMBERS_H

#include <jansson.h>

/* An object of those members of the object in `text` whose names are among `wanted`, NULL at its end: a new reference.
 * What else is there is only passed over, and not at all once everything wanted was found. NULL: the text is no JSON
 * object as far as it was read. */
json_t *members_load(const char *text, size_t len, const char *const *wanted);

#endif
