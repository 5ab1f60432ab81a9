/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs and MIG slices by their ids.
 */
#undef NDEBUG
#include "graphs/cuda/ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "graphs/dev.h"
#include "graphs/kinds.h"

static void test_names(void **state)
{
    static const char *const ids[] = {"cuda:GPU-3f6b", "cuda:MIG-8c1d0a2e-1111-5222-9333-abcdefABCDEF",
                                      "cuda:MIG-GPU-3f6b/1/0"};
    static const char *const none[] = {"cpu",       "cuda:0",       "cuda:GPU-", "cuda:GPU-xyz",
                                       "cuda:uuid", "hip:GPU-3f6b", "GPU-3f6b",  "cuda:GPU-3f6b,GPU-8c1d"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_string_equal(device_id(ids[i]), ids[i] + 5);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(device_id(none[i]));
    assert_int_equal(device_id_length(device_id("cuda:GPU-3f6b:eager")), strlen("GPU-3f6b"));
}

/* Each in a process of its own, as what is chosen stays so. Exits with 0, or 1 and *e. */
static int choose(const char *first, const char *second, char *said, size_t size)
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct err e = {0};
        const int rc = gpu_ids_choose(first, &e) || gpu_ids_choose(second, &e);
        const char *text = rc ? e.msg : getenv("CUDA_VISIBLE_DEVICES");
        (void)!write(fds[1], text, strlen(text) + 1);
        _exit(rc);
    }
    assert_true(pid > 0);
    assert_true(read(fds[0], said, size) > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(fds[0]);
    close(fds[1]);
    return WEXITSTATUS(status);
}

static void test_environment(void **state)
{
    char said[400];
    setenv("CUDA_VISIBLE_DEVICES", "3,4", 1);
    assert_int_equal(choose("cuda:0", "cuda:1", said, sizeof said), 0);
    assert_string_equal(said, "3,4");
    assert_int_equal(choose("cuda:GPU-3f6b", "cuda:GPU-3f6b", said, sizeof said), 0);
    assert_string_equal(said, "GPU-3f6b");
    assert_int_equal(choose("cuda:GPU-3f6b", "cuda:MIG-8c1d", said, sizeof said), 1);
    assert_string_equal(said,
                        "cuda:MIG-8c1d: this process has opened cuda:GPU-3f6b: expected one device in all, where "
                        "one is named by its id");
    assert_int_equal(choose("cuda:0", "cuda:GPU-3f6b", said, sizeof said), 1);
    assert_int_equal(choose("cuda:GPU-3f6b", "cuda:0", said, sizeof said), 1);
}

static void put(void *list, const char *name)
{
    buf_printf(list, "%s ", name);
}

static void test_slices(void **state)
{
    struct buf list = {0};
    assert_int_equal(gpu_ids_slices(NULL, put, &list), 0);
    assert_int_equal(gpu_ids_slices("0,1", put, &list), 0);
    assert_int_equal(gpu_ids_slices("GPU-3f6b", put, &list), 0); /* its number is 0 */
    assert_int_equal(list.len, 0);
    assert_int_equal(gpu_ids_slices("MIG-8c1d,MIG-8c1e,GPU-3f6b", put, &list), 3);
    assert_string_equal(list.data, "cuda:MIG-8c1d cuda:MIG-8c1e cuda:GPU-3f6b ");
    list.len = 0;
    setenv("CUDA_VISIBLE_DEVICES", "MIG-8c1d,MIG-8c1e", 1);
    dev_gpus(put, NULL, &list);
    assert_string_equal(list.data, "cuda:MIG-8c1d cuda:MIG-8c1e ");
    buf_free(&list);
}

/* What nvidia-smi says here. */
static void put_program(const char *folder, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/nvidia-smi", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n[ \"$*\" = -L ] || exit 1\ncat <<'E'\n%sE\n", text);
    fclose(f);
    assert_int_equal(chmod(path, 0700), 0);
}

static void test_missing(void **state)
{
    char folder[] = "/tmp/shoal-ids-XXXXXX", path[200], *before = strdup(getenv("PATH"));
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    put_program(folder, "");
    assert_int_equal(gpu_ids_missing("cuda:GPU-3f6b", &e), -ERR_DEVICE);
    assert_string_equal(e.msg, "cuda:GPU-3f6b: no such device; `nvidia-smi -L` lists the ids that there are");
    put_program(folder,
                "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268)\n"
                "  MIG 3g.20gb Device 0: (UUID: MIG-c7384736-a75d)\n  MIG 3g.20gb Device 1: (UUID: MIG-a28ad590)\n");
    assert_int_equal(gpu_ids_missing("cuda:GPU-3f6b", &e), -ERR_DEVICE);
    assert_string_equal(e.msg,
                        "cuda:GPU-3f6b: no such device, or several begin so: there is GPU-5c89852c-d268, "
                        "MIG-c7384736-a75d, MIG-a28ad590");
    setenv("PATH", before, 1);
    free(before);
    snprintf(path, sizeof path, "%s/nvidia-smi", folder);
    assert_int_equal(unlink(path) || rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
