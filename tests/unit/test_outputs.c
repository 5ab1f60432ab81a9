/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/files/outputs.h"

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static const uint64_t empty[OUTPUT_COUNT];

static int fresh_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/shoal-outputs-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void expect_content(enum output which, const char *text)
{
    struct buf b = {0};
    struct err e = {0};
    assert_int_equal(buf_read_file(&b, path_of(output_names[which]), &e), 0);
    assert_string_equal(b.data, text);
    buf_free(&b);
}

static void add_row(struct outputs *r, enum output which, const char *text)
{
    buf_printf(outputs_begin(r, which), "%s\n", text);
    outputs_end(r, which);
}

static void open_at(struct outputs *r, const uint64_t offset[OUTPUT_COUNT])
{
    struct err e = {0};
    assert_int_equal(outputs_lock(r, folder, &e), 0);
    assert_int_equal(outputs_open(r, offset, &e), 0);
}

static void rows_are_written_whole(void **state)
{
    (void)state;
    struct outputs r = {0};
    struct err e = {0};
    open_at(&r, empty);
    add_row(&r, OUTPUT_DHDL, "one");
    add_row(&r, OUTPUT_DHDL, "two");
    expect_content(OUTPUT_DHDL, "");
    assert_int_equal(outputs_offset(&r, OUTPUT_DHDL), 8);
    assert_int_equal(outputs_flush(&r, &e), 0);
    expect_content(OUTPUT_DHDL, "one\ntwo\n");
    assert_int_equal(outputs_offset(&r, OUTPUT_DHDL), 8);
    add_row(&r, OUTPUT_DHDL, "lost");
    outputs_close(&r);
    outputs_close(&r);
    expect_content(OUTPUT_DHDL, "one\ntwo\n");
}

static void later_bytes_are_cut_off(void **state)
{
    (void)state;
    struct outputs r = {0};
    struct err e = {0};
    open_at(&r, empty);
    add_row(&r, OUTPUT_DHDL, "kept");
    add_row(&r, OUTPUT_ENERGY, "kept too");
    assert_int_equal(outputs_sync(&r, &e), 0);
    uint64_t offset[OUTPUT_COUNT];
    for (int i = 0; i < OUTPUT_COUNT; i++)
        offset[i] = outputs_offset(&r, i);
    add_row(&r, OUTPUT_DHDL, "after the checkpoint");
    add_row(&r, OUTPUT_TRAJECTORY, "a frame");
    assert_int_equal(outputs_flush(&r, &e), 0);
    outputs_close(&r);

    open_at(&r, offset);
    expect_content(OUTPUT_DHDL, "kept\n");
    expect_content(OUTPUT_TRAJECTORY, "");
    add_row(&r, OUTPUT_DHDL, "next");
    assert_int_equal(outputs_flush(&r, &e), 0);
    expect_content(OUTPUT_DHDL, "kept\nnext\n");
    expect_content(OUTPUT_ENERGY, "kept too\n");
    outputs_close(&r);
}

static void a_short_file_is_noticed(void **state)
{
    (void)state;
    struct outputs r = {0};
    struct err e = {0};
    open_at(&r, empty);
    add_row(&r, OUTPUT_ENERGY, "12345");
    assert_int_equal(outputs_flush(&r, &e), 0);
    assert_int_equal(outputs_reach(&r, (uint64_t[OUTPUT_COUNT]){0, 6, 0}, &e), 0);
    assert_int_equal(outputs_reach(&r, (uint64_t[OUTPUT_COUNT]){0, 7, 0}, &e), -ERR_CHECKPOINT);
    assert_non_null(strstr(e.msg, "/energy.xvg has 6 bytes, the checkpoint counts on 7"));
    outputs_close(&r);
    assert_int_equal(unlink(path_of("energy.xvg")), 0);
    assert_int_equal(outputs_lock(&r, folder, &e), 0);
    assert_int_equal(outputs_reach(&r, (uint64_t[OUTPUT_COUNT]){0, 6, 0}, &e), -ERR_CHECKPOINT);
    assert_int_equal(outputs_reach(&r, empty, &e), 0);
    outputs_close(&r);
}

/* Emptied, cut, lengthened, removed: said at the next write, and no hole of zeros. */
static void a_file_that_another_program_changes(void **state)
{
    (void)state;
    struct err e = {0};
    for (int how = 0; how < 4; how++) {
        struct outputs r = {0};
        open_at(&r, empty);
        add_row(&r, OUTPUT_DHDL, "12345678");
        assert_int_equal(outputs_flush(&r, &e), 0);
        if (how < 3)
            assert_int_equal(truncate(path_of("dhdl.xvg"), (off_t[]){0, 5, 10}[how]), 0);
        else
            assert_int_equal(unlink(path_of("dhdl.xvg")), 0);
        assert_int_equal(outputs_flush(&r, &e), -ERR_IO);
        add_row(&r, OUTPUT_DHDL, "more");
        assert_int_equal(outputs_sync(&r, &e), -ERR_IO);
        assert_non_null(strstr(e.msg, (const char *[]){"/dhdl.xvg: 0 bytes; expected 9", "/dhdl.xvg: 5 bytes",
                                                       "/dhdl.xvg: 10 bytes", "/dhdl.xvg: removed"}[how]));
        outputs_close(&r);
    }
}

static void one_writer_only(void **state)
{
    (void)state;
    struct outputs r = {0}, other = {0};
    struct err e = {0};
    open_at(&r, empty);
    assert_int_equal(outputs_lock(&other, folder, &e), -ERR_BUSY);
    outputs_close(&r);
    assert_int_equal(outputs_lock(&other, folder, &e), 0);
    outputs_close(&other);
}

static void an_unusable_folder_is_named(void **state)
{
    (void)state;
    struct outputs r = {0};
    struct err e = {0};
    assert_int_equal(outputs_lock(&r, "/nonexistent/lambda_00", &e), -ERR_IO);
    assert_string_equal(e.msg, "make /nonexistent/lambda_00: No such file or directory");
}

/* A file-size limit stands in for a full disk: the write that crosses it is cut short. */
static void half_a_row_is_taken_back(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        struct outputs r = {0};
        struct err e = {0};
        signal(SIGXFSZ, SIG_IGN);
        int bad = outputs_lock(&r, folder, &e) || outputs_open(&r, empty, &e);
        add_row(&r, OUTPUT_DHDL, "whole");
        bad |= outputs_flush(&r, &e) != 0;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){10, 10});
        add_row(&r, OUTPUT_DHDL, "too long for the disk");
        bad |= outputs_flush(&r, &e) != -ERR_NO_SPACE || !strstr(e.msg, "dhdl.xvg: File too large");
        _exit(bad);
    }
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    assert_int_equal(status, 0);
    expect_content(OUTPUT_DHDL, "whole\n");
}

static struct checkpoint example(uint64_t index)
{
    struct checkpoint c = {
        .window = 3, .windows = 12, .stage = 2, .stage_step = 1000, .index = index, .salt = 2, .offset = {1, 2, 3}};
    c.switching = index % 2; /* of a walker by turns */
    c.switches = c.switching ? 7 : 0;
    c.offset[OUTPUT_WORK] = c.switching ? 4 : 0;
    buf_add(&c.state, "state of a simulation", 21);
    return c;
}

static void expect_index(int which, uint64_t index)
{
    struct checkpoint c = {0};
    struct err e = {0};
    assert_int_equal(checkpoint_read(folder, which, &c, &e), 0);
    assert_int_equal(c.index, index);
    assert_int_equal(c.window, 3);
    assert_int_equal(c.windows, 12);
    assert_int_equal(c.stage, 2);
    assert_int_equal(c.stage_step, 1000);
    assert_int_equal(c.salt, 2);
    for (int i = 0; i < OUTPUT_WORK; i++)
        assert_int_equal(c.offset[i], i + 1);
    assert_int_equal(c.switching, index % 2);
    assert_int_equal(c.switches, index % 2 ? 7 : 0);
    assert_int_equal(c.offset[OUTPUT_WORK], index % 2 ? 4 : 0);
    assert_int_equal(c.state.len, 21);
    assert_memory_equal(c.state.data, "state of a simulation", 21);
    checkpoint_close(&c);
}

static void the_previous_checkpoint_is_kept(void **state)
{
    (void)state;
    struct checkpoint c = {0};
    struct err e = {0};
    assert_int_equal(checkpoint_read(folder, CHECKPOINT_NEWEST, &c, &e), CHECKPOINT_NONE);
    for (uint64_t i = 1; i <= 3; i++) {
        c = example(i);
        assert_int_equal(checkpoint_write(folder, &c, &e), 0);
        checkpoint_close(&c);
        expect_index(CHECKPOINT_NEWEST, i);
        if (i > 1)
            expect_index(CHECKPOINT_PREVIOUS, i - 1);
    }
    assert_int_equal(checkpoint_drop(folder, CHECKPOINT_NEWEST, &e), 0);
    assert_int_equal(checkpoint_read(folder, CHECKPOINT_NEWEST, &c, &e), CHECKPOINT_NONE);
    expect_index(CHECKPOINT_PREVIOUS, 2);
}

/* The link stands in for a disk that is full: the code says so, and the good checkpoint stays, if only as the previous
 * one. */
static void a_full_disk_is_told_from_a_broken_one(void **state)
{
    (void)state;
    struct checkpoint c = example(1);
    struct err e = {0};
    assert_int_equal(checkpoint_write(folder, &c, &e), 0);
    assert_int_equal(symlink("/dev/full", path_of("checkpoint.tmp")), 0);
    c.index = 3;
    assert_int_equal(checkpoint_write(folder, &c, &e), -ERR_NO_SPACE);
    assert_non_null(strstr(e.msg, "/checkpoint: No space left on device"));
    expect_index(CHECKPOINT_PREVIOUS, 1);
    assert_int_equal(checkpoint_write(folder, &c, &e), 0);
    expect_index(CHECKPOINT_NEWEST, 3);
    checkpoint_close(&c);
}

/* Every bit of the file flipped, and every shorter length. */
static void any_damage_is_caught(void **state)
{
    (void)state;
    struct checkpoint c = example(1), got = {0};
    struct err e = {0};
    struct buf good = {0};
    assert_int_equal(checkpoint_write(folder, &c, &e), 0);
    checkpoint_close(&c);
    assert_int_equal(buf_read_file(&good, path_of("checkpoint"), &e), 0);
    for (size_t bit = 0; bit < 8 * good.len; bit++) {
        good.data[bit / 8] ^= (char)(1 << bit % 8);
        FILE *f = fopen(path_of("checkpoint"), "wb");
        fwrite(good.data, 1, good.len, f);
        fclose(f);
        good.data[bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(checkpoint_read(folder, CHECKPOINT_NEWEST, &got, &e), -ERR_CHECKPOINT);
    }
    for (size_t len = 0; len < good.len; len++) {
        FILE *f = fopen(path_of("checkpoint"), "wb");
        fwrite(good.data, 1, len, f);
        fclose(f);
        assert_int_equal(checkpoint_read(folder, CHECKPOINT_NEWEST, &got, &e), -ERR_CHECKPOINT);
    }
    buf_free(&good);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(rows_are_written_whole),   TEST(later_bytes_are_cut_off),
        TEST(a_short_file_is_noticed),  TEST(a_file_that_another_program_changes),
        TEST(one_writer_only),          TEST(an_unusable_folder_is_named),
        TEST(half_a_row_is_taken_back), TEST(the_previous_checkpoint_is_kept),
        TEST(any_damage_is_caught),     TEST(a_full_disk_is_told_from_a_broken_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
