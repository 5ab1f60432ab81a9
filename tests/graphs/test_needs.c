/* SPDX-License-Identifier: Apache-2.0
 *
 * Which drivers and GPUs a build can use, and what is said of the others.
 */
#undef NDEBUG
#include "graphs/cuda/needs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void says(int rc, const struct err *e, const char *text)
{
    assert_int_equal(rc, -(int)ERR_DEVICE);
    assert_string_equal(e->msg, text);
}

static void test_drivers(void **state)
{
    struct err e = {0};
    assert_int_equal(gpu_needs_driver(13000, 13000, &e), 0);
    assert_int_equal(gpu_needs_driver(13000, 13020, &e), 0); /* of the same major version */
    assert_int_equal(gpu_needs_driver(14010, 13000, &e), 0);
    says(gpu_needs_driver(0, 13000, &e), &e, "no NVIDIA driver is installed; expected one for CUDA 13.0 or later");
    says(gpu_needs_driver(12040, 13000, &e), &e,
         "the NVIDIA driver is for CUDA 12.4; expected one for CUDA 13.0 or later");
}

static void test_kernels(void **state)
{
    static const int served[][2] = {{8, 0}, {8, 6}, {8, 9}, {9, 0}, {12, 0}, {12, 1}};
    struct err e = {0};
    for (size_t k = 0; k < sizeof served / sizeof *served; k++)
        assert_int_equal(gpu_needs_kernels("sm_80 sm_90 sm_120", served[k][0], served[k][1], &e), 0);
    says(gpu_needs_kernels("sm_90", 8, 6, &e), &e,
         "compute capability 8.6; this program has kernels for sm_90, expected -Dgpu_archs=sm_86 when it was built");
    says(gpu_needs_kernels("sm_86 sm_89", 8, 0, &e), &e, /* not on earlier minor versions */
         "compute capability 8.0; this program has kernels for sm_86 sm_89, expected -Dgpu_archs=sm_80 when it was "
         "built");
    says(gpu_needs_kernels("sm_90 sm_120", 10, 0, &e), &e,
         "compute capability 10.0; this program has kernels for sm_90 sm_120, expected -Dgpu_archs=sm_100 when it was "
         "built");
    says(gpu_needs_kernels("sm_80", 7, 5, &e), &e, "compute capability 7.5; expected 8.0 or later");
}

static void put(const char *list, const char *gpu, bool there)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", list, gpu);
    assert_int_equal(there ? mkdir(path, 0700) : rmdir(path), 0);
}

static void test_listed(void **state)
{
    struct err e = {0};
    char list[] = "/tmp/shoal-gpus-XXXXXX";
    assert_non_null(mkdtemp(list));
    assert_int_equal(gpu_needs_listed(list), 0);
    assert_int_equal(gpu_needs_cuda(0, &e), 0);
    assert_int_equal(gpu_needs_library(0, &e), 0);
    assert_int_equal(gpu_needs_access(0, &e), 0);
    put(list, "0000:18:00.0", true);
    says(gpu_needs_cuda(gpu_needs_listed(list), &e), &e,
         "1 NVIDIA GPU, but this program was built without CUDA; expected nvcc of the CUDA toolkit 13.0 or later when "
         "it was built");
    put(list, "0000:3b:00.0", true);
    says(gpu_needs_library(gpu_needs_listed(list), &e), &e,
         "2 NVIDIA GPUs, but no libcuda.so.1; expected that of the driver");
    says(gpu_needs_access(gpu_needs_listed(list), &e), &e,
         "2 NVIDIA GPUs, none open to this process; expected /dev/nvidia* that it may read and write, and no "
         "CUDA_VISIBLE_DEVICES that hides them");
    put(list, "0000:18:00.0", false);
    put(list, "0000:3b:00.0", false);
    assert_int_equal(rmdir(list), 0);
    assert_int_equal(gpu_needs_listed(list), 0); /* no driver */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drivers), cmocka_unit_test(test_kernels),
                                       cmocka_unit_test(test_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
