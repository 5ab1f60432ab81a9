/* SPDX-License-Identifier: Apache-2.0
 *
 * What each enum vdw_modifier is to those who read and describe settings (engine/math/vdw_modifiers.def).
 */
#ifndef SHOAL_ENGINE_SYSTEM_VDW_MODIFIERS_H
#define SHOAL_ENGINE_SYSTEM_VDW_MODIFIERS_H

#include <stdbool.h>

#include "engine/math/terms.h"

struct buf;

struct vdw_modifier_info {
    const char *word; /* of a spec */
    bool switches;    /* it begins at vdw.switch-start */
    const char *text; /* for a methods section */
};
extern const struct vdw_modifier_info vdw_modifiers[];

/* Appends the words of those that switch: "a, b and c". */
void vdw_modifiers_that_switch(struct buf *out);

#endif
