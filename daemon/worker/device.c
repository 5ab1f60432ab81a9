/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/number.h"

#define GPU_SLOTS 16 /* independent graphs that hide a GPU's launch latency: 12 or more */

static bool is_cuda(const char *name)
{
    return !strncmp(name, "cuda", 4);
}

unsigned device_slots(const char *name)
{
    if (is_cuda(name))
        return GPU_SLOTS;
    int64_t n = sysconf(_SC_NPROCESSORS_ONLN);
    if (!strncmp(name, "cpu:", 4))
        number_parse(name + 4, &n);
    return n > 0 ? (unsigned)n : 1;
}
