/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/cuda/needs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"

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

uint32_t gpu_needs_listed(const char *list)
{
    uint32_t found = 0;
    DIR *d = opendir(list);
    for (const struct dirent *f; d && (f = readdir(d));)
        found += f->d_name[0] != '.';
    if (d)
        closedir(d);
    return found;
}

int gpu_needs_library(uint32_t listed, struct err *e)
{
    if (!listed)
        return 0;
    return err_set(e, ERR_DEVICE, "%u NVIDIA %s, but no libcuda.so.1; expected that of the driver", listed,
                   number_word(listed, "GPU", "GPUs"));
}

int gpu_needs_access(uint32_t listed, struct err *e)
{
    if (!listed)
        return 0;
    return err_set(e, ERR_DEVICE,
                   "%u NVIDIA %s, none open to this process; expected /dev/nvidia* that it may read and write, and no "
                   "CUDA_VISIBLE_DEVICES that hides them",
                   listed, number_word(listed, "GPU", "GPUs"));
}

int gpu_needs_cuda(uint32_t listed, struct err *e)
{
    if (!listed)
        return 0;
    return err_set(e, ERR_DEVICE,
                   "%u NVIDIA %s, but this program was built without CUDA; expected nvcc of the CUDA toolkit %d.0 or "
                   "later when it was built",
                   listed, number_word(listed, "GPU", "GPUs"), GPU_CUDA_LEAST);
}
