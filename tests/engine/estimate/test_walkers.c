/* SPDX-License-Identifier: Apache-2.0
 *
 * Works of an ensemble whose walkers switch: from the folder of its replicas to results.json. Gaussian works of
 * variance sigma^2 and dissipation sigma^2 / 2 in kT obey Crooks' relation.
 */
#undef NDEBUG
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/estimate/estimate.h"
#include "engine/estimate/switching/switching.h"
#include "engine/series/work_table.h"
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"
#include "tests/lib/switch_works.h"

enum { WALKERS = 6, REPEATS = 2, ALL = 2 * WALKERS * REPEATS, SWITCHES = 40, MOST_LOOKS = 200 };
static const double dg = 3, sigma = 1.2;

static char folder[64];
static double lambda[3][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 0.5}, {[LAMBDA_VDW] = 1}};
static struct estimate_replica replicas[ALL];
static const struct settings settings = {
    .alchemy = {.kind = ALCHEMY_DECOUPLE, .nwindows = 3, .lambda = lambda, .given = {[LAMBDA_VDW] = true}},
    .integrator = {.temperature = WORKS_TEMPERATURE},
    .switching = {.changes = 100, .every = 10}};

static int begin(void **state)
{
    if (works_begin(state))
        return -1;
    snprintf(folder, sizeof folder, "walkers-%d", (int)getpid());
    return mkdir(folder, 0755);
}

static int end(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return works_end(state) || system(command);
}

static void make(const char *path)
{
    assert_true(!mkdir(path, 0755) || errno == EEXIST);
}

/* The bytes of the table of replica i after each of its works: [SWITCHES] */
static uint64_t bytes_after[ALL][SWITCHES];

/* Works of all replicas, in kT: those of a walker have an offset of their own, of deviation `apart`, and the later half
 * of all forward ones is `drift` higher. */
static void put_works(double apart, double drift, uint64_t seed)
{
    for (int i = 0; i < ALL; i++) {
        const int repeat = i / (2 * WALKERS), window = i % (2 * WALKERS);
        const enum switch_way way = window < WALKERS ? SWITCH_FORWARD : SWITCH_BACKWARD;
        const double mean = (way == SWITCH_FORWARD ? dg : -dg) + sigma * sigma / 2, own = apart * random_normal(&seed);
        char path[160];
        struct buf text = {0};
        snprintf(path, sizeof path, "%s/repeat_%02d", folder, repeat);
        make(path);
        snprintf(path, sizeof path, "%s/repeat_%02d/lambda_%02d", folder, repeat, window);
        make(path);
        strcat(path, "/work.tsv");
        work_table_header(&text, WORKS_TEMPERATURE, 20);
        for (int k = 0; k < SWITCHES; k++) {
            const double later = way == SWITCH_FORWARD && k >= SWITCHES / 2 ? drift : 0;
            const double w = mean + own + later + sqrt(sigma * sigma - apart * apart) * random_normal(&seed);
            work_table_row(&text, 10.0 * (k + 1), way, w * WORKS_KT);
            bytes_after[i][k] = text.len;
        }
        FILE *f = fopen(path, "w");
        assert_true(f && fwrite(text.data, 1, text.len, f) == text.len && !fclose(f));
        buf_free(&text);
    }
    memset(replicas, 0, sizeof replicas);
}

/* As pmx writes them, of the last results. */
static struct buf integrals[2];

static json_t *results(void)
{
    for (int i = 0; i < 2; i++)
        buf_free(&integrals[i]);
    struct buf json = {0};
    const struct estimate_ensemble q = {.directory = folder,
                                        .set = &settings,
                                        .repeats = REPEATS,
                                        .walkers = WALKERS,
                                        .replicas = replicas,
                                        .integrals = integrals};
    estimate_ensemble(&q, &json);
    json_t *r = json_loadb(json.data, json.len, 0, NULL);
    assert_non_null(r);
    buf_free(&json);
    return r;
}

static void works_put_text(const char *path, const struct buf *text)
{
    struct err e = {0};
    assert_int_equal(buf_write_file(path, text->data, text->len, &e), 0);
}

static void test_number(void **state)
{
    put_works(0, 0, 11);
    json_t *r = results();
    near(works_total(r, 0, "value"), dg, 4 * works_total(r, 0, "error"));
    assert_true(works_total(r, 0, "error") < 0.12);
    assert_string_equal(works_verdict(r, 0), "converged");
    assert_string_equal(json_string_value(works_at(r, "quantity")), "G(end B) - G(end A)");
    assert_string_equal(json_string_value(works_at(r, "status")), "ok");
    assert_int_equal((int)works_number(r, "switching.forward.works"), REPEATS * WALKERS * SWITCHES);
    near(works_number(r, "switching.forward.length.magnitude"), 0.02, 1e-12);
    assert_int_equal(json_array_size(works_at(r, "repeats")), REPEATS);
    near(works_number(r, "repeats.1.free_energy.kT.value"), dg, 4 * works_number(r, "repeats.1.free_energy.kT.error"));
    assert_int_equal(json_array_size(works_at(r, "windows")), 0);
    assert_int_equal(json_array_size(works_at(r, "switching.walkers")), ALL);
    assert_string_equal(json_string_value(works_at(r, "switching.walkers.19.end")), "B");
    assert_int_equal((int)works_number(r, "switching.walkers.19.repeat"), 1);
    assert_int_equal((int)works_number(r, "switching.walkers.19.walker"), 1);
    assert_int_equal((int)works_number(r, "switching.walkers.19.works"), SWITCHES);
    assert_int_equal((int)works_number(r, "switching.spread.walkers"), ALL);
    json_decref(r);
}

/* Every work is in a bin of its way. */
static void test_distributions(void **state)
{
    put_works(0, 0, 12);
    json_t *r = results();
    static const char *const ways[] = {"switching.distributions.forward", "switching.distributions.backward"};
    for (int way = 0; way < 2; way++) {
        const json_t *counts = works_at(r, ways[way]), *count;
        double n = 0, sum = 0;
        const double from = works_number(r, "switching.distributions.from"),
                     width = works_number(r, "switching.distributions.width");
        size_t i;
        json_array_foreach (counts, i, count) {
            n += json_number_value(count);
            sum += json_number_value(count) * (from + ((double)i + 0.5) * width);
        }
        assert_int_equal((int)n, REPEATS * WALKERS * SWITCHES);
        const double mean = (dg + (way ? -1 : 1) * sigma * sigma / 2) * WORKS_KT;
        near(sum / n, mean, 0.5);
    }
    json_decref(r);
}

/* The same number from the files, without an ensemble. */
static void test_files(void **state)
{
    put_works(0.5, 0, 13);
    static char names[ALL][160];
    char *paths[2][ALL];
    int n[2] = {0};
    struct buf text = {0};
    struct err e = {0};
    bool answered;
    for (int i = 0; i < ALL; i++) {
        const int window = i % (2 * WALKERS), way = window >= WALKERS;
        snprintf(names[i], sizeof names[i], "%s/repeat_%02d/lambda_%02d/work.tsv", folder, i / (2 * WALKERS), window);
        paths[way][n[way]++] = names[i];
    }
    const struct estimate_switches q = {.paths = {paths[0], paths[1]}, .n = {n[0], n[1]}, .unit = 1};
    assert_int_equal(estimate_switches(&q, &text, &answered, &e), 0);
    json_t *of_files = json_loadb(text.data, text.len, 0, NULL), *r = results();
    assert_true(json_equal(works_at(of_files, "estimators"), works_at(r, "estimators")));
    assert_true(json_equal(works_at(of_files, "switching.spread"), works_at(r, "switching.spread")));
    near(works_number(of_files, "temperature.magnitude"), WORKS_TEMPERATURE, 1e-9);
    const struct estimate_switches mixed = {.paths = {paths[1], paths[0]}, .n = {n[1], n[0]}, .unit = 1};
    assert_int_equal(estimate_switches(&mixed, &text, &answered, &e), -ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "lambda_06/work.tsv: works of backward switches, expected forward ones"));
    works_put_text(works_forward_file, &integrals[0]);
    works_put_text(works_backward_file, &integrals[1]);
    json_t *of_pmx = works_from_files();
    near(works_total(of_pmx, 0, "value"), works_total(r, 0, "value"), 1e-6);
    json_decref(of_pmx);
    json_decref(of_files);
    json_decref(r);
    buf_free(&text);
}

/* Works of a walker that share an offset: the error is that of the walkers, and it is a true one. */
static void test_spread(void **state)
{
    double square = 0, error = 0;
    int warned = 0;
    enum { TIMES = 60 };
    for (int i = 0; i < TIMES; i++) {
        put_works(0.8, 0, 100 + (uint64_t)i);
        json_t *r = results();
        const double off = works_total(r, 0, "value") - dg;
        square += off * off / TIMES;
        error += pow(works_total(r, 0, "error"), 2) / TIMES;
        const json_t *warning;
        size_t k;
        json_array_foreach (works_at(r, "warnings"), k, warning)
            warned += !!strstr(json_string_value(warning), "works of a walker are correlated");
        json_decref(r);
    }
    near(sqrt(error / square), 1, 0.2);
    assert_int_equal(warned, TIMES);
}

/* The walkers of both ends after n switches each. */
static void solve(struct switching *s, double w[2 * WALKERS][MOST_LOOKS], size_t n)
{
    static double all_20[MOST_LOOKS];
    for (int k = 0; k < MOST_LOOKS; k++)
        all_20[k] = 20;
    *s = (struct switching){.temperature = WORKS_TEMPERATURE, .beta = 1 / WORKS_KT};
    for (int i = 0; i < 2 * WALKERS; i++) {
        const enum switch_way way = i < WALKERS ? SWITCH_FORWARD : SWITCH_BACKWARD;
        const struct work_table t = {.length = all_20, .way = way, .n = n, .work = w[i]};
        works_add_walker(s->works + way, &t);
    }
    switching_solve(s);
}

/* Ends that stop once the error is small enough, twice in a row, stop where it happens to be small: it is a true one
 * all the same. */
static void test_stopping(void **state)
{
    enum { TIMES = 150 };
    static double w[2 * WALKERS][MOST_LOOKS];
    uint64_t seed = 5;
    double square = 0;
    for (int i = 0; i < TIMES; i++) {
        double off = NAN;
        for (int k = 0; k < 2 * WALKERS; k++)
            for (int n = 0; n < MOST_LOOKS; n++)
                w[k][n] = (1.125 + 1.5 * random_normal(&seed)) * WORKS_KT;
        for (size_t n = 8, held = 0; held < 2 && n < MOST_LOOKS; n += 1 + n / 10) {
            struct switching s;
            solve(&s, w, n);
            held = s.bar.error < 0.08 ? held + 1 : 0;
            off = s.bar.value / s.bar.error;
            switching_close(&s);
        }
        square += off * off / TIMES;
    }
    near(sqrt(square), 1, 0.15);
}

static void test_drift(void **state)
{
    put_works(0, 0, 14);
    json_t *r = results();
    assert_false(works_reason(r, 0, "drift"));
    json_decref(r);
    put_works(0, 1, 14);
    r = results();
    assert_true(works_reason(r, 0, "drift"));
    assert_true(works_number(r, "switching.spread.drift") > 2.7);
    json_decref(r);
    replicas[1] = (struct estimate_replica){.kind = ESTIMATE_RUNNING, .vouched = true, .work_bytes = bytes_after[1][0]};
    r = results(); /* one has no halves */
    assert_true(works_reason(r, 0, "drift"));
    json_decref(r);
}

/* Of a walker that runs those works count that its checkpoint vouches for; failed ones take no part. */
static void test_states(void **state)
{
    put_works(0, 0, 15);
    replicas[1] = (struct estimate_replica){.kind = ESTIMATE_RUNNING, .vouched = true, .work_bytes = bytes_after[1][6]};
    replicas[2] = (struct estimate_replica){.kind = ESTIMATE_RUNNING, .vouched = true};
    replicas[WALKERS] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "blew up"};
    json_t *r = results();
    assert_int_equal((int)works_number(r, "switching.walkers.1.works"), 7);
    assert_string_equal(json_string_value(works_at(r, "switching.walkers.2.status")), "waits");
    assert_int_equal((int)works_number(r, "switching.walkers.6.works"), 0);
    assert_string_equal(json_string_value(works_at(r, "switching.walkers.6.reason")), "blew up");
    assert_string_equal(json_string_value(works_at(r, "status")), "partial");
    assert_string_equal(json_string_value(works_at(r, "reason")),
                        "walker B 0 of repeat 0 took no part; walker A 1 of repeat 0 still running; walker A 2 of "
                        "repeat 0 without works yet");
    assert_int_equal((int)works_number(r, "switching.forward.works"), (REPEATS * WALKERS - 2) * SWITCHES + 7);
    json_decref(r);
}

/* What becomes of walkers that must not go without a word: their number is not converged. */
static void test_doubts(void **state)
{
    static const struct volume_moves some = {.tried = 1000, .refused = 99}, many = {.tried = 1000, .refused = 100};
    put_works(0, 0, 11);
    replicas[3].moves = some;
    json_t *r = results();
    assert_string_equal(works_verdict(r, 0), "converged");
    json_decref(r);
    replicas[WALKERS].moves = many;
    r = results();
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_reason(r, 0, "narrow"));
    json_decref(r);
    put_works(0, 0, 11);
    replicas[2].kind = ESTIMATE_FAILED;
    r = results();
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_reason(r, 0, "walker_failed"));
    assert_string_equal(json_string_value(works_at(r, "repeats.1.verdict.verdict")), "converged");
    json_decref(r);
}

static void put_text(const char *path, const char *text)
{
    const struct buf all = {.data = (char *)text, .len = strlen(text)};
    works_put_text(path, &all);
}

static void refused(const char *text, const char *message)
{
    struct work_table t = {0};
    struct err e = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/bad", folder);
    put_text(path, text);
    assert_int_equal(work_table_read(&t, "x/work.tsv", path, WORK_TABLE_ALL, &e), -ERR_UNSUPPORTED);
    assert_string_equal(e.msg, message);
    work_table_close(&t);
}

#define TABLE "# temperature/K 300\n# length/ps 5\n# time/ps\tway\twork/(kJ/mol)\n"

static void test_tables(void **state)
{
    struct work_table t = {0};
    struct err e = {0};
    struct buf text = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/table", folder);
    work_table_header(&text, 300, 5);
    work_table_row(&text, 2, SWITCH_BACKWARD, -1.25);
    assert_string_equal(text.data, TABLE "2.0000\tbackward\t-1.250000\n");
    assert_int_equal(buf_write_file(path, text.data, text.len, &e), 0);
    assert_int_equal(work_table_read(&t, "t", path, WORK_TABLE_ALL, &e), 0);
    assert_true(t.n == 1 && t.way == SWITCH_BACKWARD && t.temperature == 300 && t.length[0] == 5);
    assert_true(t.time[0] == 2 && t.work[0] == -1.25);
    work_table_close(&t);
    buf_free(&text);
    put_text(path, TABLE "2\tforward\t34.901846\n4\tforward\t34.9");
    assert_int_equal(work_table_read(&t, "t", path, WORK_TABLE_ALL, &e), 0);
    assert_true(t.cut_short && t.n == 1 && t.work[0] == 34.901846);
    work_table_close(&t);
    refused(TABLE "2.0000\tsideways\t1\n",
            "x/work.tsv:4: read \"2.0000\tsideways\t1\", expected a time in ps, forward or "
            "backward as in the lines before, and a work in kJ/mol");
    refused(
        TABLE "2\tforward\t1\n4\tbackward\t1\n",
        "x/work.tsv:5: read \"4\tbackward\t1\", expected a time in ps, forward or backward as in the lines before, and "
        "a work in kJ/mol");
    refused("2\tforward\t1\n",
            "x/work.tsv: expected lines with temperature and length of the switches before all works");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number), cmocka_unit_test(test_distributions), cmocka_unit_test(test_files),
        cmocka_unit_test(test_spread), cmocka_unit_test(test_drift),         cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_states), cmocka_unit_test(test_tables),        cmocka_unit_test(test_doubts),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
