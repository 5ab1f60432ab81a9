/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows that a pilot places: what the pilot has of its spec, and what the spec's text is afterwards.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/facts.h"
#include "daemon/spec/pilot.h"
#include "daemon/spec/place_windows.h"
#include "tests/lib/spec_read.h"

#define PROTOCOL                                                                                                       \
    "protocol: [{minimize: {steps: 70}}, {equilibrate: {time: 1 ns}}, {equilibrate: {time: 8 ps}},"                    \
    " {produce: {time: 1 ns, sample-every: 1 ps, frames-every: 10 ps}}, {produce: {time: 2 ns}}]\n"
#define OF(ladder, windows)                                                                                            \
    HEAD "alchemy:\n  decouple: A # \xc3\xa4, \xe2\x82\xac\n" ladder "  windows: " windows "\n" PROTOCOL
#define FOUR "{coulomb: [0, 1, 1, 1], vdw: [0, 0, 0.2, 1]}"

/* Results of a pilot of these windows: the step from vdw 0.2 to 1 is twice as long as the others. */
static json_t *results(void)
{
    return json_loads(
        "{\"windows\": [{\"repeat\": 0, \"lambda\": {\"coulomb\": 0, \"vdw\": 0}},"
        "{\"repeat\": 0, \"lambda\": {\"coulomb\": 1, \"vdw\": 0}},"
        "{\"repeat\": 0, \"lambda\": {\"coulomb\": 1, \"vdw\": 0.2}},"
        "{\"repeat\": 0, \"lambda\": {\"coulomb\": 1, \"vdw\": 1}}],"
        "\"thermodynamic_length\": {\"steps\": ["
        "{\"from\": 0, \"to\": 1, \"deviation_from\": 1, \"deviation_to\": 1},"
        "{\"from\": 1, \"to\": 2, \"deviation_from\": 1, \"deviation_to\": 1},"
        "{\"from\": 2, \"to\": 3, \"deviation_from\": 2, \"deviation_to\": 2}]}}",
        0, NULL);
}

static void placed(const char *text, const char *expected)
{
    struct spec *s = parsed(text), *after;
    struct buf out = {0}, said = {0};
    struct err e = {0};
    json_t *json = results();
    spec_take_pilot(s);
    if (spec_place_windows(s, text, json, &out, &said, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(out.data, expected);
    assert_non_null(strstr(said.data, "4.00 in all"));
    after = parsed(out.data);
    assert_true(after->ladder.placed && !after->ladder.automatic);
    assert_int_equal(after->nstages, 5);
    spec_take_pilot(after); /* it needs none */
    assert_int_equal(after->nstages, 5);
    spec_free(after);
    spec_free(s);
    json_decref(json);
    buf_free(&out);
    buf_free(&said);
}

static void into_the_text(void **state)
{
    (void)state;
    placed(OF("  ladder: auto\n", FOUR),
           OF("  ladder: {placed: {coulomb: [0, 1, 1, 1], vdw: [0, 0, 0.4, 1]}}\n", FOUR));
    placed(OF("  ladder: 'auto' # so\n", FOUR),
           OF("  ladder: {placed: {coulomb: [0, 1, 1, 1], vdw: [0, 0, 0.4, 1]}} # so\n", FOUR));
    placed(OF("  ladder: {windows: 5}\n", FOUR),
           OF("  ladder: {placed: {coulomb: [0, 1, 1, 1, 1], vdw: [0, 0, 0.2, 0.6, 1]}, windows: 5}\n", FOUR));
    placed(OF("  ladder:\n    windows: 3\n    pilot: 3 ps\n", FOUR),
           OF("  ladder:\n    placed: {coulomb: [0, 1, 1], vdw: [0, 0, 1]}\n    windows: 3\n    pilot: 3 ps\n", FOUR));
}

static void not_placed(void **state)
{
    const char *text = OF("  ladder: {windows: 2}\n", FOUR);
    struct spec *s = parsed(text);
    struct buf out = {0}, said = {0};
    struct err e = {0};
    json_t *json = results();
    (void)state;
    assert_int_equal(spec_place_windows(s, text, json, &out, &said, &e), -ERR_ESTIMATE);
    assert_non_null(strstr(e.msg, "no windows can be placed: 2 windows; expected 3 or more"));
    json_t *steps = json_object_get(json_object_get(json, "thermodynamic_length"), "steps");
    json_t *window = json_array_get(json_object_get(json, "windows"), 1);
    json_object_set_new(window, "window", json_integer(1));
    json_object_set_new(window, "reason", json_string("2 samples"));
    json_array_remove(steps, 0); /* window 1 failed, which is the corner of the path */
    json_object_set_new(json_array_get(steps, 0), "from", json_integer(0));
    assert_int_equal(spec_place_windows(s, text, json, &out, &said, &e), -ERR_ESTIMATE);
    assert_string_equal(e.msg,
                        "no windows can be placed: window 1 of the pilot has no samples; expected some of all "
                        "windows; window 1: 2 samples");
    json_array_clear(steps);
    assert_int_equal(spec_place_windows(s, text, json, &out, &said, &e), -ERR_ESTIMATE);
    assert_int_equal(out.len + said.len, 0);
    spec_free(s);
    json_decref(json);
}

/* What could not be put into the text is not found out when the pilot has run. */
static void into_no_text(void **state)
{
    (void)state;
    refused(OF("  ladder: >-\n    auto\n", FOUR), SPEC("5: alchemy.ladder: expected auto in one word in one place"));
}

/* Neither longer than asked for, nor with what only the whole has. */
static void what_a_pilot_has(void **state)
{
    struct spec *s = parsed(OF("  ladder: {pilot: 10 ps, windows: 7}\n",
                               FOUR) "exchange: {every: 1 ps}\nrepeats: 3\nstop-when: {error: 1 kcal/mol}\n");
    const double timestep = s->settings.integrator.timestep;
    (void)state;
    assert_int_equal(spec_windows_placed(s), 7);
    spec_take_pilot(s);
    const struct stage *stages = s->stages;
    assert_int_equal(s->nstages, 4);
    assert_int_equal(stages[0].steps, 70);
    assert_true(stages[1].steps * timestep == 10 && stages[2].steps * timestep == 8 &&
                stages[3].steps * timestep == 10);
    assert_int_equal(stages[3].steps / stages[3].sample_every, 200);
    assert_true(!stages[3].frames_every && !stages[3].exchange_every && !s->stop.error);
    assert_int_equal(s->settings.exchange, EXCHANGE_NONE);
    json_t *facts = spec_facts(s);
    static const struct {
        const char *key;
        int value;
    } expected[] = {{"windows", 4}, {"repeats", 3}, {"replicas", 21}, {"stages", 4}, {"pilot", 1}, {"exchange", 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(json_integer_value(json_object_get(facts, expected[i].key)), expected[i].value);
    assert_true(json_is_null(json_object_get(facts, "placed")));
    json_decref(facts);
    spec_free(s);
}

static void placed_counts(void **state)
{
    struct spec *s = parsed(OF("  ladder: {placed: {vdw: [0, 0.3, 1]}}\n", FOUR));
    json_t *placed = spec_placed_json(s);
    (void)state;
    assert_int_equal(s->settings.alchemy.nwindows, 3);
    assert_true(s->settings.alchemy.lambda[1][LAMBDA_VDW] == 0.3 && !s->settings.alchemy.given[LAMBDA_COULOMB]);
    assert_int_equal(json_object_size(placed), 1);
    json_decref(placed);
    spec_free(s);
}

static void what_cannot_be(void **state)
{
    (void)state;
    refused(OF("  ladder: auto\n", "{vdw: [0]}"),
            SPEC("5: alchemy.ladder: a single window; expected two or more, which the pilot has"));
    refused(OF("  ladder: {windows: 201}\n", FOUR) "repeats: 100\n",
            SPEC("5: alchemy.ladder: 201 windows x 100 repeats are 20100 replicas; expected at most 20000"));
    refused(OF("  ladder: {windows: 7}\n",
               FOUR) "switch: {length: 20 steps, change-every: 4 steps, snapshots-every: 1 ps, walkers: 1}\n",
            SPEC("5: alchemy.ladder: 7 rows: in a switch lambda changes 5 times; expected 6 rows at most, or a longer "
                 "switch"));
    refused(OF("  ladder: {placed: {coulomb: [0], vdw: [0, 1]}}\n", FOUR),
            SPEC("5: alchemy.ladder.placed.vdw: 2 values; expected 1, as many as coulomb in line 5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(into_the_text),    cmocka_unit_test(not_placed),    cmocka_unit_test(into_no_text),
        cmocka_unit_test(what_a_pilot_has), cmocka_unit_test(placed_counts), cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
