/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a state B that no window has: a spec that leaves it out runs, and its free energy lacks what was to come with it.
 */
#include "daemon/spec/advice_parts.h"
#include "engine/base/number.h"

static void advise_terms(const struct advising *a, const struct topology *t, enum lambda component, const char *one,
                         const char *several)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    uint32_t n = topology_changing(t, component);
    if (!n || al->given[component] || al->given[LAMBDA_BONDED]) /* restraints follow that, too */
        return;
    advice_say(
        a, "ladder", a->s->alchemy_line,
        "alchemy.windows: %u %s of the topology %s other numbers in state B, and there is no ladder of %s: every "
        "window has those of state A",
        n, number_word(n, one, several), number_word(n, "has", "have"), lambda_names[component].ours);
}

/* In a system from which molecules are decoupled, charges and types are those of state A. */
static void advise_atoms(const struct advising *a)
{
    int n = 0;
    for (int i = 0; i < a->sys->natoms && a->s->settings.alchemy.kind == ALCHEMY_DECOUPLE; i++) {
        const struct atom *at = &a->sys->atoms[i];
        n += at->charge[0] != at->charge[1] || at->type[0] != at->type[1];
    }
    if (n)
        advice_say(a, "ladder", a->s->alchemy_line,
                   "alchemy.decouple: %d %s of the topology %s another charge or type in state B, which only perturb: "
                   "b-states brings: every window has those of state A",
                   n, number_word(n, "atom", "atoms"), number_word(n, "has", "have"));
}

void advise_idle(const struct advising *a, const struct topology *t)
{
    if (a->s->settings.alchemy.kind == ALCHEMY_NONE)
        return;
    advise_atoms(a);
    advise_terms(a, t, LAMBDA_BONDED, "bonded term", "bonded terms");
    advise_terms(a, t, LAMBDA_RESTRAINT, "restraint", "restraints");
}
