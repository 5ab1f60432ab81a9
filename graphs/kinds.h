/* SPDX-License-Identifier: Apache-2.0
 *
 * What the name of a device says, for programs that open none.
 */
#ifndef SHOAL_GRAPHS_KINDS_H
#define SHOAL_GRAPHS_KINDS_H

#include <stdbool.h>
#include <string.h>

static inline bool device_is_gpu(const char *name)
{
#define HOST(kind)
#define GPU(kind) || !strncmp(name, #kind ":", sizeof #kind)
    return false
#include "graphs/kinds.def"
        ;
}

#endif
