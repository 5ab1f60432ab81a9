/* SPDX-License-Identifier: Apache-2.0
 *
 * Walkers whose switches become longer: which works count, how long later switches are to be, and whether numbers and
 * errors of the whole procedure are right. Gaussian works of variance 2 D that dissipate D obey Crooks' relation, as
 * works of a harmonic well that moves have; so do gamma distributed ones, with the rate larger by 1 on the way back.
 */
#undef NDEBUG
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
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"
#include "tests/lib/switch_works.h"

enum { WALKERS = 12, FIRST = 8, LATER = 24, ALL = FIRST + LATER, DOUBLINGS = 3, SHAPE = 4 };
static const double dg = 3;
static const struct switch_pace pace = {
    .first = FIRST, .later = LATER, .doublings = DOUBLINGS, .length = 10, .apart = 1};

/* A work in kT. */
typedef double draw_fn(double parameter, enum switch_way way, uint64_t *seed);

static double gaussian(double dissipated, enum switch_way way, uint64_t *seed)
{
    return (way == SWITCH_FORWARD ? dg : -dg) + dissipated + sqrt(2 * dissipated) * random_normal(seed);
}

/* Half of what both ways dissipate together. */
static double dissipated_by_gamma(double rate)
{
    return 0.5 * SHAPE * (1 / rate - 1 / (rate + 1));
}

static double gamma_work(double dissipated, enum switch_way way, uint64_t *seed)
{
    double low = 1e-3, high = 1e3, sum = 0;
    while (high - low > 1e-9 * low)
        *(dissipated_by_gamma(0.5 * (low + high)) > dissipated ? &low : &high) = 0.5 * (low + high);
    for (int i = 0; i < SHAPE; i++)
        sum -= log(random_uniform(seed));
    const double shift = dg - SHAPE * log(1 + 1 / low);
    return way == SWITCH_FORWARD ? shift + sum / low : -shift - sum / (low + 1);
}

static double works[2 * WALKERS][ALL]; /* kJ/mol, of every walker */

static enum switch_way way_of(int walker)
{
    return walker < WALKERS ? SWITCH_FORWARD : SWITCH_BACKWARD;
}

static void draw_works(draw_fn *draw, double dissipated, int from, int to, uint64_t *seed)
{
    for (int i = 0; i < 2 * WALKERS; i++)
        for (int k = from; k < to; k++)
            works[i][k] = WORKS_KT * draw(dissipated, way_of(i), seed);
}

/* From those of all walkers, of one length. */
static struct switching of_works(int from, int to, double length)
{
    struct switching s = {.temperature = WORKS_TEMPERATURE, .beta = 1 / WORKS_KT};
    double lengths[ALL];
    for (int k = 0; k < ALL; k++)
        lengths[k] = length;
    for (int i = 0; i < 2 * WALKERS; i++)
        works_add_walker(s.works + way_of(i),
                         &(struct work_table){
                             .way = way_of(i), .n = (size_t)(to - from), .work = works[i] + from, .length = lengths});
    return s;
}

/* As an ensemble does it: the first works say how long the others are, and do not count if these are longer. */
static int go(draw_fn *draw, double dissipated, uint64_t *seed, struct switching *s)
{
    draw_works(draw, dissipated, 0, FIRST, seed);
    struct switching first = of_works(0, FIRST, pace.length);
    const int doublings = switching_choose(&first, &pace).doublings;
    draw_works(draw, ldexp(dissipated, -doublings), FIRST, ALL, seed);
    *s = of_works(doublings ? FIRST : 0, ALL, ldexp(pace.length, doublings));
    switching_solve(s);
    return doublings;
}

/* Many times: numbers are off by their errors in the mean square, and by nothing in the mean where the works that chose
 * do not count, or do not favour a number. Where they do, and are a quarter of all, it is by less than a fifth of the
 * error (docs/theory.md). */
static void calibrate(draw_fn *draw, double dissipated, const char *name)
{
    enum { TIMES = 300 };
    int one = 0, two = 0, chosen[DOUBLINGS + 1] = {0};
    double mean = 0, square = 0, error = 0, each[DOUBLINGS + 1] = {0};
    uint64_t seed = (uint64_t)(1000 * dissipated) + (uint64_t)name[0];
    for (int i = 0; i < TIMES; i++) {
        struct switching s;
        const int k = go(draw, dissipated, &seed, &s);
        const double off = s.bar.value - dg;
        assert_true(s.bar.ok);
        chosen[k]++;
        each[k] += off;
        mean += off / TIMES;
        square += off * off / TIMES;
        error += s.bar.error * s.bar.error / TIMES;
        one += fabs(off) < s.bar.error;
        two += fabs(off) < 2 * s.bar.error;
        switching_close(&s);
    }
    print_message(
        "%s, %.2g kT: off by %.4f +- %.4f, errors %.2f of those made; within one %d, two %d of %d; doublings %d "
        "%d %d %d\n",
        name, dissipated, mean, sqrt(square / TIMES), sqrt(error / square), one, two, TIMES, chosen[0], chosen[1],
        chosen[2], chosen[3]);
    const double favoured = draw == gaussian ? 0 : 0.2;
    assert_true(fabs(mean) < (3.5 / sqrt(TIMES) + favoured) * sqrt(square));
    for (int k = draw == gaussian ? 0 : 1; k <= DOUBLINGS; k++)
        assert_true(chosen[k] < 20 || fabs(each[k] / chosen[k]) < 3.5 * sqrt(square / chosen[k]));
    near(sqrt(error / square), 1, 0.13);
    assert_in_range(one, TIMES * 60 / 100, TIMES * 77 / 100);
    assert_in_range(two, TIMES * 91 / 100, TIMES);
}

static void test_calibration(void **state)
{
    (void)state;
    calibrate(gaussian, 3, "Gaussian");
    calibrate(gaussian, 3.5, "Gaussian");
    calibrate(gaussian, 5, "Gaussian");
    calibrate(gamma_work, 3.5, "gamma");
}

/* n times the squared error of BAR, of n Gaussian works each way, by the mean of the Fermi weight. */
static double squared_error(double dissipated)
{
    double sum = 0, all = 0;
    for (double z = -10; z < 10; z += 0.01) {
        const double weight = exp(-0.5 * z * z);
        sum += weight / (1 + exp(dissipated + sqrt(2 * dissipated) * z));
        all += weight;
    }
    return all / sum - 2;
}

/* The fewest doublings with which the error in the same time is within a tenth of that with any more. */
static void test_choice(void **state)
{
    (void)state;
    static const double tried[] = {0.2, 1, 2, 3, 4, 5, 6, 8, 12, 20};
    int last = 0;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const double d = tried[i];
        const struct switch_choice c = switching_doublings(&(struct value_error){2 * d, 0.01}, &pace);
        double error[DOUBLINGS + 1];
        for (int k = 0; k <= DOUBLINGS; k++)
            error[k] = sqrt(squared_error(ldexp(d, -k)) * (pace.apart + ldexp(pace.length, k)) / (k ? LATER : ALL));
        for (int k = c.doublings + 1; k <= DOUBLINGS; k++)
            assert_true(error[k] > 0.9 * error[c.doublings]);
        bool better = false;
        for (int k = c.doublings; k <= DOUBLINGS && c.doublings; k++)
            better |= error[k] < 0.9 * error[c.doublings - 1];
        assert_true(better == (c.doublings > 0));
        near(c.dissipated, d, 1e-12);
        assert_true(c.made && c.doublings >= last);
        last = c.doublings;
    }
    assert_int_equal(last, DOUBLINGS);
    assert_int_equal(switching_doublings(&(struct value_error){20, 11}, &pace).doublings, 0); /* may be nothing */
    assert_int_equal(switching_doublings(&(struct value_error){NAN, NAN}, &pace).doublings, 0);
    assert_int_equal(switching_doublings(&(struct value_error){1e5, 1}, &pace).doublings, DOUBLINGS);
}

/* ---- the files of an ensemble ---- */

static char folder[64];
static double lambda[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 1}};
static const struct settings settings = {
    .alchemy = {.kind = ALCHEMY_DECOUPLE, .nwindows = 2, .lambda = lambda, .given = {[LAMBDA_VDW] = true}},
    .integrator = {.temperature = WORKS_TEMPERATURE},
    .switching = {.changes = 100, .every = 10, .doublings = DOUBLINGS}};

static int begin(void **state)
{
    snprintf(folder, sizeof folder, "lengthened-%d", (int)getpid());
    return works_begin(state) ? -1 : mkdir(folder, 0755);
}

static int end(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return works_end(state) || system(command);
}

static int lost; /* of the first switches of a walker of end A: they blow up */

/* Of a walker: first works that dissipate 8 kT each, and so many that are four times as long. */
static void put_table(int i, int first, int later, uint64_t *seed)
{
    const enum switch_way way = i < WALKERS ? SWITCH_FORWARD : SWITCH_BACKWARD;
    char path[160];
    struct buf text = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/lambda_%02d", folder, i);
    mkdir(path, 0755);
    strcat(path, "/work.tsv");
    work_table_header(&text, WORKS_TEMPERATURE, 10);
    for (int k = 0; k < first + later; k++) {
        if (k == first)
            work_table_length(&text, 40);
        const double work = WORKS_KT * gaussian(k < first ? 8 : 2, way, seed);
        work_table_row(&text, k + 1, way, way == SWITCH_FORWARD && k < lost ? NAN : work);
    }
    assert_int_equal(buf_write_file(path, text.data, text.len, &e), 0);
    buf_free(&text);
}

static struct estimate_replica replicas[2 * WALKERS];
static struct buf integrals[2]; /* of the last results, as pmx has them */

/* later: of walkers of end A, and of end B; what was decided in `pace`. */
static json_t *results_of_pace(const struct switch_pace *of, int first, int later_a, int later_b)
{
    struct buf json = {0};
    uint64_t seed = 17;
    for (int i = 0; i < 2 * WALKERS; i++)
        put_table(i, first, i < WALKERS ? later_a : later_b, &seed);
    for (int i = 0; i < 2; i++)
        buf_free(&integrals[i]);
    const struct estimate_ensemble q = {.directory = folder,
                                        .set = &settings,
                                        .repeats = 1,
                                        .walkers = WALKERS,
                                        .pace = *of,
                                        .replicas = replicas,
                                        .integrals = integrals};
    estimate_ensemble(&q, &json);
    json_t *r = json_loadb(json.data, json.len, 0, NULL);
    assert_non_null(r);
    buf_free(&json);
    return r;
}

static json_t *results(int first, int later_a, int later_b)
{
    return results_of_pace(&pace, first, later_a, later_b);
}

static int lines(const struct buf *text)
{
    int n = 0;
    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n';
    return n;
}

static void test_files(void **state)
{
    (void)state;
    json_t *r = results(FIRST, LATER, LATER);
    near(works_total(r, 0, "value"), dg, 4 * works_total(r, 0, "error"));
    assert_int_equal((int)works_number(r, "switching.forward.works"), WALKERS * LATER);
    assert_int_equal((int)works_number(r, "switching.backward.other_length"), WALKERS * FIRST);
    assert_int_equal((int)works_number(r, "switching.forward.incomplete"), 0);
    near(works_number(r, "switching.forward.length.magnitude"), 0.04, 1e-12);
    near(works_number(r, "switching.hysteresis.kT.value"), 4, 0.5);
    assert_int_equal((int)works_number(r, "switching.spread.walkers"), 2 * WALKERS);
    near(works_number(r, "switching.earlier.length.magnitude"), 0.01, 1e-12);
    assert_int_equal((int)works_number(r, "switching.earlier.forward"), WALKERS * FIRST);
    near(works_number(r, "switching.earlier.hysteresis.kT.value"), 16, 3);
    near(works_number(r, "switching.earlier.free_energy.kT.value"), dg,
         4 * works_number(r, "switching.earlier.free_energy.kT.error"));
    assert_true(works_number(r, "switching.earlier.free_energy.kT.error") > 2 * works_total(r, 0, "error"));
    assert_int_equal((int)works_number(r, "switching.lengthened.doublings"), 2);
    assert_int_equal((int)works_number(r, "switching.lengthened.after"), FIRST);
    json_decref(r);
}

/* What programs read that know of no lengths is of one. */
static void test_integrals(void **state)
{
    (void)state;
    json_decref(results(FIRST, LATER, LATER));
    for (int end = 0; end < 2; end++) {
        assert_int_equal(lines(&integrals[end]), WALKERS * LATER);
        assert_non_null(strstr(integrals[end].data, "/work.tsv:9.0000 "));
        assert_null(strstr(integrals[end].data, "/work.tsv:8.0000 "));
    }
    json_decref(results(FIRST, LATER, 0)); /* the number is that of the first */
    for (int end = 0; end < 2; end++)
        assert_int_equal(lines(&integrals[end]), WALKERS * FIRST);
}

/* What was decided is said, whatever the first works are now: a walker was retried, or has failed since. */
static void test_decided(void **state)
{
    (void)state;
    struct switch_pace decided = pace;
    decided.decided = true;
    json_t *r = results_of_pace(&decided, FIRST, 0, 0);
    assert_int_equal((int)works_number(r, "switching.lengthened.doublings"), 0);
    near(works_number(r, "switching.lengthened.length.magnitude"), 0.01, 1e-12);
    assert_null(strstr(json_string_value(works_at(r, "switching.lengthened.text")), "because"));
    json_decref(r);
    decided.chosen = 2;
    r = results_of_pace(&decided, FIRST, LATER, LATER);
    assert_non_null(strstr(json_string_value(works_at(r, "switching.lengthened.text")), "because that cuts the error"));
    json_decref(r);
    replicas[0].kind = ESTIMATE_FAILED;
    r = results_of_pace(&decided, FIRST - 1, 0, 0);
    replicas[0].kind = ESTIMATE_DONE;
    assert_int_equal((int)works_number(r, "switching.lengthened.doublings"), 2);
    json_decref(r);
}

/* While an ensemble runs: the choice is that of all first works, and of no other; until both ends have longer switches
 * the number is that of the first. */
static void test_files_so_far(void **state)
{
    (void)state;
    json_t *r = results(FIRST - 1, 0, 0);
    assert_null(works_at(r, "switching.lengthened"));
    json_decref(r);
    r = results(FIRST, 0, 0);
    assert_int_equal((int)works_number(r, "switching.lengthened.doublings"), 2);
    assert_null(works_at(r, "switching.earlier"));
    json_decref(r);
    r = results(FIRST, 3, 0);
    assert_int_equal((int)works_number(r, "switching.lengthened.doublings"), 2);
    assert_null(works_at(r, "switching.earlier"));
    near(works_number(r, "switching.forward.length.magnitude"), 0.01, 1e-12);
    assert_int_equal((int)works_number(r, "switching.forward.works"), WALKERS * FIRST);
    assert_int_equal((int)works_number(r, "switching.forward.other_length"), 3 * WALKERS);
    json_decref(r);
}

static bool says_nonfinite(const json_t *r)
{
    const json_t *reason;
    size_t i;
    json_array_foreach (works_at(r, "verdict.reasons"), i, reason)
        if (!strcmp(json_string_value(json_object_get(reason, "code")), "nonfinite"))
            return true;
    return false;
}

/* Switches that blew up are missing in the number of their length, also when longer ones have begun at one end. */
static void test_lost(void **state)
{
    (void)state;
    static const struct {
        int later_a, later_b, lost, other; /* of a walker */
    } tried[] = {{0, 0, 1, 0}, {3, 0, 1, 3}, {LATER, LATER, 0, FIRST}};
    lost = 1;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        json_t *r = results(FIRST, tried[i].later_a, tried[i].later_b);
        assert_int_equal((int)works_number(r, "switching.forward.nonfinite"), WALKERS * tried[i].lost);
        assert_int_equal((int)works_number(r, "switching.forward.other_length"), WALKERS * tried[i].other);
        assert_true(says_nonfinite(r) == (tried[i].lost > 0));
        assert_int_equal((int)works_number(r, "switching.spread.walkers"), 2 * WALKERS);
        json_decref(r);
    }
    lost = 0;
}

/* Files of walkers whose first switches all blew up are no copies of each other. */
static void test_lost_alike(void **state)
{
    (void)state;
    static char names[2 * WALKERS][160];
    char *paths[2][WALKERS];
    struct buf text = {0};
    struct err e = {0};
    bool answered;
    lost = 5;
    json_decref(results(FIRST, LATER, LATER));
    lost = 0;
    for (int i = 0; i < 2 * WALKERS; i++) {
        snprintf(names[i], sizeof names[i], "%s/lambda_%02d/work.tsv", folder, i);
        paths[i / WALKERS][i % WALKERS] = names[i];
    }
    const struct estimate_switches q = {.paths = {paths[0], paths[1]}, .n = {WALKERS, WALKERS}, .unit = 1};
    if (estimate_switches(&q, &text, &answered, &e))
        fail_msg("%s", e.msg);
    assert_true(answered);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice),     cmocka_unit_test(test_calibration),
                                       cmocka_unit_test(test_files),      cmocka_unit_test(test_integrals),
                                       cmocka_unit_test(test_decided),    cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_lost_alike), cmocka_unit_test(test_files_so_far)};
    return cmocka_run_group_tests(tests, begin, end);
}
