/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_CLIENT_OBSERVED_H
#define SHOAL_CLIENT_OBSERVED_H

#include <jansson.h>

#include "client/sheet.h"

/* The list of results.json; NULL: nothing. */
void observed_show(const json_t *observables, const struct sheet *s);

#endif
