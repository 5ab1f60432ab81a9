/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graphs/toy_kernels.h"

#define KERNELS_TABLE toy_kernels
#define KERNELS_CPU
#define KERNELS_GPU(kernel) cuda_##kernel
#include "graphs/kernels_table.h"

void cpu_fill(const struct launch *launch, const struct args_fill *args)
{
    double *x = args->x;
    for (uint32_t i = 0; i < args->n; i++)
        x[i] = args->value;
}

void cpu_axpy(const struct launch *launch, const struct args_axpy *args)
{
    const double *x = args->x;
    double *y = args->y;
    for (uint32_t i = 0; i < args->n; i++)
        y[i] += args->a * x[i];
}

void cpu_axpy_less(const struct launch *launch, const struct args_axpy *args)
{
    const double *x = args->x;
    double *y = args->y;
    for (uint32_t i = 0; i < args->n; i++)
        y[i] -= args->a * x[i];
}

void cpu_chain(const struct launch *launch, const struct args_chain *args)
{
    const struct toy_ctl *ctl = args->ctl;
    double *x = args->x;
    for (uint32_t i = 0; i < args->n; i++)
        x[i] = toy_next(x[i], ctl->step, args->scale[1]);
}

void cpu_swap(const struct launch *launch, const struct args_swap *args)
{
    const double *x = args->x;
    double *z = args->z;
    for (uint32_t i = 0; i < args->n; i++)
        z[i] += toy_partner(i) < args->n ? x[toy_partner(i)] : 0;
}

void cpu_shrink(const struct launch *launch, const struct args_shrink *args)
{
    double *z = args->z;
    for (uint32_t i = 0; i < args->n; i++)
        z[i] = args->a * z[i] + 1;
}

void cpu_advance(const struct launch *launch, const struct args_advance *args)
{
    struct toy_ctl *ctl = args->ctl;
    ctl->step++;
}

void cpu_ticket(const struct launch *launch, const struct args_ticket *args)
{
    struct toy_ctl *ctl = args->ctl;
    __atomic_store_n((uint64_t *)args->ticket, ++ctl->tickets, __ATOMIC_RELEASE);
}
