/* SPDX-License-Identifier: Apache-2.0
 *
 * Every refusal and every warning of a spec and its files blames a file and a line: whole inputs, of which every word
 * in turn is replaced by others, and every line left out or doubled.
 */
#undef NDEBUG
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/advice/advice.h"
#include "daemon/spec/spec.h"

enum { TOPOLOGY, COORDINATES, SPEC, FILES };

static const char *const names[FILES] = {"a.top", "a.gro", "s.yaml"};
static const char *const base[FILES] = {
    [TOPOLOGY] =
        "[ defaults ]\n1 2 yes 0.5 0.8333\n"
        "[ atomtypes ]\nC 6 12.011 0 A 0.34 0.36\nO 8 15.999 0 A 0.30 0.71\nH 1 1.008 0 A 0.2 0.06\nEP 0 0 0 D 0 0\n"
        "OW 8 15.999 0 A 0.315 0.636\nHW 1 1.008 0 A 0 0\n[ bondtypes ]\nC H 1 0.11 280000\n"
        "[ moleculetype ]\nLIG 3\n[ atoms ]\n1 C 1 LIG C1 1 0.3 12.011\n2 O 1 LIG O2 1 -0.4 15.999 O -0.3 15.999\n"
        "3 H 1 LIG H3 1 0.05 1.008\n4 H 1 LIG H4 1 0.05 1.008\n5 H 1 LIG H5 1 0.0 1.008\n6 EP 1 LIG EP 1 0 0\n"
        "[ bonds ]\n1 2 1 0.13 280000 0.131 290000\n1 3 1\n1 4 1\n2 5 1 0.096 300000\n"
        "[ constraints ]\n3 4 2 0.17\n[ angles ]\n2 1 3 1 110 400\n2 1 4 1 110 400\n1 2 5 1 108 400\n"
        "[ dihedrals ]\n3 1 2 5 1 0 3 2\n[ pairs ]\n3 5 1\n[ virtual_sites2 ]\n6 1 2 1 0.5\n"
        "[ distance_restraints ]\n1 5 1 0 1 0.2 0.3 0.4 1\n"
        "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 OW 1 SOL OW 1 -0.82 15.999\n2 HW 1 SOL HW1 1 0.41 1.008\n"
        "3 HW 1 SOL HW2 1 0.41 1.008\n[ settles ]\n1 1 0.1 0.16333\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
        "[ system ]\nmutant\n[ molecules ]\nLIG 1\nSOL 2\n[ intermolecular_interactions ]\n[ bonds ]\n1 7 6 0.5 100\n",
    [COORDINATES] =
        "mutant\n12\n"
        "    1LIG     C1    1   1.000   1.000   1.000\n    1LIG     O2    2   1.130   1.000   1.000\n"
        "    1LIG     H3    3   0.960   1.080   1.000\n    1LIG     H4    4   0.960   0.960   1.090\n"
        "    1LIG     H5    5   1.160   1.090   1.000\n    1LIG     EP    6   1.065   1.000   1.000\n"
        "    2SOL     OW    7   1.000   1.500   1.000\n    2SOL    HW1    8   1.100   1.500   1.000\n"
        "    2SOL    HW2    9   0.967   1.594   1.000\n    3SOL     OW   10   1.000   2.000   1.000\n"
        "    3SOL    HW1   11   1.100   2.000   1.000\n    3SOL    HW2   12   0.967   2.094   1.000\n"
        "   3.0 3.0 3.0\n",
    [SPEC] =
        "name: mutant\nsystem:\n  topology: a.top\n  coordinates: a.gro\nnonbonded:\n  cutoff: 1 nm\n"
        "  coulomb: {grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}\nconstraints: h-bonds\nmasses: {repartition: "
        "2}\n"
        "alchemy:\n  perturb: b-states\n  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm}\n  windows:\n"
        "    coulomb: [0, 0.5, 1]\n    bonded: [0, 0.5, 1]\n"
        "integrator: {timestep: 2 fs, temperature: 300 K, friction: 1 /ps, seed: 1}\n"
        "barostat: {method: monte-carlo, pressure: 1 bar}\nprotocol:\n- minimize: {steps: 10}\n"
        "- equilibrate: {time: 2 ps, ensemble: npt}\n- produce: {time: 100 ps, ensemble: npt, sample-every: 1 ps}\n"};

/* The name of a file, and a number of a line behind it. */
static bool blames(const char *text)
{
    for (int f = 0; f < FILES; f++)
        for (const char *at = text; (at = strstr(at, names[f])); at++) {
            const char *colon = at + strlen(names[f]);
            if (*colon == ':' && isdigit((unsigned char)colon[1]))
                return true;
        }
    return false;
}

static void expect_blame(const char *text, int file, int line, const char *mutant)
{
    if (!blames(text))
        fail_msg("'%s' names no line; line %d of %s was made '%s'", text, line, names[file], mutant);
}

/* How many texts it came to. */
static int read_all(const char *const text[FILES], int file, int line, const char *mutant)
{
    struct source *src = source_memory_new();
    struct spec *s = NULL;
    struct system sys = {0};
    struct err e = {0};
    json_t *list = NULL, *one;
    size_t i;
    for (int f = 0; f < SPEC; f++)
        assert_int_equal(source_memory_add(src, names[f], text[f], strlen(text[f]), &e), 0);
    int rc = spec_parse(&s, names[SPEC], text[SPEC], strlen(text[SPEC]), &e);
    if (rc || (rc = spec_check_run(s, &e)) || (rc = spec_system(s, src, &sys, &e)) ||
        (rc = spec_check_windows(s, &sys, &e)) || (rc = spec_advise(s, &sys, &list, &e)))
        expect_blame(e.msg, file, line, mutant);
    json_array_foreach (list, i, one)
        expect_blame(json_string_value(json_object_get(one, "message")), file, line, mutant);
    const int n = (rc != 0) + (int)json_array_size(list);
    json_decref(list);
    system_close(&sys);
    spec_free(s);
    source_free(src);
    return n;
}

/* The files with `len` characters of one of them, from `at` on, replaced. */
static int read_mutant(int file, const char *at, size_t len, const char *by)
{
    const char *text[FILES];
    struct buf changed = {0};
    int line = 1;
    for (const char *c = base[file]; c < at; c++)
        line += *c == '\n';
    memcpy(text, base, sizeof text);
    buf_printf(&changed, "%.*s%s%s", (int)(at - base[file]), base[file], by, at + len);
    text[file] = changed.data;
    int n = read_all(text, file, line, by);
    buf_free(&changed);
    return n;
}

static const char between[] = " \n,:[]{}";

static void words(void **state)
{
    (void)state;
    static const char *const others[] = {"0", "-1", "1e9", "zzz", "", "2", "0.013", "99999", "3"};
    int n = 0;
    for (int f = 0; f < FILES; f++)
        for (const char *w = base[f]; *(w += strspn(w, between)); w += strcspn(w, between))
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                n += read_mutant(f, w, strcspn(w, between), others[k]);
    assert_true(n > 2000);
}

static void lines(void **state)
{
    (void)state;
    int n = 0;
    for (int f = 0; f < FILES; f++)
        for (const char *l = base[f], *next; *l; l = next) {
            char twice[300];
            next = strchr(l, '\n') + 1;
            n += read_mutant(f, l, (size_t)(next - l), "");
            snprintf(twice, sizeof twice, "%.*s%.*s", (int)(next - l), l, (int)(next - l), l);
            n += read_mutant(f, l, (size_t)(next - l), twice);
        }
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
