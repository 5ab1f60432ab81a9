/* SPDX-License-Identifier: Apache-2.0
 *
 * Tapes without graphs. Where the device has a clock: what each launch takes, by events of the stream before and behind
 * it. The stream is held until all of them are in it: else the host, which takes longer to launch a small kernel than
 * the GPU to run it, would be what is timed.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "graphs/cuda/dev.h"

enum { HELD_NS_MOST = 200 * 1000 * 1000 }; /* if a launch waits for the stream itself, which then goes on */

void cuda_ticks_free(struct cuda_dev *d)
{
    for (int i = 0; d->ticks && i < CUDA_TICKS; i++)
        if (d->ticks[i])
            (void)cudaEventDestroy(d->ticks[i]); /* nobody is left to be told */
    free(d->ticks);
}

static int make_ticks(struct cuda_dev *d, struct err *e)
{
    d->ticks = xcalloc(CUDA_TICKS, sizeof *d->ticks);
    for (int i = 0; i < CUDA_TICKS; i++)
        TRY(cudaEventCreate, &d->ticks[i]);
    return 0;
}

/* On a thread of the driver. */
static void CUDART_CB hold(void *gate)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += HELD_NS_MOST;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(gate, &until) && errno == EINTR) {
    }
}

static int submit(struct cuda_dev *d, struct lane *lane, const struct tape *t, struct err *e)
{
    TRY(cudaEventRecord, d->ticks[0], lane->stream);
    TRY(cudaEventRecord, d->ticks[1], lane->stream);
    for (uint32_t i = 0; i < t->count; i++) {
        int rc = cuda_launch(d, lane, t, i, true, e);
        if (rc)
            return rc;
        TRY(cudaEventRecord, d->ticks[i + 2], lane->stream);
    }
    return 0;
}

/* Of the multiprocessors' room for such blocks. What a library launches is not known: all. */
static int part_of(struct cuda_dev *d, const struct launch *l, double *part, struct err *e)
{
    const struct kernel *k = &d->base.kernels.kernels[l->kernel];
    const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    int at_once = 0;
    *part = 1;
    if (k->kind == LAUNCH_LIBRARY)
        return 0;
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor, &at_once, k->gpu, threads, l->shared_bytes);
    const double room = (double)at_once * d->base.limits.processors;
    const double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    if (blocks < room)
        *part = blocks / room;
    return 0;
}

static int seconds_between(struct cuda_dev *d, uint32_t tick, double *seconds, struct err *e)
{
    float ms = 0;
    TRY(cudaEventElapsedTime, &ms, d->ticks[tick], d->ticks[tick + 1]);
    *seconds = 1e-3 * (double)ms;
    return 0;
}

static int tell(struct cuda_dev *d, const struct tape *t, struct err *e)
{
    struct launch_time times[TAPE_LAUNCHES_MAX];
    double nothing, passed;
    int rc = seconds_between(d, 0, &nothing, e);
    for (uint32_t i = 0; i < t->count && !rc; i++) {
        rc = seconds_between(d, i + 1, &passed, e);
        times[i].seconds = passed > nothing ? passed - nothing : 0;
        if (!rc)
            rc = part_of(d, &t->launches[i], &times[i].part, e);
    }
    if (!rc)
        d->base.clock->ran(d->base.clock, &d->base, t, times);
    return rc;
}

/* Waits for the tape. */
static int run_timed(struct cuda_dev *d, struct lane *lane, const struct tape *t, struct err *e)
{
    sem_t gate;
    int rc = d->ticks ? 0 : make_ticks(d, e);
    if (rc)
        return rc;
    sem_init(&gate, 0, 0);
    cudaError_t code = cudaLaunchHostFunc(lane->stream, hold, &gate);
    rc = code == cudaSuccess ? submit(d, lane, t, e) : cuda_failed(d, code, "cudaLaunchHostFunc", e);
    sem_post(&gate);
    code = cudaStreamSynchronize(lane->stream); /* also after a failure: the stream uses the gate */
    sem_destroy(&gate);
    if (!rc && code != cudaSuccess)
        rc = cuda_failed_late(d, code, "cudaStreamSynchronize", e);
    return rc ? rc : tell(d, t, e);
}

/* One launch after another: an order that the edges allow. */
int cuda_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_admit(d, t, e);
    if (!rc && dev->clock)
        return run_timed(d, lane, t, e);
    for (uint32_t i = 0; i < t->count && !rc; i++)
        rc = cuda_launch(d, lane, t, i, true, e);
    return rc;
}
