/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of torsions that windows, or repeats, have in different wells.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/results/torsions.h"
#include "engine/base/buf.h"

#define RESULTS(repeats, wells)                                                                                        \
    "{\"repeats\": " repeats                                                                                           \
    ", \"torsions\": {\"frames\": 400, \"interval\": 2.5, \"windows\": 4, \"list\": [{"                                \
    "\"molecule\": \"LIG\", \"names\": [\"C1\", \"C2\", \"C3\", \"C4\"], \"transitions\": 0, \"windows_without\": 4, " \
    "\"wells\": [" wells "]}]}}"
#define WELL(angle, windows) "{\"angle\": " #angle ", \"windows\": [" windows "]}"
#define AT(repeat, window) "{\"repeat\": " #repeat ", \"window\": " #window "}"

static void shows(const char *results, const char *wells, const char *advice)
{
    struct buf out = {0};
    const struct out s = {.out = &out};
    json_t *json = json_loads(results, 0, NULL);
    assert_non_null(json);
    torsions_put(json, &s);
    assert_non_null(strstr(out.data, "torsions in 400 frames, one every 2.5 ps, the fewest transitions first"));
    assert_non_null(strstr(out.data, "torsion C1-C2-C3-C4 of LIG: 0 transitions in all windows: not seen to move"));
    assert_int_equal(!strstr(out.data, "different wells"), !*wells);
    assert_non_null(strstr(out.data, wells));
    assert_non_null(strstr(out.data, advice));
    json_decref(json);
    buf_free(&out);
}

static void wells(void **state)
{
    (void)state;
    shows(
        RESULTS("null", WELL(178, AT(0, 0) "," AT(0, 1) "," AT(0, 3)) "," WELL(-62, AT(0, 2))),
        "torsion C1-C2-C3-C4 of LIG: windows stay in different wells without a transition: 0, 1, 3 near 178 degrees; 2 "
        "near -62 degrees\n",
        "the free energy between them is wrong unless the wells are equivalent");
    shows(RESULTS("null", WELL(178, AT(0, 0) "," AT(0, 1) "," AT(0, 2) "," AT(0, 3))), "", "");
    /* each repeat in a well of its own, and one that is in both */
    shows(RESULTS("[1, 2]", WELL(178, AT(0, 0) "," AT(0, 1)) "," WELL(-62, AT(1, 0) "," AT(1, 1))),
          "0.0, 0.1 near 178 degrees; 1.0, 1.1 near -62 degrees\n",
          "repeats in different wells are samples of different conformations: compare their free energies");
    shows(RESULTS("[1, 2]", WELL(178, AT(0, 0) "," AT(0, 1) "," AT(1, 0)) "," WELL(-62, AT(1, 1))),
          "0.0, 0.1, 1.0 near 178 degrees; 1.1 near -62 degrees\n", "the free energy between them is wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
