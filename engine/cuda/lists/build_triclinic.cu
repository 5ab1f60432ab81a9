/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists of triclinic boxes. One kernel for all kinds of boxes would be slower in each (tests/bench/LOG.md).
 */
#define LISTS_BOX TRICLINIC
#include "engine/cuda/lists/build.cuh"

KERNEL(list_build_triclinic, a, __launch_bounds__(WARP *BUILD_WARPS, 2))
{
    ECHO(a);
    build_lists(a);
}
