/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/series/switch_slopes.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/series/legends.h"
#include "engine/series/xvg.h"

void switch_slopes_name(char name[SWITCH_SLOPES_NAME], uint64_t number)
{
    snprintf(name, SWITCH_SLOPES_NAME, "switch_%05" PRIu64 ".xvg", number);
}

bool switch_slopes_number(const char *name, uint64_t *number)
{
    int end = 0;
    return sscanf(name, "switch_%" SCNu64 ".xvg%n", number, &end) == 1 && end && !name[end];
}

/* Between row i and the next. */
static double slope(enum switch_way way, const double *work, size_t n, size_t i)
{
    const double step = (way == SWITCH_FORWARD ? 1.0 : -1.0) / (double)(n - 1);
    return (work[i + 1] - work[i]) / step;
}

void switch_slopes_file(struct buf *out, double temperature, double length, enum switch_way way, const double *work,
                        size_t n)
{
    xvg_begin(out, "dH/dlambda along a switch", "dH/d\\xl\\f{}", "dH/d\\xl\\f{} (kJ/mol [\\xl\\f{}]\\S-1\\N)");
    buf_printf(out, "@ subtitle \"T = %.10g (K) \"\n", temperature);
    xvg_legends_begin(out);
    buf_printf(out, "@ s0 legend \"" DHDL_DERIVATIVE "fep-lambda = %.4f\"\n", way == SWITCH_FORWARD ? 0.0 : 1.0);
    for (size_t i = 0; i < n; i++) {
        const double before = slope(way, work, n, i ? i - 1 : 0), after = slope(way, work, n, i + 1 < n ? i : n - 2);
        buf_printf(out, "%.6f %.10g\n", length * (double)i / (double)(n - 1), 0.5 * (before + after));
    }
}
