/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/rare_kinds.h"

const struct rare_kind_info rare_kinds[RARE_KINDS] = {
#define RARE(name, section, text, function, atoms, a, b, part, coordinate, first)                                      \
    [RARE_##name] = {atoms, RARE_PART_##part, RARE_OF_##coordinate, RARE_FIRST_##first},
#include "engine/math/bonded_kinds.def"
};
