/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/kernels.h"

#define GPU_SLOTS 16 /* independent graphs that hide a GPU's launch latency: 12 or more */

int device_open(struct dev **out, const char *name, struct err *e)
{
    return dev_open(out, name, engine_kernels, e);
}

unsigned device_slots(const char *name)
{
    if (!strncmp(name, "cuda", 4))
        return GPU_SLOTS;
    long n = !strncmp(name, "cpu:", 4) ? strtol(name + 4, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}
