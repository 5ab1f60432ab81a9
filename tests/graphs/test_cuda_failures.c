/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of the CUDA device as the runtime's own codes make them, where there need be no GPU: what is said, which of
 * them end it, and that an ended one does nothing more. Linked with --wrap=cudaMemGetInfo and
 * cudaSetDevice.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graphs/cuda/dev.h"
#include "graphs/cuda/failed.h"

#define GIB ((size_t)1 << 30)

static unsigned asked;     /* for memory */
static cudaError_t answer; /* to that */

cudaError_t __wrap_cudaMemGetInfo(size_t *free_bytes, size_t *total);

cudaError_t __wrap_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    asked++;
    *free_bytes = 12 * GIB;
    *total = 80 * GIB;
    return answer;
}

enum { CARDS = 2 };
static int current; /* which of so many cards calls of this thread are for */

cudaError_t __wrap_cudaSetDevice(int ordinal);

cudaError_t __wrap_cudaSetDevice(int ordinal)
{
    current = ordinal;
    return ordinal < CARDS ? cudaSuccess : cudaErrorInvalidDevice;
}

static struct cuda_dev open_card(void)
{
    struct cuda_dev d = {.name = "cuda:1",
                         .properties = {.name = "A Card", .major = 9},
                         .free_bytes = 70 * GIB,
                         .total_bytes = 80 * GIB};
    asked = 0;
    answer = cudaSuccess;
    return d;
}

static void test_of_one_call(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    assert_int_equal(cuda_failed(&d, cudaErrorMemoryAllocation, "cudaMalloc", &e), -ERR_DEVICE);
    assert_string_equal(e.msg,
                        "cuda:1: cudaMalloc: cudaErrorMemoryAllocation (out of memory); A Card, compute "
                        "capability 9.0, 12.00 of 80.00 GiB free");
    assert_false(dev_lost(&d.base));
    assert_int_equal(asked, 1);
}

/* It is not asked about its memory any more; what came first is what it is lost for. */
static void test_of_the_device(void **state)
{
    struct cuda_dev d = open_card();
    struct err first = {0}, e = {0};
    assert_int_equal(cuda_failed(&d, cudaErrorIllegalAddress, "cudaStreamQuery", &first), -ERR_DEVICE);
    assert_string_equal(first.msg,
                        "cuda:1: cudaStreamQuery: cudaErrorIllegalAddress (an illegal memory access was encountered); "
                        "A Card, compute capability 9.0, 70.00 of 80.00 GiB free before; the device is lost to this "
                        "process");
    assert_true(dev_lost(&d.base));
    cuda_note(&d, cudaErrorLaunchFailure, "cudaStreamSynchronize");
    assert_int_equal(cuda_lost(&d, &e), -ERR_DEVICE);
    assert_string_equal(e.msg, first.msg);
    assert_int_equal(asked, 0);
}

/* What is met by who waits is of earlier work, of which nobody knows how far it came: whatever it is, the device is
 * lost. */
static void test_of_earlier_work(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {0};
    cuda_failed_late(&d, cudaErrorInvalidValue, "cudaStreamQuery", &e);
    assert_string_equal(e.msg,
                        "cuda:1: cudaStreamQuery: cudaErrorInvalidValue (invalid argument); A Card, compute "
                        "capability 9.0, 12.00 of 80.00 GiB free; the device is lost to this process");
    assert_true(dev_lost(&d.base));
    d = open_card();
    cuda_note(&d, cudaSuccess, "cudaFree");
    assert_false(dev_lost(&d.base));
}

/* What a library says of its call goes with what is known of the device, and a condition of its memory stays one. */
static void test_of_library(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {.code = ERR_MEMORY, .msg = "plan: LIBRARY_ALLOC (out of memory)"};
    assert_int_equal(cuda_library_failed(&d.base, &e), -ERR_MEMORY);
    assert_int_equal(e.code, ERR_MEMORY);
    assert_string_equal(e.msg,
                        "cuda:1: plan: LIBRARY_ALLOC (out of memory); A Card, compute capability 9.0, 12.00 of 80.00 "
                        "GiB free");
    assert_false(dev_lost(&d.base));
}

/* Where CUDA has an error that stays, that is what the library met, whatever it says: the device is lost. */
static void test_of_device_in_library(void **state)
{
    struct cuda_dev d = open_card();
    struct err e = {.code = ERR_MEMORY, .msg = "execute: LIBRARY_FAILED (it failed)"};
    answer = cudaErrorIllegalAddress;
    assert_int_equal(cuda_library_failed(&d.base, &e), -ERR_DEVICE);
    assert_string_equal(
        e.msg,
        "cuda:1: execute: LIBRARY_FAILED (it failed): cudaErrorIllegalAddress (an illegal memory access "
        "was encountered); A Card, compute capability 9.0, 70.00 of 80.00 GiB free before; the device "
        "is lost to this process");
    assert_true(dev_lost(&d.base));
}

static int library_fails(void *stream, const void *args, struct err *e)
{
    return err_set(e, ERR_DEVICE, "execute: LIBRARY_FAILED (it failed)");
}

/* So does what a launch of one says. */
static void test_of_library_launch(void **state)
{
    const struct kernel row = {.name = "of_a_library",
                               .kind = LAUNCH_LIBRARY,
                               .args_size = sizeof(struct args_head),
                               .enqueue = library_fails};
    struct cuda_dev d = open_card();
    d.base.kernels = (struct kernel_table){&row, 1};
    struct args_head args = {0};
    struct lane lane = {0};
    struct tape t = {0};
    struct err e = {0};
    tape_add(&t, 0, LAUNCH_LIBRARY, &SHAPE_CHAIN, &args, sizeof args);
    assert_int_equal(cuda_run(&d.base, &lane, &t, &e), -ERR_DEVICE);
    assert_string_equal(e.msg,
                        "launch 0 (of_a_library): cuda:1: execute: LIBRARY_FAILED (it failed); A Card, compute "
                        "capability 9.0, 12.00 of 80.00 GiB free");
    tape_free(&t);
}

static CUresult write_value(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags)
{
    return CUDA_SUCCESS;
}

/* Several devices take turns in a thread: what CUDA is asked is for the one whose turn it is. */
static void test_of_several(void **state)
{
    struct cuda_dev d[CARDS + 1];
    struct lane lane[CARDS + 1] = {0};
    struct mark mark;
    struct err e = {0};
    for (int i = 0; i <= CARDS; i++) {
        d[i] = open_card();
        d[i].ordinal = i;
        d[i].driver.write_value = write_value;
    }
    for (int n = 0; n < 3 * CARDS; n++) {
        assert_int_equal(cuda_mark(&d[n % CARDS].base, &lane[n % CARDS], &mark, &e), 0);
        assert_int_equal(current, n % CARDS);
    }
    assert_int_equal(cuda_mark(&d[CARDS].base, &lane[CARDS], &mark, &e), -ERR_DEVICE);
    assert_non_null(strstr(e.msg, "cudaSetDevice: cudaErrorInvalidDevice"));
    assert_true(dev_lost(&d[CARDS].base));
    assert_int_equal(cuda_mark(&d[0].base, &lane[0], &mark, &e), 0);
    assert_int_equal(current, 0);
    assert_int_equal(cuda_make_current(&d[1].base, &e), 0); /* before a library's call */
    assert_int_equal(current, 1);
    assert_int_equal(cuda_make_current(&d[CARDS].base, &e), -ERR_DEVICE);
}

#define assert_lost(call)                                                                                              \
    do {                                                                                                               \
        struct err e = {0};                                                                                            \
        assert_int_equal(call, -ERR_DEVICE);                                                                           \
        assert_string_equal(e.msg, why.msg);                                                                           \
    } while (0)

static void test_lost_does_nothing(void **state)
{
    struct cuda_dev d = open_card();
    struct err why = {0};
    struct lane lane = {0};
    struct mark mark;
    struct tape t = {0};
    struct graph g = {0}, *none = NULL;
    unsigned char bytes[8];
    void *device, *host;
    cuda_failed(&d, cudaErrorECCUncorrectable, "cudaGraphLaunch", &why);
    assert_lost(cuda_alloc(&d.base, &lane, DEV_MEMORY, 8, &device, &host, &e));
    assert_lost(cuda_copy(&d.base, &lane, bytes, bytes, 8, &e));
    assert_lost(cuda_copy_async(&d.base, &lane, bytes, bytes, 8, &e));
    assert_lost(cuda_mark(&d.base, &lane, &mark, &e));
    assert_lost(cuda_run(&d.base, &lane, &t, &e));
    assert_lost(cuda_build(&d.base, &lane, &t, 1, &none, &e));
    assert_lost(cuda_replay(&d.base, &lane, &g, 1, &e));
    assert_lost(cuda_readback(&d.base, &g, 0, &t, &e));
    assert_lost(cuda_poll(&d.base, -1, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_one_call),          cmocka_unit_test(test_of_the_device),
        cmocka_unit_test(test_of_earlier_work),      cmocka_unit_test(test_of_library),
        cmocka_unit_test(test_of_device_in_library), cmocka_unit_test(test_of_library_launch),
        cmocka_unit_test(test_of_several),           cmocka_unit_test(test_lost_does_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
