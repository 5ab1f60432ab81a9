/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of ladders that miss what differs between the states: a ladder that moves and changes nothing, and a
 * difference that no ladder moves. Such a spec runs, and its free energy lacks what was to come with them.
 */
#include <string.h>

#include "daemon/spec/advice/internal.h"
#include "engine/base/number.h"
#include "engine/prepare/alchemy.h"

/* ---- what differs between lambda 0 and 1 ---- */

static int differing_charges(const struct advising *a)
{
    int n = 0;
    for (int i = 0; i < a->sys->natoms; i++) {
        double charge[2];
        alchemy_charges(a->sys, &a->s->settings.alchemy, i, charge);
        n += charge[0] != charge[1];
    }
    return n;
}

/* Whether one type has other pairs than the other; negative: no pair at all. */
static bool types_differ(const struct system *sys, int one, int other)
{
    const struct lj none = {0}, *lj = sys->lj;
    for (int k = 0; k < sys->ntypes; k++) {
        const struct lj *p = &lj[one * sys->ntypes + k], *q = other < 0 ? &none : &lj[other * sys->ntypes + k];
        if (p->c6 != q->c6 || p->c12 != q->c12)
            return true;
    }
    return false;
}

static bool atom_lj_differs(const struct advising *a, int atom)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const int *type = a->sys->atoms[atom].type;
    const struct decoupled *gone = alchemy_decoupled(a->sys, al, atom);
    if (al->kind == ALCHEMY_B_STATES)
        return type[0] != type[1] && types_differ(a->sys, type[0], type[1]);
    return gone && (gone->on[0] ^ gone->on[1]) & COUPLED_VDW && types_differ(a->sys, type[0], -1);
}

static int differing_lj(const struct advising *a)
{
    int n = 0;
    for (int i = 0; i < a->sys->natoms; i++)
        n += atom_lj_differs(a, i);
    for (int i = 0; i < a->sys->npairs14 && a->s->settings.alchemy.kind == ALCHEMY_B_STATES; i++) {
        const struct lj *lj = a->sys->pairs14[i].lj;
        n += lj[0].c6 != lj[1].c6 || lj[0].c12 != lj[1].c12;
    }
    return n;
}

static int differing_lengths(const struct topology *t)
{
    int n = 0;
    for (int i = 0; i < t->ndistances; i++)
        n += t->distances[i].r0[0] != t->distances[i].r0[1];
    return n;
}

static int differing_biases(const struct system *sys)
{
    int n = 0;
    for (int i = 0; i < sys->nbiases; i++)
        n += memcmp(sys->biases[i].c[0], sys->biases[i].c[1], sizeof sys->biases[i].c[0]) != 0;
    return n;
}

static int differing_masses(const struct system *sys)
{
    int n = 0;
    for (int i = 0; i < sys->natoms; i++)
        n += sys->atoms[i].mass[0] != sys->atoms[i].mass[1];
    return n;
}

struct difference {
    enum lambda along;
    int n;
    const char *one, *several;
};

enum { DIFFERENCES = 7 };

static void find_differences(const struct advising *a, const struct topology *t, struct difference out[DIFFERENCES])
{
    const struct difference found[DIFFERENCES] = {
        {LAMBDA_COULOMB, differing_charges(a), "charge", "charges"},
        {LAMBDA_VDW, differing_lj(a), "Lennard-Jones term", "Lennard-Jones terms"},
        {LAMBDA_BONDED, (int)topology_changing(t, LAMBDA_BONDED), "bonded term", "bonded terms"},
        {LAMBDA_BONDED, differing_lengths(t), "constraint", "constraints"},
        {LAMBDA_RESTRAINT, (int)topology_changing(t, LAMBDA_RESTRAINT), "restraint", "restraints"},
        {LAMBDA_RESTRAINT, differing_biases(a->sys), "bias", "biases"},
        {LAMBDA_MASS, differing_masses(a->sys), "mass", "masses"}};
    memcpy(out, found, sizeof found);
}

/* ---- the ladders ---- */

static bool moves(const struct alchemy_settings *al, enum lambda component)
{
    for (int w = 1; w < al->nwindows && al->given[component]; w++)
        if (al->lambda[w][component] != al->lambda[0][component])
            return true;
    return false;
}

static void advise_unmoved(const struct advising *a, const struct difference *d)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const enum lambda ladder = alchemy_ladder(al, d->along);
    const double at = al->given[ladder] ? al->lambda[0][ladder] : 0;
    if (!d->n || moves(al, ladder) || ladder == LAMBDA_MASS)
        return;
    advice_say(a, "ladder", a->s->alchemy_line,
               "alchemy.windows: %d %s %s between lambda 0 and 1, and %s of %s: every window has what is at lambda "
               "%.4g",
               d->n, number_word(d->n, d->one, d->several), number_word(d->n, "differs", "differ"),
               al->given[ladder] ? "no step is in the ladder" : "there is no ladder",
               lambda_names[al->given[ladder] ? ladder : d->along].ours, at);
}

static bool changes_something(const struct alchemy_settings *al, const struct difference d[DIFFERENCES],
                              enum lambda ladder)
{
    for (int i = 0; i < DIFFERENCES; i++)
        if (d[i].n && alchemy_ladder(al, d[i].along) == ladder)
            return true;
    return false;
}

static void advise_ladder_of_nothing(const struct advising *a, enum lambda component)
{
    static const char *const what[LAMBDA_COUNT] = {[LAMBDA_COULOMB] = "no charge differs",
                                                   [LAMBDA_VDW] = "no Lennard-Jones term differs",
                                                   [LAMBDA_BONDED] = "no bonded term and no constraint differs",
                                                   [LAMBDA_RESTRAINT] = "no restraint and no bias differs",
                                                   [LAMBDA_MASS] = "no mass differs"};
    advice_say(a, "ladder", a->s->alchemy_line,
               "alchemy.windows.%s: moves and changes nothing: %s between lambda 0 and 1", lambda_names[component].ours,
               what[component]);
}

static void advise_ladders(const struct advising *a, const struct difference d[DIFFERENCES])
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    bool something = false;
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        const enum lambda ladder = (enum lambda)c;
        if (!moves(al, ladder))
            continue;
        const bool changes = changes_something(al, d, ladder);
        something |= changes && ladder != LAMBDA_MASS; /* configurations do not depend on masses */
        if (!changes && !al->temper.nmolecules)        /* whose ladders are alike, whatever they change */
            advise_ladder_of_nothing(a, ladder);
    }
    if (!something)
        advice_say(
            a, "ladder", a->s->alchemy_line,
            "alchemy.windows: all windows are the same system: the free energy is 0 whatever is sampled, and its "
            "verdict unconverged; expected ladders of what differs, or allow-no-change: yes where 0 is meant");
}

bool advise_changes(const struct advising *a, const struct topology *t, enum lambda ladder)
{
    struct difference d[DIFFERENCES];
    find_differences(a, t, d);
    return changes_something(&a->s->settings.alchemy, d, ladder);
}

void advise_idle(const struct advising *a, const struct topology *t)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    struct difference d[DIFFERENCES];
    if (al->kind == ALCHEMY_NONE)
        return;
    if (al->nwindows == 1)
        return;
    find_differences(a, t, d);
    if (!al->allow_no_change)
        advise_ladders(a, d);
    for (int i = 0; i < DIFFERENCES && !al->temper.nmolecules; i++)
        advise_unmoved(a, &d[i]);
}
