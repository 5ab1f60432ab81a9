/* SPDX-License-Identifier: Apache-2.0
 *
 * cuFFT's transform of a mesh. The library is loaded when it is first asked for: who computes no scattering does
 * without.
 */
#include <cufft.h>
#include <dlfcn.h>

extern "C" { /* of C */
#include "engine/base/err.h"
#include "graphs/cuda/failed.h"
}
#include "engine/cuda/kernels.h"
#include "engine/cuda/observe/saxs.h"

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

/* What the library says, in words that it has none of. */
static int failed(const char *call, cufftResult rc, struct err *e)
{
    static const struct {
        cufftResult rc;
        const char *name, *text;
    } known[] = {
#define R(name, text) {name, #name, text}
        R(CUFFT_INVALID_PLAN, "there is no such plan"),
        R(CUFFT_ALLOC_FAILED, "out of memory"),
        R(CUFFT_INVALID_VALUE, "an argument is not valid"),
        R(CUFFT_INTERNAL_ERROR, "the driver or the library failed"),
        R(CUFFT_EXEC_FAILED, "the GPU did not carry out the transform"),
        R(CUFFT_SETUP_FAILED, "the library did not start"),
        R(CUFFT_INVALID_SIZE, "no transform has this size"),
        R(CUFFT_INVALID_DEVICE, "the plan is another device's"),
        R(CUFFT_NO_WORKSPACE, "the plan has no working memory"),
        R(CUFFT_NOT_SUPPORTED, "not supported for these arguments"),
#undef R
    };
    const enum err_code code = rc == CUFFT_ALLOC_FAILED ? ERR_MEMORY : ERR_DEVICE;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].rc == rc)
            return err_set(e, code, "%s: %s (%s)", call, known[i].name, known[i].text);
    return err_set(e, code, "%s: cuFFT's error %d", call, (int)rc);
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

static int plan(cufftHandle fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    TRY(cufftSetAutoAllocation, fft, 0);
    TRY(cufftMakePlan3d, fft, size[0], size[1], size[2], CUFFT_R2C, bytes);
    return 0;
}

static int make(cufftHandle *fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    TRY(cufftCreate, fft);
    int rc = plan(*fft, size, bytes, e);
    if (rc)
        cufft.cufftDestroy_(*fft);
    return rc;
}

static int forward(cufftHandle fft, void *stream, void *spectrum, void *work, struct err *e)
{
    TRY(cufftSetStream, fft, (cudaStream_t)stream);
    TRY(cufftSetWorkArea, fft, work);
    TRY(cufftExecR2C, fft, (cufftReal *)spectrum, (cufftComplex *)spectrum);
    return 0;
}

extern "C" int saxs_fft_new(struct dev *dev, int32_t *fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    int rc = load(e);
    if (!rc)
        rc = cuda_make_current(dev, e);
    if (rc)
        return rc;
    return make(fft, size, bytes, e) ? cuda_library_failed(dev, e) : 0;
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
