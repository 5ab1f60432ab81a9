/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files a submission reaches. A service says which files it lacks; the client, which reads as its user, opens
 * none that the spec or a file it has sent does not name.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_REACH_H
#define SHOAL_CLIENT_ENSEMBLES_REACH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a text spells out a file: by a path that, seen from the text's own folder or from the base, is `name`, which
 * is normalised. from: the text's own normalised name, then only lines of the preprocessor count; NULL: it is the spec,
 * where any word does. */
bool reach_names(const char *from, const char *text, size_t len, const char *name);

#endif
