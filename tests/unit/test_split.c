/* SPDX-License-Identifier: Apache-2.0
 *
 * nonbonded.split: what a spec may say, what becomes of auto, and where its numbers are kept.
 */
#undef NDEBUG
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/advice/advice.h"
#include "daemon/spec/split.h"
#include "daemon/spec/submission.h"
#include "engine/derive/split.h"
#include "tests/lib/spec_read.h"

enum { EDGE = 6 }; /* ions along an edge */

#define TOPOLOGY(charge)                                                                                               \
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nNA 23 0 A 0.3 0.1\n[ moleculetype ]\nP 1\n[ atoms ]\n1 NA 1 P N "        \
    "1 " charge " 23\n[ moleculetype ]\nM 1\n[ atoms ]\n1 NA 1 M N 1 -" charge                                         \
    " 23\n[ system ]\nx\n[ molecules ]\nP 108\nM 108\n"

static const char salt[] = TOPOLOGY("1"), argon[] = TOPOLOGY("0");

/* Ions off the points of a lattice, in a box of 3 nm. */
static void put_coordinates(struct buf *out)
{
    buf_printf(out, "x\n%d\n", EDGE * EDGE * EDGE);
    for (int i = 0; i < EDGE * EDGE * EDGE; i++)
        buf_printf(out, "%5dP        N%5d%8.3f%8.3f%8.3f\n", i + 1, i + 1, 0.5 * (i % EDGE) + 0.013 * (i * 7 % 11),
                   0.5 * (i / EDGE % EDGE) + 0.011 * (i * 5 % 13), 0.5 * (i / EDGE / EDGE) + 0.012 * (i * 3 % 17));
    buf_printf(out, "3 3 3\n");
}

/* The spec, as it is when its split was chosen; and its system. */
static struct spec *chosen(const char *text, const char *topology, struct system *sys)
{
    struct err e = {0};
    struct buf gro = {0};
    struct spec *s = parsed(text);
    struct source *src = source_memory_new();
    *sys = (struct system){0};
    put_coordinates(&gro);
    assert_int_equal(source_memory_add(src, "a.top", topology, strlen(topology), &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro.data, gro.len, &e), 0);
    if (spec_system(s, src, sys, &e) || spec_choose_split(s, sys, &e))
        fail_msg("%s", e.msg);
    source_free(src);
    buf_free(&gro);
    return s;
}

static void assert_split(const struct nonbonded_settings *a, const struct nonbonded_settings *b)
{
    assert_is(a->coulomb_cutoff, b->coulomb_cutoff);
    assert_is(a->ewald_tolerance, b->ewald_tolerance);
    assert_int_equal(a->pme_order, b->pme_order);
    assert_memory_equal(a->pme_grid, b->pme_grid, sizeof a->pme_grid);
}

static void test_words(void **state)
{
    struct spec *s = parsed(HEAD "nonbonded: {cutoff: 1.2 nm, coulomb: {order: 5}, split: auto}\n");
    assert_int_equal(s->split, SPLIT_AUTO);
    assert_split(&s->settings.nonbonded, &s->asked);
    spec_free(s);
    s = parsed(HEAD
               "nonbonded: {cutoff: 1.2 nm, coulomb: {order: 5, tolerance: 1e-6},\n"
               "  split: {cutoff: 9 A, grid: [6, 28, 1200], order: 4, tolerance: 3e-5}}\n");
    assert_int_equal(s->split, SPLIT_GIVEN);
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    const struct nonbonded_settings given = {
        .coulomb_cutoff = 0.9, .ewald_tolerance = 3e-5, .pme_order = 4, .pme_grid = {6, 28, 1200}};
    assert_split(nb, &given);
    assert_is(nb->vdw_cutoff, 1.2);
    assert_is(s->asked.coulomb_cutoff, 1.2);
    assert_is(s->asked.ewald_tolerance, 1e-6);
    assert_int_equal(s->asked.pme_order, 5);
    assert_int_equal(s->asked.pme_grid[0], 0);
    spec_free(s);
    s = parsed(HEAD);
    assert_int_equal(s->split, SPLIT_NONE);
    spec_free(s);
    refused(HEAD "nonbonded: {split: fast}\n",
            SPEC("3: nonbonded.split: fast: expected text of 0 to 4 bytes like ^auto$ or a mapping with cutoff, grid, "
                 "order or tolerance, such as auto"));
    refused(HEAD "nonbonded: {split: {cutoff: 0.9 nm, order: 4, tolerance: 1e-5}}\n",
            SPEC("3: nonbonded.split.grid: missing; expected a list of 3 values"));
    refused(HEAD "nonbonded: {coulomb: {method: reaction-field}, split: auto}\n",
            SPEC("3: nonbonded.split: expected coulomb: {method: pme}, or no split"));
}

/* Numbers take the place of the word, every other byte stays, and what is read again is what was chosen. */
static void test_text(void **state)
{
    static const char *const texts[] = {
        HEAD "nonbonded: {cutoff: 0.9 nm, split: auto}\n",
        HEAD "nonbonded: {split: 'auto', cutoff: 0.9 nm, coulomb: {cutoff: 1.2 nm, tolerance: 7e-7}}\n",
        HEAD "nonbonded:\n  coulomb: {order: 6, grid-spacing: 0.1 nm}\n  split: \"auto\"  # auto\n",
        "\xef\xbb\xbf# \xc3\xa4\xe2\x82\xac auto\n" HEAD "nonbonded: {split: auto}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct system sys;
        struct buf out = {0};
        struct err e = {0};
        struct spec *s = chosen(texts[i], salt, &sys);
        if (spec_write_split(s, texts[i], strlen(texts[i]), &out, &e))
            fail_msg("%zu: %s", i, e.msg);
        struct spec *again = parsed(out.data);
        assert_int_equal(again->split, SPLIT_GIVEN);
        assert_split(&again->settings.nonbonded, &s->settings.nonbonded);
        assert_split(&again->asked, &s->asked);
        const char *from = strstr(out.data, "{cutoff: "), *at = strstr(texts[i], "split: ") + strlen("split: ");
        from = strstr(out.data, "split: {") + strlen("split: ");
        assert_memory_equal(out.data, texts[i], (size_t)(at - texts[i]));
        assert_string_equal(strchr(from, '}') + 1, at + (*at == 'a' ? strlen("auto") : strlen("'auto'")));
        spec_free(again);
        spec_free(s);
        system_close(&sys);
        buf_free(&out);
    }
}

static void test_alias(void **state)
{
    static const char text[] =
        "name: &word auto\nsystem: {topology: a.top, coordinates: a.gro}\nnonbonded: {split: *word}\n";
    struct err e = {0};
    struct spec *s = NULL;
    if (spec_parse(&s, "s.yaml", text, strlen(text), &e) == 0) {
        struct buf out = {0};
        assert_int_equal(spec_write_split(s, text, strlen(text), &out, &e), -ERR_SPEC);
        buf_free(&out);
    }
    assert_non_null(strstr(e.msg, "s.yaml:"));
    spec_free(s);
}

/* Never longer, looser or less exact than asked for, and of what has no charges nothing else than that. */
static void test_choice(void **state)
{
    struct system sys;
    struct spec *s = chosen(HEAD "nonbonded: {cutoff: 0.9 nm, coulomb: {cutoff: 1.2 nm}, split: auto}\n", salt, &sys);
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    assert_true(nb->ewald_tolerance >= 1e-5 && nb->ewald_tolerance <= 1e-4);
    struct ewald_charges c;
    ewald_charges_of(&c, &sys, &s->settings.alchemy);
    assert_true(split_cost(nb, &c) < split_cost(&s->asked, &c));
    const struct split_errors errors = spec_split_errors(s, &sys);
    assert_true(errors.chosen.total < errors.asked.total && errors.chosen.total > 0);
    json_t *json = spec_split_json(s, &sys);
    assert_is(json_number_value(json_object_get(json, "force_error")), errors.chosen.total);
    assert_is(json_number_value(json_object_get(json, "force_error_asked")), errors.asked.total);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "grid"), 1)), nb->pme_grid[1]);
    json_decref(json);
    spec_free(s);
    system_close(&sys);
    s = chosen(HEAD "nonbonded: {cutoff: 0.9 nm, coulomb: {cutoff: 1.2 nm}, split: auto}\n", argon, &sys);
    assert_is(s->settings.nonbonded.coulomb_cutoff, 1.2);
    assert_is(s->settings.nonbonded.ewald_tolerance, 1e-5);
    assert_int_equal(s->settings.nonbonded.pme_grid[0], 25); /* 3 nm by 0.12 */
    assert_is(spec_split_errors(s, &sys).chosen.total, 0);
    spec_free(s);
    system_close(&sys);
}

static int says(const char *text, const char *what)
{
    struct system sys;
    struct err e = {0};
    json_t *list = NULL, *one;
    size_t i;
    int found = 0;
    struct spec *s = chosen(text, salt, &sys);
    assert_int_equal(spec_advise(s, &sys, &list, &e), 0);
    json_array_foreach (list, i, one)
        found += !strcmp(json_string_value(json_object_get(one, "kind")), "split") &&
                 strstr(json_string_value(json_object_get(one, "message")), what);
    json_decref(list);
    spec_free(s);
    system_close(&sys);
    return found;
}

static void test_advice(void **state)
{
    assert_int_equal(says(HEAD "nonbonded: {split: {cutoff: 1 nm, grid: [16, 16, 16], order: 4, tolerance: 1e-5}}\n",
                          "s.yaml:3: nonbonded.split: estimated error of Coulomb forces"),
                     1);
    assert_int_equal(
        says(HEAD "nonbonded: {split: {cutoff: 1 nm, grid: [28, 28, 28], order: 4, tolerance: 1e-5}}\n", ""), 0);
    assert_int_equal(says(HEAD "nonbonded: {split: auto}\n", ""), 0);
}

/* What is kept has the numbers; the hash is of what was sent; twice the same comes of the same. */
static void test_submission(void **state)
{
    static const char text[] = HEAD
        "nonbonded: {cutoff: 0.9 nm, coulomb: {cutoff: 1.2 nm}, split: auto}\n"
        "integrator: {seed: random}\nprotocol: [{produce: {time: 1 ps}}]\n";
    struct buf gro = {0};
    put_coordinates(&gro);
    json_t *body = json_pack("{s:s,s:{s:s,s:s}}", "spec", text, "files", "a.top", salt, "a.gro", gro.data);
    char *bytes = json_dumps(body, 0);
    struct nonbonded_settings kept[2];
    for (int i = 0; i < 2; i++) {
        struct buf out = {0};
        struct err e = {0};
        struct spec *s = NULL;
        char hash[SUBMISSION_HASH];
        submission_check(bytes, strlen(bytes), true, NULL, NULL, &out);
        char *end = memchr(out.data, '\n', out.len), *spec = end + 1;
        json_t *head = json_loadb(out.data, (size_t)(end - out.data), 0, NULL),
               *facts = json_object_get(head, "submission");
        if (!facts)
            fail_msg("%.*s", (int)(end - out.data), out.data);
        assert_int_equal(json_integer_value(json_object_get(facts, "spec_bytes")), strlen(spec));
        submission_hash(text, json_object_get(body, "files"), hash);
        assert_string_equal(json_string_value(json_object_get(facts, "hash")), hash);
        assert_int_equal(spec_parse(&s, "s.yaml", spec, strlen(spec), &e), 0);
        assert_true(s->split == SPLIT_GIVEN && !s->seed_random);
        kept[i] = s->settings.nonbonded;
        assert_is(
            json_number_value(json_object_get(json_object_get(json_object_get(head, "summary"), "split"), "cutoff_nm")),
            kept[i].coulomb_cutoff);
        spec_free(s);
        json_decref(head);
        buf_free(&out);
    }
    assert_split(&kept[0], &kept[1]);
    free(bytes);
    json_decref(body);
    buf_free(&gro);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),  cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_alias),  cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_advice), cmocka_unit_test(test_submission)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
