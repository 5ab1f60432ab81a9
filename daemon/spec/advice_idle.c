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

void advise_idle(const struct advising *a, const struct topology *t)
{
    if (a->s->settings.alchemy.kind == ALCHEMY_NONE)
        return;
    advise_terms(a, t, LAMBDA_BONDED, "bonded term", "bonded terms");
    advise_terms(a, t, LAMBDA_RESTRAINT, "restraint", "restraints");
}
