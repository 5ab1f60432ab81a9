/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks in lanes of the CUDA device, and waiting for them. The host looks at words in mapped memory; streams are asked
 * once a second, to hear of errors that keep those words from ever changing.
 */
#include <time.h>

#include "graphs/cuda/dev.h"

#define LOOK_EVERY 1e6 /* microseconds between questions about the streams' health */

int cuda_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    CUresult code = d->driver.write_value((CUstream)lane->stream, (CUdeviceptr)(uintptr_t)lane->passed_device,
                                          lane->marked + 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (code != CUDA_SUCCESS)
        return cuda_failed(d, (cudaError_t)code, "cuStreamWriteValue64", e); /* the numbers are the same */
    *out = (struct mark){lane->passed, ++lane->marked};
    return 0;
}

/* Lanes that share a queue of the hardware are no matter: what is waited for was submitted before. */
int cuda_follow(struct dev *dev, struct lane *lane, struct lane *before, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    TRY(cudaEventRecord, before->reached, before->stream);
    TRY(cudaStreamWaitEvent, lane->stream, before->reached, 0);
    return 0;
}

void cuda_watch(struct dev *dev, struct lane *lane, const uint64_t *word, uint64_t target)
{
    lane->watched_since = dev_now();
    pace_news(&cuda(dev)->pace, lane->watched_since);
    lane->watched = (struct mark){word, target};
}

/* Some watched word has not reached its target, and none has since the last call. */
static bool waits(struct cuda_dev *d, double now)
{
    bool waiting = false, reached = false;
    for (struct lane *lane = d->lanes; lane; lane = lane->next) {
        if (!lane->watched.word)
            continue;
        if (mark_passed(&lane->watched)) {
            lane->watched = (struct mark){0};
            pace_news(&d->pace, now);
            pace_waited(&d->pace, now - lane->watched_since);
            reached = true;
        } else {
            waiting = true;
        }
    }
    return waiting && !reached;
}

static int look_at_streams(struct cuda_dev *d, double now, struct err *e)
{
    if (now - d->looked_at < LOOK_EVERY)
        return 0;
    d->looked_at = now;
    cuda_enter(&d->base);
    for (struct lane *lane = d->lanes; lane; lane = lane->next) {
        cudaError_t rc = cudaStreamQuery(lane->stream);
        if (rc != cudaSuccess && rc != cudaErrorNotReady)
            return cuda_failed_late(d, rc, "cudaStreamQuery", e);
    }
    return 0;
}

static void sleep_for(double microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e3 * microseconds)}, NULL);
}

/* It asks CUDA for nothing but once a second: several devices may be looked at in turn, often. */
int cuda_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    double start = dev_now(), now = start, until = timeout_ms < 0 ? 1e300 : start + 1e3 * timeout_ms;
    for (;; now = dev_now()) {
        int rc = cuda_lost(d, e);
        if (rc || (rc = look_at_streams(d, now, e)))
            return rc;
        if (!waits(d, now) || now >= until)
            return 0;
        double sleep = pace_sleep(&d->pace, now);
        if (sleep > 0)
            sleep_for(sleep < until - now ? sleep : until - now);
    }
}

int cuda_poll_fd(struct dev *dev)
{
    return -1;
}
