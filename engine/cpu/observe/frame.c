/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables on the CPU device.
 */
#include "engine/kernels/observe.h"

#include "engine/cpu/kernels.h"

void cpu_observe_begin(const struct launch *launch, const struct args_observe_begin *a)
{
    const struct observe_table *t = a->table;
    struct observed *s = a->seen;
    if (!observe_due(a->ctl, t, s))
        return;
    if (observe_full(s)) {
        for (uint64_t i = 0; i < t->counts; i++)
            observe_fold_counts(observed_counts(t, s, 0), t->counts, i);
        for (uint64_t i = 0; i < t->reals; i++)
            observe_fold_reals(observed_reals(t, s, 0), t->reals, i);
        observe_folded(s);
    }
    observe_count(s);
}

void cpu_observe_end(const struct launch *launch, const struct args_observe_end *a)
{
    struct ctl *c = a->ctl;
    if (!c->halt)
        c->done++;
}
