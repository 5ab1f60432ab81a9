/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_ENGINE_MATH_SEARCH_H
#define SHOAL_ENGINE_MATH_SEARCH_H

#include <stdint.h>

#include "engine/math/fn.h"

/* Is `value` one of list[from .. to), which is sorted? */
MATH_FN int search_sorted(const int32_t *list, int32_t from, int32_t to, int32_t value)
{
    while (from < to) {
        int32_t middle = from + (to - from) / 2;
        if (list[middle] == value)
            return 1;
        if (list[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return 0;
}

#endif
