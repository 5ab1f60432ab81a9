/* SPDX-License-Identifier: Apache-2.0
 *
 * Walkers that switch, over a simulation that is a hash: their production is that of a window, and whatever happens on
 * the way, a switch's work is there once.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/series/xvg.h"
#include "tests/unit/replica_play.h"

/* Switches after every 35 of 200 steps, and of the 45 of the last stage. */
enum { SWITCHES = 5 + 1 };

/* Time stands still, in place of the system's: pieces of work are of four timesteps, five of a switch. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1000};
    return 0;
}

static int begin(void **state)
{
    int rc = set_up(state);
    fake.spec.walkers = 1;
    fake.spec.settings.switching = (struct switch_settings){.changes = 4, .every = 5};
    fake.spec.settings.integrator.temperature = 300;
    protocol[3].switch_every = protocol[4].switch_every = 35;
    return rc;
}

static int end(void **state)
{
    protocol[3].switch_every = protocol[4].switch_every = 0;
    return tear_down(state);
}

/* Checkpoints whenever there may be one, also within a switch. */
static void keep_all(void)
{
    fake.spec.checkpoint_every = 0;
    fake.spec.checkpoint_seconds = 0;
}

static void read_works(struct buf *works, int window)
{
    char path[160];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/lambda_%02d/work.tsv", fake.directory, window);
    works->len = 0;
    if (buf_read_file(works, path, &e))
        fail_msg("%s", e.msg);
}

static void undisturbed_works(struct buf wanted[FILES], struct buf *works)
{
    assert_int_equal(run().end, REPORT_DONE);
    fake_files_read(wanted, 0);
    read_works(works, 0);
    fake_folder_empty();
}

static void expect_works(struct buf wanted[FILES], const struct buf *works)
{
    struct buf got = {0};
    read_works(&got, 0);
    assert_string_equal(got.data, works->data);
    buf_free(&got);
    expect_files(wanted);
}

/* Of both ends: the times of the snapshots, and the way. */
static void works_are_noted(void **state)
{
    (void)state;
    static const double times[SWITCHES] = {0.07, 0.14, 0.21, 0.28, 0.35, 0.47};
    struct told told[2] = {{0}};
    run_replicas(told, 2);
    for (int window = 0; window < 2; window++) {
        struct buf works = {0};
        int n = 0;
        assert_int_equal(told[window].end, REPORT_DONE);
        assert_int_equal(told[window].step, 455);
        read_works(&works, window);
        assert_memory_equal(works.data, "# temperature/K 300\n# length/ps 0.04\n# time/ps\tway\twork/(kJ/mol)\n", 65);
        for (char *line = works.data + 65; *line; line = strchr(line, '\n') + 1, n++) {
            double time, work;
            char way[16];
            assert_int_equal(sscanf(line, "%lf\t%15s\t%lf", &time, way, &work), 3);
            assert_true(n < SWITCHES && time == times[n]);
            assert_string_equal(way, window ? "backward" : "forward");
        }
        assert_int_equal(n, SWITCHES);
        buf_free(&works);
    }
    fake_folder_empty();
}

/* Bit by bit that of a window; and a window has no file of works. */
static void production_knows_nothing_of_switches(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0};
    struct err e = {0};
    char path[160];
    undisturbed_works(wanted, &works);
    fake.spec.walkers = 0;
    protocol[3].switch_every = protocol[4].switch_every = 0;
    assert_int_equal(run().end, REPORT_DONE);
    snprintf(path, sizeof path, "%s/lambda_00/work.tsv", fake.directory);
    assert_int_not_equal(buf_read_file(&works, path, &e), 0);
    expect_files(wanted);
    fake_files_free(wanted);
    buf_free(&works);
}

static bool comes_to_its_end(const void *nothing)
{
    (void)nothing;
    return run().end == REPORT_DONE;
}

/* At every `every`-th call. */
static void die_everywhere(int every, int fewest)
{
    struct buf wanted[FILES] = {0}, works = {0};
    undisturbed_works(wanted, &works);
    int k = 1;
    for (; !fake_survives(k, comes_to_its_end, NULL); k += every) {
        assert_int_equal(run().end, REPORT_DONE);
        expect_works(wanted, &works);
    }
    assert_true(k > fewest);
    expect_works(wanted, &works);
    fake_files_free(wanted);
    buf_free(&works);
}

static void killed_at_calls(void **state)
{
    (void)state;
    die_everywhere(5, 150);
}

static void killed_at_calls_with_checkpoints_everywhere(void **state)
{
    (void)state;
    keep_all();
    die_everywhere(11, 250);
}

static void stopped_again_and_again(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0};
    undisturbed_works(wanted, &works);
    for (int calls = 5; calls < 30; calls += 8) {
        struct told t;
        int stops = 0;
        do {
            t = (struct told){.stop_after_calls = calls};
            run_replicas(&t, 1);
            stops += t.end == REPORT_STOPPED;
        } while (t.end == REPORT_STOPPED && stops < 1000);
        assert_int_equal(t.end, REPORT_DONE);
        assert_true(stops > 3);
        expect_works(wanted, &works);
    }
    fake_files_free(wanted);
    buf_free(&works);
}

/* Buffers that grow within a switch. */
static void lists_grow(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0};
    undisturbed_works(wanted, &works);
    for (fake.grow_at = 150; fake.grow_at < 172; fake.grow_at += 5) {
        assert_int_equal(run().end, REPORT_DONE);
        expect_works(wanted, &works);
    }
    fake_files_free(wanted);
    buf_free(&works);
}

static int count_works(void)
{
    struct buf works = {0};
    int n = 0;
    read_works(&works, 0);
    for (const char *s = works.data; (s = strchr(s, '\n')); s++)
        n++;
    buf_free(&works);
    return n - 3;
}

/* The line of a switch. */
static void line_of(const struct buf *works, int number, char *line, size_t size)
{
    const char *s = works->data;
    for (int i = 0; i < 3 + number; i++)
        s = strchr(s, '\n') + 1;
    snprintf(line, size, "%.*s", (int)strcspn(s, "\n"), s);
}

/* It has a line, whose work is no number; production and other switches are as without it, whatever is killed. */
static void a_switch_blows_up(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, calm = {0}, works = {0};
    char line[80], was[80];
    undisturbed_works(wanted, &calm);
    fake.blow_up_switches = 1 << 1;
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    read_works(&works, 0);
    for (int k = 0; k < SWITCHES; k++) {
        line_of(&works, k, line, sizeof line);
        line_of(&calm, k, was, sizeof was);
        assert_string_equal(line, k == 1 ? "0.1400\tforward\tnan" : was);
    }
    expect_files(wanted);
    fake_files_free(wanted);
    buf_free(&calm);
    buf_free(&works);
    die_everywhere(7, 100);
}

/* Said of the last; with other random numbers it comes to its end, and no work is missing. */
static void all_blow_up(void **state)
{
    (void)state;
    keep_all();
    fake.blow_up_switches = ~UINT64_C(0);
    struct told t = run();
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_NONFINITE);
    if (!strstr(t.message, "in forward switch 4, after step 12 of it"))
        fail_msg("%s", t.message);
    if (!strstr(t.last_event, "in forward switch 3, after step 12 of it"))
        fail_msg("%s", t.last_event);
    fake.blow_up_switches = 0;
    asked_salt = 1;
    t = run();
    asked_salt = 0;
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(count_works(), SWITCHES);
    fake_folder_empty();
}

/* A target that becomes later makes the switches of the time that comes with it. */
static void a_later_target(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0};
    asked_target = 620;
    undisturbed_works(wanted, &works);
    for (asked_target = 455; asked_target <= 620; asked_target += 55)
        assert_int_equal(run().end, REPORT_DONE);
    asked_target = 0;
    assert_int_equal(count_works(), SWITCHES + (45 + 165) / 35 - 45 / 35);
    expect_works(wanted, &works);
    fake_files_free(wanted);
    buf_free(&works);
}

/* The first switches are as long as the spec says, and the lines of longer ones come behind their length; whatever is
 * killed, and where the walker waits after its first switches until it is known how long others are. */
static void later_switches_are_longer(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0}, plain = {0};
    enum { FIRST = 5 };
    char line[80], was[80];
    fake.spec.lengthen.after = FIRST;
    fake.spec.settings.switching.doublings = 3;
    undisturbed_works(wanted, &plain);
    asked_doublings = 2;
    assert_int_equal(run().end, REPORT_DONE);
    read_works(&works, 0);
    for (int k = 0; k < SWITCHES; k++) {
        line_of(&works, k + (k >= FIRST), line, sizeof line);
        line_of(&plain, k, was, sizeof was);
        assert_true(k < FIRST ? !strcmp(line, was)
                              : strcmp(line, was) && !strncmp(line, was, strlen("0.4700\tforward")));
    }
    line_of(&works, FIRST, line, sizeof line);
    assert_string_equal(line, "# length/ps 0.16");
    expect_files(wanted);
    die_everywhere(7, 100);
    asked_doublings = 0;
    asked_target = 430; /* before the last switch */
    assert_int_equal(run().end, REPORT_DONE);
    assert_int_equal(count_works(), FIRST);
    asked_doublings = 2;
    asked_target = 0;
    assert_int_equal(run().end, REPORT_DONE);
    expect_works(wanted, &works);
    asked_doublings = 0;
    fake_files_free(wanted);
    buf_free(&works);
    buf_free(&plain);
}

enum { ROWS = 5 }; /* of a switch of 20 timesteps, every fifth */

/* The work of a switch, by the trapezoid's rule over lambda from 0 to 1; NAN: there is no such file. */
static double integral_of(int number)
{
    char path[160];
    struct xvg x = {0};
    struct err e = {0};
    double sum = 0;
    snprintf(path, sizeof path, "%s/lambda_00/switch_%05d.xvg", fake.directory, number);
    if (xvg_read_file(&x, path, path, XVG_ALL, 0, &e))
        return NAN;
    assert_int_equal(x.nrows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(fabs(x.v[2 * i] - 0.01 * (double)i) < 1e-9);
        sum += (i == 0 || i == ROWS - 1 ? 0.5 : 1) * x.v[2 * i + 1] / (ROWS - 1);
    }
    xvg_close(&x);
    return sum;
}

/* Every switch that is in the table has its file, with its work as integral, and no other has one. */
static void expect_slopes(const struct buf *works)
{
    char line[80];
    for (int k = 0; k < SWITCHES; k++) {
        line_of(works, k, line, sizeof line);
        const double work = strtod(strrchr(line, '\t'), NULL), got = integral_of(k);
        if (!(isnan(work) ? isnan(got) : fabs(got - work) < 1e-8 * fabs(work)))
            fail_msg("switch %d: %.10g in the table, %.10g in the file", k, work, got);
    }
    assert_true(isnan(integral_of(SWITCHES)));
}

static bool works_and_slopes(const void *works)
{
    const bool ended = run().end == REPORT_DONE;
    if (ended)
        expect_slopes(works);
    return ended;
}

/* dH/dlambda in a file of each switch: works are as without, whatever is killed or stopped, also where checkpoints are
 * made whenever there may be one; of a switch that blows up there is no file. */
static void slopes_are_written(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, works = {0};
    fake.blow_up_switches = 1 << 2;
    undisturbed_works(wanted, &works);
    fake.spec.slopes_every = 20 / (ROWS - 1);
    assert_true(works_and_slopes(&works));
    expect_works(wanted, &works);
    keep_all();
    int k = 1;
    for (; !fake_survives(k, works_and_slopes, &works); k += 13) {
        assert_true(works_and_slopes(&works));
        expect_works(wanted, &works);
    }
    assert_true(k > 150);
    expect_works(wanted, &works);
    fake.slowness = 1;                              /* so that a stop is heard within a switch */
    for (int calls = 60; calls < 100; calls += 7) { /* more than a switch takes, which begins anew */
        struct told t;
        do {
            t = (struct told){.stop_after_calls = calls};
            run_replicas(&t, 1);
        } while (t.end == REPORT_STOPPED);
        expect_slopes(&works);
        expect_works(wanted, &works);
    }
    fake.slowness = 0;
    fake_files_free(wanted);
    buf_free(&works);
}

/* A file of a switch that the checkpoint does not have is removed: the walker may never come to it again. */
static void slopes_of_no_switch_are_removed(void **state)
{
    (void)state;
    struct err e = {0};
    char path[160];
    fake.spec.slopes_every = 20 / (ROWS - 1);
    asked_target = 430;
    assert_int_equal(run().end, REPORT_DONE);
    snprintf(path, sizeof path, "%s/lambda_00/switch_00005.xvg", fake.directory);
    assert_int_equal(buf_write_file(path, "x", 1, &e), 0);
    asked_target = 440; /* the sixth switch comes at 445 */
    assert_int_equal(run().end, REPORT_DONE);
    assert_true(access(path, F_OK) && !isnan(integral_of(4)));
    asked_target = 0;
    fake_folder_empty();
}

#define WALKER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WALKER(works_are_noted),         WALKER(production_knows_nothing_of_switches),
        WALKER(killed_at_calls),         WALKER(killed_at_calls_with_checkpoints_everywhere),
        WALKER(stopped_again_and_again), WALKER(lists_grow),
        WALKER(a_switch_blows_up),       WALKER(all_blow_up),
        WALKER(a_later_target),          WALKER(later_switches_are_longer),
        WALKER(slopes_are_written),      WALKER(slopes_of_no_switch_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
