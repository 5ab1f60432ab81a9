/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl.xvg and energy.xvg. Layout, names and number formats of dhdl.xvg are those of GROMACS, because gmx bar and alchemlyb
 * find their columns by them. Nothing in the files depends on the time of day or the attempt: they must come out the same
 * bytes when a replica is run again.
 */
#include "engine/io/output.h"

#include <inttypes.h>

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

/* "0.5000", or "(0.5000, 0.0000)" when there are several components. */
static void add_state(struct buf *out, const struct alchemy_settings *a, int window)
{
    int n = count_given(a), seen = 0;
    buf_printf(out, "%s", n > 1 ? "(" : "");
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (given(a, lambda_file_order[i]))
            buf_printf(out, "%s%.4f", seen++ ? ", " : "", a->lambda[window][lambda_file_order[i]]);
    buf_printf(out, "%s", n > 1 ? ")" : "");
}

static void add_names(struct buf *out, const struct alchemy_settings *a)
{
    int n = count_given(a), seen = 0;
    buf_printf(out, "%s", n > 1 ? "(" : "");
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (given(a, lambda_file_order[i]))
            buf_printf(out, "%s%s", seen++ ? ", " : "", lambda_names[lambda_file_order[i]].gromacs);
    buf_printf(out, "%s", n > 1 ? ")" : "");
}

static void add_header(struct buf *out, const char *file, const char *title, const char *yaxis)
{
    buf_printf(out, "# %s, written by Shoal\n", file);
    buf_printf(out, "@    title \"%s\"\n@    xaxis  label \"Time (ps)\"\n@    yaxis  label \"%s\"\n@TYPE xy\n", title,
               yaxis);
}

static void add_view(struct buf *out)
{
    buf_printf(out,
               "@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend loctype view\n"
               "@ legend 0.78, 0.8\n@ legend length 2\n");
}

void dhdl_header(struct buf *out, const struct settings *set, int window, bool pv)
{
    const struct alchemy_settings *a = &set->alchemy;
    int column = 0;
    add_header(out, "dhdl.xvg", "dH/d\\xl\\f{} and \\xD\\f{}H",
               "dH/d\\xl\\f{} and \\xD\\f{}H (kJ/mol [\\xl\\f{}]\\S-1\\N)");
    buf_printf(out, "@ subtitle \"T = %g (K) ", set->integrator.temperature);
    if (count_given(a)) {
        buf_printf(out, "\\xl\\f{} state %d: ", window);
        add_names(out, a);
        buf_printf(out, " = ");
        add_state(out, a, window);
    }
    buf_printf(out, "\"\n");
    add_view(out);
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (given(a, lambda_file_order[i]))
            buf_printf(out, "@ s%d legend \"dH/d\\xl\\f{} %s = %.4f\"\n", column++,
                       lambda_names[lambda_file_order[i]].gromacs, a->lambda[window][lambda_file_order[i]]);
    for (int w = 0; w < a->nwindows && count_given(a); w++) {
        buf_printf(out, "@ s%d legend \"\\xD\\f{}H \\xl\\f{} to ", column++);
        add_state(out, a, w);
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

/* Names of gmx energy, so that columns can be compared by eye. */
static const char *const term_legends[TERM_COUNT] = {
    [TERM_BOND] = "Bond",
    [TERM_ANGLE] = "Angle",
    [TERM_UREY_BRADLEY] = "U-B",
    [TERM_PROPER_DIHEDRAL] = "Proper Dih.",
    [TERM_IMPROPER_DIHEDRAL] = "Improper Dih.",
    [TERM_LJ_14] = "LJ-14",
    [TERM_COULOMB_14] = "Coulomb-14",
    [TERM_LJ] = "LJ (SR)",
    [TERM_DISPERSION_CORRECTION] = "Disper. corr.",
    [TERM_COULOMB] = "Coulomb (SR)",
    [TERM_COULOMB_RECIPROCAL] = "Coul. recip.",
    [TERM_RESTRAINT] = "Restraints",
    [TERM_CMAP] = "CMAP Dih.",
    [TERM_BIAS] = "Bias",
};

/* Biases are the last, and stand there only where there is something to bias. */
static int terms_of(const struct system *sys)
{
    return sys->ncoordinations ? TERM_COUNT : TERM_BIAS;
}

void energy_header(struct buf *out, const struct settings *set, const struct system *sys)
{
    static const char *const sums[] = {"Potential", "Kinetic En.", "Total Energy", "Temperature",
                                       "Pressure",  "Volume",      "Density"};
    int column = 0;
    add_header(out, "energy.xvg", "Energies", "(kJ/mol), (K), (bar), (nm\\S3\\N), (kg/m\\S3\\N)");
    add_view(out);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        buf_printf(out, "@ s%d legend \"%s\"\n", column++, sums[i]);
    for (int i = 0; i < terms_of(sys); i++)
        buf_printf(out, "@ s%d legend \"%s\"\n", column++, term_legends[i]);
    for (int i = 0; i < sys->ncoordinations; i++)
        buf_printf(out, "@ s%d legend \"Coordination %d\"\n", column++, i + 1);
    if (set->exchange)
        buf_printf(out, "@ s%d legend \"Replica\"\n@ s%d legend \"Exchanges\"\n", column, column + 1);
}

static void add_values(struct buf *out, const double *value, int n)
{
    for (int i = 0; i < n; i++) {
        buf_add(out, " ", 1);
        number_significant(out, value[i], 10, false);
    }
}

void energy_row(struct buf *out, const struct settings *set, const struct system *sys, const struct sample *s)
{
    const double sums[] = {s->potential,   s->kinetic,  s->potential + s->kinetic,
                           s->temperature, s->pressure, s->box[0] * s->box[1] * s->box[2],
                           s->density};
    buf_printf(out, "%.4f", s->time);
    add_values(out, sums, sizeof sums / sizeof *sums);
    add_values(out, s->energy, terms_of(sys));
    add_values(out, s->coordination, sys->ncoordinations);
    if (set->exchange)
        buf_printf(out, " %d %" PRIu64, s->walker, s->exchanges);
    buf_add(out, "\n", 1);
}
