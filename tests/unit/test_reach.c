/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files a client sends: those that the spec or a file it includes spells out, whatever a service asks for.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/ensembles/reach.h"

static const char spec[] =
    "name: id_rsa2\n"
    "system: {topology: ../top/a b.top, coordinates: \"/data/x.gro\", reference: './r/../r.gro'}\n"
    "# see passwd, ff/forcefield.itp\n"
    "alchemy: {windows: [my.ndx,last.itp]}\n"
    "index: end.ndx";
static const char top[] =
    "; #include \"commented.itp\"\n"
    "#include \"../ff/one.itp\"\n"
    "\t#include <two.itp>\n"
    "C 1 three.itp 4\n"
    "#ifdef X\n"
    "#include \"sub/./four.itp\" ; \"five.itp\"\n";

static bool names(const char *from, const char *text, const char *name)
{
    return reach_names(from, text, strlen(text), name);
}

static void what_the_spec_names(void **state)
{
    static const char *const named[] = {"../top/a b.top", "/data/x.gro",       "r.gro",   "passwd",
                                        "my.ndx",         "ff/forcefield.itp", "end.ndx", "last.itp"};
    static const char *const other[] = {"id_rsa",     "a b.top",        "../top/b.top", "x.gro", "/etc/passwd",
                                        "../r.gro",   "forcefield.itp", "top/a b",      "y.ndx", ".ssh/id_rsa2",
                                        "../id_rsa2", "a.top",          "nd.ndx",       ""};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!names(NULL, spec, named[i]))
            fail_msg("%s is named", named[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (names(NULL, spec, other[i]))
            fail_msg("%s is not named", other[i]);
}

/* Beside the file and from the base; comments and rows of data name nothing. */
static void what_a_topology_includes(void **state)
{
    static const char *const named[] = {"../ff/one.itp", "two.itp", "../top/two.itp", "../top/sub/four.itp",
                                        "sub/four.itp"};
    static const char *const other[] = {
        "ff/one.itp",           "../../ff/one.itp", "one.itp",          "../commented.itp",
        "../top/commented.itp", "three.itp",        "../top/three.itp", "four.itp"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!names("../top/a b.top", top, named[i]))
            fail_msg("%s is included", named[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (names("../top/a b.top", top, other[i]))
            fail_msg("%s is not included", other[i]);
    assert_false(reach_names("a.top", top, 0, "two.itp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_spec_names),
        cmocka_unit_test(what_a_topology_includes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
