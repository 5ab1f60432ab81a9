/* SPDX-License-Identifier: Apache-2.0
 *
 * cuFFT's transform of a mesh. The library is loaded when it is first asked for: who computes no scattering does without.
 */
#include <cufft.h>
#include <dlfcn.h>

extern "C" { /* of C */
#include "engine/base/err.h"
}
#include "engine/cuda/kernels.h"
#include "engine/cuda/saxs.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define LIBRARY "libcufft.so." TEXT(CUFFT_VER_MAJOR)

#define FUNCTIONS(F)                                                                                                   \
    F(cufftCreate)                                                                                                     \
    F(cufftDestroy) F(cufftSetAutoAllocation) F(cufftMakePlan3d) F(cufftSetStream) F(cufftSetWorkArea) F(cufftExecR2C)

static struct {
    void *handle;
#define F(name) decltype(&name) name##_;
    FUNCTIONS(F)
#undef F
} cufft;

static int failed(const char *call, cufftResult rc, struct err *e)
{
    return err_set(e, ERR_DEVICE, "%s: cuFFT error %d", call, (int)rc);
}

#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        cufftResult try_rc = cufft.function##_(__VA_ARGS__);                                                           \
        if (try_rc != CUFFT_SUCCESS)                                                                                   \
            return failed(#function, try_rc, e);                                                                       \
    } while (0)

static int load(struct err *e)
{
    if (cufft.handle)
        return 0;
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        handle = dlopen("/usr/local/cuda/lib64/" LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return err_set(e, ERR_DEVICE, "X-ray scattering on a GPU needs cuFFT: %s", dlerror());
#define F(name)                                                                                                        \
    if (!(cufft.name##_ = (decltype(&name))dlsym(handle, #name)))                                                      \
        return err_set(e, ERR_DEVICE, "%s lacks %s", LIBRARY, #name);
    FUNCTIONS(F)
#undef F
    cufft.handle = handle;
    return 0;
}

static int make(cufftHandle fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    TRY(cufftSetAutoAllocation, fft, 0);
    TRY(cufftMakePlan3d, fft, size[0], size[1], size[2], CUFFT_R2C, bytes);
    return 0;
}

static int forward(cufftHandle fft, void *stream, void *spectrum, void *work, struct err *e)
{
    TRY(cufftSetStream, fft, (cudaStream_t)stream);
    TRY(cufftSetWorkArea, fft, work);
    TRY(cufftExecR2C, fft, (cufftReal *)spectrum, (cufftComplex *)spectrum);
    return 0;
}

/* Once, of nothing: what is loaded with the first one is there when one is captured. */
static int warm(cufftHandle fft, const int32_t size[3], size_t bytes, struct err *e)
{
    const size_t values = (size_t)size[0] * (size_t)size[1] * (size_t)(size[2] / 2 + 1) * sizeof(cufftComplex);
    char *memory;
    cudaError_t failure = cudaMalloc((void **)&memory, values + bytes);
    if (failure != cudaSuccess)
        return err_set(e, ERR_DEVICE, "%zu bytes for a transform: %s", values + bytes, cudaGetErrorString(failure));
    cudaMemset(memory, 0, values);
    int rc = forward(fft, cudaStreamPerThread, memory, memory + values, e);
    failure = cudaDeviceSynchronize();
    cudaFree(memory);
    if (!rc && failure != cudaSuccess)
        rc = err_set(e, ERR_DEVICE, "a transform: %s", cudaGetErrorString(failure));
    return rc;
}

extern "C" int saxs_fft_new(int32_t *fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    int rc = load(e);
    if (rc)
        return rc;
    TRY(cufftCreate, fft);
    rc = make(*fft, size, bytes, e);
    if (!rc)
        rc = warm(*fft, size, *bytes, e);
    if (rc)
        cufft.cufftDestroy_(*fft);
    return rc;
}

extern "C" void saxs_fft_free(int32_t fft)
{
    cufft.cufftDestroy_(fft);
}

extern "C" int cuda_saxs_forward(void *stream, const void *args, struct err *e)
{
    const struct args_saxs_forward *a = (const struct args_saxs_forward *)args;
    return forward(a->fft, stream, a->spectrum, a->work, e);
}
