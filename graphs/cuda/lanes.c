/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes of the CUDA device: non-blocking streams.
 */
#include <stdlib.h>

#include "engine/base/buf.h"
#include "graphs/cuda/dev.h"

int cuda_lane_new(struct dev *dev, struct lane **out, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    struct lane lane = {0};
    void *host;
    int rc = cuda_alloc(dev, NULL, DEV_MAPPED, sizeof *lane.passed, &lane.passed_device, &host, e);
    if (rc)
        return err_prefix(e, "a lane's word");
    cudaError_t code = cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    if (code == cudaSuccess && (code = cudaEventCreateWithFlags(&lane.reached, cudaEventDisableTiming)) != cudaSuccess)
        cuda_note(d, cudaStreamDestroy(lane.stream), "cudaStreamDestroy");
    if (code != cudaSuccess) {
        cuda_free(dev, DEV_MAPPED, lane.passed_device);
        return cuda_failed(d, code, "a lane's stream and event", e);
    }
    lane.passed = host;
    lane.next = d->lanes;
    struct lane *made = xcalloc(1, sizeof *made);
    *made = lane;
    *out = d->lanes = made;
    dev->lanes++;
    return 0;
}

void cuda_lane_free(struct dev *dev, struct lane *lane)
{
    struct cuda_dev *d = cuda_enter(dev);
    if (!lane)
        return;
    cuda_note(d, cudaStreamSynchronize(lane->stream), "cudaStreamSynchronize");
    __atomic_store_n(lane->passed, UINT64_MAX, __ATOMIC_RELEASE); /* on a device that is lost, too */
    cuda_reap(d);
    cuda_note(d, cudaEventDestroy(lane->reached), "cudaEventDestroy");
    cuda_note(d, cudaStreamDestroy(lane->stream), "cudaStreamDestroy");
    pool_leave(d->pools[DEV_MEMORY], lane);
    pool_leave(d->pools[DEV_MAPPED], lane);
    cuda_free(dev, DEV_MAPPED, lane->passed_device);
    struct lane **at = &d->lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    free(lane);
    dev->lanes--;
}
