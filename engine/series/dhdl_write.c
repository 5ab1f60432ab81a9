/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl.xvg. Layout, names and number formats are those of GROMACS, because gmx bar and alchemlyb find their columns by
 * them. Nothing in the file depends on the time of day or the attempt: it must come out the same bytes when a replica
 * is run again.
 */
#include "engine/series/dhdl.h"

#include "engine/base/number.h"
#include "engine/base/units.h"

/* Whether the spec has a ladder of this component. */
static bool given(const struct alchemy_settings *a, enum lambda component)
{
    return component < LAMBDA_COUNT && a->given[component];
}

static int count_given(const struct alchemy_settings *a)
{
    int n = 0;
    for (int i = 0; i < LAMBDA_COUNT; i++)
        n += a->given[i];
    return n;
}

/* "0.5000", or "(0.5000, 0.0000)" when there are several components: of a row of lambda; NULL: their names. */
static void add_components(struct buf *out, const struct alchemy_settings *a, const double *lambda)
{
    int n = count_given(a), seen = 0;
    buf_printf(out, "%s", n > 1 ? "(" : "");
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++) {
        const enum lambda component = lambda_file_order[i];
        if (!given(a, component))
            continue;
        buf_printf(out, "%s", seen++ ? ", " : "");
        if (lambda)
            buf_printf(out, "%.4f", lambda[component]);
        else
            buf_printf(out, "%s", lambda_names[component].gromacs);
    }
    buf_printf(out, "%s", n > 1 ? ")" : "");
}

void dhdl_header(struct buf *out, const struct settings *set, int window, bool pv)
{
    const struct alchemy_settings *a = &set->alchemy;
    int column = 0;
    xvg_begin(out, "dhdl.xvg", "dH/d\\xl\\f{} and \\xD\\f{}H",
              "dH/d\\xl\\f{} and \\xD\\f{}H (kJ/mol [\\xl\\f{}]\\S-1\\N)");
    buf_printf(out, "@ subtitle \"T = %g (K) ", set->integrator.temperature);
    if (count_given(a)) {
        buf_printf(out, "\\xl\\f{} state %d: ", window);
        add_components(out, a, NULL);
        buf_printf(out, " = ");
        add_components(out, a, a->lambda[window]);
    }
    buf_printf(out, "\"\n");
    xvg_legends_begin(out);
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (given(a, lambda_file_order[i]))
            buf_printf(out, "@ s%d legend \"" DHDL_DERIVATIVE "%s = %.4f\"\n", column++,
                       lambda_names[lambda_file_order[i]].gromacs, a->lambda[window][lambda_file_order[i]]);
    for (int w = 0; w < a->nwindows && count_given(a); w++) {
        buf_printf(out, "@ s%d legend \"" DHDL_DIFFERENCE, column++);
        add_components(out, a, a->lambda[w]);
        buf_printf(out, "\"\n");
    }
    if (pv)
        buf_printf(out, "@ s%d legend \"pV (kJ/mol)\"\n", column);
}

/* As GROMACS: "%#.8g". */
static void add_difference(struct buf *out, double value)
{
    buf_add(out, " ", 1);
    number_significant(out, value, 8, true);
}

void dhdl_row(struct buf *out, const struct settings *set, bool pv, const struct sample *s)
{
    const struct alchemy_settings *a = &set->alchemy;
    buf_printf(out, "%.4f", s->time);
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (given(a, lambda_file_order[i]))
            add_difference(out, s->dvdl[lambda_file_order[i]]);
    for (int w = 0; w < a->nwindows && count_given(a); w++)
        add_difference(out, s->delta_u[w]);
    if (pv)
        add_difference(out, set->barostat.pressure / UNIT_BAR * s->box[0] * s->box[1] * s->box[2]);
    buf_add(out, "\n", 1);
}
