/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/idle.h"

#include <stdio.h>

#include "engine/base/number.h"

static int terms(const struct alchemy_settings *al, const struct topology *t, enum lambda component,
                 const char *const words[2], char text[IDLE_TEXT])
{
    uint32_t n = topology_changing(t, component);
    if (!n || al->given[component] || al->given[LAMBDA_BONDED]) /* restraints follow that, too */
        return 0;
    snprintf(text, IDLE_TEXT,
             "alchemy.windows: %u %s of the topology %s other numbers in state B, and there is no ladder of %s: every "
             "window has those of state A",
             n, number_word(n, words[0], words[1]), number_word(n, "has", "have"), lambda_names[component].ours);
    return 1;
}

/* In a system from which molecules are decoupled, charges and types are those of state A. */
static int atoms(const struct alchemy_settings *al, const struct system *sys, char text[IDLE_TEXT])
{
    int n = 0;
    for (int i = 0; i < sys->natoms && al->kind == ALCHEMY_DECOUPLE; i++)
        n += sys->atoms[i].charge[0] != sys->atoms[i].charge[1] || sys->atoms[i].type[0] != sys->atoms[i].type[1];
    if (n)
        snprintf(text, IDLE_TEXT,
                 "alchemy.decouple: %d %s of the topology %s another charge or type in state B, which only perturb: "
                 "b-states brings: every window has those of state A",
                 n, number_word(n, "atom", "atoms"), number_word(n, "has", "have"));
    return n > 0;
}

int idle_states(const struct alchemy_settings *al, const struct system *sys, const struct topology *t,
                char text[IDLE_MOST][IDLE_TEXT])
{
    static const char *const bonded[] = {"bonded term", "bonded terms"}, *const held[] = {"restraint", "restraints"};
    int n = 0;
    if (al->kind == ALCHEMY_NONE)
        return 0;
    n += atoms(al, sys, text[n]);
    n += terms(al, t, LAMBDA_BONDED, bonded, text[n]);
    n += terms(al, t, LAMBDA_RESTRAINT, held, text[n]);
    return n;
}
