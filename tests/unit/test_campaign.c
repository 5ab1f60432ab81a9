/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/campaign/campaign.h"
#include "daemon/campaign/delimited.h"
#include "daemon/campaign/pilot.h"

static struct node *tree(const char *file, const char *text)
{
    struct err e = {0};
    struct node *n = NULL;
    if (node_parse(&n, file, text, strlen(text), &e))
        fail_msg("%s", e.msg);
    return n;
}

static const struct variable vars[] = {{.name = "system", .value = "methane"},
                                       {.name = "note", .value = "a: \"b\" # c"},
                                       {.of = "ligand_i", .name = "residue", .value = "MET"}};
enum { NVARS = sizeof vars / sizeof *vars };

static struct written written_of(const char *const *texts, int n, struct node **trees)
{
    static const char *const files[] = {"a.yaml", "b.yaml", "c.yaml"};
    struct layer layers[3];
    struct written w = {0};
    struct err e = {0};
    for (int i = 0; i < n; i++)
        layers[i] = (struct layer){files[i], trees[i] = tree(files[i], texts[i])};
    if (template_write(layers, n, vars, NVARS, &w, &e))
        fail_msg("%s", e.msg);
    return w;
}

/* Mappings are merged key by key, of everything else the last counts, a scalar too that follows a mapping. */
static void test_merge(void **state)
{
    static const char *const texts[] = {
        "name: x\nnonbonded: {cutoff: 0.9 nm, vdw: {modifier: none}}\nlist: [1, 2, 3]\nthen: {a: 1}\n",
        "nonbonded:\n  vdw: {switch-start: 0.8 nm}\nnew: {}\nthen: 2\n",
        "list: [4]\nnonbonded: {cutoff: 1.0 nm}\nthen: {b: 1}\n"};
    struct node *trees[3];
    struct written w = written_of(texts, 3, trees);
    assert_string_equal(w.text.data,
                        "name: x\n"
                        "nonbonded:\n"
                        "  cutoff: 1.0 nm\n"
                        "  vdw:\n"
                        "    modifier: none\n"
                        "    switch-start: 0.8 nm\n"
                        "list: [4]\n"
                        "then:\n"
                        "  b: 1\n"
                        "new: {}\n");
    assert_int_equal(w.lines, 10);
    assert_string_equal(w.origins[2].file, "c.yaml");
    assert_int_equal(w.origins[2].line, 2);
    assert_string_equal(w.origins[5].file, "b.yaml");
    assert_int_equal(w.origins[5].line, 2);
    template_free(&w);
    for (int i = 0; i < 3; i++)
        node_free(trees[i]);
}

/* What was read says the same after it was written: quotes, lists of mappings, no value at all. */
static void test_what_was_read_is_written(void **state)
{
    static const char *const text =
        "a: 'no: \"x\" # y'\nb: ~\nc: \"~\"\nd: \"tab\\there\"\nprotocol:\n  - minimize: {steps: 5}\n  - [[1, -2.5], "
        "[x]]\n"
        "\"odd key\": \xc3\xa4\ne: ''\n";
    struct node *first[1], *second;
    struct written w = written_of(&text, 1, first), again;
    second = tree("again", w.text.data);
    assert_string_equal(node_get(second, "a")->text, "no: \"x\" # y");
    assert_true(node_is_null(node_get(second, "b")));
    assert_false(node_is_null(node_get(second, "c")));
    assert_string_equal(node_get(second, "d")->text, "tab\there");
    assert_string_equal(node_get(second, "odd key")->text, "\xc3\xa4");
    assert_string_equal(node_get(second, "e")->text, "");
    assert_int_equal(node_get(second, "protocol")->n, 2);
    const char *texts[] = {w.text.data};
    struct node *third[1];
    again = written_of(texts, 1, third);
    assert_string_equal(again.text.data, w.text.data);
    template_free(&w);
    template_free(&again);
    node_free(first[0]);
    node_free(second);
    node_free(third[0]);
}

static void test_words(void **state)
{
    static const char *const text =
        "system: {topology: $(system)/$(system).top, n: x$(note)}\nwho: [$(ligand_i.residue), $5]\n";
    struct node *trees[1], *n;
    struct written w = written_of(&text, 1, trees);
    n = tree("again", w.text.data);
    assert_string_equal(node_get(node_get(n, "system"), "topology")->text, "methane/methane.top");
    assert_string_equal(node_get(node_get(n, "system"), "n")->text, "xa: \"b\" # c");
    assert_string_equal(node_get(n, "who")->items[0].value->text, "MET");
    assert_string_equal(node_get(n, "who")->items[1].value->text, "$5");
    template_free(&w);
    node_free(trees[0]);
    node_free(n);
}

static void test_words_that_stand_for_nothing(void **state)
{
    static const char *const texts[][2] = {
        {"a: 1\nb: $(sistem)\n", "t.yaml:2: $(sistem): no such value; did you mean $(system)?"},
        {"b: [1, $(residue)]\n", "t.yaml:1: $(residue): no such value; expected one of system, note, ligand_i.residue"},
        {"b: $(system\n", "t.yaml:1: $(system: expected ) after the name"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct node *n = tree("t.yaml", texts[i][0]);
        struct layer layer = {"t.yaml", n};
        struct written w = {0};
        struct err e = {0};
        assert_int_equal(template_write(&layer, 1, vars, NVARS, &w, &e), -ERR_SPEC);
        assert_string_equal(e.msg, texts[i][1]);
        template_free(&w);
        node_free(n);
    }
}

static void test_places(void **state)
{
    static const char *const texts[] = {"name: x\nrun:\n  retries: 1\n", "\n\nrun: {retries: 2}\n"};
    struct node *trees[2];
    struct written w = written_of(texts, 2, trees);
    struct buf out = {0};
    template_trace(&w, "spec", "spec:3: run.retries: 2: bad", &out);
    assert_string_equal(out.data, "b.yaml:3: run.retries: 2: bad");
    out.len = 0;
    template_trace(&w, "spec", "methane.top:3: bad", &out);
    assert_string_equal(out.data, "methane.top:3: bad");
    buf_free(&out);
    template_free(&w);
    node_free(trees[0]);
    node_free(trees[1]);
}

static void test_delimited(void **state)
{
    struct delimited s;
    struct err e = {0};
    assert_int_equal(delimited_parse(&s, "t.csv",
                                     "# who\nname, experiment (kcal/mol) ,note\n\n a ,1.5,\"x, \"\"y\"\"\"\r\nb,,\n",
                                     &e),
                     0);
    assert_int_equal(s.rows, 2);
    assert_int_equal(delimited_column(&s, "experiment (kcal/mol)"), 1);
    assert_int_equal(delimited_column(&s, "other"), -1);
    assert_string_equal(delimited_cell(&s, 0, 0), "a");
    assert_string_equal(delimited_cell(&s, 0, 2), "x, \"y\"");
    assert_string_equal(delimited_cell(&s, 1, 1), "");
    assert_int_equal(s.lines[1], 5);
    delimited_free(&s);
    assert_int_equal(delimited_parse(&s, "t.csv",
                                     "\xef\xbb\xbf"
                                     "name,experiment\r\na,1\r\n",
                                     &e),
                     0); /* as Excel saves it */
    assert_int_equal(delimited_column(&s, "name"), 0);
    delimited_free(&s);
    assert_int_equal(delimited_parse(&s, "t.tsv", "name\tb\nx\ty\nz\n", &e), -ERR_SPEC);
    assert_string_equal(e.msg, "t.tsv:3: 1 value; expected 2, as line 1 has headings");
    assert_int_equal(delimited_parse(&s, "t.tsv", "name\tname\nx\ty\n", &e), -ERR_SPEC);
    assert_string_equal(e.msg, "t.tsv:1: two columns are called name");
    assert_int_equal(delimited_parse(&s, "t.tsv", "name,b\n\"x,1\n", &e), -ERR_SPEC);
    assert_string_equal(e.msg, "t.tsv:2: a \" is not closed");
    assert_int_equal(delimited_parse(&s, "t.tsv", "name\n", &e), -ERR_SPEC);
}

static void test_keys(void **state)
{
    char name[65], key[CAMPAIGN_KEY + 1], other[CAMPAIGN_KEY + 1];
    memset(name, 'l', 64);
    name[64] = '\0';
    struct campaign_system systems[2] = {{.name = (char *)"methane"}, {.name = name}};
    struct campaign c = {.name = (char *)"study", .systems = systems, .nsystems = 2};
    struct campaign_leg leg = {.name = (char *)"complex"};
    campaign_key(&c, &leg, 0, 2, key);
    assert_string_equal(key, "study.methane.complex.3");
    campaign_key(&c, &leg, 1, 0, key);
    campaign_key(&c, &leg, 1, 1, other);
    assert_int_equal(strlen(key), CAMPAIGN_KEY);
    assert_int_equal(memcmp(key, "study.lll", 9), 0);
    assert_string_not_equal(key, other);
}

/* A pilot's times and intervals are whole cycles of timesteps with and without the mesh. */
static void test_pilots(void **state)
{
    static const struct {
        const char *every;
        double time; /* ps */
        const char *protocol;
    } cases[] = {
        {"1", 0.1, "time: 30 steps}\n  - produce: {time: 100 steps, sample-every: 1 steps}\n"},
        {"3", 0.1, "time: 30 steps}\n  - produce: {time: 102 steps, sample-every: 3 steps}\n"},
        {"3", 2, "time: 30 steps}\n  - produce: {time: 2007 steps, sample-every: 9 steps}\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf spec = {0}, out = {0}, wanted = {0};
        struct err e = {0};
        buf_printf(&spec,
                   "name: x\nsystem: {topology: a.top, coordinates: a.gro}\n"
                   "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\nintegrator: {timestep: 1 fs, mesh-every: %s}\n"
                   "protocol: [{equilibrate: {time: 30 steps}}, {produce: {time: 3 ps, sample-every: 30 steps}}]\n",
                   cases[i].every);
        buf_printf(&wanted, "repeats: 1\nprotocol:\n  - equilibrate: {%s", cases[i].protocol);
        if (pilot_protocol("s.yaml", &spec, cases[i].time, &out, &e))
            fail_msg("%s", e.msg);
        assert_string_equal(out.data, wanted.data);
        buf_free(&spec);
        buf_free(&out);
        buf_free(&wanted);
    }
}

/* There are no windows to be placed. */
static void test_no_pilot_of_switches(void **state)
{
    (void)state;
    struct buf spec = {0}, out = {0};
    struct err e = {0};
    buf_printf(
        &spec,
        "name: x\nsystem: {topology: a.top, coordinates: a.gro}\nalchemy: {decouple: A, windows: {vdw: [0, 1]}}\n"
        "switch: {length: 1 ps, snapshots-every: 1 ps}\nprotocol: [{produce: {time: 3 ps}}]\n");
    assert_int_equal(pilot_protocol("s.yaml", &spec, 1, &out, &e), -ERR_SPEC);
    assert_string_equal(e.msg,
                        "s.yaml:3: switch: the campaign says ladder, which places windows; expected no switch, or "
                        "no ladder");
    buf_free(&spec);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge),
                                       cmocka_unit_test(test_what_was_read_is_written),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_words_that_stand_for_nothing),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_delimited),
                                       cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_pilots),
                                       cmocka_unit_test(test_no_pilot_of_switches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
