/* SPDX-License-Identifier: Apache-2.0
 *
 * A database on a network filesystem, which is made believe here: refused in words that name the way out, unless the
 * database belongs to one process alone.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/statfs.h>

#include <cmocka.h>

#include "tests/lib/store_play.h"

static unsigned long magic;

/* In place of statfs, by the linker: meson has all programs take files of any size. */
int __wrap_statfs64(const char *path, struct statfs *out);
int __wrap_statfs64(const char *path, struct statfs *out)
{
    *out = (struct statfs){.f_type = (__fsword_t)magic};
    return 0;
}

static void a_network_filesystem_wants_one_process(void **state)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } network[] = {{0x6969, "is on NFS"}, {0x0bd00bd0, "is on Lustre"}, {0x47504653, "is on GPFS"}};
    struct store *s;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++) {
        magic = network[i].magic;
        err = (struct err){0};
        assert_int_equal(store_open(&s, folder, false, &err), -ERR_DATABASE);
        assert_non_null(strstr(err.msg, network[i].name));
        assert_non_null(strstr(err.msg, "--portable"));
    }
    err = (struct err){0};
    struct running r;
    store_portable = true;
    run_store(&r);
    end_store(&r);
}

static void a_local_one_does_not(void **state)
{
    struct running r;
    magic = 0xef53; /* ext4 */
    store_portable = false;
    run_store(&r);
    end_store(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_network_filesystem_wants_one_process, setup, teardown),
        cmocka_unit_test_setup_teardown(a_local_one_does_not, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
