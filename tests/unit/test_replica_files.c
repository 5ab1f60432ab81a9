/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints and outputs that somebody damaged, exchanged, emptied or wrote in another format, and what a replica
 * makes of them.
 */
#undef NDEBUG
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/checksum.h"
#include "tests/unit/replica_play.h"

static void damage(const char *name, long at)
{
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/%s", fake.directory, name);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fputc('#', f);
    fclose(f);
}

static void damaged_checkpoints(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    for (int both = 0; both < 2; both++) {
        struct told t = {.stop_after_calls = 60};
        fake.slowness = 1;
        run_replicas(&t, 1);
        assert_int_equal(t.end, REPORT_STOPPED);
        damage("checkpoint", 90);
        if (both)
            damage("checkpoint.previous", 5);
        uint64_t index = t.index;
        t = run();
        assert_int_equal(t.end, REPORT_DONE);
        assert_int_equal(t.events, 1 + both);
        assert_non_null(strstr(t.last_event, both ? "checkpoint.previous: not a checkpoint" : "checkpoint: damaged"));
        assert_true(index > 2);
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* Window 0 is stopped half way; its newest checkpoint. */
static void stopped_checkpoint(struct buf *file)
{
    struct buf path = {0};
    struct err e = {0};
    struct told t = {.stop_after_calls = 60};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(buf_read_file(file, path.data, &e), 0);
    buf_free(&path);
}

/* With the checksum that belongs to it. */
static void write_forged(struct buf *file)
{
    struct buf path = {0};
    struct err e = {0};
    uint64_t sum = htole64(checksum(file->data, file->len - 8));
    memcpy(file->data + file->len - 8, &sum, sizeof sum);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(buf_write_file(path.data, file->data, file->len, &e), 0);
    buf_free(&path);
}

/* Of another ensemble, seed, window or repeat, or with numbers that would not fit into what is told of them: an event
 * says so, and the one before it counts. */
static void foreign_checkpoints(void **state)
{
    (void)state;
    static const struct {
        int word;
        uint64_t value;
        const char *said;
    } cases[] = {{11, ENSEMBLE + 1, "of another ensemble"},
                 {12, 1, "of a run with seed 1, and the spec's is 0"},
                 {13, 1, "of another window or repeat"},
                 {1, 1, "of window 1, not 0"},
                 {1, 3, "numbers that no replica has"},
                 {2, UINT64_C(1) << 40, "numbers that no replica has"},
                 {3, UINT64_C(1) << 31, "numbers that no replica has"},
                 {4, UINT64_C(1) << 63, "numbers that no replica has"},
                 {5, UINT64_C(1) << 63, "numbers that no replica has"},
                 {6, UINT64_C(1) << 32, "numbers that no replica has"},
                 {8, UINT64_C(1) << 62, "numbers that no replica has"}};
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf file = {0};
        stopped_checkpoint(&file);
        uint64_t word = htole64(cases[i].value);
        memcpy(file.data + 8 * cases[i].word, &word, sizeof word);
        write_forged(&file);
        buf_free(&file);
        struct told t = run();
        assert_int_equal(t.end, REPORT_DONE);
        assert_int_equal(t.events, 1);
        if (!strstr(t.last_event, cases[i].said))
            fail_msg("\"%s\" does not say \"%s\"", t.last_event, cases[i].said);
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* A format before the owner was kept: who wrote it is not known, and it is gone on from. */
static void a_checkpoint_of_format_3(void **state)
{
    (void)state;
    enum { OWNER = 11 * 8, OWNER_BYTES = 3 * 8 };
    struct buf wanted[FILES] = {0}, file = {0};
    undisturbed(wanted);
    stopped_checkpoint(&file);
    file.data[7] = '3';
    memmove(file.data + OWNER, file.data + OWNER + OWNER_BYTES, file.len - OWNER - OWNER_BYTES);
    file.len -= OWNER_BYTES;
    write_forged(&file);
    buf_free(&file);
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 0);
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Work of weeks is not thrown away because a newer program cannot read it: nothing is begun anew, nothing removed. */
static void a_checkpoint_of_another_format(void **state)
{
    (void)state;
    struct buf file = {0}, again = {0}, path = {0};
    struct err e = {0};
    const char *message = "lambda_00/checkpoint: of format 2, this program reads formats 3 to 5: ";
    stopped_checkpoint(&file);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    file.data[7] = '2';
    write_forged(&file);
    struct told t = run();
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(t.message, message));
    assert_int_equal(buf_read_file(&again, path.data, &e), 0);
    assert_int_equal(again.len, file.len);
    buf_free(&file);
    buf_free(&again);
    buf_free(&path);
}

/* Reading this link says EIO, as a bad block does: the checkpoint before counts, and the link is gone. */
static void an_unreadable_checkpoint(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    struct told t = {.stop_after_calls = 60};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/proc/self/mem", path), 0);
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 1);
    assert_non_null(strstr(t.last_event, "lambda_00/checkpoint: Input/output error"));
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Somebody empties an output while the replica runs: it says so, and the next attempt makes the same bytes again. */
static void an_output_emptied_while_running(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    fake.empty_at_call = 100;
    fake.calls = 0;
    struct told t = run();
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_IO);
    assert_non_null(strstr(t.message, "lambda_00/dhdl.xvg: 0 bytes; expected "));
    fake.empty_at_call = 0;
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 2);
    assert_non_null(strstr(t.last_event, "lambda_00/dhdl.xvg has 0 bytes, the checkpoint counts on "));
    expect_files(wanted);
    fake_files_free(wanted);
}

static void an_output_cut_short_by_someone(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    struct told t = {.stop_after_calls = 130};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/dhdl.xvg", fake.directory);
    assert_int_equal(truncate(path, 10), 0);
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 2);
    expect_files(wanted);
    fake_files_free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_checkpoints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_output_cut_short_by_someone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_checkpoint_of_another_format, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_checkpoint_of_format_3, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_checkpoints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unreadable_checkpoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_output_emptied_while_running, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
