/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a solute that is tempered.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/advice/internal.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/derive/solute_tempering.h"

/* ---- the ladders ---- */

static bool all_zero(const double lambda[LAMBDA_COUNT])
{
    return lambda[LAMBDA_COULOMB] == 0 && lambda[LAMBDA_VDW] == 0 && lambda[LAMBDA_BONDED] == 0;
}

static void advise_itself(const struct advising *a)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    for (int w = 0; w < al->nwindows; w++)
        if (all_zero(al->lambda[w]))
            return;
    advice_say(
        a, "ladder", a->s->alchemy_line,
        "alchemy.windows: in no window all lambdas are 0, which is the system at its own temperature; expected one");
}

/* Whether something changes from A to B along a ladder: bit c for component c. */
static unsigned what_changes(const struct system *sys)
{
    unsigned set = 0;
    for (int i = 0; i < sys->natoms; i++) {
        const struct atom *t = &sys->atoms[i];
        set |= (unsigned)(t->charge[0] != t->charge[1]) << LAMBDA_COULOMB;
        set |= (unsigned)(t->type[0] != t->type[1]) << LAMBDA_VDW;
    }
    for (int i = 0; i < sys->ndihedrals; i++)
        set |= (unsigned)(sys->dihedrals[i].k[0] != sys->dihedrals[i].k[1]) << LAMBDA_BONDED;
    for (int i = 0; i < sys->nimpropers; i++)
        set |= (unsigned)(sys->impropers[i].k[0] != sys->impropers[i].k[1]) << LAMBDA_BONDED;
    for (int i = 0; i < sys->nrb_dihedrals; i++)
        set |= (unsigned)(memcmp(sys->rb_dihedrals[i].c[0], sys->rb_dihedrals[i].c[1],
                                 sizeof sys->rb_dihedrals[i].c[0]) != 0)
               << LAMBDA_BONDED;
    for (int i = 0; i < sys->ncmaps; i++)
        set |= (unsigned)(sys->cmaps[i].share[0] != sys->cmaps[i].share[1]) << LAMBDA_BONDED;
    return set;
}

/* One temperature is one number for all of the solute. */
static void advise_together(const struct advising *a)
{
    static const enum lambda parts[] = {LAMBDA_COULOMB, LAMBDA_VDW, LAMBDA_BONDED};
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const unsigned changing = what_changes(a->sys);
    int first = -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(changing >> parts[i] & 1))
            continue;
        if (first < 0)
            first = (int)parts[i];
        for (int w = 0; w < al->nwindows; w++)
            if (al->lambda[w][parts[i]] != al->lambda[w][first]) {
                advice_say(
                    a, "ladder", a->s->alchemy_line,
                    "alchemy.windows: in window %d %s is %.4g and %s %.4g, so that parts of the solute are at other "
                    "temperatures; expected the same ladder for coulomb, vdw and bonded",
                    w, lambda_names[first].ours, al->lambda[w][first], lambda_names[parts[i]].ours,
                    al->lambda[w][parts[i]]);
                return;
            }
    }
}

/* ---- the solute ---- */

static void advise_left(const struct advising *a)
{
    const struct temper_left left = temper_left_of(a->sys, &a->s->settings.alchemy.temper);
    const struct {
        int n;
        const char *one, *several;
    } kinds[] = {{left.dihedrals, "dihedral of function 10 or 11", "dihedrals of functions 10 and 11"},
                 {left.pairs, "pair of function 2 or of [ pairs_nb ]", "pairs of function 2 or of [ pairs_nb ]"}};
    struct buf text = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n)
            buf_printf(&text, "%s%d %s", text.len ? ", " : "", kinds[i].n,
                       number_word(kinds[i].n, kinds[i].one, kinds[i].several));
    if (text.len)
        advice_say(
            a, "temper", a->s->alchemy_line,
            "alchemy.temper: %s of the solute stay at full strength in every window: barriers of theirs are no lower",
            text.data);
    buf_free(&text);
}

void advise_temper(const struct advising *a)
{
    advise_itself(a);
    advise_together(a);
    advise_left(a);
    if (a->s->settings.exchange == EXCHANGE_NONE)
        advice_say(
            a, "temper", a->s->alchemy_line,
            "alchemy.temper: windows that exchange no replicas; the first gains nothing from the others. Expected "
            "exchange: {every: ..}");
}
