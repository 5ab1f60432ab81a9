/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "daemon/spec/spec.h"
#include "daemon/spec/submission.h"

static const char spec[] =
    "name: tiny\n"
    "system: {topology: t.top, coordinates: t.gro}\n"
    "alchemy: {decouple: A, windows: {coulomb: [0, 1], vdw: [0, 1]}}\n"
    "integrator: {method: langevin-middle, timestep: 2 fs, temperature: 300 K, friction: 1 /ps}\n"
    "protocol: [{produce: {time: 1 ps, ensemble: nvt, sample-every: 0.1 ps}}]\n";

/* The answer's first line. */
static json_t *answer_to(const json_t *body)
{
    char *text = json_dumps(body, 0);
    struct buf out = {0};
    submission_check(text, strlen(text), true, NULL, NULL, &out);
    char *end = memchr(out.data, '\n', out.len);
    assert_non_null(end);
    json_t *head = json_loadb(out.data, (size_t)(end - out.data), 0, NULL);
    assert_non_null(head);
    buf_free(&out);
    free(text);
    return head;
}

static void assert_refused(json_t *body, const char *code, const char *part)
{
    json_t *head = answer_to(body);
    const json_t *error = json_object_get(head, "error");
    assert_non_null(error);
    assert_string_equal(json_string_value(json_object_get(error, "code")), code);
    if (!strstr(json_string_value(json_object_get(error, "message")), part))
        fail_msg("\"%s\" does not say \"%s\"", json_string_value(json_object_get(error, "message")), part);
    json_decref(head);
    json_decref(body);
}

static json_t *with_file(const char *name)
{
    return json_pack("{s:s,s:{s:s,s:s}}", "spec", spec, "files", "a/b", "x", name, "y");
}

static void test_names(void **state)
{
    static const char *const bad[] = {"/",     "..", "a/../c", "./c",       "a//c", "c/",
                                      "/a/..", "",   "/../a",  "spec.yaml", "c\td", "a\x7f"};
    static const char *const outside[] = {"/a", "../a", "../../a/b", "../spec.yaml"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(with_file(bad[i]), "USAGE", "expected a path");
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_refused(with_file(outside[i]), "MISSING_FILE", "t.top"); /* the name is taken */
    assert_refused(json_pack("{s:s,s:{s:s,s:s}}", "spec", spec, "files", "../a", "x", "@up1/a", "y"), "USAGE",
                   "another file is kept as \"@up1/a\" too");
    assert_refused(json_pack("{s:s,s:{s:s,s:s}}", "spec", spec, "files", "../a", "x", "../a/b", "y"), "USAGE",
                   "\"@up1/a\" is a file");
    assert_refused(with_file("a"), "USAGE", "\"a\" is a file");
    assert_refused(with_file("a/b/c"), "USAGE", "\"a/b\" is a file");
    assert_refused(with_file("spec.yaml/c"), "USAGE", "\"spec.yaml\" is a file");
    char name[300];
    memset(name, 'x', 251);
    name[251] = '\0';
    assert_refused(with_file(name), "USAGE", "at most 250");
    name[250] = '\0';
    assert_refused(with_file(name), "MISSING_FILE", "t.top"); /* the name is taken */
}

static void test_labels(void **state)
{
    static const struct {
        const char *labels, *part;
    } cases[] = {{"[]", "expected an object"},
                 {"{\"no space\": \"x\"}", "expected a key"},
                 {"{\"\": \"x\"}", "expected a key"},
                 {"{\"k\": 3}", "expected a text"},
                 {"{\"k\": \"a\\nb\"}", "expected a text"},
                 {"{\"k\": \"a\\u0000b\"}", "expected a text"},
                 {"{\"k\": \"\\u009b2J\"}", "expected a text"},
                 {"{\"k\": \"\\u009d0;x\"}", "expected a text"},
                 {"{\"k\": \"\\u202ecba\"}", "expected a text"},
                 {"{\"k\": \"\\u2066cba\"}", "expected a text"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *labels = json_loads(cases[i].labels, JSON_ALLOW_NUL, NULL);
        assert_refused(json_pack("{s:s,s:{},s:o}", "spec", spec, "files", "labels", labels), "USAGE", cases[i].part);
    }
    assert_refused(
        json_pack("{s:s,s:{},s:{s:s}}", "spec", spec, "files", "labels", "a.b/c-d_1", "any text, \xc3\xa5 too"),
        "MISSING_FILE", "t.top");
    json_t *many = json_object();
    for (int i = 0; i <= SUBMISSION_LABELS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        json_object_set_new(many, key, json_string("x"));
    }
    assert_refused(json_pack("{s:s,s:{},s:o}", "spec", spec, "files", "labels", many), "USAGE", "at most 32");
}

/* Every text that is kept is bounded, and shows all that it holds. */
static void test_texts(void **state)
{
    char name[257];
    memset(name, 'x', 256);
    name[256] = '\0';
    assert_refused(json_pack("{s:s,s:s,s:{}}", "spec", spec, "spec_name", name, "files"), "USAGE", "\"spec_name\"");
    name[255] = '\0';
    assert_refused(json_pack("{s:s,s:s,s:{}}", "spec", spec, "spec_name", name, "files"), "MISSING_FILE", "t.top");
    static const char *const bad[] = {"a\nb.yaml", "\033[2J",
                                      "\xc2\x9b"
                                      "2J",
                                      "\xe2\x80\xae.yaml", "\xe2\x80\xa8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(json_pack("{s:s,s:s,s:{}}", "spec", spec, "spec_name", bad[i], "files"), "USAGE",
                       "\"spec_name\"");
        assert_refused(with_file(bad[i]), "USAGE", "expected a path");
    }
    assert_refused(json_pack("{s:s,s:{},s:s}", "spec", spec, "files", "id", "a b"), "USAGE", "\"id\"");
    assert_refused(json_pack("{s:s,s:{},s:s%}", "spec", spec, "files", "id", "a\0b", 3), "USAGE", "\"id\"");
    /* A NUL byte is said as the reader of topologies says it. */
    assert_refused(json_pack("{s:s,s:{s:s%}}", "spec", spec, "files", "nul.top", "a\nb\n\0", 5), "TOPOLOGY",
                   "nul.top:3: a NUL byte");
    assert_refused(json_pack("{s:s%,s:{}}", "spec", "name: \0", 7, "files"), "TOPOLOGY", "spec.yaml:1: a NUL byte");
}

static void assert_bytes_refused(const char *bytes, size_t len, const char *part)
{
    struct buf out = {0};
    submission_check(bytes, len, true, NULL, NULL, &out);
    assert_non_null(strstr(out.data, "\"USAGE\""));
    if (!strstr(out.data, part))
        fail_msg("\"%s\" does not say \"%s\"", out.data, part);
    buf_free(&out);
}

/* What would take much more memory than it has bytes is not even parsed. */
static void test_amplification(void **state)
{
    struct buf b = {0};
    buf_printf(&b, "[");
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "{},");
    buf_printf(&b, "{}]");
    assert_bytes_refused(b.data, b.len, "values");
    buf_free(&b);
    assert_bytes_refused("[[[[]]]]", 8, "nested");
    assert_bytes_refused("]]]]", 4, "not JSON");
    assert_bytes_refused("", 0, "not JSON");
    assert_bytes_refused("\"\\", 2, "not JSON");
    /* Brackets and commas in texts are none; nor does a quote that is escaped end one. */
    assert_refused(json_pack("{s:s,s:{s:s},s:s}", "spec", "x", "files", "f", "[[[[\"{{{{", "z", ",,"), "USAGE",
                   "unknown key \"z\"");
    struct buf text = {0};
    for (int i = 0; i < 100000; i++)
        buf_printf(&text, ",");
    assert_refused(json_pack("{s:s,s:{s:s}}", "spec", spec, "files", "commas", text.data), "MISSING_FILE", "t.top");
    buf_free(&text);
}

static void test_missing(void **state)
{
    json_t *body = json_pack("{s:s,s:{}}", "spec", spec, "files"), *head = answer_to(body);
    json_t *files = json_object_get(json_object_get(head, "error"), "files");
    assert_int_equal(json_array_size(files), 2);
    assert_string_equal(json_string_value(json_array_get(json_array_get(files, 1), 0)), "t.gro");
    json_decref(head);
    json_decref(body);

    /* coordinates of each window too */
    body = json_pack("{s:s,s:{}}", "spec",
                     "name: tiny\nsystem: {topology: t.top, coordinates: t.gro, window-coordinates: [a/t.gro, b.gro]}\n"
                     "alchemy: {perturb: b-states, windows: {vdw: [0, 1]}}\nprotocol: [{produce: {time: 1 ps}}]\n",
                     "files");
    head = answer_to(body);
    files = json_object_get(json_object_get(head, "error"), "files");
    assert_int_equal(json_array_size(files), 4);
    assert_string_equal(json_string_value(json_array_get(json_array_get(files, 2), 0)), "a/t.gro");
    assert_string_equal(json_string_value(json_array_get(json_array_get(files, 3), 0)), "b.gro");
    json_decref(head);
    json_decref(body);
}

static void test_keys(void **state)
{
    assert_true(submission_key("a.B-_9") && submission_label_key("team/x"));
    assert_true(submission_key("..."));
    assert_false(submission_key("") || submission_key(".") || submission_key("..") || submission_key("a/b") ||
                 submission_key("\xc3\xa5") || submission_label_key("a b"));
    char text[66];
    memset(text, 'k', 65);
    text[65] = '\0';
    assert_false(submission_key(text));
    text[64] = '\0';
    assert_true(submission_key(text));
    assert_false(submission_label_key(text));
}

static const char argon_topology[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 39.948 0 A 0.34 0.996\n"
    "[ moleculetype ]\nA 1\n[ atoms ]\n1 AR 1 A AR 1 0 39.948\n"
    "[ system ]\nx\n[ molecules ]\nA 1\n";

/* Of what would fail on a GPU alone the answer to a submission warns: of a long cut-off in a flat box, for one. */
static void test_gpu_alone_refuses(void **state)
{
    static const char in_flat_box[] =
        "name: tiny\nsystem: {topology: t.top, coordinates: t.gro}\nnonbonded: {cutoff: 0.8 nm}\n"
        "protocol: [{produce: {time: 1 ps}}]\n";
    json_t *body = json_pack("{s:s,s:{s:s,s:s}}", "spec", in_flat_box, "files", "t.top", argon_topology, "t.gro",
                             "x\n1\n    1A       AR    1   1.000   1.000   1.000\n2 2 0.9 0 0 0 0 1 1\n");
    json_t *head = answer_to(body), *one;
    int found = 0;
    size_t i;
    assert_null(json_object_get(head, "error"));
    json_array_foreach (json_object_get(json_object_get(head, "summary"), "warnings"), i, one)
        found += !strcmp(json_string_value(json_object_get(one, "kind")), "box") &&
                 strstr(json_string_value(json_object_get(one, "message")), "0.8 nm: no GPU takes it") &&
                 strstr(json_string_value(json_object_get(one, "message")), "its opposite faces, 0.45 nm. CPU devices");
    assert_int_equal(found, 1);
    json_decref(head);
    json_decref(body);
}

/* The number takes the word's place in the spec that is kept; the hash is of what was sent, so that the same submission
 * under the same key is found again. */
static void test_random_seed(void **state)
{
    static const char with_seed[] =
        "name: tiny\nsystem: {topology: t.top, coordinates: t.gro}\nnonbonded: {cutoff: 0.5 nm}\n"
        "integrator: {seed: random}\nprotocol: [{produce: {time: 1 ps}}]\n";
    json_t *body = json_pack("{s:s,s:{s:s,s:s}}", "spec", with_seed, "files", "t.top", argon_topology, "t.gro",
                             "x\n1\n    1A       AR    1   1.000   1.000   1.000\n2 2 2\n");
    char *text = json_dumps(body, 0), hashes[2][65];
    uint64_t seeds[2];
    for (int i = 0; i < 2; i++) {
        struct buf out = {0};
        struct err e = {0};
        struct spec *s = NULL;
        submission_check(text, strlen(text), true, NULL, NULL, &out);
        char *end = memchr(out.data, '\n', out.len), *kept = end + 1;
        json_t *head = json_loadb(out.data, (size_t)(end - out.data), 0, NULL),
               *facts = json_object_get(head, "submission");
        if (!facts)
            fail_msg("%.*s", (int)(end - out.data), out.data);
        assert_int_equal(json_integer_value(json_object_get(facts, "spec_bytes")), strlen(kept));
        assert_int_equal(spec_parse(&s, "s.yaml", kept, strlen(kept), &e), 0);
        assert_false(s->seed_random);
        seeds[i] = s->settings.integrator.seed;
        snprintf(hashes[i], sizeof hashes[i], "%s", json_string_value(json_object_get(facts, "hash")));
        spec_free(s);
        json_decref(head);
        buf_free(&out);
    }
    assert_int_not_equal(seeds[0], seeds[1]);
    assert_string_equal(hashes[0], hashes[1]);
    free(text);
    json_decref(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),       cmocka_unit_test(test_labels),
                                       cmocka_unit_test(test_texts),       cmocka_unit_test(test_amplification),
                                       cmocka_unit_test(test_missing),     cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_random_seed), cmocka_unit_test(test_gpu_alone_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
