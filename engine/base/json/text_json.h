/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of files as JSON strings.
 */
#ifndef SHOAL_ENGINE_BASE_JSON_TEXT_JSON_H
#define SHOAL_ENGINE_BASE_JSON_TEXT_JSON_H

#include <jansson.h>

/* A new reference. Bytes that are not UTF-8 are taken as Latin-1, in which comments of old force fields are written. */
json_t *text_json(const char *text, size_t len);

#endif
