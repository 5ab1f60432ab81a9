/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows that a pilot placed, put into the text of its spec.
 */
#ifndef SHOAL_DAEMON_SPEC_PLACE_WINDOWS_H
#define SHOAL_DAEMON_SPEC_PLACE_WINDOWS_H

#include <jansson.h>

#include "daemon/spec/spec.h"

/* From what a pilot came to, as results.json has it, to as many windows as `pilot`, its spec, asks for. *out, appended
 * to: `text`, the spec, with these windows as alchemy.ladder.placed; *said, appended to: a sentence about them.
 * ERR_ESTIMATE: the samples do not say where windows belong, or there cannot be so many. */
int spec_place_windows(const struct spec *pilot, const char *text, const json_t *results, struct buf *out,
                       struct buf *said, struct err *e);

/* Whether a spec whose ladder is to be placed is written so that windows can be put into its text. ERR_SPEC. */
int spec_check_placing(const char *file, const char *text, size_t len, struct err *e);

#endif
