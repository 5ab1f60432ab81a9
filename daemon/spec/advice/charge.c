/* SPDX-License-Identifier: Apache-2.0
 *
 * Net charges: of the box in each state, and their change along the ladder.
 */
#include "daemon/spec/advice/internal.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/prepare/alchemy.h"
#include "engine/derive/finite_size.h"
#include "engine/system/lines.h"

#define CHARGE_NOISE 1e-2 /* e, of sums over rounded charges */
#define NAMED 3           /* molecule types in one message */

/* Charge of a decoupled molecule's atom in state B less that in state A, e. */
double advise_charge_change(const struct advising *a, int atom)
{
    const struct decoupled *gone = alchemy_decoupled(a->sys, &a->s->settings.alchemy, atom);
    int change = gone ? !!(gone->on[1] & COUPLED_CHARGE) - !!(gone->on[0] & COUPLED_CHARGE) : 0;
    return change * a->sys->atoms[atom].charge[0];
}

/* e, of one molecule of each kind, in states A and B; kinds without molecules have 0. */
static double (*charges_of_kinds(const struct system *sys))[2]
{
    double(*sum)[2] = xcalloc((size_t)sys->nkinds, sizeof *sum);
    bool *seen = xcalloc((size_t)sys->nkinds, sizeof *seen);
    for (int m = 0; m < sys->nmolecules; m++) {
        const struct molecule *of = &sys->molecules[m];
        for (int i = of->first; i < of->first + of->count && !seen[of->kind]; i++)
            for (int state = 0; state < 2; state++)
                sum[of->kind][state] += sys->atoms[i].charge[state];
        seen[of->kind] = true;
    }
    free(seen);
    return sum;
}

static bool is_whole(double charge)
{
    return fabs(charge - rint(charge)) <= CHARGE_NOISE;
}

/* Which molecule types have a charge in a state, a broken one (broken) or a whole one, and where they begin: " (...)".
 */
static void name_kinds(const struct system *sys, int state, bool broken, struct buf *out)
{
    double(*sum)[2] = charges_of_kinds(sys);
    int named = 0;
    for (int k = 0; k < sys->nkinds; k++) {
        const double charge = sum[k][state];
        if (fabs(charge) <= CHARGE_NOISE || (broken && is_whole(charge)) || named++ >= NAMED)
            continue;
        buf_printf(out, "%smolecule type %s", named > 1 ? "; " : " (", sys->kinds[k].name);
        buf_printf(out, " at ");
        system_kind_line(sys, k, out);
        buf_printf(out, broken ? ": %+.4f e" : ": %+.0f e", charge);
    }
    buf_printf(out, "%s%s", named > NAMED ? "; and others" : "", named ? ")" : "");
    free(sum);
}

static void advise_sum(const struct advising *a, double sum, double acts, int state, const char *in)
{
    const bool field = a->s->settings.nonbonded.coulomb_method == COULOMB_REACTION_FIELD, broken = !is_whole(sum);
    struct buf kinds = {0};
    name_kinds(a->sys, state, broken, &kinds);
    if (broken)
        advice_say(a, "charge", a->s->system_line,
                   "system: the charges%s%s add up to %+.4f e, no whole number%.400s: is an atom missing?",
                   *in ? " of" : "", in, sum, kinds.len ? kinds.data : "");
    else if (fabs(acts) > CHARGE_NOISE && !field)
        advice_say(a, "charge", a->s->system_line,
                   "system: a net charge of %+.0f e%s%s%.400s; PME spreads the opposite charge evenly over the box, "
                   "which shifts free energies and pressure",
                   acts, *in ? " in" : "", in, kinds.len ? kinds.data : "");
    buf_free(&kinds);
}

static void advise_change(const struct advising *a, const double sum[2], double change, bool b_states)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const bool field = a->s->settings.nonbonded.coulomb_method == COULOMB_REACTION_FIELD;
    const char *on = field ? "cut-off" : "size of the box";
    const char *correction =
        field ? ""
              : ", or alchemy.finite-size, which has the results say what the free energy lacks of an infinite box";
    if (b_states && fabs(sum[0] - sum[1]) > CHARGE_NOISE)
        advice_say(a, "charge", a->s->alchemy_line,
                   "alchemy.perturb: the net charge changes from %+.2f to %+.2f e; its free energy depends on the %s. "
                   "Expected an ion whose B state takes the charge up%s",
                   sum[0], sum[1], on, correction);
    if (fabs(change) > CHARGE_NOISE && al->ndecouple == 1 && al->decouple[0].on[0] & COUPLED_CHARGE)
        advice_say(
            a, "charge", a->s->alchemy_line,
            "alchemy.decouple: %s has a net charge (%+.2f e in all); the free energy of removing it depends on the "
            "%s. Expected a second entry, an ion that takes the charge up%s",
            al->decouple[0].molecule, -change, on, correction);
    else if (fabs(change) > CHARGE_NOISE)
        advice_say(
            a, "charge", a->s->alchemy_line,
            "alchemy.decouple: the net charge of what acts changes by %+.2f e; its free energy depends on the %s. "
            "Expected one more entry, an ion that takes the charge up%s",
            change, on, correction);
}

void advise_net_charge(const struct advising *a)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    /* B of a tempered solute is no real state */
    const bool b_states = al->kind == ALCHEMY_B_STATES && !al->temper.nmolecules;
    double sum[2] = {0}, change = 0;
    for (int i = 0; i < a->sys->natoms; i++) {
        for (int state = 0; state < 2; state++)
            sum[state] += a->sys->atoms[i].charge[state];
        change += advise_charge_change(a, i);
    }
    advise_sum(a, sum[0], b_states ? sum[0] : net_charge(a->sys, al, 0), 0, b_states ? " state A" : "");
    if (b_states)
        advise_sum(a, sum[1], sum[1], 1, " state B");
    if (!(al->dielectric > 0)) /* asked for, and what it leaves out is said there */
        advise_change(a, sum, change, b_states);
}
