/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists of rectangular boxes.
 */
static constexpr bool LISTS_TRICLINIC = false;

#include "engine/cuda/list_build.cuh"

KERNEL(list_build, a, __launch_bounds__(32 * BUILD_WARPS, 2))
{
    ECHO(a);
    build_lists(a);
}
