/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPU_SLOTS 16 /* independent graphs that hide a GPU's launch latency: 12 or more */

static bool is_cuda(const char *name)
{
    return !strncmp(name, "cuda", 4);
}

unsigned device_slots(const char *name)
{
    if (is_cuda(name))
        return GPU_SLOTS;
    long n = !strncmp(name, "cpu:", 4) ? strtol(name + 4, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}
