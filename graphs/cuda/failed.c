/* SPDX-License-Identifier: Apache-2.0
 *
 * What errors of CUDA, and of libraries on it, say and mean: after some the device is lost. And which of several
 * devices a thread's calls are for.
 */
#include "graphs/cuda/failed.h"

#include "graphs/cuda/dev.h"
#include "graphs/cuda/failure_text.h"

/* After these the context is of no use any more: each later call fails the same way. */
static bool is_fatal(cudaError_t rc)
{
    static const cudaError_t fatal[] = {cudaErrorIllegalAddress,
                                        cudaErrorLaunchTimeout,
                                        cudaErrorHardwareStackError,
                                        cudaErrorIllegalInstruction,
                                        cudaErrorMisalignedAddress,
                                        cudaErrorInvalidAddressSpace,
                                        cudaErrorInvalidPc,
                                        cudaErrorLaunchFailure,
                                        cudaErrorAssert,
                                        cudaErrorECCUncorrectable,
                                        cudaErrorNvlinkUncorrectable,
                                        cudaErrorContextIsDestroyed,
                                        cudaErrorDevicesUnavailable,
                                        cudaErrorMpsClientTerminated,
                                        cudaErrorExternalDevice,
                                        cudaErrorCudartUnloading,
                                        cudaErrorUnknown};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (rc == fatal[i])
            return true;
    return false;
}

static cudaError_t ask_memory(struct cuda_dev *d)
{
    size_t free_now, total_now;
    const cudaError_t rc = cudaMemGetInfo(&free_now, &total_now);
    if (rc == cudaSuccess) {
        d->free_bytes = free_now;
        d->total_bytes = total_now;
    }
    return rc;
}

/* Whatever is known of the device by now goes with it. rc cudaSuccess: the call is a library's and says it all. */
static int say(struct cuda_dev *d, cudaError_t rc, const char *call, bool lost, bool answers, struct err *e)
{
    gpu_failed(&(struct gpu_failure){.name = d->name,
                                     .call = call,
                                     .code = rc == cudaSuccess ? NULL : cudaGetErrorName(rc),
                                     .text = cudaGetErrorString(rc),
                                     .model = d->properties.major ? d->properties.name : NULL,
                                     .major = d->properties.major,
                                     .minor = d->properties.minor,
                                     .free_bytes = d->free_bytes,
                                     .total_bytes = d->total_bytes,
                                     .before = !answers,
                                     .lost = lost},
               e);
    if (lost && !dev_lost(&d->base))
        d->base.lost = *e;
    return -ERR_DEVICE;
}

static int say_of_call(struct cuda_dev *d, cudaError_t rc, const char *call, bool lost, struct err *e)
{
    (void)cudaGetLastError(); /* reported here; later calls must not see it again */
    return say(d, rc, call, lost, !is_fatal(rc) && ask_memory(d) == cudaSuccess, e);
}

int cuda_failed(struct cuda_dev *d, cudaError_t rc, const char *call, struct err *e)
{
    return say_of_call(d, rc, call, is_fatal(rc), e);
}

int cuda_failed_late(struct cuda_dev *d, cudaError_t rc, const char *call, struct err *e)
{
    return say_of_call(d, rc, call, true, e);
}

/* A library says that something went wrong, not what: after an error of earlier work CUDA says that at every call. */
int cuda_library_failed(struct dev *dev, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    const struct err why = *e;
    const cudaError_t rc = ask_memory(d);
    const bool lost = is_fatal(rc);
    (void)cudaGetLastError();
    say(d, lost ? rc : cudaSuccess, why.msg, lost, rc == cudaSuccess, e);
    if (!lost)
        e->code = why.code;
    return -(int)e->code;
}

void cuda_note(struct cuda_dev *d, cudaError_t rc, const char *call)
{
    struct err ignored;
    if (rc != cudaSuccess)
        cuda_failed_late(d, rc, call, &ignored);
}

int cuda_lost(struct cuda_dev *d, struct err *e)
{
    if (!dev_lost(&d->base))
        return 0;
    *e = d->base.lost;
    return -(int)e->code;
}

/* ---- which device calls are for ---- */

cudaError_t cuda_set_current(int ordinal)
{
    static _Thread_local int current = -1;
    const cudaError_t rc = ordinal == current ? cudaSuccess : cudaSetDevice(ordinal);
    current = rc == cudaSuccess ? ordinal : -1;
    return rc;
}

struct cuda_dev *cuda_enter(struct dev *dev)
{
    struct cuda_dev *d = cuda(dev);
    if (!dev_lost(dev))
        cuda_note(d, cuda_set_current(d->ordinal), "cudaSetDevice");
    return d;
}

int cuda_make_current(struct dev *dev, struct err *e)
{
    return cuda_lost(cuda_enter(dev), e);
}
