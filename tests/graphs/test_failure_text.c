/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a call of CUDA that failed, word for word.
 */
#undef NDEBUG
#include "graphs/cuda/failure_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((size_t)1 << 30)

static void says(const struct gpu_failure *f, const char *text)
{
    struct err e = {0};
    assert_int_equal(gpu_failed(f, &e), -(int)ERR_DEVICE);
    assert_int_equal(e.code, ERR_DEVICE);
    assert_string_equal(e.msg, text);
}

static void test_words(void **state)
{
    struct gpu_failure f = {.name = "cuda:3",
                            .call = "cudaGraphInstantiate",
                            .code = "cudaErrorMemoryAllocation",
                            .text = "out of memory",
                            .model = "NVIDIA H200",
                            .major = 9,
                            .free_bytes = 3 * GIB / 2,
                            .total_bytes = 140 * GIB - GIB / 4};
    says(&f,
         "cuda:3: cudaGraphInstantiate: cudaErrorMemoryAllocation (out of memory); NVIDIA H200, compute capability "
         "9.0, 1.50 of 139.75 GiB free");
    f.code = "cudaErrorIllegalAddress";
    f.text = "an illegal memory access was encountered";
    f.major = 8;
    f.minor = 6;
    f.before = f.lost = true;
    says(&f,
         "cuda:3: cudaGraphInstantiate: cudaErrorIllegalAddress (an illegal memory access was encountered); NVIDIA "
         "H200, compute capability 8.6, 1.50 of 139.75 GiB free before; the device is lost to this process");
}

/* Before it is open nothing is known of it, and nothing is made up. */
static void test_unknown_device(void **state)
{
    struct gpu_failure f = {.name = "cuda:0",
                            .call = "cudaSetDevice",
                            .code = "cudaErrorInvalidDevice",
                            .text = "invalid device ordinal",
                            .before = true};
    says(&f, "cuda:0: cudaSetDevice: cudaErrorInvalidDevice (invalid device ordinal)");
    f.lost = true;
    says(&f,
         "cuda:0: cudaSetDevice: cudaErrorInvalidDevice (invalid device ordinal); the device is lost to this process");
}

/* A name of the greatest length that CUDA gives leaves the rest whole. */
static void test_long_name(void **state)
{
    char name[256], *end;
    struct err e = {0};
    memset(name, 'N', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    gpu_failed(&(struct gpu_failure){.call = "cudaMalloc",
                                     .code = "cudaErrorUnknown",
                                     .text = "unknown error",
                                     .model = name,
                                     .major = 12,
                                     .minor = 1,
                                     .free_bytes = SIZE_MAX,
                                     .total_bytes = SIZE_MAX,
                                     .before = true,
                                     .lost = true},
               &e);
    end = strstr(e.msg,
                 "NNN, compute capability 12.1, 17179869184.00 of 17179869184.00 GiB free before; the device is "
                 "lost to this process");
    assert_non_null(end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_unknown_device),
                                       cmocka_unit_test(test_long_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
