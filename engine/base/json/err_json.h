/* SPDX-License-Identifier: Apache-2.0
 *
 * An error as clients see it, from whichever program: {"error": {"code": "SPEC", "message": "..."}}.
 */
#ifndef SHOAL_ENGINE_BASE_JSON_ERR_JSON_H
#define SHOAL_ENGINE_BASE_JSON_ERR_JSON_H

#include <jansson.h>

#include "engine/base/err.h"

/* A new reference. A message may quote bytes of a user's that are no UTF-8: the text of the code replaces it then. */
json_t *err_json(const struct err *e);
/* The error of such an object into *e, and its code returned as by err_set; ERR_PROTOCOL where it is none. */
int err_from_json(const json_t *object, struct err *e);

#endif
