/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graphs/toy_kernels.h"

#define FOR_EACH(i, n) for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

extern "C" __global__ void cuda_fill(struct args_fill args)
{
    double *x = (double *)args.x;
    FOR_EACH(i, args.n)
    x[i] = args.value;
}

extern "C" __global__ void cuda_axpy(struct args_axpy args)
{
    const double *x = (const double *)args.x;
    double *y = (double *)args.y;
    FOR_EACH(i, args.n)
    y[i] += args.a * x[i];
}

extern "C" __global__ void cuda_chain(struct args_chain args)
{
    const struct toy_ctl *ctl = (const struct toy_ctl *)args.ctl;
    double *x = (double *)args.x;
    FOR_EACH(i, args.n)
    x[i] = toy_next(x[i], ctl->step, args.scale);
}

extern "C" __global__ void cuda_advance(struct args_advance args)
{
    struct toy_ctl *ctl = (struct toy_ctl *)args.ctl;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ctl->step++;
}

/* The fence: what the host reads after the ticket (other mapped memory) is what was written before it. */
extern "C" __global__ void cuda_ticket(struct args_ticket args)
{
    struct toy_ctl *ctl = (struct toy_ctl *)args.ctl;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __threadfence_system();
        *(volatile uint64_t *)args.ticket = ++ctl->tickets;
    }
}
