/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/advice_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/spec/advice/advice.h"
#include "engine/base/buf.h"

#define CALM_WINDOWS "{coulomb: [0, 1, 1, 1, 1, 1], vdw: [0, 0, 0.25, 0.5, 0.75, 1]}"

static const char * or (const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void write_spec(struct buf *b, const struct change *c)
{
    buf_printf(b, "name: x\nsystem: {topology: a.top, coordinates: a.gro}\nconstraints: %s\n",
               or (c->constraints, "h-bonds"));
    buf_printf(b, "alchemy: {%s, windows: %s%s}\n", or (c->change, "decouple: MOL"), or (c->windows, CALM_WINDOWS),
               or (c->soft_core, ""));
    buf_printf(b, "integrator: {method: %s, timestep: %s}\n", or (c->method, "langevin-middle"),
               or (c->timestep, "2 fs"));
    buf_printf(b, "%s", or (c->masses, ""));
    buf_printf(b, "%s", or (c->barostat, ""));
    buf_printf(b, "%s", or (c->nonbonded, ""));
    buf_printf(b, "protocol:\n%s\n", or (c->protocol, "  - minimize: {steps: 10}\n  - produce: {time: 1 ns}"));
}

/* CH2 with inner bonds and an angle, and two argon atoms. */
static void write_topology(struct buf *b, const struct change *c)
{
    const char *mass = or (c->hydrogen_mass, "1.008"), *hydrogen = or (c->charges[1], "0.1");
    const char *name = or (c->hydrogens, "H");
    buf_printf(b, "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.011 0 A 0.35 0.276\nHC 1.008 0 A 0.25 %s\n",
               or (c->epsilon, "0.125"));
    buf_printf(b, "HC2 1.008 0 A 0.25 %s\n", or (c->epsilon, "0.125"));
    buf_printf(b, "D 1.008 0 A 0 0\nAR 39.948 0 A 0.34 0.996\n[ moleculetype ]\nMOL 3\n[ atoms ]\n");
    buf_printf(b, "1 C 1 MOL C1 1 %s 12.011\n", or (c->charges[0], "-0.2"));
    buf_printf(b, "2 HC 1 MOL %s1 1 %s %s %s\n", name, hydrogen, mass, or (c->b_states, ""));
    buf_printf(b, "3 HC 1 MOL %s2 1 %s %s\n", name, or (c->charges[2], hydrogen), mass);
    buf_printf(b, "%s", or (c->settles,
                            "[ bonds ]\n1 2 1 0.109 284512\n1 3 1 0.109 284512\n"
                            "[ angles ]\n2 1 3 1 107.8 276.144\n"));
    buf_printf(b, "%s", or (c->terms, ""));
    buf_printf(b,
               "[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 %s 39.948\n[ system ]\nx\n"
               "[ molecules ]\nMOL 1\nAR 2\n%s",
               or (c->ion, "0"), or (c->more, ""));
}

static void write_coordinates(struct buf *b, const struct change *c)
{
    static const char *const names[][2] = {{"MOL", "C1"}, {"MOL", "1"}, {"MOL", "2"}, {"AR", "AR"}, {"AR", "AR"}};
    static const double x[][3] = {{1, 1, 1}, {1.1, 1, 1}, {0.97, 1.1, 1}, {2, 2, 2}, {2, 1, 2}};
    buf_printf(b, "x\n5\n");
    for (int i = 0; i < 5; i++)
        buf_printf(b, "%5d%-5s%3s%2s%5d%8.3f%8.3f%8.3f%s\n", i < 3 ? 1 : i - 1, names[i][0],
                   i == 1 || i == 2 ? or (c->hydrogens, "H") : "", names[i][1], i + 1, x[i][0], x[i][1], x[i][2],
                   or (c->velocity, ""));
    buf_printf(b, "%s\n", or (c->box, "3 3 3"));
}

json_t *advice_of(const struct buf *spec, const struct buf *top, const struct buf *gro, struct err *e)
{
    struct spec *s = NULL;
    struct system sys = {0};
    struct source *src = source_memory_new();
    json_t *list = NULL;
    if (spec_parse(&s, "s.yaml", spec->data, spec->len, e) || source_memory_add(src, "a.top", top->data, top->len, e) ||
        source_memory_add(src, "a.gro", gro->data, gro->len, e))
        fail_msg("%s", e->msg);
    int rc = spec_system(s, src, &sys, e);
    if (!rc && spec_advise(s, &sys, &list, e))
        assert_null(list);
    system_close(&sys);
    spec_free(s);
    source_free(src);
    return list;
}

/* What is said, a new reference; NULL with *e. */
static json_t *advise(const struct change *c, struct err *e)
{
    struct buf spec = {0}, top = {0}, gro = {0};
    write_spec(&spec, c);
    write_topology(&top, c);
    write_coordinates(&gro, c);
    json_t *list = advice_of(&spec, &top, &gro, e);
    buf_free(&spec);
    buf_free(&top);
    buf_free(&gro);
    return list;
}

void expect(const char *kind, const char *text, struct change c)
{
    struct err e = {0};
    json_t *list = advise(&c, &e), *one;
    size_t i;
    int found = 0;
    if (!list)
        fail_msg("refused: %s", e.msg);
    json_array_foreach (list, i, one) {
        const char *said = json_string_value(json_object_get(one, "message"));
        found += !strcmp(json_string_value(json_object_get(one, "kind")), kind) && strstr(said, text);
        if (!*kind)
            fail_msg("said: %s", said);
    }
    if (found != 1 && *kind) {
        char *all = json_dumps(list, 0);
        fail_msg("%d times %s \"%s\" in %s", found, kind, text, all);
    }
    json_decref(list);
}

void expect_none(const char *text, struct change c)
{
    struct err e = {0};
    json_t *list = advise(&c, &e), *one;
    size_t i;
    if (!list)
        fail_msg("refused: %s", e.msg);
    json_array_foreach (list, i, one)
        assert_null(strstr(json_string_value(json_object_get(one, "message")), text));
    json_decref(list);
}

void expect_error(const char *text, struct change c)
{
    struct err e = {0};
    if (advise(&c, &e))
        fail_msg("accepted, expected %s", text);
    if (!strstr(e.msg, text))
        fail_msg("\"%s\", expected %s", e.msg, text);
    assert_int_equal(e.code, ERR_TOPOLOGY);
}
