/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists of triclinic boxes in which the nearest image of an atom in reach need not be that of rounded fractions.
 */
#define LISTS_BOX ANY_IMAGE
#include "engine/cuda/lists/build.cuh"

KERNEL(list_build_any_image, a, __launch_bounds__(WARP *BUILD_WARPS, 2))
{
    ECHO(a);
    build_lists(a);
}
