/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels for the tests of graphs/, and what they compute, once for both devices.
 */
#ifndef SHOAL_TESTS_GRAPHS_TOY_KERNELS_H
#define SHOAL_TESTS_GRAPHS_TOY_KERNELS_H

#define KERNELS_DEF "tests/graphs/toy_kernels.def"
#include "graphs/kernels.h"

#ifdef __CUDACC__
#define TOY_FN static inline __host__ __device__
#else
#define TOY_FN static inline
#endif

enum { TOY_BLOCK = 128 };

/* What varies from step to step lives in device memory, never in arguments. */
struct toy_ctl {
    uint64_t step, tickets;
};

/* One step of a logistic map moved by the step number: products of doubles only, so that host and GPU need no library
 * function. Values stay in (0, 1). */
TOY_FN double toy_next(double x, uint64_t step, float scale)
{
    double y = (double)scale * x * (1 - x);
    return y * (1 - 0x1p-12 * (double)(step & 15));
}

/* The same place in the other of two blocks. */
TOY_FN uint32_t toy_partner(uint32_t i)
{
    return (i / TOY_BLOCK ^ 1) * TOY_BLOCK + i % TOY_BLOCK;
}

#ifndef __cplusplus
extern const struct kernel_table toy_kernels;
#endif

#endif
