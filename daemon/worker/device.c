/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/cpu/kernels.h"

#define GPU_SLOTS 16 /* independent graphs that hide a GPU's launch latency: 12 or more */

static bool is_cuda(const char *name)
{
    return !strncmp(name, "cuda", 4);
}

int device_open(struct dev **out, const char *name, struct err *e)
{
    int rc = dev_open(out, name, engine_kernels, e);
    for (uint32_t k = 0; !rc && is_cuda(name) && k < engine_kernels.count; k++)
        if (!engine_kernels.kernels[k].cuda) {
            dev_close(*out);
            rc = err_set(e, ERR_UNSUPPORTED, "%s: kernel %s of the engine has no CUDA version here; use the device cpu",
                         name, engine_kernels.kernels[k].name);
        }
    return rc;
}

unsigned device_slots(const char *name)
{
    if (is_cuda(name))
        return GPU_SLOTS;
    long n = !strncmp(name, "cpu:", 4) ? strtol(name + 4, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}
