/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev_open.h"
#include "graphs/cuda/needs.h"

int dev_cuda_count(uint32_t *out, struct err *e)
{
    *out = 0;
    return gpu_needs_cuda(gpu_needs_listed(GPU_LIST), e);
}

int dev_cuda_open(struct dev **out, const char *name, uint32_t ordinal, struct kernel_table kernels, struct err *e)
{
    return err_set(e, ERR_DEVICE, "%s: built without CUDA", name);
}
