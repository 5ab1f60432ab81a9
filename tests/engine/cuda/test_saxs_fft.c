/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes wrong with cuFFT on the CUDA device, where there need be no GPU: a library that fails as it is told to
 * stands in its place. Linked with --wrap=dlopen, dlsym, cudaMemGetInfo and
 * cudaSetDevice.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <cufft.h>

#include "engine/cuda/kernels.h"
#include "engine/cuda/observe/saxs.h"
#include "graphs/cuda/dev.h"

#define GIB ((size_t)1 << 30)

static cufftResult create_says, plan_says, execute_says;
static cudaError_t cuda_says;
static int plans; /* alive */

enqueue_fn cuda_saxs_forward;

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *handle, const char *name);
void *__real_dlopen(const char *name, int flags);
void *__real_dlsym(void *handle, const char *name);
cudaError_t __wrap_cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t __wrap_cudaSetDevice(int ordinal);

static cufftResult create(cufftHandle *plan)
{
    *plan = 5;
    plans += create_says == CUFFT_SUCCESS;
    return create_says;
}

static cufftResult destroy(cufftHandle plan)
{
    assert_int_equal(plan, 5);
    plans--;
    return CUFFT_SUCCESS;
}

static cufftResult set_auto(cufftHandle plan, int automatic)
{
    assert_false(automatic);
    return CUFFT_SUCCESS;
}

static cufftResult make_plan(cufftHandle plan, int x, int y, int z, cufftType type, size_t *bytes)
{
    *bytes = (size_t)x * (size_t)y * (size_t)z;
    return plan_says;
}

static cufftResult set_stream(cufftHandle plan, cudaStream_t stream)
{
    return CUFFT_SUCCESS;
}

static cufftResult set_work(cufftHandle plan, void *work)
{
    return CUFFT_SUCCESS;
}

static cufftResult execute(cufftHandle plan, cufftReal *from, cufftComplex *to)
{
    return execute_says;
}

static const struct {
    const char *name;
    void *function;
} functions[] = {{"cufftCreate", (void *)create},
                 {"cufftDestroy", (void *)destroy},
                 {"cufftSetAutoAllocation", (void *)set_auto},
                 {"cufftMakePlan3d", (void *)make_plan},
                 {"cufftSetStream", (void *)set_stream},
                 {"cufftSetWorkArea", (void *)set_work},
                 {"cufftExecR2C", (void *)execute}};

void *__wrap_dlopen(const char *name, int flags)
{
    return name && !strncmp(name, "libcufft.so", 11) ? (void *)functions : __real_dlopen(name, flags);
}

void *__wrap_dlsym(void *handle, const char *name)
{
    if (handle != (const void *)functions)
        return __real_dlsym(handle, name);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (!strcmp(functions[i].name, name))
            return functions[i].function;
    return NULL;
}

cudaError_t __wrap_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = 12 * GIB;
    *total = 80 * GIB;
    return cuda_says;
}

static int current;

cudaError_t __wrap_cudaSetDevice(int ordinal)
{
    current = ordinal;
    return cudaSuccess;
}

static struct cuda_dev open_card(void)
{
    create_says = plan_says = execute_says = CUFFT_SUCCESS;
    cuda_says = cudaSuccess;
    assert_int_equal(plans, 0);
    return (struct cuda_dev){.name = "cuda:0",
                             .properties = {.name = "A Card", .major = 9},
                             .free_bytes = 70 * GIB,
                             .total_bytes = 80 * GIB};
}

static int open_fft(struct cuda_dev *d, struct err *e)
{
    int32_t fft;
    size_t bytes;
    return saxs_fft_new(&d->base, &fft, (const int32_t[3]){4, 5, 6}, &bytes, e);
}

static void test_made(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    int32_t fft = 0;
    size_t bytes = 0;
    assert_int_equal(saxs_fft_new(&d.base, &fft, (const int32_t[3]){4, 5, 6}, &bytes, &e), 0);
    assert_int_equal(bytes, 120);
    assert_int_equal(plans, 1);
    saxs_fft_free(fft);
    assert_int_equal(plans, 0);
}

/* Plans are made on the device that they are for, whichever was the thread's before. */
static void test_on_its_device(void **state)
{
    struct cuda_dev first = open_card(), second = open_card();
    struct err e = {0};
    second.ordinal = 1;
    for (int i = 0; i < 4; i++) {
        struct cuda_dev *d = i % 2 ? &second : &first;
        assert_int_equal(open_fft(d, &e), 0);
        saxs_fft_free(5);
        assert_int_equal(current, i % 2);
    }
}

/* Memory that is lacking is a condition, which waits; the device is as it was. */
static void test_full(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    plan_says = CUFFT_ALLOC_FAILED;
    assert_int_equal(open_fft(&d, &e), -ERR_MEMORY);
    assert_string_equal(e.msg,
                        "cuda:0: cufftMakePlan3d: CUFFT_ALLOC_FAILED (out of memory); A Card, compute capability 9.0, "
                        "12.00 of 80.00 GiB free");
    assert_false(dev_lost(&d.base));
    assert_int_equal(plans, 0);
}

/* cuFFT does not say that it met an error of earlier work: the device does. */
static void test_lost(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    create_says = CUFFT_INTERNAL_ERROR;
    cuda_says = cudaErrorIllegalAddress;
    assert_int_equal(open_fft(&d, &e), -ERR_DEVICE);
    assert_string_equal(
        e.msg,
        "cuda:0: cufftCreate: CUFFT_INTERNAL_ERROR (the driver or the library failed): "
        "cudaErrorIllegalAddress (an illegal memory access was encountered); A Card, compute capability "
        "9.0, 70.00 of 80.00 GiB free before; the device is lost to this process");
    assert_true(dev_lost(&d.base));
}

/* Of a launch, to which the device adds its own; and of a code that has no name here. */
static void test_launch(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    const struct args_saxs_forward args = {.fft = 5};
    execute_says = CUFFT_EXEC_FAILED;
    assert_int_equal(cuda_saxs_forward(NULL, &args, &e), -ERR_DEVICE);
    assert_string_equal(e.msg, "cufftExecR2C: CUFFT_EXEC_FAILED (the GPU did not carry out the transform)");
    execute_says = (cufftResult)99;
    assert_int_equal(cuda_saxs_forward(NULL, &args, &e), -ERR_DEVICE);
    assert_string_equal(e.msg, "cufftExecR2C: cuFFT's error 99");
    assert_false(dev_lost(&d.base));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_made), cmocka_unit_test(test_on_its_device),
                                       cmocka_unit_test(test_full), cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_launch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
