/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that may be unknown: NAN in C, null in JSON.
 */
#ifndef SHOAL_ENGINE_BASE_JSON_NUMBER_JSON_H
#define SHOAL_ENGINE_BASE_JSON_NUMBER_JSON_H

#include <jansson.h>

/* A new reference: null where x is not finite. */
json_t *number_json(double x);
/* NAN where it is no number, or NULL. */
double number_from_json(const json_t *v);

#endif
