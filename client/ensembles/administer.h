/* SPDX-License-Identifier: Apache-2.0
 *
 * What administrators have taken out of use.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_ADMINISTER_H
#define SHOAL_CLIENT_ENSEMBLES_ADMINISTER_H

#include <jansson.h>

#include "engine/base/buf.h"

/* Appends who, when and why: "by ann since 2026-11-20T10:00:00Z: fan". */
void administer_put_hold(struct buf *out, const json_t *hold);

#endif
