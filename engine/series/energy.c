/* SPDX-License-Identifier: Apache-2.0
 *
 * energy.xvg. Nothing in the file depends on the time of day or the attempt: it must come out the same bytes when a
 * replica is run again.
 */
#include "engine/series/energy.h"

#include <inttypes.h>

#include "engine/base/number.h"
#include "engine/series/legends.h"
#include "engine/series/xvg.h"

/* Names of gmx energy, too. */
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
    [TERM_BIAS] = ENERGY_BIAS,
};

/* Biases are the last term, which is left out where nothing is biased. */
static int terms_of(const struct system *sys)
{
    return sys->ncoordinations ? TERM_COUNT : TERM_BIAS;
}

void energy_header(struct buf *out, const struct settings *set, const struct system *sys)
{
    static const char *const sums[] = {ENERGY_POTENTIAL, ENERGY_KINETIC, ENERGY_TOTAL,  ENERGY_TEMPERATURE,
                                       ENERGY_PRESSURE,  ENERGY_VOLUME,  ENERGY_DENSITY};
    int column = 0;
    xvg_begin(out, "energy.xvg", "Energies", "(kJ/mol), (K), (bar), (nm\\S3\\N), (kg/m\\S3\\N)");
    xvg_legends_begin(out);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        buf_printf(out, "@ s%d legend \"%s\"\n", column++, sums[i]);
    for (int i = 0; i < terms_of(sys); i++)
        buf_printf(out, "@ s%d legend \"%s\"\n", column++, term_legends[i]);
    for (int i = 0; i < sys->ncoordinations; i++)
        buf_printf(out, "@ s%d legend \"" ENERGY_COORDINATION "%d\"\n", column++, i + 1);
    if (set->exchange)
        buf_printf(out, "@ s%d legend \"" ENERGY_REPLICA "\"\n@ s%d legend \"" ENERGY_EXCHANGES "\"\n", column,
                   column + 1);
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
