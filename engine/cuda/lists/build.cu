/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists of rectangular boxes.
 */
#define LISTS_BOX RECTANGULAR
#include "engine/cuda/lists/build.cuh"

KERNEL(list_build, a, __launch_bounds__(WARP *BUILD_WARPS, 2))
{
    ECHO(a);
    build_lists(a);
}
