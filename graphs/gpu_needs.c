/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/gpu_needs.h"

#include <stdio.h>
#include <string.h>

int gpu_needs_driver(int driver, int runtime, struct err *e)
{
    const int major = runtime / 1000;
    if (driver / 1000 >= major)
        return 0;
    if (!driver)
        return err_set(e, ERR_DEVICE, "no NVIDIA driver is installed; expected one for CUDA %d.0 or later", major);
    return err_set(e, ERR_DEVICE, "the NVIDIA driver is for CUDA %d.%d; expected one for CUDA %d.0 or later",
                   driver / 1000, driver % 1000 / 10, major);
}

int gpu_needs_kernels(const char *archs, int major, int minor, struct err *e)
{
    int arch, length;
    if (major < GPU_MAJOR_LEAST)
        return err_set(e, ERR_DEVICE, "compute capability %d.%d; expected %d.0 or later", major, minor,
                       GPU_MAJOR_LEAST);
    for (const char *at = archs; sscanf(at, " sm_%d%n", &arch, &length) == 1; at += length)
        if (arch / 10 == major && arch % 10 <= minor)
            return 0;
    return err_set(e, ERR_DEVICE,
                   "compute capability %d.%d; this program has kernels for %s, expected -Dgpu_archs=sm_%d%d "
                   "when it was built",
                   major, minor, archs, major, minor);
}
