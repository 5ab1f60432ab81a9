/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning of an evaluation and the end of a piece of work; digests of tables.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/uniform.h"
#include "engine/math/digest.h"
#include "engine/run/program.h"

KERNEL(uniform, a)
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct uniform_table *p = (const struct uniform_table *)a.uniform;
    const double(*window)[LAMBDA_COUNT] = (const double(*)[LAMBDA_COUNT])a.windows;
    struct fixed_sum *u = (struct fixed_sum *)a.energy_at_window;
    if (c->halt)
        return;
    if (a.mode == EVALUATE_SAMPLE)
        BLOCK_LOOP(w, a.nwindows)
    uniform_at_window(p, c, window[w], &u[w]);
    if (threadIdx.x == 0)
        uniform_add(p, c);
}

KERNEL(report, a)
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    struct sim_report *r = report_at(a.report, report_bytes((int32_t)a.nwindows), c->tickets + 1);
    double *x = (double *)a.x;
    const double *x_old = (const double *)a.x_old;
    if (c->halt && c->trial)
        BLOCK_LOOP(i, 3 * a.natoms)
    x[i] = x_old[i];
    __syncthreads();
    if (threadIdx.x == 0 && c->halt && c->trial) {
        for (int k = 0; k < BOX_SIZE; k++)
            c->box[k] = c->box_old[k];
        c->trial = 0;
    }
    BLOCK_LOOP(w, a.nwindows)
    report_energies(r)[w] = ((const struct fixed_sum *)a.energy_at_window)[w];
    publish(c, r);
}

KERNEL(digest, a)
{
    ECHO(a);
    const uint64_t sum =
        block_sum(digest_part((const uint64_t *)a.tables, a.words, blockIdx.x, threadIdx.x, blockDim.x));
    if (threadIdx.x == 0)
        ((uint64_t *)a.digests)[blockIdx.x] = sum;
}
